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

// Row 2i is the R moment of instruction i, row 2i + 1 its W moment. An interval covers the rows [first_row, end_row).
[[nodiscard]] constexpr std::uint32_t first_row(const Interval& i) { return (i.begin + 1) / 2; }
[[nodiscard]] constexpr std::uint32_t end_row(const Interval& i) { return (i.end + 1) / 2; }

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
// How many points the two ranges share, and how many one has. Cost: O(their lengths).
[[nodiscard]] std::uint64_t num_shared_points(std::span<const Interval> a, std::span<const Interval> b);
[[nodiscard]] inline std::uint64_t num_points(std::span<const Interval> range) { return num_shared_points(range, range); }

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
