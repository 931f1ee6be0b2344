// How deep in loops blocks lie and how often they are executed: the frequency that the program gives, else 10^depth, with the depth
// given or that of the nest of loops found here (ir/FORMAT.md, "Frequency"). A loop is a strongly connected component with an edge
// in it, and the loops within are those of what is left of it without its first block in reverse postorder: so that irreducible
// loops count as well. Tested by frequency_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes {

inline constexpr std::uint64_t kHighestFrequency = 1'000'000'000;

// By block: what the program gives, else 0 to 9 loops around it; 0 for an unreachable block. Cost: O(edges x depth).
[[nodiscard]] std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg);

// By block, from 1 to kHighestFrequency. Cost: as loop_depths.
[[nodiscard]] std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg);

}  // namespace regduel::passes
