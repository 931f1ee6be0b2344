// The difference of two series of paired figures: by how much, how sure, how consistently. Of each pair (old, new) counts
// d = log_ratio(old, new), so that programs of all sizes weigh alike.
//
//   ratio        exp(mean d): the geometric mean of the ratios; 1.01 = one percent more
//   interval     of the ratio, 95%: percentiles of kResamples bootstrap resamples of the pairs (Efron 1979), drawn by a fixed PRNG
//   p            of Wilcoxon's signed-rank test (1945), two-sided, pairs with d = 0 left out, ties by mean ranks: exact (of the
//                distribution given the ranks) up to kMostExact pairs, beyond that by the normal distribution with the correction
//                for ties and for continuity
//   effect       matched-pairs rank-biserial correlation (Kerby 2014): (W+ - W-) / (W+ + W-), from -1 (all fewer) to 1 (all more)
//   holm()       p-values of several tests at once, adjusted so that by chance alone one of them is below alpha in at most alpha of
//                all cases (Holm 1979)
//
// Tested by statistics_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regduel::results {

struct FigurePair {
  std::int64_t older = 0, newer = 0;  // at least 0
};

// ln((newer + offset) / (older + offset)); exchanging the two changes the sign alone. With an offset (16 for bytes, say) a figure
// that was 0 can be compared. Requires: both figures plus the offset above 0, or the figures equal.
[[nodiscard]] double log_ratio(std::int64_t older, std::int64_t newer, double offset);

struct PairedStatistics {
  std::size_t pairs = 0, more = 0, fewer = 0;  // of all pairs those whose newer figure is larger, is smaller
  double ratio = 1, low = 1, high = 1;
  double p = 1;
  double effect = 0;
};

inline constexpr int kResamples = 1000;
inline constexpr std::size_t kMostExact = 50;

//   offset   at least 0; above 0 where a figure may be 0
// Cost: O(n log n + kResamples x n); nothing is resampled where all pairs are equal.
[[nodiscard]] PairedStatistics compare_pairs(std::span<const FigurePair> pairs, double offset, std::uint64_t seed = 1);

// In the order given. Requires: each from 0 to 1.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace regduel::results
