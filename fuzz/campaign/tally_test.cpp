#include "fuzz/campaign/tally.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "duel/allocators.h"

namespace regduel::fuzz {
namespace {

using Weighted = std::optional<std::int64_t>;

// Two allocations that passed, with these weighted bytes.
duel::Duel duel_of(Weighted first, Weighted second) {
  duel::Duel d;
  for (std::size_t k = 0; k < 2; ++k) {
    duel::Bout b;
    b.allocator = duel::all_duelists()[k]->name();
    b.report.results = {{"structure", oracles::Verdict::Pass, "", {}}};
    b.program.emplace();
    b.measures.spill_store_bytes = 4;
    b.measures.weighted_spill_bytes = k == 0 ? first : second;
    d.bouts.push_back(std::move(b));
  }
  return d;
}

TEST(Tally, ASaturatedCaseIsInNoWeightedSumAndNoComparison) {
  Tally tally(duel::all_duelists());
  tally.add({}, duel_of(40, 50));
  tally.add({}, duel_of(std::nullopt, 7));
  tally.add({}, duel_of(std::nullopt, std::nullopt));
  EXPECT_EQ(tally.saturated(), 2u);
  EXPECT_EQ(tally.rows()[0].weighted_bytes, 40);
  EXPECT_EQ(tally.rows()[1].weighted_bytes, 50);
  EXPECT_EQ(tally.rows()[0].best, 1u);
  EXPECT_EQ(tally.rows()[0].worst, 0u);
  EXPECT_EQ(tally.rows()[1].best, 0u);
  EXPECT_EQ(tally.rows()[1].worst, 1u);
  EXPECT_EQ(tally.rows()[0].store_bytes, 12);  // what is not weighted is counted
  EXPECT_EQ(tally.json()["saturated"], 2u);

  Tally sum(duel::all_duelists());
  sum.add(tally);
  sum.add(tally);
  EXPECT_EQ(sum.saturated(), 4u);
  EXPECT_EQ(sum.rows()[1].weighted_bytes, 100);
}

TEST(Tally, ASumThatIsBeyondCountingStaysSo) {
  Tally tally(duel::all_duelists());
  tally.add({}, duel_of(INT64_MAX, 1));
  EXPECT_EQ(tally.json()["allocators"][0]["weighted_spill_bytes"], INT64_MAX);
  tally.add({}, duel_of(1, 1));
  tally.add({}, duel_of(0, 1));
  EXPECT_EQ(tally.saturated(), 0u);
  EXPECT_FALSE(tally.json().contains("saturated"));
  EXPECT_TRUE(tally.json()["allocators"][0]["weighted_spill_bytes"].is_null());
  EXPECT_EQ(tally.json()["allocators"][1]["weighted_spill_bytes"], 3);

  Tally sum(duel::all_duelists());
  sum.add(tally);
  EXPECT_FALSE(sum.rows()[0].weighted_bytes.has_value());
  EXPECT_EQ(sum.rows()[1].weighted_bytes, 3);
}

}  // namespace
}  // namespace regduel::fuzz
