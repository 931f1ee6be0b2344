// Originals that were deleted because nothing reads them.
#pragma once

#include "llvm/mir/mir.h"

namespace regduel::llvm {

// `before` without the instructions that `after` has no more, if each of them has no effect but to define vregs that are read by nothing, or by such
// instructions alone. LLVM's own marks of dead defs have no part in this: the whole function is looked through. Tested by map_pair_test.cpp.
//   deleted   set to how many were left out
[[nodiscard]] Dump without_dead(Dump before, const Dump& after, int& deleted);

}  // namespace regduel::llvm
