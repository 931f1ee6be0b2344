// NOSPILL: attempts without spilling, file by file.
//
// How many there are says the retry table (assign/retry.h): none where a point of the file is over its budget, two where none is,
// with knob 638 one or what knob 639 says. An attempt succeeds where it takes no more registers than the target: MaxLive, up to the
// granularity in which a warp gets its registers, since fewer are worth nothing. The loop ends too where an attempt is no better than
// the best. The best of those that fit the limit stays.
//
// Attempts are compared by registers, weight of the copies that remain, cumulative pressure, and different registers.
//
// Source: source 000 "Retry Loop: Phase 1", "Best Result Recorder", "Step 7" (cumulative pressure); source 001 "Best-result
// comparison". Tested by nospill_test.cpp.
#pragma once

#include <optional>

#include "allocator/classic/fat_points.h"
#include "allocator/phases/progress.h"

namespace regduel::allocator {

// The constraints of types 1 to 8 of the planned program.
[[nodiscard]] SourceConstraints source_constraints_of(Progress& progress);

// Options of an attempt at a file by the knobs of the run; `iteration` is its number.
[[nodiscard]] ClassicOptions options_of(const Run& run, std::int64_t iteration);

// Traces why the places of the attempt that stays were chosen.
void show_choices(const Run& run, ir::RegFile file, std::int64_t iteration, const Attempt& attempt);

// Whether a is better than b: an attempt that fits, or fewer registers and so on.
[[nodiscard]] bool is_better_attempt(const Attempt& a, const Attempt& b);

// Homes of the planned program; nothing if some file does not fit.
[[nodiscard]] std::optional<Homes> place_without_spilling(Progress& progress);

}  // namespace regduel::allocator
