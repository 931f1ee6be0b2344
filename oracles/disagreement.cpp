// See disagreement.h.
#include "oracles/disagreement.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/demand.h"

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
          std::any_of(insts.begin(), insts.end(), [](const ir::Inst& i) { return i.op == ir::Op::Pack || i.op == ir::Op::Unpack; })};
}

std::string tolerated(const Report& report, const Difference& difference, const Circumstances& circumstances) {
  const auto& [objector, defender] = difference;
  if (objector == "structure") return "the rules of structure do not depend on values";
  if (defender == "structure") return "structure follows no value";
  if (defender == "execution") return "execution sees only the paths that it takes, and a wrong register may hold the right value";
  if (objector == "execution") return execution_against(report);
  if (has(report, "structure", Verdict::Fail)) return "structure objects as well: they may read a broken form in two ways";
  const bool is_unknown = circumstances.origin == Origin::Unknown;
  if (objector == "memcheck" && defender == "symbolic")
    return is_unknown && circumstances.has_packs ? "a pack moves bytes to symbolic, and is a definition to memcheck" : "";
  if (is_unknown) return "memcheck compares sets of definitions, and this may leave them as they are";
  if (has(report, "execution", Verdict::Fail)) return "execution bears symbolic out";
  return "";
}

JudgeResult judge_disagreement(const Report& report, const Circumstances& circumstances) {
  const auto decided = std::count_if(report.results.begin(), report.results.end(), [](const JudgeResult& r) {
    return judges_correctness(r.judge) && (r.verdict == Verdict::Pass || r.verdict == Verdict::Fail);
  });
  if (decided < 2) return without_verdict(kName, Verdict::Skipped, "fewer than two judges of correctness came to a verdict");
  Collector out(kName);
  bool execution_told = false;
  for (const Difference& d : differences(report)) {
    if (!tolerated(report, d, circumstances).empty()) continue;
    const JudgeResult& objector = *report.result_of(d.objector);
    const Finding f = objector.findings.empty() ? Finding{} : objector.findings.front();
    if (d.objector == "execution") {
      // All static judges stand against it, or none would: one finding for all of them.
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

JudgeResult judge_success_against_demand(const Report& report, const Case& c) {
  if (report.verdict() != Verdict::Pass || !has(report, "structure", Verdict::Pass))
    return without_verdict(kName, Verdict::Skipped, "no allocation that passed");
  Collector out(kName);
  if (const auto impossible = find_impossible(c.before, c.target, c.limits))
    out.add("completeness-vs-success", *impossible, -1, "completeness: no packing of these operands exists within the limit; all judges: the allocation is right");
  return out.finish();
}

}  // namespace regduel::oracles
