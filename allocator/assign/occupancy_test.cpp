// Word-wise and stretch-wise marking against bit by bit.

#include "allocator/assign/occupancy.h"

#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::allocator {
namespace {

TEST(Occupancy, AgreesWithBitByBit) {
  constexpr std::uint32_t kInsts = 300;
  for (const int units : {40, 200}) {
    Random random(static_cast<std::uint64_t>(units));
    Occupancy occupancy(kInsts);
    std::set<std::pair<Point, int>> taken;  // (point, unit), points with a row only
    std::vector<std::pair<Point, int>> clobbers;
    for (std::uint32_t i = 10; i < kInsts; i += 97) {
      UnitSet c;
      c.set(static_cast<int>(i) % units);
      occupancy.add_clobber(i, c);
      clobbers.emplace_back(clobber_point(i), static_cast<int>(i) % units);
    }
    struct Held {
      std::vector<Interval> range;
      int lo, hi;
    };
    std::vector<Held> held;
    const auto draw = [&] {
      std::vector<Interval> range;
      std::uint32_t at = random.below(4 * kInsts);
      while (at < 4 * kInsts && range.size() < 4) {
        const std::uint32_t end = std::min(4 * kInsts, at + 1 + random.below(random.chance(30) ? 700 : 20));
        range.push_back({Point(at), Point(end)});
        at = end + 1 + random.below(50);
      }
      return range;
    };
    for (int round = 0; round < 400; ++round) {
      const auto range = draw();
      const UnitSet conflicts = occupancy.conflicts(range);
      for (int u = 0; u < units; ++u) {
        bool expected = false;
        for (const Interval& i : range) {
          for (Point p = i.begin; p < i.end && !expected; p = p.next()) expected = taken.contains({p, u});
          for (const auto& [p, c] : clobbers) expected = expected || (c == u && p >= i.begin && p < i.end);
        }
        ASSERT_EQ(conflicts.has(u), expected) << "unit " << u;
      }
      const int lo = random.between(0, units - 4), hi = lo + random.between(1, 4);
      bool free = true;
      for (const Interval& i : range)
        for (Point p = i.begin; p < i.end; p = p.next())
          for (int u = lo; u < hi; ++u) free = free && !taken.contains({p, u});
      const auto set = [&](const Held& h, bool on) {
        for (const Interval& i : h.range)
          for (Point p = i.begin; p < i.end; p = p.next())
            for (int u = h.lo; u < h.hi && p.value % 2 == 0; ++u) on ? void(taken.insert({p, u})) : void(taken.erase({p, u}));
      };
      if (free) {
        held.push_back({range, lo, hi});
        occupancy.mark(range, lo, hi);
        set(held.back(), true);
      } else if (!held.empty() && random.chance(50)) {
        const std::size_t k = random.below(static_cast<std::uint32_t>(held.size()));
        occupancy.unmark(held[k].range, held[k].lo, held[k].hi);
        set(held[k], false);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
  }
}

}  // namespace
}  // namespace regduel::allocator
