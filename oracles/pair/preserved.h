// The registers that a function must preserve for its caller (FORMAT.md, "Allocated programs", 7).
#pragma once

#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::oracles {

// Single units in ascending order: the callee-saved registers of the target, in a `device` function, less those of its
// architectural vregs and those that an instruction of the program itself clobbers (it has given those up). Empty for a kernel.
// Cost: O(operands). Tested by preserved_test.cpp.
[[nodiscard]] std::vector<ir::PReg> preserved_units(const ir::Function& before, const ir::Target& target);

}  // namespace regduel::oracles
