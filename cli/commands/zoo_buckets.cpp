// See zoo_buckets.h.
#include "cli/commands/zoo_buckets.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/commands/zoo_together.h"
#include "cli/parallel.h"
#include "cli/run_again.h"
#include "cli/show/output.h"
#include "trial/planted/together.h"

namespace regduel::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr int kMoreSeconds = 180;  // of a campaign, on top of its time: one that takes longer hangs

// What `regduel fuzz --json` says; null where it died.
json campaign_against(const trial::PlantedBug& bug, const BucketsRun& run, const Interrupt& interrupt) {
  const std::string corpus = run.save_to.empty() ? "" : fmt::format("{}/{}", run.save_to, bug.name);
  const passes::Pass* pass = trial::pass_with(bug.name);
  std::string out;
  std::vector<std::string> arguments = {"fuzz",     "--json",
                                        "--jobs",   "1",
                                        "--plant",  std::string(bug.name),
                                        "--time",   fmt::format("{}s", run.time),
                                        "--seed",   fmt::format("{}", run.seed),
                                        "--corpus", corpus};
  arguments.insert(arguments.end(), run.seed_arguments.begin(), run.seed_arguments.end());
  if (pass != nullptr) arguments.insert(arguments.end(), {"--coalesce", std::string(pass->name())});
  run_again(arguments, run.time + kMoreSeconds, interrupt, [&](std::string_view line) { out += line; });
  return json::parse(out, nullptr, false);
}

// The line of one bug, and its cases for the purity over all bugs.
struct Line {
  json row;
  std::vector<trial::Labelled> cases;
};

Line line_of(const trial::PlantedBug& bug, const json& campaign) {
  Line line{{{"bug", bug.name}}, {}};
  if (!campaign.is_object()) {
    line.row["error"] = "the campaign died";
    return line;
  }
  std::uint64_t failures = 0, not_reduced = 0;
  for (const json& a : campaign["summary"]["allocators"]) failures += a["fail"].get<std::uint64_t>();
  json buckets = json::array();
  for (const json& f : campaign["findings"]) {
    if (f["bucket"] == "") {
      ++not_reduced;
      continue;
    }
    buckets.push_back({{"bucket", f["bucket"]}, {"cases", f["count"]}, {"instructions", f["instructions"]}});
    line.cases.insert(line.cases.end(), f["count"].get<std::size_t>(), {f["bucket"], {std::string(bug.name)}});
  }
  line.row.update({{"inputs", campaign["runs"]},
                   {"failures", failures},
                   {"cases", line.cases.size()},
                   {"not_reduced", not_reduced},
                   {"buckets", std::move(buckets)}});
  return line;
}

void add_rows(Table& table, const json& row) {
  const std::string name = row["bug"];
  if (row.contains("error")) {
    table.row({name, row["error"], "-", "-", "-", "-", "-"});
    return;
  }
  const json& buckets = row["buckets"];
  std::string names;
  for (const json& b : buckets)
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", std::string(b["bucket"]), b["cases"].get<std::uint64_t>());
  std::vector<std::string> cells = {name, names};
  for (const char* figure : {"inputs", "failures", "cases", "not_reduced"})
    cells.push_back(fmt::format("{}", row[figure].get<std::uint64_t>()));
  cells.push_back(fmt::format("{}", buckets.size()));
  table.row(cells);
}

}  // namespace

int zoo_buckets(const BucketsRun& run) {
  json rows = json::array();
  std::vector<trial::Labelled> cases;
  std::size_t found = 0, buckets = 0, most = 0;
  const Interrupt interrupt;
  Progress progress("zoo", static_cast<std::int64_t>(run.bugs.size()));
  const std::function<json(std::int64_t)> work = [&](std::int64_t k) {
    return campaign_against(*run.bugs[static_cast<std::size_t>(k)], run, interrupt);
  };
  const std::function<bool(std::int64_t, json)> take = [&](std::int64_t k, json campaign) {
    if (interrupt.is_asked_for()) return false;
    Line line = line_of(*run.bugs[static_cast<std::size_t>(k)], campaign);
    const std::size_t count = line.row.contains("buckets") ? line.row["buckets"].size() : 0;
    found += count > 0 ? 1 : 0;
    buckets += count;
    most = std::max(most, count);
    cases.insert(cases.end(), line.cases.begin(), line.cases.end());
    rows.push_back(std::move(line.row));
    progress.step(1, fmt::format("{} buckets of {} bugs", buckets, found));
    return true;
  };
  in_order<json>(static_cast<std::int64_t>(run.bugs.size()), run.jobs, work, take);
  progress.done();

  const trial::Sorting s = trial::measure_sorting(cases);
  const double mean = found == 0 ? 0 : static_cast<double>(buckets) / static_cast<double>(found);
  const double purity = s.cases == 0 ? 100 : 100.0 * static_cast<double>(s.in_majority) / static_cast<double>(s.cases);
  if (run.json) {
    print_json({{"command", "zoo"},
                {"seed", run.seed},
                {"seconds", run.time},
                {"bugs", rows},
                {"found", found},
                {"of", rows.size()},
                {"planted_bugs", run.bugs.size()},
                {"cases", s.cases},
                {"mean_buckets", mean},
                {"most_buckets", most},
                {"different_buckets", s.buckets},
                {"purity_percent", purity}});
  } else {
    Table table({"planted bug", "buckets (cases)", "inputs", "failures", "cases", "not reduced", "buckets"}, 2);
    for (const json& row : rows) add_rows(table, row);
    fmt::print(
        "{}\n{}{} of {} planted bugs found and understood, {} s each: {:.2f} buckets a bug at the mean, {} at most\n"
        "{} cases in {} different buckets, over all bugs: purity {:.1f}% ({} cases belong to the commonest bug of their bucket)\n",
        table.text(),
        rows.size() < run.bugs.size() ? fmt::format("interrupted, with {} to go: ", run.bugs.size() - rows.size()) : "", found,
        rows.size(), run.time, mean, most, s.cases, s.buckets, purity, s.in_majority);
  }
  const bool will_do = found > 0 && mean <= kMeanBucketsWanted && purity >= kPurityWanted;
  return will_do ? 0 : kExitFinding;
}

}  // namespace regduel::cli
