// What is left of a program without the instructions whose results nothing needs. Tested by passes/copyprop_test.cpp and
// rewriting/clean_test.cpp.
#pragma once

#include <span>

#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::passes {

// Keeps what `stays`, and whatever writes a root that a kept instruction reads. A def of a part and a guarded def keep other bytes of
// their root, which matter only if the root is read.
//   stays   by instruction
//   fuel    what it does not pay for stays, too; null = unlimited
//   step    its name there
// Cost: O(operands).
[[nodiscard]] ir::Function without_unread(const ir::Function& f, std::span<const char> stays, ir::Fuel* fuel, const char* step);

}  // namespace regduel::passes
