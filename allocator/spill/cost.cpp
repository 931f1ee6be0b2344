// See cost.h.

#include "allocator/spill/cost.h"

#include <algorithm>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

// The bytes that a refill for an operand moves: an aligned piece of at least a word (SpillCodeWriter::cover).
std::int64_t refilled_bytes(const ir::VReg& v, const ir::Operand& op) {
  const int all = slot_bytes(v);
  return op.part.is_whole() ? all : std::min(all, std::max(op.part.size_bytes(), ir::unit_bytes(v.file())));
}
std::int64_t stored_bytes(const ir::VReg& v, const ir::Operand& op) {
  return op.part.is_whole() ? slot_bytes(v) : op.part.size_bytes();
}

// A move between a register and the memory of the same value.
bool is_between_pieces(const ir::Inst& inst, std::span<const ir::Operand> ops, std::span<const VRegId> first_of) {
  return !first_of.empty() && inst.is_copy() && inst.is_inserted() && ops.size() == 2 && ops[0].vreg() != ops[1].vreg() &&
         first_of[ops[0].vreg().index()] == first_of[ops[1].vreg().index()];
}

}  // namespace

std::vector<std::int64_t> spill_moves(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live,
                                      const std::vector<std::int64_t>& block_frequency, std::span<const Location> if_spilled,
                                      std::span<const VRegId> first_of) {
  std::vector<std::int64_t> moves(in.vregs.size(), 0);
  for (const ir::BlockId b : cfg.reverse_postorder()) {
    std::int64_t frequency = block_frequency[b.index()];
    if (REGDUEL_PLANTED("fatpoint-loss-loops-look-cold"))
      frequency = std::max<std::int64_t>(1, 10'000 / std::max<std::int64_t>(1, frequency));
    for (const ir::Inst& inst : in.insts_of(b)) {
      const std::span<const ir::Operand> ops = in.operands_of(inst);
      const bool is_guarded = ir::is_guarded(ops);
      const bool is_move_of_piece = is_between_pieces(inst, ops, first_of);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        const ir::Operand& op = ops[k];
        if (!op.is_vreg()) continue;
        const std::size_t at = inst.first_operand + k, v = op.vreg().index();
        const ByteMask bytes = bytes_of(in, op), kept = bytes & live.live_after(at);
        const bool stores = op.writes() && kept != 0;
        const bool refills = op.reads() || (stores && is_guarded && (kept & live.reached_before(at)) != 0);
        const auto is_same = [&](const ir::Operand& o) { return o.is_vreg() && o.reads() && o.vreg() == op.vreg(); };
        const bool is_first = std::none_of(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(k), is_same);
        if (is_move_of_piece && if_spilled[v].steps() == 0) {
          if (if_spilled[ops[1 - k].vreg().index()].steps() == 0)
            moves[v] -= frequency * (op.writes() ? refilled_bytes(in.vreg(op.vreg()), op) : stored_bytes(in.vreg(op.vreg()), op));
          continue;
        }
        std::int64_t once = 0;
        if (const int steps = if_spilled[v].steps(); steps != 0) once = op.writes() ? 0 : steps;
        else
          once = (refills && is_first ? refilled_bytes(in.vreg(op.vreg()), op) : 0) +
                 (stores ? stored_bytes(in.vreg(op.vreg()), op) : 0);
        moves[v] = std::min(moves[v] + once * frequency, kMaxSpillCost);
      }
    }
  }
  return moves;
}

std::vector<std::int64_t> spill_costs(const ir::Function& in, const std::vector<std::int64_t>& moves,
                                      std::span<const Location> if_spilled, const ir::PerFile<bool>& high_pressure) {
  std::vector<std::int64_t> costs(moves.size());
  for (std::size_t v = 0; v < costs.size(); ++v) {
    const ir::VReg& vreg = in.vregs[v];
    std::int64_t weight = if_spilled[v].is_recomputed()           ? 1
                          : high_pressure[ir::index(vreg.file())] ? kSpillWeightHighPressure
                                                                  : kSpillWeight;
    if (REGDUEL_PLANTED("fatpoint-loss-tuples-look-cheap") && vreg.units() > 1) weight = 0;
    costs[v] = is_spillable(vreg) ? std::min(weight * std::max<std::int64_t>(moves[v], 0), kMaxSpillCost) : kUnspillable;
  }
  return costs;
}

}  // namespace regduel::allocator
