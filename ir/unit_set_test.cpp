// Word by word against unit by unit.

#include "ir/unit_set.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::ir {
namespace {

TEST(UnitSet, RangesAgreeWithUnitByUnit) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const int lo = random.between(0, kMaxUnits - 1), hi = random.between(lo, kMaxUnits);
    const UnitSet s = UnitSet::range(lo, hi);
    for (int u = 0; u < kMaxUnits; ++u) ASSERT_EQ(s.has(u), u >= lo && u < hi);
    const int a = random.between(0, kMaxUnits - 1), b = random.between(a, kMaxUnits);
    ASSERT_EQ(s.has_any(a, b), std::max(a, lo) < std::min(b, hi));
    ASSERT_EQ(s.has_all(a, b), a == b || (a >= lo && b <= hi));
    ASSERT_EQ(s.count(), hi - lo);
    ASSERT_EQ(s.any(), lo < hi);
    ASSERT_EQ(s.none(), lo == hi);
    ASSERT_EQ(s.first(), lo < hi ? lo : -1);
    ASSERT_EQ(s.end(), lo < hi ? hi : 0);
    UnitSet cleared = s;
    cleared.clear_range(a, b);
    for (int u = 0; u < kMaxUnits; ++u) ASSERT_EQ(cleared.has(u), s.has(u) && (u < a || u >= b));
  }
}

TEST(UnitSet, Algebra) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    UnitSet a, b;
    for (int k = 0; k < 200; ++k) {
      a.set(random.between(0, kMaxUnits - 1));
      b.set(random.between(0, kMaxUnits - 1));
    }
    for (int u = 0; u < kMaxUnits; ++u) {
      ASSERT_EQ((a | b).has(u), a.has(u) || b.has(u));
      ASSERT_EQ((a & b).has(u), a.has(u) && b.has(u));
      ASSERT_EQ((a - b).has(u), a.has(u) && !b.has(u));
    }
    ASSERT_EQ((a | b) - b, a - b);
  }
}

// As far as a file has such units.
TEST(UnitSet, OfARegister) {
  const UnitSet s = units_of(PReg{RegFile::R, 4, 62});
  EXPECT_EQ(s, UnitSet::range(62, 66));
  EXPECT_EQ(units_of(PReg{RegFile::R, 4, kMaxUnits - 1}).count(), 1);
}

TEST(UnitSet, PositionsAgreeWithACountBitByBit) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    UnitSet s;
    for (int u = 0; u < kMaxUnits; ++u)
      if (random.chance(70)) s.set(u);
    const int units = random.between(1, 9), align_log2 = random.between(0, 8);
    const UnitSet positions = s.positions(units, align_log2);
    for (int u = 0; u < kMaxUnits; ++u) {
      bool fits = u % (1 << align_log2) == 0 && u + units <= kMaxUnits;
      for (int k = 0; fits && k < units; ++k) fits = s.has(u + k);
      ASSERT_EQ(positions.has(u), fits) << u;
    }
  }
}

TEST(UnitSet, NextFindsMembersInOrder) {
  UnitSet s;
  EXPECT_EQ(s.first(), -1);
  for (const int u : {0, 63, 64, 300, 511}) s.set(u);
  std::vector<int> found;
  s.for_each([&](int u) { found.push_back(u); });
  EXPECT_EQ(found, (std::vector<int>{0, 63, 64, 300, 511}));
  EXPECT_EQ(s.count(), 5);
  s.clear(63);
  EXPECT_EQ(s.next(1), 64);
}

TEST(UnitSet, WordsGoBothWays) {
  const UnitSet s = UnitSet::range(60, 70) | UnitSet::range(500, 512);
  EXPECT_EQ(s.words[0], 0xF000000000000000u);
  EXPECT_EQ(s.words[1], 0x3Fu);
  EXPECT_EQ(UnitSet::of_words(s.words), s);
  EXPECT_EQ(UnitSet::of_words(std::span(s.words).first(2)), UnitSet::range(60, 70));
}

}  // namespace
}  // namespace regduel::ir
