// How many bits a copy, a spill or a refill moves, held against how many a later instruction reads.
//
// A register is one unit of RIR whatever its width, so no judge of oracles/ sees that a 64-bit value was stored by an instruction that stores 32 bits.
// This judge does, on MIR. It walks backward over the function after allocation and keeps for each atom and each spill slot the highest bit that is
// read of what stands there, before it is written anew. What an allocator inserted is wrong where it moves fewer bits than that although the vreg
// that it moves has more. A folded operand is wrong where it reads more bytes of its slot than a spill of that vreg stores.
//
// It says nothing where nobody knows which vreg is refilled or copied (Inst::of, which pairs of MIR files lack), nothing of tuples but their number of
// bytes, and nothing of values that one instruction extends and another one takes for extended.
// Tested by width_test.cpp.
#pragma once

#include <vector>

#include "llvm/judge/mir_words.h"

namespace regduel::llvm {

// Cost: O(instructions x rounds), where rounds are at most the depth of loops plus two in practice.
[[nodiscard]] std::vector<MirFinding> judge_width(const Tables& tables, const Dump& before, const Dump& after);

}  // namespace regduel::llvm
