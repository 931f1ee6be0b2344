// The fat-point scan: the position with the least weight among those without a hard conflict. A position is the first unit of a
// footprint.
//
// Source: source 000 "Step 6: Fatpoint Selection", "Register Selection"; DECISIONS: best values start at the maximum, the whole
// footprint is tested, zero-cost accept as in the code. Tested by scan_test.cpp.
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
  int ceiling = 0;          // the footprint ends at or below it
  bool first_pass = false;  // secondary alone decides, unless some unit is congested
  int threshold = 50;       // knob 684
  int start = 0;            // nothing below it is looked at
};

// The long scan of the attempts without spilling. First pass: least secondary; else least primary, then least secondary; the
// lowest unit among equals. A position without cost is taken at once. -1 if none is free. Cost: O(ceiling).
[[nodiscard]] int select_fatpoint(const ScanRequest& request);

// The simple selection of the spill phase: units above the threshold are skipped unless none would be left.
[[nodiscard]] int select_simple(const ScanRequest& request);

// The lowest free position from `start` on, -1 if there is none.
[[nodiscard]] int lowest_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling, int start);

// Whether some position below the ceiling is free.
[[nodiscard]] bool has_free(const UnitSet& forbidden, const Geometry& geometry, int ceiling);

}  // namespace regduel::allocator
