// The dominator tree of the reachable blocks (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
// Tested by dominators_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"

namespace regduel::passes {

class Dominators {
 public:
  // `cfg` outlives this. Cost: O(edges x depth of the tree), a few passes.
  explicit Dominators(const ir::Cfg& cfg);

  // Of a reachable block; the entry is its own.
  [[nodiscard]] ir::BlockId immediate(ir::BlockId b) const { return parent_[b.index()]; }
  // Requires both reachable. A block dominates itself. Cost: O(1).
  [[nodiscard]] bool dominates(ir::BlockId a, ir::BlockId b) const {
    return first_[a.index()] <= first_[b.index()] && last_[b.index()] <= last_[a.index()];
  }
  // The nearest block that dominates both. Cost: O(depth).
  [[nodiscard]] ir::BlockId common(ir::BlockId a, ir::BlockId b) const;

 private:
  const ir::Cfg& cfg_;
  std::vector<ir::BlockId> parent_;          // by block
  std::vector<std::uint32_t> first_, last_;  // times of a walk of the tree, by block
};

}  // namespace regduel::passes
