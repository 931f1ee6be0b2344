// The quality judge: recomputes every figure of an allocation from the program before and the program after, and compares the
// claims of an allocator with them. Tested by quality_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

struct Measures {
  // Of the program after. Lowered spill code counts as what it is: instructions and registers for addresses, spills and refills by
  // their accesses.
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
  // Pairs of sources of one named operation in R whose first units are distinct and of one bank of the target
  // (source 000 "Per-Instruction Assignment"): they are read one after the other.
  std::int64_t bank_conflicts = 0;
  std::int64_t instructions_before = 0;  // deleted ones do not count
  std::int64_t instructions_after = 0;
  std::int64_t local_frame_bytes = 0;
  std::int64_t shared_frame_bytes = 0;  // of one thread
  // Weighted: times the weight of the block in the program before (an edge block: the lesser of its two ends'). nullopt where the
  // sum is beyond INT64_MAX: it is then neither compared nor added up.
  std::optional<std::int64_t> weighted_spill_bytes = 0;  // spill and refill bytes
  std::optional<std::int64_t> weighted_copies = 0;       // pairs of copies, inserted or kept
  std::optional<std::int64_t> estimated_latency = 0;     // cycles of kLatency, of one thread, nothing overlapping
  // Of the target.
  int warps_per_sm = 0;       // resident warps at this many registers and this much shared memory
  int occupancy_percent = 0;  // of max_warps_per_sm, rounded down
  // Of the program before.
  ir::PerFile<int> max_live = {};  // MaxLive, units; 0 where there is no reachable code

  friend bool operator==(const Measures&, const Measures&) = default;
};

// Cycles until the next instruction can use a result: about the measured values from sm_70 on, with memory in the first cache. An
// estimate for comparing two allocations of one program, which differ in their inserted instructions.
struct Latency {
  int arithmetic = 4;  // copies, remats, packs and all that is none of the following
  int shared = 23;     // spills and refills of shared slots
  int local = 33;      // those of local slots, and reads and writes of memory: all find it in the first cache
};
inline constexpr Latency kLatency;

// Requires: both well-formed; `after` may be any program whatever, also before itself. A block weighs what ir::block_weights says.
// Cost: O(size of after), and near-linear in `before` and its live sets once for each Before.
[[nodiscard]] Measures measure(const Before& before, const ir::Function& after);

// Warps and occupancy, by the registers and the shared frame that the measures have.
void set_occupancy(Measures& m, std::uint32_t threads, const ir::Target& target);

// Skipped if the case has no claims. Cost: that of measure(), less if the case has its measures.
[[nodiscard]] const Judge& quality_judge();

}  // namespace regduel::oracles
