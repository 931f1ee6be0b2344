// See planned_program.h.

#include "allocator/phases/planned_program.h"

#include "allocator/spill/cost.h"
#include "allocator/spill_code/insert_spill_code.h"

namespace regduel::allocator {
namespace {

SpillCode code_of(const Run& run, const Plan& plan) {
  const ProgramFacts& facts = run.facts;
  ir::PassScope scope(run.instruments.passes, "insert_spill_code", &facts.f);
  SpillCode code = insert_spill_code(facts.f, facts.cfg, facts.live, plan, run.budget);
  scope.made(code.f);
  return code;
}

}  // namespace

PlannedProgram::PlannedProgram(const Run& run, const Plan& plan, const std::vector<std::int64_t>& costs)
    : run_(run), code_(code_of(run, plan)), live_(code_.f, run.facts.cfg, run.facts.live, code_.now_at, code_.is_changed),
      index_(code_.f, live_, run.budget.points_of(code_.f)), cost_(costs),
      guidance_({code_.f, live_, index_, cost_, run.budget, run.facts.model, run.facts.slots, plan.if_spilled,
                 Spilled::of(run.facts.f, plan)}) {
  cost_.resize(code_.f.vregs.size(), kUnspillable);  // temporaries
}

const Round& PlannedProgram::round() {
  if (round_) return *round_;
  const Run& run = run_;
  const ProgramFacts& facts = run.facts;
  const bool is_bank_aware = facts.knobs[Knob::BankAware] != 0 && facts.target.register_banks > 1;
  constraints_.emplace(
      facts.original, code_, facts.frequency, live_,
      ConstraintOptions{&facts.target, is_bank_aware, static_cast<std::uint32_t>(facts.knobs[Knob::ConstraintTypes])});
  if (is_bank_aware) banks_.emplace(code_.f, live_, facts.frequency, facts.target.register_banks);
  return round_.emplace(
      Round{.lowered = code_,
            .live = live_,
            .index = index_,
            .constraints = *constraints_,
            .spill_cost = cost_,
            .budget = run.budget,
            .target = facts.target,
            .fuel = run.instruments.fuel,
            .coalesces = facts.knobs[Knob::Chains] != 0,
            .banks = banks_ ? &*banks_ : nullptr,
            .evicts = facts.knobs[Knob::Eviction] != 0,
            .has_affinity = (facts.knobs[Knob::ConstraintTypes] >> static_cast<int>(ConstraintType::Range) & 1) != 0});
}

}  // namespace regduel::allocator
