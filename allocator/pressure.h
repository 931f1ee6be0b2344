// The two pressure arrays of the fat-point scan, 512 entries each, and how a constraint weighs on them.
//
// Primary: interference weight of a slot, less is better. Secondary: affinity, breaks ties; only type 15 writes it. Entries are
// indexed by unit. Hard conflicts are not here but in the occupancy.
// Source: seed 000 "Pressure Array Construction", "Step 4: Constraint Walk"; DECISIONS for types 1, 2, 3, 5 to 7, 11 to 15.
// Tested by scan_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/constraints.h"
#include "allocator/geometry.h"
#include "ir/registers.h"

namespace regduel::allocator {

class PressureArrays {
 public:
  [[nodiscard]] std::int32_t primary(int slot) const { return primary_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] std::int32_t secondary(int slot) const { return away_ - relief_[static_cast<std::size_t>(slot)]; }
  // False where every primary entry is zero.
  [[nodiscard]] bool has_primary() const { return has_primary_; }
  // The slots whose secondary weight is less than that of all the others, which have the same. Unordered, unique.
  [[nodiscard]] std::span<const int> wanted() const { return wanted_; }

  // Zeroes everything. Cost: of what was added.
  void reset();
  // Adds one constraint, whose target is the unit `target` (0-based; outside [0, width) it weighs only where that makes sense).
  void add(const Constraint& c, int target, int width, const Geometry& geometry, int banks);

 private:
  std::array<std::int32_t, ir::kMaxUnits> primary_ = {};
  // Secondary entries, all of which type 15 raises but one: what it raises, less what each slot is spared.
  std::array<std::int32_t, ir::kMaxUnits> relief_ = {};
  std::int32_t away_ = 0;
  std::vector<int> wanted_;
  bool has_primary_ = false;
};

}  // namespace regduel::allocator
