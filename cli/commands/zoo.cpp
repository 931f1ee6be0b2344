// regduel zoo: the fuzzer on trial. Each planted bug in turn is hunted by a process of its own.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/commands/zoo_buckets.h"
#include "cli/commands/zoo_together.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/run_again.h"
#include "cli/show/output.h"
#include "duel/case_file.h"
#include "trial/planted/catalogue.h"
#include "trial/planted/hunt.h"

namespace regduel::cli {
namespace {

struct Options {
  std::vector<std::string> only;
  std::string seeds = "corpus/seeds";
  std::string save_to;
  std::string one, worker;
  int together = 0;
  int time = 60;
  std::uint64_t seed = 1;
  int jobs = 0;
  bool empty = false, buckets = false, json = false;
};

std::vector<duel::Case> seeds_for(const Options& o) {
  if (o.empty) return {};
  if (!std::filesystem::exists(o.seeds))
    throw BadInput(fmt::format("error: {}: no such file or directory (--empty hunts without seeds)", o.seeds));
  std::vector<duel::Case> seeds = load_seeds(o.seeds);
  std::reverse(seeds.begin(), seeds.end());  // the last one is tried first
  return seeds;
}

std::vector<std::string> seed_arguments(const Options& o) {
  return o.empty ? std::vector<std::string>{"--empty"} : std::vector<std::string>{"--seeds", o.seeds};
}

// One hunt, in this process; its result as JSON for the process that asked.
int hunt_one(const Options& o) {
  trial::plant(o.one);
  const trial::Catch c = trial::hunt({.seed = o.seed,
                                      .seconds = static_cast<double>(o.time),
                                      .seeds = seeds_for(o),
                                      .duelists = trial::duelists_against({&o.one, 1})});
  print_json({{"found", c.found},
              {"seconds", c.seconds},
              {"inputs", c.inputs},
              {"allocator", c.failure.allocator},
              {"signature", c.failure.signature},
              {"instructions_found", c.instructions_found},
              {"instructions", c.instructions},
              {"reduce_seconds", c.reduce_seconds},
              {"keeps_signature", c.keeps_signature},
              {"reduced", c.reduced}});
  return 0;
}

struct Hunted {
  const trial::PlantedBug* bug;
  nlohmann::ordered_json result;  // of hunt_one; null where its process died
  std::string end;
};

Hunted hunt_apart(const trial::PlantedBug& bug, const Options& o, const Interrupt& interrupt) {
  constexpr int kReduceSeconds = 120;  // a hunt that takes longer hangs in a planted bug
  Hunted h{&bug, nullptr, {}};
  std::string out;
  std::vector<std::string> arguments = {
      "zoo", "--hunt", std::string(bug.name), "--time", fmt::format("{}", o.time), "--seed", fmt::format("{}", o.seed)};
  const std::vector<std::string> seeds = seed_arguments(o);
  arguments.insert(arguments.end(), seeds.begin(), seeds.end());
  h.end = run_again(arguments, o.time + kReduceSeconds, interrupt, [&](std::string_view line) { out += line; });
  if (h.end == "exit-0") h.result = nlohmann::ordered_json::parse(out, nullptr, false);
  return h;
}

template <class Number>
Number median(std::vector<Number> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int zoo_command(const Options& o) {
  if (!trial::has_planted_bugs())
    throw BadInput("this build has no planted bugs: cmake --preset zoo && cmake --build build/zoo && build/zoo/bin/regduel zoo");
  if (o.time < 1 || o.time > 86'400) throw BadInput("--time: expected 1 to 86400 seconds");
  if (!o.one.empty()) return hunt_one(o);
  if (!o.worker.empty()) return zoo_together_worker(o.worker, o.time, o.seed, seeds_for(o));
  std::vector<const trial::PlantedBug*> bugs;
  for (const std::string& name : split_list(o.only)) bugs.push_back(&planted_bug_named("--only", name));
  if (bugs.empty())
    for (const trial::PlantedBug& b : trial::planted_bugs()) bugs.push_back(&b);
  static_cast<void>(seeds_for(o));  // complains now rather than in each hunt
  if (o.buckets)
    return zoo_buckets({std::move(bugs), o.time, o.seed, resolve_jobs(o.jobs),
                        o.empty ? std::vector<std::string>() : seed_arguments(o), o.save_to, o.json});
  if (o.together != 0)
    return zoo_together(
        {o.together, split_list(o.only), o.time, o.seed, resolve_jobs(o.jobs), seed_arguments(o), o.save_to, o.json});

  Table table({"planted bug", "found by", "as", "seconds", "inputs", "instructions", "reduced", "same signature"}, 3);
  const Interrupt interrupt;
  std::vector<double> seconds;
  std::vector<std::size_t> sizes;
  std::size_t found = 0, kept = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Progress progress("zoo", static_cast<std::int64_t>(bugs.size()));
  const std::function<Hunted(std::int64_t)> work = [&](std::int64_t k) {
    return hunt_apart(*bugs[static_cast<std::size_t>(k)], o, interrupt);
  };
  const std::function<bool(std::int64_t, Hunted)> take = [&](std::int64_t, Hunted h) {
    if (interrupt.is_asked_for()) return false;
    const std::string name(h.bug->name);
    nlohmann::ordered_json row = {{"bug", name}, {"what", std::string(h.bug->what)}};
    if (!h.result.is_object()) {
      const std::string end = h.end.starts_with("exit-") ? "ended with " + h.end : "killed, or hung";
      table.row({name, "-", end, "-", "-", "-", "-", "-"});
      row["found"] = false;
      row["error"] = end;
    } else {
      row.update(h.result);
      const bool is_found = h.result["found"];
      if (is_found) {
        ++found;
        kept += h.result["keeps_signature"] ? 1 : 0;
        seconds.push_back(h.result["seconds"]);
        sizes.push_back(h.result["instructions"]);
        if (!o.save_to.empty()) {
          std::error_code error;
          std::filesystem::create_directories(o.save_to, error);
          save(fmt::format("{}/{}.rir", o.save_to, name),
               fmt::format("// {}: {}\n// {}\n{}", name, h.bug->what, std::string(h.result["signature"]),
                           std::string(h.result["reduced"])));
        }
        const std::string signature = h.result["signature"];
        table.row({name, signature.substr(0, signature.find('/')), signature.substr(signature.find('/') + 1),
                   fmt::format("{:.2f}", double(h.result["seconds"])), fmt::format("{}", std::uint64_t(h.result["inputs"])),
                   fmt::format("{}", std::size_t(h.result["instructions_found"])),
                   fmt::format("{}", std::size_t(h.result["instructions"])), h.result["keeps_signature"] ? "yes" : "NO"});
      } else {
        table.row({name, "-", "not found", fmt::format("{:.0f}", double(h.result["seconds"])),
                   fmt::format("{}", std::uint64_t(h.result["inputs"])), "-", "-", "-"});
      }
    }
    rows.push_back(std::move(row));
    progress.step(1, fmt::format("found {}", found));
    return true;
  };
  in_order<Hunted>(static_cast<std::int64_t>(bugs.size()), resolve_jobs(o.jobs), work, take);
  progress.done();
  const bool all = found == bugs.size() && kept == found;
  if (o.json)
    print_json({{"command", "zoo"},
                {"seed", o.seed},
                {"bugs", rows},
                {"found", found},
                {"of", rows.size()},
                {"planted_bugs", bugs.size()},
                {"median_seconds", median(seconds)},
                {"median_instructions", median(sizes)},
                {"largest_instructions", sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end())}});
  else
    fmt::print(
        "{}\n{}found {} of {} within {} s each{}: median {:.2f} s, slowest {:.2f} s; reduced to {} instructions at the median, {} "
        "at "
        "most; {} of {} under the signature "
        "that they were found by\n",
        table.text(),
        rows.size() < bugs.size() ? fmt::format("interrupted, with {} planted bugs to go: ", bugs.size() - rows.size()) : "", found,
        rows.size(), o.time, o.empty ? ", from nothing" : "", median(seconds),
        seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()), median(sizes),
        sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()), kept, found);
  return all ? 0 : kExitFinding;
}

}  // namespace

void add_zoo_command(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  auto list = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "zoo", "Put the fuzzer on trial: how long does it take to find each planted bug, and how small does the case get?");
  command->add_option("--only", o->only, "Names of planted bugs, comma-separated (default: all)")->allow_extra_args(false);
  command->add_flag("--list", *list, "Name the planted bugs and what they do, and end");
  command->add_option("--time", o->time, "Seconds to look for each")->capture_default_str();
  command->add_option("--seeds", o->seeds, "Directory of the inputs to begin with")->capture_default_str();
  command->add_flag("--empty", o->empty, "Begin with nothing");
  add_seed(*command, o->seed, "Another seed, other inputs");
  add_jobs(*command, o->jobs, "Hunts at a time, 0 = one a core");
  command->add_option("--save", o->save_to, "Directory for the reduced cases");
  command->add_option("--together", o->together,
                      "Switch on this many bugs at once instead (or those of --only), understand what fails, and say how well "
                      "buckets and bugs go together");
  command
      ->add_flag("--buckets", o->buckets,
                 "A campaign against each planted bug instead, as regduel fuzz does it: how many buckets are made of it, and how "
                 "well do they tell bugs apart?")
      ->excludes("--together");
  command->add_option("--worker", o->worker, "The part of one worker of --together")->group("");
  command->add_option("--hunt", o->one, "One bug, in this process, the result as JSON")->group("");
  command->add_flag("--json", o->json, "One JSON document");
  command->footer(
      "Needs a build with the planted bugs in it: cmake --preset zoo. Exit status 1: one was not found, or lost its signature in "
      "the reducer.\n"
      "Example:  build/zoo/bin/regduel zoo --only fatpoint-clobber-missed,fatpoint-tie-dropped");
  command->callback([o, list, &chosen] {
    chosen = [o, list] {
      if (!*list) return zoo_command(*o);
      Table table({"planted bug", "what it does"}, 2);
      for (const trial::PlantedBug& b : trial::planted_bugs()) table.row({std::string(b.name), std::string(b.what)});
      fmt::print("{}", table.text());
      return 0;
    };
  });
}

}  // namespace regduel::cli
