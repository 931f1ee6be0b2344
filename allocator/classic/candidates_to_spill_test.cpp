// Where the budget model triggers, and who lives there.

#include "allocator/classic/candidates_to_spill.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using testing::LoweredRound;

// Four values at once, and then %4 alone.
constexpr std::string_view kFourThenOne = R"(
    vreg %0..%4 R b32
    block b0
      #0 %0, %1, %2, %3 = ld 0
      #1 st %0, %1, %2, %3 !write
      #2 %4 = ld 1
      #3 st %4 !write
      #4 exit
)";

std::vector<char> candidates(const LoweredRound& r, const Knobs& knobs, std::int64_t spilled = 0) {
  return candidates_to_spill(r.lowered.f, r.lowered_live, r.index, ir::RegFile::R, r.budget, BudgetModel(r.target, knobs), spilled);
}
Knobs with(std::initializer_list<std::pair<Knob, std::int64_t>> settings) {
  Knobs knobs(Owner::Classic);
  for (const auto& [knob, value] : settings) knobs.set(knob, value, KnobState::Double);
  return knobs;
}

TEST(CandidatesToSpill, WhoLivesAboveTheThreshold) {
  const LoweredRound r(4, kFourThenOne);
  // The fraction is that of the table, 0.2 of a budget of 4 + 1: one unit. Four are above it, and one is not.
  EXPECT_THAT(candidates(r, Knobs(Owner::Classic)), ElementsAre(1, 1, 1, 1, 0));
}

TEST(CandidatesToSpill, ScalesRaiseTheThreshold) {
  const LoweredRound r(4, kFourThenOne);
  EXPECT_THAT(candidates(r, with({{Knob::SpillBitLowRegScale, kKnobOne}})), ElementsAre(0, 0, 0, 0, 0))
      << "all of the budget: only what is over it triggers";
  EXPECT_THAT(
      candidates(r, with({{Knob::SpillBitLowRegScale, 0}, {Knob::SpillBitMediumRegScale, 0}, {Knob::SpillBitHighRegScale, 0}})),
      ElementsAre(1, 1, 1, 1, 1));
}

TEST(CandidatesToSpill, WhatIsSpilledCounts) {
  const LoweredRound r(4, kFourThenOne);
  EXPECT_THAT(candidates(r, with({{Knob::SpillBitLowRegScale, kKnobOne}}), 2), ElementsAre(1, 1, 1, 1, 0));
}

}  // namespace
}  // namespace regduel::allocator
