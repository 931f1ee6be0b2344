// See explorer.h.
#include "fuzz/explorer.h"

#include <utility>

#include "fuzz/mutator.h"

namespace regduel::fuzz {

const FuzzInput& Explorer::parent() {
  const auto size = static_cast<std::uint32_t>(corpus_.size());
  // Half of the time among the latest eighth; of two, the smaller.
  const auto draw = [&] { return random_.chance(50) ? size - 1 - random_.below((size + 7) / 8) : random_.below(size); };
  const std::uint32_t a = draw(), b = draw();
  return corpus_[corpus_[a].program.insts.size() <= corpus_[b].program.insts.size() ? a : b];
}

FuzzInput Explorer::next() {
  if (!seeds_.empty()) {
    FuzzInput seed = std::move(seeds_.back());
    seeds_.pop_back();
    return seed;
  }
  constexpr std::size_t kFewest = 4;  // before that there is nothing to breed from
  if (corpus_.size() < kFewest || random_.chance(options_.percent_new)) return derive_input(random_.next());
  FuzzInput child = random_.chance(options_.percent_cross) ? cross(parent(), parent(), random_.next()) : parent();
  for (int round = random_.chance(30) ? random_.between(2, 5) : 1; round > 0; --round) mutate(child, random_.next());
  return child.program.insts.size() <= options_.most_instructions ? child : derive_input(random_.next());
}

bool Explorer::learn(const FuzzInput& input, const std::vector<std::uint32_t>& features) {
  if (features_.add(features) == 0) return false;
  corpus_.push_back(input);
  return true;
}

}  // namespace regduel::fuzz
