// Drops copies whose results are not read, before anything is counted. Otherwise their defs would hold registers, and their sources
// would live on for them.
//
// There are two tests, and each finds copies that the other does not:
//
//   by vreg    A root is *needed* if an operation other than a copy or a phi reads it, or if a copy or phi whose def is needed
//              reads it. A copy or phi without a needed def is dead, also where dead copies feed each other round a loop. This is
//              decided before out_of_ssa, so that no edge block is made for a phi that is not read.
//   by place   A copy is dead if its defs are not live behind it, as where all of them are overwritten first. This is decided by
//              liveness. A copy whose def only such copies read would be found by a second pass, which is not worth another
//              liveness.
//
// A dropped original copy is marked deleted (FORMAT.md, "Allocated programs", 4); a dropped inserted copy loses its operands. Copies
// with clobbers and copies to architectural registers stay. A parallel copy is dropped as a whole or not at all; spill code leaves
// out the dead pairs of an inserted one (spill_code/edge_copies.h).
//
// Source: ours; source 000 leaves dead code to passes before, and a duel counts what is left. Tested by dead_copies_test.cpp.
#pragma once

#include <vector>

#include "allocator/program/liveness.h"
#include "ir/allocator.h"
#include "ir/program.h"

namespace regduel::allocator {

// By instruction (index): 1 = a copy or phi that is dead by vreg; empty where there is none.
// Requires: well-formed, phase Virtual. Cost: O(operands).
[[nodiscard]] std::vector<char> find_dead_copies(const ir::Function& program, ir::Fuel* fuel = nullptr);

// Drops the copies of `f`, a program that out_of_ssa made, that are dead by place; other operands keep their index. Afterwards some
// ranges of `live` are longer than they need to be; `live` is told of the vregs that the dropped copies name.
// Cost: O(instructions + operands of copies).
void drop_dead_copies(ir::Function& f, Liveness& live, ir::Fuel* fuel = nullptr);

}  // namespace regduel::allocator
