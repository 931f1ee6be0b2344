// See analysis.h.

#include "allocator/phases/analysis.h"

#include <algorithm>

#include "allocator/assign/assign.h"
#include "allocator/program/dead_copies.h"
#include "allocator/program/frequency.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/program/precoloured.h"
#include "allocator/spill/cost.h"

namespace regduel::allocator {
namespace {

// With fuel: what is decided for a vreg as a whole. That it has a register, that this is its own, that it is computed again.
void ask_for_fuel(Plan& plan, const Analysis& a) {
  ir::Fuel& fuel = *plan.fuel;
  const std::vector<std::int64_t> costs = spill_costs(a.f, a.cfg, a.live, a.frequency, plan.if_spilled, {});
  const ir::PerFile<Location>& slots = a.spilling.slots;
  for (std::size_t v = 0; v < a.f.vregs.size(); ++v) {
    if (a.live.range(v).empty()) continue;
    const bool is_spillable = costs[v] < kUnspillable;
    const bool keeps_register = !is_spillable || fuel.spend("keep-in-register");
    Location& location = plan.location[v];
    if (is_spillable && location == Location::own_register() && !fuel.spend("keep-precoloured")) location = Location();
    Location& if_spilled = plan.if_spilled[v];
    if (if_spilled.is_recomputed() && !fuel.spend("rematerialise")) if_spilled = slots[ir::index(a.f.vregs[v].file())];
    if (!keeps_register) plan.spill(ir::VRegId(v));
  }
}

ir::Function without_phis(const ir::Function& program, const Observers& observers) {
  ir::PassScope scope(observers.passes, "out_of_ssa", &program);
  ir::Function f = out_of_ssa(program, observers.fuel, find_dead_copies(program, observers.fuel));
  scope.made(f, [](const ir::Function& made) {
    return std::none_of(made.insts.begin(), made.insts.end(), [](const ir::Inst& i) { return i.is_phi() && !i.is_deleted(); });
  });
  return f;
}

}  // namespace

Analysis::Analysis(const ir::Function& program, const RunOptions& options)
    : original(program), target(options.target), knobs(options.knobs), observers(options.observers),
      budget(Budget::of(program, target, options.limits)), model(target, knobs), slots(slot_strategy(program, knobs)),
      spilling(set_up_spilling(program, target, knobs)), f(without_phis(program, observers)), cfg(f), live(f, cfg),
      frequency(block_frequencies(f, cfg, knobs[Knob::EstimatedLoopIterations])), modes(modes_of(program)) {
  ir::PassScope scope(observers.passes, "drop_dead_copies", &f);
  drop_dead_copies(f, live, observers.fuel);
  scope.made(f);
}

Plan first_plan(const Analysis& a) {
  Plan plan = plan_without_spills(a.f, find_precoloured(a.f, a.live, a.budget), a.spilling.slots);
  if (a.knobs[Knob::Rematerialise] != 0) rematerialise(plan, a.f, a.cfg);
  plan.reuse.distance = static_cast<int>(a.knobs[Knob::RefillReuse]);
  plan.shared_bytes = a.spilling.shared_bytes;
  plan.fuel = a.observers.fuel;
  if (plan.fuel != nullptr) ask_for_fuel(plan, a);
  return plan;
}

}  // namespace regduel::allocator
