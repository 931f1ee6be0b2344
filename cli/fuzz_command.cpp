// regduel fuzz: duels on random programs until the time or the number of runs is up, or Ctrl-C.

#include <csignal>

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "cli/campaign_db.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "cli/tally.h"
#include "ir/random.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string time;
  std::int64_t runs = 0;
  std::uint64_t seed = 1;
  int jobs = 0;
  std::string corpus = "findings";
  std::vector<std::string> with;
  std::string db;
  int metamorphic = 0;
  bool json = false;
};

constexpr std::uint64_t kMetamorphicStream = 0x6D657461;  // which cases are varied does not depend on what is in them

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = 1; }

// "60s", "10m", "2h" or seconds.
double parse_time(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end == text.c_str() ? "?" : std::string(end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (scale == 0 || !(value > 0) || value > 1e9) throw BadInput(fmt::format("--time: expected a time like 60s, 10m or 2h, found \"{}\"", text));
  return value * scale;
}

int fuzz_command(const Options& o) {
  std::vector<const ir::Allocator*> duelists;
  for (const std::string& name : split_list(o.with)) duelists.push_back(&allocator_named(name));
  if (duelists.empty()) duelists.assign(fuzz::all_duelists().begin(), fuzz::all_duelists().end());
  if (o.metamorphic < 0 || o.metamorphic > 100) throw BadInput(fmt::format("--metamorphic: expected 0 to 100, found {}", o.metamorphic));
  if (o.runs < 0) throw BadInput("--runs: expected a number above 0");
  if (o.runs == 0 && o.time.empty()) throw BadInput("say how long: --time 60s or --runs 10000");
  const double seconds = o.time.empty() ? 0 : parse_time(o.time);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  interrupted = 0;
  struct sigaction action = {}, old_int = {}, old_term = {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, &old_int);
  ::sigaction(SIGTERM, &action, &old_term);

  std::optional<CampaignDb> db;
  if (!o.db.empty()) db.emplace(o.db, o.seed);
  const std::uint64_t first = db ? db->next_index() : 0;
  Findings findings(o.corpus);
  Tally tally(duelists);
  Progress progress("fuzz", o.runs);
  const std::function<Fought(std::int64_t)> work = [&](std::int64_t k) {
    DuelCase c = standard_case(o.seed, first + static_cast<std::uint64_t>(k), duelists);
    const bool metamorphic = Random(hash_combine(hash_combine(o.seed, kMetamorphicStream), first + static_cast<std::uint64_t>(k))).chance(o.metamorphic);
    return fight(std::move(c), duelists, metamorphic);
  };
  const std::function<bool(std::int64_t, Fought)> take = [&](std::int64_t k, Fought r) {
    // A finding is on disk as soon as it is known: an interrupted campaign keeps all that it found.
    for (const fuzz::Bout& b : r.duel.bouts)
      if (b.verdict == oracles::Verdict::Fail) {
        findings.add(r.c, b);
        if (db) db->add(r.c, b);
      }
    tally.add(r);
    if (db) db->done(first + static_cast<std::uint64_t>(k) + 1, findings.distinct(), tally);
    progress.step(1, fmt::format("findings {}", findings.distinct()));
    return interrupted == 0 && (seconds == 0 || elapsed() < seconds);
  };
  in_order<Fought>(o.runs > 0 ? o.runs : INT64_MAX, resolve_jobs(o.jobs), work, take);
  progress.done();
  if (db) db->flush(tally);
  ::sigaction(SIGINT, &old_int, nullptr);
  ::sigaction(SIGTERM, &old_term, nullptr);
  const double took = elapsed();
  const double rate = static_cast<double>(tally.cases()) / took;
  if (o.json) {
    print_json({{"command", "fuzz"}, {"seed", o.seed}, {"first", first}, {"runs", tally.cases()}, {"interrupted", interrupted != 0}, {"summary", tally.json()},
                {"findings", findings.json()}, {"seconds", took}, {"duels_per_second", rate}});
  } else {
    fmt::print("{}{}{} findings{} in {:.0f} s, {:.0f} duels/s\n", tally.text(), findings.text(), findings.distinct(),
               interrupted != 0 ? " (interrupted)" : "", took, rate);
    if (db) fmt::print("{}: {}\n", o.db, db->totals());
  }
  return findings.distinct() > 0 ? kExitFinding : 0;
}

}  // namespace

void add_fuzz_command(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("fuzz", "Look for bugs: duels on the standard mix of random programs");
  command->add_option("--time", o->time, "How long: 60s, 10m, 2h");
  command->add_option("--runs", o->runs, "How many programs");
  command->add_option("--seed", o->seed, "Another seed, another stream of programs")->capture_default_str();
  command->add_option("--jobs", o->jobs, "Threads, 0 = one a core")->capture_default_str();
  command->add_option("--corpus", o->corpus, "Directory for the reproducers of findings")->capture_default_str();
  command->add_option("--db", o->db, "SQLite file that keeps findings, rates and what was judged by which version; the same seed goes on where it stopped");
  command->add_option("--with", o->with, "Allocators, comma-separated (default fatpoint,briggs)")->allow_extra_args(false);
  command->add_option("--metamorphic", o->metamorphic, "Percentage of the programs of which variants are allocated too (regduel duel --help); each takes about ten times as long")->capture_default_str();
  command->add_flag("--json", o->json, "One JSON document at the end");
  command->footer("Ctrl-C ends it early; findings are on disk as soon as they are seen. Example:  regduel fuzz --time 10m");
  command->callback([o, &chosen] { chosen = [o] { return fuzz_command(*o); }; });
}

}  // namespace regduel::cli
