#include "allocator/program/interval.h"

#include <bit>

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

TEST(IntervalTest, IsHalfOpen) {
  constexpr Interval i{4, 9};
  EXPECT_FALSE(i.contains(3));
  EXPECT_TRUE(i.contains(4));
  EXPECT_TRUE(i.contains(8));
  EXPECT_FALSE(i.contains(9));
}

TEST(IntervalTest, OverlapsTouchesAndUnitesAsItsPointsDo) {
  constexpr Point kMost = 6;
  for (Point a = 0; a < kMost; ++a)
    for (Point b = a + 1; b <= kMost; ++b)
      for (Point c = 0; c < kMost; ++c)
        for (Point d = c + 1; d <= kMost; ++d) {
          const Interval x{a, b}, y{c, d};
          bool share = false, adjacent = false;
          Point points = 0;
          for (Point p = 0; p < kMost; ++p) {
            share = share || (x.contains(p) && y.contains(p));
            adjacent = adjacent || (x.contains(p) && y.contains(p + 1)) || (y.contains(p) && x.contains(p + 1));
            const Interval both = x.unite(y);
            EXPECT_TRUE(both.contains(p) || !(x.contains(p) || y.contains(p)));
            points += both.contains(p) ? 1 : 0;
          }
          EXPECT_EQ(x.overlaps(y), share);
          EXPECT_EQ(x.touches(y), share || adjacent);
          EXPECT_EQ(points, std::max(b, d) - std::min(a, c));
        }
}

// Every range over seven points as a set of bits: runs of ones are its intervals.
LiveRange range_of(unsigned bits) {
  LiveRange range;
  for (Point p = 0; p < 7; ++p) {
    if ((bits >> p & 1) != 0) range.append({p, p + 1});
  }
  return range;
}

TEST(IntervalTest, RangesAreSetsOfPoints) {
  for (unsigned x = 0; x < 128; ++x) {
    const auto a = range_of(x);
    for (Point p = 0; p < 8; ++p) ASSERT_EQ(contains(a, p), (x >> p & 1) != 0) << x << " at " << p;
    for (unsigned y = 0; y < 128; ++y) {
      ASSERT_EQ(overlap(a, range_of(y)), (x & y) != 0) << x << " and " << y;
      ASSERT_EQ(num_shared_points(a, range_of(y)), static_cast<std::uint64_t>(std::popcount(x & y))) << x << " and " << y;
      LiveRange both = a, rest = a;
      both.merge(range_of(y));
      ASSERT_EQ(both, range_of(x | y)) << x << " and " << y;
      rest.subtract(range_of(y));
      ASSERT_EQ(rest, range_of(x & ~y)) << x << " and " << y;
    }
  }
}

}  // namespace
}  // namespace regduel::allocator
