// Random choices from lists.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"

namespace regduel::fuzz {

// One element; nothing where there is none.
template <class T>
[[nodiscard]] std::optional<T> pick(const std::vector<T>& list, Random& random) {
  if (list.empty()) return std::nullopt;
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random.below(static_cast<std::uint32_t>(k))]);
}

}  // namespace regduel::fuzz
