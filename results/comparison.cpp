// See comparison.h.
#include "results/comparison.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/random.h"

namespace regduel::results {
namespace {

// The seed of a measure's bootstrap depends on its name alone, so that an interval stays as it is when measures are added.
std::uint64_t seed_of(const Measure& measure) {
  std::uint64_t seed = 0;
  for (const char c : measure.name) seed = hash_combine(seed, static_cast<unsigned char>(c));
  return seed;
}

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;  // hash, then the configuration

class Matching {
 public:
  Matching(const std::vector<ResultRow>& older, const std::vector<ResultRow>& newer, const CompareOptions& options)

      : across_allocators_(options.older_allocator != options.newer_allocator) {
    for (const ResultRow& row : older)
      if (is_of(row, options.older_allocator)) older_.emplace(key_of(row, options.across_knobs), &row);
    for (const ResultRow& row : newer)
      if (is_of(row, options.newer_allocator)) newer_.emplace(key_of(row, options.across_knobs), &row);
  }

  template <class Visit>
  void each_pair(const Visit& visit) const {
    for (const auto& [key, row] : older_)
      if (const auto it = newer_.find(key); it != newer_.end()) visit(*row, *it->second);
  }
  void count_unpaired(Comparison& c) const {
    std::set<std::pair<std::string, Configuration>> names;
    std::set<Key> without_knobs;
    for (const auto& [key, row] : older_) {
      if (newer_.contains(key)) continue;
      ++c.only_older;
      names.emplace(row->name, row->configuration);
      without_knobs.insert(key_of(*row, true));
    }
    for (const auto& [key, row] : newer_) {
      if (older_.contains(key)) continue;
      ++c.only_newer;
      c.changed_inputs += names.contains({row->name, row->configuration}) ? 1 : 0;
      c.changed_knobs += without_knobs.contains(key_of(*row, true)) ? 1 : 0;
    }
  }

 private:
  static bool is_of(const ResultRow& row, const std::string& allocator) {
    return allocator.empty() || row.configuration.allocator == allocator;
  }
  [[nodiscard]] Key key_of(const ResultRow& row, bool across_knobs) const {
    const Configuration& c = row.configuration;
    return {row.hash, across_allocators_ ? "" : c.allocator, across_knobs || across_allocators_ ? "" : c.knobs, c.target, c.limits};
  }

  bool across_allocators_;
  std::map<Key, const ResultRow*> older_, newer_;
};

void keep_largest(std::vector<Change>& list, std::size_t most, double sign) {
  std::stable_sort(list.begin(), list.end(),
                   [&](const Change& a, const Change& b) { return sign * a.log_ratio > sign * b.log_ratio; });
  std::erase_if(list, [&](const Change& c) { return sign * c.log_ratio <= 0; });
  list.resize(std::min(list.size(), most));
}

void adjust(std::span<Comparison> comparisons) {
  std::vector<double> p;
  for (const Comparison& c : comparisons)
    for (const MeasureComparison& m : c.measures) p.push_back(m.statistics.p);
  const std::vector<double> adjusted = holm(p);
  std::size_t at = 0;
  for (Comparison& c : comparisons)
    for (MeasureComparison& m : c.measures) m.adjusted_p = adjusted[at++];
}

}  // namespace

std::optional<Change> change_of(const Measure& measure, const ResultRow& older, const ResultRow& newer) {
  const auto m = static_cast<std::size_t>(&measure - measures().data());
  if (!older.figures[m] || !newer.figures[m]) return std::nullopt;
  return Change{&older, &newer, *older.figures[m], *newer.figures[m],
                log_ratio(*older.figures[m], *newer.figures[m], measure.offset)};
}

Changes most_changed(const Comparison& comparison, const Measure& measure, std::size_t most) {
  Changes c;
  for (const auto& [older, newer] : comparison.both)
    if (const auto change = change_of(measure, *older, *newer); change && change->log_ratio != 0) c.worst.push_back(*change);
  c.best = c.worst;
  keep_largest(c.worst, most, 1);
  keep_largest(c.best, most, -1);
  return c;
}

Comparison compare(const std::vector<ResultRow>& older, const std::vector<ResultRow>& newer, const CompareOptions& options) {
  Comparison c;
  const Matching matching(older, newer, options);
  matching.count_unpaired(c);
  const Measure* const by = options.by != nullptr ? options.by : find_measure("weighted_spill_bytes");
  std::vector<std::vector<FigurePair>> figures(measures().size());
  matching.each_pair([&](const ResultRow& a, const ResultRow& b) {
    ++c.pairs;
    if (a.verdict != b.verdict) c.verdicts.push_back({&a, &b});
    if (a.verdict != "pass" || b.verdict != "pass") return;
    ++c.passed;
    c.both.emplace_back(&a, &b);
    for (std::size_t m = 0; m < figures.size(); ++m) {
      if (!a.figures[m] || !b.figures[m]) continue;
      figures[m].push_back({*a.figures[m], *b.figures[m]});
    }
  });
  auto [worst, best] = most_changed(c, *by, options.most);
  c.worst = std::move(worst);
  c.best = std::move(best);
  for (std::size_t m = 0; m < figures.size(); ++m) {
    const Measure& measure = measures()[m];
    if (!measure.is_compared && std::find(options.also.begin(), options.also.end(), &measure) == options.also.end()) continue;
    MeasureComparison one{&measure, compare_pairs(figures[m], measure.offset, seed_of(measure))};
    for (const FigurePair& f : figures[m]) {
      one.older_sum += f.older;
      one.newer_sum += f.newer;
    }
    c.measures.push_back(one);
  }
  adjust(std::span(&c, 1));
  return c;
}

void adjust_together(std::vector<Comparison>& comparisons) { adjust(comparisons); }

}  // namespace regduel::results
