#include "reference/instruction/unit_set.h"

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

TEST(UnitSet, WordsGoBothWays) {
  const UnitSet s = UnitSet::range(60, 70) | UnitSet::range(500, 512);
  EXPECT_EQ(s.words()[0], 0xF000000000000000u);
  EXPECT_EQ(s.words()[1], 0x3Fu);
  EXPECT_EQ(UnitSet::of_words(s.words()), s);
  EXPECT_EQ(UnitSet::of_words(std::span(s.words()).first(2)), UnitSet::range(60, 70));
}

}  // namespace
}  // namespace regduel::reference
