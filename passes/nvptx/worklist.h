// Candidates in their order, tried until nothing changes.
//
// Source: source 004, phase 4 and "Priority and Weight System". Two heaps: what cannot be merged yet goes from the first to the
// second, and when the first is empty they change places, as long as the round before has merged something. The order is by the
// register number of the source, lowest first (where the frequency of blocks counts: among copies of equally hot blocks, hottest
// first); among equals by weight, heaviest first; then as in the program. The heaps are Boost.Heap's. Tested by worklist_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace regduel::passes::nvptx {

enum class Outcome : std::uint8_t {
  Merged,
  Later,  // they interfere, or are constrained: perhaps no longer once others have been merged
  Never,
  Stop,  // a limit is reached: all that is left is left alone
};
struct Priority {
  std::uint64_t frequency = 0;  // of the block, where it counts
  std::uint32_t number = 0;     // of the register
  std::uint64_t weight = 0;
};

// Asks priority(c) where c enters a heap, and attempt(c) where it leaves it. Returns how often the heaps have changed places.
// Cost: O(rounds * n log n) beside the attempts.
int run_worklist(std::span<const std::uint32_t> candidates, const std::function<Priority(std::uint32_t)>& priority,
                 const std::function<Outcome(std::uint32_t)>& attempt);

}  // namespace regduel::passes::nvptx
