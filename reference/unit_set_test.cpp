#include "reference/unit_set.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::reference {
namespace {

TEST(UnitSet, PositionsAgreeWithACountBitByBit) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    UnitSet s;
    for (int u = 0; u < ir::kMaxUnits; ++u)
      if (random.chance(70)) s.insert(u);
    const int units = random.between(1, 9), align_log2 = random.between(0, 8);
    const UnitSet positions = s.positions(units, align_log2);
    for (int u = 0; u < ir::kMaxUnits; ++u) {
      bool fits = u % (1 << align_log2) == 0 && u + units <= ir::kMaxUnits;
      for (int k = 0; fits && k < units; ++k) fits = s.contains(u + k);
      ASSERT_EQ(positions.contains(u), fits) << u;
    }
  }
}

TEST(UnitSet, NextFindsMembersInOrder) {
  UnitSet s;
  EXPECT_EQ(s.first(), -1);
  for (const int u : {0, 63, 64, 300, 511}) s.insert(u);
  std::vector<int> found;
  for (int u = s.first(); u >= 0; u = s.next(u + 1)) found.push_back(u);
  EXPECT_EQ(found, (std::vector<int>{0, 63, 64, 300, 511}));
  EXPECT_EQ(s.count(), 5);
  s.erase(63);
  EXPECT_EQ(s.next(1), 64);
}

TEST(UnitSet, RunsAreRanges) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    UnitRuns runs;
    UnitSet expected;
    for (int k = random.between(1, 5); k > 0; --k) {
      const int count = random.between(1, 64), first = random.between(0, ir::kMaxUnits - count);
      runs.insert(UnitRun(first, count));
      expected |= UnitSet::range(first, first + count);
    }
    runs.insert(UnitRun());
    ASSERT_EQ(runs.set(), expected);
  }
}

}  // namespace
}  // namespace regduel::reference
