// The weights of every constraint type.

#include "allocator/assign/pressure.h"

#include <string>

#include <gtest/gtest.h>

#include "allocator/assign/constraints.h"
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
std::string primary(const Constraint& c, int target, int banks = 4) {
  PressureArrays arrays;
  arrays.add(c, target, kWidth, machine(banks));
  std::string s;
  for (int unit = 0; unit < kWidth; ++unit) s += std::to_string(arrays.primary(unit));
  return s;
}

TEST(Pressure, EveryType) {
  using enum ConstraintType;
  for (const ConstraintType bank : {EvenParity, OddParity, ParityGroup, ParityExtended}) {
    EXPECT_EQ(primary(constraint(bank), 6), "001000100010");
    EXPECT_EQ(primary(constraint(bank), -1), "000100010001");
    EXPECT_EQ(primary(constraint(bank), 6, 2), "101010101010");
    EXPECT_EQ(primary(constraint(bank), 1, 3), "010010010010");
  }
  EXPECT_EQ(primary(constraint(Custom4, 2), 0), "002002002000");
  EXPECT_EQ(primary(constraint(Custom9), 1), "111100000000");
  EXPECT_EQ(primary(constraint(Custom10), 2), "000000000000");  // no such rule
}

TEST(Pressure, RangeAloneWritesTheSecondaryArray) {
  PressureArrays arrays;
  arrays.add(constraint(ConstraintType::Range, 3), 5, kWidth, machine());
  EXPECT_FALSE(arrays.has_primary());
  for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), unit == 5 ? 0 : 3);
  arrays.add(constraint(ConstraintType::Range, 2), kWidth, kWidth, machine());  // its target is out of reach
  for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), unit == 5 ? 2 : 5);
  for (const ConstraintType type : {ConstraintType::Custom4, ConstraintType::EvenParity, ConstraintType::ParityExtended}) {
    arrays.reset();
    arrays.add(constraint(type), 1, kWidth, machine());
    for (int unit = 0; unit < kWidth; ++unit) EXPECT_EQ(arrays.secondary(unit), 0);
    EXPECT_TRUE(arrays.has_primary());
  }
}

TEST(Pressure, ResetForgetsEverything) {
  PressureArrays arrays;
  arrays.add(constraint(ConstraintType::Range, 3), 5, 16, machine());
  arrays.add(constraint(ConstraintType::EvenParity, 2), 7, 16, machine());
  arrays.reset();
  for (int k = 0; k < 20; ++k) EXPECT_EQ(arrays.primary(k) + arrays.secondary(k), 0);
  EXPECT_FALSE(arrays.has_primary());
  EXPECT_TRUE(arrays.wanted().empty());
}

}  // namespace
}  // namespace regduel::allocator
