// See statistics.h.
#include "results/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/normal.hpp>

#include "base/random.h"

namespace regduel::results {
namespace {

// Ranks of |d| from 1, doubled so that mean ranks are whole numbers, in ascending order of |d|; and the correction for ties.
struct Ranks {
  std::vector<std::int64_t> doubled;
  std::vector<bool> is_more;
  double tie_correction = 0;  // sum of t^3 - t over groups of t equal ones
};

Ranks rank(std::vector<double> d) {
  std::sort(d.begin(), d.end(), [](double a, double b) {
    const double x = std::abs(a), y = std::abs(b);
    return x != y ? x < y : a < b;
  });
  Ranks r;
  for (std::size_t begin = 0, end = 0; begin < d.size(); begin = end) {
    while (end < d.size() && std::abs(d[end]) == std::abs(d[begin])) ++end;
    const double t = static_cast<double>(end - begin);
    r.tie_correction += t * t * t - t;
    for (std::size_t k = begin; k < end; ++k) {
      r.doubled.push_back(static_cast<std::int64_t>(begin + 1 + end));
      r.is_more.push_back(d[k] > 0);
    }
  }
  return r;
}

// P(W+ is as far from its mean as it is, or farther), each sign being as likely as the other: by counting sign patterns.
double exact_p(const Ranks& r, std::int64_t more) {
  const std::int64_t all = std::accumulate(r.doubled.begin(), r.doubled.end(), std::int64_t{0});
  std::vector<double> share(static_cast<std::size_t>(all) + 1, 0);  // by the doubled sum of positive ranks
  share[0] = 1;
  std::int64_t reached = 0;
  for (const std::int64_t rank : r.doubled) {
    reached += rank;
    for (std::int64_t s = reached; s >= 0; --s)
      share[static_cast<std::size_t>(s)] =
          (share[static_cast<std::size_t>(s)] + (s >= rank ? share[static_cast<std::size_t>(s - rank)] : 0)) / 2;
  }
  const std::int64_t away = std::abs(2 * more - all);
  double p = 0;
  for (std::int64_t s = 0; s <= all; ++s)
    if (std::abs(2 * s - all) >= away) p += share[static_cast<std::size_t>(s)];
  return std::min(p, 1.0);
}

double normal_p(const Ranks& r, double more) {
  const auto n = static_cast<double>(r.doubled.size());
  const double mean = n * (n + 1) / 4, variance = n * (n + 1) * (2 * n + 1) / 24 - r.tie_correction / 48;
  const double away = std::max(0.0, std::abs(more - mean) - 0.5);
  if (variance <= 0) return 1;
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), away / std::sqrt(variance))));
}

// The 2.5th and the 97.5th percentile of the means of resamples.
std::pair<double, double> bootstrap(const std::vector<double>& d, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> means;
  for (int k = 0; k < kResamples; ++k) {
    double sum = 0;
    for (std::size_t n = 0; n < d.size(); ++n) sum += d[random.below(static_cast<std::uint32_t>(d.size()))];
    means.push_back(sum / static_cast<double>(d.size()));
  }
  std::sort(means.begin(), means.end());
  const auto tail = static_cast<std::size_t>(kResamples / 40);
  return {means[tail], means[means.size() - 1 - tail]};
}

}  // namespace

double log_ratio(std::int64_t older, std::int64_t newer, double offset) {
  if (older == newer) return 0;
  // Of the larger to the smaller: rounding is the same in both directions.
  const double a = static_cast<double>(older) + offset, b = static_cast<double>(newer) + offset;
  return b > a ? std::log(b / a) : -std::log(a / b);
}

PairedStatistics compare_pairs(std::span<const FigurePair> pairs, double offset, std::uint64_t seed) {
  PairedStatistics s;
  s.pairs = pairs.size();
  std::vector<double> all, unequal;
  for (const FigurePair& p : pairs) {
    const double d = log_ratio(p.older, p.newer, offset);
    all.push_back(d);
    if (d != 0) unequal.push_back(d);
    s.more += d > 0 ? 1 : 0;
    s.fewer += d < 0 ? 1 : 0;
  }
  if (unequal.empty()) return s;
  s.ratio = std::exp(std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()));
  const auto [low, high] = bootstrap(all, seed);
  s.low = std::exp(low);
  s.high = std::exp(high);
  const Ranks ranks = rank(std::move(unequal));
  std::int64_t more = 0, sum = 0;  // doubled
  for (std::size_t k = 0; k < ranks.doubled.size(); ++k) {
    sum += ranks.doubled[k];
    more += ranks.is_more[k] ? ranks.doubled[k] : 0;
  }
  s.p = ranks.doubled.size() <= kMostExact ? exact_p(ranks, more) : normal_p(ranks, static_cast<double>(more) / 2);
  s.effect = static_cast<double>(2 * more - sum) / static_cast<double>(sum);
  return s;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    least = std::max(least, std::min(1.0, static_cast<double>(order.size() - k) * p[order[k]]));
    adjusted[order[k]] = least;
  }
  return adjusted;
}

}  // namespace regduel::results
