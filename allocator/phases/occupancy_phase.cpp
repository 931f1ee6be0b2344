// See occupancy_phase.h.

#include "allocator/phases/occupancy_phase.h"
#include "allocator/program/names.h"
#include "ir/loops.h"

#include <algorithm>

namespace regduel::allocator {

namespace {

enum Mode : std::int64_t { kOff = 0, kRematsOnly = 1 };

constexpr std::int64_t kMostWeighted = std::int64_t{1} << 59;  // of a program

bool is_access(const ir::Inst& inst) { return inst.op == ir::Op::Spill || inst.op == ir::Op::Refill; }

// Executed instructions of a program: all, and accesses of spill code.
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

// The estimated cost of the victims that guidance names for the soft budget; nothing if the knob does not allow one of them.
std::optional<std::int64_t> cost_of_victims(Progress& p, const Budget& soft) {
  const ProgramFacts& facts = p.run.facts;
  const RoundIndex index(facts.f, facts.live, soft.points_of(facts.f));
  SpillGuidance guidance(
      {facts.f, facts.live, index, p.costs(), soft, facts.model, facts.slots, p.plan.if_spilled, Spilled::of(facts.f, p.plan)});
  std::int64_t cost = 0;
  for (const VRegId v : guidance.victims(RegFile::R)) {
    const bool is_remat = p.plan.if_spilled[v.index()].is_recomputed();
    if (!is_remat && facts.knobs[Knob::Occupancy] == kRematsOnly) return std::nullopt;
    cost = std::min(kMostWeighted, cost + p.moves()[v.index()] * (is_remat ? 1 : BudgetModel::kAccess));
  }
  return cost;
}

}  // namespace

std::optional<OccupancyGoal> find_occupancy_goal(Progress& p, const ir::Function& allocated) {
  const Run& run = p.run;
  const ProgramFacts& facts = run.facts;
  if (facts.knobs[Knob::Occupancy] == kOff) return std::nullopt;
  const int now = registers_of(allocated);
  const auto step = next_step(facts.target, static_cast<int>(facts.original.threads), now);
  // Architectural registers may stand above the limit.
  if (!step || step->registers >= run.budget.limit[ir::index(RegFile::R)]) return std::nullopt;
  const std::int64_t worth = facts.model.worth_of_step(now, *step, executed(allocated).all);
  ir::Limits limits;
  limits.units = run.budget.limit;
  limits.units[ir::index(RegFile::R)] = step->registers;
  const auto cost = worth > 0 ? cost_of_victims(p, Budget::of(facts.original, facts.target, limits)) : std::nullopt;
  run.instruments.line("occupancy: {} registers, {} warps; {} registers, {} warps would be worth {}{}", now, step->warps_now,
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
