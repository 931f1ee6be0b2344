#include "allocator/geometry.h"

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

}  // namespace
}  // namespace regduel::allocator
