// regduel compare: two sets of results held against each other, pair by pair: verdicts first, then each measure, then the cases
// that changed most (results/comparison.h).

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "cli/command.h"
#include "cli/commands/compare_gates.h"
#include "cli/report/compared_runs.h"
#include "cli/report/comparison_part.h"
#include "cli/show/output.h"
#include "cli/show/terminal.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/reproducer.h"
#include "results/comparison.h"
#include "results/results.h"

namespace regduel::cli {
namespace {

using results::Change;
using results::Comparison;
using results::MeasureComparison;
using results::ResultRow;

struct Options {
  ComparedOptions compared;
  GateOptions gates;
  std::string by = "weighted_spill_bytes";
  std::size_t most = 10;
  bool json = false, markdown = false;
};

std::string one_line_of(const ComparedRun& side) {
  return fmt::format("{}, run {}: {} ({})", side.path, side.run.id, side.run.info.command, side.run.info.program);
}

// Allocators that the older run has, and that are compared with nothing.
std::set<std::string> only_older(const ComparedRun& older, const std::vector<ComparedAllocators>& sections) {
  std::set<std::string> names;
  for (const ResultRow& r : older.rows) names.insert(r.configuration.allocator);
  for (const ComparedAllocators& s : sections) names.erase(s.older);
  return names;
}

// --- text ----------------------------------------------------------------------------------------------------------

std::string number(double value) {
  return value != 0 && (std::abs(value) < 0.001) ? fmt::format("{:.1e}", value) : fmt::format("{:.3f}", value);
}
std::string share(double ratio) { return fmt::format("{:+.2f}%", (ratio - 1) * 100); }

// The command that repeats one case: its program out of the database, and the allocator on it again. Where the target is not a
// shipped one, the program alone: the database doesn't have the file of the target.
std::string reproduce(const ResultRow& row, const std::string& database) {
  const std::string hash = row.hash.substr(0, 12);
  const std::string program = fmt::format("regduel export {} --program {} -o {}.rir", duel::shell_word(database), hash, hash);
  const auto input = results::case_of(row.configuration);
  if (!input) return program;
  return fmt::format("{} && regduel duel {} {}.rir", program, fuzz::replay_arguments(*input, {row.configuration.allocator}), hash);
}
// Its name and where it is from, the target, and the limit of R; the rest is in the command.
std::string case_text(const ResultRow& row) {
  const std::string limits = row.configuration.limits;
  return fmt::format("{} ({}), {} {}", row.name, row.source, row.configuration.target, limits.substr(0, limits.find(' ')));
}

std::vector<std::string> head() {
  return {"measure", "old", "new", "less", "same", "more", "change", "95% interval", "p", "effect", ""};
}
std::vector<std::string> cells_of(const MeasureComparison& m, double alpha) {
  const results::PairedStatistics& s = m.statistics;
  return {std::string(m.measure->name),
          fmt::format("{}", m.older_sum),
          fmt::format("{}", m.newer_sum),
          fmt::format("{}", s.fewer),
          fmt::format("{}", s.pairs - s.fewer - s.more),
          fmt::format("{}", s.more),
          share(s.ratio),
          fmt::format("{} .. {}", share(s.low), share(s.high)),
          number(m.adjusted_p),
          fmt::format("{:+.2f}", s.effect),
          m.adjusted_p < alpha ? "significant" : ""};
}

std::vector<const MeasureComparison*> changed_measures(const Comparison& c) {
  std::vector<const MeasureComparison*> list;
  for (const MeasureComparison& m : c.measures)
    if (m.statistics.fewer + m.statistics.more > 0) list.push_back(&m);
  return list;
}
std::string unchanged_text(const Comparison& c, std::size_t changed) {
  if (c.passed == 0) return "nothing to compare";
  if (changed == c.measures.size()) return "all measures differ";
  std::string names;
  for (const MeasureComparison& m : c.measures)
    if (m.statistics.fewer + m.statistics.more == 0) names += (names.empty() ? "" : ", ") + std::string(m.measure->name);
  return fmt::format("the same in all pairs: {}", names);
}

std::string counts_of(const Comparison& c) {
  std::string text = fmt::format("{}, of which both passed {}", counted(c.pairs, "pair"), c.passed);
  if (c.only_older + c.only_newer > 0)
    text += fmt::format("; {} only old, {} only new", counted(c.only_older, "row"), c.only_newer);
  if (c.changed_inputs > 0) text += fmt::format(", {} of them with another input of the same name", c.changed_inputs);
  if (c.changed_knobs > 0) text += fmt::format(", {} of them with other knobs (--across-knobs pairs those)", c.changed_knobs);
  return text;
}

constexpr std::size_t kMostVerdicts = 20;

void print_verdicts(const Comparison& c, const std::string& database) {
  if (c.verdicts.empty()) return;
  fmt::print("VERDICTS that changed: {}\n", c.verdicts.size());
  for (std::size_t k = 0; k < std::min(c.verdicts.size(), kMostVerdicts); ++k) {
    const auto& [older, newer] = c.verdicts[k];
    fmt::print("  {} -> {}{}  {}\n      {}\n", older->verdict, newer->verdict,
               newer->reason.empty() ? "" : " (" + newer->reason + ")", case_text(*newer), reproduce(*newer, database));
  }
  if (c.verdicts.size() > kMostVerdicts) fmt::print("  and {} more\n", c.verdicts.size() - kMostVerdicts);
  fmt::print("\n");
}

// "348 -> 648 (+82.42%)  switch_vm (corpus/ptx/switch_vm.ptx), sm_90 R=16"
std::string change_text(const Change& c) {
  return fmt::format("{} -> {} ({})  {}", c.older_figure, c.newer_figure, share(std::exp(c.log_ratio)), case_text(*c.newer));
}

void print_gates(const GateReport& gates, std::size_t most) {
  for (const FailedGate& failed : gates.exceeded) {
    fmt::print("BEYOND ITS GATE: {}\n", failed.text);
    for (std::size_t k = 0; k < std::min(failed.programs.size(), most); ++k) fmt::print("  {}\n", change_text(failed.programs[k]));
    if (failed.programs.size() > most) fmt::print("  and {} more\n", failed.programs.size() - most);
  }
  for (const std::string& why : gates.unjudged) fmt::print("NO GATE IS JUDGED: {}\n", why);
  for (const std::string& gate : gates.kept) fmt::print("within its gate: {}\n", gate);
  if (!gates.kept.empty() && !gates.fails()) fmt::print("no gate is exceeded\n");
}

void print_changes(const std::string& title, const std::vector<Change>& changes, const std::string& database) {
  if (changes.empty()) return;
  fmt::print("{}\n", title);
  for (const Change& c : changes) fmt::print("  {}\n      {}\n", change_text(c), reproduce(*c.newer, database));
  fmt::print("\n");
}

void print_text(const Options& o, const ComparedRun& older, const ComparedRun& newer,
                const std::vector<ComparedAllocators>& sections, const std::vector<Comparison>& comparisons) {
  fmt::print("old: {}\nnew: {}\n\n", one_line_of(older), one_line_of(newer));
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const Comparison& c = comparisons[k];
    fmt::print("{}: {}\n\n", sections[k].title(), counts_of(c));
    print_verdicts(c, newer.path);
    const std::vector<const MeasureComparison*> changed = changed_measures(c);
    Table table(head());
    for (const MeasureComparison* m : changed) table.row(cells_of(*m, o.gates.alpha));
    if (!changed.empty())
      fmt::print("{}\n", table.text_within(columns_of(STDOUT_FILENO), {"effect", "same", "old", "new", "less", "more"}));
    fmt::print("{}\n\n", unchanged_text(c, changed.size()));
    print_changes(fmt::format("most more {}", o.by), c.worst, newer.path);
    print_changes(fmt::format("most less {}", o.by), c.best, newer.path);
  }
  fmt::print(
      "{}\n",
      wrapped("old, new: sums over the pairs that both passed; less, same, more: pairs. change: of the geometric mean of the "
              "ratios, with "
              "its interval (bootstrap). p: Wilcoxon's signed-rank test, adjusted for the number of measures (Holm). effect: -1 "
              "all less, 1 "
              "all more.",
              terminal_columns(STDOUT_FILENO) == 80 && columns_of(STDOUT_FILENO) == 0 ? 132 : terminal_columns(STDOUT_FILENO)));
}

// A character that means something in a cell of a table is written as itself.
std::string escaped(std::string text) {
  for (std::size_t k = 0; k < text.size(); ++k)
    if (text[k] == '|' || text[k] == '\\' || text[k] == '`' || text[k] == '<') text.insert(k++, 1, '\\');
  return text;
}

void print_markdown(const Options& o, const ComparedRun& older, const ComparedRun& newer,
                    const std::vector<ComparedAllocators>& sections, const std::vector<Comparison>& comparisons,
                    const GateReport& gates) {
  const auto row = [](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += fmt::format(" {} |", cell);
    fmt::print("{}\n", line);
  };
  fmt::print("**old** {}  \n**new** {}\n\n", escaped(one_line_of(older)), escaped(one_line_of(newer)));
  for (const FailedGate& failed : gates.exceeded) {
    fmt::print("- **beyond its gate:** {}\n", escaped(failed.text));
    for (std::size_t k = 0; k < std::min(failed.programs.size(), o.most); ++k)
      fmt::print("  - {}\n", escaped(change_text(failed.programs[k])));
  }
  for (const std::string& why : gates.unjudged) fmt::print("- **no gate is judged:** {}\n", escaped(why));
  for (const std::string& gate : gates.kept) fmt::print("- within its gate: {}\n", escaped(gate));
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const Comparison& c = comparisons[k];
    fmt::print("\n### {}\n\n{}.\n\n", escaped(sections[k].title()), counts_of(c));
    if (!c.verdicts.empty()) {
      fmt::print("**{} changed**\n\n", counted(c.verdicts.size(), "verdict"));
      row({"old", "new", "program", "reproduce"});
      row({"---", "---", "---", "---"});
      for (std::size_t n = 0; n < std::min(c.verdicts.size(), kMostVerdicts); ++n)
        row({c.verdicts[n].older->verdict, c.verdicts[n].newer->verdict, escaped(case_text(*c.verdicts[n].newer)),
             escaped(reproduce(*c.verdicts[n].newer, newer.path))});
      fmt::print("\n");
    }
    std::vector<std::string> titles = head(), rule = {"---"};
    titles.pop_back();
    for (std::size_t n = 1; n < titles.size(); ++n) rule.push_back("--:");
    const std::vector<const MeasureComparison*> changed = changed_measures(c);
    if (!changed.empty()) {
      row(titles);
      row(rule);
    }
    for (const MeasureComparison* m : changed) {
      std::vector<std::string> cells = cells_of(*m, o.gates.alpha);
      const bool is_significant = !cells.back().empty();
      cells.pop_back();
      if (is_significant) cells[6] = "**" + cells[6] + "**";
      row(cells);
    }
    fmt::print("\n{}.\n", unchanged_text(c, changed.size()));
    for (const auto& [title, changes] : {std::pair("Most more", &c.worst), std::pair("Most less", &c.best)}) {
      if (changes->empty()) continue;
      fmt::print("\n<details><summary>{} {}</summary>\n\n", title, o.by);
      row({"old", "new", "change", "program", "reproduce"});
      row({"--:", "--:", "--:", "---", "---"});
      for (const Change& one : *changes)
        row({fmt::format("{}", one.older_figure), fmt::format("{}", one.newer_figure), share(std::exp(one.log_ratio)),
             escaped(case_text(*one.newer)), escaped(reproduce(*one.newer, newer.path))});
      fmt::print("\n</details>\n");
    }
  }
}

Json json_of(const ComparedRun& side) {
  return {{"database", side.path},
          {"run", side.run.id},
          {"command", side.run.info.command},
          {"version", side.run.info.program},
          {"machine", side.run.info.machine},
          {"rows", side.rows.size()}};
}
Json json_of(const ResultRow& row, const std::string& database) {
  return {{"function", row.name},
          {"source", row.source},
          {"hash", row.hash},
          {"allocator", row.configuration.allocator},
          {"target", row.configuration.target},
          {"limits", row.configuration.limits},
          {"knobs", row.configuration.knobs},
          {"reproduce", reproduce(row, database)}};
}
Json json_of(const Change& c, const std::string& database) {
  Json change = {{"old", c.older_figure}, {"new", c.newer_figure}, {"ratio", std::exp(c.log_ratio)}};
  change.update(json_of(*c.newer, database));
  return change;
}
Json json_of(const std::vector<Change>& changes, const std::string& database) {
  Json list = Json::array();
  for (const Change& c : changes) list.push_back(json_of(c, database));
  return list;
}
Json json_of(const ComparedAllocators& section, const Comparison& c, const std::string& database) {
  Json verdicts = Json::array(), measures = Json::array();
  for (const results::VerdictChange& v : c.verdicts) {
    verdicts.push_back({{"old", v.older->verdict}, {"new", v.newer->verdict}, {"reason", v.newer->reason}});
    verdicts.back().update(json_of(*v.newer, database));
  }
  for (const MeasureComparison& m : c.measures) measures.push_back(regduel::cli::json_of(m));
  return {{"old", section.older},
          {"new", section.newer},
          {"pairs", c.pairs},
          {"passed", c.passed},
          {"only_old", c.only_older},
          {"only_new", c.only_newer},
          {"changed_inputs", c.changed_inputs},
          {"changed_knobs", c.changed_knobs},
          {"verdict_changes", verdicts},
          {"measures", measures},
          {"worst", json_of(c.worst, database)},
          {"best", json_of(c.best, database)}};
}

int compare_command(const Options& o) {
  results::CompareOptions options;
  options.most = o.most;
  options.across_knobs = o.compared.across_knobs;
  options.by = results::find_measure(o.by);
  const Gates gates(o.gates);
  options.also = gates.measures();
  const ComparedRuns compared = read_compared_runs(o.compared);
  const auto& [older, newer, sections, allocators] = compared;
  const std::vector<Comparison> comparisons = compare_sections(compared, options);

  std::vector<std::string> titles;
  bool fails_now = false;
  for (std::size_t k = 0; k < sections.size(); ++k) {
    titles.push_back(sections[k].title());
    for (const results::VerdictChange& v : comparisons[k].verdicts) fails_now = fails_now || v.newer->verdict == "fail";
  }
  GateReport report = gates.judge(comparisons, titles);
  if (!gates.empty() && allocators.empty())
    for (const std::string& name : only_older(older, sections))
      report.unjudged.push_back(fmt::format("{}: has results in the older run alone (--allocators names those to compare)", name));
  if (o.json) {
    Json list = Json::array();
    for (std::size_t k = 0; k < sections.size(); ++k) list.push_back(json_of(sections[k], comparisons[k], newer.path));
    print_json({{"command", "compare"},
                {"old", json_of(older)},
                {"new", json_of(newer)},
                {"comparisons", list},
                {"gates", json_of(report, [&](const Change& c) { return json_of(c, newer.path); })},
                {"fails_now", fails_now}});
  } else if (o.markdown) {
    print_markdown(o, older, newer, sections, comparisons, report);
  } else {
    print_text(o, older, newer, sections, comparisons);
    print_gates(report, o.most == 0 ? results::CompareOptions().most : o.most);
  }
  return fails_now || report.fails() ? kExitFinding : 0;
}

}  // namespace

Action declare_compare(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("databases", &o->compared.databases, "OLD [NEW]: what regduel duel --db or fuzz --db has written; the last run of each")
      .required();
  o->compared.add_to(a);
  std::vector<std::string> names;
  for (const results::Measure& m : results::measures()) names.emplace_back(m.name);
  a.option("--by", &o->by, "Measure by which the most changed programs are listed").one_of(names).shows_default();
  a.option("--most", &o->most, "How many of those").shows_default();
  o->gates.add_to(a);
  a.flag("--markdown", o->markdown, "As a comment on a pull request");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Programs are paired by their contents and configuration (allocator, knobs, target, limits); programs that changed are "
      "counted "
      "apart.\n"
      "Exit status 1: a gate is exceeded, or cannot be judged (too few pairs), or an allocation that passed before fails now.\n"
      "Examples:  regduel duel --random 2000 --db r.sqlite         before the change, and again after it; then\n"
      "           regduel compare r.sqlite --runs 1,2 --gate 'weighted_spill_bytes>1%'\n"
      "           regduel compare old.sqlite new.sqlite --markdown\n"
      "           regduel compare r.sqlite --allocators briggs,fatpoint");
  return [o] { return compare_command(*o); };
}

}  // namespace regduel::cli
