// See interval.h.

#include "allocator/program/interval.h"

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

void unite(std::vector<Interval>& range, std::span<const Interval> more) {
  if (more.empty()) return;
  // What lies before all of `more`, and what lies behind it, stays as it is.
  const auto first = std::ranges::lower_bound(range, more.front().begin, {}, &Interval::end);
  const auto last = std::ranges::upper_bound(first, range.end(), more.back().end, {}, &Interval::begin);
  std::vector<Interval> united(static_cast<std::size_t>(last - first) + more.size());
  std::merge(first, last, more.begin(), more.end(), united.begin(),
             [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  std::size_t kept = 0;
  for (const Interval& i : united) {
    if (kept > 0 && united[kept - 1].touches(i)) united[kept - 1] = united[kept - 1].unite(i);
    else united[kept++] = i;
  }
  united.resize(kept);
  range.insert(range.erase(first, last), united.begin(), united.end());
}

}  // namespace regduel::allocator
