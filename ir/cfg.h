// The control-flow graph as adjacency, and orders of its blocks. Both can be read off the terminators, so they are representation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::ir {

class Cfg {
 public:
  // Cost: O(blocks + edges).
  explicit Cfg(const Function& f);

  // Distinct predecessors, in ascending order of block.
  [[nodiscard]] std::span<const BlockId> predecessors(BlockId b) const { return preds_[b.index()]; }
  // Distinct successors, in the order of first mention in the terminator.
  [[nodiscard]] std::span<const BlockId> successors(BlockId b) const { return succs_[b.index()]; }
  // Reachable blocks in reverse postorder of a depth-first walk from the entry that follows successors in order.
  [[nodiscard]] std::span<const BlockId> reverse_postorder() const { return rpo_; }
  [[nodiscard]] bool is_reachable(BlockId b) const { return rpo_index_[b.index()] >= 0; }
  // Position in reverse_postorder(), -1 for an unreachable block.
  [[nodiscard]] int rpo_index(BlockId b) const { return rpo_index_[b.index()]; }
  // More than one successor at `from` and more than one predecessor at `to` (distinct ones).
  [[nodiscard]] bool is_critical(BlockId from, BlockId to) const {
    return successors(from).size() > 1 && predecessors(to).size() > 1;
  }
  [[nodiscard]] std::size_t num_blocks() const { return rpo_index_.size(); }

 private:
  Grouped<BlockId> preds_, succs_;  // by block
  std::vector<BlockId> rpo_;
  std::vector<std::int32_t> rpo_index_;
};

}  // namespace regduel::ir
