// See together.h.
#include "trial/planted/together.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "fuzz/explore/behaviour.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/failure.h"
#include "trial/planted/catalogue.h"

namespace regduel::trial {
namespace {

std::vector<std::string> causes_of(const duel::Case& input, const fuzz::Failure& failure, const std::vector<std::string>& bugs) {
  std::vector<std::string> causes;
  for (const std::string& bug : bugs) {
    plant(bug);
    if (fuzz::reproduces(input, failure)) causes.push_back(bug);
  }
  if (!causes.empty()) return causes;
  std::vector<std::string> needed = bugs;
  for (const std::string& bug : bugs) {
    std::vector<std::string> others = needed;
    std::erase(others, bug);
    plant(fmt::format("{}", fmt::join(others, ",")));
    if (fuzz::reproduces(input, failure)) needed = std::move(others);
  }
  return {fmt::format("{}", fmt::join(needed, "+"))};
}

// The planted bugs behind this case: each that causes it alone, else the set that causes it together.
std::vector<std::string> bugs_of(const Labelled& c) {
  std::vector<std::string> bugs;
  for (std::string_view cause : c.causes)
    for (std::size_t end = 0; end != std::string_view::npos; cause.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
      end = cause.find('+');
      bugs.emplace_back(cause.substr(0, end));
    }
  return bugs;
}

}  // namespace

std::uint64_t hunt_together(const TogetherOptions& options, const std::function<void(const SortedCase&)>& take) {
  using Clock = std::chrono::steady_clock;
  const std::string all = fmt::format("{}", fmt::join(options.bugs, ","));
  fuzz::ExplorerOptions explorer_options;
  explorer_options.seed = options.seed;
  explorer_options.most_instructions = 300;
  fuzz::Explorer explorer(explorer_options);
  for (const duel::Case& seed : options.seeds) explorer.add_seed(seed);
  std::map<std::pair<std::string, std::string>, std::uint64_t> sightings;
  std::uint64_t inputs = 0;
  const std::vector<const ir::Allocator*> duelists = duelists_against(options.bugs);
  explorer.change_knobs_of(duelists);
  plant(all);
  for (const auto start = Clock::now(); std::chrono::duration<double>(Clock::now() - start).count() < options.seconds;) {
    const duel::Case input = explorer.next();
    ++inputs;
    const duel::Duel d = duel::duel(input, {.duelists = duelists});
    explorer.learn(input, fuzz::behaviour_of(input, d));
    for (const duel::Bout& b : d.bouts) {
      if (b.verdict() != oracles::Verdict::Fail) continue;
      const fuzz::Failure failure{b.allocator, b.signatures().front()};
      if (!std::has_single_bit(++sightings[{failure.allocator, failure.signature}]) || !fuzz::reproduces(input, failure)) continue;
      SortedCase c{fuzz::understand(input, failure, options.reduce_budget), {}};
      c.causes = causes_of(c.understood.reduced, failure, options.bugs);
      plant(all);
      take(c);
    }
  }
  plant("");
  return inputs;
}

Sorting measure_sorting(std::span<const Labelled> cases) {
  using Counts = std::map<std::string, std::size_t>;
  Sorting s;
  s.cases = cases.size();
  std::map<std::string, Counts> by_bucket, by_bug, surely_by_bug;
  for (const Labelled& c : cases) {
    s.several += c.causes.size() > 1 ? 1 : 0;
    s.joint += c.causes.size() == 1 && c.causes[0].find('+') != std::string::npos ? 1 : 0;
    const std::vector<std::string> bugs = bugs_of(c);
    for (const std::string& bug : bugs) {
      ++by_bucket[c.bucket][bug];
      ++by_bug[bug][c.bucket];
      if (bugs.size() == 1) ++surely_by_bug[bug][c.bucket];
    }
  }
  const auto commonest = [](const Counts& counts) {
    return *std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  s.buckets = by_bucket.size();
  s.bugs = by_bug.size();
  for (const auto& [bucket, counts] : by_bucket) s.in_majority += commonest(counts).second;
  // The home of a bug is the bucket with most of the cases that it alone causes, or with most of all its cases if it causes none
  // alone.
  std::map<std::string, std::string> home;
  for (const auto& [bug, counts] : by_bug) home[bug] = commonest(surely_by_bug.contains(bug) ? surely_by_bug[bug] : counts).first;
  for (const Labelled& c : cases) {
    const std::vector<std::string> bugs = bugs_of(c);
    s.in_largest += std::any_of(bugs.begin(), bugs.end(), [&](const std::string& bug) { return home[bug] == c.bucket; }) ? 1 : 0;
  }
  return s;
}

}  // namespace regduel::trial
