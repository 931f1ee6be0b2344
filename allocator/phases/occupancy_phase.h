// Occupancy: spills cheap victims of an allocation that fits without spilling, if an SM then holds more warps.
//
//   1  the next step down (occupancy.h) from the registers in use is a soft budget; guidance names the victims that it takes
//   2  if their cost is within the worth that the budget model gives the step, the program is allocated again with the soft budget
//      as its limit
//   3  if the result costs no more than the worth, it stays; if it has no spills, the next step is tried
//
// The cost is the growth in executed instructions, by block frequency; an access to memory counts BudgetModel::kAccess.
// Knob FatPointOccupancy: 0 off; 1 only if every victim can be rematerialised; 2 any victim.
//
// Source: source 000 "Occupancy-Aware Budget Model", "Spill Guidance Consumption"; deviates: the source lowers the threshold of each
// point, here the soft budget is a step of the target, since fewer registers without a further warp are worth nothing. Tested by
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

// Requires: `allocated` is the allocation without spilling. Cost: O(operands) and that of guidance; without a step down O(operands),
// and with the knob off nothing.
[[nodiscard]] std::optional<OccupancyGoal> find_occupancy_goal(Progress& progress, const ir::Function& allocated);
// True if `fewer`, made with the step as its limit, costs at most its worth more than `plain`.
[[nodiscard]] bool is_worth(const OccupancyGoal& goal, const Knobs& knobs, const ir::Function& plain, const ir::Function& fewer);

}  // namespace regduel::allocator
