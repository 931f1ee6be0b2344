#include "allocator/assign/geometry.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace regduel::allocator {
namespace {

TEST(Geometry, OfVregs) {
  ir::VReg v;
  EXPECT_EQ(geometry_of(v).units, 1);
  EXPECT_EQ(geometry_of(v).pair_mode, PairMode::Single);
  v.width = 96;
  v.align_log2 = 2;
  EXPECT_EQ(geometry_of(v).units, 3);
  EXPECT_EQ(geometry_of(v).step(), 4);
  EXPECT_EQ(geometry_of(v).pair_mode, PairMode::Tuple);
}

TEST(Geometry, HalfWidthPredicates) {
  ir::VReg v;
  v.cls = ir::RegClass::P;
  v.width = 1;
  EXPECT_EQ(geometry_of(v).pair_mode, PairMode::Single);
  EXPECT_EQ(geometry_of(v, true).pair_mode, PairMode::Half);
  EXPECT_EQ(geometry_of(ir::VReg{}, true).pair_mode, PairMode::Single);
}

// Source 000 "Budget Computation": seven more, and never beyond the arrays.
TEST(Geometry, Scan) {
  EXPECT_EQ(scan_units(255), 262);
  EXPECT_EQ(scan_width(255), 266);
  EXPECT_EQ(scan_units(510), ir::kMaxUnits);
  EXPECT_EQ(scan_width(500), 511);
  EXPECT_EQ(scan_width(510), ir::kMaxUnits);
}

}  // namespace
}  // namespace regduel::allocator
