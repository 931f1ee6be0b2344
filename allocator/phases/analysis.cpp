// See analysis.h.

#include "allocator/phases/analysis.h"

#include <algorithm>

#include "allocator/assign/assign.h"
#include "allocator/program/dead_copies.h"
#include "allocator/program/merge_copies.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/program/precoloured.h"
#include "allocator/spill/cost.h"
#include "ir/loops.h"

namespace regduel::allocator {

using ir::VRegId;

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

// The pieces of a vreg go to one place: its slot, or its def is repeated, which then is the piece in memory.
void place_pieces(Plan& plan, const Analysis& a) {
  const ir::PerFile<Location>& slots = a.spilling.slots;
  std::vector<VRegId> in_memory(a.f.vregs.size());  // by vreg before it was split
  for (const VRegId v : a.starts_in_memory) in_memory[a.first_of[v.index()].index()] = v;
  for (std::size_t v = 0; v < a.f.vregs.size(); ++v) {
    const VRegId first = a.first_of[v], memory = in_memory[first.index()];
    if (!memory.is_valid()) continue;
    plan.if_spilled[v] = memory == first ? plan.if_spilled[first.index()] : slots[ir::index(a.f.vregs[v].file())];
  }
  for (const VRegId v : a.starts_in_memory) plan.spill(v);
  plan.first_of = a.first_of;
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
  if (knobs[Knob::MergeCopies] != 0) {
    ir::PassScope scope(observers.passes, "merge_copies", &f);
    stands_for = merge_copies(f, live, observers.fuel);
    if (!stands_for.empty()) live = Liveness(f, cfg);
    scope.made(f);
  }
  ir::PassScope scope(observers.passes, "drop_dead_copies", &f);
  drop_dead_copies(f, live, observers.fuel);
  scope.made(f);
}

Analysis::Analysis(const Analysis& a, SplitProgram split)
    : original(a.original), target(a.target), knobs(a.knobs), observers(a.observers), budget(a.budget), model(a.model),
      slots(a.slots), spilling(a.spilling), f(std::move(split.f)), cfg(f), live(f, cfg),
      frequency(block_frequencies(f, cfg, knobs[Knob::EstimatedLoopIterations])), modes(a.modes),
      first_of(std::move(split.first_of)), starts_in_memory(std::move(split.in_memory)) {}

Plan first_plan(const Analysis& a) {
  Plan plan = plan_without_spills(a.f, find_precoloured(a.f, a.live, a.budget), a.spilling.slots);
  if (a.knobs[Knob::Rematerialise] != 0) rematerialise(plan, a.f, a.cfg, a.first_of);
  plan.reuse.distance = static_cast<int>(a.knobs[Knob::RefillReuse]);
  plan.shared_bytes = a.spilling.shared_bytes;
  plan.fuel = a.observers.fuel;
  if (!a.first_of.empty()) place_pieces(plan, a);
  else if (plan.fuel != nullptr) ask_for_fuel(plan, a);
  return plan;
}

std::optional<SplitProgram> split_program(const Analysis& a, const Plan& plan, const ir::PerFile<bool>& scarce) {
  ir::PassScope scope(a.observers.passes, "split_live_ranges", &a.f);
  const std::vector<std::int64_t> costs = spill_costs(a.f, a.cfg, a.live, a.frequency, plan.if_spilled, {});
  std::vector<char> can_split(a.f.vregs.size(), 0), is_recomputed(a.f.vregs.size(), 0);
  for (std::size_t v = 0; v < can_split.size(); ++v) {
    const bool is_bound = a.f.vregs[v].fixed.is_valid() || a.f.vregs[v].is_architectural();
    const bool is_packed =
        a.knobs[Knob::PredicatePacks] != 0 && ir::is_predicate(a.f.vregs[v].file());  // bits of it would not agree
    can_split[v] = !is_bound && !is_packed && costs[v] < kUnspillable ? 1 : 0;
    is_recomputed[v] = plan.if_spilled[v].is_recomputed() ? 1 : 0;
  }
  constexpr int kDeepest = 16;  // as deep as find_distances() tells loops apart
  const std::vector<int> depths = loop_depths(a.cfg, kDeepest);
  auto split = split_live_ranges(a.f, a.cfg, a.live, {a.budget, scarce}, can_split, is_recomputed, a.frequency, depths);
  if (split) scope.made(split->f);
  return split;
}

}  // namespace regduel::allocator
