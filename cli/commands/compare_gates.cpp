// See compare_gates.h. Tested by duel_test.cpp.
#include "cli/commands/compare_gates.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/bad_input.h"
#include "base/counted.h"
#include "cli/options.h"

namespace regduel::cli {
namespace {

std::vector<results::Gate> parse(std::string_view option, const std::vector<std::string>& items) {
  std::vector<results::Gate> gates;
  for (const std::string& text : split_list(items)) {
    auto gate = results::parse_gate(text);
    if (!gate) throw BadInput(fmt::format("{}: {}", option, gate.error()));
    gates.push_back(std::move(*gate));
  }
  if (!items.empty() && gates.empty()) throw BadInput(fmt::format("{}: expected MEASURE>PERCENT%, found nothing", option));
  return gates;
}

std::string p_text(double p) { return p < 0.001 ? fmt::format("p = {:.1e}", p) : fmt::format("p = {:.3f}", p); }

std::string why_too_few(const results::GateJudgement& j, double alpha) {
  const bool is_all = j.pairs < j.needed;
  const std::size_t n = is_all ? j.pairs : j.changed;
  return fmt::format("{}{} {} too few for p < {:g}: {} would do; give more programs, or --gate-worst",
                     counted(n, is_all ? "pair" : "changed pair"), is_all ? "" : fmt::format(" ({:+.2f}%)", (j.ratio - 1) * 100),
                     n == 1 ? "is" : "are", alpha, j.needed);
}

}  // namespace

void GateOptions::add_to(Arguments& a) {
  a.option("--gate", &mean,
           "MEASURE>N%: exit status 1 where the measure has grown by more than that in the mean over all programs, significantly; "
           "MEASURE<N%: has shrunk. Several: comma-separated, or repeated");
  a.option("--gate-worst", &worst,
           "MEASURE>N%: exit status 1 where any one program's has; allocators are deterministic, so nothing is tested");
  a.option("--alpha", &alpha, "Level of significance, corrected for the number of gates").between(1e-9, 0.5).shows_default();
  a.option("--pairs-at-least", &pairs_at_least, "With a gate: exit status 1 where fewer of the programs have a partner")
      .shows_default();
}

Gates::Gates(const GateOptions& options)
    : mean_(parse("--gate", options.mean)), worst_(parse("--gate-worst", options.worst)), alpha_(options.alpha) {
  const auto share = results::parse_percentage(options.pairs_at_least);
  if (!share)
    throw BadInput(fmt::format("--pairs-at-least: expected a percentage from 0% to 100%, found \"{}\"", options.pairs_at_least));
  pairs_at_least_ = *share;
}

std::vector<const results::Measure*> Gates::measures() const {
  std::vector<const results::Measure*> list;
  for (const auto* gates : {&mean_, &worst_})
    for (const results::Gate& gate : *gates) list.push_back(gate.measure);
  return list;
}

std::string Gates::complaint_about_pairs(const results::Comparison& c) const {
  if (results::paired_share(c) >= pairs_at_least_ && c.passed > 0) return "";
  const std::size_t rows = c.pairs + std::max(c.only_older, c.only_newer);
  std::string text = c.pairs > 0 && c.passed == 0
                         ? "in no pair did both pass"
                         : fmt::format("{} of {} programs have a partner, fewer than {:g}% (--pairs-at-least)", c.pairs, rows,
                                       pairs_at_least_ * 100);
  if (c.changed_knobs > 0)
    text += fmt::format("; {} of {} differ in their knobs alone: --across-knobs pairs those", c.changed_knobs, c.only_newer);
  return text;
}

GateReport Gates::judge(const std::vector<results::Comparison>& comparisons, const std::vector<std::string>& titles) const {
  GateReport report;
  if (empty()) return report;
  std::vector<bool> is_judged;
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const std::string complaint = complaint_about_pairs(comparisons[k]);
    is_judged.push_back(complaint.empty());
    if (!complaint.empty()) report.unjudged.push_back(fmt::format("{}: {}", titles[k], complaint));
  }
  for (const results::GateJudgement& j : results::judge(mean_, comparisons, alpha_)) {
    if (!is_judged[j.comparison]) continue;
    const std::string text = fmt::format("{}: {}", titles[j.comparison], mean_[j.gate].text);
    const std::string figures =
        fmt::format("{:+.2f}%, {}, {} of {} pairs changed", (j.ratio - 1) * 100, p_text(j.adjusted_p), j.changed, j.pairs);
    if (j.verdict == results::GateVerdict::Exceeded) report.exceeded.push_back({fmt::format("{} ({})", text, figures), {}});
    else if (j.verdict == results::GateVerdict::Kept) report.kept.push_back(fmt::format("{} ({})", text, figures));
    else report.unjudged.push_back(fmt::format("{}: {}", text, why_too_few(j, alpha_)));
  }
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    for (const results::Gate& gate : worst_) {
      if (!is_judged[k]) continue;
      const std::string text = fmt::format("{}: any program's {}", titles[k], gate.text);
      std::vector<results::Change> programs = results::beyond(gate, comparisons[k]);
      if (programs.empty()) report.kept.push_back(fmt::format("{} (of {})", text, comparisons[k].passed));
      else
        report.exceeded.push_back(
            {fmt::format("{} ({} of {})", text, programs.size(), comparisons[k].passed), std::move(programs)});
    }
  return report;
}

Json json_of(const GateReport& report, const std::function<Json(const results::Change&)>& describe) {
  Json exceeded = Json::array();
  for (const FailedGate& failed : report.exceeded) {
    Json programs = Json::array();
    for (const results::Change& change : failed.programs) programs.push_back(describe(change));
    exceeded.push_back({{"gate", failed.text}, {"programs", programs}});
  }
  return {{"exceeded", exceeded}, {"unjudged", report.unjudged}, {"kept", report.kept}};
}

}  // namespace regduel::cli
