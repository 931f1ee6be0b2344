// Properties of PTX opcodes: destination, effect on memory, commuting sources. An opcode that is not in the tables has a
// destination if its first operand can be one, and touches memory if it has an address.
//
// Source: PTX ISA 9.0, section 9 "Instruction Set". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ptx/syntax.h"

namespace regduel::ir::ptx {

struct Opcode {
  std::string_view text;
  std::vector<std::string_view> parts;  // "ld.global.v4.f32": ld, global, v4, f32

  explicit Opcode(std::string_view opcode);
  [[nodiscard]] std::string_view root() const { return parts[0]; }
  [[nodiscard]] bool has(std::string_view part) const;  // among the parts after the root
  // The last part that is a type: of the elements in memory for ld and st. Zero bits where there is none.
  [[nodiscard]] TypeInfo type() const;
};

enum class Destination : std::uint8_t {
  None,      // every operand is read
  Required,  // the first operand is written
  Updated,   // the first operand is read and written
  IfAny,     // not known: the first operand is written where it is a register, a vector or a pair
};

struct OpcodeInfo {
  Destination destination = Destination::IfAny;
  std::uint16_t flags = 0;  // kMemRead, kMemWrite, kReadOnly, kBarrier, kCommutative, kConvergent
  bool is_barrier = false;  // becomes `bar`
  bool carry_in = false;    // reads the carry flag
  bool carry_out = false;   // writes it
  bool is_known = false;
};
// `has_address`: some operand is an address.
[[nodiscard]] OpcodeInfo classify(const Opcode& opcode, bool has_address);

}  // namespace regduel::ir::ptx
