#include "allocator/walk/file_walk.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Walked {
  Walked(int limit, std::string_view body, std::string_view kind = "kernel", int enough = ir::kMaxUnits)
      : round(testing::program(body, kind), limit), allocator(round.round, ir::RegFile::R),
        unit_of(round.lowered.f.operands.size(), -1),
        result(walk(allocator, round.lowered_cfg, round.frequency, {}, enough, unit_of)) {}

  // The unit of an operand of an instruction.
  [[nodiscard]] int unit(std::uint32_t inst, std::uint32_t operand) const {
    return unit_of[round.lowered.f.insts[inst].first_operand + operand];
  }

  // The highest first unit of an operand.
  [[nodiscard]] int highest() const { return *std::max_element(unit_of.begin(), unit_of.end()); }

  testing::LoweredRound round;
  FileAllocator allocator;
  std::vector<std::int16_t> unit_of;
  Walk result;
};

// %0 and %1 stand in one half, for %2 needs the other, where %3 and %4 come after it. Then %0 and %3 are left, and %5 has no pair.
constexpr std::string_view kNoPairInTheEnd = R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    vreg %3..%4 R b32
    vreg %5 R b64
    block b0
      #0 %0, %1 = ld 0
      #1 %2 = ld 1
      #2 st %2 !write
      #3 %3, %4 = ld 3
      #4 st %1, %4 !write
      #5 %5 = ld 5
      #6 st %5 !write
      #7 st %0, %3 !write
      #8 exit
)";

TEST(FileWalk, AScalarMovesForAPair) {
  const Walked w(4, kNoPairInTheEnd);
  ASSERT_TRUE(w.result.fits);
  ASSERT_EQ(w.result.moves.size(), 1u);
  EXPECT_EQ(w.result.moves[0].inst, 5u);
  EXPECT_EQ(w.result.num_executed, 1);
  const bool is_first = w.result.moves[0].vreg == ir::VRegId(0);
  EXPECT_EQ(w.unit(7, is_first ? 0 : 1), w.result.moves[0].to);
  EXPECT_EQ(w.unit(is_first ? 0 : 3, 0), w.result.moves[0].from);
  EXPECT_EQ(w.unit(5, 0), w.unit(6, 0));
}

TEST(FileWalk, NothingMovesWhereThereIsRoom) {
  const Walked w(6, kNoPairInTheEnd);
  EXPECT_TRUE(w.result.fits);
  EXPECT_THAT(w.result.moves, IsEmpty());
}

TEST(FileWalk, KeepsToTheUnitsThatAreEnough) {
  const Walked few(8, kNoPairInTheEnd, "kernel", 0), all(8, kNoPairInTheEnd);
  ASSERT_TRUE(few.result.fits && all.result.fits);
  EXPECT_LT(few.highest(), 4) << "four are live at once";
  EXPECT_EQ(few.result.moves.size(), 1u);
  EXPECT_GE(all.highest(), 4);
}

TEST(FileWalk, TakesMoreUnitsWhereItHasTo) {
  const Walked w(64, R"(
    vreg %0 R b256
    vreg %1 R b32
    block b0
      #0 %0, %1 = ld 0
      #1 st %1{=R2} !write
      #2 st %0 !write
      #3 exit
)",
                 "kernel", 0);
  ASSERT_TRUE(w.result.fits);
  EXPECT_EQ(w.highest(), 8) << "nine are live at once, but R2 splits the lowest eight";
}

TEST(FileWalk, TheCheapestGoesWhereNothingFits) {
  const Walked w(2, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0, %1 = ld 0
      #1 %2 = ld 1
      #2 st %2, %2 !write
      #3 st %0 !write
      #4 st %1 !write
      #5 st %0 !write
      #6 exit
)");
  EXPECT_FALSE(w.result.fits);
  EXPECT_THAT(w.result.to_spill, ElementsAre(ir::VRegId(1)));
  EXPECT_THAT(w.result.to_pin, IsEmpty());
}

TEST(FileWalk, AClobberDrivesAway) {
  const Walked w(3, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0, %1, %2 = ld 0
      #1 st %1, %2 !write
      #2 st clobbers R1:R2 !write
      #3 st %0 !write
      #4 exit
)");
  ASSERT_TRUE(w.result.fits);
  EXPECT_EQ(w.unit(3, 0), 0);
  EXPECT_THAT(w.result.moves, IsEmpty()) << "it had the choice, and stands there from the start";
}

// Two clobbers in turn leave %0 no register for its whole range.
TEST(FileWalk, FromOneClobberToTheNext) {
  const Walked w(2, R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 st clobbers R0 !write
      #2 st clobbers R1 !write
      #3 st %0 !write
      #4 exit
)");
  ASSERT_TRUE(w.result.fits);
  EXPECT_EQ(w.result.moves.back().inst, 2u);
  EXPECT_EQ(w.result.moves.back().to, 0);
  EXPECT_EQ(w.unit(3, 0), 0);
}

// What b1 leaves in another register than b2 moves on one of the edges to b3.
TEST(FileWalk, EdgesMoveWhatStandsElsewhere) {
  const Walked w(2, R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0, %1 = ld 0
      #1 cbra %1 -> b1, b2
    block b1
      #2 st clobbers R0 !write
      #3 bra -> b3
    block b2
      #4 st clobbers R1 !write
      #5 bra -> b3
    block b3
      #6 st %0 !write
      #7 exit
)");
  ASSERT_TRUE(w.result.fits);
  ASSERT_EQ(w.result.moves.size() + w.result.edge_moves.size(), 2u);
  ASSERT_EQ(w.result.edge_moves.size(), 1u);
  EXPECT_EQ(w.result.edge_moves[0].to_block, ir::BlockId(3));
  EXPECT_EQ(w.result.edge_moves[0].to, w.unit(6, 0));
}

// The clobber in the loop drives %0 away once; in a later walk it stands there from the head of the loop on.
TEST(FileWalk, ALaterWalkTakesTheStateAtTheEndOfALoop) {
  const Walked w(2, R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0 = ld 0
      #1 st clobbers R1 !write
      #2 bra -> b1
    block b1
      #3 st clobbers R0 !write
      #4 %1 = ld 1
      #5 st %0 !write
      #6 cbra %1 -> b1, b2
    block b2
      #7 exit
)");
  ASSERT_TRUE(w.result.fits);
  EXPECT_THAT(w.result.moves, IsEmpty());
  ASSERT_EQ(w.result.edge_moves.size(), 1u);
  EXPECT_EQ(w.result.edge_moves[0].from_block, ir::BlockId(0));
  EXPECT_EQ(w.result.num_executed, 1);
}

TEST(FileWalk, AnEarlyClobberAndAGuardedDefHaveOneHome) {
  const Walked w(3, R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0, %3 = ld 0
      #1 %1{early} = ld %0
      #2 @%3 %2 = ld %0
      #3 st %1, %2 !write
      #4 exit
)");
  ASSERT_TRUE(w.result.fits);
  EXPECT_NE(w.unit(1, 0), w.unit(1, 1));
  EXPECT_EQ(w.unit(2, 0), w.unit(3, 1));
}

}  // namespace
}  // namespace regduel::allocator
