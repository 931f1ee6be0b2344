// The rounds of both graph colourers: lower - liveness - interference - coalesce - simplify - select, then rewrite, or spill and
// iterate.
//
// Deviations of `briggs` from the textbook, each for the sake of the result as a yardstick:
//   - each file is coloured with as few units as possible: first with MaxLive of them, then with more up to the limit, and only
//     where the limit itself is not enough is anything spilled (with all units at hand, any order of removal would do, and the
//     number of colours would be an accident). The rule fewest_units switches this off;
//   - with each number of units, copies are first coalesced without any test, which often colours all the same and leaves the
//     fewest copies; only where that fails is the conservative test asked;
//   - after a bounded number of rounds all values go to memory and each instruction gets its exact packing, so that the allocator
//     is complete: aligned tuples can defeat colouring by fragmentation even where every instruction fits.
// The rules of `cicc`: rules.h. Tested by briggs_test.cpp and cicc_test.cpp.
#pragma once

#include <expected>

#include "ir/allocator.h"
#include "reference/program/problem.h"
#include "reference/rules.h"

namespace regduel::reference {

// Requires that no instruction is impossible. Ends in an allocation, or in Unsupported if the rules allow too few spilled values.
[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate_in_rounds(const Problem& problem, const Rules& rules,
                                                                                 const ir::AllocOptions& options);

}  // namespace regduel::reference
