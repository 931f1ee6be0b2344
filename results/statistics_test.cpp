#include "results/statistics.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "base/random.h"

namespace regduel::results {
namespace {

std::vector<FigurePair> pairs_of(std::initializer_list<std::int64_t> newer, std::int64_t older = 100) {
  std::vector<FigurePair> list;
  for (const std::int64_t n : newer) list.push_back({older, n});
  return list;
}

TEST(Statistics, ARatioAndItsInverseDifferInTheSign) {
  EXPECT_EQ(log_ratio(0, 16, 16), std::log(2.0));
  for (std::int64_t k = 0; k < 200; ++k) EXPECT_EQ(log_ratio(k, 7, 1), -log_ratio(7, k, 1)) << k;
  EXPECT_EQ(log_ratio(0, 0, 0), 0);
}

TEST(Statistics, NothingAndEqualPairsSayNothing) {
  for (const auto& list : {pairs_of({}), pairs_of({100, 100, 100})}) {
    const PairedStatistics s = compare_pairs(list, 0);
    EXPECT_EQ(s.pairs, list.size());
    EXPECT_EQ(s.more + s.fewer, 0u);
    EXPECT_EQ(s.ratio, 1);
    EXPECT_EQ(s.p, 1);
    EXPECT_EQ(s.effect, 0);
  }
}

TEST(Statistics, TheRatioIsAGeometricMean) {
  const PairedStatistics s = compare_pairs(pairs_of({200, 50, 100, 400}), 0);
  EXPECT_NEAR(s.ratio, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(s.more, 2u);
  EXPECT_EQ(s.fewer, 1u);
  EXPECT_LE(s.low, s.ratio);
  EXPECT_GE(s.high, s.ratio);
  EXPECT_NEAR(compare_pairs(std::vector<FigurePair>{{0, 16}}, 16).ratio, 2, 1e-12);
}

// Five differences of one sign: 2 of 32 patterns of signs are as extreme.
TEST(Statistics, SmallSamplesAreCounted) {
  EXPECT_NEAR(compare_pairs(pairs_of({101, 102, 103, 104, 105}), 0).p, 2.0 / 32, 1e-12);
  // Ranks 1, 2, 3, 4 and -5: W+ = 10 or W- = 5, 20 of 32 patterns (Wilcoxon's table: P(W <= 5) = 10 / 32).
  EXPECT_NEAR(compare_pairs(pairs_of({101, 102, 103, 104, 90}), 0).p, 20.0 / 32, 1e-12);
  // Two equal ones of opposite signs, ranks 1.5 and 1.5: nothing is more extreme.
  EXPECT_NEAR(compare_pairs(std::vector<FigurePair>{{100, 200}, {200, 100}}, 0).p, 1, 1e-12);
  EXPECT_EQ(compare_pairs(pairs_of({101, 102, 103, 104, 105}), 0).effect, 1);
  EXPECT_NEAR(compare_pairs(pairs_of({101, 102, 103, 104, 90}), 0).effect, (10.0 - 5) / 15, 1e-12);
}

// One pair more, and the normal distribution takes over: it says nearly the same.
TEST(Statistics, LargeSamplesAreNearlyNormal) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<FigurePair> list;
    for (std::size_t k = 0; k < kMostExact; ++k)
      list.push_back({1000, 1000 + random.between(1, 500) * (random.chance(60) ? 1 : -1)});
    const double exact = compare_pairs(list, 0).p;
    list.push_back({1000, 1001});
    EXPECT_NEAR(compare_pairs(list, 0).p, exact, 0.07);
  }
}

TEST(Statistics, TheIntervalHoldsTheRatioInNineteenOfTwentyCases) {
  Random random(3);
  int within = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<FigurePair> list;
    double truth = 0;
    for (int k = 0; k < 200; ++k) list.push_back({10'000, random.chance(70) ? 10'000 : random.between(8'000, 12'500)});
    for (int n = 8'000; n <= 12'500; ++n) truth += 0.3 * std::log(n / 10'000.0) / 4'501;
    const PairedStatistics s = compare_pairs(list, 0, random.next());
    within += s.low <= std::exp(truth) && std::exp(truth) <= s.high ? 1 : 0;
  }
  EXPECT_GE(within, kRounds * 92 / 100);
  EXPECT_LT(within, kRounds);
}

TEST(Statistics, HolmTakesTheNumberOfTestsIntoAccount) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> adjusted = holm(p);
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(adjusted[k], expected[k], 1e-12);
  EXPECT_EQ(holm(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

// Labels drawn by lot: of 400 comparisons of six measures, hardly more than one in twenty has a small adjusted p.
TEST(Statistics, ChanceAloneRaisesFewAlarms) {
  Random random(11);
  int alarms = 0;
  constexpr int kRounds = 400, kMeasures = 6;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<FigurePair>> measures(kMeasures);
    for (int k = 0; k < 300; ++k) {
      const bool swapped = random.chance(50);
      for (auto& m : measures) {
        const int a = random.chance(60) ? 100 : random.between(50, 200);
        m.push_back(swapped ? FigurePair{a, 100} : FigurePair{100, a});
      }
    }
    std::vector<double> p;
    for (const auto& m : measures) p.push_back(compare_pairs(m, 0).p);
    const std::vector<double> adjusted = holm(p);
    alarms += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05 ? 1 : 0;
  }
  EXPECT_LE(alarms, kRounds * 8 / 100) << "one in twenty is 20 of 400, give or take 4.4: more than 32 would be one case in 300";
}

}  // namespace
}  // namespace regduel::results
