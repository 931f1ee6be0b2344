// Which edges of the allocators' code an input runs through, in a build that counts them (REGDUEL_EDGES, clang only: preset "zoo").
// A build without has no edges. It stands here because every program with an allocator in it needs the counters' place. Source:
// SanitizerCoverage's 8-bit counters, read in the buckets of AFL: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regduel {

// How many there are in the program.
[[nodiscard]] std::size_t num_edges();
// Sets all counters to 0.
void clear_edges();
// (edge x 8 + bucket) of each edge that was run through since, ascending. Cost: O(edges).
[[nodiscard]] std::vector<std::uint32_t> edges_hit();

}  // namespace regduel
