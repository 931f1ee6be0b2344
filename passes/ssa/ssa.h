// SSA form, as far as vregs can have it: a vreg with several defs becomes one vreg for each def, with a phi where two of them meet.
// Real kernels come without phis; this pass gives them those that their compiler had (Cytron, Ferrante, Rosen, Wegman, Zadeck,
// "Efficiently Computing Static Single Assignment Form", 1991, pruned; minimal on reducible control flow as in Braun et al.,
// "Simple and Efficient Construction of Static Single Assignment Form", 2013).
//
// One vreg after the other. A *version* is what a def that kills makes of it, or a phi; version 0 is what nothing defined. Where
// the vreg is live at the head of a block, its version there is
//   in(b) = the version that all ends of predecessors have, of those that are known yet; else a phi of b
//   out(p) = that of the last killing def in p, else in(p)
// until nothing changes; then phis of one version and themselves are taken out, until there are none.
//
// The first version keeps the vreg, and each other one gets a new vreg declared alike. A def that does not kill (under a guard,
// of a part, or a def-use) writes the version that is there, so such vregs have several defs afterwards as well. These stay as
// they are:
//   - vregs bound to a register, architectural ones, aliases and what has aliases;
//   - a vreg that would need a phi in the entry block, where there is none (a loop onto the entry);
//   - vregs that the fuel does not pay for ("split-into-versions").
// Ties, fixed operands and clobbers stay with their operands, and no instruction reads or writes more vregs than before, so the
// pass decides nothing about registers. Tested by ssa_test.cpp, properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& ssa();

}  // namespace regduel::passes
