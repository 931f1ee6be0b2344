// Copy propagation: a use of a copy's def becomes a use of its source where both hold the same value on every path; then copies
// and phis without a reader are dropped.
//
//   %1 = copy %0        // left out
//   op %1               // op %0
//
// A copy (d, s) is *available* at a point where it was executed on every path from the entry, and neither d nor s was written
// since:
//   in(b)  = intersection of out(p) over the reachable predecessors p of b; empty at the entry
//   out(b) = generated(b) + (in(b) - killed(b))
// (Aho, Lam, Sethi, Ullman, "Compilers", 9.2 and 9.5.) A phi whose uses are all of one vreg is such a copy too.
//
// Only whole roots of one class, width and alignment, bound to no register, take each other's place, and in an instruction only
// if all reads of d change. So no instruction demands more registers than before. Tied and fixed uses stay as they are.
// Tested by copyprop_test.cpp, and against the judges by properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& copyprop();

}  // namespace regduel::passes
