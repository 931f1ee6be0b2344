#include "passes/live/segments.h"

#include <algorithm>
#include <iterator>

namespace regduel::passes::live {

Segments::Iterator Segments::at_or_behind(Point p) const {
  const auto behind = tree_.upper_bound(p);
  return behind != begin() && std::prev(behind)->end > p ? std::prev(behind) : behind;
}

ValueId Segments::value_at(Point p) const {
  const auto at = at_or_behind(p);
  return at == end() || at->begin > p ? kNoValue : at->value;
}

void Segments::add(Point begin, Point end, ValueId value) {
  while (begin < end) {
    auto next = at_or_behind(begin);
    if (next != this->end() && next->begin <= begin) {
      begin = next->end;
      continue;
    }
    // A gap. Neighbours of the same value become one segment with what fills it.
    Segment gap = {begin, next == this->end() ? end : std::min(end, next->begin), value};
    begin = gap.end;
    if (next != this->end() && next->begin == gap.end && next->value == value) {
      gap.end = next->end;
      next = tree_.erase(next);
    }
    if (next != this->begin() && std::prev(next)->end == gap.begin && std::prev(next)->value == value) {
      gap.begin = std::prev(next)->begin;
      tree_.erase(std::prev(next));
    }
    tree_.insert(next, gap);
  }
}

void Segments::add(const Segments& other) {
  for (const Segment& s : other) add(s.begin, s.end, s.value);
}

}  // namespace regduel::passes::live
