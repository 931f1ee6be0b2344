// The way back: an allocation of what a pass has made of a program, as an allocation of the program itself, so that all judges see
// the program that came in and the final one. Tested by take_back_test.cpp.
#pragma once

#include "ir/program.h"

namespace regduel::passes {

// Instructions are known by their ids: those of `before` that `allocated` does not have stand in it as deleted, at their place in
// their block; those that `before` does not have, and that are not marked so, become inserted ones: copies as they are, repeated
// defs as remats of the instruction with the same opcode, mnemonic and operands. Phis among them are left out, as an allocation has
// them only where they move nothing. Inserted ones whose id is one of `before` get another. The declarations are those of `before`.
//   Requires  `before` well-formed in phase Virtual, `allocated` in phase Allocated, with the blocks of `before` first.
//   Ensures   well-formed where the pass kept its contract (pass.h); else whatever is wrong shows to the checker and the judges.
[[nodiscard]] ir::Function take_back(const ir::Function& before, const ir::Function& allocated);

}  // namespace regduel::passes
