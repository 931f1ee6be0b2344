// CSSA: the operands of phis are coalesced before any phi becomes copies (source 004, "CSSA Coalescing"; Sreedhar, Ju, Gillies,
// Santhanam, "Translating Out of Static Single Assignment Form", 1999; Boissinot, Darte, Rastello, Dupont de Dinechin, Guillon,
// "Revisiting Out-of-SSA Translation for Correctness, Code Quality, and Efficiency", 2009).
//
//   1. phi_copies.h     each phi is taken apart: copies to a hub at the ends of the predecessors, a copy from it at the head
//   2. live_ranges.h    where the vregs of phis and the hubs live, and with which values
//   3. congruence.h     hub and vreg become one where their classes do not interfere, the heaviest copies first
//   4. moves_in_order.h what is left of the copies at one place, one after the other
//
// A class takes the name of its first vreg, or of the one that has aliases; a class of hubs alone is a new vreg. No phi of the
// program stays, but where something is left on a critical edge: for it there is a phi of the class, whose other operands are the
// class itself. A copy of the program that has become one of a vreg to itself is left out.
//
// Knobs
//   cssa-coalesce     0: nothing becomes one, so that each operand and each result of a phi has a copy, or a phi on a critical edge
//   cssa-usedessa     0: classes interfere where both live (Sreedhar); 1: where both live with different values (Boissinot)
//   cssa-verbosity    0: no trace; 1: a line a function; 2: and one a class and a copy left; 3: and one an attempt to merge
//   cssa-dump-before  1: the trace begins with the program
// Fuel: "isolate-phi", "merge-phi-web", "leave-out-copy". Without any the program stays as it is.
//
// Copies left are the fewest but for a few: cssa_bound_test.cpp compares them with the best of all partitions. Tested by
// cssa_test.cpp, properties/passes_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& cssa();

}  // namespace regduel::passes
