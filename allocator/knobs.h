// The knobs of the allocators: one typed table, who reads which, and the values of one run.
//
// Source: sources 000 and 001; ids and the encoding of a knob's state are theirs (000 "Occupancy-Aware Budget Model": a byte says
// whether the default holds, an integer was set, or a double). Where the source has an id but no name, the name is ours and the
// table says so. Deviates: a double is a fixed-point number, in millionths, since no floating point may decide anything here.
// Tested by knobs_test.cpp; what a knob changes, by the test of the file that reads it.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "ir/knobs.h"

namespace regduel::allocator {

enum class Knob : std::uint8_t {
  UniformPreAllocation,      // 618
  InstructionWalk,           // 622
  EstimatedLoopIterations,   // 623
  PreAllocation,             // 628
  CoalescingPreAllocation,   // 629
  FastAllocation,            // 638
  NoSpillAttempts,           // 639
  BankAware,                 // 641
  RelaxationStep,            // 642
  RelaxationCeiling,         // 643
  PreAllocationPriority,     // 646
  SpillBitHighRegCountHeur,  // 660
  SpillBitHighRegScale,      // 661
  SpillBitLowRegCountHeur,   // 663
  SpillBitLowRegScale,       // 664
  SpillBitMediumRegScale,    // 665
  InterferenceThreshold,     // 684
  RegisterUsageLevel,        // known as a flag
  FastCompile,               // known as a flag
  DisableSmemReservation,    // known as a flag
  SpillRounds,               // from here on: ours
  Rematerialise,
  RefillReuse,
  LargeProgram,
  PoolLimit,
  SplitLiveRanges,
  PredicatePacks,
  WideAccesses,
  Chains,
  MergeCopies,
  Occupancy,
  ConstraintTypes,
  Orders,
  PackingAttempt,
  Guidance,
  Eviction,
  MovingHomes,
  LowerLimits,
};
inline constexpr int kNumKnobs = 38;

// How the value came about; the numbers are the source's. A Dbl knob that was given a whole number has Integer.
enum class KnobState : std::uint8_t { Default = 0, Integer = 1, Double = 3 };

// Dbl knobs count in these: 0.35 is 350000.
inline constexpr std::int64_t kKnobOne = 1'000'000;

// The allocators of this folder. A knob of both means the same in both; its default may differ.
enum class Owner : std::uint8_t { FatPoint = 1, Classic = 2 };

// Values of knob FastCompile: less and less time for better results.
enum class FastCompile : std::uint8_t { Off, Min, Mid, Max };

class Knobs {
 public:
  Knobs() : Knobs(Owner::FatPoint) {}
  explicit Knobs(Owner owner);  // all at their defaults; a knob of another owner stands at what this one does

  // Dbl: millionths.
  [[nodiscard]] std::int64_t operator[](Knob k) const { return values_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] KnobState state(Knob k) const { return states_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool is_set(Knob k) const { return state(k) != KnobState::Default; }

  // Later settings win. FastCompile sets 638, and at `min` 639 to two attempts, where these were not set by themselves.
  // Names are names or decimal ids. Dbl: decimal text with at most six places, or a whole number.
  [[nodiscard]] static std::expected<Knobs, std::string> parse(ir::KnobSettings settings, Owner owner = Owner::FatPoint);
  // Requires that `value` is in the range of the knob.
  void set(Knob k, std::int64_t value, KnobState state) {
    values_[static_cast<std::size_t>(k)] = value;
    states_[static_cast<std::size_t>(k)] = state;
  }

 private:
  std::array<std::int64_t, kNumKnobs> values_;
  std::array<KnobState, kNumKnobs> states_ = {};
};

// The knobs of one allocator as the interface of every allocator has them, in the order of the enumeration.
[[nodiscard]] std::span<const ir::KnobInfo> knob_infos(Owner owner = Owner::FatPoint);

}  // namespace regduel::allocator
