// The weights of every constraint type.

#include "allocator/assign/pressure.h"

#include <string>

#include <gtest/gtest.h>

#include "allocator/assign/constraints.h"
#include "base/random.h"
#include "ir/target.h"

namespace regduel::allocator {
namespace {

constexpr int kWidth = 12;

Constraint constraint(ConstraintType type, int weight = 1) {
  Constraint c;
  c.type = type;
  c.weight = static_cast<std::int16_t>(weight);
  return c;
}

ir::Target machine(int banks = 4) {
  ir::Target t;
  t.register_banks = banks;
  t.custom_constraints = {{4, "tex", {ir::RegFile::R, 8, 2}, 3, 2}, {9, "mma", {ir::RegFile::R, 4, 0}, 1, 1}};
  return t;
}

// One digit a unit.
std::string primary(const Constraint& c, int target, Geometry g = {}, int banks = 4) {
  PressureArrays arrays;
  arrays.add(c, target, kWidth, g, machine(banks));
  std::string s;
  for (int unit = 0; unit < kWidth; ++unit) s += std::to_string(arrays.primary(unit));
  return s;
}

constexpr Geometry kPair = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};

TEST(Pressure, EveryType) {
  using enum ConstraintType;
  EXPECT_EQ(primary(constraint(PointInterference), 5), "000001000000");
  EXPECT_EQ(primary(constraint(PointInterference), 5, kPair), "000011000000");  // each unit whose footprint would cover it
  Constraint wide = constraint(PointInterference);
  wide.span = 2;
  EXPECT_EQ(primary(wide, 5, kPair), "000011100000");
  EXPECT_EQ(primary(constraint(ExcludeOne, 5), 2), "005000000000");
  EXPECT_EQ(primary(constraint(ExcludeAllBut), 2), "110111111111");
  EXPECT_EQ(primary(constraint(BelowPoint), 4), "111100000000");
  EXPECT_EQ(primary(constraint(PairedLow), 4), "000010000000");
  EXPECT_EQ(primary(constraint(PairedLow), 4, kPair), "000011000000");
  EXPECT_EQ(primary(constraint(PairedHigh), 4), "000001000000");
  EXPECT_EQ(primary(constraint(AlignedPair), 4), "000011000000");
  EXPECT_EQ(primary(constraint(PhiRelated), 4), "010101010101");
  EXPECT_EQ(primary(constraint(PhiRelated), 3), "101010101010");
  for (const ConstraintType bank : {EvenParity, OddParity, ParityGroup, ParityExtended}) {
    EXPECT_EQ(primary(constraint(bank), 6), "001000100010");
    EXPECT_EQ(primary(constraint(bank), -1), "000100010001");
    EXPECT_EQ(primary(constraint(bank), 6, {}, 2), "101010101010");
    EXPECT_EQ(primary(constraint(bank), 1, {}, 3), "010010010010");
  }
  EXPECT_EQ(primary(constraint(Custom4, 2), 0), "002002002000");
  EXPECT_EQ(primary(constraint(Custom9), 1), "111100000000");
  EXPECT_EQ(primary(constraint(Custom10), 2), "000000000000");  // no such rule
}

TEST(Pressure, RangeAloneWritesTheSecondaryArray) {
  PressureArrays arrays;
  arrays.add(constraint(ConstraintType::Range, 3), 5, kWidth, {}, machine());
  EXPECT_FALSE(arrays.has_primary());
  for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), unit == 5 ? 0 : 3);
  arrays.add(constraint(ConstraintType::Range, 2), kWidth, kWidth, {}, machine());  // its target is out of reach
  for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), unit == 5 ? 2 : 5);
  for (int type = 0; type < kNumConstraintTypes - 1; ++type) {
    arrays.reset();
    arrays.add(constraint(static_cast<ConstraintType>(type)), 1, kWidth, {}, machine());
    for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), 0);
    EXPECT_TRUE(arrays.has_primary());
  }
}

// Whole stretches are what the rule says unit by unit: every type, width, target and shape.
TEST(Pressure, StretchesAgreeWithTheRule) {
  Random random(11);
  PressureArrays arrays;
  for (int round = 0; round < 20000; ++round) {
    const int width = random.between(0, 3) == 0 ? random.between(0, ir::kMaxUnits) : random.between(0, 40);
    const ir::Target target_machine = machine(random.between(1, 9));
    const Geometry g = {
        .units = random.between(1, 8), .align = 1, .pair_mode = random.chance(50) ? PairMode::Tuple : PairMode::Single};
    std::int32_t expected[ir::kMaxUnits] = {};
    arrays.reset();
    for (int n = random.between(1, 4); n > 0; --n) {
      Constraint c = constraint(static_cast<ConstraintType>(random.between(0, kNumConstraintTypes - 1)), random.between(1, 16));
      c.span = static_cast<std::uint8_t>(random.between(1, 8));
      const int target = random.between(0, width + 20) - 10;
      arrays.add(c, target, width, g, target_machine);
      for (int unit = 0; unit < width; ++unit)
        if (c.type != ConstraintType::Range && weighs_on(c, unit, target, g, target_machine)) expected[unit] += c.weight;
    }
    for (int unit = 0; unit < ir::kMaxUnits; ++unit) ASSERT_EQ(arrays.primary(unit), expected[unit]) << unit << " of " << width;
  }
}

TEST(Pressure, ResetForgetsEverything) {
  PressureArrays arrays;
  arrays.add(constraint(ConstraintType::Range, 3), 5, 16, {}, machine());
  arrays.add(constraint(ConstraintType::ExcludeAllBut, 2), 7, 16, {}, machine());
  arrays.reset();
  for (int k = 0; k < 20; ++k) EXPECT_EQ(arrays.primary(k) + arrays.secondary(k), 0);
  EXPECT_FALSE(arrays.has_primary());
  EXPECT_TRUE(arrays.wanted().empty());
}

}  // namespace
}  // namespace regduel::allocator
