// What an instruction does, for the judge of rewritings: which instructions have effects that an observer sees in their order, and which
// have a meaning beyond that of an uninterpreted function of their uses. Tested by rewrite_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace regduel::oracles::rewrite {

// An *effect* stays where it is: a terminator, a call, a barrier, what writes memory, what depends on the other threads, a read that must
// happen (volatile, acquire and the like), what has no def, clobbers registers or stands in fixed ones. Copies and phis that clobber
// nothing are none.
[[nodiscard]] bool is_effect(const ir::Function& f, const ir::Inst& i);

enum class Meaning : std::uint8_t {
  Function,   // of the opcode and the uses alone
  Read,       // of the address, and of memory unless that is read-only
  Parameter,  // bytes of a kernel's parameters, which have a name
  Move,       // copy, pack, unpack, phi, const
  Add,        // two's complement, of the width of the def
  Subtract,
  Same,  // the use: a generic address as a global one, and back
};
[[nodiscard]] Meaning meaning_of(const ir::Function& f, const ir::Inst& i);

// Where the uses of a load or a store by address begin with the address: one operand, or two with an offset in bytes. 0 = the operands
// have no such form, and each is one of its own.
[[nodiscard]] int operands_of_address(const ir::Function& f, const ir::Inst& i);

// A parameter as an operand: "c[name]" or "c[name+8]".
struct ParameterOperand {
  std::string_view name;
  std::int64_t offset = 0;
};
[[nodiscard]] bool is_parameter_operand(std::string_view symbol, ParameterOperand& out);

}  // namespace regduel::oracles::rewrite
