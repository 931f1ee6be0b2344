// How deep in loops each block lies: what is given in the program, else the number of natural loops around it.
//
// A loop is a target h of edges from blocks that h dominates, and all blocks from which these edges can be reached without h.
// Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Blocks that cannot be reached have depth
// 0. Cost: O(edges x depth). Tested by loop_depth_test.cpp.
#pragma once

#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes {

[[nodiscard]] std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg);

}  // namespace regduel::passes
