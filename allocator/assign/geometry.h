// The footprint of a vreg in its register file: width, alignment, pair mode, step of the scan.
//
// Also the budget of the scan and where it begins and ends.
//
// Source: seed 000 "Step 1: VR Geometry", "Step 2: Scan Range", "Budget Computation", "Assignment" cases 1 and 2. Deviates: a vreg
// occupies its units, not its aligned width (a 96-bit value leaves the fourth unit of its aligned quad to others, since an
// instruction's demand counts units); the pair mode is derived from width and alignment (DECISIONS); positions are units, so that
// mode 1, the half-unit coordinates, occurs only where a target has predicate halves. Tested by geometry_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "allocator/program/mode.h"
#include "ir/program.h"

namespace regduel::allocator {

enum class PairMode : std::uint8_t { Single = 0, Half = 1, Tuple = 3 };

struct Geometry {
  int units = 1;
  int align = 1;  // the first unit is a multiple of this
  PairMode pair_mode = PairMode::Single;

  [[nodiscard]] int step() const { return align; }
};

// The size rounded up to a multiple of 2^align_log2.
[[nodiscard]] constexpr int aligned_width(int units, int align_log2) {
  const int stride = 1 << align_log2;
  return (units + stride - 1) & -stride;
}

//   predicate_halves   of the target: two predicates to a register
[[nodiscard]] inline Geometry geometry_of(const ir::VReg& v, bool predicate_halves = false) {
  Geometry g;
  g.units = v.units();
  g.align = v.alignment();
  if (g.units > 1 && g.align > 1) g.pair_mode = PairMode::Tuple;
  else if (predicate_halves && ir::is_predicate(v.file())) g.pair_mode = PairMode::Half;
  return g;
}

// The last unit that a vreg at `unit` takes: what peaks are measured by (seed 000 "Assignment", case 1).
[[nodiscard]] constexpr int consumption(int unit, const Geometry& g) { return unit + g.units - 1; }

// Units above any hard limit that an attempt without spilling looks at, to say by how much it missed.
inline constexpr int kHeadroom = 7;
// Entries of the pressure arrays beyond the units that are looked at.
inline constexpr int kScanPadding = 4;

// What a scan of one file covers: `coordinates >> shift` units; the modes scale the coordinates, never the units (DECISIONS).
struct ScanBudget {
  int coordinates = 0;
  int shift = 0;

  [[nodiscard]] constexpr int units() const { return std::min(coordinates >> shift, ir::kMaxUnits); }
  // Entries of the pressure arrays that one vreg needs.
  [[nodiscard]] constexpr int width() const { return std::min(units() + kScanPadding, ir::kMaxUnits); }
};
[[nodiscard]] constexpr ScanBudget scan_budget(int limit, AllocationMode mode) {
  const int shift = mode == AllocationMode::CssaPaired ? 2 : mode == AllocationMode::Cssa ? 1 : 0;
  return {(limit + kHeadroom) << shift, shift};
}

}  // namespace regduel::allocator
