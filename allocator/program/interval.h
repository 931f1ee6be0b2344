// Program points and intervals of them.
//
// Reachable instructions are numbered 0, 1, ... block after block in reverse postorder. Instruction i has three moments, each a
// point:
//
//      4i   R   guard and uses are read; early-clobber defs are destroyed
//      4i+1 C   clobbers happen
//      4i+2 W   defs are written            (4i+3: the gap to the next instruction)
//
// An interval is half-open [begin, end). A range is a list of sorted, disjoint intervals, no two of which touch.
// Tested by interval_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel::allocator {

using Point = std::uint32_t;

[[nodiscard]] constexpr Point read_point(std::uint32_t i) { return 4 * i; }
[[nodiscard]] constexpr Point clobber_point(std::uint32_t i) { return 4 * i + 1; }
[[nodiscard]] constexpr Point write_point(std::uint32_t i) { return 4 * i + 2; }

struct Interval {
  Point begin = 0;
  Point end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;

  [[nodiscard]] constexpr bool contains(Point p) const { return begin <= p && p < end; }
  [[nodiscard]] constexpr bool overlaps(const Interval& o) const { return begin < o.end && o.begin < end; }
  // True where the two share a point or one begins where the other ends.
  [[nodiscard]] constexpr bool touches(const Interval& o) const { return begin <= o.end && o.begin <= end; }
  // The least interval that holds both.
  [[nodiscard]] constexpr Interval unite(const Interval& o) const { return {std::min(begin, o.begin), std::max(end, o.end)}; }
};

// Ascending points, with a table that finds the first one from a given point on.
class PointIndex {
 public:
  // Requires: points are added in ascending order.
  void add(Point p) {
    table_.resize(std::max<std::size_t>(table_.size(), p / kStretch + 1), static_cast<std::uint32_t>(points_.size()));
    points_.push_back(p);
  }
  // How many points lie before p. Cost: O(points that are close before p).
  [[nodiscard]] std::size_t count_before(Point p) const {
    if (p / kStretch >= table_.size()) return points_.size();
    std::size_t at = table_[p / kStretch];
    while (at < points_.size() && points_[at] < p) ++at;
    return at;
  }
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] Point operator[](std::size_t k) const { return points_[k]; }

 private:
  static constexpr Point kStretch = 128;
  std::vector<Point> points_;
  std::vector<std::uint32_t> table_;  // by stretch of points: how many lie before it
};

// True where p is in one of the intervals. Cost: O(log intervals).
[[nodiscard]] bool contains(std::span<const Interval> range, Point p);
// True where the two ranges share a point. Cost: O(sum of their lengths from where both have begun).
[[nodiscard]] bool overlap(std::span<const Interval> a, std::span<const Interval> b);
// Adds the points of `more`. Cost: O(length of `more` + intervals of `range` from the begin of `more` on).
void unite(std::vector<Interval>& range, std::span<const Interval> more);

}  // namespace regduel::allocator
