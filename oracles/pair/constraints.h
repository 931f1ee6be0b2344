// What a pass must leave as it is besides the values (FORMAT.md, "Passes"): an allocator of the program after knows the constraints
// of that program alone, so one that a pass has dropped is kept by nobody. Values, flags and immediates are compared by the judges, on
// the simplest allocation of the program after.
//
//   declaration   of a vreg of the program before: class, type, width, alignment, flags, alias, fixed register. Names and hints bind
//                 nobody
//   operand       of each instruction that is in both: early-clobber, tie and fixed register as before; its root of the same class
//                 and width, and aligned at least as much
//   demand        no instruction demands more of a file than before
//                 In a rewriting a value of R may be one of UR, and one of P one of UP, where more is demanded then
//   given-up      a device function gives up the registers that it gave up before
//
// Tested by constraints_test.cpp.
#pragma once

#include "ir/program.h"
#include "ir/target.h"
#include "oracles/judge.h"

namespace regduel::oracles {

// Judge "constraints"; categories vreg-declaration, operand-constraint, operand-demand, given-up-register, each finding at an
// instruction of the program after where there is one. Requires: both well-formed, over vregs.
// Cost: O(size), and demand() (completeness.h) of each instruction that reads or writes other vregs than before.
[[nodiscard]] JudgeResult judge_constraints(const ir::Function& before, const ir::Function& after, const ir::Target& target,
                                            bool is_rewriting = false);

}  // namespace regduel::oracles
