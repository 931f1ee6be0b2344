// See occupancy_phase.h.

#include "allocator/phases/occupancy_phase.h"
#include "ir/loops.h"

#include <algorithm>

namespace regduel::allocator {

using ir::BlockId;
using ir::RegFile;
using ir::VRegId;

namespace {

enum Mode : std::int64_t { kOff = 0, kRematsOnly = 1 };

constexpr std::int64_t kMostWeighted = std::int64_t{1} << 59;  // of a program

bool is_access(const ir::Inst& inst) { return inst.op == ir::Op::Spill || inst.op == ir::Op::Refill; }

// What a program executes: in all, and accesses of spill code alone.
struct Executed {
  std::int64_t all = 0, accesses = 0;
};
Executed executed(const ir::Function& f) {
  const std::vector<std::int64_t> weights = ir::block_weights(f, ir::Cfg(f));
  Executed sum;
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& inst : f.insts_of(BlockId(b))) {
      if (inst.is_deleted()) continue;
      const std::int64_t cost = weights[b] * (is_access(inst) ? BudgetModel::kAccess : 1);
      sum.all = std::min(kMostWeighted, sum.all + cost);
      if (is_access(inst)) sum.accesses = std::min(kMostWeighted, sum.accesses + cost);
    }
  return sum;
}

int registers_of(const ir::Function& allocated) {
  int end = 0;
  for (const ir::Inst& inst : allocated.insts)
    if (!inst.is_deleted())
      for (const ir::Operand& op : allocated.operands_of(inst))
        if (op.is_preg() && op.role != ir::Role::Clobber && op.preg().file == RegFile::R) end = std::max(end, op.preg().end());
  return end;
}

// Where guidance would have to go for the soft budget, and what that costs at first sight; nothing where it may not go there.
std::optional<std::int64_t> cost_of_victims(Progress& p, const Budget& soft) {
  const Analysis& a = p.analysis;
  const RoundIndex index(a.f, a.live);
  SpillGuidance guidance({a.f, a.live, index, p.costs(), soft, a.model, a.slots, p.plan.if_spilled, Spilled::of(a.f, p.plan)});
  std::int64_t cost = 0;
  for (const VRegId v : guidance.victims(RegFile::R)) {
    const bool is_remat = p.plan.if_spilled[v.index()].is_recomputed();
    if (!is_remat && a.knobs[Knob::Occupancy] == kRematsOnly) return std::nullopt;
    cost = std::min(kMostWeighted, cost + p.moves()[v.index()] * (is_remat ? 1 : BudgetModel::kAccess));
  }
  return cost;
}

}  // namespace

std::optional<OccupancyGoal> find_occupancy_goal(Progress& p, const ir::Function& allocated) {
  const Analysis& a = p.analysis;
  if (a.knobs[Knob::Occupancy] == kOff) return std::nullopt;
  const int now = registers_of(allocated);
  const auto step = next_step(a.target, static_cast<int>(a.original.threads), now);
  // Architectural registers may stand above the limit.
  if (!step || step->registers >= a.budget.limit[ir::index(RegFile::R)]) return std::nullopt;
  const std::int64_t worth = a.model.worth_of_step(now, *step, executed(allocated).all);
  ir::Limits limits;
  limits.units = a.budget.limit;
  limits.units[ir::index(RegFile::R)] = step->registers;
  const auto cost = worth > 0 ? cost_of_victims(p, Budget::of(a.original, a.target, limits)) : std::nullopt;
  a.observers.line("occupancy: {} registers, {} warps; {} registers, {} warps would be worth {}{}", now, step->warps_now,
                   step->registers, step->warps, worth, cost ? fmt::format(", and cost {} at first sight", *cost) : "");
  if (!cost || *cost > worth) return std::nullopt;
  return OccupancyGoal{*step, worth};
}

bool is_worth(const OccupancyGoal& goal, const Knobs& knobs, const ir::Function& plain, const ir::Function& fewer) {
  if (registers_of(fewer) > goal.step.registers) return false;
  const Executed before = executed(plain), after = executed(fewer);
  if (knobs[Knob::Occupancy] == kRematsOnly && after.accesses > before.accesses) return false;
  return after.all - before.all <= goal.worth;
}

}  // namespace regduel::allocator
