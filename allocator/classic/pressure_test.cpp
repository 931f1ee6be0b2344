// The weights that each type of constraint adds to the arrays.

#include "allocator/classic/pressure.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

constexpr int kWidth = 8;

Constraint constraint(ConstraintType type, int weight, bool is_soft = true) {
  Constraint c;
  c.type = type;
  c.weight = static_cast<std::int16_t>(weight);
  c.is_soft = is_soft;
  return c;
}

std::vector<int> primary_of(const Constraint& c, int target, const Geometry& geometry = {},
                            const ir::Target& machine = ir::default_target()) {
  Pressure p;
  p.zero(kWidth);
  add(p, c, target, kWidth, geometry, machine);
  for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(p.secondary[static_cast<std::size_t>(unit)], 0);
  return {p.primary.begin(), p.primary.begin() + kWidth};
}

constexpr Geometry kPair{.units = 2, .align = 2, .pair_mode = PairMode::Tuple};

TEST(ClassicPressure, PointWeighsWhereTheFootprintWouldCoverTheTarget) {
  Pressure p;
  p.zero(kWidth);
  add_point(p, 3, 4, 1, kWidth, {});
  EXPECT_THAT(std::vector(p.primary.begin(), p.primary.begin() + kWidth), ElementsAre(0, 0, 0, 0, 3, 0, 0, 0));
  p.zero(kWidth);
  add_point(p, 3, 4, 2, kWidth, kPair);
  EXPECT_THAT(std::vector(p.primary.begin(), p.primary.begin() + kWidth), ElementsAre(0, 0, 0, 3, 3, 3, 0, 0));
  p.zero(kWidth);
  add_point(p, 3, 0, 1, kWidth, kPair);
  EXPECT_THAT(std::vector(p.primary.begin(), p.primary.begin() + kWidth), ElementsAre(3, 0, 0, 0, 0, 0, 0, 0));
}

TEST(ClassicPressure, TypesOneToThree) {
  EXPECT_THAT(primary_of(constraint(ConstraintType::ExcludeOne, 5), 2), ElementsAre(0, 0, 5, 0, 0, 0, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::ExcludeAllBut, 5), 2), ElementsAre(5, 5, 0, 5, 5, 5, 5, 5));
  EXPECT_THAT(primary_of(constraint(ConstraintType::ExcludeAllBut, 5), -3), ElementsAre(5, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_THAT(primary_of(constraint(ConstraintType::BelowPoint, 5), 3), ElementsAre(5, 5, 5, 0, 0, 0, 0, 0));
}

TEST(ClassicPressure, TypesFiveToEight) {
  EXPECT_THAT(primary_of(constraint(ConstraintType::PairedLow, 2), 4), ElementsAre(0, 0, 0, 0, 2, 0, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::PairedLow, 2), 4, kPair), ElementsAre(0, 0, 0, 0, 2, 2, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::PairedHigh, 2), 4), ElementsAre(0, 0, 0, 0, 0, 2, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::AlignedPair, 2), 4), ElementsAre(0, 0, 0, 0, 2, 2, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::PhiRelated, 1), 3), ElementsAre(1, 0, 1, 0, 1, 0, 1, 0));
}

TEST(ClassicPressure, ParityGoesByTheBanksOfTheTarget) {
  for (const ConstraintType type :
       {ConstraintType::EvenParity, ConstraintType::OddParity, ConstraintType::ParityGroup, ConstraintType::ParityExtended})
    EXPECT_THAT(primary_of(constraint(type, 4), 5), ElementsAre(0, 4, 0, 0, 0, 4, 0, 0));
  EXPECT_THAT(primary_of(constraint(ConstraintType::EvenParity, 4), -1), ElementsAre(0, 0, 0, 4, 0, 0, 0, 4));
}

TEST(ClassicPressure, CustomTypesGoByTheTarget) {
  ir::Target machine = ir::default_target();
  machine.custom_constraints = {{9, "mma", {ir::RegFile::R, 4, 2}, 2, 7}};
  EXPECT_THAT(primary_of(constraint(ConstraintType::Custom9, 70), 0, {}, machine), ElementsAre(0, 0, 70, 0, 70, 0, 0, 0))
      << "the weight is the target's, above that of hard constraints";
  EXPECT_THAT(primary_of(constraint(ConstraintType::Custom9, 7), 1, {}, machine), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(ClassicPressure, HardConstraintsWeighSixteenAndSoftOnesLess) {
  EXPECT_EQ(primary_of(constraint(ConstraintType::ExcludeOne, 1, false), 0)[0], 16);
  EXPECT_EQ(primary_of(constraint(ConstraintType::ExcludeOne, 1000), 0)[0], 15);
  EXPECT_EQ(primary_of(constraint(ConstraintType::ExcludeOne, 0), 0)[0], 1);
}

TEST(ClassicPressure, RangeAloneWritesTheSecondaryArray) {
  Pressure p;
  p.zero(kWidth);
  add(p, constraint(ConstraintType::Range, 1000, false), 2, kWidth, {}, ir::default_target());
  EXPECT_THAT(std::vector(p.secondary.begin(), p.secondary.begin() + kWidth),
              ElementsAre(1000, 1000, 0, 1000, 1000, 1000, 1000, 1000));
  EXPECT_THAT(std::vector(p.primary.begin(), p.primary.begin() + kWidth), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace regduel::allocator
