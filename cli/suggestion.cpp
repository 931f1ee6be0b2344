// See suggestion.h. Source: the optimal string alignment distance (Damerau 1964; Boytsov, "Indexing methods for approximate dictionary
// searching", 2011).
#include "cli/suggestion.h"

#include <algorithm>

namespace regduel::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string most_like(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kMostLetters = 64;  // nobody misspells more
  if (word.size() > kMostLetters) return "";
  std::size_t least = std::min<std::size_t>(3, std::max<std::size_t>(1, word.size() / 3)) + 1;
  std::string best;
  for (const std::string& k : known)
    if (const std::size_t distance = edit_distance(word, k); distance < least) {
      least = distance;
      best = k;
    }
  return best;
}

}  // namespace regduel::cli
