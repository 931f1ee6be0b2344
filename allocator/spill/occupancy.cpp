// See occupancy.h.

#include "allocator/spill/occupancy.h"

#include <algorithm>

namespace regduel::allocator {

constexpr int kThreadsOfWarp = 32;

int resident_warps(const ir::Target& t, int threads, int registers) {
  const int warps_of_block = std::max(1, (threads + kThreadsOfWarp - 1) / kThreadsOfWarp);
  const int granularity = std::max(1, t.register_granularity);
  const int of_warp = (kThreadsOfWarp * std::max(1, registers) + granularity - 1) / granularity * granularity;
  return warps_of_block *
         std::min({t.max_blocks_per_sm, t.max_warps_per_sm / warps_of_block, t.registers_per_sm / of_warp / warps_of_block});
}

std::optional<OccupancyStep> next_step(const ir::Target& t, int threads, int registers) {
  const int now = resident_warps(t, threads, registers);
  // The same number of registers of a warp holds for all registers of a thread up to here.
  const int granularity = std::max(1, t.register_granularity);
  for (int of_warp = (kThreadsOfWarp * registers - 1) / granularity * granularity; of_warp > 0; of_warp -= granularity) {
    const int fewer = of_warp / kThreadsOfWarp;
    if (fewer < 1 || fewer >= registers) continue;
    if (const int warps = resident_warps(t, threads, fewer); warps > now) return OccupancyStep{fewer, warps, now};
  }
  return std::nullopt;
}

}  // namespace regduel::allocator
