// The program after the merges: operands under other names, and without the copies and phis that have nothing left to do.
//
// Source: source 004, phase 5. Tested by rewrite_test.cpp and the golden files of nvptx_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "passes/nvptx/coalescer.h"

namespace regduel::passes::nvptx {

// A copy goes where each of its pairs moves what stands there already, a phi where all its uses are its def. Where that was so
// before any merge, the fuel is asked. A parallel copy with other pairs besides stays whole.
[[nodiscard]] ir::Function rewrite(const ir::Function& f, const Coalescer& coalescer, ir::Fuel* fuel);

}  // namespace regduel::passes::nvptx
