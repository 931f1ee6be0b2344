#include "allocator/assign/geometry.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

// The table of seed 000 "Step 1: VR Geometry".
TEST(Geometry, AlignedWidth) {
  EXPECT_EQ(aligned_width(1, 0), 1);
  EXPECT_EQ(aligned_width(2, 0), 2);
  EXPECT_EQ(aligned_width(2, 1), 2);
  EXPECT_EQ(aligned_width(3, 1), 4);
}

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

// Seed 000 "Assignment", case 1: a double-width register takes the next one as well.
TEST(Geometry, Consumption) {
  EXPECT_EQ(consumption(4, {}), 4);
  EXPECT_EQ(consumption(4, {.units = 2, .align = 2, .pair_mode = PairMode::Tuple}), 5);
}

// Seed 000 "Budget Computation": seven more, doubled or quadrupled by the mode. Coordinates grow, units do not.
TEST(Geometry, ScanBudget) {
  EXPECT_EQ(scan_budget(255, AllocationMode::Plain).coordinates, 262);
  EXPECT_EQ(scan_budget(255, AllocationMode::Fixed).coordinates, 262);
  EXPECT_EQ(scan_budget(255, AllocationMode::Cssa).coordinates, 524);
  EXPECT_EQ(scan_budget(255, AllocationMode::CssaPaired).coordinates, 1048);
  for (const AllocationMode mode : {AllocationMode::Plain, AllocationMode::Cssa, AllocationMode::CssaPaired}) {
    EXPECT_EQ(scan_budget(255, mode).units(), 262);
    EXPECT_EQ(scan_budget(255, mode).width(), 266);
    EXPECT_EQ(scan_budget(510, mode).units(), ir::kMaxUnits);
    EXPECT_EQ(scan_budget(500, mode).width(), 511);
    EXPECT_EQ(scan_budget(510, mode).width(), ir::kMaxUnits);
  }
}

}  // namespace
}  // namespace regduel::allocator
