// The program before allocation. See map_pair.h for what becomes what.
#pragma once

#include "llvm/mapping/rir.h"

namespace regduel::llvm {

// Throws Refusal. Requires: cut (cut.h).
[[nodiscard]] Groups map_before(const Tables& tables, const Dump& before, const Cells& cells);

}  // namespace regduel::llvm
