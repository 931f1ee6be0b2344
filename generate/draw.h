// Draws from a list that the files of this folder share. Each takes exactly the random numbers that its comment names, because a
// program has to be the same from every build.
#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"

namespace regduel::generate {

// In [0, n), n >= 1. One number.
[[nodiscard]] inline int below(Random& random, int n) { return static_cast<int>(random.below(static_cast<std::uint32_t>(n))); }

// An element of a list that is not empty. One number.
template <class List>
[[nodiscard]] const auto& any_of(Random& random, const List& list) {
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}

// An index, as often as its weight says. At least one weight is above 0. One number.
template <std::size_t kCount>
[[nodiscard]] std::size_t any_weighted(Random& random, const std::array<int, kCount>& weights) {
  int sum = 0;
  for (const int w : weights) sum += w;
  int rest = below(random, sum);
  std::size_t k = 0;
  while (rest >= weights[k]) rest -= weights[k++];
  return k;
}

}  // namespace regduel::generate
