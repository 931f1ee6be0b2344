// The tables of opcodes: which instructions are copies (14 and 15), and to which family each of the moves belongs that they
// consist of (440 to 503).
//
// Source: source 004, "Opcode Classification". Three numberings that the seed runs together are kept apart (DECISIONS,
// "Coalescing"): opcodes of copies, families of copies, and type codes (type_classes.h). The seed says what the two ranges of
// families are for; which family is which inside them is ours:
//
//   440 i32   441 i64   442 f32   443 pred, i16, f16, f64      within one class of at most 64 bits
//   444 ... 499                                                from one class to another, 8 * 7 of them: never merged
//   500 the first piece of something wide   501 a further piece, which goes the way of the first
//   502 to where a parameter is passed      503 from where one comes: an operand of a call, a ret or abi.entry is fixed
//
// Tested by copy_families_test.cpp.
#pragma once

#include "ir/opcode_table.h"
#include "passes/nvptx/type_classes.h"

namespace regduel::passes::nvptx {

inline constexpr int kCopyOpcode = 14, kPhiOpcode = 15;  // a phi is a copy on each edge into its block
inline constexpr int kNoCopy = 0;
[[nodiscard]] constexpr int copy_opcode(ir::Op op) {
  return op == ir::Op::Copy ? kCopyOpcode : op == ir::Op::Phi ? kPhiOpcode : kNoCopy;
}

inline constexpr int kFirstCrossClass = 444, kFirstPiece = 500, kFurtherPiece = 501, kParameterIn = 502, kParameterOut = 503;

// A move of something of at most 64 bits. Neither is Wide within one class: wide moves are moves of pieces.
[[nodiscard]] int family(TypeClass from, TypeClass to);

}  // namespace regduel::passes::nvptx
