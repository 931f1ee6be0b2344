// Properties of PTX opcodes: destination, effect on memory, commuting sources. An opcode that is not in the tables has a
// destination if its first operand can be one, and touches memory if it has an address.
//
// Source: PTX ISA 9.0, section 9 "Instruction Set". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "ir/ptx/names.h"

namespace regduel::ir::ptx {

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

struct Opcode {
  // What the translation treats by a rule of its own.
  enum class Kind : std::uint8_t { Other, Ld, Ldu, St, Mov, Call, Ret, Exit, Bra, Brx, Mma };

  std::string text;
  std::vector<std::string_view> parts;  // "ld.global.v4.f32": ld, global, v4, f32
  int index = 0;                        // among those of the file
  Kind kind = Kind::Other;
  bool is_param_space = false;
  TypeInfo type;  // its last part that is a type: of the elements in memory for ld and st. Zero bits where there is none
  OpcodeInfo info, info_of_addresses;  // without an operand that is an address, and with one

  explicit Opcode(std::string_view opcode);
  Opcode(const Opcode&) = delete;  // the parts point into the text
  Opcode& operator=(const Opcode&) = delete;
  [[nodiscard]] std::string_view root() const { return parts[0]; }
  [[nodiscard]] bool has(std::string_view part) const;  // among the parts after the root
};

// Those of a file, each once.
class OpcodeTable {
 public:
  const Opcode& find(std::string_view text);
  [[nodiscard]] std::size_t size() const { return opcodes_.size(); }

 private:
  NameTable index_;
  std::deque<Opcode> opcodes_;
};

}  // namespace regduel::ir::ptx
