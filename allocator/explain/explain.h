// Explains why a vreg got the register that it has, or none.
//
// explain() allocates as usual, with an observer (observer.h) of the vreg asked for: each attempt shows the observer each step that
// concerns the vreg or its coalesced class. So an explanation shows data of the run itself, and nothing is worked out afterwards.
//
// Source: none; the scan that it shows is that of source 000 "Fatpoint Selection". Tested by explain_test.cpp; the text by
// cli/cli_test.cpp and, on the examples of README.md, by scripts/check/check-readme.
#pragma once

#include <expected>

#include "allocator/explain/explanation.h"

namespace regduel::allocator {

//   vreg   of `program`
// Cost: two allocations, and O(length of the vreg's live range) for each step.
[[nodiscard]] std::expected<Explanation, ir::AllocFailure> explain(const ir::Function& program, const ir::Target& target,
                                                                   const ir::AllocOptions& options, ir::VRegId vreg);

}  // namespace regduel::allocator
