// The loops of a program before allocation, which give blocks their frequencies.
#pragma once

#include <vector>

#include "ir/cfg.h"

namespace regduel::oracles {

// Loop depth of each block, 0 = in no loop or unreachable. A loop is a strongly connected component; its first block in
// reverse postorder is its header, and the loops inside it are those that are left without the edges to that header. On
// reducible graphs these are the natural loops, those with a common header as one. Cost: O((blocks + edges) x depth).
[[nodiscard]] std::vector<int> loop_depths(const ir::Cfg& cfg);

}  // namespace regduel::oracles
