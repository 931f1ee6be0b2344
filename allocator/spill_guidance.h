// Spill guidance: which vregs to spill so that no program point is over its budget.
//
// Seven queues, one a register file (R, P, B, UR, UP, UB, Acc), each with the vregs that are live at a point over budget, cheapest
// first: cost a unit and point relieved. Points where a vreg is an operand do not count, since a temporary takes its place there. The
// queue is lazy: a vreg's rank only gets worse while others are spilled, so it is ranked anew when it comes up.
//
// Source: seed 001 "Spill Guidance Engine"; DECISIONS: ranges are intersected with the points over budget. Tested by
// driver_test.cpp and fatpoint_test.cpp.
#pragma once

#include <vector>

#include "allocator/assign.h"

namespace regduel::allocator {

class SpillGuidance {
 public:
  // The round must outlive it.
  explicit SpillGuidance(const Round& round) : round_(round) {}

  // Vregs of the lowered program, ascending; empty where no point of this file is over budget, or nobody can help.
  // Cost: O(sum of range lengths over points over budget x log vregs).
  [[nodiscard]] std::vector<ir::VRegId> victims(ir::RegFile file);

 private:
  void list_operands();

  const Round& round_;
  // By vreg, one behind the other: numbers of the instructions that have it as an operand, ascending, unique. Made when first needed.
  std::vector<std::uint32_t> operand_begin_, operand_at_;
};

}  // namespace regduel::allocator
