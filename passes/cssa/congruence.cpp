#include "passes/cssa/congruence.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace regduel::passes::conventional {

Congruence::Congruence(std::span<const live::Segments> ranges) : up_(ranges.size()), ranges_(ranges.begin(), ranges.end()) {
  std::iota(up_.begin(), up_.end(), 0u);
}

std::uint32_t Congruence::class_of(std::uint32_t node) const {
  while (up_[node] != node) {
    up_[node] = up_[up_[node]];
    node = up_[node];
  }
  return node;
}

bool Congruence::interfere(std::uint32_t a, std::uint32_t b) const {
  return live::any_overlap(ranges_[class_of(a)], ranges_[class_of(b)],
                           [](const live::Segment& x, const live::Segment& y) { return x.value != y.value; });
}

void Congruence::merge(std::uint32_t a, std::uint32_t b) {
  a = class_of(a);
  b = class_of(b);
  const auto [first, other] = std::minmax(a, b);
  up_[other] = first;
  live::Segments& large = ranges_[first];
  live::Segments small = std::exchange(ranges_[other], {});
  if (small.size() > large.size()) std::swap(small, large);
  large.add(small);
}

}  // namespace regduel::passes::conventional
