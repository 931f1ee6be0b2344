// The register coalescer of LLVM, "llvm": two-address form (two_address.h), live intervals with value numbers (live_intervals.h),
// joins of the copies' two sides (joiner.h) in LLVM's order (coalescer.h). Source: source 004, "Standard LLVM RegisterCoalescer".
// Tested by llvm_test.cpp, and against the judges by properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& llvm_coalescer();

}  // namespace regduel::passes
