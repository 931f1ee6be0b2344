#include "allocator/walk/rejoin.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

// The homes of the vregs after a rejoin of file R.
std::vector<int> rejoined(int limit, std::string_view body, std::vector<int> homes) {
  const ir::Function f = testing::program(body);
  const Budget budget = Budget::of(f, ir::default_target(), testing::limits(limit));
  MovedProgram program{SpillCode(), ir::Cfg(f), {}, std::move(homes)};
  program.code.f = f;
  program.frequency = ir::block_frequencies(f, program.cfg, 10);
  rejoin(program, Liveness(f, program.cfg), ir::RegFile::R, budget, ir::default_target());
  return program.homes;
}

constexpr std::string_view kMove = R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1 !write
      #3 exit
)";

TEST(Rejoin, OneGoesWhereTheOtherIs) { EXPECT_THAT(rejoined(4, kMove, {2, 3}), ElementsAre(2, 2)); }

// %2 stands in R1 while %0 lives, and %3 in R0 while %1 does. R2 is in use before.
constexpr std::string_view kBothTaken = R"(
    vreg %0..%4 R b32
    block b0
      #0 %4 = ld 4
      #1 st %4 !write
      #2 %0 = ld 0
      #3 %2 = ld 2
      #4 st %2 !write
      #5 %1 = copy %0
      #6 %3 = ld 3
      #7 st %3 !write
      #8 st %1 !write
      #9 exit
)";

TEST(Rejoin, OneInTheWayStepsAside) {
  const std::vector<int> homes = rejoined(4, kBothTaken, {0, 1, 1, 0, 2});
  EXPECT_EQ(homes[0], homes[1]);
  EXPECT_NE(homes[2], homes[0]);
  EXPECT_NE(homes[3], homes[0]);
}

TEST(Rejoin, NoRegisterComesIntoUse) {
  const std::vector<int> homes = rejoined(8, kBothTaken, {0, 1, 1, 0, 0});
  EXPECT_LT(*std::max_element(homes.begin(), homes.end()), 2);
}

// Clobbers do not step aside: %0 cannot stand in R1, and %1 not in R0.
constexpr std::string_view kClobbers = R"(
    vreg %0..%2 R b32
    block b0
      #0 %2 = ld 2
      #1 st %2 !write
      #2 %0 = ld 0
      #3 st clobbers R1 !write
      #4 %1 = copy %0
      #5 st clobbers R0 !write
      #6 st %1 !write
      #7 exit
)";

TEST(Rejoin, BothGoToAThirdPlace) { EXPECT_THAT(rejoined(4, kClobbers, {0, 1, 2}), ElementsAre(2, 2, 2)); }
TEST(Rejoin, WithoutAPlaceForBothTheyStay) { EXPECT_THAT(rejoined(4, kClobbers, {0, 1, 0}), ElementsAre(0, 1, 0)); }

// %1 can stand where %0 does, or where %2 does. The copy in the loop is executed more often.
TEST(Rejoin, TheCopyThatIsExecutedMostOftenIsMet) {
  EXPECT_THAT(rejoined(4, R"(
    vreg %0 R b32 fixed R0
    vreg %1 R b32
    vreg %2 R b32 fixed R1
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1 !write
      #3 bra -> b1
    block b1
      #4 %1, %3 = ld 1
      #5 %2 = copy %1
      #6 st %2 !write
      #7 cbra %3 -> b1, b2
    block b2
      #8 exit
)",
                       {0, 2, 1, 0}),
              ElementsAre(0, 1, 1, 0));
}

// %1 has R1 by its declaration, so %0 comes there.
TEST(Rejoin, AFixedRegisterStays) {
  EXPECT_THAT(rejoined(4, R"(
    vreg %0 R b32
    vreg %1 R b32 fixed R1
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %1 !write
      #3 exit
)",
                       {2, 1}),
              ElementsAre(1, 1));
}

// A pair begins at an even register.
TEST(Rejoin, APairStaysAligned) {
  const std::vector<int> homes = rejoined(8, R"(
    vreg %0..%1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %2 = ld 2
      #2 st %2 !write
      #3 %1 = copy %0
      #4 st %1 !write
      #5 exit
)",
                                          {0, 2, 2});
  EXPECT_EQ(homes[0], homes[1]);
  EXPECT_EQ(homes[0] % 2, 0);
}

}  // namespace
}  // namespace regduel::allocator
