// Word by word against unit by unit.

#include "allocator/unit_set.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::allocator {
namespace {

TEST(UnitSet, RangesAgreeWithUnitByUnit) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const int lo = random.between(0, ir::kMaxUnits - 1), hi = random.between(lo, ir::kMaxUnits);
    const UnitSet s = UnitSet::range(lo, hi);
    for (int u = 0; u < ir::kMaxUnits; ++u) ASSERT_EQ(s.has(u), u >= lo && u < hi);
    const int a = random.between(0, ir::kMaxUnits - 1), b = random.between(a, ir::kMaxUnits);
    ASSERT_EQ(s.has_any(a, b), std::max(a, lo) < std::min(b, hi));
    ASSERT_EQ(s.has_all(a, b), a == b || (a >= lo && b <= hi));
    ASSERT_EQ(s.count(), hi - lo);
    ASSERT_EQ(s.any(), lo < hi);
    ASSERT_EQ(s.none(), lo == hi);
    ASSERT_EQ(s.first(), lo < hi ? lo : ir::kMaxUnits);
    ASSERT_EQ(s.end(), lo < hi ? hi : 0);
    UnitSet cleared = s;
    cleared.clear_range(a, b);
    for (int u = 0; u < ir::kMaxUnits; ++u) ASSERT_EQ(cleared.has(u), s.has(u) && (u < a || u >= b));
  }
}

TEST(UnitSet, Algebra) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    UnitSet a, b;
    for (int k = 0; k < 200; ++k) {
      a.set(random.between(0, ir::kMaxUnits - 1));
      b.set(random.between(0, ir::kMaxUnits - 1));
    }
    for (int u = 0; u < ir::kMaxUnits; ++u) {
      ASSERT_EQ((a | b).has(u), a.has(u) || b.has(u));
      ASSERT_EQ((a & b).has(u), a.has(u) && b.has(u));
      ASSERT_EQ((a - b).has(u), a.has(u) && !b.has(u));
    }
    ASSERT_EQ((a | b) - b, a - b);
  }
}

// As far as a file has such units.
TEST(UnitSet, OfARegister) {
  const UnitSet s = units_of(ir::PReg{ir::RegFile::R, 4, 62});
  EXPECT_EQ(s, UnitSet::range(62, 66));
  EXPECT_EQ(units_of(ir::PReg{ir::RegFile::R, 4, ir::kMaxUnits - 1}).count(), 1);
}

}  // namespace
}  // namespace regduel::allocator
