#include "passes/loop_depth.h"

#include <cstddef>

namespace regduel::passes {
namespace {

using ir::BlockId;

// By position in reverse postorder.
std::vector<int> immediate_dominators(const ir::Cfg& cfg) {
  const auto order = cfg.reverse_postorder();
  std::vector<int> idom(order.size(), -1);
  if (idom.empty()) return idom;
  idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int n = 1; n < static_cast<int>(order.size()); ++n) {
      int meet = -1;
      for (const BlockId p : cfg.predecessors(order[static_cast<std::size_t>(n)])) {
        int a = cfg.rpo_index(p);
        if (a < 0 || idom[static_cast<std::size_t>(a)] < 0) continue;
        for (int b = meet; b >= 0 && a != b;)
          if (a > b) a = idom[static_cast<std::size_t>(a)];
          else b = idom[static_cast<std::size_t>(b)];
        meet = a;
      }
      if (meet == idom[static_cast<std::size_t>(n)]) continue;
      idom[static_cast<std::size_t>(n)] = meet;
      changed = true;
    }
  }
  return idom;
}

}  // namespace

std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg) {
  const std::vector<int> idom = immediate_dominators(cfg);
  const auto dominates = [&](int a, int b) {
    while (b > a) b = idom[static_cast<std::size_t>(b)];
    return a == b;
  };
  std::vector<int> depth(f.blocks.size(), 0);
  std::vector<std::uint32_t> loop_of(f.blocks.size(), ~0u);  // the last loop in which it was counted
  for (const BlockId header : cfg.reverse_postorder()) {
    std::vector<BlockId> work;
    const auto count = [&](BlockId b) {
      if (loop_of[b.index()] == header.value || !cfg.is_reachable(b)) return;
      loop_of[b.index()] = header.value;
      ++depth[b.index()];
      if (b != header) work.push_back(b);
    };
    for (const BlockId p : cfg.predecessors(header))
      if (cfg.is_reachable(p) && dominates(cfg.rpo_index(header), cfg.rpo_index(p))) count(header), count(p);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (const BlockId p : cfg.predecessors(b)) count(p);
    }
  }
  for (std::size_t b = 0; b < depth.size(); ++b)
    if (f.blocks[b].depth >= 0) depth[b] = f.blocks[b].depth;
  return depth;
}

}  // namespace regduel::passes
