// Vregs that live at one time with one value become one vreg, so that pressure, guidance and splitting count them once.
//
// After `%1 = copy %0` with later reads of both, two live ranges hold one value. Placed as a coalesced class (coalesced_classes.h)
// they take one register, but wherever pressure is measured they would count as two, and a vreg would be spilled for nothing. Two
// vregs are merged if a copy joins them, they overlap, and they can share a register wherever they live (def_lists.h). Vregs that
// do not overlap are left to coalesced classes: pressure counts them once anyhow, and two short ranges fit more easily than a long
// one. Vregs of different class, width or alignment and precoloured and architectural vregs are not merged.
//
// A copy within one vreg is dropped as a dead copy is (dead_copies.h). An original parallel copy keeps all its pairs, since it is
// dropped as a whole or not at all.
//
// Source: ours; source 000 leaves coalescing to passes before (source 004). Tested by merge_copies_test.cpp.
#pragma once

#include <vector>

#include "allocator/program/liveness.h"
#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::allocator {

// Renames the operands of `f`, a program that out_of_ssa made; they keep their index. Returns by vreg the one that stands for it;
// empty where nothing was merged, else `live` is out of date.
// Cost: O(instructions + pairs of copies x length of the ranges that they join).
[[nodiscard]] std::vector<ir::VRegId> merge_copies(ir::Function& f, const Liveness& live, ir::Fuel* fuel = nullptr);

}  // namespace regduel::allocator
