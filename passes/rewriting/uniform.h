// What all threads of a warp share goes out of the registers of the threads, as far as the target has forms for it (ir/uniform_forms.h).
//
//   1  A root becomes one of UR or UP where it does not vary (divergence.h), each of its defs is an instruction with a uniform form on
//      operands of this kind, or a vote of the threads, in a block that all threads run together, and it is a whole vreg of 32 or 64 bits, or a
//      predicate that uniform instructions and branches alone read. The greatest such set.
//   2  An instruction of the threads reads one of them directly where the target lets it, as an operand or an address; any other is
//      copied into a register in front of the instruction.
//   3  Constants become numbers in the instructions that take them, and parameters of kernels c[name+offset] where the target has that.
//      An instruction has one operand of 2 and 3 together.
//   4  What nothing reads any more goes (clean.h).
//
// Uniform registers are not the place for more than they are: where more live at a point than uniform-most says, those with
// the fewest readers stay where they were.
//
//   uniform-most       0 to 63: units of UR that may live at a point
//   uniform-constants  whether 3 is done
//
// Tested by uniform_test.cpp, and against the judge by properties/rewritings_test.cpp.
#pragma once

#include "passes/pass.h"

namespace regduel::passes {

[[nodiscard]] const Pass& uniform();

}  // namespace regduel::passes
