// Dead code: copies, phis and repeatable defs that no instruction reads, and what only these read. An allocation may leave them
// out (FORMAT.md, "Allocated programs", 4).
//
// Each round takes the copies and repeatable defs whose defs are not live after them out of the code, and asks for liveness again, until there
// are no more. Copies around a loop that read only each other are dead, too. A guarded def is no use of its own value.
// Tested by dead_code_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

// Empties the lists of refs of dead code, and takes kReads from guarded defs that use their value for nothing else. By index of Code::insts: whether the instruction was dead. Copies with clobbers stay.
// Cost: that of Liveness and of a walk, a round.
std::vector<std::uint8_t> drop_dead_code(const Problem& problem, Code& code);

}  // namespace regduel::reference
