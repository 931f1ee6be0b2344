// Writes the allocated program: the original instructions with their operands in their homes, and the inserted ones.
//
// Contract: FORMAT.md "Allocated programs". Copies within one register are deleted; edge blocks without copies are left out;
// in a device function the callee-saved registers that are used or clobbered are saved at the entry and restored before each
// ret. Slots whose values are never in memory at one time become one (spill/shared_slots.h); they are packed by descending alignment. Tested by briggs_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/allocator.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

//   homes     by temp; valid for each temp that a living instruction refers to
//   is_dead   by index of Code::insts: copies, refills, stores and remats to leave out
// Cost O(size of program).
[[nodiscard]] ir::Allocation rewrite(const Problem& problem, const Plan& plan, const Code& code, const std::vector<ir::PReg>& homes,
                                     const std::vector<std::uint8_t>& is_dead, ir::Fuel* fuel = nullptr);

}  // namespace regduel::reference
