#include "passes/rewriting/dominators.h"

#include <utility>

#include "base/grouped.h"

namespace regduel::passes {

using ir::BlockId;

Dominators::Dominators(const ir::Cfg& cfg)
    : cfg_(cfg), parent_(cfg.num_blocks()), first_(cfg.num_blocks(), 1), last_(cfg.num_blocks(), 0) {
  const auto order = cfg.reverse_postorder();
  if (order.empty()) return;
  parent_[order[0].index()] = order[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : order.subspan(1)) {
      BlockId best;
      for (const BlockId p : cfg.predecessors(b)) {
        if (!cfg.is_reachable(p) || !parent_[p.index()].is_valid()) continue;
        best = best.is_valid() ? common(best, p) : p;
      }
      changed = changed || parent_[b.index()] != best;
      parent_[b.index()] = best;
    }
  }
  const Grouped<BlockId> children(cfg.num_blocks(), [&](auto add) {
    for (const BlockId b : order.subspan(1)) add(parent_[b.index()].index(), b);
  });
  std::uint32_t time = 0;
  std::vector<std::pair<BlockId, std::size_t>> open = {{order[0], 0}};  // and the next child
  first_[order[0].index()] = ++time;
  while (!open.empty()) {
    auto& [b, next] = open.back();
    if (next == children[b.index()].size()) {
      last_[b.index()] = ++time;
      open.pop_back();
      continue;
    }
    const BlockId child = children[b.index()][next++];
    first_[child.index()] = ++time;
    open.emplace_back(child, 0);
  }
}

BlockId Dominators::common(BlockId a, BlockId b) const {
  while (a != b) {
    while (cfg_.rpo_index(a) > cfg_.rpo_index(b)) a = parent_[a.index()];
    while (cfg_.rpo_index(b) > cfg_.rpo_index(a)) b = parent_[b.index()];
  }
  return a;
}

}  // namespace regduel::passes
