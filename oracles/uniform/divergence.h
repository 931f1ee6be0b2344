// The blocks at which two ways from one branch meet first. Tested by divergence_test.cpp.
//
//   label(s) = s for each target s of the branch; of another block b, that of its predecessors that have one, if it is the same, else
//   b. A block b is a meeting point if label(b) = b and a predecessor has another label. The branch itself hands on no label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regduel::oracles::uniform {

using Blocks = std::vector<std::vector<std::uint32_t>>;  // by block

// meets[b] = 1 for each block b at which two ways from `branch` meet first. `order`: reverse postorder of the reachable blocks;
// `predecessors`: the reachable ones. Cost: passes x edges.
void mark_meeting_points(const Blocks& successors, const Blocks& predecessors, std::span<const std::uint32_t> order,
                         std::uint32_t branch, std::vector<char>& meets);

}  // namespace regduel::oracles::uniform
