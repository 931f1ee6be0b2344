// The operands of an instruction of PTX, put together from those of an operation of RIR: which make an address, a vector, a pair.
#pragma once

#include <functional>
#include <string>

#include "ir/program.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/print/lines.h"

namespace regduel::ir::ptx {

// How many bytes an element of operand `k` has, where the operand is a vector or stands in braces; 0 = a register of its own.
[[nodiscard]] int vector_element_bytes(const Function& f, const Inst& i, const Opcode& o, std::size_t k);

// The name of a variable as the text has it: of instruction `i`.
using NameOf = std::function<std::string(const Inst& i, std::string_view symbol)>;

// Writes a named operation or a barrier.
void print_operation(const Function& f, const Inst& i, const Opcode& o, const NameOf& name_of, Lines& lines);

// A number as an operand of this type: 0f3F800000 of .f32.
[[nodiscard]] std::string number_text(std::int64_t value, TypeInfo type);

// Whether all operations of a function are instructions of PTX.
[[nodiscard]] bool is_instruction(const Function& f, const Inst& i, const Opcode& o);

}  // namespace regduel::ir::ptx
