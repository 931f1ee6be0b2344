// The plainest allocation there is: each vreg lives in a slot of its own, and is in a register only while an instruction reads or
// writes it. Through it a pass is judged alone, as a pair of two programs over vregs: the judges compare the program before the
// pass with this allocation of the program after it, taken back (take_back.h).
//
// That is sound because nothing is shared: two vregs never have a home in common, and nothing outlives an instruction in a
// register. So a value that the pass mistook, and a read that it left without a definition, show as what they are, and not as
// whatever an allocator happens to have put there. Tested by in_memory_test.cpp and properties/passes_test.cpp.
#pragma once

#include <expected>
#include <string>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::passes {

// Requires: `program` well-formed for `target`, over vregs. Registers are packed first fit, the callee-saved ones of a device
// function left out but where an operand is fixed to them, which are saved: the error says at which instruction they did not
// suffice. Cost: O(instructions + operands).
[[nodiscard]] std::expected<ir::Function, std::string> allocate_in_memory(const ir::Function& program, const ir::Target& target);

}  // namespace regduel::passes
