// Pressure arrays and the scan over them.

#include "allocator/scan.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

struct Case {
  PressureArrays arrays;
  UnitSet forbidden;
  Geometry geometry;
  Case() { arrays.reset(ir::kMaxUnits); }
  [[nodiscard]] ScanRequest request(int ceiling, bool first_pass = false, int threshold = 50) const {
    return {arrays, forbidden, geometry, ceiling, first_pass, threshold};
  }
};

Constraint constraint(ConstraintType type, int weight) {
  Constraint c;
  c.type = type;
  c.weight = static_cast<std::int16_t>(weight);
  return c;
}

TEST(Pressure, OnlyTypeFifteenWritesTheSecondaryArray) {
  for (const ConstraintType type : {ConstraintType::PointInterference, ConstraintType::ExcludeOne, ConstraintType::ExcludeAllBut, ConstraintType::BelowPoint,
                                    ConstraintType::PairedLow, ConstraintType::PairedHigh, ConstraintType::AlignedPair, ConstraintType::PhiRelated,
                                    ConstraintType::EvenParity, ConstraintType::OddParity, ConstraintType::ParityGroup,
                                    ConstraintType::ParityExtended, ConstraintType::Range}) {
    Case c;
    c.arrays.add(constraint(type, 3), 5, 16, c.geometry, 4);
    int primary = 0, secondary = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      primary += c.arrays.primary[k];
      secondary += c.arrays.secondary[k];
    }
    EXPECT_EQ(secondary > 0, type == ConstraintType::Range);
    EXPECT_EQ(primary > 0, type != ConstraintType::Range);
  }
}

TEST(Pressure, TypesOneTwoAndThree) {
  Case c;
  c.arrays.add(constraint(ConstraintType::ExcludeOne, 5), 2, 4, c.geometry, 4);
  EXPECT_EQ(c.arrays.primary[2], 5);
  c.arrays.add(constraint(ConstraintType::ExcludeAllBut, 1), 2, 4, c.geometry, 4);
  EXPECT_EQ(c.arrays.primary[2], 5);
  EXPECT_EQ(c.arrays.primary[3], 1);
  c.arrays.add(constraint(ConstraintType::BelowPoint, 7), 1, 4, c.geometry, 4);
  EXPECT_EQ(c.arrays.primary[0], 8);
  EXPECT_EQ(c.arrays.primary[1], 1);
}

TEST(Pressure, PointWeighsOnEverySlotThatWouldCoverIt) {
  Case c;
  c.geometry.units = 2;
  c.arrays.add(constraint(ConstraintType::PointInterference, 1), 3, 8, c.geometry, 4);
  EXPECT_EQ(c.arrays.primary[2], 1);
  EXPECT_EQ(c.arrays.primary[3], 1);
  EXPECT_EQ(c.arrays.primary[4], 0);
}

TEST(Scan, LowestSlotWithoutCostIsTakenAtOnce) {
  Case c;
  c.arrays.primary[0] = 1;
  EXPECT_EQ(select_fatpoint(c.request(4)), 1);
  EXPECT_EQ(select_simple(c.request(4)), 1);
}

TEST(Scan, FirstPassLooksAtAffinityAlone) {
  Case c;
  c.arrays.add(constraint(ConstraintType::Range, 4), 2, 4, c.geometry, 4);
  c.arrays.primary[2] = 9;
  EXPECT_EQ(select_fatpoint(c.request(4, true)), 2);
  EXPECT_EQ(select_fatpoint(c.request(4, false)), 0);
  EXPECT_EQ(select_fatpoint(c.request(4, true, 8)), 0);  // slot 2 is congested, so primary decides
}

TEST(Scan, HardConflictsAreNeverCandidates) {
  Case c;
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  c.forbidden.set(1);
  c.arrays.primary[2] = 1000;
  EXPECT_EQ(select_fatpoint(c.request(4)), 2);
  c.forbidden.set(3);
  EXPECT_EQ(select_fatpoint(c.request(4)), -1);
  EXPECT_EQ(select_simple(c.request(4)), -1);
  EXPECT_EQ(select_fatpoint(c.request(5)), -1);  // R4:R5 would end above the ceiling
  EXPECT_EQ(select_fatpoint(c.request(6)), 4);
}

TEST(Scan, SpillPhaseSkipsCongestedSlotsUnlessNoneIsLeft) {
  Case c;
  c.arrays.primary[0] = 60;
  c.arrays.primary[1] = 55;
  EXPECT_EQ(select_simple(c.request(2)), 1);
  c.arrays.primary[2] = 50;
  EXPECT_EQ(select_simple(c.request(3)), 2);
}

}  // namespace
}  // namespace regduel::allocator
