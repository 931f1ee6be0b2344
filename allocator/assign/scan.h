// The scan: the position with the least weight among those without a hard conflict. A position is the first unit of a footprint.
//
// Source: source 000 "Register Selection"; DECISIONS: best values start at the maximum, the whole footprint is tested. The scans to the
// letter are those of classic/select.h. Tested by scan_test.cpp.
#pragma once

#include "allocator/assign/geometry.h"
#include "allocator/assign/pressure.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;

struct ScanRequest {
  const PressureArrays& arrays;
  const UnitSet& forbidden;  // hard conflicts and units that are not allocatable
  Geometry geometry;
  int ceiling = 0;  // the footprint ends at or below it
  int start = 0;    // nothing below it is looked at
};

// Least primary, then least secondary weight, the lowest unit among equals. -1 if none is free. Cost: O(ceiling), and where only
// affinities weigh O(units that they lead to + words).
[[nodiscard]] int select_position(const ScanRequest& request);

// The lowest free position from `start` on, -1 if there is none.
[[nodiscard]] int lowest_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling, int start);

// Whether some position below the ceiling is free.
[[nodiscard]] bool has_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling);

}  // namespace regduel::allocator
