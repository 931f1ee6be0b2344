#include "fuzz/campaign/schedule.h"

#include <gtest/gtest.h>

#include "duel/allocators.h"

namespace regduel::fuzz {
namespace {

Tally tally_of(int cases) {
  Tally tally(duel::all_duelists());
  for (int k = 0; k < cases; ++k) tally.add(duel::derive_case(static_cast<std::uint64_t>(k), 5), duel::Duel{});
  return tally;
}

TEST(ScheduleTest, NumbersAreHandedOutOnceAndResultsTakenInTheirOrder) {
  Schedule schedule(100, 10, 8);
  Tally total(duel::all_duelists());
  const auto a = schedule.next_fresh(4), b = schedule.next_fresh(4);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->first, 100u);
  EXPECT_EQ(b->first, 104u);
  EXPECT_FALSE(schedule.next_fresh(4)) << "the window is full";
  schedule.finish(*b, tally_of(4), total);
  EXPECT_EQ(schedule.done(), 100u);
  EXPECT_EQ(total.cases(), 0u) << "what precedes them is not done";
  schedule.finish({100, 1}, std::nullopt, total);  // the worker died
  EXPECT_EQ(schedule.done(), 101u);
  schedule.hand_back({101, 3});
  const auto again = schedule.next_returned();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->first, 101u);
  EXPECT_EQ(again->count, 3u);
  EXPECT_FALSE(schedule.next_returned());
  schedule.finish(*again, tally_of(3), total);
  EXPECT_EQ(schedule.done(), 108u);
  EXPECT_EQ(total.cases(), 7u);
  const auto last = schedule.next_fresh(4);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->count, 2u) << "no more are left";
  EXPECT_FALSE(schedule.has_fresh());
}

TEST(ScheduleTest, NothingIsHandedBackOfAnEmptyRange) {
  Schedule schedule(0, 0, 8);
  schedule.hand_back({3, 0});
  EXPECT_FALSE(schedule.next_returned());
  EXPECT_EQ(schedule.next_one(), 0u);
  EXPECT_TRUE(schedule.has_fresh());
}

}  // namespace
}  // namespace regduel::fuzz
