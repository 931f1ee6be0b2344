// Gives the steps of calls more operands, and compares the checks that fail. See survival.h.

#include "oracles/calls/survival.h"

#include <algorithm>
#include <map>
#include <utility>

#include "oracles/before.h"
#include "oracles/pair/raise.h"

namespace regduel::oracles::calls {
namespace {

using ir::Operand;
using ir::Role;
using symbolic::FixedPoint;
using symbolic::kNoIndex;
using symbolic::Plan;
using symbolic::Step;
using symbolic::StepOperand;
using symbolic::Violation;
using symbolic::ViolationPlace;

struct Failure {
  std::uint32_t inst = 0;  // index after
  bool is_unsure = false;
};
using Failures = std::map<ViolationPlace, Failure>;

class Listener final : public symbolic::ViolationListener {
 public:
  explicit Listener(const Plan& plan) : plan_(plan) {}
  void violation(const Violation& l) override { found.emplace(place_of(plan_, l), Failure{l.step->inst, l.is_unsure}); }

  Failures found;

 private:
  const Plan& plan_;
};

// The checks that fail, as the symbolic judge finds them. Nullopt where the states do not settle.
std::optional<Failures> failures_of(Plan& plan) {
  const auto analysed = [&](int most_tokens) -> std::optional<Failures> {
    FixedPoint analysis(plan, most_tokens);
    if (!analysis.settle()) return std::nullopt;
    Listener listener(plan);
    if (analysis.state().has_violation())
      for (const std::uint32_t b : plan.order) analysis.walk(b, &listener);
    return std::move(listener.found);
  };
  const auto quick = analysed(0);
  if (!quick || quick->empty() || !symbolic::has_guards(plan)) return quick;
  auto slower = analysed(symbolic::most_tokens_of(plan));
  if (slower) std::erase_if(*slower, [&](const auto& f) { return !quick->contains(f.first); });
  return slower;
}

// The plan of a caller with effects at its calls.
class Affected {
 public:
  Affected(const Case& c, const Plan& plan) : case_(c), plan_(plan) {
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s)
      if (const Step& step = plan_.steps[s]; step.kind == symbolic::StepKind::Operate && step.inst != kNoIndex)
        if (const ir::Inst& i = case_.after.insts[step.inst]; i.op == ir::Op::Call) step_of_[i.id.value] = s;
  }

  void add(std::span<const Effect> effects) {
    for (std::size_t begin = 0, end = 0; begin < effects.size(); begin = end) {
      while (end < effects.size() && effects[end].call == effects[begin].call) ++end;
      if (const auto found = step_of_.find(effects[begin].call.value); found != step_of_.end())
        add_to(found->second, effects.subspan(begin, end - begin));
    }
    if (owes_more_) symbolic::find_live(plan_, case_.prepared.part<symbolic::NamesBefore>());
  }
  [[nodiscard]] Plan& plan() { return plan_; }

 private:
  // The operands of a step stand together, so they move to the end. The guard keeps its place, which is a number of its own.
  void add_to(std::uint32_t s, std::span<const Effect> effects) {
    const Step old = plan_.steps[s];
    std::vector<StepOperand> ops(plan_.operands.begin() + old.first, plan_.operands.begin() + old.first + old.count);
    for (const Effect& e : effects) {
      switch (e.kind) {
        case Effect::Kind::Unit: ops.push_back(destroyed(unit_place(e.unit))); break;
        case Effect::Kind::Architectural: redefine(e.unit, old.original, ops); break;
        case Effect::Kind::SharedByte:
          if (const Place p = shared_place(e.byte); p.size != 0) ops.push_back(destroyed(p));
          break;
      }
      if (e.kind == Effect::Kind::Unit) owe(e.unit);
    }
    Step& step = plan_.steps[s];
    step.first = static_cast<std::uint32_t>(plan_.operands.size());
    step.count = static_cast<std::uint32_t>(ops.size());
    step.has_clobbers = true;
    plan_.operands.insert(plan_.operands.end(), ops.begin(), ops.end());
  }
  static StepOperand destroyed(const Place& p) { return {.role = Role::Clobber, .name = {}, .loc = p}; }
  [[nodiscard]] Place unit_place(ir::PReg unit) const { return plan_.locations.of_operand(Operand::of_preg(Role::Clobber, unit)); }
  [[nodiscard]] Place shared_place(std::uint64_t byte) const {
    for (std::size_t k = 0; k < case_.after.slots.size(); ++k) {
      const ir::Slot& slot = case_.after.slots[k];
      if (slot.space == ir::MemSpace::Shared && slot.offset <= byte && byte < std::uint64_t{slot.offset} + slot.size)
        return plan_.locations.of_slot(Operand::of_slot(ir::SlotId(k), static_cast<std::uint32_t>(byte - slot.offset)), 1);
    }
    return {};
  }
  // A def of the word of the architectural vreg that stands in the unit.
  void redefine(ir::PReg unit, std::uint32_t original, std::vector<StepOperand>& ops) {
    const Place at = unit_place(unit);
    for (const symbolic::Initial& i : plan_.initial) {
      if (at.cell < i.loc.cell || at.cell >= i.loc.cell + std::min(i.loc.cells(), i.name.cells())) continue;
      const std::uint32_t cell = i.name.cell + (at.cell - i.loc.cell);
      const Place name = {cell, plan_.names.bytes(cell), 0, i.name.step};
      const Value leaf = name.step == 1 ? plan_.values.add_leaves(ValueKind::Def, original)
                                        : plan_.values.add_leaves_of_bytes(ValueKind::Def, original, name.size);
      ops.push_back({.role = Role::Def, .is_wordwise = true, .leaf = leaf, .name = name, .loc = at});
    }
  }
  // A callee-saved register counts at a `ret` also where the caller itself does not write it.
  void owe(ir::PReg unit) {
    if (std::ranges::find(case_.prepared.preserved(), unit) == case_.prepared.preserved().end()) return;
    if (std::ranges::any_of(plan_.saved, [&](const symbolic::SavedUnit& s) { return s.unit == unit; })) return;
    const std::uint32_t loc = plan_.locations.of_unit(unit.file, unit.first);
    plan_.saved.push_back({unit, loc, plan_.values.add_leaves(ValueKind::Saved, loc)});
    owes_more_ = true;
  }

  const Case& case_;
  Plan plan_;
  std::map<std::uint32_t, std::uint32_t> step_of_;  // by id of the call
  bool owes_more_ = false;
};

// The program with the units as clobbers of its calls.
ir::Function with_clobbers(const ir::Function& f, std::span<const Effect> effects) {
  ir::Function out = f.clone_header();
  std::vector<Operand> ops;
  for (const ir::Block& b : f.blocks) {
    out.begin_block(b);
    for (const ir::Inst& i : f.insts_of(b)) {
      const auto old = f.operands_of(i);
      ops.assign(old.begin(), old.end());
      if (i.op == ir::Op::Call)
        for (const Effect& e : effects)
          if (e.call == i.id && e.kind == Effect::Kind::Unit) ops.push_back(Operand::of_preg(Role::Clobber, e.unit));
      out.append(i, ops, f.targets_of(i));
    }
  }
  return out;
}

}  // namespace

ir::InstId Survival::lost_address(std::span<const Effect> effects) const {
  if (case_.raised == nullptr) return {};
  const auto raised = raise(case_.before, with_clobbers(case_.given, effects), case_.target, case_.limits);
  if (raised == nullptr || raised->faults.size() <= case_.raised->faults.size()) return {};
  const auto is_known = [&](const RaiseFault& f) {
    return std::ranges::any_of(case_.raised->faults,
                               [&](const RaiseFault& k) { return k.inst == f.inst && k.category == f.category; });
  };
  const auto found = std::ranges::find_if_not(raised->faults, is_known);
  return found == raised->faults.end() ? raised->faults.back().inst : found->inst;
}

Survival::Answer Survival::under(std::span<const Effect> effects) {
  if (const ir::InstId reader = lost_address(effects); reader.is_valid()) return {reader, {}, {}};
  if (!plan_) {
    auto plan = symbolic::make_plan(case_);
    if (!plan) return {.reader = {}, .doubt = {}, .unreadable = plan.error()};
    plan_.emplace(*std::move(plan));
  }
  Affected affected(case_, *plan_);
  affected.add(effects);
  constexpr const char* not_settled = "the states at the heads of the blocks did not settle";
  auto failures = failures_of(affected.plan());
  if (!failures) return {{}, not_settled, {}};
  if (failures->empty()) return {};
  Plan plain = *plan_;
  const auto known = failures_of(plain);
  if (!known) return {{}, not_settled, {}};
  Answer answer;
  for (const auto& [place, failure] : *failures) {
    if (known->contains(place)) continue;
    const ir::InstId reader = case_.after.insts[failure.inst].id;
    if (!failure.is_unsure) return {reader, {}, {}};
    if (answer.doubt.empty()) answer.doubt = "at #" + std::to_string(reader.value) + " too many guards lie on top of one another";
  }
  return answer;
}

}  // namespace regduel::oracles::calls
