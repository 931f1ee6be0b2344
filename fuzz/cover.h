// The smallest corpus, nearly, that shows all that a larger one shows. Tested by cover_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regduel::fuzz {

struct CoverItem {
  std::span<const std::uint32_t> features;
  std::uint64_t size = 0;  // the smaller the better
  bool is_pinned = false;  // kept whatever it shows
};

// By item: whether it is kept. Together those that are kept show every feature that any shows; for each feature, one of the smallest
// inputs that show it is kept, unless a smaller cover is at hand. Deterministic. Cost: O(n log n + features).
[[nodiscard]] std::vector<bool> cover(std::span<const CoverItem> items);

}  // namespace regduel::fuzz
