#include "passes/cssa/congruence.h"

#include <algorithm>
#include <utility>

namespace regduel::passes::conventional {

Congruence::Congruence(std::span<const LiveRange> ranges) : up_(ranges.size()), intervals_(ranges.size()) {
  for (std::uint32_t n = 0; n < up_.size(); ++n) {
    up_[n] = n;
    for (const Interval& i : ranges[n]) intervals_[n].emplace_hint(intervals_[n].end(), i.begin, Held{i.end, i.value});
  }
}

std::uint32_t Congruence::class_of(std::uint32_t node) const {
  while (up_[node] != node) {
    up_[node] = up_[up_[node]];
    node = up_[node];
  }
  return node;
}

bool Congruence::interfere(std::uint32_t a, std::uint32_t b) const {
  const Intervals *small = &intervals_[class_of(a)], *large = &intervals_[class_of(b)];
  if (small->size() > large->size()) std::swap(small, large);
  for (const auto& [begin, held] : *small) {
    auto at = large->upper_bound(begin);
    if (at != large->begin() && std::prev(at)->second.end > begin) --at;
    for (; at != large->end() && at->first < held.end; ++at)
      if (at->second.value != held.value) return true;
  }
  return false;
}

void Congruence::merge(std::uint32_t a, std::uint32_t b) {
  a = class_of(a);
  b = class_of(b);
  const auto [first, other] = std::minmax(a, b);
  up_[other] = first;
  Intervals small = std::move(intervals_[other]), large = std::move(intervals_[first]);
  intervals_[other].clear();
  if (small.size() > large.size()) small.swap(large);
  for (const auto& [from, what] : small) {
    std::uint32_t begin = from;
    Held held = what;
    // What it overlaps holds the same value, and becomes one interval with it.
    auto at = large.upper_bound(begin);
    if (at != large.begin() && std::prev(at)->second.end > begin) --at;
    while (at != large.end() && at->first < held.end) {
      begin = std::min(begin, at->first);
      held.end = std::max(held.end, at->second.end);
      at = large.erase(at);
    }
    large.emplace_hint(at, begin, held);
  }
  intervals_[first] = std::move(large);
}

}  // namespace regduel::passes::conventional
