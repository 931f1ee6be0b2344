// regduel zoo: the fuzzer on trial. Each planted bug in turn is hunted by a process of its own.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  bool lists = false, losses = false, empty = false, buckets = false, json = false;
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
  const trial::PlantedBug& bug = planted_bug_named("--hunt", o.one);
  const trial::Catch c = trial::hunt({.seed = o.seed,
                                      .seconds = static_cast<double>(o.time),
                                      .seeds = seeds_for(o),
                                      .duelists = trial::duelists_against({&o.one, 1}),
                                      .loss = bug.gap.empty() ? nullptr : &bug});
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

int list_bugs() {
  Table table({"planted bug", "what it does"}, 2);
  for (const auto& list : {trial::planted_bugs(), trial::planted_losses()})
    for (const trial::PlantedBug& b : list) table.row({std::string(b.name), std::string(b.what)});
  fmt::print("{}", table.text());
  return 0;
}

// What all hunts came to.
class Trial {
 public:
  explicit Trial(const Options& o) : o_(o) {}

  void add(const Hunted& h) {
    const std::string name(h.bug->name);
    nlohmann::ordered_json row = {{"bug", name}, {"what", std::string(h.bug->what)}};
    if (!h.result.is_object()) {
      const std::string end = h.end.starts_with("exit-") ? "ended with " + h.end : "killed, or hung";
      table_.row({name, "-", end, "-", "-", "-", "-", "-"});
      row["found"] = false;
      row["error"] = end;
    } else {
      row.update(h.result);
      if (h.result["found"]) add_found(h);
      else
        table_.row({name, "-", "not found", fmt::format("{:.0f}", double(h.result["seconds"])),
                    fmt::format("{}", std::uint64_t(h.result["inputs"])), "-", "-", "-"});
    }
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] std::size_t found() const { return found_; }

  // Prints how the hunts of so many planted bugs went. Returns the exit status.
  int print(std::size_t bugs) const {
    const auto largest = [](const auto& v) { return v.empty() ? 0 : *std::max_element(v.begin(), v.end()); };
    if (o_.json)
      print_json({{"command", "zoo"},
                  {"seed", o_.seed},
                  {"bugs", rows_},
                  {"found", found_},
                  {"of", rows_.size()},
                  {"planted_bugs", bugs},
                  {"median_seconds", median(seconds_)},
                  {"median_instructions", median(sizes_)},
                  {"largest_instructions", largest(sizes_)}});
    else
      fmt::print(
          "{}\n{}found {} of {} within {} s each{}: median {:.2f} s, slowest {:.2f} s; reduced to {} instructions at the median, "
          "{} at most; {} of {} under the signature that they were found by\n",
          table_.text(), rows_.size() < bugs ? fmt::format("interrupted, with {} planted bugs to go: ", bugs - rows_.size()) : "",
          found_, rows_.size(), o_.time, o_.empty ? ", from nothing" : "", median(seconds_), largest(seconds_), median(sizes_),
          largest(sizes_), kept_, found_);
    return found_ == bugs && kept_ == found_ ? 0 : kExitFinding;
  }

 private:
  void add_found(const Hunted& h) {
    const std::string name(h.bug->name), signature = h.result["signature"];
    ++found_;
    kept_ += h.result["keeps_signature"] ? 1 : 0;
    seconds_.push_back(h.result["seconds"]);
    sizes_.push_back(h.result["instructions"]);
    if (!o_.save_to.empty()) {
      std::error_code error;
      std::filesystem::create_directories(o_.save_to, error);
      save(fmt::format("{}/{}.rir", o_.save_to, name),
           fmt::format("// {}: {}\n// {}\n{}", name, h.bug->what, signature, std::string(h.result["reduced"])));
    }
    table_.row({name, signature.substr(0, signature.find('/')), signature.substr(signature.find('/') + 1),
                fmt::format("{:.2f}", double(h.result["seconds"])), fmt::format("{}", std::uint64_t(h.result["inputs"])),
                fmt::format("{}", std::size_t(h.result["instructions_found"])), fmt::format("{}", sizes_.back()),
                h.result["keeps_signature"] ? "yes" : "NO"});
  }

  const Options& o_;
  Table table_{{"planted bug", "found by", "as", "seconds", "inputs", "instructions", "reduced", "same signature"}, 3};
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  std::vector<double> seconds_;
  std::vector<std::size_t> sizes_;
  std::size_t found_ = 0, kept_ = 0;
};

int zoo_command(const Options& o) {
  if (o.lists) return list_bugs();
  if (!trial::has_planted_bugs())
    throw BadInput("this build has no planted bugs: cmake --preset zoo && cmake --build build/zoo && build/zoo/bin/regduel zoo");
  if (o.time < 1 || o.time > 86'400) throw BadInput("--time: expected 1 to 86400 seconds");
  if (!o.one.empty()) return hunt_one(o);
  if (!o.worker.empty()) return zoo_together_worker(o.worker, o.time, o.seed, seeds_for(o));
  std::vector<const trial::PlantedBug*> bugs;
  for (const std::string& name : split_list(o.only)) bugs.push_back(&planted_bug_named("--only", name));
  if (bugs.empty())
    for (const trial::PlantedBug& b : o.losses ? trial::planted_losses() : trial::planted_bugs()) bugs.push_back(&b);
  static_cast<void>(seeds_for(o));  // complains now rather than in each hunt
  if ((o.buckets || o.together != 0) && std::ranges::any_of(bugs, [](const auto* b) { return !b->gap.empty(); }))
    throw BadInput("a loss of quality is no failure: --buckets and --together are of bugs");
  if (o.buckets)
    return zoo_buckets({std::move(bugs), o.time, o.seed, resolve_jobs(o.jobs),
                        o.empty ? std::vector<std::string>() : seed_arguments(o), o.save_to, o.json});
  if (o.together != 0)
    return zoo_together(
        {o.together, split_list(o.only), o.time, o.seed, resolve_jobs(o.jobs), seed_arguments(o), o.save_to, o.json});

  const Interrupt interrupt;
  Trial all(o);
  Progress progress("zoo", std::ssize(bugs));
  in_order<Hunted>(
      std::ssize(bugs), resolve_jobs(o.jobs), [&](std::int64_t k) { return hunt_apart(*bugs[k], o, interrupt); },
      [&](std::int64_t, const Hunted& h) {
        if (interrupt.is_asked_for()) return false;
        all.add(h);
        progress.step(1, fmt::format("found {}", all.found()));
        return true;
      });
  progress.done();
  return all.print(bugs.size());
}

}  // namespace

Action declare_zoo(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("--only", &o->only, "Names of planted bugs, comma-separated (default: all)");
  a.flag("--list", o->lists, "Name the planted bugs and what they do, and end");
  a.flag("--losses", o->losses, "The planted losses of quality instead, each by its gap (regduel fuzz --gap)");
  a.option("--time", &o->time, "Seconds to look for each").shows_default();
  a.option("--seeds", &o->seeds, "Directory of the inputs to begin with").shows_default();
  a.flag("--empty", o->empty, "Begin with nothing");
  add_seed(a, o->seed, "Another seed, other inputs");
  add_jobs(a, o->jobs, "Hunts at a time, 0 = one a core");
  a.option("--save", &o->save_to, "Directory for the reduced cases");
  const Argument together =
      a.option("--together", &o->together,
               "Switch on this many bugs at once instead (or those of --only), understand what fails, and say how well "
               "buckets and bugs go together");
  a.flag("--buckets", o->buckets,
         "A campaign against each planted bug instead, as regduel fuzz does it: how many buckets are made of it, and how "
         "well do they tell bugs apart?")
      .excludes(together);
  a.option("--worker", &o->worker, "The part of one worker of --together").hidden();
  a.option("--hunt", &o->one, "One bug, in this process, the result as JSON").hidden();
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Needs a build with the planted bugs in it: cmake --preset zoo. Exit status 1: one was not found, or lost its signature in "
      "the reducer.\n"
      "Example:  build/zoo/bin/regduel zoo --only fatpoint-clobber-missed,fatpoint-tie-dropped");
  return [o] { return zoo_command(*o); };
}

}  // namespace regduel::cli
