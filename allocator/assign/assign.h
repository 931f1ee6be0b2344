// One attempt at one register file: vregs in an order, each to its fat point.
//
// Precoloured vregs come first. Without spilling, a vreg that finds no place below the limit may look kHeadroom units above it; that
// only measures by how much the attempt missed. With spilling, a vreg without a place takes the cheapest way out (source 000
// "Assignment", case 3; source 001 "Spill Trigger"): it is spilled itself, or evicts the vregs that stand in one place, whichever
// costs less. A temporary that can do neither gets its instruction pinned.
//
// Source: source 000 "Assignment", "End-of-Round Result". Tested by fatpoint_test.cpp and driver_test.cpp.
#pragma once

#include "allocator/assign/attempt.h"
#include "allocator/assign/file_allocator.h"

namespace regduel::allocator {

[[nodiscard]] Attempt assign(const FileAllocator& allocator, const AttemptOptions& options);

}  // namespace regduel::allocator
