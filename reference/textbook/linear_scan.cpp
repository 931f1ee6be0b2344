#include "reference/textbook/linear_scan.h"

#include <algorithm>

namespace regduel::reference {
namespace {

class SecondChance final : public SplitPolicy {
 public:
  // As it was at the end of the predecessor that was walked last.
  std::vector<std::pair<TempId, int>> enter(const Walk& walk, std::uint32_t block) override {
    std::vector<std::pair<TempId, int>> there;
    order_.resize(walk.code().blocks.size(), 0);
    order_[block] = ++entered_;
    std::uint32_t last = block;
    for (const std::uint32_t p : walk.code().predecessors[block])
      if (walk.was_walked(p) && (last == block || order_[p] > order_[last])) last = p;
    if (block == 0 || last == block) return there;
    for (const TempId t : walk.live_in(block))
      if (const Where w = walk.at_end(last, t); w.unit >= 0) there.emplace_back(t, w.unit);
    return there;
  }

  int choose(const Walk& walk, TempId t, const UnitSet& positions) override {
    const Temp& temp = walk.code().temps[t];
    const std::uint64_t wanted = walk.distance(t);
    int best = -1;
    std::uint64_t best_hole = 0;
    positions.for_each([&](int u) {
      const std::uint64_t hole = walk.hole(temp.file, u, temp.units);
      const bool is_better = best_hole < wanted ? hole > best_hole : hole >= wanted && hole < best_hole;
      if (best >= 0 && !is_better) return;
      best = u;
      best_hole = hole;
    });
    return best;
  }

  std::uint64_t cost(const Walk& walk, TempId t) override {
    const std::uint64_t frequency = std::min<std::uint64_t>(walk.next_frequency(t), std::uint64_t{1} << 20);
    return (frequency << 20) / std::max<std::uint64_t>(1, walk.distance(t));
  }

 private:
  std::vector<std::uint32_t> order_;  // by block
  std::uint32_t entered_ = 0;
};

}  // namespace

ir::Allocation allocate_by_linear_scan(const Problem& problem, ir::Fuel* fuel) {
  SecondChance policy;
  return allocate_by_splitting(problem, policy, fuel);
}

}  // namespace regduel::reference
