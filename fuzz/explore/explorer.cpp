// See explorer.h.
#include "fuzz/explore/explorer.h"

#include <algorithm>
#include <utility>

#include "duel/allocators.h"
#include "fuzz/edit/mutator.h"
#include "fuzz/explore/callees.h"
#include "generate/generator.h"

namespace regduel::fuzz {

ExplorerOptions campaign_exploration(std::uint64_t seed) {
  ExplorerOptions options;
  options.seed = seed;
  options.knobs = {{"briggs-fewest-units", "0"}};
  return options;
}

void Explorer::change_knobs_of(std::span<const ir::Allocator* const> duelists) {
  const std::vector<const ir::Allocator*> known = duel::knob_owners();
  for (const ir::Allocator* a : duelists)
    if (std::ranges::find(known, a) == known.end()) owners_.push_back(a);
}

const duel::Case& Explorer::parent() {
  const auto size = static_cast<std::uint32_t>(corpus_.size());
  // Half of the time among the latest eighth; of two, the smaller.
  const auto draw = [&] { return random_.chance(50) ? size - 1 - random_.below((size + 7) / 8) : random_.below(size); };
  const std::uint32_t a = draw(), b = draw();
  return corpus_[corpus_[a].program.insts.size() <= corpus_[b].program.insts.size() ? a : b];
}

duel::Case Explorer::next() {
  if (!seeds_.empty()) {
    duel::Case seed = std::move(seeds_.back());
    seeds_.pop_back();
    return seed;
  }
  duel::Case input = breed();
  if (!owners_.empty() && random_.chance(30)) change_knob(input, owners_, random_);
  for (const auto& knob : options_.knobs) {
    std::erase_if(input.knobs, [&](const auto& k) { return k.first == knob.first; });
    input.knobs.push_back(knob);
  }
  return input;
}

duel::Case Explorer::breed() {
  constexpr std::size_t kFewest = 4;  // before that there is nothing to breed from
  if (corpus_.size() < kFewest || random_.chance(options_.percent_new)) {
    duel::Case input = duel::derive_case(random_.next());
    if (random_.chance(options_.percent_files)) give_callees(input, random_.next());
    return input;
  }
  duel::Case child = random_.chance(options_.percent_cross) ? cross(parent(), parent(), random_.next()) : parent();
  for (int round = random_.chance(30) ? random_.between(2, 5) : 1; round > 0; --round) mutate(child, random_.next());
  if (child.program.insts.size() > options_.most_instructions) return duel::derive_case(random_.next());
  if (!random_.chance(options_.percent_impossible)) make_possible(child);
  return child;
}

void Explorer::make_possible(duel::Case& input) {
  const ir::PerFile<int> bound = generate::demand_bound(input.program, *input.target);
  const auto set = [&](std::size_t k, int limit) { input.limits.units[k] = std::min(limit, input.target->units[k]); };
  for (std::size_t k = 0; k < bound.size(); ++k) set(k, std::max(input.limits.units[k], bound[k]));
  if (!random_.chance(options_.percent_tight)) return;
  const std::size_t k = random_.chance(60) ? ir::index(ir::RegFile::R) : random_.below(static_cast<std::uint32_t>(bound.size()));
  if (bound[k] > 0) set(k, bound[k] + random_.between(0, 2));
}

bool Explorer::learn(const duel::Case& input, const std::vector<std::uint32_t>& features) {
  if (features_.add(features) == 0) return false;
  corpus_.push_back(input);
  return true;
}

}  // namespace regduel::fuzz
