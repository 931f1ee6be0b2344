// Which copies must stay what they are, whether or not their ends interfere.
//
// Source: source 004, phase 4 (validation before a merge), "MachineOperand Pointer Encoding" (tied operands), function map
// ("constrained-copy validation variant"). Tested by constrained_copies_test.cpp.
#pragma once

#include "passes/nvptx/candidates.h"

namespace regduel::passes::nvptx {

// True where the copy may stay though one of its pairs goes: for other pairs, or for what it gives up.
[[nodiscard]] bool stays(const ir::Function& f, const ir::Inst& copy);

// A pair of a copy whose def is tied to the use of another pair: it stands where that one was, and what it holds is elsewhere;
// in a copy that stays, a pair that fixes its two ends to two registers, or whose def is early-clobber: the instruction needs both.
[[nodiscard]] bool is_constrained(const ir::Function& f, const Candidate& c);

}  // namespace regduel::passes::nvptx
