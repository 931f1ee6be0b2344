// Phase 1, NOSPILL: each file that has vregs gets its attempts without permission to spill.
//
//   for each file:      attempts = as many as the table says (retry.h); none where a point is over budget
//                       until one fits
//   all fit:            each file goes on while its result is above MaxLive
//   one does not fit:   the phase ends there, since the program is lowered anew with spill code
//
// Source: source 000 "Retry Loop: Phase 1: NOSPILL", "Per-Class Iteration". Deviates: an attempt is repeated while its result is
// above MaxLive, not only while it is above the limit, since a duel compares registers. Tested by driver_test.cpp.
#pragma once

#include <optional>

#include "allocator/phases/progress.h"

namespace regduel::allocator {

// Homes where all files fit. Requires a planned program.
[[nodiscard]] std::optional<Homes> run_nospill_phase(Progress& progress);

}  // namespace regduel::allocator
