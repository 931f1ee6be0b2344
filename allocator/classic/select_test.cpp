// The fat point among the positions that are free.

#include "allocator/classic/select.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::allocator {
namespace {

struct Case {
  Pressure pressure;
  Geometry geometry;
  int ceiling = 8;
  int threshold = 50;

  Case() { pressure.zero(ir::kMaxUnits); }
  Case& primary(int unit, int weight) {
    pressure.primary[static_cast<std::size_t>(unit)] = weight;
    return *this;
  }
  Case& secondary(int unit, int weight) {
    pressure.secondary[static_cast<std::size_t>(unit)] = weight;
    return *this;
  }
  Case& occupy(int lo, int hi) {
    pressure.occupied.set_range(lo, hi);
    return *this;
  }
  [[nodiscard]] Scan scan() const { return {pressure, geometry, 0, ceiling, threshold}; }
  [[nodiscard]] int first(int last = -1) const { return select_long(scan(), true, last).unit; }
  [[nodiscard]] int later(int last = -1) const { return select_long(scan(), false, last).unit; }
  [[nodiscard]] int simple() const { return select_simple(scan()).unit; }
};

TEST(Select, NothingWeighs) {
  EXPECT_EQ(Case().first(), 0);
  EXPECT_EQ(Case().occupy(0, 3).later(), 3);
  EXPECT_EQ(Case().occupy(0, 3).simple(), 3);
  EXPECT_EQ(Case().occupy(0, 8).later(), -1) << "a position at the ceiling would end above it";
}

TEST(Select, TheFirstPassGoesByTheSecondaryArrayAlone) {
  Case c;
  c.primary(0, 9).secondary(1, 5);
  for (int unit = 2; unit < 8; ++unit) c.primary(unit, 1).secondary(unit, 5);
  EXPECT_EQ(c.first(), 0);
  EXPECT_EQ(c.later(), 1) << "least in the primary";
}

TEST(Select, CongestionEndsTheFirstPass) {
  Case c;
  for (int unit = 0; unit < 8; ++unit) c.primary(unit, unit == 3 ? 20 : 51);
  EXPECT_EQ(c.first(), 3);
  c.threshold = 51;
  EXPECT_EQ(c.first(), 0);
  c.threshold = 50;
  for (int unit = 0; unit < 8; ++unit)
    if (unit != 0) c.primary(unit, 10);
  c.primary(0, 51).occupy(0, 1);
  EXPECT_EQ(c.first(), 1) << "what is occupied does not count as congested";
}

TEST(Select, SecondaryBreaksTies) {
  Case c;
  for (int unit = 0; unit < 8; ++unit) c.primary(unit, 2).secondary(unit, unit == 5 ? 1 : 4);
  EXPECT_EQ(c.later(), 5);
  EXPECT_EQ(c.simple(), 5);
  c.primary(6, 1);
  EXPECT_EQ(c.later(), 6) << "the primary comes first";
  EXPECT_EQ(c.simple(), 6);
}

TEST(Select, SimpleSelectionTakesACongestedPositionOnlyIfThereIsNoOther) {
  Case c;
  for (int unit = 0; unit < 8; ++unit) c.primary(unit, unit == 2 ? 60 : 70);
  EXPECT_EQ(c.simple(), 2);
  c.primary(7, 50);
  EXPECT_EQ(c.simple(), 7);
}

TEST(Select, TheWholeFootprintHasToBeFree) {
  Case c;
  c.geometry = {.units = 2, .align = 2, .pair_mode = PairMode::Tuple};
  c.occupy(1, 2).occupy(2, 3);
  EXPECT_EQ(c.later(), 4);
  c.geometry = {.units = 3, .align = 4, .pair_mode = PairMode::Tuple};
  EXPECT_EQ(c.later(), 4);
  c.ceiling = 6;
  EXPECT_EQ(c.later(), -1);
}

TEST(Select, BanksLeaveOutTheGroupOfTheLastVreg) {
  EXPECT_EQ(Case().later(1), 4);
  EXPECT_EQ(Case().later(6), 0);
  EXPECT_EQ(Case().occupy(4, 8).later(1), 0) << "a filter that leaves nothing is dropped";
  Case halves;
  halves.geometry.pair_mode = PairMode::Half;
  EXPECT_EQ(halves.later(1), 0) << "groups of eight";
}

// Against the definition, position by position.
TEST(Select, IsTheLeastByDefinition) {
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    const auto c = std::make_unique<Case>();
    c->ceiling = random.between(0, 40);
    c->geometry = {.units = random.between(1, 4), .align = 1 << random.between(0, 2), .pair_mode = PairMode::Tuple};
    for (int unit = 0; unit < 44; ++unit) {
      c->primary(unit, random.chance(50) ? 0 : random.between(0, 60)).secondary(unit, random.between(0, 3));
      if (random.chance(40)) c->occupy(unit, unit + 1);
    }
    std::optional<std::pair<int, int>> least;
    int expected = -1;
    for (int unit = 0; unit + c->geometry.units <= c->ceiling; unit += c->geometry.align) {
      if (c->pressure.occupied.has_any(unit, unit + c->geometry.units)) continue;
      const auto k = static_cast<std::size_t>(unit);
      const std::pair weight(c->pressure.primary[k], c->pressure.secondary[k]);
      if (least && weight >= *least) continue;
      least = weight;
      expected = unit;
    }
    ASSERT_EQ(c->later(), expected) << round;
    ASSERT_EQ(c->simple(), expected) << round;
  }
}

}  // namespace
}  // namespace regduel::allocator
