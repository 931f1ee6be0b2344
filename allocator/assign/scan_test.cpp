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

void Case::weigh(int unit, int weight) {
  arrays.add(constraint(ConstraintType::ExcludeOne, weight), unit, ir::kMaxUnits, geometry, ir::default_target());
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
        c->arrays.add(constraint(ConstraintType::Range, 1 + (target + 2) % 3), target, 200, few.geometry, ir::default_target());
    }
    ASSERT_FALSE(few.arrays.has_primary());
    ASSERT_TRUE(all.arrays.has_primary());
    const int ceiling = random.between(0, 200);
    for (const bool first_pass : {true, false})
      ASSERT_EQ(select_fatpoint(few.request(ceiling, first_pass)), select_fatpoint(all.request(ceiling, first_pass)));
    ASSERT_EQ(select_simple(few.request(ceiling)), select_simple(all.request(ceiling)));
  }
}

TEST(Scan, LowestSlotWithoutCostIsTakenAtOnce) {
  Case c;
  c.weigh(0, 1);
  EXPECT_EQ(select_fatpoint(c.request(4)), 1);
  EXPECT_EQ(select_simple(c.request(4)), 1);
}

TEST(Scan, FirstPassLooksAtAffinityAlone) {
  Case c;
  c.arrays.add(constraint(ConstraintType::Range, 4), 2, 4, c.geometry, ir::default_target());
  c.weigh(2, 9);
  EXPECT_EQ(select_fatpoint(c.request(4, true)), 2);
  EXPECT_EQ(select_fatpoint(c.request(4, false)), 0);
  EXPECT_EQ(select_fatpoint(c.request(4, true, 8)), 0);  // unit 2 is congested, so primary decides
}

TEST(Scan, HardConflictsAreNeverCandidates) {
  Case c;
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  c.forbidden.set(1);
  c.weigh(2, 1000);
  EXPECT_EQ(select_fatpoint(c.request(4)), 2);
  c.forbidden.set(3);
  EXPECT_EQ(select_fatpoint(c.request(4)), -1);
  EXPECT_EQ(select_simple(c.request(4)), -1);
  EXPECT_EQ(select_fatpoint(c.request(5)), -1);  // R4:R5 would end above the ceiling
  EXPECT_EQ(select_fatpoint(c.request(6)), 4);
}

TEST(Scan, NothingBelowTheStart) {
  Case c;
  const auto from_three = [&] {
    ScanRequest request = c.request(8);
    request.start = 3;
    return std::pair(select_fatpoint(request), select_simple(request));
  };
  EXPECT_EQ(from_three(), std::pair(3, 3));  // the short way
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  EXPECT_EQ(from_three(), std::pair(4, 4));
  c.weigh(0, 0);
  EXPECT_EQ(from_three(), std::pair(4, 4));  // the long way
}

TEST(Scan, SpillPhaseSkipsCongestedSlotsUnlessNoneIsLeft) {
  Case c;
  c.weigh(0, 60);
  c.weigh(1, 55);
  EXPECT_EQ(select_simple(c.request(2)), 1);
  c.weigh(2, 50);
  EXPECT_EQ(select_simple(c.request(3)), 2);
}

}  // namespace
}  // namespace regduel::allocator
