#include "ir/cfg.h"

#include <algorithm>

namespace regduel::ir {

Cfg::Cfg(const Function& f) {
  const std::size_t n = f.blocks.size();
  succ_begin_.assign(n + 1, 0);
  pred_begin_.assign(n + 1, 0);
  rpo_index_.assign(n, -1);
  // last_seen[b] == the block whose successors are being listed, where b was already listed for it.
  std::vector<BlockId> last_seen(n);
  for (std::size_t b = 0; b < n; ++b) {
    succ_begin_[b] = static_cast<std::uint32_t>(succs_.size());
    for (const BlockId s : f.successors(BlockId(b))) {
      if (last_seen[s.index()] == BlockId(b)) continue;
      last_seen[s.index()] = BlockId(b);
      succs_.push_back(s);
      ++pred_begin_[s.index() + 1];
    }
  }
  succ_begin_[n] = static_cast<std::uint32_t>(succs_.size());
  for (std::size_t b = 0; b < n; ++b) pred_begin_[b + 1] += pred_begin_[b];
  preds_.resize(succs_.size());
  std::vector<std::uint32_t> at(pred_begin_.begin(), pred_begin_.end() - 1);
  for (std::size_t b = 0; b < n; ++b)
    for (const BlockId s : successors(BlockId(b))) preds_[at[s.index()]++] = BlockId(b);

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
