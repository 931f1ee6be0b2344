// Phase 4, SPILL: the two spill strategies, and the choice between them.
//
//   split   the program with its live ranges split (split/), and rounds on that
//   whole   rounds that spill whole vregs
//
// Each strategy has an estimate of the weighted bytes that it moves, and the one with the lower estimate is tried alone. If it has no
// result, whole ranges are tried, and then the last fallback.
//
// Source: none; the rounds are those of spill_phase.h. Tested by driver_test.cpp, driver_trace_test.cpp and fatpoint_test.cpp.
#pragma once

#include "allocator/phases/result.h"
#include "allocator/phases/spill_phase.h"

namespace regduel::allocator {

// Knob 638: where registers spill, no lower limit is tried besides.
[[nodiscard]] inline bool is_first_enough(const ProgramFacts& facts) { return facts.knobs[Knob::FastAllocation] != 0; }

// Requires: no instruction is impossible, and a planned program unless rounds.is_over_before_spill_code().
[[nodiscard]] Result choose_spilling(Progress& progress, SpillPhase& rounds);

}  // namespace regduel::allocator
