// Classes against the plainest thing that does the same: an array of points for each class.

#include "passes/cssa/congruence.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "ir/text/text.h"

namespace regduel::passes::conventional {
namespace {

constexpr std::uint32_t kPoints = 40, kNodes = 12;
using Points = std::array<std::uint32_t, kPoints>;  // the value that is there + 1, 0 = none

TEST(Congruence, ClassesInterfereWherePointsDo) {
  int interfered = 0, merged = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<live::Segments> ranges(kNodes);
    std::vector<Points> points(kNodes, Points{});
    for (std::uint32_t n = 0; n < kNodes; ++n)
      for (std::uint32_t at = random.below(8); at < kPoints; at += 1 + random.below(20)) {
        const std::uint32_t end = std::min(kPoints, at + 1 + random.below(6)), value = random.below(3);
        ranges[n].add(at, end, value);
        for (; at < end; ++at) points[n][at] = value + 1;
      }
    Congruence classes(ranges);
    std::vector<std::uint32_t> plain(kNodes);
    for (std::uint32_t n = 0; n < kNodes; ++n) plain[n] = n;
    for (int step = 0; step < 40; ++step) {
      const std::uint32_t a = random.below(kNodes), b = random.below(kNodes);
      ASSERT_EQ(classes.class_of(a) == classes.class_of(b), plain[a] == plain[b]);
      if (plain[a] == plain[b]) continue;
      Points &x = points[plain[a]], &y = points[plain[b]];
      bool differ = false;
      for (std::uint32_t p = 0; p < kPoints; ++p) differ = differ || (x[p] != 0 && y[p] != 0 && x[p] != y[p]);
      ASSERT_EQ(classes.interfere(a, b), differ) << seed;
      ++(differ ? interfered : merged);
      if (differ) continue;
      classes.merge(a, b);
      const std::uint32_t first = std::min(plain[a], plain[b]), other = std::max(plain[a], plain[b]);
      for (std::uint32_t p = 0; p < kPoints; ++p) points[first][p] = std::max(points[first][p], points[other][p]);
      for (std::uint32_t& c : plain) c = c == other ? first : c;
      ASSERT_EQ(classes.class_of(b), first);
    }
  }
  EXPECT_GT(interfered, 1000);
  EXPECT_GT(merged, 1000);
}

}  // namespace
}  // namespace regduel::passes::conventional
