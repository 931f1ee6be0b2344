#include "allocator/walk/arrangement.h"

#include <gmock/gmock.h>

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

constexpr Geometry kOne{}, kPair{.units = 2, .align = 2}, kQuad{.units = 4, .align = 4};

Room room(int units, int needed) { return {UnitSet::range(0, units), needed, true}; }

Stand across(std::uint32_t v, Geometry shape, int before) {
  return {.vreg = ir::VRegId(v), .shape = shape, .at_reads = true, .at_writes = true, .before = before};
}
Stand begins(std::uint32_t v, Geometry shape) { return {.vreg = ir::VRegId(v), .shape = shape, .at_writes = true}; }

std::vector<int> homes(const Arrangement& a) {
  std::vector<int> list;
  for (const Stand& s : a.stands) list.push_back(s.now);
  return list;
}

TEST(Tightest, AScalarTakesWhatNoPairCanUse) {
  UnitSet free = UnitSet::range(4, 8);
  free.set(1);
  EXPECT_EQ(tightest(free, kOne, room(8, 8)), 1);
  EXPECT_EQ(tightest(free, kPair, room(8, 8)), 4);
  EXPECT_EQ(tightest(free, kQuad, room(8, 8)), 4);
}

TEST(Tightest, APairTakesWhatNoQuadCanUse) {
  UnitSet free = UnitSet::range(0, 4);
  free.set_range(6, 8);
  EXPECT_EQ(tightest(free, kPair, room(8, 8)), 6);
}

TEST(Tightest, ElseAScalarLeavesTheLowerEndToTuples) {
  EXPECT_EQ(tightest(UnitSet::range(0, 8), kOne, room(8, 8)), 7);
  EXPECT_EQ(tightest(UnitSet::range(0, 8), kOne, room(8, 3)), 2) << "of the units that are needed anyhow";
  EXPECT_EQ(tightest(UnitSet::range(4, 8), kOne, room(8, 3)), 4) << "beyond them the lowest";
  EXPECT_EQ(tightest(UnitSet(), kOne, room(8, 8)), kNowhere);
}

TEST(Arrangement, TheCheapestMovesAside) {
  const Room r = room(4, 4);
  Arrangement a(r);
  a.stands = {across(0, kOne, 0), across(1, kOne, 2), begins(2, kPair)};
  ASSERT_TRUE(a.arrange());
  EXPECT_THAT(homes(a), ElementsAre(3, 2, 0));
}

TEST(Arrangement, WhatIsReadForTheLastTimeMakesRoomForWhatIsWritten) {
  const Room r = room(2, 2);
  Arrangement a(r);
  a.stands = {across(0, kOne, 0), {.vreg = ir::VRegId(1), .shape = kOne, .at_reads = true, .before = 1}, begins(2, kOne)};
  ASSERT_TRUE(a.arrange());
  EXPECT_THAT(homes(a), ElementsAre(0, 1, 1));
}

TEST(Arrangement, WhatIsDestroyedLeaves) {
  const Room r = room(4, 4);
  Arrangement a(r);
  a.stands = {across(0, kOne, 0), across(1, kOne, 2)};
  a.stands[0].forbidden = UnitSet::range(0, 2);
  ASSERT_TRUE(a.arrange());
  EXPECT_THAT(homes(a), ElementsAre(3, 2));
}

TEST(Arrangement, ABoundOneDrivesOthersAway) {
  const Room r = room(3, 3);
  Arrangement a(r);
  a.stands = {across(0, kOne, 1), begins(1, kOne)};
  a.stands[1].bound = 1;
  ASSERT_TRUE(a.arrange());
  EXPECT_EQ(a.stands[1].now, 1);
  EXPECT_NE(a.stands[0].now, 1);
}

// A pair in each half: one has to join the other.
TEST(Arrangement, TwoPairsMakeRoomForAQuad) {
  const Room r = room(8, 8);
  Arrangement a(r);
  a.stands = {across(0, kPair, 0), across(1, kPair, 4), begins(2, kQuad)};
  ASSERT_TRUE(a.arrange());
  EXPECT_THAT(homes(a), ElementsAre(::testing::AnyOf(0, 2, 4, 6), ::testing::AnyOf(0, 2, 4, 6), ::testing::AnyOf(0, 4)));
  UnitSet taken;
  for (const Stand& s : a.stands) {
    EXPECT_FALSE(taken.has_any(s.now, s.now + s.shape.units));
    taken.set_range(s.now, s.now + s.shape.units);
  }
}

TEST(Arrangement, NoWayLeavesAllWhereTheyWere) {
  const Room r = room(4, 4);
  Arrangement a(r);
  a.stands = {across(0, kOne, 0), across(1, kPair, 2), begins(2, kPair)};
  EXPECT_FALSE(a.arrange());
  EXPECT_THAT(homes(a), ElementsAre(0, 2, kNowhere));
  a.stands.pop_back();
  EXPECT_TRUE(a.place_anew());
}

}  // namespace
}  // namespace regduel::allocator
