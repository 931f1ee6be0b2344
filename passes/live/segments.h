// Live ranges with values, for all coalescers: segments of a line of points, and in each the value that is there.
//
//   segment   half-open, [begin, end)
//   value     a number. Two ranges that hold one value at a point hold the same bytes there. A coalescer without values leaves each
//             of them 0
//
// Each coalescer defines its points and values: llvm/live_intervals.h, cssa/live_ranges.h, nvptx/intervals.h. Tested by
// segments_test.cpp against an array of points.
#pragma once

#include <cstdint>
#include <set>

namespace regduel::passes::live {

using Point = std::uint32_t;
using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = 0xFFFFFFFFu;

struct Segment {
  Point begin = 0, end = 0;
  ValueId value = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

// Disjoint segments in ascending order; two that touch hold different values. Queries cost O(log segments).
class Segments {
  struct ByBegin {
    using is_transparent = void;
    bool operator()(const Segment& a, const Segment& b) const { return a.begin < b.begin; }
    bool operator()(Point p, const Segment& s) const { return p < s.begin; }
  };
  using Tree = std::set<Segment, ByBegin>;

 public:
  using Iterator = Tree::const_iterator;

  [[nodiscard]] Iterator begin() const { return tree_.begin(); }
  [[nodiscard]] Iterator end() const { return tree_.end(); }
  [[nodiscard]] std::size_t size() const { return tree_.size(); }
  [[nodiscard]] bool empty() const { return tree_.empty(); }
  // Both require a segment.
  [[nodiscard]] const Segment& front() const { return *tree_.begin(); }
  [[nodiscard]] const Segment& back() const { return *tree_.rbegin(); }

  // The segment that contains the point, else the first behind it.
  [[nodiscard]] Iterator at_or_behind(Point p) const;
  [[nodiscard]] bool contains(Point p) const { return value_at(p) != kNoValue; }
  [[nodiscard]] ValueId value_at(Point p) const;

  // Fills the gaps of [begin, end) with the value; segments that are there stay. Cost: O(segments met x log segments).
  void add(Point begin, Point end, ValueId value = 0);
  void add(const Segments& other);
  void clear() { tree_.clear(); }

  friend bool operator==(const Segments&, const Segments&) = default;

 private:
  Tree tree_;
};

// Whether is_wanted is true for two segments, one of each range, that overlap. Their order as arguments is unspecified. The
// search stops at the first such pair. Cost: O(s log l + overlaps), where s and l are the sizes of the smaller and the larger
// range.
template <class IsWanted>
[[nodiscard]] bool any_overlap(const Segments& a, const Segments& b, IsWanted&& is_wanted) {
  const Segments &small = a.size() <= b.size() ? a : b, &large = a.size() <= b.size() ? b : a;
  for (const Segment& s : small)
    for (auto l = large.at_or_behind(s.begin); l != large.end() && l->begin < s.end; ++l)
      if (is_wanted(s, *l)) return true;
  return false;
}

}  // namespace regduel::passes::live
