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

// Vregs of the lowered program, ascending; empty where no point of this file is over budget, or nobody can help.
// Cost: O(sum of range lengths x log vregs).
[[nodiscard]] std::vector<ir::VRegId> spill_guidance(const Round& round, ir::RegFile file);

}  // namespace regduel::allocator
