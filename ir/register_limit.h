// Instructions that change how many registers of R a warp has from there on: operations named `setmaxnreg.…` whose first operand is the
// number. FORMAT.md, "Limits by point", has the rules. No analysis is here: allocators and judges follow the limit along the paths each
// by themselves. Tested by register_limit_test.cpp.
#pragma once

#include <optional>

#include "ir/program.h"

namespace regduel::ir {

// The limit of R behind the instruction; nothing if it leaves the limit as it is.
[[nodiscard]] std::optional<int> new_register_limit(const Function& f, const Inst& inst);

// Whether some instruction changes the limit. Cost: O(symbols), and O(instructions) where one of them is the name of such an operation.
[[nodiscard]] bool changes_register_limit(const Function& f);

}  // namespace regduel::ir
