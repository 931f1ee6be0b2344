// See run.h.

#include "allocator/phases/run.h"

#include <string>

#include "allocator/program/names.h"
#include "allocator/program/precoloured.h"
#include "allocator/spill/cost.h"
#include "ir/loops.h"

namespace regduel::allocator {

namespace {

// Spends fuel on the three decisions made once per vreg: keep it in a register, keep it in its precoloured register, rematerialise
// it.
void ask_for_fuel(Plan& plan, const Run& run) {
  const ProgramFacts& facts = run.facts;
  ir::Fuel& fuel = *plan.fuel;
  const ir::PerFile<Location>& slots = facts.spilling.slots;
  for (std::size_t v = 0; v < facts.f.vregs.size(); ++v) {
    if (facts.live.range(v).empty()) continue;
    const bool may_spill = is_spillable(facts.f.vregs[v]);
    const bool keeps_register = !may_spill || fuel.spend("keep-in-register");
    Location& location = plan.location[v];
    if (may_spill && location == Location::own_register() && !fuel.spend("keep-precoloured")) location = Location();
    Location& if_spilled = plan.if_spilled[v];
    if (if_spilled.is_recomputed() && !fuel.spend("rematerialise")) if_spilled = slots[ir::index(facts.f.vregs[v].file())];
    if (!keeps_register) plan.spill(ir::VRegId(v));
  }
}

// All pieces of a vreg go to its slot. If the vreg is rematerialised, the piece in memory is its def, which is repeated.
void place_pieces(Plan& plan, const Run& run) {
  const ProgramFacts& facts = run.facts;
  const ir::PerFile<Location>& slots = facts.spilling.slots;
  std::vector<VRegId> in_memory(facts.f.vregs.size());  // by vreg before it was split
  for (const VRegId v : facts.starts_in_memory) in_memory[facts.first_of[v.index()].index()] = v;
  for (std::size_t v = 0; v < facts.f.vregs.size(); ++v) {
    const VRegId first = facts.first_of[v], memory = in_memory[first.index()];
    if (!memory.is_valid()) continue;
    plan.if_spilled[v] = memory == first ? plan.if_spilled[first.index()] : slots[ir::index(facts.f.vregs[v].file())];
  }
  for (const VRegId v : facts.starts_in_memory) plan.spill(v);
  plan.first_of = facts.first_of;
}

}  // namespace

Plan first_plan(const Run& run) {
  const ProgramFacts& facts = run.facts;
  Plan plan = plan_without_spills(facts.f, find_precoloured(facts.f, facts.live, run.budget), facts.spilling.slots);
  if (facts.knobs[Knob::Rematerialise] != 0) rematerialise(plan, facts.f, facts.cfg, facts.first_of);
  plan.reuse.distance = static_cast<int>(facts.knobs[Knob::RefillReuse]);
  plan.shared_bytes = facts.spilling.shared_bytes;
  plan.fuel = run.instruments.fuel;
  if (!facts.first_of.empty()) place_pieces(plan, run);
  else if (plan.fuel != nullptr) ask_for_fuel(plan, run);
  return plan;
}

std::optional<SplitProgram> split_program(const Run& run, const Plan& plan, const ir::PerFile<bool>& scarce,
                                          const std::function<bool(std::int64_t)>& is_wanted) {
  const ProgramFacts& facts = run.facts;
  ir::PassScope scope(run.instruments.passes, "split_live_ranges", &facts.f);
  std::vector<char> can_split(facts.f.vregs.size(), 0), is_recomputed(facts.f.vregs.size(), 0);
  for (std::size_t v = 0; v < can_split.size(); ++v) {
    const bool is_bound = facts.f.vregs[v].fixed.is_valid() || facts.f.vregs[v].is_architectural();
    const bool is_packed =
        facts.knobs[Knob::PredicatePacks] != 0 && ir::is_predicate(facts.f.vregs[v].file());  // its pieces could get different bits
    can_split[v] = !is_bound && !is_packed ? 1 : 0;
    is_recomputed[v] = plan.if_spilled[v].is_recomputed() ? 1 : 0;
  }
  constexpr int kDeepest = 16;  // as deep as find_distances() tells loops apart
  const std::vector<int> depths = ir::loop_depths(facts.cfg, kDeepest);
  auto split = split_live_ranges(facts.f, facts.cfg, facts.live, {run.budget, scarce}, can_split, is_recomputed, facts.frequency,
                                 depths, is_wanted);
  if (split) scope.made(split->f);
  return split;
}

ir::Limits with_registers(ir::Limits limits, int registers) {
  limits.units[ir::index(RegFile::R)] = registers;
  return limits;
}

void show_spill_setup(const Run& run) {
  const SpillSetup& spilling = run.facts.spilling;
  if (spilling.files == 0 || run.instruments.trace == nullptr) return;
  if (spilling.is_refused) return run.instruments.line("{}", kSmemRefusal);
  std::string files;
  for (const RegFile file : ir::kAllFiles)
    if (spilling.concerns(file)) files += fmt::format("{}{}", files.empty() ? "" : " and ", ir::name(file));
  run.instruments.line("Smem spilling: {}, {} bytes a thread", files, spilling.shared_bytes);
}

}  // namespace regduel::allocator
