// Loop depths, frequencies and weights of blocks (FORMAT.md, "Frequency" and "Allocated programs").
//
// A loop is a strongly connected component with an edge in it. Its first block in reverse postorder is its header, and the loops
// inside it are the components that are left of it without the header (Steensgaard's view of irreducible loops). On reducible
// graphs these are the natural loops, those with a common header as one. Tested by loops_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::ir {

// The base of frequencies, unless another is asked for, and the most that a block weighs: loops nested nine deep.
inline constexpr std::int64_t kFrequencyBase = 10, kMostWeight = 1'000'000'000;

// Loop depth by block in the graph, at most `deepest`; 0 for a block that is in no loop or unreachable. Cost: O((blocks + edges) x
// depth).
[[nodiscard]] std::vector<int> loop_depths(const Cfg& cfg, int deepest = 64);
// The depth that the program gives, else that in the graph. Cost: the same.
[[nodiscard]] std::vector<int> loop_depths(const Function& f, const Cfg& cfg, int deepest = 64);

// By block, in [1, most]: the given frequency, else base ^ loop depth; of an edge block, the lesser of those of its two ends.
// Requires base >= 1 and base x most < 2^63. Cost: as loop_depths.
[[nodiscard]] std::vector<std::int64_t> block_frequencies(const Function& f, const Cfg& cfg, std::int64_t base = kFrequencyBase,
                                                          std::int64_t most = std::int64_t{1} << 30);
// By block: the frequency to base kFrequencyBase, at most kMostWeight. Cost: as loop_depths.
[[nodiscard]] std::vector<std::int64_t> block_weights(const Function& f, const Cfg& cfg);

}  // namespace regduel::ir
