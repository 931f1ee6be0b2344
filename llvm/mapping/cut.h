// Blocks of MIR may be left in the middle: at a conditional branch before the last one, at an INLINEASM_BR, at a call whose exception leads to a landing
// pad. A block of RIR is left at its end alone. So each such block is cut behind the instruction that leaves it, before and after alike: what an
// allocator puts behind it is then on the other edge only.
#pragma once

#include "llvm/mir/mir.h"

namespace regduel::llvm {

// The pieces are numbered by the instruction behind which they begin, so that those of before and after have the same numbers.
// Throws Refusal: an exceptional edge without a call, a branch without a number.
[[nodiscard]] Dump cut_blocks(Dump dump);
// The number of the machine basic block that block b of a cut dump is, or is a piece of.
[[nodiscard]] int machine_block(const Dump& cut, int b);

}  // namespace regduel::llvm
