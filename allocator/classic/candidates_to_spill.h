// Which vregs an attempt with spilling may spill: those that live where the budget model triggers.
//
// Guidance (spill/guidance.h) names the victims without which some point is over its budget; they leave before the attempt. At the
// other points the budget model decides: with `count` units live there, `spilled` vregs of the file in memory and as many units short
// as the limit leaves, it triggers if their sum is above the threshold (spill/budget_model.h). What lives at such a point is a
// candidate: the attempt spills it where it finds no place. What is none is held back until candidates have left.
//
// Source: source 000 "Spill Guidance Consumption"; source 001 "Spill Guidance Engine" (which vregs to allow to spill on the next
// attempt). Tested by candidates_to_spill_test.cpp.
#pragma once

#include <vector>

#include "allocator/instruction/packing.h"
#include "allocator/program/round_index.h"
#include "allocator/spill/budget_model.h"

namespace regduel::allocator {

// By vreg: 1 = a candidate.
//   spilled   vregs of the file that are in memory
// Cost: O(instructions + intervals).
[[nodiscard]] std::vector<char> candidates_to_spill(const ir::Function& f, const Liveness& live, const RoundIndex& index,
                                                    ir::RegFile file, const Budget& budget, const BudgetModel& model,
                                                    std::int64_t spilled);

}  // namespace regduel::allocator
