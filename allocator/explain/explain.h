// Explains why a vreg got the register that it has, or none.
//
// explain() allocates as usual, with an observer (observer.h) of the vreg asked for: each attempt shows the observer each step that
// concerns the vreg or its coalesced class. So an explanation shows what the run itself looked at, and nothing worked out afterwards.
//
// Source: none; the scan that it shows is that of source 000 "Fatpoint Selection". Tested by explain_test.cpp.
#pragma once

#include <expected>

#include "allocator/explain/explanation.h"

namespace regduel::allocator {

//   vreg   of `program`
// Cost: one allocation, and for each attempt what the vreg's live range costs.
[[nodiscard]] std::expected<Explanation, ir::AllocFailure> explain(const ir::Function& program, const ir::Target& target,
                                                                   const ir::AllocOptions& options, ir::VRegId vreg);

}  // namespace regduel::allocator
