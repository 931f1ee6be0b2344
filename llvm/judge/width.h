// How many bits a copy, a spill or a refill moves, held against how many a later instruction reads.
//
// A register is one unit of RIR whatever its width, so no judge of oracles/ sees that a 64-bit value was stored by an instruction that stores 32 bits.
// This judge does, on MIR. The walk goes backward over the function after allocation and keeps for each atom and each spill slot the highest bit
// that is read before the next write. An inserted instruction is wrong if fewer bits than that are moved although the vreg that is moved has more.
// A folded operand is wrong if more bytes of its slot are accessed than a spill of that vreg stores.
//
// Not judged: refills and copies of which nobody knows the vreg (Inst::of, which pairs of MIR files lack), tuples but for their number of bytes, and
// values that one instruction extends and another one takes for extended.
// Tested by width_test.cpp.
#pragma once

#include <vector>

#include "llvm/judge/mir_words.h"

namespace regduel::llvm {

// Cost: O(instructions x rounds), where rounds are at most the depth of loops plus two in practice.
[[nodiscard]] std::vector<MirFinding> judge_width(const Tables& tables, const Dump& before, const Dump& after);

}  // namespace regduel::llvm
