// The findings of the symbolic judge. States only lose facts, so a check that fails on the way to the fixed point also fails at the
// end: if one failed, all blocks are walked once more to make the findings. In a program with guards a second, slower analysis follows, whose joins know of places
// that hold a value together, each under one outcome of a predicate. Each analysis proves what it accepts, so only operands that
// both reject are wrong. Tested by symbolic_test.cpp.

#include "oracles/symbolic/symbolic.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/symbolic/fixed_point.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/settled.h"
#include "oracles/symbolic/state.h"

namespace regduel::oracles {
namespace symbolic {
namespace {

constexpr std::string_view kName = "symbolic";

class Analysis final : public ViolationListener {
 public:
  // `known`: the only operands that may be wrong; null = all may be.
  Analysis(const Case& c, Plan& plan, FixedPoint& analysis, const Violations* known = nullptr)
      : case_(c), plan_(plan), known_(known), analysis_(analysis), state_(analysis_.state()), out_(kName) {}

  JudgeResult run(bool is_settled) {
    if (!is_settled) return without_verdict(kName, Verdict::Inconclusive, "the states at the heads of the blocks did not settle");
    for (const WrongEdge& a : plan_.wrong_edges)
      out_.add("symbolic-wrong-path", case_.after.insts[a.inst].id, -1, fmt::format("the way to b{} leads elsewhere", a.to));
    if (state_.has_violation())
      for (const std::uint32_t b : plan_.order) analysis_.walk(b, this);
    JudgeResult result = out_.finish();
    if (result.verdict != Verdict::Pass || !unsure_at_.is_valid()) return result;
    return without_verdict(kName, Verdict::Inconclusive,
                           fmt::format("at #{} too many guards lie on top of one another", unsure_at_.value));
  }

  void violation(const Violation& l) override {
    const ViolationPlace place = place_of(plan_, l);
    if (known_ != nullptr && !known_->contains(place)) return;
    violations_.insert(place);
    const ir::InstId inst = case_.after.insts[l.step->inst].id;
    if (l.is_unsure) {
      if (!unsure_at_.is_valid()) unsure_at_ = inst;
      return;
    }
    switch (l.kind) {
      case Violation::Kind::Negation:
        out_.add("symbolic-negation", inst, l.operand, fmt::format("{} is read {}", name_of(l.name), "with the other polarity"));
        return;
      case Violation::Kind::RematIllegal:
        out_.add("remat-mismatch", inst, -1,
                 fmt::format("#{} cannot be repeated here, or not with these operands", id_of(l.step->original)),
                 ir::InstId(id_of(l.step->original)));
        return;
      case Violation::Kind::RematOperand:
        if (!out_.wants("remat-mismatch")) return;
        out_.add("remat-mismatch", inst, l.operand,
                 fmt::format("#{} read another value here: the location holds {}", id_of(l.step->original), holds(l)),
                 last_writer(l));
        return;
      case Violation::Kind::CalleeSaved:
        if (!out_.wants("callee-saved")) return;
        out_.add("callee-saved", inst, -1,
                 fmt::format("{} does not hold what it held at entry, but {}", unit_of(l.location), holds(l)), last_writer(l));
        return;
      case Violation::Kind::Value: break;
    }
    const std::string_view category = is_something(l) ? "symbolic-wrong-value" : "symbolic-lost-value";
    if (!out_.wants(category)) return;
    out_.add(category, inst, l.operand, fmt::format("expected {}, but the location holds {}", name_of(l.name), holds(l)),
             last_writer(l));
  }

  [[nodiscard]] const Violations& violations() const { return violations_; }

 private:
  // --- words ------------------------------------------------------------------------------------------------------
  [[nodiscard]] std::uint32_t id_of(std::uint32_t original) const { return case_.before.insts[original].id.value; }
  [[nodiscard]] std::string name_of(std::uint32_t name) const {
    for (std::size_t v = 0; v < case_.before.vregs.size(); ++v) {
      if (case_.before.vregs[v].alias.is_valid()) continue;
      const Place p = plan_.names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v)));
      if (name < p.cell || name >= p.cell + p.cells()) continue;
      if (p.cells() == 1) return fmt::format("%{}", v);
      return fmt::format("%{}.w{}", v, name - p.cell);
    }
    return "what was there";
  }
  [[nodiscard]] std::string unit_of(std::uint32_t location) const {
    for (const SavedUnit& s : plan_.saved)
      if (s.loc == location) return ir::to_string(case_.after, s.unit);
    return "a register";
  }
  // The names that the location holds instead, at most three.
  [[nodiscard]] std::vector<std::uint32_t> names_in(const Violation& l) const {
    std::vector<std::uint32_t> found;
    if (l.have == kBottom) return found;
    for (const std::uint32_t n : state_.names.touched())
      if (n < plan_.names.size() && n != l.name && !plan_.values.may_be_undefined(state_.names[n]) &&
          plan_.values.satisfies_bytes(l.have, state_.names[n], plan_.bytes_of_name[n] & 0xFu))
        found.push_back(n);
    std::sort(found.begin(), found.end());
    if (found.size() > 3) found.resize(3);
    return found;
  }
  [[nodiscard]] bool is_something(const Violation& l) const {
    const ValueKind kind = plan_.values[l.have].kind;
    return kind == ValueKind::Def || kind == ValueKind::Constant || kind == ValueKind::Saved || !names_in(l).empty();
  }
  [[nodiscard]] std::string holds(const Violation& l) const {
    std::string text;
    for (const std::uint32_t n : names_in(l)) text += (text.empty() ? "" : ", ") + name_of(n);
    if (!text.empty()) return text;
    const Values::Node& n = plan_.values[l.have];
    switch (n.kind) {
      case ValueKind::Def:
      case ValueKind::Constant: return fmt::format("what #{} put there", id_of(n.a));
      case ValueKind::Saved: return "what was there at entry";
      case ValueKind::Merged: return "it on some paths only";
      case ValueKind::Gate:
      case ValueKind::CutGate: return "it under some guards only";
      case ValueKind::Word:
      case ValueKind::Packed:
      case ValueKind::Byte:
      case ValueKind::Bit: return "pieces of other things";
      default: return "nothing known";
    }
  }

  // --- the last writer --------------------------------------------------------------------------------------------------
  static bool touches(const Place& p, std::uint32_t location) {
    return p.size != 0 && location >= p.cell && location < p.cell + p.cells();
  }
  [[nodiscard]] bool writes(const Step& s, std::uint32_t location) const {
    if (s.inst == kNoIndex) return false;
    for (const StepOperand& op : plan_.operands_of(s)) {
      switch (s.kind) {
        case StepKind::Operate:
        case StepKind::Gather:
        case StepKind::FromPack:
        case StepKind::Remat:
          if ((op.role == ir::Role::Def || op.role == ir::Role::DefUse || op.role == ir::Role::Clobber) &&
              touches(op.loc, location))
            return true;
          break;
        case StepKind::Move:
          if (op.role == ir::Role::Def && touches(op.name, location)) return true;
          break;
        case StepKind::ToPack: return touches(op.loc, location);  // operand 0
        default: return false;
      }
    }
    return false;
  }
  // The nearest instruction before the violation that wrote its location, along any path.
  [[nodiscard]] ir::InstId last_writer(const Violation& l) const {
    if (l.location == kNoIndex) return {};
    const auto step = static_cast<std::uint32_t>(l.step - plan_.steps.data());
    std::vector<std::uint8_t> is_seen(plan_.blocks.size(), 0);
    std::vector<std::uint32_t> queue;
    const auto search = [&](std::uint32_t begin, std::uint32_t end) -> ir::InstId {
      for (std::uint32_t k = end; k > begin; --k)
        if (writes(plan_.steps[k - 1], l.location)) return case_.after.insts[plan_.steps[k - 1].inst].id;
      return {};
    };
    std::uint32_t home = kNoIndex;
    for (const std::uint32_t b : plan_.order)
      if (step >= plan_.blocks[b].begin && step < plan_.blocks[b].end) home = b;
    if (home == kNoIndex) return {};
    // An early-clobber def writes before the uses are read.
    for (const StepOperand& op : plan_.operands_of(*l.step))
      if (op.is_early && touches(op.loc, l.location)) return case_.after.insts[l.step->inst].id;
    if (const ir::InstId found = search(plan_.blocks[home].begin, step); found.is_valid()) return found;
    queue.push_back(home);
    for (std::size_t k = 0; k < queue.size(); ++k)
      for (const FlowEdge& e : plan_.edges) {
        if (e.to != queue[k] || is_seen[e.from] != 0) continue;
        is_seen[e.from] = 1;
        if (const ir::InstId found = search(plan_.blocks[e.from].begin, plan_.blocks[e.from].end); found.is_valid()) return found;
        queue.push_back(e.from);
      }
    return {};
  }

  const Case& case_;
  Plan& plan_;
  const Violations* known_;
  Violations violations_;
  FixedPoint& analysis_;
  State& state_;
  Collector out_;
  ir::InstId unsure_at_;  // of the first operand that may be right
};

JudgeResult judge_symbolic(const Case& c) {
  const auto& states = settled(c);
  if (!states) return without_verdict(kName, Verdict::Skipped, states.error());
  auto& [plan, fixed_point, is_settled] = **states;
  Analysis quick(c, plan, fixed_point);
  const JudgeResult result = quick.run(is_settled);
  if (quick.violations().empty() || !has_guards(plan)) return result;
  FixedPoint slower(plan, most_tokens_of(plan));
  const bool is_slower_settled = slower.settle();
  return Analysis(c, plan, slower, &quick.violations()).run(is_slower_settled);
}

}  // namespace
}  // namespace symbolic

const Judge& symbolic_judge() {
  static constexpr Judge judge(symbolic::kName,
                               "on all paths each use finds in its location the vreg that the program before used there",
                               symbolic::judge_symbolic);
  return judge;
}

}  // namespace regduel::oracles
