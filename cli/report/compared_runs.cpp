// See compared_runs.h.
#include "cli/report/compared_runs.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bad_input.h"
#include "cli/options.h"
#include "duel/exec/words.h"

namespace regduel::cli {
namespace {

using results::ResultRow;

ComparedRun read_run(const std::string& path, std::int64_t run) {
  const std::vector<results::StoredRun> runs = results::read_runs(path);
  if (runs.empty()) throw BadInput(fmt::format("error: {}: there are no runs in it", path));
  const auto last = std::find_if(runs.rbegin(), runs.rend(), [](const results::StoredRun& r) { return r.rows > 0; });
  if (run == 0 && last == runs.rend()) throw BadInput(fmt::format("error: {}: none of its runs has a result", path));
  const auto it =
      run == 0 ? last.base() - 1 : std::find_if(runs.begin(), runs.end(), [&](const results::StoredRun& r) { return r.id == run; });
  if (it == runs.end()) {
    std::string ids;
    for (const results::StoredRun& r : runs) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", r.id);
    throw BadInput(fmt::format("error: {}: there is no run {} in it (there are {})", path, run, ids));
  }
  return {path, *it, results::read_results(path, it->id)};
}

// Two databases, two runs of one, or two allocators of one run.
std::pair<ComparedRun, ComparedRun> read_both(const ComparedOptions& o, std::size_t allocators) {
  std::vector<std::int64_t> runs;
  for (const std::string& item : split_list(o.runs)) {
    char* end = nullptr;
    runs.push_back(std::strtol(item.c_str(), &end, 10));
    if (*end != 0 || runs.back() < 1) throw BadInput(fmt::format("--runs: expected a number from 1, found \"{}\"", item));
  }
  if (runs.size() > 2) throw BadInput(fmt::format("--runs: expected one or two, found {}", runs.size()));
  if (o.databases.size() == 1 && runs.size() < 2 && allocators != 2)
    throw BadInput("give two databases, or two runs of one (--runs 1,2), or two allocators of one (--allocators briggs,fatpoint)");
  const std::int64_t first = runs.empty() ? 0 : runs.front(), second = runs.empty() ? 0 : runs.back();
  ComparedRun older = read_run(o.databases.front(), first);
  const bool is_one_run = o.databases.front() == o.databases.back() && first == second;
  ComparedRun newer = is_one_run ? older : read_run(o.databases.back(), second);
  return {std::move(older), std::move(newer)};
}

// The allocator that has results: the name itself, or the one whose name begins so. Throws BadInput.
std::string allocator_in(const ComparedRun& side, const std::string& asked) {
  std::set<std::string> all, like;
  for (const ResultRow& r : side.rows) all.insert(r.configuration.allocator);
  for (const std::string& name : all)
    if (name.starts_with(asked)) like.insert(name);
  if (all.contains(asked)) return asked;
  if (like.size() == 1) return *like.begin();
  throw BadInput(fmt::format("error: {}: there are no results of {} in run {} (there are of {})", side.path, asked, side.run.id,
                             fmt::join(all, ", ")));
}

// Two that differ are compared with each other, others each with itself.
std::vector<ComparedAllocators> sections_of(const ComparedRuns& runs) {
  const auto has = [](const ComparedRun& side, const std::string& allocator) {
    return std::any_of(side.rows.begin(), side.rows.end(),
                       [&](const ResultRow& r) { return r.configuration.allocator == allocator; });
  };
  if (runs.is_one_run()) {
    if (runs.asked.size() != 2) throw BadInput("of one run two allocators are compared: --allocators briggs,fatpoint");
    return {{allocator_in(runs.older, runs.asked[0]), allocator_in(runs.newer, runs.asked[1])}};
  }
  std::set<std::string> names;
  for (const std::string& a : runs.asked) names.insert(allocator_in(runs.newer, a));
  if (runs.asked.empty())
    for (const ResultRow& r : runs.newer.rows) names.insert(r.configuration.allocator);
  std::vector<ComparedAllocators> sections;
  for (const std::string& name : names)
    if (has(runs.older, name) && has(runs.newer, name)) sections.push_back({name, name});
  if (sections.empty()) throw BadInput("error: no allocator has results on both sides (--allocators A,B compares two of one run)");
  return sections;
}

}  // namespace

void ComparedOptions::add_to(Arguments& a) {
  a.option("--runs", &runs, "Other runs: one for both databases, or OLD,NEW, as two runs of one database");
  a.option("--allocators", &allocators,
           "Only these, comma-separated, each with itself; of one run, OLD,NEW: two allocators with each other. The beginning "
           "of a name is enough");
  a.flag("--across-knobs", across_knobs, "Pair programs whose knobs differ: of two runs with another knob each");
}

std::string ComparedAllocators::title() const { return older == newer ? older : fmt::format("{} -> {}", older, newer); }

ComparedRuns read_compared_runs(const ComparedOptions& options) {
  if (options.databases.size() > 2)
    throw BadInput(fmt::format("expected one or two databases, found {}", options.databases.size()));
  ComparedRuns runs;
  for (const std::string& list : options.allocators)
    for (const std::string& item : duel::split_items(list)) runs.asked.push_back(duel::name_of_item(item));
  std::tie(runs.older, runs.newer) = read_both(options, runs.asked.size());
  runs.sections = sections_of(runs);
  return runs;
}

std::vector<results::Comparison> compare_sections(const ComparedRuns& runs, results::CompareOptions options) {
  std::vector<results::Comparison> comparisons;
  for (const ComparedAllocators& s : runs.sections) {
    options.older_allocator = s.older;
    options.newer_allocator = s.newer;
    comparisons.push_back(results::compare(runs.older.rows, runs.newer.rows, options));
  }
  results::adjust_together(comparisons);
  return comparisons;
}

}  // namespace regduel::cli
