// Segments against the plainest thing that does the same: the value at each point.

#include "passes/live/segments.h"

#include <array>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::passes::live {
namespace {

constexpr Point kPoints = 40;
using Plain = std::array<ValueId, kPoints>;

// Adds a few ranges to both.
void fill(Random& random, Segments& segments, Plain& plain) {
  plain.fill(kNoValue);
  for (int k = 0; k < 8; ++k) {
    const Point begin = random.below(kPoints), end = std::min(kPoints, begin + random.below(12));
    const ValueId value = random.below(3);
    segments.add(begin, end, value);
    for (Point p = begin; p < end; ++p)
      if (plain[p] == kNoValue) plain[p] = value;
  }
}

void expect_same(const Segments& segments, const Plain& plain) {
  for (Point p = 0; p < kPoints; ++p) {
    ASSERT_EQ(segments.value_at(p), plain[p]);
    ASSERT_EQ(segments.contains(p), plain[p] != kNoValue);
  }
  std::size_t runs = 0;
  for (Point p = 0; p < kPoints; ++p) runs += plain[p] != kNoValue && (p == 0 || plain[p] != plain[p - 1]);
  ASSERT_EQ(segments.size(), runs) << "neighbours of one value are one segment";
}

TEST(Segments, HoldAtEachPointWhatCameFirst) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Segments a, b;
    Plain of_a, of_b;
    fill(random, a, of_a);
    fill(random, b, of_b);
    expect_same(a, of_a);
    bool overlap = false, differ = false;
    for (Point p = 0; p < kPoints; ++p) {
      const bool both = of_a[p] != kNoValue && of_b[p] != kNoValue;
      overlap = overlap || both;
      differ = differ || (both && of_a[p] != of_b[p]);
      if (of_a[p] == kNoValue) of_a[p] = of_b[p];
    }
    EXPECT_EQ(any_overlap(a, b, [](const Segment&, const Segment&) { return true; }), overlap) << seed;
    EXPECT_EQ(any_overlap(a, b, [](const Segment& x, const Segment& y) { return x.value != y.value; }), differ) << seed;
    a.add(b);
    expect_same(a, of_a);
  }
}

TEST(Segments, OfNoPointAddNothing) {
  Segments s;
  s.add(3, 3);
  s.add(5, 2);
  EXPECT_TRUE(s.empty());
  EXPECT_EQ(s.at_or_behind(0), s.end());
}

}  // namespace
}  // namespace regduel::passes::live
