// The program after the merges: operands name merged vregs, and copies and phis that move nothing are dropped.
//
// Source: source 004, phase 5. Tested by rewrite_test.cpp and the golden files of nvptx_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "passes/nvptx/coalescer.h"

namespace regduel::passes::nvptx {

// Drops a copy if each of its pairs has one vreg on both sides, and a phi if all of its uses are its def. Spends fuel if that was
// so before any merge. A parallel copy with another pair stays whole.
[[nodiscard]] ir::Function rewrite(const ir::Function& f, const Coalescer& coalescer, ir::Fuel* fuel);

}  // namespace regduel::passes::nvptx
