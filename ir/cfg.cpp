#include "ir/cfg.h"

#include <algorithm>
#include <utility>

namespace regduel::ir {

Cfg::Cfg(const Function& f) {
  const std::size_t n = f.blocks.size();
  rpo_index_.assign(n, -1);
  // last_seen[s] is the block whose successors are being listed, where s was already listed for it.
  std::vector<BlockId> last_seen;
  succs_.build(n, [&](auto add) {
    last_seen.assign(n, BlockId());
    for (std::size_t b = 0; b < n; ++b)
      for (const BlockId s : f.successors(BlockId(b)))
        if (std::exchange(last_seen[s.index()], BlockId(b)) != BlockId(b)) add(b, s);
  });
  preds_.build(n, [&](auto add) {
    for (std::size_t b = 0; b < n; ++b)
      for (const BlockId s : successors(BlockId(b))) add(s.index(), BlockId(b));
  });

  if (n == 0) return;
  struct Frame {
    BlockId block;
    std::uint32_t next;
  };
  std::vector<Frame> stack = {{BlockId(0), 0}};
  std::vector<bool> visited(n, false);
  visited[0] = true;
  while (!stack.empty()) {
    Frame& top = stack.back();
    const auto succ = successors(top.block);
    if (top.next < succ.size()) {
      const BlockId s = succ[top.next++];
      if (!visited[s.index()]) {
        visited[s.index()] = true;
        stack.push_back({s, 0});
      }
    } else {
      rpo_.push_back(top.block);
      stack.pop_back();
    }
  }
  std::reverse(rpo_.begin(), rpo_.end());
  for (std::size_t i = 0; i < rpo_.size(); ++i) rpo_index_[rpo_[i].index()] = static_cast<std::int32_t>(i);
}

}  // namespace regduel::ir
