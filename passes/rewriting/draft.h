// A program that can be changed in the middle: a list of instructions for each block, and a new Function of them at the end.
// Tested through clean_test.cpp and schedule_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"

namespace regduel::passes {

struct Line {
  ir::Inst inst;
  std::vector<ir::Operand> ops;
};

class Draft {
 public:
  explicit Draft(const ir::Function& f);

  [[nodiscard]] std::vector<Line>& block(ir::BlockId b) { return blocks_[b.index()]; }
  [[nodiscard]] const std::vector<Line>& block(ir::BlockId b) const { return blocks_[b.index()]; }
  [[nodiscard]] std::size_t num_blocks() const { return blocks_.size(); }
  // Declarations, to which vregs may be added.
  [[nodiscard]] ir::Function& header() { return header_; }
  [[nodiscard]] ir::Function finish() const;

 private:
  const ir::Function& f_;
  ir::Function header_;
  std::vector<std::vector<Line>> blocks_;
};

}  // namespace regduel::passes
