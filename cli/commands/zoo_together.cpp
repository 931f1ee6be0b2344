// See zoo_together.h.
#include "cli/commands/zoo_together.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/run_again.h"
#include "cli/show/output.h"
#include "duel/case_file.h"
#include "trial/planted/catalogue.h"
#include "trial/planted/together.h"

namespace regduel::cli {
namespace {

using json = nlohmann::ordered_json;

std::vector<std::string> chosen_bugs(const TogetherRun& run) {
  std::vector<std::string> names;
  for (const std::string& name : run.only) names.emplace_back(planted_bug_named("--only", name).name);
  if (!names.empty()) return names;
  const auto all = trial::planted_bugs();
  const auto wanted = static_cast<std::size_t>(run.bugs);
  if (wanted < 2 || wanted > all.size()) throw BadInput(fmt::format("--together: expected 2 to {} planted bugs", all.size()));
  for (std::size_t k = 0; k < wanted; ++k) names.emplace_back(all[(k * all.size() / wanted + run.seed - 1) % all.size()].name);
  return names;
}

// Cases of all workers, and how they went.
struct Hunted {
  std::mutex mutex;
  std::vector<json> cases;
  fuzz::KnownBuckets buckets;
  std::uint64_t inputs = 0;
  int died = 0;  // workers that crashed, or hung, in a planted bug
};

// Workers one after the other, until the time is over: one that dies in a planted bug is followed by one with another seed.
void hunt(const TogetherRun& run, const std::string& bugs, int job, const Interrupt& interrupt, Progress& progress,
          Hunted& hunted) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t turn = 0;; ++turn) {
    const int left = run.time - static_cast<int>(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (left < 1) return;
    const std::uint64_t seed = (run.seed * 1000 + static_cast<std::uint64_t>(job)) * 1000 + turn;
    std::vector<std::string> arguments = {
        "zoo", "--worker", bugs, "--time", fmt::format("{}", left), "--seed", fmt::format("{}", seed)};
    arguments.insert(arguments.end(), run.seed_arguments.begin(), run.seed_arguments.end());
    const std::string end = run_again(arguments, left + 60, interrupt, [&](std::string_view line) {
      json j = json::parse(line, nullptr, false);
      if (!j.is_object()) return;  // the end of a worker that was killed
      const std::lock_guard lock(hunted.mutex);
      if (j.contains("inputs")) {
        hunted.inputs += j["inputs"].get<std::uint64_t>();
        return;
      }
      const std::string decision = j["decision"];
      j["bucket"] = fuzz::choose_bucket({j["nature"], j["names"], j["rest"], j["title"], j["needed"]}, decision, hunted.buckets);
      hunted.buckets.emplace(j["bucket"], decision);
      hunted.cases.push_back(std::move(j));
      progress.step(1, fmt::format("{} cases", hunted.cases.size()));
    });
    if (end == "exit-0" || interrupt.is_asked_for()) return;
    const std::lock_guard lock(hunted.mutex);
    ++hunted.died;
  }
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

int zoo_together_worker(const std::string& bugs, int time, std::uint64_t seed, std::vector<duel::Case> seeds) {
  trial::TogetherOptions options;
  for (std::size_t at = 0; at < bugs.size();) {
    const std::size_t end = std::min(bugs.find(',', at), bugs.size());
    options.bugs.push_back(bugs.substr(at, end - at));
    at = end + 1;
  }
  options.seed = seed;
  options.seconds = time;
  options.seeds = std::move(seeds);
  const std::uint64_t inputs = trial::hunt_together(options, [](const trial::SortedCase& c) {
    const fuzz::Understood& u = c.understood;
    fmt::print("{}\n", json{{"nature", u.naming.nature},
                            {"names", u.naming.names},
                            {"rest", u.naming.rest},
                            {"title", u.naming.title},
                            {"needed", u.naming.needed},
                            {"causes", c.causes},
                            {"allocator", u.failure.allocator},
                            {"signature", u.failure.signature},
                            {"decision", u.decision},
                            {"instructions", u.reduced.program.insts.size()},
                            {"core", duel::print_case(u.core)},
                            {"reduced", duel::print_case(u.reduced)}}
                           .dump());
    std::fflush(stdout);
  });
  fmt::print("{}\n", json{{"inputs", inputs}}.dump());
  return 0;
}

int zoo_together(const TogetherRun& run) {
  const std::vector<std::string> names = chosen_bugs(run);
  const std::string bugs = fmt::format("{}", fmt::join(names, ","));
  Hunted hunted;
  {
    const Interrupt interrupt;
    Progress progress("zoo", 0);
    std::vector<std::jthread> workers;
    for (int job = 0; job < run.jobs; ++job) workers.emplace_back([&, job] { hunt(run, bugs, job, interrupt, progress, hunted); });
    workers.clear();
    progress.done();
  }
  std::vector<trial::Labelled> labelled;
  for (const json& c : hunted.cases) labelled.push_back({c["bucket"], c["causes"]});
  const trial::Sorting s = trial::measure_sorting(labelled);
  const double purity = percent(s.in_majority, s.cases), inverse = percent(s.in_largest, s.cases);

  std::map<std::string, std::map<std::string, int>> buckets;
  for (const trial::Labelled& c : labelled) ++buckets[c.bucket][fmt::format("{}", fmt::join(c.causes, " or "))];
  if (!run.save_to.empty()) {
    std::error_code error;
    std::filesystem::create_directories(run.save_to, error);
    for (std::size_t k = 0; k < hunted.cases.size(); ++k) {
      const json& c = hunted.cases[k];
      save(fmt::format("{}/{:04}.rir", run.save_to, k),
           fmt::format("// {}\n// {}: {}\n// {}\n{}", std::string(c["bucket"]), std::string(c["allocator"]),
                       std::string(c["signature"]), fmt::join(labelled[k].causes, " or "), std::string(c["reduced"])));
    }
  }
  if (run.json) {
    print_json({{"command", "zoo"},
                {"together", names},
                {"seed", run.seed},
                {"seconds", run.time},
                {"jobs", run.jobs},
                {"inputs", hunted.inputs},
                {"workers_died", hunted.died},
                {"cases", s.cases},
                {"buckets", s.buckets},
                {"bugs_seen", s.bugs},
                {"purity_percent", purity},
                {"inverse_purity_percent", inverse},
                {"several_causes", s.several},
                {"joint_causes", s.joint},
                {"findings", hunted.cases}});
  } else {
    Table table({"bucket", "bug", "cases"}, 2);
    for (const auto& [bucket, causes] : buckets)
      for (const auto& [cause, count] : causes) table.row({bucket, cause, fmt::format("{}", count)});
    fmt::print(
        "{}\n{} planted bugs together, {} s on {} cores: {} inputs, {} cases understood, {} buckets, {} bugs seen\n"
        "purity {:.1f}% ({} of {} cases belong to the majority bug of their bucket), inverse purity {:.1f}% ({} are in the largest "
        "bucket of their bug)\n"
        "{} cases that several bugs cause, each by itself (any of them will do); {} that take several (likewise); {} workers "
        "died\n",
        table.text(), names.size(), run.time, run.jobs, hunted.inputs, s.cases, s.buckets, s.bugs, purity, s.in_majority, s.cases,
        inverse, s.in_largest, s.several, s.joint, hunted.died);
  }
  const bool will_do = s.cases > 0 && purity >= kPurityWanted && inverse >= kInversePurityWanted;
  return will_do ? 0 : kExitFinding;
}

}  // namespace regduel::cli
