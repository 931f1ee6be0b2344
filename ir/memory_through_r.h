// Whether what other files than R hold reaches memory through registers of R alone. FORMAT.md, "Targets", has the rule. Tested by
// memory_through_r_test.cpp.
#pragma once

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::ir {

// Where the ABI of the function says so, and a register of R is there for it: one below the limit that is neither reserved nor
// architectural, and that the function need not keep for its caller.
[[nodiscard]] bool reaches_memory_through_r(const Function& f, const Target& target, const Limits& limits);

}  // namespace regduel::ir
