// Copies that a merge must leave as they are, whether or not their ends interfere.
//
// Source: source 004, phase 4 (validation before a merge), "MachineOperand Pointer Encoding" (tied operands), function map
// ("constrained-copy validation variant"). Tested by constrained_copies_test.cpp.
#pragma once

#include "passes/nvptx/candidates.h"

namespace regduel::passes::nvptx {

// True if the copy may stay although one of its pairs is merged: it has other pairs, or it gives up registers (pass.h).
[[nodiscard]] bool stays(const ir::Function& f, const ir::Inst& copy);

// True if the pair's def is tied to another pair's use, so that it takes that register and loses its own value; or if the copy
// stays and needs both ends of the pair, because they are fixed to two registers or because the def is early-clobber.
[[nodiscard]] bool is_constrained(const ir::Function& f, const Candidate& c);

}  // namespace regduel::passes::nvptx
