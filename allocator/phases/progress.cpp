// See progress.h.

#include "allocator/phases/progress.h"

#include <algorithm>

#include "allocator/spill/cost.h"
#include "base/check_macro.h"

namespace regduel::allocator {

const std::vector<std::int64_t>& Progress::moves() {
  const ProgramFacts& facts = run.facts;
  if (moves_.empty()) moves_ = spill_moves(facts.f, facts.cfg, facts.live, facts.frequency, plan.if_spilled, facts.first_of);
  return moves_;
}

const std::vector<std::int64_t>& Progress::costs() {
  if (costs_.empty() || costs_pressure_ != high_pressure) {
    costs_ = spill_costs(run.facts.f, moves(), plan.if_spilled, high_pressure);
    costs_pressure_ = high_pressure;
  }
  return costs_;
}

void Progress::insert_spill_code() {
  program_.reset();  // first, since the next one needs as much memory
  rematerialise_unread(plan, run.facts.f);
  program_.emplace(run, plan, costs_with_packs());
}

// The spill cost of a pack is that of its members in memory, one byte each. Half of it counts, since packed predicates come back in
// temporaries, for which other vregs may have to leave.
std::vector<std::int64_t> Progress::costs_with_packs() {
  std::vector<std::int64_t> all = costs();
  all.resize(plan.num_long_lived(), kUnspillable);
  const std::int64_t weight = high_pressure[ir::index(ir::RegFile::R)] ? kSpillWeightHighPressure : kSpillWeight;
  for (const PredicatePack& pack : plan.packs) {
    std::int64_t bytes = 0;
    for (const std::vector<ir::VRegId>& bit : pack.members)
      for (const ir::VRegId v : bit) bytes += plan.is_packed(v) ? moves_[v.index()] : 0;
    all[pack.vreg.index()] = std::min(weight * (bytes / 2 + 1), kMaxSpillCost);
  }
  return all;
}

bool Progress::spill(ir::VRegId v, std::int64_t round, const VictimRank& rank) {
  if (v.index() >= plan.location.size()) return packs.empty(plan, v);
  const ir::RegFile file = run.facts.f.vreg(v).file();
  const bool may_pack = ir::is_predicate(file) && !plan.is_spilled(v) && !plan.if_spilled[v.index()].is_recomputed() &&
                        run.facts.knobs[Knob::PredicatePacks] != 0 && run.instruments.may("pack-predicate");
  if (!(may_pack && packs.take(plan, v)) && !plan.spill(v)) return false;
  if (file == ir::RegFile::R) packs.forget_room();
  RunListener* const listener = run.instruments.listener;
  if (listener != nullptr && listener->vreg() == v) listener->spilled(rank, round, costs()[v.index()]);
  if (round > 1 && run.facts.is_large()) plan.reuse.barred_vregs[v.index()] = 1;
  return true;
}

bool Progress::pin(std::uint32_t index, std::int64_t round, const VictimRank& rank) {
  const ir::Function& f = run.facts.f;
  const ir::Inst& inst = f.insts[index];
  bool changed = false;
  if (inst.is_inserted()) {
    for (const ir::Operand& op : f.operands_of(inst))
      if (op.is_vreg()) changed = plan.unpack(op.vreg()) || spill(op.vreg(), round, rank) || changed;
    return changed;
  }
  if (!plan.pinned[index].empty()) return false;
  build_items(f, inst, items_);
  if (items_.items.empty()) return false;
  auto homes = pack(f, inst, items_, run.budget);
  REGDUEL_CHECK(homes.has_value(), "an impossible instruction shows up late");
  plan.pinned[index] = std::move(*homes);
  return true;
}

bool Progress::make_room_at(std::uint32_t inst, std::int64_t round, const VictimRank& rank) {
  const bool waits = plan.reuse.distance != 0 && plan.reuse.barred_insts[inst] == 0;
  plan.reuse.barred_insts[inst] = 1;
  return waits || pin(inst, round, rank);
}

void Progress::keep_all_in_memory(std::int64_t round, const VictimRank& rank) {
  const ProgramFacts& facts = run.facts;
  packs.empty_all(plan);
  for (std::size_t v = 0; v < plan.location.size(); ++v)
    if (is_spillable(facts.f.vregs[v])) plan.spill(ir::VRegId(v));
  plan.reuse.distance = 0;
  for (const ir::BlockId b : facts.cfg.reverse_postorder()) {
    const ir::Block& block = facts.f.block(b);
    for (std::uint32_t k = 0; k < block.num_insts; ++k) {
      const ir::Inst& inst = facts.f.insts[block.first_inst + k];
      if (!inst.is_deleted() && !inst.is_inserted()) pin(block.first_inst + k, round, rank);
    }
  }
}

}  // namespace regduel::allocator
