// See planned_program.h.

#include "allocator/phases/planned_program.h"

namespace regduel::allocator {
namespace {

SpillCode code_of(const Analysis& a, const Plan& plan) {
  ir::PassScope scope(a.observers.passes, "insert_spill_code", &a.f);
  SpillCode code = insert_spill_code(a.f, a.cfg, a.live, plan, a.budget);
  scope.made(code.f);
  return code;
}

std::vector<std::int64_t> with_temporaries(const std::vector<std::int64_t>& costs, std::size_t vregs) {
  std::vector<std::int64_t> all;
  all.reserve(vregs);
  all = costs;
  all.resize(vregs, kUnspillable);
  return all;
}

}  // namespace

PlannedProgram::PlannedProgram(const Analysis& a, const Plan& plan, const std::vector<std::int64_t>& costs)
    : analysis_(a), code_(code_of(a, plan)), live_(code_.f, a.cfg, a.live, code_.now_at, code_.is_changed), index_(code_.f, live_),
      cost_(with_temporaries(costs, code_.f.vregs.size())),
      guidance_({code_.f, live_, index_, cost_, a.budget, a.model, a.slots, plan.if_spilled, Spilled::of(a.f, plan)}) {}

const Round& PlannedProgram::round() {
  if (round_) return *round_;
  const Analysis& a = analysis_;
  const bool is_bank_aware = a.knobs[Knob::BankAware] != 0 && a.target.register_banks > 1;
  constraints_.emplace(a.original, code_, a.frequency, live_,
                       ConstraintOptions{&a.target, is_bank_aware, static_cast<std::uint32_t>(a.knobs[Knob::ConstraintTypes]),
                                         a.knobs[Knob::PreAllocation] != 0});
  if (is_bank_aware) banks_.emplace(code_.f, live_, a.frequency, a.target.register_banks);
  return round_.emplace(Round{.lowered = code_,
                              .live = live_,
                              .index = index_,
                              .constraints = *constraints_,
                              .spill_cost = cost_,
                              .budget = a.budget,
                              .target = a.target,
                              .fuel = a.observers.fuel,
                              .has_chains = a.knobs[Knob::Chains] != 0,
                              .banks = banks_ ? &*banks_ : nullptr});
}

}  // namespace regduel::allocator
