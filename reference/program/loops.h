// Loop depth of each block where the program does not give it, and block frequencies.
//
// Loops are strongly connected regions: a region's first block in reverse postorder is taken out, and what is still strongly
// connected is nested one deeper (Steensgaard's view of irreducible loops); they are found as Tarjan (1972) does. Tested by
// loops_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::reference {

// Depth of each block: the given one, else the computed one; 0 for an unreachable block. Cost O(depth x edges).
[[nodiscard]] std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg);

// Frequency of each block, in [1, 2^40]: the given one, else base^depth, base in [1, 1000]. Integers, saturating.
[[nodiscard]] std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg, int base);

}  // namespace regduel::reference
