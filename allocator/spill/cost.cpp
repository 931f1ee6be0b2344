// See cost.h.

#include "allocator/spill/cost.h"

#include <algorithm>

#include "allocator/assign/assign.h"

namespace regduel::allocator {

std::vector<std::int64_t> spill_moves(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                      const std::vector<std::int64_t>& block_frequency, std::span<const Location> if_spilled) {
  std::vector<std::int64_t> moves(in.vregs.size(), 0);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const ir::Inst& inst : in.insts_of(b))
      for (std::size_t k = 0; k < inst.num_operands; ++k) {
        const ir::Operand& op = in.operands[inst.first_operand + k];
        if (!op.is_vreg()) continue;
        const int steps = if_spilled[op.vreg().index()].steps();
        if (steps != 0 && op.writes()) continue;
        if (!op.reads() && (live.live_after(inst.first_operand + k) & bytes_of(in, op)) == 0) continue;
        const std::int64_t once = steps != 0 ? steps : in.vreg(op.vreg()).units();
        moves[op.vreg().index()] = std::min(moves[op.vreg().index()] + once * block_frequency[b.index()], kMaxSpillCost);
      }
  return moves;
}

std::vector<std::int64_t> spill_costs(const ir::Function& in, const std::vector<std::int64_t>& moves,
                                      std::span<const Location> if_spilled, const ir::PerFile<bool>& high_pressure) {
  std::vector<std::int64_t> costs(moves.size());
  for (std::size_t v = 0; v < costs.size(); ++v) {
    const ir::VReg& vreg = in.vregs[v];
    const std::int64_t weight = if_spilled[v].is_recomputed()           ? 1
                                : high_pressure[ir::index(vreg.file())] ? kSpillWeightHighPressure
                                                                        : kSpillWeight;
    const bool is_bound = vreg.is_architectural() && vreg.fixed.is_valid();
    costs[v] = is_bound ? kUnspillable : std::min(weight * moves[v], kMaxSpillCost);
  }
  return costs;
}

std::vector<std::int64_t> spill_costs(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                      const std::vector<std::int64_t>& block_frequency, std::span<const Location> if_spilled,
                                      const ir::PerFile<bool>& high_pressure) {
  return spill_costs(in, spill_moves(in, cfg, live, block_frequency, if_spilled), if_spilled, high_pressure);
}

}  // namespace regduel::allocator
