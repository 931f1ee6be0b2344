// Spill guidance: which vregs to spill so that no program point is over its budget.
//
// Seven queues, one a register file (R, P, B, UR, UP, UB, Acc), hold the vregs that are live at a point over budget, ordered by cost
// for each unit and point relieved. Points at which a temporary would replace the vreg do not count as relieved. The queue is lazy:
// a vreg's rank only gets worse while others are spilled, so it is ranked anew when it comes up. In the end, victims that later
// victims have made superfluous stay in their registers.
//
// A point over budget counts only if the budget model says that it is worth a spill (budget_model.h: with the defaults, each is);
// eviction deals with the others. Once the pool of spill slots is full, eviction deals with all of them.
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

// The vregs that the plan has spilled already.
struct Spilled {
  ir::PerFile<int> vregs = {};
  std::int64_t slot_bytes = 0;

  // Of the program that out_of_ssa made. Cost: O(vregs).
  [[nodiscard]] static Spilled of(const ir::Function& f, const Plan& plan);
};

// A program, with or without spill code, and its facts.
struct Pressed {
  const ir::Function& f;
  const Liveness& live;
  const RoundIndex& index;
  const std::vector<std::int64_t>& spill_cost;  // by vreg
  const Budget& budget;
  const BudgetModel& model;
  const SlotStrategy& slots;
  std::span<const Location> if_spilled;  // by vreg of the program: its location if it is spilled
  Spilled spilled = {};
};

// The turn of one vreg in the queue, for an explanation.
struct VictimRank {
  ir::VRegId vreg;
  std::int64_t cost = -1;   // by cost.h; -1 = it was no victim
  std::int64_t relief = 0;  // units times moments over budget that its spill frees
  std::size_t place = 0;    // victims before it
  ir::VRegId next;          // the next vreg in the queue at that moment; invalid = none
  std::int64_t next_cost = 0, next_relief = 0;
};

class SpillGuidance {
 public:
  // The program and all that it refers to outlive the guidance.
  explicit SpillGuidance(const Pressed& program);
  ~SpillGuidance();

  // True if a point of this file is over budget, whether it is worth a spill or not. Cost: O(vregs + instructions) when first asked.
  [[nodiscard]] bool is_over(ir::RegFile file);

  // Vregs, ascending; empty if no point of this file is over budget and worth a spill, or if no vreg can relieve one. The slots of
  // one file's victims take room from the next file's. Cost: O(sum of range lengths over points over budget x log vregs).
  [[nodiscard]] std::vector<ir::VRegId> victims(ir::RegFile file, VictimRank* asked = nullptr);
  // Made when first needed.
  [[nodiscard]] const TemporaryLists& temporaries();

 private:
  class Queue;
  Queue& queue(ir::RegFile file);

  const Pressed program_;
  std::int64_t slot_bytes_;                     // of spilled vregs, and of all victims so far
  ir::PerFile<std::unique_ptr<Queue>> queues_;  // made when first needed
  std::unique_ptr<TemporaryLists> temporaries_;
};

}  // namespace regduel::allocator
