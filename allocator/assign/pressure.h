// The two pressure arrays of the fat-point scan, 512 entries each, and how a constraint weighs on them.
//
// Primary: interference weight of a unit, less is better. Secondary: affinity, breaks ties; only type 15 writes it. Entries are
// indexed by unit. Hard conflicts are not here but in the occupancy. weighs_on() is the rule, unit by unit; add() does the same to
// whole stretches.
//
//   type                 weighs on
//    0  point            each unit whose footprint would cover the target
//    1  exclude one      the target
//    2  exclude all but  every unit but the target
//    3  below point      units below the target
//    5  paired low       the first unit of the partner, and the second where the vreg itself is a tuple
//    6  paired high      the second unit of the partner
//    7  aligned pair     both
//    8  phi              units of the other parity than the target
//   11  even parity      units in the bank of the target; with two banks, these are the units of one parity. Types 11, 12 and 13
//   12  odd parity       differ in the source of the operation that they stand for, and weigh alike
//   13  parity group
//   14  parity extended    the same for the first unit of a tuple
//   15  range            secondary: every unit but the target
//    4  9  10            as the target description says (ir::CustomConstraint)
//
// Source: source 000 "Pressure Array Construction", "Step 4: Constraint Walk"; DECISIONS for types 1, 2, 3, 5 to 7, 11 to 15.
// Tested by pressure_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/geometry.h"
#include "ir/registers.h"

namespace regduel::ir {
struct Target;
}

namespace regduel::allocator {

struct Constraint;

// True if the constraint weighs on a unit of [0, kMaxUnits): in the secondary array for type 15, else in the primary.
//   target   the unit that the constraint is about (for types 4, 9 and 10: the index of the custom constraint)
[[nodiscard]] bool weighs_on(const Constraint& c, int unit, int target, const Geometry& geometry, const ir::Target& machine);

class PressureArrays {
 public:
  [[nodiscard]] std::int32_t primary(int unit) const { return primary_[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] std::int32_t secondary(int unit) const { return away_ - relief_[static_cast<std::size_t>(unit)]; }
  // False if every primary entry is zero.
  [[nodiscard]] bool has_primary() const { return width_ > 0; }
  // The units with less secondary weight than the rest of the file, which has one weight. Unordered, unique.
  [[nodiscard]] std::span<const int> wanted() const { return wanted_; }

  // Zeroes all entries. Cost: O(entries added to).
  void reset();
  // Adds one constraint over the units [0, width), width <= kMaxUnits.
  void add(const Constraint& c, int target, int width, const Geometry& geometry, const ir::Target& machine);

 private:
  std::array<std::int32_t, ir::kMaxUnits> primary_ = {};
  // Type 15 raises all secondary entries but one: kept as one sum, less the weight that each unit is spared.
  std::array<std::int32_t, ir::kMaxUnits> relief_ = {};
  std::int32_t away_ = 0;
  std::vector<int> wanted_;
  int width_ = 0;  // primary entries from here on are zero
};

}  // namespace regduel::allocator
