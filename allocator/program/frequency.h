// Block frequencies: given ones as they are, the rest base^depth with a loop depth found here.
//
// Loops are nested strongly connected regions: a region without its header (the block that comes first in reverse postorder)
// falls into the regions one level further in. That covers irreducible loops too. Source: source 001 "Block frequency weighting"
// with DECISIONS (base^depth). Tested by frequency_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::allocator {

// No frequency is above this, so that sums of products stay within 64 bits.
inline constexpr std::int64_t kMaxFrequency = std::int64_t{1} << 30;

// Loop depth of each block, 0 outside loops and in unreachable blocks. Cost: O(edges x depth); depths above 16 are not told apart.
[[nodiscard]] std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg);
// At least 1, at most `most`. An edge block without a figure of its own: the lesser of its two ends'.
[[nodiscard]] std::vector<std::int64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg, std::int64_t base,
                                                          std::int64_t most = kMaxFrequency);

}  // namespace regduel::allocator
