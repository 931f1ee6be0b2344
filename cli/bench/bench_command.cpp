// See bench_command.h.
#include "cli/bench/bench_command.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "cli/bench/bench.h"
#include "cli/options.h"
#include "cli/show/output.h"

namespace regduel::cli {
namespace {

struct Options {
  BenchOptions bench;
  bool gate = false;
  bool json = false;
};

Json to_json(const Layers& l) {
  Json layers = Json::array();
  for (const Layer& layer : l.layers) layers.push_back({{"layer", layer.name}, {"seconds", layer.seconds}});
  return {{"inputs", l.inputs},
          {"instructions", l.instructions},
          {"duels_per_second", static_cast<double>(l.inputs) / l.target_seconds},
          {"layers", layers}};
}

Json to_json(const BenchResult::Bred& b) {
  return {{"inputs", b.inputs}, {"instructions", b.instructions}, {"duels_per_second", b.duels_per_second}};
}

std::string text(const Layers& l) {
  double all = 0;
  for (const Layer& layer : l.layers) all += layer.seconds;
  Table table({"layer of a bred duel", "us", "share"});
  for (const Layer& layer : l.layers)
    table.row({layer.name, fmt::format("{:.1f}", layer.seconds * 1e6 / static_cast<double>(l.inputs)),
               percent_of(layer.seconds, all, 1)});
  return fmt::format(
      "\n{}{:.0f} duels a second of CPU time by the duel target{}, on {} inputs that a campaign breeds from nothing, {} "
      "instructions each\n",
      table.text(), static_cast<double>(l.inputs) / l.target_seconds,
      sanitizer().empty() ? "" : fmt::format(" under {}", sanitizer()), l.inputs,
      l.instructions / std::max<std::int64_t>(1, l.inputs));
}

Json to_json(const BenchResult& r, const BenchOptions& o, const std::vector<std::string>& failures) {
  Json corpora = Json::array(), rows = Json::array();
  for (const BenchCorpus& c : r.corpora)
    corpora.push_back({{"size", c.size},
                       {"programs", c.programs},
                       {"instructions", c.instructions},
                       {"allocations", c.allocations},
                       {"spilling_allocations", c.spilling},
                       {"allocated_instructions", c.allocated_instructions},
                       {"mean_max_live", c.max_live},
                       {"mean_limit", c.limit}});
  for (const BenchRow& row : r.rows) {
    Json sizes = Json::array();
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (!row.cells[c]) continue;
      sizes.push_back({{"size", o.sizes[c]},
                       {"ns_per_instruction", row.cells[c]->ns},
                       {"median_ns_per_instruction", row.cells[c]->median_ns},
                       {"times_fatpoint", row.times_fatpoint[c]}});
    }
    if (sizes.size() == 0) continue;
    rows.push_back({{"name", row.name},
                    {"kind", row.is_judge ? "judge" : "allocator"},
                    {"sizes", sizes},
                    {"growth", row.growth},
                    {"growth_per_instruction_read", row.growth_read},
                    {"peak_bytes_per_instruction", row.peak_bytes}});
  }
  return {{"command", "bench"},
          {"seed", o.seed},
          {"repetitions", o.repetitions},
          {"programs", corpora},
          {"results", rows},
          {"duels_per_second", r.duels_per_second},
          {"bred", r.bred ? to_json(*r.bred) : Json()},
          {"duel_target", r.layers ? to_json(*r.layers) : Json()},
          {"sanitizer", sanitizer()},
          {"gate_failures", failures}};
}

std::string cell(const std::optional<double>& value, int digits) { return value ? fmt::format("{:.{}f}", *value, digits) : "-"; }
bool is_measured(const BenchRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(), [](const auto& c) { return c.has_value(); });
}

std::string text(const BenchResult& r, const BenchOptions& o) {
  Table programs({"program size", "programs", "instructions", "allocations that spill", "instructions after / before",
                  "mean MaxLive (R)", "mean limit (R)"});
  for (const BenchCorpus& c : r.corpora)
    programs.row({fmt::format("{}", c.size), fmt::format("{}", c.programs), fmt::format("{}", c.instructions),
                  percent(c.spilling, c.allocations, 0), fmt::format("{:.2f}", c.read_per_instruction() - 1),
                  fmt::format("{}", c.max_live), fmt::format("{}", c.limit)});
  std::vector<std::string> sizes;
  for (const int size : o.sizes) sizes.push_back(fmt::format("{}", size));
  Table times =
      Table::grouped({{"", {""}}, {"ns/inst", sizes}, {"growth", {"", "read"}}, {"x fatpoint", sizes}, {"", {"peak B/inst"}}});
  bool any = false, judges = false;
  for (const BenchRow& row : r.rows) {
    if (!is_measured(row)) continue;
    if (any && row.is_judge && !judges) times.rule();
    any = true;
    judges = judges || row.is_judge;
    std::vector<std::string> cells = {row.name};
    for (const auto& c : row.cells) cells.push_back(cell(c ? std::optional(c->ns) : std::nullopt, 0));
    cells.push_back(cell(row.growth, 2));
    cells.push_back(cell(row.growth_read, 2));
    for (const auto& t : row.times_fatpoint) cells.push_back(cell(t, 3));
    cells.push_back(cell(row.peak_bytes, 0));
    times.row(std::move(cells));
  }
  std::string out;
  if (any)
    out += programs.text() + "\n" + times.text() +
           "\nns/inst: CPU time an instruction of the program before, least of the repetitions, by program size\n"
           "growth: ns/inst at the largest size by that at the smallest; read: of a judge, an instruction of either program, as "
           "allocations of larger\n"
           "programs have more spill code; x fatpoint: as a multiple of that allocator's time\n"
           "peak B/inst: memory taken on the way, for the largest program\n";
  if (r.duels_per_second)
    out += fmt::format("{:.1f} duels of the standard mix a second of CPU time (case made, every allocator, every judge)\n",
                       *r.duels_per_second);
  if (r.bred)
    out += fmt::format("{:.1f} duels of {} bred inputs a second of CPU time, {} instructions each\n", r.bred->duels_per_second,
                       r.bred->inputs, r.bred->instructions / std::max<std::int64_t>(1, r.bred->inputs));
  if (r.layers) out += text(*r.layers);
  return out;
}

int bench_command(const Options& o) {
  const auto require = [](bool holds, std::string_view what) {
    if (!holds) throw BadInput(std::string(what));
  };
  BenchOptions b = o.bench;
  if (o.gate) b.tries_again = 6;
  require(!b.sizes.empty() && std::is_sorted(b.sizes.begin(), b.sizes.end()) && b.sizes.front() > 0 && b.sizes.back() <= 1'000'000,
          "--sizes: expected ascending numbers from 1 to 1000000");
  require(std::adjacent_find(b.sizes.begin(), b.sizes.end()) == b.sizes.end(), "--sizes: a size twice");
  require(b.per_profile > 0 && b.per_profile <= 10'000'000, "--instructions: expected 1 to 10000000");
  require(b.repetitions > 0 && b.repetitions <= 1000, "--repetitions: expected 1 to 1000");
  require(b.duels > 0 && b.duels <= 1'000'000, "--duels: expected 1 to 1000000");
  require(b.min_time >= 0 && b.min_time <= 3600, "--min-time: expected 0 to 3600 seconds");
  try {
    if (b.filter.size() > 1000) throw BadInput("--filter: longer than 1,000 characters");
    const std::regex probe(b.filter);
  } catch (const std::regex_error&) {
    throw BadInput(fmt::format("--filter: \"{}\" is no regular expression", b.filter));
  }
  const BenchResult result = run_bench(b);
  if (!result.duels_per_second && !result.bred && !result.layers &&
      std::none_of(result.rows.begin(), result.rows.end(), is_measured))
    throw BadInput(fmt::format(
        "--filter: nothing is called \"{}\" (names are like memcheck/2000, fatpoint/200, duels, duels/bred, layers)", b.filter));
  std::vector<std::string> failures;
  for (GateFailure& f : gate_failures(result, b)) failures.push_back(std::move(f.message));
  if (o.json) print_json(to_json(result, b, failures));
  else fmt::print("{}", text(result, b));
  if (!o.gate) return 0;
  for (const std::string& f : failures) fmt::print(stderr, "regduel: gate: {}\n", f);
  return failures.empty() ? 0 : kExitFinding;
}

}  // namespace

Action declare_bench(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("--sizes", &o->bench.sizes, "Instructions of a program, ascending, comma-separated (default 200,2000,20000)");
  a.option("--instructions", &o->bench.per_profile,
           "Instructions of each profile at each size: many small programs or few large ones")
      .shows_default();
  a.option("--repetitions", &o->bench.repetitions, "Measurements of each figure; the least counts, the median is in the JSON")
      .shows_default();
  a.option("--min-time", &o->bench.min_time, "Seconds of CPU time of one measurement, at least; 0 = every program once")
      .shows_default();
  a.option("--duels", &o->bench.duels, "Cases of the standard mix for the figure of whole duels; ten times as many bred ones")
      .shows_default();
  add_seed(a, o->bench.seed, "Seed of the programs");
  a.option("--filter", &o->bench.filter,
           "Measure only what this regular expression finds, e.g. memcheck, 'fatpoint|execution/2000', duels, layers");
  a.flag("--gate", o->gate,
         "Exit status 1 where a judge's growth an instruction read is above 2 (uniform: it takes above 0.2 of the time of all "
         "judges at "
         "some size), or memcheck is slower than the fat-point allocator; "
         "what seems to be is measured up to six times more before, and the least counts");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Programs are generated, the same for the same seed, at three quarters of the registers that they would like, so that most "
      "spill;\n"
      "the first table says how many do. A judge is timed on the results of every allocator. Only ratios of one run mean anything\n"
      "on another machine: growth, and the multiple of the fat-point allocator's time.\n"
      "Examples:  regduel-bench\n"
      "           regduel-bench --gate --json > bench.json\n"
      "           regduel-bench --filter 'fatpoint|memcheck' --repetitions 9");
  return [o] { return bench_command(*o); };
}

}  // namespace regduel::cli
