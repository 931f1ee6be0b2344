#include "allocator/program/interval.h"

#include <bit>

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

TEST(IntervalTest, IsHalfOpen) {
  constexpr Interval i{Point(4), Point(9)};
  EXPECT_FALSE(i.contains(Point(3)));
  EXPECT_TRUE(i.contains(Point(4)));
  EXPECT_TRUE(i.contains(Point(8)));
  EXPECT_FALSE(i.contains(Point(9)));
}

TEST(IntervalTest, OverlapsTouchesAndUnitesAsItsPointsDo) {
  constexpr std::uint32_t kMost = 6;
  for (Point a; a.value < kMost; a = a.next())
    for (Point b = a.next(); b.value <= kMost; b = b.next())
      for (Point c; c.value < kMost; c = c.next())
        for (Point d = c.next(); d.value <= kMost; d = d.next()) {
          const Interval x{a, b}, y{c, d};
          bool share = false, adjacent = false;
          std::uint32_t points = 0;
          for (Point p; p.value < kMost; p = p.next()) {
            share = share || (x.contains(p) && y.contains(p));
            adjacent = adjacent || (x.contains(p) && y.contains(p.next())) || (y.contains(p) && x.contains(p.next()));
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
  for (Point p; p.value < 7; p = p.next())
    if ((bits >> p.value & 1) != 0) range.append({p, p.next()});
  return range;
}

TEST(IntervalTest, RangesAreSetsOfPoints) {
  for (unsigned x = 0; x < 128; ++x) {
    const auto a = range_of(x);
    for (Point p; p.value < 8; p = p.next()) ASSERT_EQ(contains(a, p), (x >> p.value & 1) != 0) << x << " at " << p.value;
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
