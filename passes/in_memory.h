// The simplest allocation: each vreg has a slot of its own, and is in a register only while an instruction reads or writes it. With
// it a pass is judged without an allocator: the judges compare the program before the pass with this allocation of the program
// after the pass, taken back (take_back.h).
//
// No two vregs share a home, and no value stays in a register from one instruction to the next. So a wrong value, or a read that
// the pass left without a def, is never hidden by a value that an allocator happened to leave in a register. Tested by
// in_memory_test.cpp and properties/passes_test.cpp.
#pragma once

#include <expected>
#include <string>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::passes {

// Requires: `program` well-formed for `target`, over vregs. Registers are packed first fit. In a device function, callee-saved
// registers are used, and then saved, only for operands that are fixed to them. The error names an instruction for which the
// registers did not suffice. Cost: O(instructions + operands).
[[nodiscard]] std::expected<ir::Function, std::string> allocate_in_memory(const ir::Function& program, const ir::Target& target);

}  // namespace regduel::passes
