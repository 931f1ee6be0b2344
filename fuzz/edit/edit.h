// A program taken apart so that it can be changed in the middle: mutators and reducers work on this, then put it together.
#pragma once

#include <vector>

#include "ir/program.h"

namespace regduel::fuzz {

struct EditInst {
  ir::Inst inst;
  std::vector<ir::Operand> ops;
  std::vector<ir::BlockId> targets;
};
struct EditBlock {
  ir::Block attributes;
  std::vector<EditInst> insts;
};
struct EditProgram {
  ir::Function header;  // everything but blocks, instructions, operands and targets
  std::vector<EditBlock> blocks;

  // Cost: O(size), both ways. build() makes no check: the edits may have broken the rules.
  explicit EditProgram(const ir::Function& f);
  [[nodiscard]] ir::Function build() const;
  [[nodiscard]] ir::InstId next_id() const;
  // Declares these vregs, in this order, and no others. A hint at another vreg goes.
  //   Requires  that no operand and no alias names another vreg; an alias stands behind the vreg that it is a part of.
  void keep_vregs(const std::vector<ir::VRegId>& kept);
};

}  // namespace regduel::fuzz
