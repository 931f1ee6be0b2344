// The two pressure arrays of the fat-point scan, 512 entries each, and how a constraint weighs on them.
//
// Primary: interference weight of a slot, less is better. Secondary: affinity, breaks ties; only type 15 writes it. Entries are
// indexed by unit. Hard conflicts are not here but in the occupancy.
// Source: seed 000 "Pressure Array Construction", "Step 4: Constraint Walk"; DECISIONS for types 1, 2, 3, 5 to 7, 11 to 15.
// Tested by scan_test.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/constraints.h"
#include "allocator/geometry.h"
#include "ir/registers.h"

namespace regduel::allocator {

struct PressureArrays {
  std::array<std::int32_t, ir::kMaxUnits> primary;
  std::array<std::int32_t, ir::kMaxUnits> secondary;

  // Zeroes [0, width).
  void reset(int width);
  // Adds one constraint, whose target is the unit `target` (0-based; outside [0, width) it weighs only where that makes sense).
  void add(const Constraint& c, int target, int width, const Geometry& geometry, int banks);
};

}  // namespace regduel::allocator
