// The worklist: candidates are tried in the order of their priority until a round merges none.
//
// Source: source 004, phase 4 and "Priority and Weight System". There are two heaps. A candidate that cannot be merged yet goes
// from the first to the second; when the first is empty, the two change places if the round has merged something. The order is by
// the register number of the source, lowest first (where the frequency of blocks counts: among copies of equally hot blocks,
// hottest first); among equals by weight, heaviest first; then as in the program. The heaps are Boost.Heap's. Tested by
// worklist_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace regduel::passes::nvptx {

enum class Outcome : std::uint8_t {
  Merged,
  Later,  // the ends interfere or are constrained now, but may not be after other merges
  Never,
  Stop,  // a limit is reached: no further candidate is tried
};
struct Priority {
  std::int64_t frequency = 0;  // of the block, where it counts
  std::uint32_t number = 0;    // of the register
  std::int64_t weight = 0;
};

// Calls priority(c) when c enters a heap and attempt(c) when it leaves one. Returns how often the heaps have changed places.
// Cost: O(rounds * n log n) beside the attempts.
int run_worklist(std::span<const std::uint32_t> candidates, const std::function<Priority(std::uint32_t)>& priority,
                 const std::function<Outcome(std::uint32_t)>& attempt);

}  // namespace regduel::passes::nvptx
