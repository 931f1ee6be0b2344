// See comparison.h.
#include "fuzz/lab/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace regduel::fuzz {
namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;  // hash, then the configuration

class Matching {
 public:
  Matching(const std::vector<ResultRow>& older, const std::vector<ResultRow>& newer, const CompareOptions& options)
      : across_(!options.older_allocator.empty() && !options.newer_allocator.empty()) {
    for (const ResultRow& row : older)
      if (is_of(row, options.older_allocator)) older_.emplace(key_of(row), &row);
    for (const ResultRow& row : newer)
      if (is_of(row, options.newer_allocator)) newer_.emplace(key_of(row), &row);
  }

  template <class Visit>
  void each_pair(const Visit& visit) const {
    for (const auto& [key, row] : older_)
      if (const auto it = newer_.find(key); it != newer_.end()) visit(*row, *it->second);
  }
  void count_unpaired(Comparison& c) const {
    std::set<std::pair<std::string, Configuration>> names;
    for (const auto& [key, row] : older_) {
      if (newer_.contains(key)) continue;
      ++c.only_older;
      names.emplace(row->name, row->configuration);
    }
    for (const auto& [key, row] : newer_) {
      if (older_.contains(key)) continue;
      ++c.only_newer;
      c.changed_inputs += names.contains({row->name, row->configuration}) ? 1 : 0;
    }
  }

 private:
  static bool is_of(const ResultRow& row, const std::string& allocator) {
    return allocator.empty() || row.configuration.allocator == allocator;
  }
  [[nodiscard]] Key key_of(const ResultRow& row) const {
    const Configuration& c = row.configuration;
    return {row.hash, across_ ? "" : c.allocator, across_ ? "" : c.knobs, c.target, c.limits};
  }

  bool across_;
  std::map<Key, const ResultRow*> older_, newer_;
};

void keep_largest(std::vector<Change>& list, std::size_t most, double sign) {
  std::stable_sort(list.begin(), list.end(),
                   [&](const Change& a, const Change& b) { return sign * a.log_ratio > sign * b.log_ratio; });
  std::erase_if(list, [&](const Change& c) { return sign * c.log_ratio <= 0; });
  list.resize(std::min(list.size(), most));
}

}  // namespace

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
    for (std::size_t m = 0; m < figures.size(); ++m) {
      if (!a.figures[m] || !b.figures[m]) continue;
      figures[m].push_back({*a.figures[m], *b.figures[m]});
      if (&measures()[m] != by || *a.figures[m] == *b.figures[m]) continue;
      const double ratio = (static_cast<double>(*b.figures[m]) + by->offset) / (static_cast<double>(*a.figures[m]) + by->offset);
      c.worst.push_back({&a, &b, *a.figures[m], *b.figures[m], std::log(ratio)});
    }
  });
  c.best = c.worst;
  keep_largest(c.worst, options.most, 1);
  keep_largest(c.best, options.most, -1);
  std::vector<double> p;
  for (std::size_t m = 0; m < figures.size(); ++m) {
    if (!measures()[m].is_compared) continue;
    MeasureComparison one{&measures()[m], compare_pairs(figures[m], measures()[m].offset, m + 1)};
    for (const FigurePair& f : figures[m]) {
      one.older_sum += f.older;
      one.newer_sum += f.newer;
    }
    p.push_back(one.statistics.p);
    c.measures.push_back(one);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t m = 0; m < adjusted.size(); ++m) c.measures[m].adjusted_p = adjusted[m];
  return c;
}

}  // namespace regduel::fuzz
