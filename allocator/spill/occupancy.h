// Occupancy: how many warps an SM holds at a number of registers a thread, and the next lower number that makes room for more.
//
//   registers of a warp = 32 x registers of a thread, up to the next multiple of the granularity
//   blocks of an SM     = least of: blocks that the SM takes, warps of the SM / warps of a block, registers of the SM / registers
//                         of a block
//
// Source: source 000 "Occupancy-Aware Budget Model" (what budgets are for); the limits are the target's. Tested by
// occupancy_test.cpp.
#pragma once

#include <optional>

#include "ir/target.h"

namespace regduel::allocator {

//   threads     of a block, at least 1
//   registers   of a thread; 0 counts as 1
// 0 where no block fits.
[[nodiscard]] int resident_warps(const ir::Target& target, int threads, int registers);

struct OccupancyStep {
  int registers = 0;  // the most with which the SM holds more warps
  int warps = 0;      // with that many registers, and now
  int warps_now = 0;
};
// The next step down; nothing if fewer registers do not raise the number of warps. Cost: O(registers / granularity).
[[nodiscard]] std::optional<OccupancyStep> next_step(const ir::Target& target, int threads, int registers);

}  // namespace regduel::allocator
