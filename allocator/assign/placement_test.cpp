#include "allocator/assign/placement.h"

#include <gmock/gmock.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// %0 and %1 live at one time, %2 after both.
TEST(Neighbours, ThoseThatLiveWhileTheRangeDoes) {
  const ir::Function f = testing::program(R"(
    vreg %0 R b64
    vreg %1..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0, %1 !write
      #3 %2 = ld 2
      #4 st %2 !write
      #5 exit
)");
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  Neighbours n(f, live, 4);
  const ir::VRegId v0(0), v1(1), v2(2);
  const int home[] = {0, 1, 0};  // the second unit of %0 has two of them, as during a move
  n.add(v1);
  n.add(v0);
  n.add(v2);
  n.find(live.range(1), home);
  EXPECT_THAT(n.at(0), ElementsAre(v0));
  EXPECT_THAT(n.at(1), ElementsAre(v1, v0));  // as they came
  n.find(live.range(2), home);
  EXPECT_THAT(n.at(0), ElementsAre(v2));
  EXPECT_THAT(n.at(1), IsEmpty());
  n.remove(v0);
  n.find(live.range(1), home);
  EXPECT_THAT(n.at(0), IsEmpty());
  EXPECT_THAT(n.at(1), ElementsAre(v1));
  n.begin_list();
  EXPECT_TRUE(n.is_new(v0));
  EXPECT_FALSE(n.is_new(v0));
  n.begin_list();
  EXPECT_TRUE(n.is_new(v0));
}

// %0, %1 and %2 are live together behind #2; %3 lives when they are gone.
constexpr std::string_view kFour = R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    vreg %3 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 %3 = ld 3
      #5 st %3 !write
      #6 exit
)";

struct Scene : testing::LoweredRound {
  explicit Scene(int limit, std::string_view body = kFour) : LoweredRound(limit, body), allocator(round, ir::RegFile::R) {}
  FileAllocator allocator;
  AttemptOptions options{.kind = AttemptKind::Evicting};
  Placement placement() const { return {allocator, options, {.array_width = allocator.limit()}}; }
};

TEST(Placement, KnowsWhatIsTakenDuringARange) {
  const Scene s(8);
  Placement p = s.placement();
  p.put(VRegId(0), 3);
  p.put(VRegId(2), 4);
  EXPECT_EQ(p.home(VRegId(0)), 3);
  EXPECT_EQ(p.highest(), 6);
  EXPECT_TRUE(p.taken_during(p.range(VRegId(1))).has_all(3, 6));
  EXPECT_TRUE(p.taken_during(p.range(VRegId(1))).has(8)) << "above the limit";
  EXPECT_FALSE(p.taken_during(p.range(VRegId(3))).has_any(0, 8)) << "another time";
  p.take_off(VRegId(2));
  EXPECT_EQ(p.home(VRegId(2)), -1);
  EXPECT_FALSE(p.taken_during(p.range(VRegId(1))).has_any(4, 6));
  EXPECT_TRUE(p.used().has_all(4, 6)) << "even if it has left since";
}

TEST(Placement, WhatHasAnotherHomeLeavesAtNoCost) {
  Scene s(5);
  s.cost[0] = 7;
  s.cost[1] = 9;
  Placement p = s.placement();
  p.put(VRegId(0), 0);
  p.put(VRegId(1), 2);
  const Geometry pair = p.shape(VRegId(2));
  const UnitSet taken = p.taken_during(p.range(VRegId(2)));
  const auto all = [](VRegId, std::int64_t, std::int64_t) { return true; };
  EXPECT_FALSE(p.look_around(p.range(VRegId(2))).has_any(0, 5));
  EXPECT_EQ(p.leaving_cost(0, pair, taken, all), 0) << "R3 is free for it";
  EXPECT_THAT(p.leaving(), ElementsAre(VRegId(0)));
  p.take_off_leaving();
  p.put(VRegId(2), 0);
  EXPECT_EQ(p.resettle_leaving(VRegId(2)), 1);
  EXPECT_THAT(p.homes().first(3), ElementsAre(3, 2, 0));
  const Attempt a = p.conclude();
  EXPECT_TRUE(a.fits);
  EXPECT_EQ(a.used, 4);
}

TEST(Placement, WhatHasNoOtherHomeCostsWhatItCostsToSpillIt) {
  Scene s(4);
  s.cost[0] = 7;
  s.cost[1] = 9;
  Placement p = s.placement();
  p.put(VRegId(0), 0);
  p.put(VRegId(1), 1);
  p.reserve(p.range(VRegId(2)), 2, p.shape(VRegId(2)));
  const Geometry pair = p.shape(VRegId(2));
  const UnitSet taken = p.taken_during(p.range(VRegId(2)));
  std::vector<std::int64_t> sums;
  EXPECT_FALSE(p.look_around(p.range(VRegId(2))).has_any(0, 4));
  EXPECT_EQ(p.leaving_cost(0, pair, taken,
                           [&](VRegId, std::int64_t, std::int64_t sum) {
                             sums.push_back(sum);
                             return true;
                           }),
            16);
  EXPECT_THAT(sums, ElementsAre(7, 16));
  EXPECT_EQ(p.leaving_cost(0, pair, taken, [](VRegId, std::int64_t, std::int64_t sum) { return sum < 10; }), kUnspillable);
  p.list_leaving(0, pair, taken);
  EXPECT_THAT(p.leaving(), ElementsAre(VRegId(0), VRegId(1)));
  EXPECT_EQ(p.leaving_cost(2, pair, taken, [](VRegId, std::int64_t, std::int64_t) { return true; }), kUnspillable)
      << "reserved for no vreg";
  p.list_leaving(0, pair, taken);
  p.take_off_leaving();
  p.put(VRegId(2), 0);
  EXPECT_EQ(p.resettle_leaving(VRegId(2)), 0);
  EXPECT_TRUE(p.is_lost(VRegId(0)));
  const Attempt a = p.conclude();
  EXPECT_FALSE(a.fits);
  EXPECT_THAT(a.to_spill, ElementsAre(VRegId(0), VRegId(1)));
  EXPECT_EQ(a.spill_cost, 16);
}

TEST(Placement, GivesUpByPinningTheInstructionOfATemporary) {
  Scene s(4);
  s.make_temporary(1, 3);
  Placement p = s.placement();
  p.give_up(VRegId(1));
  p.give_up(VRegId(0));
  p.give_up(VRegId(1));
  EXPECT_TRUE(p.is_over_limit());
  const Attempt a = p.conclude();
  EXPECT_THAT(a.to_pin, ElementsAre(3u));
  EXPECT_THAT(a.to_spill, ElementsAre(VRegId(0)));
  EXPECT_EQ(a.used, 5);
}

TEST(Placement, PeaksCountToTheLastUnitOfAPair) {
  Scene s(8);
  Placement p = s.placement();
  p.put(VRegId(0), 0);
  p.put(VRegId(2), 4);
  const Attempt a = p.conclude();
  EXPECT_EQ(a.used, 6);
  EXPECT_TRUE(a.units.has_all(4, 6));
}

TEST(Placement, KeepsHomesThatAreStillFree) {
  Scene s(8);
  const int kept[] = {6, 6, -1, 6};
  s.options.kept = kept;
  Placement p = s.placement();
  p.keep_homes(s.allocator.vregs());
  EXPECT_THAT(p.homes().first(4), ElementsAre(6, -1, -1, 6));
}

TEST(Placement, PrecolouredVregsThatCannotBeSpilledComeFirst) {
  Scene s(8, R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0, %1 !write
      #3 exit
)");
  s.lowered.f.vregs[0].fixed = s.lowered.f.vregs[1].fixed = ir::PReg{ir::RegFile::R, 1, 1};
  s.cost[0] = 5;
  s.cost[1] = kUnspillable;
  Placement p = s.placement();
  const VRegId both[] = {VRegId(0), VRegId(1)};
  p.place_precoloured(both);
  EXPECT_EQ(p.home(VRegId(1)), 1);
  EXPECT_EQ(p.home(VRegId(0)), -1);
  EXPECT_THAT(p.to_spill(), ElementsAre(VRegId(0)));
}

TEST(Placement, AVregTakesTheHomeOfItsCopy) {
  Scene s(8, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %2 = ld 1
      #2 %1 = copy %0
      #3 st %1, %2 !write
      #4 exit
)");
  Placement p = s.placement();
  p.put(VRegId(0), 5);
  EXPECT_EQ(p.select_for(VRegId(1)), 5);
  EXPECT_EQ(p.select_for(VRegId(2)), 0);
  p.weigh({});
  EXPECT_EQ(p.select(p.shape(VRegId(1)), p.taken_during(p.range(VRegId(1)))), 0) << "without weights";
}

}  // namespace
}  // namespace regduel::allocator
