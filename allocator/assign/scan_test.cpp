// The scan over the pressure arrays.

#include "allocator/assign/scan.h"

#include <gtest/gtest.h>

#include "allocator/assign/constraints.h"
#include "base/random.h"
#include "ir/target.h"

namespace regduel::allocator {
namespace {

struct Case {
  PressureArrays arrays;
  UnitSet forbidden;
  Geometry geometry;
  void weigh(int unit, int weight);
  [[nodiscard]] ScanRequest request(int ceiling) const { return {arrays, forbidden, geometry, ceiling}; }
};

Constraint constraint(ConstraintType type, int weight) {
  Constraint c;
  c.type = type;
  c.weight = static_cast<std::int16_t>(weight);
  return c;
}

// Each unit has a bank of its own.
void Case::weigh(int unit, int weight) {
  ir::Target machine = ir::default_target();
  machine.register_banks = ir::kMaxUnits;
  arrays.add(constraint(ConstraintType::EvenParity, weight), unit, ir::kMaxUnits, machine);
}

// Where only affinities weigh, few units are looked at; a constraint without weight has all looked at.
TEST(Scan, ShortWayAgreesWithTheLongOne) {
  Random random(5);
  for (int round = 0; round < 2000; ++round) {
    Case few, all;
    few.geometry = {.units = random.between(1, 5), .align = 1 << random.between(0, 3), .pair_mode = PairMode::Tuple};
    for (int n = random.between(0, 150); n > 0; --n) few.forbidden.set(random.between(0, 199));
    if (random.chance(20)) few.forbidden.set_range(0, random.between(0, 199));
    all.geometry = few.geometry;
    all.forbidden = few.forbidden;
    all.weigh(0, 0);
    for (int n = random.between(0, 6); n > 0; --n) {
      const int target = random.between(-2, 201);
      for (Case* c : {&few, &all})
        c->arrays.add(constraint(ConstraintType::Range, 1 + (target + 2) % 3), target, 200, ir::default_target());
    }
    ASSERT_FALSE(few.arrays.has_primary());
    ASSERT_TRUE(all.arrays.has_primary());
    const int ceiling = random.between(0, 200);
    ASSERT_EQ(select_position(few.request(ceiling)), select_position(all.request(ceiling)));
  }
}

TEST(Scan, LowestSlotWithoutCostIsTakenAtOnce) {
  Case c;
  c.weigh(0, 1);
  EXPECT_EQ(select_position(c.request(4)), 1);
}

TEST(Scan, PrimaryDecidesBeforeAffinity) {
  Case c;
  c.arrays.add(constraint(ConstraintType::Range, 4), 2, 4, ir::default_target());
  EXPECT_EQ(select_position(c.request(4)), 2);
  c.weigh(2, 9);
  EXPECT_EQ(select_position(c.request(4)), 0);
}

TEST(Scan, HardConflictsAreNeverCandidates) {
  Case c;
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  c.forbidden.set(1);
  c.weigh(2, 1000);
  EXPECT_EQ(select_position(c.request(4)), 2);
  c.forbidden.set(3);
  EXPECT_EQ(select_position(c.request(4)), -1);
  EXPECT_EQ(select_position(c.request(5)), -1);  // R4:R5 would end above the ceiling
  EXPECT_EQ(select_position(c.request(6)), 4);
}

TEST(Scan, NothingBelowTheStart) {
  Case c;
  const auto from_three = [&] {
    ScanRequest request = c.request(8);
    request.start = 3;
    return select_position(request);
  };
  EXPECT_EQ(from_three(), 3);  // the short way
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  EXPECT_EQ(from_three(), 4);
  c.weigh(0, 0);
  EXPECT_EQ(from_three(), 4);  // the long way
}

}  // namespace
}  // namespace regduel::allocator
