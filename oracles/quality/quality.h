// The quality judge: recomputes every figure of an allocation from the program before and the program after, and holds an
// allocator's claims against them.
#pragma once

#include <cstdint>
#include <vector>

#include "oracles/report.h"

namespace regduel::oracles {

struct Measures {
  // Of the program after.
  ir::PerFile<int> registers = {};     // highest unit used + 1; clobbers do not count
  std::int64_t spill_stores = 0;       // spill instructions, original copies that became one included
  std::int64_t spill_loads = 0;        // refill instructions, the same way
  std::int64_t spill_store_bytes = 0;  // bytes that they move, each instruction counted once
  std::int64_t spill_load_bytes = 0;
  std::int64_t shared_spill_bytes = 0;  // of the two above together: to and from shared memory
  std::int64_t inserted_copies = 0;     // pairs of inserted copies
  std::int64_t kept_copies = 0;         // pairs of original copies that still move something
  std::int64_t remats = 0;
  std::int64_t pack_operations = 0;  // p2r, r2p, bit_spill, bit_refill
  std::int64_t edge_blocks = 0;
  std::int64_t instructions_before = 0;  // deleted ones do not count
  std::int64_t instructions_after = 0;
  std::int64_t local_frame_bytes = 0;
  std::int64_t shared_frame_bytes = 0;  // of one thread
  // Weighted: times the frequency of the block in the program before (an edge block: the lesser of its two ends'). Saturating.
  std::int64_t weighted_spill_bytes = 0;  // spill and refill bytes
  std::int64_t weighted_copies = 0;       // pairs of copies, inserted or kept
  // Of the target.
  int warps_per_sm = 0;       // resident warps at this many registers and this much shared memory
  int occupancy_percent = 0;  // of max_warps_per_sm, rounded down
  // Of the program before.
  ir::PerFile<int> max_live = {};  // MaxLive, units; 0 where there is no reachable code

  friend bool operator==(const Measures&, const Measures&) = default;
};

// What the program before contributes on its own: the same for all its allocations.
struct BeforeFigures {
  ir::PerFile<int> max_live = {};         // MaxLive, units
  std::vector<std::int64_t> frequencies;  // of each block
};
//   frequency_base   frequency of a block without one = frequency_base ^ loop depth, saturating
// Cost: near-linear in the size of the program and of its live sets.
[[nodiscard]] BeforeFigures figures_before(const ir::Function& before, int frequency_base = 10);

// Requires: both well-formed, `figures` those of `before`; `after` may be any program whatever, also before itself.
// Cost: O(size of after).
[[nodiscard]] Measures measure(const ir::Function& before, const ir::Function& after, const ir::Target& target,
                               const BeforeFigures& figures);
// The same with figures_before(before, frequency_base).
[[nodiscard]] Measures measure(const ir::Function& before, const ir::Function& after, const ir::Target& target,
                               int frequency_base = 10);

// Skipped where nothing was claimed. Cost: O(size of after): no claim is about the program before.
[[nodiscard]] const Judge& quality_judge();

}  // namespace regduel::oracles
