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
};

}  // namespace regduel::fuzz
