// What somebody may have meant: the known word that is most like a misspelt one. Tested by suggestion_test.cpp.
#pragma once

#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::cli {

// The least number of letters to insert, drop, exchange or swap with their neighbour that makes one word of the other. Cost: O(n m).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of those with the least distance; "" where none is near: at most a third of the letters differ, and at most three.
[[nodiscard]] std::string most_like(std::string_view word, const std::vector<std::string>& known);

// " (did you mean \"regs\"?)", or "".
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::ranges::range auto& known) {
  std::vector<std::string> words;
  for (const auto& k : known) words.emplace_back(k);
  const std::string best = most_like(word, words);
  return best.empty() ? "" : " (did you mean \"" + best + "\"?)";
}

}  // namespace regduel::cli
