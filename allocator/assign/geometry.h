// The footprint of a vreg in its register file: width, alignment, pair mode, step of the scan.
//
// Also the budget and the bounds of the scan.
//
// Source: source 000 "Step 1: VR Geometry", "Step 2: Scan Range", "Budget Computation", "Assignment" cases 1 and 2. Deviates: a vreg
// occupies its units, not its aligned width (a 96-bit value leaves the fourth unit of its aligned quad to others, since an
// instruction's demand counts units); the pair mode is derived from width and alignment (DECISIONS); positions are units, so that
// mode 1, the half-unit coordinates, occurs only where a target has predicate halves. Tested by geometry_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/registers.h"

namespace regduel::ir {
struct VReg;
}

namespace regduel::allocator {

enum class PairMode : std::uint8_t { Single = 0, Half = 1, Tuple = 3 };

struct Geometry {
  int units = 1;
  int align = 1;  // the first unit is a multiple of this
  PairMode pair_mode = PairMode::Single;

  [[nodiscard]] int step() const { return align; }
};

//   predicate_halves   of the target: two predicates to a register
[[nodiscard]] Geometry geometry_of(const ir::VReg& v, bool predicate_halves = false);

// Units above the limit that an attempt without spilling looks at, to measure by how much it missed.
inline constexpr int kHeadroom = 7;
// Entries of the pressure arrays beyond the units that are looked at.
inline constexpr int kScanPadding = 4;

// Units that an attempt without spilling looks at, and the entries of the pressure arrays that it needs. The source scales scan
// coordinates by 2 and 4 in some modes and shifts them back for array indices (DECISIONS); in units both cancel out.
[[nodiscard]] constexpr int scan_units(int limit) { return std::min(limit + kHeadroom, ir::kMaxUnits); }
[[nodiscard]] constexpr int scan_width(int limit) { return std::min(scan_units(limit) + kScanPadding, ir::kMaxUnits); }

}  // namespace regduel::allocator
