// The limit of file R by program point, where `setmaxnreg` changes it on the way (FORMAT.md, "Limits by point"): forward along the edges,
// the least of all that meet. For programs before and after allocation, with blocks in any order. Tested by limit_by_point_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"

namespace regduel::oracles {

class LimitByPoint {
 public:
  // Cost O(instructions), where some of them change the limit.
  LimitByPoint(const ir::Function& f, int at_entry);

  [[nodiscard]] bool varies() const { return !head_.empty(); }
  [[nodiscard]] int least() const { return least_; }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] int at_head(ir::BlockId b) const { return varies() ? head_[b.index()] : most_; }
  // Before an instruction, by its index.
  [[nodiscard]] int before(std::size_t inst) const { return varies() ? before_[inst] : most_; }
  // Behind an instruction before which the limit is as given.
  [[nodiscard]] static int behind(const ir::Function& f, const ir::Inst& inst, int before);

 private:
  int least_, most_;
  std::vector<int> head_;    // by block; empty = no instruction changes the limit
  std::vector<int> before_;  // by instruction
};

}  // namespace regduel::oracles
