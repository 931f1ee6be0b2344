// The fat point: the position with the least weight among those that are not occupied.
//
// The long scan serves attempts without spilling. On the first pass the secondary array alone decides, until some free position weighs
// more than the threshold in the primary array; else the primary decides, and the secondary breaks ties. A position without weight
// ends the scan. The simple selection serves the phase of spilling: least primary, then least secondary, and a position above the
// threshold only where there is no other. Among equals both take the lowest.
//
// With knob 641 the long scan leaves out positions in the aligned group of registers (four; eight for half-unit positions) in which
// the last vreg was placed, unless none would be left.
//
// Source: source 000 "Step 2", "Step 6: Fatpoint Selection", "Register Selection"; DECISIONS: best values start at the maximum, the
// whole footprint is tested. Tested by select_test.cpp.
#pragma once

#include <cstdint>

#include "allocator/classic/pressure.h"

namespace regduel::allocator {

struct Scan {
  const Pressure& pressure;
  Geometry geometry;
  int start = 0;       // the first unit that is looked at
  int ceiling = 0;     // the footprint ends at or below it
  int threshold = 50;  // knob 684
};

struct FatPoint {
  int unit = -1;  // -1 = every position is occupied
  std::int32_t primary = 0, secondary = 0;
};

//   first_pass   the first attempt
//   last         where the vreg before was placed, if banks count; else -1
[[nodiscard]] FatPoint select_long(const Scan& scan, bool first_pass, int last = -1);
[[nodiscard]] FatPoint select_simple(const Scan& scan);

}  // namespace regduel::allocator
