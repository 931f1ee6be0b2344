// Coverage: the edges of the allocators' code that an input runs through, in a build that counts them (REGDUEL_EDGES, clang only:
// preset "zoo"). Other builds have no edges. base/ holds this file because every program with an allocator needs the counters.
// Source: SanitizerCoverage's 8-bit counters, read in the buckets of AFL: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regduel {

// The number of edges in the program.
[[nodiscard]] std::size_t num_edges();
// Sets all counters to 0.
void clear_edges();
// (edge x 8 + bucket) of each edge that has run since reset, ascending. Cost: O(edges).
[[nodiscard]] std::vector<std::uint32_t> edges_hit();

}  // namespace regduel
