// See disagreement.h.
#include "oracles/agreement/disagreement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/completeness.h"

namespace regduel::oracles {
namespace {

constexpr std::string_view kName = "disagreement";
constexpr std::array<std::string_view, 3> kStatic = {"structure", "memcheck", "symbolic"};

bool is_static(std::string_view judge) { return std::find(kStatic.begin(), kStatic.end(), judge) != kStatic.end(); }
bool judges_correctness(std::string_view judge) { return is_static(judge) || judge == "execution"; }

bool has(const Report& report, std::string_view judge, Verdict verdict) {
  const JudgeResult* r = report.result_of(judge);
  return r != nullptr && r->verdict == verdict;
}

std::string what_it_says(const JudgeResult& r) {
  if (r.findings.empty()) return fmt::format("{}: {}", r.judge, name(r.verdict));
  const Finding& f = r.findings.front();
  std::string place = f.inst.is_valid() ? fmt::format("instruction {}", f.inst.value) : "the function";
  if (f.operand >= 0) place += fmt::format(", operand {}", f.operand);
  return fmt::format("{}: {} at {}: {} [{}]", r.judge, name(r.verdict), place, f.message, f.category);
}

std::string execution_against(const Report& report) {
  for (const std::string_view judge : kStatic)
    if (has(report, judge, Verdict::Fail)) return fmt::format("{} objects as well", judge);
  for (const std::string_view judge : kStatic)
    if (!has(report, judge, Verdict::Pass)) return fmt::format("{} came to no verdict", judge);
  return "";
}

// The roots that hold a value in all bytes on all paths. The result of a named operation is a value. A move writes a value if it
// reads one. An instruction under a guard without a value writes none.
class DefinedRoots {
 public:
  DefinedRoots(const ir::Function& f, const ir::Cfg& cfg) : f_(f), cfg_(cfg), in_(f.blocks.size()) { solve(); }

  // True where a guard has no value on some path.
  [[nodiscard]] bool any_undefined_guard() const {
    return any([this](const ir::Inst& i, const State& state) { return !has_guard(i, state); });
  }
  // By instruction: a vreg that it reads, or keeps in part, has no value on some path; or no path leads to the instruction.
  [[nodiscard]] std::vector<bool> reads_of_nothing() const {
    std::vector<bool> result(f_.insts.size(), true);
    any([&](const ir::Inst& i, const State& state) {
      const auto ops = f_.operands_of(i);
      const bool keeps = ir::is_guarded(ops);
      result[static_cast<std::size_t>(&i - f_.insts.data())] = std::any_of(ops.begin(), ops.end(), [&](const ir::Operand& op) {
        return op.is_vreg() && (op.reads() || keeps || !op.part.is_whole()) && !state[root(op)];
      });
      return false;
    });
    return result;
  }

 private:
  using State = std::vector<bool>;  // by vreg, of roots; empty = not reached

  void solve() {
    State entry(f_.vregs.size(), false);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) entry[v] = f_.vregs[v].is_architectural();
    in_[0] = std::move(entry);
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::BlockId b : cfg_.reverse_postorder()) {
        State state = in_[b.index()];
        for (const ir::Inst& i : f_.insts_of(b))
          if (!i.is_phi()) run(i, state);
        for (const ir::BlockId to : cfg_.successors(b)) changed = meet(along(b, to, state), in_[to.index()]) || changed;
      }
    }
  }
  // True if `is_there` holds for some instruction and the state before it.
  template <class IsThere>
  bool any(const IsThere& is_there) const {
    for (const ir::BlockId b : cfg_.reverse_postorder()) {
      State state = in_[b.index()];
      for (const ir::Inst& i : f_.insts_of(b)) {
        if (i.is_phi()) continue;
        if (is_there(i, state)) return true;
        run(i, state);
      }
    }
    return false;
  }

  [[nodiscard]] std::size_t root(const ir::Operand& op) const { return f_.root(op.vreg()).index(); }

  [[nodiscard]] bool has_guard(const ir::Inst& i, const State& state) const {
    const ir::Operand* guard = ir::guard_of(f_.operands_of(i));
    return guard == nullptr || state[root(*guard)];
  }
  void run(const ir::Inst& i, State& state) const {
    const auto ops = f_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops), happens = has_guard(i, state);
    const State before = i.is_copy() ? state : State{};
    const auto defs =
        static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.writes(); }));
    for (std::size_t k = 0; k < defs; ++k) {
      const bool is_value = happens && (!i.is_copy() || before[root(ops[defs + k])]);
      const bool keeps = is_guarded || !ops[k].part.is_whole();
      state[root(ops[k])] = is_value && (!keeps || state[root(ops[k])]);
    }
  }

  [[nodiscard]] State along(ir::BlockId from, ir::BlockId to, const State& out) const {
    State state = out;
    for (const ir::Inst& i : f_.insts_of(to)) {
      if (!i.is_phi()) break;
      const auto ops = f_.operands_of(i);
      const auto incoming = f_.targets_of(i);
      const auto k = static_cast<std::size_t>(std::find(incoming.begin(), incoming.end(), from) - incoming.begin());
      state[root(ops[0])] = out[root(ops[k + 1])];
    }
    return state;
  }

  // True if `known` has become smaller.
  static bool meet(const State& arriving, State& known) {
    if (known.empty()) {
      known = arriving;
      return true;
    }
    bool changed = false;
    for (std::size_t v = 0; v < known.size(); ++v) {
      if (!known[v] || arriving[v]) continue;
      known[v] = false;
      changed = true;
    }
    return changed;
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::vector<State> in_;
};

bool has_undefined_guard(const Before& before) {
  const ir::Function& f = before.program();
  return std::any_of(f.operands.begin(), f.operands.end(), [](const ir::Operand& op) { return op.role == ir::Role::Guard; }) &&
         DefinedRoots(f, before.cfg()).any_undefined_guard();
}

}  // namespace

std::vector<Difference> differences(const Report& report) {
  std::vector<Difference> list;
  for (const JudgeResult& a : report.results)
    for (const JudgeResult& b : report.results)
      if (a.verdict == Verdict::Fail && b.verdict == Verdict::Pass && judges_correctness(a.judge) && judges_correctness(b.judge))
        list.push_back({a.judge, b.judge});
  return list;
}

Circumstances circumstances_of(const Case& c) {
  const auto& insts = c.before.insts;
  return {c.is_believed_valid ? Origin::BelievedValid : Origin::Unknown,
          std::any_of(insts.begin(), insts.end(), [](const ir::Inst& i) { return ir::moves_pieces(i.op); }),
          !c.is_believed_valid && has_undefined_guard(c.prepared)};
}

std::string tolerated(const Report& report, const Difference& difference, const Circumstances& circumstances) {
  const auto& [objector, defender] = difference;
  if (objector == "structure") return "the rules of structure do not depend on values";
  if (defender == "structure") return "structure follows no value";
  if (defender == "execution") return "execution sees only the paths that it takes, and a wrong register may hold the right value";
  if (objector == "execution") return execution_against(report);
  if (has(report, "structure", Verdict::Fail)) return "structure objects as well: they may read a broken form in two ways";
  const bool is_unknown = circumstances.origin == Origin::Unknown;
  if (objector == "memcheck" && defender == "symbolic") {
    if (is_unknown && circumstances.has_packs) return "a pack moves bytes to symbolic, and is a definition to memcheck";
    if (is_unknown && circumstances.has_undefined_guard)
      return "what an undefined guard leaves open is undefined to symbolic, and a definition to memcheck";
    return "";
  }
  if (is_unknown) return "memcheck compares sets of definitions, and this may leave them as they are";
  if (has(report, "execution", Verdict::Fail)) return "execution bears symbolic out";
  return "";
}

namespace {

// The circumstances are computed only if judges differ: most reports need none.
template <class CircumstancesOf>
JudgeResult contradictions(const Report& report, CircumstancesOf circumstances) {
  const auto decided = std::count_if(report.results.begin(), report.results.end(), [](const JudgeResult& r) {
    return judges_correctness(r.judge) && (r.verdict == Verdict::Pass || r.verdict == Verdict::Fail);
  });
  if (decided < 2) return without_verdict(kName, Verdict::Skipped, "fewer than two judges of correctness came to a verdict");
  Collector out(kName);
  bool execution_told = false;
  for (const Difference& d : differences(report)) {
    if (!tolerated(report, d, circumstances()).empty()) continue;
    const JudgeResult& objector = *report.result_of(d.objector);
    const Finding f = objector.findings.empty() ? Finding{} : objector.findings.front();
    if (d.objector == "execution") {
      // All static judges pass here, else the difference is tolerated: one finding for all of them.
      if (execution_told) continue;
      execution_told = true;
      std::string all;
      for (const std::string_view judge : kStatic) all += fmt::format("; {}", what_it_says(*report.result_of(judge)));
      out.add("execution-vs-static", f.inst, f.operand, what_it_says(objector) + all, f.other);
    } else {
      out.add(fmt::format("{}-vs-{}", d.objector, d.defender), f.inst, f.operand,
              fmt::format("{}; {}", what_it_says(objector), what_it_says(*report.result_of(d.defender))), f.other);
    }
  }
  return out.finish();
}

// By instruction: it reads two roots that copies, phis, packs and unpacks join. The two may hold one value, or one value may be a
// part of the other, so that one register serves both.
std::vector<bool> reads_of_joined(const ir::Function& f) {
  std::vector<std::uint32_t> joined(f.vregs.size());
  std::iota(joined.begin(), joined.end(), 0U);
  const auto find = [&](const ir::Operand& op) {
    std::uint32_t r = f.root(op.vreg()).value;
    while (joined[r] != r) r = joined[r] = joined[joined[r]];
    return r;
  };
  for (const ir::Inst& i : f.insts) {
    const auto ops = f.operands_of(i);
    if (i.is_copy()) {
      for (const auto [def, use] : ir::copy_pairs(ops)) joined[find(def)] = find(use);
    } else if (i.is_phi() || ir::moves_pieces(i.op)) {
      for (const ir::Operand& op : ops.subspan(1))
        if (op.is_vreg() && op.role != ir::Role::Guard) joined[find(op)] = find(ops[0]);
    }
  }
  std::vector<bool> found;
  std::map<std::uint32_t, ir::VRegId> reads;  // by class
  for (const ir::Inst& i : f.insts) {
    reads.clear();
    bool two = false;
    for (const ir::Operand& op : f.operands_of(i)) {
      if (!op.is_vreg() || !op.reads()) continue;
      const auto [at, is_first] = reads.emplace(find(op), f.root(op.vreg()));
      two = two || at->second != f.root(op.vreg());
    }
    found.push_back(two);
  }
  return found;
}

}  // namespace

JudgeResult judge_disagreement(const Report& report, const Circumstances& circumstances) {
  return contradictions(report, [&] { return circumstances; });
}

JudgeResult judge_disagreement(const Report& report, const Case& c) {
  return contradictions(report, [&] { return circumstances_of(c); });
}

JudgeResult judge_success_against_completeness(const Report& report, const Case& c) {
  if (report.verdict() != Verdict::Pass || !has(report, "structure", Verdict::Pass))
    return without_verdict(kName, Verdict::Skipped, "no allocation that passed");
  Collector out(kName);
  // A deleted instruction needs no registers; an operand without a value needs no register of its own; and equal values may share
  // one.
  std::set<ir::InstId> deleted;
  for (const ir::Inst& i : c.after.insts)
    if (i.is_deleted()) deleted.insert(i.id);
  std::vector<bool> exempt;
  for (const ir::Inst& i : c.before.insts) exempt.push_back(deleted.contains(i.id));
  if (!find_impossible(c.before, c.target, c.limits, exempt)) return out.finish();
  const std::vector<bool> reads_nothing = DefinedRoots(c.before, c.prepared.cfg()).reads_of_nothing();
  const std::vector<bool> joined = reads_of_joined(c.before);
  for (std::size_t k = 0; k < exempt.size(); ++k) exempt[k] = exempt[k] || reads_nothing[k] || joined[k];
  if (const auto impossible = find_impossible(c.before, c.target, c.limits, exempt))
    out.add("completeness-vs-success", *impossible, -1,
            "completeness: no packing of these operands exists within the limit; all judges: the allocation is right");
  return out.finish();
}

}  // namespace regduel::oracles
