// See corpus_minimiser.h. Pinned items first; then, smallest first, those that show something new; then, largest first, those that
// others have made needless goes again. Source: afl-cmin, and the greedy cover of Chvatal (1979).
#include "fuzz/explore/corpus_minimiser.h"

#include <algorithm>
#include <numeric>

namespace regduel::fuzz {

std::vector<bool> minimise_corpus(std::span<const CorpusItem> items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return items[a].is_pinned != items[b].is_pinned ? items[a].is_pinned : items[a].size < items[b].size;
  });
  std::vector<std::uint32_t> shown_by;  // by feature: how many of the kept
  std::vector<bool> kept(items.size(), false);
  const auto count = [&](std::size_t k, std::uint32_t by) {
    for (const std::uint32_t f : items[k].features) {
      if (f >= shown_by.size()) shown_by.resize(f + 1, 0);
      shown_by[f] += by;
    }
  };
  for (const std::size_t k : order) {
    const bool is_new = std::any_of(items[k].features.begin(), items[k].features.end(),
                                    [&](std::uint32_t f) { return f >= shown_by.size() || shown_by[f] == 0; });
    if (!items[k].is_pinned && !is_new) continue;
    kept[k] = true;
    count(k, 1);
  }
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    if (!kept[*k] || items[*k].is_pinned) continue;
    const auto features = items[*k].features;
    if (std::any_of(features.begin(), features.end(), [&](std::uint32_t f) { return shown_by[f] == 1; })) continue;
    kept[*k] = false;
    count(*k, ~0u);  // one less
  }
  return kept;
}

std::vector<std::size_t> select_most_covering(std::span<const CorpusItem> items, std::size_t most) {
  std::vector<bool> shown, taken(items.size(), false);
  const auto num_new = [&](std::size_t k) {
    return std::count_if(items[k].features.begin(), items[k].features.end(),
                         [&](std::uint32_t f) { return f >= shown.size() || !shown[f]; });
  };
  std::vector<std::size_t> chosen;
  const auto take = [&](std::size_t k) {
    for (const std::uint32_t f : items[k].features) {
      if (f >= shown.size()) shown.resize(f + 1, false);
      shown[f] = true;
    }
    taken[k] = true;
    chosen.push_back(k);
  };
  for (std::size_t k = 0; k < items.size(); ++k)
    if (items[k].is_pinned) take(k);
  while (chosen.size() < most) {
    std::size_t winner = items.size();
    std::ptrdiff_t shows = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (taken[k]) continue;
      const std::ptrdiff_t n = num_new(k);
      if (n > shows || (n == shows && n > 0 && items[k].size < items[winner].size)) {
        winner = k;
        shows = n;
      }
    }
    if (winner == items.size()) break;
    take(winner);
  }
  return chosen;
}

}  // namespace regduel::fuzz
