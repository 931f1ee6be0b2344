#include "allocator/program/merge_copies.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"
#include "ir/cfg.h"
#include "ir/text/text.h"

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Merged {
  explicit Merged(std::string_view body, ir::Fuel* fuel = nullptr) : f(out_of_ssa(testing::program(body))) {
    const ir::Cfg cfg(f);
    stands_for = merge_copies(f, Liveness(f, cfg), fuel);
    text = ir::print(f);
  }
  [[nodiscard]] bool is_one(std::size_t a, std::size_t b) const { return !stands_for.empty() && stands_for[a] == stands_for[b]; }

  ir::Function f;
  std::vector<VRegId> stands_for;
  std::string text;
};

TEST(MergeCopies, OneValueIsOneVregWhereBothLiveOn) {
  const Merged m(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1, %0 !write
      #3 st %0, %1 !write
      #4 exit
)");
  EXPECT_TRUE(m.is_one(0, 1));
  EXPECT_THAT(m.text, HasSubstr("#1 copy !deleted"));
  EXPECT_THAT(m.text, HasSubstr("st %0, %0"));
}

// Vregs that do not overlap are left to coalesced classes.
TEST(MergeCopies, NotWhereTheSourceEnds) {
  const Merged m(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1 !write
      #3 exit
)");
  EXPECT_TRUE(m.stands_for.empty());
}

TEST(MergeCopies, NotWhereOneOfThemChangesWhileTheOtherLives) {
  for (const std::string_view changed : {"%0", "%1"}) {
    const Merged m(std::string(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1, %0 !write
      #3 )") + std::string(changed) +
                   R"( = ld 1
      #4 st %1, %0 !write
      #5 exit
)");
    EXPECT_TRUE(m.stands_for.empty()) << changed;
  }
}

// A def behind the end of the other changes nothing that it holds.
TEST(MergeCopies, WhereOneChangesBehindTheOther) {
  const Merged m(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1, %0 !write
      #3 %0 = ld 1
      #4 st %0 !write
      #5 exit
)");
  EXPECT_TRUE(m.is_one(0, 1));
}

// %2 joins both, though it does not overlap with %1.
TEST(MergeCopies, GroupsGrow) {
  const Merged m(R"(
    vreg %0..%3 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1 !write
      #3 %2 = copy %0
      #4 %3 = copy %2
      #5 st %2 !write
      #6 st %0, %3 !write
      #7 exit
)");
  EXPECT_TRUE(m.is_one(0, 1));
  EXPECT_TRUE(m.is_one(0, 2));
  EXPECT_TRUE(m.is_one(0, 3));
}

// A copy whose source lives on, between two vregs of these types.
std::string copied(std::string_view from, std::string_view to) {
  return "vreg %0 " + std::string(from) + "\nvreg %1 " + std::string(to) + R"(
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1, %0 !write
      #3 exit
)";
}

TEST(MergeCopies, NotOfAnotherShapeNorBoundNorGuardedNorInPart) {
  for (const std::string& body :
       std::vector<std::string>{copied("R b32", "Ralt b32"), copied("R b64", "R b64 align 1"), copied("R b32 fixed R3", "R b32"),
                                R"(
    vreg %0..%1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %1.lo = copy %0.lo
      #3 st %1, %0 !write
      #4 exit
)",
                                R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = isetp 0
      #3 @%2 %1 = copy %0
      #4 st %1, %0 !write
      #5 exit
)"}) {
    EXPECT_TRUE(Merged(body).stands_for.empty()) << body;
  }
}

// A copy of two pairs that the program has stays whole; one that lowering made loses the pair.
TEST(MergeCopies, OfAParallelCopyThePairStaysOrGoes) {
  const Merged original(R"(
    vreg %0..%3 R b32
    block b0
      #0 %0 = ld 0
      #1 %2 = ld 1
      #2 %1, %3 = copy %0, %2
      #3 st %0, %1, %3 !write
      #4 exit
)");
  EXPECT_TRUE(original.is_one(0, 1));
  EXPECT_THAT(original.text, HasSubstr("#2 %0, %3 = copy %0, %2"));

  const Merged inserted(R"(
    vreg %0..%3 R b32
    block b0
      #0 %0 = ld 0
      #1 %2 = ld 1
      #2 bra -> b1
    block b1
      #3 %1 = phi b0: %0
      #4 %3 = phi b0: %2
      #5 st %0, %1, %3 !write
      #6 exit
)");
  EXPECT_TRUE(inserted.is_one(0, 1));
  EXPECT_THAT(inserted.text, HasSubstr("%3 = copy %2"));
  EXPECT_THAT(inserted.text, Not(HasSubstr("%0, %3 = copy")));
}

TEST(MergeCopies, AsksForFuel) {
  ir::Fuel none{.limit = 0};
  const Merged m(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1, %0 !write
      #3 exit
)",
                 &none);
  EXPECT_TRUE(m.stands_for.empty());
}

}  // namespace
}  // namespace regduel::allocator
