// The footprint of a vreg in its register file: width, alignment, pair mode, step of the scan.
//
// Source: seed 000 "Step 1: VR Geometry". Deviates: a vreg occupies its units, not its aligned width (a 96-bit value leaves the
// fourth unit of its aligned quad to others, since an instruction's demand counts units); the pair mode is derived from width
// and alignment (DECISIONS); slots are units, so that mode 1, the half-slot coordinates, occurs only where a target has
// predicate halves. Tested by geometry_test.cpp.
#pragma once

#include <cstdint>

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

[[nodiscard]] inline Geometry geometry_of(const ir::VReg& v) {
  Geometry g;
  g.units = v.units();
  g.align = v.alignment();
  g.pair_mode = g.units > 1 && g.align > 1 ? PairMode::Tuple : PairMode::Single;
  return g;
}

}  // namespace regduel::allocator
