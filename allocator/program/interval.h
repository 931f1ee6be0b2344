// Program points and intervals of them.
//
// Reachable instructions are numbered 0, 1, ... block after block in reverse postorder. Instruction i has three moments, each a
// point:
//
//      4i   R   guard and uses are read; early-clobber defs are destroyed
//      4i+1 C   clobbers happen
//      4i+2 W   defs are written            (4i+3: the gap to the next instruction)
//
// An interval is half-open [begin, end). A range is a list of sorted, disjoint intervals, no two of which touch; LiveRange owns one.
// Tested by interval_test.cpp.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel::allocator {

struct Point {
  std::uint32_t value = 0;

  constexpr Point() = default;
  constexpr explicit Point(std::uint32_t v) : value(v) {}
  friend constexpr auto operator<=>(Point, Point) = default;
  // How many points lie between the two. Requires end >= begin.
  friend constexpr std::uint32_t operator-(Point end, Point begin) { return end.value - begin.value; }

  // The number of its instruction, and 0 to 3 for its place there.
  [[nodiscard]] constexpr std::uint32_t inst() const { return value / 4; }
  [[nodiscard]] constexpr std::uint32_t moment() const { return value % 4; }
  [[nodiscard]] constexpr Point next() const { return Point(value + 1); }
};

[[nodiscard]] constexpr Point read_point(std::uint32_t i) { return Point(4 * i); }
[[nodiscard]] constexpr Point clobber_point(std::uint32_t i) { return Point(4 * i + 1); }
[[nodiscard]] constexpr Point write_point(std::uint32_t i) { return Point(4 * i + 2); }

struct Interval {
  Point begin;
  Point end;
  friend bool operator==(const Interval&, const Interval&) = default;

  [[nodiscard]] constexpr bool contains(Point p) const { return begin <= p && p < end; }
  [[nodiscard]] constexpr bool overlaps(const Interval& o) const { return begin < o.end && o.begin < end; }
  // True if the two share a point or one begins where the other ends.
  [[nodiscard]] constexpr bool touches(const Interval& o) const { return begin <= o.end && o.begin <= end; }
  // Requires that the interval is not empty.
  [[nodiscard]] constexpr Point last() const { return Point(end.value - 1); }
  // The least interval that holds both.
  [[nodiscard]] constexpr Interval unite(const Interval& o) const { return {std::min(begin, o.begin), std::max(end, o.end)}; }
};

// Row 2i is the R moment of instruction i, row 2i + 1 its W moment. An interval covers the rows [first_row, end_row).
[[nodiscard]] constexpr std::uint32_t row_from(Point p) { return (p.value + 1) / 2; }
[[nodiscard]] constexpr std::uint32_t first_row(const Interval& i) { return row_from(i.begin); }
[[nodiscard]] constexpr std::uint32_t end_row(const Interval& i) { return row_from(i.end); }

// Ascending points, with a table that finds the first one from a given point on.
class PointIndex {
 public:
  // Requires: points are added in ascending order.
  void add(Point p) {
    table_.resize(std::max<std::size_t>(table_.size(), p.value / kStretch + 1), static_cast<std::uint32_t>(points_.size()));
    points_.push_back(p);
  }
  // How many points lie before p. Cost: O(points that are close before p).
  [[nodiscard]] std::size_t count_before(Point p) const {
    if (p.value / kStretch >= table_.size()) return points_.size();
    std::size_t at = table_[p.value / kStretch];
    while (at < points_.size() && points_[at] < p) ++at;
    return at;
  }
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] Point operator[](std::size_t k) const { return points_[k]; }

 private:
  static constexpr std::uint32_t kStretch = 128;  // points
  std::vector<Point> points_;
  std::vector<std::uint32_t> table_;  // by stretch of points: how many lie before it
};

// True if p is in one of the intervals. Cost: O(log intervals).
[[nodiscard]] bool contains(std::span<const Interval> range, Point p);
// True if the two ranges share a point. Cost: O(sum of their lengths from where both have begun).
[[nodiscard]] bool overlap(std::span<const Interval> a, std::span<const Interval> b);
// How many points the two ranges share, and how many one has. Cost: O(their lengths).
[[nodiscard]] std::uint64_t num_shared_points(std::span<const Interval> a, std::span<const Interval> b);
[[nodiscard]] inline std::uint64_t num_points(std::span<const Interval> range) {
  std::uint64_t sum = 0;
  for (const Interval& i : range) sum += i.end - i.begin;
  return sum;
}

// A range that changes, and owns its intervals. Ranges of a program are spans of Liveness.
class LiveRange {
 public:
  LiveRange() = default;
  explicit LiveRange(std::span<const Interval> range) : intervals_(range.begin(), range.end()) { validate(); }

  friend bool operator==(const LiveRange&, const LiveRange&) = default;
  [[nodiscard]] auto begin() const { return intervals_.begin(); }
  [[nodiscard]] auto end() const { return intervals_.end(); }

  // Adds the points of an interval. Requires that it begins at or behind the begin of the last one.
  void append(const Interval& interval);
  // Adds the points of a range. Cost: O(length of `more` + intervals from its begin on).
  void merge(std::span<const Interval> more);
  // Removes the points of a range. Cost: O(both lengths).
  void subtract(std::span<const Interval> other);

 private:
  // In debug builds: sorted, disjoint, and no two intervals touch.
  void validate() const;

  std::vector<Interval> intervals_;
};

}  // namespace regduel::allocator
