// take_back turns an allocation of the result of a pass into an allocation of the pass's input, so that judges compare the program
// that came in with the final one. Tested by take_back_test.cpp.
#pragma once

#include "ir/program.h"

namespace regduel::passes {

// Instructions are matched by id. An instruction of `before` that is missing in `allocated` becomes a deleted one at its place.
// An instruction that `before` does not have becomes an inserted one: a copy as it is, a repeated def as a remat of the
// instruction with the same opcode, mnemonic and operands. Phis are dropped, because in an allocation they move nothing. An
// inserted instruction whose id is taken in `before` gets another id. The declarations are those of `before`.
//   Requires  `before` well-formed in phase Virtual, `allocated` in phase Allocated, with the blocks of `before` first.
//   Ensures   well-formed if the pass kept its contract (pass.h); otherwise the checker and the judges see the fault.
[[nodiscard]] ir::Function take_back(const ir::Function& before, const ir::Function& allocated);

}  // namespace regduel::passes
