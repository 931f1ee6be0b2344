// How often each block is executed, for passes: the frequency that the program gives, else 10^depth (ir/FORMAT.md, "Frequency"), at
// most 10^9; the depth is the one given, or that of the nest of loops found here. A loop is a strongly connected component with an
// edge in it, and the loops within are those of what is left of it without its first block in reverse postorder: so that
// irreducible loops count as well. Tested by block_weights_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes::conventional {

inline constexpr std::uint64_t kMostWeight = 1'000'000'000;

// By block, from 1 to kMostWeight; 1 for an unreachable block that gives nothing. Cost: O(edges * depth), no deeper than 9.
[[nodiscard]] std::vector<std::uint64_t> block_weights(const ir::Function& f, const ir::Cfg& cfg);

}  // namespace regduel::passes::conventional
