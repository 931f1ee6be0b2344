// The two pressure arrays: the weight of each position for the vreg at hand. A position is the first unit of a footprint.
//
// Primary: interference, less is better. Secondary: affinity, breaks ties; only type 15 writes it. The arrays are flat, zeroed for each
// vreg, and as wide as the scan. What a constraint of weight w and target t adds, for a footprint of u units:
//
//   type                 adds w to
//    0  point            each position whose footprint would cover the target: (t - u, t + units of the target)
//    1  exclude one      the target
//    2  exclude all but  every unit but the target
//    3  below point      units below the target
//    5  paired low       the first unit of the partner, and the second where the vreg itself is a tuple
//    6  paired high      the second unit of the partner
//    7  aligned pair     both
//    8  phi              units of the other parity than the target
//   11 12 13 14          units in the bank of the target: the types differ in the source of the operation that they stand for
//    4  9  10            as the target description says (ir::CustomConstraint)
//   15  range            secondary: every unit but the target
//
// Hard constraints weigh 16, soft ones 1 to 15, types 4, 9 and 10 what the target says, and type 15 what the copy costs (DECISIONS).
// Source: source 000 "Pressure Array Construction", "Step 3", "Step 4". Tested by pressure_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "allocator/assign/constraints.h"
#include "allocator/assign/geometry.h"
#include "ir/target.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

inline constexpr std::int32_t kHardWeight = 16;

struct Pressure {
  std::array<std::int32_t, ir::kMaxUnits> primary, secondary;
  ir::UnitSet
      occupied;  // units that no weight makes free: those of placed vregs that interfere, clobbers, what may not be allocated

  // Zeroes the entries [0, width) of both.
  void zero(int width) {
    std::fill_n(primary.begin(), width, 0);
    std::fill_n(secondary.begin(), width, 0);
  }
};

// Adds the weights of a constraint in the units [0, width).
//   target   the unit that it is about (types 4, 9 and 10: the index of the custom constraint)
void add(Pressure& to, const Constraint& c, int target, int width, const Geometry& geometry, const ir::Target& machine);
// Type 0: the vreg would stand in some of `units` units from `target` on.
void add_point(Pressure& to, std::int32_t weight, int target, int units, int width, const Geometry& geometry);

}  // namespace regduel::allocator
