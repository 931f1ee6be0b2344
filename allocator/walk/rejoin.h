// After a walk: values that a copy joins get one register where one has room for both.
//
// A walk decides by what it has passed so far, so many of its moves prove needless: the register that a value moves to was free all the
// time, or was held by a value that could stand elsewhere. Copies are looked at once, those first that are executed most often. If its
// two values stand apart, one goes where the other is, or both go to a third place. A few vregs in the way step aside, if that costs
// fewer copies than it saves. Vregs that copies join and that stand in one register move together.
//
// Source: Hack and Goos 2008 (copy coalescing by graph recolouring). Tested by rejoin_test.cpp.
#pragma once

#include "allocator/instruction/packing.h"
#include "allocator/program/liveness.h"
#include "allocator/walk/write_moves.h"
#include "ir/target.h"

namespace regduel::allocator {

// Changes homes of vregs of one file. No register comes into use that was not in use before.
//   live   of the program with its moves
// Cost: O(copies x (a query of the occupancy + vregs that live near)).
void rejoin(MovedProgram& program, const Liveness& live, ir::RegFile file, const Budget& budget, const ir::Target& target);

}  // namespace regduel::allocator
