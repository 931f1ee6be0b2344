// The candidate tables: one against a map, the three of them, the test for hard conflicts.

#include "allocator/classic/candidates.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::allocator {
namespace {

using ir::VRegId;

TEST(CandidateTable, DoesWhatAMapDoes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::uint32_t keys = 1u << random.below(12);
    CandidateTable<int> table;
    std::map<std::uint32_t, int> model;
    std::vector<std::uint32_t> order;
    const int steps = random.between(0, 600);
    for (int k = 0; k < steps; ++k) {
      const std::uint32_t key = random.below(keys);
      const bool is_new = model.insert({key, k}).second;
      if (is_new) order.push_back(key);
      ASSERT_EQ(table.insert(key, k), is_new);
      const std::uint32_t other = random.below(keys);
      const auto there = model.find(other);
      const int* found = table.find(other);
      ASSERT_EQ(found != nullptr, there != model.end());
      if (found != nullptr) {
        ASSERT_EQ(*found, there->second);
      }
    }
    ASSERT_EQ(table.size(), model.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      ASSERT_EQ(table.entries()[k].key, order[k]);
      ASSERT_EQ(*table.find(order[k]), model[order[k]]);
    }
  }
}

TEST(CandidateTable, IsEmptyAtFirst) {
  const CandidateTable<int> table;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

TEST(Candidates, KeepTheirFirstDecision) {
  Candidates c;
  EXPECT_TRUE(c.propose(VRegId(3), {1, 0}));
  EXPECT_FALSE(c.propose(VRegId(3), {2, 1}));
  EXPECT_EQ(c.candidates().find(3)->priority, 1);
  EXPECT_EQ(c.home_of(VRegId(3)), std::nullopt);
  c.decide(VRegId(3), 8);
  EXPECT_EQ(c.home_of(VRegId(3)), 8);
  c.propose(VRegId(4), {});
  c.overflow(VRegId(4), 17);
  EXPECT_EQ(c.home_of(VRegId(4)), std::nullopt);
  EXPECT_EQ(*c.overflow().find(4), 17u);
}

TEST(Candidates, OfAClassAreThoseOfItsFirstMemberThatHasOne) {
  Candidates c;
  c.decide(VRegId(5), 6);
  c.decide(VRegId(7), 2);
  const VRegId members[] = {VRegId(1), VRegId(5), VRegId(7)}, others[] = {VRegId(1), VRegId(2)};
  EXPECT_EQ(c.home_of(members), 6);
  EXPECT_EQ(c.home_of(others), std::nullopt);
}

TEST(MayTake, AsksForAlignmentLimitReservedUnitsAndConflicts) {
  const Geometry pair{.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  UnitSet conflicts, reserved;
  EXPECT_TRUE(may_take(4, pair, conflicts, reserved, 6));
  EXPECT_FALSE(may_take(4, pair, conflicts, reserved, 5));
  EXPECT_FALSE(may_take(3, pair, conflicts, reserved, 6));
  reserved.set(5);
  EXPECT_FALSE(may_take(4, pair, conflicts, reserved, 6));
  EXPECT_TRUE(may_take(2, pair, conflicts, reserved, 6));
  conflicts.set(3);
  EXPECT_FALSE(may_take(2, pair, conflicts, reserved, 6)) << "the second unit counts";
  EXPECT_TRUE(may_take(0, pair, conflicts, reserved, 6));
  conflicts.set(0);
  EXPECT_FALSE(may_take(0, pair, conflicts, reserved, 6));
}

}  // namespace
}  // namespace regduel::allocator
