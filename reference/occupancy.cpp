#include "reference/occupancy.h"

#include <algorithm>
#include <string_view>

namespace regduel::reference {

Occupancy occupancy(const ir::Target& target, int registers, int threads) {
  const int granularity = std::max(1, target.register_granularity), warps = std::max(1, (threads + 31) / 32);
  const int of_warp = (32 * std::max(1, registers) + granularity - 1) / granularity * granularity;
  const int blocks =
      std::min({target.registers_per_sm / (of_warp * warps), target.max_warps_per_sm / warps, target.max_blocks_per_sm});
  return {blocks, blocks * warps * 100 / std::max(1, target.max_warps_per_sm)};
}

int most_registers(const ir::Target& target, int percent, int threads) {
  for (int registers = target.max_registers_per_thread; registers > 0; --registers)
    if (occupancy(target, registers, threads).percent >= percent) return registers;
  return target.max_registers_per_thread;
}

int threads_of_block(const ir::Function& program) {
  constexpr int kWarpgroup = 128;
  const auto threads = static_cast<int>(program.threads);
  const bool has_warpgroup = std::ranges::any_of(program.insts, [&](const ir::Inst& inst) {
    const std::string_view name = program.mnemonic(inst);
    return name.starts_with("wgmma.") || name.starts_with("tcgen05.") || name.starts_with("setmaxnreg.");
  });
  return has_warpgroup ? (threads + kWarpgroup - 1) / kWarpgroup * kWarpgroup : threads;
}

}  // namespace regduel::reference
