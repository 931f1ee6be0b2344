// See interval.h.

#include "allocator/program/interval.h"

#include <utility>

#include "base/check_macro.h"

namespace regduel::allocator {
namespace {

// The first interval that does not end before p or at it.
std::span<const Interval>::iterator first_after(std::span<const Interval> range, Point p) {
  return std::upper_bound(range.begin(), range.end(), p, [](Point q, const Interval& i) { return q < i.end; });
}

}  // namespace

bool contains(std::span<const Interval> range, Point p) {
  const auto it = first_after(range, p);
  return it != range.end() && it->contains(p);
}

bool overlap(std::span<const Interval> a, std::span<const Interval> b) {
  if (a.empty() || b.empty() || !Interval{a.front().begin, a.back().end}.overlaps({b.front().begin, b.back().end})) return false;
  auto i = a.begin(), j = b.begin();
  if (i->begin < j->begin) i = first_after(a, j->begin);
  else j = first_after(b, i->begin);
  while (i != a.end() && j != b.end()) {
    if (i->overlaps(*j)) return true;
    if (i->end <= j->end) ++i;
    else ++j;
  }
  return false;
}

std::uint64_t num_shared_points(std::span<const Interval> a, std::span<const Interval> b) {
  std::uint64_t sum = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Point begin = std::max(x->begin, y->begin), end = std::min(x->end, y->end);
    if (begin < end) sum += end - begin;
    if (x->end < y->end) ++x;
    else ++y;
  }
  return sum;
}

void LiveRange::validate() const {
#ifndef NDEBUG
  for (std::size_t k = 0; k < intervals_.size(); ++k)
    REGDUEL_CHECK(intervals_[k].begin < intervals_[k].end && (k == 0 || intervals_[k - 1].end < intervals_[k].begin),
                  "a live range that is not sorted and disjoint");
#endif
}

void LiveRange::append(const Interval& interval) {
  if (!intervals_.empty() && intervals_.back().touches(interval)) intervals_.back() = intervals_.back().unite(interval);
  else intervals_.push_back(interval);
}

void LiveRange::merge(std::span<const Interval> more) {
  if (more.empty()) return;
  std::vector<Interval>& range = intervals_;
  // Intervals before and behind all of `more` stay as they are.
  const auto first = std::ranges::lower_bound(range, more.front().begin, {}, &Interval::end);
  const auto last = std::ranges::upper_bound(first, range.end(), more.back().end, {}, &Interval::begin);
  const std::ptrdiff_t begin = first - range.begin(), end = last - range.begin();
  range.insert(last, more.begin(), more.end());
  // Merges both lists from behind; then touching intervals become one.
  auto from = range.begin() + end;
  auto to = from + std::ssize(more);
  const auto behind = to;
  for (auto next = more.rbegin(); next != more.rend();)
    *--to = from != range.begin() + begin && (from - 1)->begin > next->begin ? *--from : *next++;
  auto kept = range.begin() + begin;
  for (auto i = kept + 1; i != behind; ++i) {
    if (kept->touches(*i)) *kept = kept->unite(*i);
    else *++kept = *i;
  }
  range.erase(kept + 1, behind);
  validate();
}

void LiveRange::subtract(std::span<const Interval> other) {
  std::vector<Interval> rest;
  auto next = other.begin();
  for (const Interval& i : intervals_) {
    Point begin = i.begin;
    while (next != other.end() && next->end <= begin) ++next;
    for (auto o = next; o != other.end() && o->begin < i.end; ++o) {
      if (begin < o->begin) rest.push_back({begin, o->begin});
      begin = o->end;
    }
    if (begin < i.end) rest.push_back({begin, i.end});
  }
  intervals_ = std::move(rest);
  validate();
}

}  // namespace regduel::allocator
