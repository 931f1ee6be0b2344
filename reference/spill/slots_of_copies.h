// Values between which there are copies share a slot where they can, so that the copies vanish in memory: operands and result of a phi
// above all. Tested by slots_of_copies_test.cpp.
#pragma once

#include "ir/allocator.h"
#include "reference/colour/interference_graph.h"
#include "reference/program/plan.h"

namespace regduel::reference {

//   graphs   of the code with all values in registers, nothing merged. Two slots become one where no values of theirs interfere
// Cost O(copies x values of a slot x degree).
void share_slots_of_copies(const InterferenceGraphs& graphs, Plan& plan, ir::Fuel* fuel = nullptr);

}  // namespace regduel::reference
