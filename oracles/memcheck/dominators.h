// The dominator tree of the reachable blocks of one program, and what lies between a join and its dominator. Internal to memcheck.
//
//   region(J) = the blocks from which the join J can be reached without passing its immediate dominator D; with J itself if J is the
//               head of a loop
//
//   in(J)(cell) = out(D)(cell)    where no block of region(J) writes the cell
//
// Regions are kept as intervals of positions, in a preorder of the tree that goes through what is deeper in loops first and so
// keeps them narrow; an interval may hold more blocks than the region does.
//
// Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Tested by value_graph_test.cpp and
// memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"

namespace regduel::oracles {

class Dominators {
 public:
  // Requires: `cfg` outlives this. Cost: O(edges) times the nesting of loops, but no more than O(edges) times a constant for the
  // regions: of those that are too large only the blocks that dominate a way back are stepped through; where those are too many,
  // the interval is all that the dominator dominates.
  explicit Dominators(const ir::Cfg& cfg);

  // Requires for all: the blocks are reachable.
  // Position of a block in a preorder walk of the tree: what `b` dominates stands at [position(b), end(b)).
  [[nodiscard]] std::uint32_t position(ir::BlockId b) const { return position_[at(b)]; }
  [[nodiscard]] std::uint32_t end(ir::BlockId b) const { return position_[at(b)] + size_[at(b)]; }
  // Or is the same block.
  [[nodiscard]] bool dominates(ir::BlockId a, ir::BlockId b) const { return position(a) <= position(b) && position(b) < end(a); }
  // All reachable blocks by position.
  [[nodiscard]] const std::vector<ir::BlockId>& preorder() const { return preorder_; }

  // By position: of the immediate dominator (the entry's: itself), the interval [begin, end) of the region, empty where the block
  // has one predecessor, and of the nearest block with a region, from this one itself upwards (0 where there is none). The entry
  // has no region. A region begins at its join or before: whatever leads there is in the same loops, and comes first in reverse
  // postorder.
  struct Above {
    std::uint32_t dominator = 0, begin = 0, end = 0, join = 0;
  };
  [[nodiscard]] const Above& above(std::uint32_t position_of_block) const { return above_[position_of_block]; }

 private:
  [[nodiscard]] std::size_t at(ir::BlockId b) const { return static_cast<std::size_t>(cfg_.rpo_index(b)); }
  void find_immediate();
  void find_regions();
  void place();
  void place_large_regions();

  const ir::Cfg& cfg_;
  // All by position in reverse postorder.
  std::vector<std::uint32_t> idom_, position_, size_, depth_;
  std::vector<std::uint32_t> region_;                                  // members, region after region
  std::vector<std::pair<std::uint32_t, std::uint32_t>> region_range_;  // of a block in region_
  std::vector<std::uint32_t> too_large_;                               // the joins whose regions are, ascending
  std::vector<ir::BlockId> preorder_;
  std::vector<Above> above_;  // by position in the preorder
};

}  // namespace regduel::oracles
