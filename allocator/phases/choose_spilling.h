// Phase 4, SPILL: the two spill strategies, and the choice between them.
//
//   split   the program with its live ranges split (split/), and rounds on that
//   whole   rounds that spill whole vregs
//
// Each candidate has an estimate of the bytes that it moves. The strategy with the better estimate runs first, and the other one
// only if it could still be cheaper. The cheaper result stays; if neither has one, the last fallback does.
//
// Source: none; the rounds are those of spill_phase.h. Tested by driver_test.cpp, driver_trace_test.cpp and fatpoint_test.cpp.
#pragma once

#include <optional>

#include "allocator/phases/result.h"
#include "allocator/phases/spill_phase.h"

namespace regduel::allocator {

// Decisions of an earlier run of the same program and limit, which a run for a listener repeats.
struct Replay {
  std::optional<SpillStrategy> strategy = std::nullopt;  // nothing = to be chosen
  bool tries_fewer_registers = true;                     // other limits are tried too (driver.cpp)
};

// Knob 638: the first result with spill code counts. 0.3 of the time of kernels at 24, 32 and 40 for 1.01 of their weighted bytes.
[[nodiscard]] inline bool is_first_enough(const ProgramFacts& facts) { return facts.knobs[Knob::FastAllocation] != 0; }

// Requires: no instruction is impossible, and a planned program unless rounds.is_over_before_spill_code().
[[nodiscard]] Result choose_spilling(Progress& progress, SpillPhase& rounds, const Replay& replay);

}  // namespace regduel::allocator
