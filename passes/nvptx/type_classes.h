// The table of operand types: the type class of a vreg, of eight, and whether the vreg takes part in coalescing.
//
// Source: source 004, "Opcode Classification", "Register Class Constraints". The classes are disjoint: %r and %f are 32 bits both
// and never become one register. Seven of them follow from what the source names (predicates, integers of 16, 32 and 64 bits,
// floats of 32 and 64, and what is wider than 64 bits); the eighth are floats of 16 bits, the one type of PTX that RIR tells
// apart and the seven leave out. Values of 8 bits are held in registers of 16, as PTX holds them. Of the type codes 12, 13 and 15
// are the source's; the others stand around them. A vreg wider than 64 bits has its participation bit cleared and is coalesced by
// its pieces of 64 bits, each of which is of an integer or a float class (DECISIONS, "Coalescing"). Tested by
// type_classes_test.cpp.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace regduel::passes::nvptx {

enum class TypeClass : std::uint8_t { Pred, I16, I32, I64, F16, F32, F64, Wide };
inline constexpr int kNumTypeClasses = 8;

inline constexpr std::uint8_t kParticipates = 0x10;

struct OperandType {
  std::uint8_t code = 0;   // type_code() of its class
  std::uint8_t size = 0;   // in units of its register file
  std::uint8_t bank = 0;   // its register class, as a number
  std::uint8_t flags = 0;  // kParticipates, or nothing
  friend bool operator==(const OperandType&, const OperandType&) = default;
};

inline constexpr int kPieceBytes = 8;
inline constexpr int kMaxPieces = 4;  // 256 bits

[[nodiscard]] TypeClass type_class(const ir::VReg& v);
[[nodiscard]] constexpr std::uint8_t type_code(TypeClass c) { return static_cast<std::uint8_t>(10 + static_cast<int>(c)); }
// The row of a vreg. Architectural vregs do not take part, because they have their registers for themselves.
[[nodiscard]] OperandType operand_type(const ir::VReg& v);

// 1 up to 64 bits, then one for each 64 bits begun: a vreg of 96 bits has one of 64 and one of 32.
[[nodiscard]] constexpr int num_pieces(const ir::VReg& v) { return v.width <= 64 ? 1 : (v.width + 63) / 64; }
// Requires 0 <= k < num_pieces(v). The whole where there is one piece.
[[nodiscard]] ir::VReg piece(const ir::VReg& v, int k);

// Whether two roots may become one: one type, register class, width, alignment, register and flags.
[[nodiscard]] bool may_become_one(const ir::VReg& a, const ir::VReg& b);

}  // namespace regduel::passes::nvptx
