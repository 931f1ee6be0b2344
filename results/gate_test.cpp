#include "results/gate.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/random.h"

namespace regduel::results {
namespace {

ResultRow row(int program, std::int64_t bytes) {
  ResultRow r{fmt::format("{:04}", program), "f", "here", {"a", "", "sm_90", "R=8"}, "pass", "", {}};
  for (const Measure& m : measures())
    r.figures.push_back(m.name == "weighted_spill_bytes" ? std::optional(bytes) : std::optional<std::int64_t>(7));
  return r;
}

struct Rows {
  std::vector<ResultRow> older, newer;
  void add(std::int64_t a, std::int64_t b) {
    older.push_back(row(static_cast<int>(older.size()), a));
    newer.push_back(row(static_cast<int>(newer.size()), b));
  }
};

GateJudgement judged(const Rows& rows, const std::string& text = "weighted_spill_bytes>1%", double alpha = kAlpha) {
  const Comparison c = compare(rows.older, rows.newer);
  const std::vector<Gate> gates = {*parse_gate(text)};
  return judge(gates, std::span(&c, 1), alpha).at(0);
}

// All pairs are three times worse: each number of pairs fails, those that a test cannot decide because of that.
TEST(Gates, ARegressionOfAFewPairsPassesNoGate) {
  for (int pairs = 1; pairs <= 12; ++pairs) {
    Rows rows;
    for (int k = 0; k < pairs; ++k) rows.add(1000 + k, 3000 + 5 * k);
    const GateJudgement j = judged(rows);
    EXPECT_EQ(j.verdict, pairs < 5 ? GateVerdict::TooFew : GateVerdict::Exceeded) << pairs;
    EXPECT_EQ(j.needed, 5u);
    if (pairs >= 5) {
      EXPECT_NEAR(j.adjusted_p, std::pow(0.5, pairs), 1e-12);
    }
  }
}

TEST(Gates, TheLevelIsWhatIsAskedFor) {
  Rows rows;
  for (int k = 0; k < 8; ++k) rows.add(1000 + k, 3000 + 5 * k);
  EXPECT_EQ(judged(rows, "weighted_spill_bytes>1%", 0.001).verdict, GateVerdict::TooFew);
  EXPECT_EQ(judged(rows, "weighted_spill_bytes>1%", 0.001).needed, 10u);
  EXPECT_EQ(judged(rows, "weighted_spill_bytes>1%", 0.004).verdict, GateVerdict::Exceeded);
}

TEST(Gates, ImprovementsAndSmallChangesAreKept) {
  Rows better, small, same;
  for (int k = 0; k < 8; ++k) {
    better.add(3000, 1000 + k);
    small.add(100'000, 100'100 + k);
    same.add(5, 5);
  }
  for (const Rows* rows : {&better, &small, &same}) EXPECT_EQ(judged(*rows).verdict, GateVerdict::Kept);
  EXPECT_EQ(judged(better, "weighted_spill_bytes<1%").verdict, GateVerdict::Exceeded) << "it asks the other way";
}

// Three programs in a hundred carry the mean beyond the bound: the test has three signs to go by.
TEST(Gates, AFewChangedPairsOfManyAreTooFew) {
  Rows rows;
  for (int k = 0; k < 100; ++k) rows.add(1000, k < 3 ? 9000 : 1000);
  const GateJudgement j = judged(rows);
  EXPECT_EQ(j.verdict, GateVerdict::TooFew);
  EXPECT_EQ(j.pairs, 100u);
  EXPECT_EQ(j.changed, 3u);
}

// Holm's factor is the number of gates, and not that of measures.
TEST(Gates, GatesAreAdjustedTogether) {
  Rows rows;
  for (int k = 0; k < 5; ++k) rows.add(1000 + k, 3000 + 5 * k);
  const std::vector<Comparison> c = {compare(rows.older, rows.newer)};
  const std::vector<Gate> gates = {*parse_gate("weighted_spill_bytes>1%"), *parse_gate("registers>1%")};
  const std::vector<GateJudgement> two = judge(gates, c);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].verdict, GateVerdict::TooFew);
  EXPECT_EQ(two[0].needed, 6u);
  EXPECT_NEAR(two[0].adjusted_p, 2.0 / 32, 1e-12);
}

TEST(Gates, OneProgramIsEnoughForTheWorst) {
  Rows rows;
  for (int k = 0; k < 100; ++k) rows.add(1000, k == 40 ? 1300 : k == 41 ? 1210 : 1000);
  const Comparison c = compare(rows.older, rows.newer);
  const std::vector<Change> found = beyond(*parse_gate("weighted_spill_bytes>20%"), c);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].newer_figure, 1300);
  EXPECT_EQ(found[1].newer_figure, 1210);
  EXPECT_TRUE(beyond(*parse_gate("weighted_spill_bytes>30%"), c).empty());
  EXPECT_TRUE(beyond(*parse_gate("weighted_spill_bytes<1%"), c).empty());
}

// Which run is called the newer one is drawn by lot for each program, whose measures rise or fall together, as bytes of stores and of
// refills do: of 200 comparisons at most one in twenty is an alarm.
TEST(Gates, LabelsThatMeanNothingRaiseFewAlarms) {
  std::vector<Gate> gates;
  for (const Measure& m : measures())
    if (m.is_compared) gates.push_back(*parse_gate(fmt::format("{}>1%", m.name)));
  Random random(5);
  int alarms = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    Rows rows;
    for (int k = 0; k < 100; ++k) {
      rows.add(0, 0);
      const bool is_swapped = random.chance(50), is_more = random.chance(66);
      for (std::size_t m = 0; m < measures().size(); ++m) {
        const int a = random.chance(60) ? 1000 : is_more ? random.between(1001, 2000) : random.between(500, 999);
        rows.older.back().figures[m] = is_swapped ? a : 1000;
        rows.newer.back().figures[m] = is_swapped ? 1000 : a;
      }
    }
    const Comparison c = compare(rows.older, rows.newer);
    bool is_alarm = false;
    for (const GateJudgement& j : judge(gates, std::span(&c, 1))) is_alarm = is_alarm || j.verdict != GateVerdict::Kept;
    alarms += is_alarm ? 1 : 0;
  }
  EXPECT_LE(alarms, kRounds * 5 / 100);
}

TEST(Gates, TheShareOfPairsIsOfTheLargerSide) {
  Rows rows;
  for (int k = 0; k < 40; ++k) rows.add(5, 5);
  rows.newer.resize(5);
  EXPECT_NEAR(paired_share(compare(rows.older, rows.newer)), 5.0 / 40, 1e-12);
  EXPECT_NEAR(paired_share(compare(rows.newer, rows.older)), 5.0 / 40, 1e-12);
  EXPECT_EQ(paired_share(compare({}, {})), 0);
}

TEST(Gates, AreRead) {
  EXPECT_EQ(parse_gate("registers<2.5%")->share, 0.025);
  EXPECT_FALSE(parse_gate("registers<2.5%")->is_increase);
  for (const char* const text : {"registers", "nothing>1%", "registers>1", "registers>-1%", "registers>nan%", "registers>=1%"})
    EXPECT_FALSE(parse_gate(text)) << text;
  EXPECT_EQ(parse_percentage("90%"), 0.9);
  for (const char* const text : {"90", "101%", "-1%", "%", "x"}) EXPECT_FALSE(parse_percentage(text)) << text;
}

}  // namespace
}  // namespace regduel::results
