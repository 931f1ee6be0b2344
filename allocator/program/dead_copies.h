// Copies whose results are not read, dropped before anything is counted: their defs would hold registers for nothing, and their
// sources would live on for them.
//
// Two views, for each sees what the other does not:
//
//   by vreg    a root is *needed* if an operation other than a copy or a phi reads it, or if a copy or phi whose def is needed
//   reads
//              it. A copy or phi without a needed def is dead, also where dead ones feed each other round a loop. Decided before
//              out_of_ssa, so that no edge block is made for a phi that is not read.
//   by place   a copy whose defs are not live behind it, as where all of them are overwritten first. Decided by liveness. A copy
//   that
//              only fed such copies would be one in a next round; it is not worth another liveness.
//
// An original copy stands there deleted (FORMAT.md, "Allocated programs", 4), an inserted one without operands. Copies with
// clobbers and those to architectural registers stay. A parallel copy goes as a whole or not at all; of an inserted one, `lower`
// leaves out the dead pairs.
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

// Drops the copies of `f`, a program that out_of_ssa made, that are dead by place, in place: other operands keep their index.
// `live` is then that of a program that reads more, which is right but not exact: it is told of the vregs that these copies name.
// Cost: O(instructions + operands of copies).
void drop_dead_copies(ir::Function& f, Liveness& live, ir::Fuel* fuel = nullptr);

}  // namespace regduel::allocator
