// regduel fuzz: a campaign, until the time or the number of runs is up, or Ctrl-C.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/io.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "cli/show/screen.h"
#include "cli/show/tally_text.h"
#include "cli/this_run.h"
#include "duel/allocators.h"
#include "fuzz/campaign/campaign.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string time, suppressions;
  std::int64_t runs = 0;
  std::vector<std::string> with, regs, seeds, planted, gaps, cliffs;
  fuzz::CampaignOptions campaign;
  AllocatorOptions allocators;
  bool json = false, is_quiet = false;
};

// "60s", "10m", "2h" or seconds.
double parse_time(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end == text.c_str() ? "?" : std::string(end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (scale == 0 || !(value > 0) || value > 1e9)
    throw BadInput(fmt::format("--time: expected a time like 60s, 10m or 2h, found \"{}\"", text));
  return value * scale;
}

std::string today() {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
}

std::vector<fuzz::Suppression> load_suppressions(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw BadInput(fmt::format("error: {}", text.error()));
  auto list = fuzz::parse_suppressions(*text, path);
  if (!list) throw BadInput(to_string(list.error()));
  for (const fuzz::Suppression& s : fuzz::expired(*list, today()))
    fmt::print(stderr, "regduel: {}:{}: the suppression of {} {} ended on {}: it is a finding again\n", path, s.line, s.allocator,
               s.signature, s.until);
  return std::move(*list);
}

std::vector<fuzz::Gap> gaps_of(const Options& o, std::span<const ir::Allocator* const> duelists) {
  std::vector<fuzz::Gap> gaps;
  for (const auto& [option, items, parse] :
       {std::tuple("--gap", &o.gaps, &fuzz::parse_gap), std::tuple("--cliff", &o.cliffs, &fuzz::parse_cliff)})
    for (const std::string& item : *items) {
      auto gap = parse(item);
      if (!gap) throw BadInput(fmt::format("{}: {}", option, gap.error()));
      for (const std::string& name : {gap->worse, gap->better})
        if (!name.empty() && std::ranges::none_of(duelists, [&](const ir::Allocator* a) { return a->name() == name; }))
          throw BadInput(fmt::format("{}: {} is not among the allocators of --with", option, name));
      gaps.push_back(std::move(*gap));
    }
  return gaps;
}

int fuzz_command(const Options& o) {
  fuzz::CampaignOptions c = o.campaign;
  plant(o.planted);
  const std::vector<const ir::Allocator*> duelists = o.allocators.duelists(o.with);
  c.duelists = duelists;
  c.gaps = gaps_of(o, c.duelists);
  c.registers = parse_registers(o.regs);
  if (c.metamorphic < 0 || c.metamorphic > 100)
    throw BadInput(fmt::format("--metamorphic: expected 0 to 100, found {}", c.metamorphic));
  if (o.runs < 0) throw BadInput("--runs: expected a number above 0");
  if (o.runs == 0 && o.time.empty()) throw BadInput("say how long: --time 60s or --runs 10000");
  if (!(c.timeout > 0)) throw BadInput("--timeout: expected a number of seconds above 0");
  if (c.is_mix && !o.seeds.empty()) throw BadInput("--mix and --seeds exclude each other: the standard mix has no corpus");
  require_directory_possible(c.directory);
  c.runs = static_cast<std::uint64_t>(o.runs);
  c.seconds = o.time.empty() ? 0 : parse_time(o.time);
  c.jobs = resolve_jobs(c.jobs);
  c.today = today();
  c.run = this_run();
  if (!o.suppressions.empty()) c.suppressions = load_suppressions(o.suppressions);
  for (const std::string& path : split_list(o.seeds))
    for (const duel::Case& input : load_seeds(path)) c.seeds.push_back(duel::encode_case(input));

  const fuzz::CampaignResult r = [&] {
    const Interrupt interrupt;
    Screen screen(o.is_quiet);
    return fuzz::run_campaign(c, [&](const fuzz::CampaignStatus& status) {
      screen.show(status);
      return !interrupt.is_asked_for();
    });
  }();

  for (const auto& [how, count] : r.lost_workers)
    fmt::print(stderr, "warning: {} {} ended with {} while {} tried no program{}\n", count, count == 1 ? "worker" : "workers", how,
               count == 1 ? "it" : "they",
               how == "SIGKILL" ? ": is memory short? (--jobs)"
                                : ": a bug of regduel or of an allocator's tables, which no finding shows");
  const bool is_harness_broken =
      std::any_of(r.lost_workers.begin(), r.lost_workers.end(), [](const auto& lost) { return lost.first != "SIGKILL"; });

  const double rate = static_cast<double>(r.tried) / r.seconds;
  if (o.json) {
    print_json({{"command", "fuzz"},
                {"seed", c.seed},
                {"mode", c.is_mix ? "mix" : "explore"},
                {"first", r.first},
                {"runs", r.tried},
                {"interrupted", r.is_interrupted},
                {"summary", json_of(r.tally)},
                {"inputs", r.inputs},
                {"features", r.features},
                {"edges", r.edges},
                {"all_edges", r.all_edges},
                {"suppressed", r.suppressed},
                {"lost_workers", r.lost_workers},
                {"findings", fuzz::json_of(r.found)},
                {"known_findings", fuzz::json_of(r.known)},
                {"observations", fuzz::json_of(r.observed)},
                {"earlier",
                 {{"sessions", r.earlier.sessions},
                  {"programs", r.earlier.programs},
                  {"findings", r.earlier.findings},
                  {"not_understood", r.earlier.not_understood},
                  {"left_alone", r.earlier.left_alone},
                  {"absent", r.earlier.absent}}},
                {"seconds", r.seconds},
                {"duels_per_second", rate}});
  } else {
    fmt::print("{}{}{}{}{}{}{}{} in {:.0f} s, {:.0f} duels/s\n", text_of(r.tally), fuzz::text_of(r.observed, "observation"),
               fuzz::text_of(r.found, "finding"), counted(r.found.size(), r.earlier.sessions > 0 ? "new finding" : "finding"),
               r.known.empty() ? "" : fmt::format(", {} of earlier sessions", r.known.size()),
               c.gaps.empty() ? "" : ", " + counted(r.observed.size(), "observation"),
               r.suppressed > 0 ? fmt::format(" ({} suppressed)", counted(r.suppressed, "more case")) : "",
               r.is_interrupted ? " (interrupted)" : "", r.seconds, rate);
    if (!c.is_mix)
      fmt::print("corpus: {} that {} {}\n", counted(r.inputs, "input"), r.inputs == 1 ? "shows" : "show",
                 counted(r.features, "feature"));
    if (!c.db.empty()) fmt::print("{}: {}\n", c.db, r.totals);
  }
  return !r.found.empty() ? kExitFinding : is_harness_broken ? kExitInternal : 0;
}

}  // namespace

Action declare_fuzz(Arguments& a) {
  auto o = std::make_shared<Options>();
  fuzz::CampaignOptions& c = o->campaign;
  c.jobs = 0;
  c.directory = "findings";
  a.option("--time", &o->time, "How long: 60s, 10m, 2h");
  a.option("--runs", &o->runs, "How many programs");
  a.option("--stop-after", &c.stop_after, "Stop at so many findings (0: go on); what was found is still reduced")
      .at_least_zero()
      .shows_default();
  add_seed(a, c.seed, "Another seed, another stream of programs");
  add_jobs(a, c.jobs, "Worker processes, 0 = one a core");
  a.option("--findings", &c.directory, "Directory for the reproducers of findings").shows_default();
  a.option("--corpus", &c.directory, "The old name of --findings").hidden();
  a.option("--db", &c.db,
           "SQLite file with all of the campaign: corpus, findings, results, rates, what was judged by which version; the same "
           "seed goes on where it stopped");
  a.option("--seeds", &o->seeds,
           "Files, or directories of them, to begin with, comma-separated: .rir programs or inputs of the fuzz corpus. "
           "They stay in the corpus");
  a.flag("--mix", c.is_mix,
         "The standard mix of random programs, one after the other, instead of an exploration: the same for any number of jobs");
  a.option("--with", &o->with,
           fmt::format("Allocators, comma-separated (default fatpoint,briggs): {}{}", duel::duelist_names(), kExecHelp));
  o->allocators.add_to(a);
  a.option("--regs,--maxrregcount", &o->regs,
           "Limits of the general register file, comma-separated, 1 to 255: each program is tried at each of them (default: at "
           "one that is drawn with it)");
  a.option("--metamorphic", &c.metamorphic,
           "Percentage of the programs of which variants are allocated too (regduel duel --help); each takes about ten "
           "times as long")
      .shows_default();
  a.option("--timeout", &c.timeout,
           "Seconds of the processor for one program; one that takes longer, also when it is tried again alone, hangs, which "
           "is a finding")
      .shows_default();
  a.option("--reduce-budget", &c.reduce_budget, "How much to spend on reducing a case (regduel reduce --help)").shows_default();
  a.option("--suppress", &o->suppressions,
           "File of known findings to go past, a line each: ALLOCATOR SIGNATURE until YYYY-MM-DD  # why (* = anything)");
  a.option("--gap", &o->gaps,
           "A difference of quality to look for: WORSE/BETTER:FIGURE>=RATIO (regduel reduce --help); repeatable. Selection climbs "
           "the ratio. "
           "What has it is an observation, kept, reduced and told apart as findings are");
  a.option(
      "--cliff", &o->cliffs,
      "A cliff to look for, likewise: ALLOCATOR:FIGURE>=RATIO. FIGURE: heap_bytes or microseconds, against what the allocator "
      "usually "
      "takes for programs of that size; spill_store_bytes, spill_load_bytes or weighted_spill_bytes, against what it has with one "
      "register less");
  a.flag("--gap-is-finding", c.is_gap_finding, "Exit status 1 where there is one");
  a.option("--plant", &o->planted, "Planted bugs to switch on, comma-separated: is the campaign any good? (build preset zoo)");
  a.option("--log", &c.log, "File to which a JSON line is added for every new input and failure, as soon as it is seen");
  a.flag("--quiet", o->is_quiet, "Nothing on stderr while it runs: no screen, no line a minute");
  a.flag("--json", o->json, "One JSON document at the end");
  a.footer(
      "An exploration breeds programs: inputs that make the allocators do something new are kept and changed further. What fails "
      "is reduced, and bisected to\n"
      "the first bad decision; one finding a bug. A worker that crashes or hangs is a finding, and is replaced.\n"
      "Findings are crashing while they fail, incubating when they no longer do, and become regressions (regduel export) after "
      "three more versions.\n"
      "Ctrl-C or SIGTERM ends it early and keeps all. Exit status 1: something fails that no earlier session has found failing.\n"
      "Examples:  regduel fuzz --time 10m\n"
      "           regduel fuzz --time 8h --db campaign.sqlite --seeds corpus/seeds\n"
      "           regduel fuzz --with exec:'python3 example/linear_scan.py' --time 10m\n"
      "           regduel fuzz --mix --runs 100000 --metamorphic 1 --db proof.sqlite");
  return [o] { return fuzz_command(*o); };
}

}  // namespace regduel::cli
