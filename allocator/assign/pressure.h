// The weights of preferences, 512 entries an array, and how a constraint weighs on them.
//
// Primary: banks, and what a target asks for; less is better. Secondary: affinity, breaks ties; only type 15 writes it. Entries are
// indexed by unit. Hard conflicts are not here but in the occupancy. Types 0 to 3 and 5 to 8 are those of `classic`, whose arrays are in
// classic/pressure.h.
//
//   type                 weighs on
//   11  even parity      units in the bank of the target; with two banks, these are the units of one parity. Types 11, 12 and 13
//   12  odd parity       differ in the source of the operation that they stand for, and weigh alike
//   13  parity group
//   14  parity extended    the same for the first unit of a tuple
//   15  range            secondary: every unit but the target
//    4  9  10            as the target description says (ir::CustomConstraint)
//
// Source: source 000 "Pressure Array Construction", "Step 4: Constraint Walk"; DECISIONS for types 11 to 15.
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
  void add(const Constraint& c, int target, int width, const ir::Target& machine);

 private:
  std::array<std::int32_t, ir::kMaxUnits> primary_ = {};
  // Type 15 raises all secondary entries but one: kept as one sum, less the weight that each unit is spared.
  std::array<std::int32_t, ir::kMaxUnits> relief_ = {};
  std::int32_t away_ = 0;
  std::vector<int> wanted_;
  int width_ = 0;  // primary entries from here on are zero
};

}  // namespace regduel::allocator
