// The limit of file R by program point, where `setmaxnreg` changes it on the way (FORMAT.md, "Limits by point"): forward along the paths,
// the least of all that meet. Tested by point_limits_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::reference {

class PointLimits {
 public:
  // Requires the CFG of the program. Cost O(instructions), where some of them change the limit.
  PointLimits(const ir::Function& f, const ir::Cfg& cfg, int at_entry);

  // Without instructions that change it, both are the limit at the entry.
  [[nodiscard]] int least() const { return least_; }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] bool vary() const { return least_ < most_; }
  // Where they vary: before an instruction, by its index, and behind it.
  [[nodiscard]] int before(std::size_t inst) const { return before_[inst]; }
  [[nodiscard]] int behind(std::size_t inst) const { return behind_[inst]; }
  [[nodiscard]] int at_head(ir::BlockId b) const { return before_[f_.block(b).first_inst]; }
  [[nodiscard]] int at_end(ir::BlockId b) const { return behind_[f_.block(b).first_inst + f_.block(b).num_insts - 1]; }

 private:
  const ir::Function& f_;
  int least_, most_;
  std::vector<std::uint16_t> before_, behind_;  // by instruction
};

}  // namespace regduel::reference
