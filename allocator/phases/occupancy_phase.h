// Phase 1b, for occupancy: where no register limit asks for it, spend cheap victims to let an SM hold more warps.
//
//   an allocation without spilling, with `now` registers
//     the next step down (occupancy.h) is a soft budget: guidance names whom it would take to get there, at a cost
//     worth it, by the budget model? the same program again with the soft budget as its limit
//     it has come cheaper than the model's worth: it stays, and the next step is looked at if that took no spills
//
// What it costs is what it executes more: instructions by how often their block runs, an access to memory BudgetModel::kAccess.
// Knob FatPointOccupancy: 0 off; 1 only where every victim can be computed again; 2 any victim.
//
// Source: source 000 "Occupancy-Aware Budget Model", "Spill Guidance Consumption"; deviates: the source lowers the threshold of each
// point, here the soft budget is a step of the target, since fewer registers that hold no further warp are worth nothing. Tested by
// occupancy_phase_test.cpp; that the knobs of the model change a share of the standard mix: properties/occupancy_test.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "allocator/phases/progress.h"
#include "allocator/spill/occupancy.h"

namespace regduel::allocator {

struct OccupancyGoal {
  OccupancyStep step;
  std::int64_t worth = 0;  // the most that it may cost
};

// Requires: `allocated` is what came of the program without spilling. Cost: O(operands + what guidance needs); without a step down
// O(operands), and with the knob off nothing.
[[nodiscard]] std::optional<OccupancyGoal> find_occupancy_goal(Progress& progress, const ir::Function& allocated);
// Whether `fewer`, made with the step as its limit, is worth what it costs more than `plain`.
[[nodiscard]] bool is_worth(const OccupancyGoal& goal, const Knobs& knobs, const ir::Function& plain, const ir::Function& fewer);

}  // namespace regduel::allocator
