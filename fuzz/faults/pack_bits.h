// Which code of memcheck a predicate should show that comes out of a pack with something wrong in it: 3 or 4 where the right bit is
// missing, 8 or 9 where it was in the pack's register until another instruction overwrote it. The counterpart of expected_codes()
// (contents.h), which knows nothing of packs; operators use it to see that a fault is the one that they are named after. Written
// apart from the judges, and much simpler: one forward dataflow over bits, guards are may-defs and no more.
//
//   each bit of each register and frame byte may be   right: one of the definitions that the read is to see
//                                                     wrong: anything else, and then by which ways
//   a move or a def over a right bit of a register makes what it puts there, where that is wrong, a destroyer of this base;
//   r2p and bit_refill make the code: of what is wrong in their bit 3 or 4, of a destroyer 8 or 9
//
// Source: seed 000 "Error Categories"; DECISIONS "memcheck" (precedence 8, 9, 3, 4 among these). Tested by pack_bits_test.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "fuzz/faults/contents.h"

namespace regduel::fuzz {

// Operand `operand` of an original operation, which reads it.
struct OperandRead {
  ir::InstId inst;
  std::size_t operand = 0;
};

// True where `after` should show `code` (8, 9, 3, 4 in this precedence) at one of the reads; those that are not of a predicate show
// none of them. Requires: in the program before, whatever way led there, the reads are of something defined. Cost: for each set of
// definitions that they are to see, O(passes x (instructions + blocks x bytes of registers and frame)).
[[nodiscard]] bool shows_in_pack(const BeforeFacts& facts, const ir::Function& after, std::span<const OperandRead> reads, int code);

}  // namespace regduel::fuzz
