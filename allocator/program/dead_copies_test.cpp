#include "allocator/program/dead_copies.h"

#include <gmock/gmock.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"
#include "ir/cfg.h"
#include "ir/text/text.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kVRegs = R"(
    vreg %0..%2 R b32
    vreg %3 R b64
    vreg %4 P pred
)";

ir::Function program(const std::string& blocks) { return testing::program(kVRegs + blocks); }

// Ids of the copies and phis that are dead by vreg.
std::vector<std::uint32_t> dead_by_vreg(const ir::Function& f, ir::Fuel* fuel = nullptr) {
  std::vector<std::uint32_t> ids;
  const std::vector<char> dead = find_dead_copies(f, fuel);
  for (std::size_t i = 0; i < dead.size(); ++i)
    if (dead[i] != 0) ids.push_back(f.insts[i].id.value);
  return ids;
}

// Ids of the original copies that are dead by place, and of those that are with a second liveness.
std::vector<std::vector<std::uint32_t>> dead_by_place(const ir::Function& program) {
  ir::Function f = out_of_ssa(program);
  const ir::Cfg cfg(f);
  std::vector<std::vector<std::uint32_t>> rounds(2);
  for (std::vector<std::uint32_t>& ids : rounds) {
    const ir::Function was = f;
    Liveness live(was, cfg);
    drop_dead_copies(f, live);
    for (std::size_t i = 0; i < f.insts.size(); ++i)
      if (f.insts[i].is_deleted() && !was.insts[i].is_deleted()) ids.push_back(f.insts[i].id.value);
  }
  return rounds;
}

TEST(DeadCopies, ChainsOfThemAndLoops) {
  EXPECT_THAT(dead_by_vreg(program(R"(
    block b0
      #0 %0 = op
      #1 %1 = copy %0
      #2 %2 = copy %1
      #3 use %0
      #4 bra -> b1
    block b1
      #5 %2 = phi b0: %0, b1: %1
      #6 %1 = copy %2
      #7 @%4 %1 = copy %0
      #8 cbra %4 -> b1, b2
    block b2
      #9 exit
)")),
              ElementsAre(1, 2, 5, 6, 7));
}

TEST(DeadCopies, WhateverIsReadStays) {
  EXPECT_THAT(dead_by_vreg(program(R"(
    block b0
      #0 %0 = op
      #1 %1 = copy %0
      #2 %2, %0 = copy %1, %0
      #3 %3.hi = copy %0
      #4 use %2, %3
      #5 exit
)")),
              IsEmpty());
  EXPECT_THAT(dead_by_vreg(program("block b0\n #0 %0 = op\n #1 %1 = copy %0 clobbers R9\n #2 exit\n")), IsEmpty());
  const ir::Function architectural =
      testing::program("vreg %0 R b32\nvreg %1 R b32 fixed R9 architectural\nblock b0\n #0 %0 = op\n #1 %1 = copy %0\n #2 exit\n");
  EXPECT_THAT(dead_by_vreg(architectural), IsEmpty());
  EXPECT_THAT(dead_by_place(architectural), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(DeadCopies, ByPlaceWithWhatOnlyFedThem) {
  EXPECT_THAT(dead_by_place(program(R"(
    block b0
      #0 %0 = op
      #1 %1 = copy %0
      #2 %2 = copy %1
      #3 @%4 %2 = copy %0
      #4 %2 = op
      #5 %1 = op
      #6 %3.lo = copy %0
      #7 %3.hi = copy %0
      #8 use %1, %2, %3.lo
      #9 exit
)")),
              ElementsAre(ElementsAre(2, 3, 7), ElementsAre(1)));
}

TEST(DeadCopies, AParallelCopyGoesAsAWhole) {
  EXPECT_THAT(dead_by_place(program("block b0\n #0 %0 = op\n #1 %1, %2 = copy %0, %0\n #2 %1 = op\n #3 use %1, %2\n #4 exit\n")),
              ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(
      dead_by_place(program("block b0\n #0 %0 = op\n #1 %1, %2 = copy %0, %0\n #2 %1, %2 = op\n #3 use %1, %2\n #4 exit\n")),
      ElementsAre(ElementsAre(1), IsEmpty()));
}

TEST(DeadCopies, NoEdgeBlockForAPhiThatIsNotRead) {
  const ir::Function f = program(R"(
    block b0
      #0 %0 = op
      #1 %4 = p
      #2 cbra %4 -> b1, b1
    block b1
      #3 %1 = phi b0: %0, b1: %1
      #4 cbra %4 -> b1, b2
    block b2
      #5 exit
)");
  EXPECT_EQ(out_of_ssa(f).blocks.size(), 4u);
  EXPECT_EQ(out_of_ssa(f, nullptr, find_dead_copies(f)).blocks.size(), 3u);
}

TEST(DeadCopies, WithoutFuelWhatTheOthersReadStaysToo) {
  const ir::Function f = program("block b0\n #0 %0 = op\n #1 %1 = copy %0\n #2 %2 = copy %1\n #3 %3.lo = copy %2\n #4 exit\n");
  ir::Fuel two{.limit = 2};
  EXPECT_THAT(dead_by_vreg(f, &two), IsEmpty());  // the third is kept, and reads what the first two make
  EXPECT_EQ(two.refused, "drop-dead-copy");
  ir::Fuel three{.limit = 3};
  EXPECT_THAT(dead_by_vreg(f, &three), ElementsAre(1, 2, 3));
}

// The second phi reads what the first was to overwrite: that copy goes, and the operands of the others stay where liveness knows
// them.
TEST(DeadCopies, AmongPhisThatOverwriteEachOther) {
  const ir::Function before = program(R"(
    block b0
      #0 %0 = op
      #1 %4 = p
      #2 %1 = copy %0
      #3 bra -> b1
    block b1
      #4 %1 = phi b0: %0, b1: %2
      #5 %1 = phi b0: %1, b1: %1
      #6 %2 = copy %1
      #7 use %1, %0
      #8 cbra %4 -> b1, b2
    block b2
      #9 %2 = copy %0
      #10 exit
)");
  const ir::Allocation after = testing::allocate(before, testing::limits(255));
  EXPECT_EQ(testing::inst(after.program, 9), "#9 copy !deleted");
}

}  // namespace
}  // namespace regduel::allocator
