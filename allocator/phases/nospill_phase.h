// NOSPILL: each file that has vregs gets its attempts without permission to spill.
//
//   each file           makes as many attempts as the table says (retry.h), until one fits; none if a point is over budget
//   all files fit       each file makes further attempts while its result is above MaxLive
//   a file does not fit the phase ends, since all files are assigned anew with spill code
//
// Source: source 000 "Retry Loop: Phase 1: NOSPILL", "Per-Class Iteration". Deviates: an attempt is repeated while its result is
// above MaxLive, not only while it is above the limit, since a duel compares registers. Tested by driver_test.cpp.
#pragma once

#include <optional>

#include "allocator/phases/progress.h"

namespace regduel::allocator {

// Homes if all files fit. Requires a planned program.
[[nodiscard]] std::optional<Placed> run_nospill_phase(Progress& progress);

}  // namespace regduel::allocator
