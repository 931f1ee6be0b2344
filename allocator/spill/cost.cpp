// See cost.h.

#include "allocator/spill/cost.h"

#include <algorithm>

#include "allocator/assign/assign.h"

namespace regduel::allocator {

std::vector<std::int64_t> spill_costs(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                      const std::vector<std::int64_t>& block_frequency, std::span<const Location> if_spilled,
                                      const ir::PerFile<bool>& high_pressure) {
  constexpr std::int64_t kMaxCost = (std::int64_t{1} << 48) - 1;
  std::vector<std::int64_t> cost(in.vregs.size(), 0);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const ir::Inst& inst : in.insts_of(b))
      for (std::size_t k = 0; k < inst.num_operands; ++k) {
        const ir::Operand& op = in.operands[inst.first_operand + k];
        if (!op.is_vreg()) continue;
        const ir::VReg& v = in.vreg(op.vreg());
        const bool is_remat = if_spilled[op.value].is_recomputed();
        if (is_remat && op.writes()) continue;
        if (!op.reads() && (live.live_after(inst.first_operand + k) & bytes_of(in, op)) == 0) continue;
        const std::int64_t weight = high_pressure[ir::index(v.file())] ? kSpillWeightHighPressure : kSpillWeight;
        const std::int64_t once = is_remat ? 1 : weight * v.units();
        cost[op.value] = std::min(cost[op.value] + once * block_frequency[b.index()], kMaxCost);
      }
  for (std::size_t v = 0; v < cost.size(); ++v)
    if ((in.vregs[v].flags & ir::kVRegArchitectural) != 0 && in.vregs[v].fixed.is_valid()) cost[v] = kUnspillable;
  return cost;
}

}  // namespace regduel::allocator
