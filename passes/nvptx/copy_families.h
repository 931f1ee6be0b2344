// The tables of opcodes: the opcodes of the instructions that are copies (14 and 15), and the families of the moves that a copy
// consists of (440 to 503).
//
// Source: source 004, "Opcode Classification". Three numberings that the source runs together are kept apart (DECISIONS,
// "Coalescing"): opcodes of copies, families of copies, and type codes (type_classes.h). The source says what the two ranges of
// families are for; the families inside them are ours:
//
//   440 i32   441 i64   442 f32   443 pred, i16, f16, f64      within one class of at most 64 bits
//   444 ... 499                                                from one class to another, 8 * 7 of them: never merged
//   500 first piece of a wide move          501 further piece, merged if the first is
//   502 to the fixed operand of a call or a ret    503 from that of a call or of abi.entry
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

// The family of a move of at most 64 bits. Wide moves are moves of pieces, so no move within a class is Wide.
[[nodiscard]] int family(TypeClass from, TypeClass to);

}  // namespace regduel::passes::nvptx
