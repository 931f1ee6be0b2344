// Which precoloured vregs can simply live in their register.
//
// A precoloured vreg binds only its operands; between instructions it may be elsewhere. But if nothing else needs the register while
// the vreg lives (another vreg's fixed operand, a clobber, another precoloured vreg), it stays there and needs no copies.
// Ours; source 000 has fixed operands as type 2 only. Tested by precoloured_test.cpp.
#pragma once

#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "ir/program.h"

namespace regduel::allocator {

// By vreg: 1 where it keeps its fixed register. Architectural registers always do. Cost: O(operands log operands).
[[nodiscard]] std::vector<char> find_precoloured(const ir::Function& f, const Liveness& live, const Budget& budget);

}  // namespace regduel::allocator
