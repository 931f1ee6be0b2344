// What is odd about a program before anybody allocates it: most likely a mistake of the front end that made it, or of a pass.
//
//   undefined-read      bytes that an operand reads, and that hold on no path to it what some instruction has written. Copies, phis,
//                       packs and unpacks of such bytes write nothing; an operand of a phi is left out, since values that are
//                       undefined on one way into a join are common
//   undefined-guard     the same of a guard: whether the instruction happens is undefined
//   unreachable-code    no path leads from the entry to the block
//   impossible-tie      the operands cannot be packed into the registers of the target, but without their ties they can
//   demand-above-file   they cannot be packed there, ties or not
//   demand-above-limit  they can be packed into the target's registers, but not into the limit
//
// Bytes come from the definitions that reach them (memcheck/reaching_sets.h), demands from the packing of one instruction
// (completeness.h). Out of sight: what is undefined on some paths alone. Tested by lint_test.cpp.
#pragma once

#include <vector>

#include "oracles/before.h"
#include "oracles/judge.h"

namespace regduel::oracles {

// Findings of "lint" in program order, each at an instruction of the program. Instructions that no path leads to are not asked.
// Cost: that of memcheck's part of a Before, and of demand() where an instruction does not fit.
[[nodiscard]] std::vector<Finding> lint(const Before& before, const ir::Limits& limits);

}  // namespace regduel::oracles
