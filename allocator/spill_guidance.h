// Spill guidance: which vregs to spill so that no program point is over its budget.
//
// Seven queues, one a register file (R, P, B, UR, UP, UB, Acc), each with the vregs that are live at a point over budget, cheapest
// first: cost a unit and point relieved. Points where a vreg is an operand do not count, since a temporary takes its place there. The
// queue is lazy: a vreg's rank only gets worse while others are spilled, so it is ranked anew when it comes up.
//
// Source: seed 001 "Spill Guidance Engine"; DECISIONS: ranges are intersected with the points over budget. Tested by
// driver_test.cpp and fatpoint_test.cpp.
#pragma once

#include <memory>
#include <vector>

#include "allocator/assign.h"

namespace regduel::allocator {

// A program, lowered or not yet, and what is known of it.
struct Pressed {
  const ir::Function& f;
  const Liveness& live;
  const RoundIndex& index;
  const std::vector<std::int64_t>& spill_cost;  // by vreg
  const Budget& budget;
};

class SpillGuidance {
 public:
  // What it refers to must outlive it.
  explicit SpillGuidance(const Pressed& program);
  ~SpillGuidance();

  // True where a point of this file is over budget. Cost: O(vregs + instructions) when first asked.
  [[nodiscard]] bool is_over(ir::RegFile file);

  // Vregs, ascending; empty where no point of this file is over budget, or nobody can help.
  // Cost: O(sum of range lengths over points over budget x log vregs).
  [[nodiscard]] std::vector<ir::VRegId> victims(ir::RegFile file);
  // Made when first needed.
  [[nodiscard]] const OperandLists& operands();

 private:
  class Queue;
  Queue& queue(ir::RegFile file);

  const Pressed program_;
  ir::PerFile<std::unique_ptr<Queue>> queues_;  // made when first needed
  std::unique_ptr<OperandLists> operands_;
};

}  // namespace regduel::allocator
