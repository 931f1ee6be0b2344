// Spill guidance: which vregs to spill so that no program point is over its budget.
//
// Seven queues, one a register file (R, P, B, UR, UP, UB, Acc), each with the vregs that are live at a point over budget, cheapest
// first: cost a unit and point relieved. Points where a temporary takes its place do not count.
// The queue is lazy: a vreg's rank only gets worse while others are spilled, so it is ranked anew when it comes up. In the end the
// victims that later ones have made superfluous stay in their registers.
//
// A point over budget counts only where the budget model says that it is worth a spill (budget_model.h: with the defaults, each
// is); what is left is left to eviction. The same holds once the pool of spill slots is full.
//
// Source: source 001 "Spill Guidance Engine"; source 000 "Spill Guidance Consumption"; DECISIONS: ranges are intersected with the
// points over budget. Tested by guidance_test.cpp, driver_test.cpp and fatpoint_test.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/round_index.h"
#include "allocator/spill/budget_model.h"
#include "allocator/spill_code/plan.h"

namespace regduel::allocator {

// What is spilled before guidance is asked.
struct Spilled {
  ir::PerFile<int> vregs = {};
  std::int64_t slot_bytes = 0;

  // Of the program that out_of_ssa made. Cost: O(vregs).
  [[nodiscard]] static Spilled of(const ir::Function& f, const Plan& plan);
};

// A program, lowered or not yet, and what is known of it.
struct Pressed {
  const ir::Function& f;
  const Liveness& live;
  const RoundIndex& index;
  const std::vector<std::int64_t>& spill_cost;  // by vreg
  const Budget& budget;
  const BudgetModel& model;
  const SlotStrategy& slots;
  std::span<const Location> if_spilled;  // by vreg of the program: where it would go
  Spilled spilled = {};
};

// For one vreg that is asked about: what its turn in the queue looked like.
struct VictimRank {
  ir::VRegId vreg;
  std::int64_t cost = -1;   // as cost.h has it; -1 = it was no victim
  std::int64_t relief = 0;  // units and moments over budget that its going frees
  std::size_t place = 0;    // how many victims went before it
  ir::VRegId next;          // what came after it in the queue at that moment; invalid = nothing
  std::int64_t next_cost = 0, next_relief = 0;
};

class SpillGuidance {
 public:
  // What it refers to must outlive it.
  explicit SpillGuidance(const Pressed& program);
  ~SpillGuidance();

  // True where a point of this file is over budget, worth a spill or not. Cost: O(vregs + instructions) when first asked.
  [[nodiscard]] bool is_over(ir::RegFile file);

  // Vregs, ascending; empty where no point of this file is over budget and worth a spill, or no vreg can help. The slots of one
  // file's victims take room from the next file's. Cost: O(sum of range lengths over points over budget x log vregs).
  [[nodiscard]] std::vector<ir::VRegId> victims(ir::RegFile file, VictimRank* asked = nullptr);
  // Made when first needed.
  [[nodiscard]] const TemporaryLists& temporaries();

 private:
  class Queue;
  Queue& queue(ir::RegFile file);

  const Pressed program_;
  std::int64_t slot_bytes_;                     // of what is spilled, and of all victims so far
  ir::PerFile<std::unique_ptr<Queue>> queues_;  // made when first needed
  std::unique_ptr<TemporaryLists> temporaries_;
};

}  // namespace regduel::allocator
