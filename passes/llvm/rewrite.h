// The program after joining: each root by its representative, erased copies and phis left out, repeated defs in their places.
// Tested by llvm_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "ir/program.h"
#include "passes/llvm/joiner.h"

namespace regduel::passes::llvm {

//   repeated   by instruction: the one that is repeated in the place of this copy; kNone where it is none
// A copy that keeps some of its pairs becomes a new one with these, and without clobbers. A phi goes where its def and all its uses
// are one storage.
[[nodiscard]] ir::Function rewrite(const ir::Function& f, Joiner& joiner, std::span<const std::uint32_t> repeated);

}  // namespace regduel::passes::llvm
