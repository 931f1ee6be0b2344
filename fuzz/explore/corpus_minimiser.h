// The smallest corpus, nearly, that shows all that a larger one shows. Tested by corpus_minimiser_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel::fuzz {

struct CorpusItem {
  std::span<const std::uint32_t> features;
  std::uint64_t size = 0;  // the smaller the better
  bool is_pinned = false;  // kept even where it shows nothing of its own
};

// By item: whether it is kept. Together those that are kept show every feature that any shows; for each feature, one of the
// smallest inputs that show it is kept, unless a smaller cover is at hand. Deterministic. Cost: O(n log n + features).
[[nodiscard]] std::vector<bool> minimise_corpus(std::span<const CorpusItem> items);

// The indices of at most `most` items that together show as much as a greedy choice can: each in turn shows the most that none
// before it shows, the smaller of two that show as much; pinned ones first, all of them. Ends early when nothing more is shown.
// Cost: O(most x features).
[[nodiscard]] std::vector<std::size_t> select_most_covering(std::span<const CorpusItem> items, std::size_t most);

}  // namespace regduel::fuzz
