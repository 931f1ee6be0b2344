// An attempt, step by step.

#include "allocator/classic/fat_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ir::VRegId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LoweredRound;

constexpr ir::RegFile R = ir::RegFile::R;

ClassicAttempt place(const LoweredRound& r, const ClassicOptions& options = {}) {
  const SourceConstraints constraints(r.program, r.lowered.f, r.frequency, r.lowered_live, r.constraints, 0xFFFF);
  return place_all(ClassicFile(r.round, constraints, R), options);
}
Attempt attempt(const LoweredRound& r, const ClassicOptions& options = {}) { return place(r, options).attempt; }

// Three values at once.
constexpr std::string_view kThree = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 exit
)";

TEST(FatPoints, TheCostliestComesFirst) {
  LoweredRound r(255, kThree);
  r.cost = {10, 30, 20};
  const Attempt a = attempt(r);
  EXPECT_THAT(a.home, ElementsAre(2, 0, 1));
  EXPECT_TRUE(a.fits);
  EXPECT_EQ(a.used, 3);
}

TEST(FatPoints, TheWidestComesBeforeTheCostliest) {
  LoweredRound r(255, R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0, %1 !write
      #3 exit
  )");
  r.cost = {30, 10};
  EXPECT_THAT(attempt(r).home, ElementsAre(2, 0));
}

TEST(FatPoints, WithoutSpillingAMisfitCountsWhatIsMissing) {
  LoweredRound r(2, kThree);
  r.cost = {10, 30, 20};
  const Attempt a = attempt(r, {.counts_on = true});
  EXPECT_FALSE(a.fits);
  EXPECT_EQ(a.used, 3) << "%0 stands above the limit, which is what the attempt would take";
}

TEST(FatPoints, WithSpillingTheCheapestLeaves) {
  LoweredRound r(2, kThree);
  r.cost = {10, 30, 20};
  const ClassicAttempt a = place(r, {.may_spill = true});
  EXPECT_FALSE(a.attempt.fits);
  EXPECT_THAT(a.attempt.to_spill, ElementsAre(VRegId(0)));
  EXPECT_EQ(a.attempt.spill_cost, 10);
  EXPECT_THAT(a.held_back, IsEmpty());
}

TEST(FatPoints, WhoIsNoCandidateIsHeldBack) {
  LoweredRound r(2, kThree);
  r.cost = {10, 30, 20};
  const std::vector<char> may_leave = {0, 1, 1};
  const ClassicAttempt a = place(r, {.may_spill = true, .may_leave = may_leave});
  EXPECT_THAT(a.attempt.to_spill, IsEmpty());
  EXPECT_THAT(a.held_back, ElementsAre(VRegId(0)));
  EXPECT_FALSE(a.attempt.fits);
}

TEST(FatPoints, ATemporaryWithoutAPlacePinsItsInstruction) {
  LoweredRound r(2, kThree);
  for (const std::size_t v : {0, 1, 2}) r.make_temporary(v, 3);
  const ClassicAttempt a = place(r, {.may_spill = true});
  EXPECT_THAT(a.attempt.to_pin, ElementsAre(3));
  EXPECT_THAT(a.attempt.to_spill, IsEmpty());
}

TEST(FatPoints, AChainHasOneHome) {
  LoweredRound r(255, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 %2 = copy %0
      #4 st %2 !write
      #5 exit
  )");
  r.cost = {10, 30, 20};
  const Attempt a = attempt(r);
  EXPECT_EQ(a.home[0], a.home[2]);
  EXPECT_EQ(a.copy_weight, 0);
  r.round.coalesces = false;
  r.round.has_affinity = false;
  const Attempt apart = attempt(r);
  EXPECT_THAT(apart.home, ElementsAre(1, 0, 0)) << "each by itself, at the lowest place";
  EXPECT_EQ(apart.copy_weight, 1);
}

TEST(FatPoints, TheSecondaryArrayBringsACopyTogether) {
  LoweredRound r(255, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 %2 = copy %0
      #4 st %2 !write
      #5 exit
  )");
  r.cost = {10, 30, 5};
  r.round.coalesces = false;
  EXPECT_THAT(attempt(r).home, ElementsAre(1, 0, 1));
}

TEST(FatPoints, ClobbersAndReservedUnitsAreBits) {
  LoweredRound r(255, R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 call "g" clobbers R0:R3
      #2 st %0 !write
      #3 exit
  )");
  EXPECT_THAT(attempt(r).home, ElementsAre(4));
}

TEST(FatPoints, APreallocatedPlaceComesFirst) {
  LoweredRound r(255, kThree);
  r.cost = {10, 30, 20};
  Candidates candidates;
  candidates.propose(VRegId(1), {});
  candidates.decide(VRegId(1), 7);
  EXPECT_THAT(attempt(r, {.candidates = &candidates}).home, ElementsAre(1, 7, 0));
}

// %0 is argument R4 of the call, and %1 lives across %0's def. Placed first, %1 spares R4 where type 0 weighs.
constexpr std::string_view kArgument = R"(
    vreg %0..%3 R b32
    block b0
      #0 %1 = ld 0
      #1 %0 = ld 1
      #2 %2 = copy %0
      #3 st %2, %1 !write
      #4 %3{=R0} = copy %0
      #5 st %3{=R0} !write
      #6 exit
)";

TEST(FatPoints, TypeZeroSparesThePlaceThatAnUnplacedNeighbourWouldLike) {
  LoweredRound r(255, kArgument);
  r.round.coalesces = false;
  for (std::size_t v = 0; v < r.cost.size(); ++v)
    if (!r.lowered.f.vregs[v].fixed.is_valid()) r.cost[v] = v == 1 ? 100 : 10;
  EXPECT_EQ(attempt(r, {.relaxation = {.iteration = 1}}).home[1], 1) << "R0 is where the copies of %0 would vanish";
  EXPECT_EQ(attempt(r, {.relaxation = {.iteration = 1}, .has_points = false}).home[1], 0);
  EXPECT_EQ(attempt(r).home[1], 0) << "the first pass does not look at the primary array";
}

TEST(FatPoints, RelaxationLeavesOutTheFirstSoftConstraints) {
  LoweredRound r(255, kArgument);
  r.round.coalesces = false;
  for (std::size_t v = 0; v < r.cost.size(); ++v)
    if (!r.lowered.f.vregs[v].fixed.is_valid()) r.cost[v] = v == 1 ? 100 : 10;
  EXPECT_EQ(attempt(r, {.relaxation = {.iteration = 1, .each = 5}}).home[1], 0);
}

TEST(FatPoints, CumulativePressureIsTheWeightOfTheHomes) {
  LoweredRound r(255, kArgument);
  r.round.coalesces = false;
  for (std::size_t v = 0; v < r.cost.size(); ++v)
    if (!r.lowered.f.vregs[v].fixed.is_valid()) r.cost[v] = v == 1 ? 100 : 10;
  EXPECT_GT(attempt(r).pressure, attempt(r, {.relaxation = {.iteration = 1}}).pressure);
}

}  // namespace
}  // namespace regduel::allocator
