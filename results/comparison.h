// Two sets of results held against each other, program by program: is the newer one better, where, by how much, and how sure is
// that?
//
//   pairs     rows of one program (by hash) under one configuration; where two allocators of one run are compared, under
//             configurations that differ in the allocator and its knobs alone
//   verdicts  of pairs of which one passed and the other did not: no figure counts there
//   measures  over pairs that both passed: statistics.h, with the p-values adjusted for the number of measures (Holm)
//   unpaired  rows that one side alone has: those whose name the other side has with another hash are another input, not another
//             allocation
//
// Tested by results_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/measure.h"
#include "results/results.h"
#include "results/statistics.h"

namespace regduel::results {

struct VerdictChange {
  const ResultRow* older;
  const ResultRow* newer;
};

struct MeasureComparison {
  const Measure* measure;
  PairedStatistics statistics;
  double adjusted_p = 1;
  std::int64_t older_sum = 0, newer_sum = 0;
};

// One pair by how much a measure changed.
struct Change {
  const ResultRow* older;
  const ResultRow* newer;
  std::int64_t older_figure = 0, newer_figure = 0;
  double log_ratio = 0;
};

struct Comparison {
  std::size_t pairs = 0, passed = 0;                                // of the pairs: both passed
  std::vector<std::pair<const ResultRow*, const ResultRow*>> both;  // those: older, newer
  std::vector<VerdictChange> verdicts;
  std::vector<MeasureComparison> measures;     // those with is_compared, and those asked for, in their order
  std::size_t only_older = 0, only_newer = 0;  // rows
  std::size_t changed_inputs = 0;              // of only_newer: there is one of that name and configuration, with another hash
  std::size_t changed_knobs = 0;               // of only_newer: there is one that differs in its knobs alone
  // By the measure asked for: the largest increases, the largest decreases.
  std::vector<Change> worst, best;
};

struct CompareOptions {
  const Measure* by = nullptr;  // of worst and best; null = weighted_spill_bytes
  std::size_t most = 10;
  // Of the rows those of this allocator alone; "" = all. Two that differ: configurations are paired without allocators and knobs.
  std::string older_allocator = {}, newer_allocator = {};
  // Besides those with is_compared.
  std::vector<const Measure*> also = {};
  bool across_knobs = false;  // pair rows whose configurations differ in their knobs
};

// By how much a measure of a pair changed; nothing where one side has no figure.
[[nodiscard]] std::optional<Change> change_of(const Measure& measure, const ResultRow& older, const ResultRow& newer);

// Those of the pairs that both passed whose measure rose most, and fell most; at most `most` of each, the largest change first.
struct Changes {
  std::vector<Change> worst, best;
};
[[nodiscard]] Changes most_changed(const Comparison& comparison, const Measure& measure, std::size_t most);

// The p-value below which a change is called significant.
inline constexpr double kAlpha = 0.05;

// The results hold pointers into both lists. Cost: O(n log n), and that of the statistics.
[[nodiscard]] Comparison compare(const std::vector<ResultRow>& older, const std::vector<ResultRow>& newer,
                                 const CompareOptions& options = {});

// The p-values of all of them adjusted together: by chance alone, one of all these measures is below alpha in at most alpha of all
// cases.
void adjust_together(std::vector<Comparison>& comparisons);

}  // namespace regduel::results
