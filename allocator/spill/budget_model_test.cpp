#include "allocator/spill/budget_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// x_min 240, x_max 480 unless said otherwise.
BudgetModel model(const Settings& settings = {}, int x_min = 240, int x_max = 480) {
  ir::Target t = ir::default_target();
  t.occupancy_x_min = x_min;
  t.occupancy_x_max = x_max;
  const auto knobs = Knobs::parse(settings);
  if (!knobs) ADD_FAILURE() << knobs.error();
  return BudgetModel(t, *knobs);
}
// Millionths to the nearest thousandth, or to the nearest tenth.
std::int64_t thousandths(std::int64_t n) { return (n + 500) / 1000; }
std::int64_t tenths(std::int64_t n) { return (n + 50'000) / 100'000; }

constexpr ClassBounds kExample = {.budget = 128, .floor = 0};

TEST(BudgetModel, TheWorkedExample) {
  const BudgetModel m = model();
  EXPECT_EQ(m.line(241) - m.line(240), 2916);  // 0.00292 a register
  EXPECT_EQ(thousandths(m.fraction(300, 128)), 475);
  EXPECT_EQ(tenths(m.threshold(300, kExample)), 613);
  EXPECT_EQ(thousandths(m.fraction(250, 128)), 329);
  EXPECT_EQ(m.threshold(250, kExample) / kKnobOne, 42);
  // More than 61 are too many.
  EXPECT_TRUE(m.triggers(0, 0, 300, kExample, false));
  EXPECT_EQ((61 * kKnobOne > m.threshold(300, kExample)), false);
  EXPECT_EQ((62 * kKnobOne > m.threshold(300, kExample)), true);
}

TEST(BudgetModel, TheTable) {
  EXPECT_EQ(model().table(), (std::array<std::int64_t, 7>{200'000, 119, 200'000, 160, 200'000, 255, 1'000'000}));
  const BudgetModel m = model({{"660", "40"}, {"661", "2.5"}, {"663", "20"}, {"664", "0.4"}});
  EXPECT_EQ(m.table(), (std::array<std::int64_t, 7>{400'000, 20, 400'000, 40, 400'000, 255, 2'500'000}));
  for (const int count : {0, 20, 21, 40, 41, 255}) EXPECT_EQ(m.scale(count), 400'000) << count;
  EXPECT_EQ(m.scale(256), 2'500'000);
}

TEST(BudgetModel, TheOverrideLowersTheAdjustedLimit) {
  for (int level = 0; level <= 10; ++level)
    EXPECT_EQ(model({{"RegisterUsageLevel", std::to_string(level)}}).table()[5], level_target(255, level)) << level;
  // The tiers in front of it reach as far as they say, also beyond it.
  const BudgetModel m = model({{"RegisterUsageLevel", "10"}});
  EXPECT_EQ(m.table()[5], 16);
  EXPECT_EQ(m.scale(160), 200'000);
  EXPECT_EQ(m.scale(161), 1'000'000);
  EXPECT_EQ(model({{"RegisterUsageLevel", "10"}, {"660", "30"}, {"663", "20"}}).scale(31), 1'000'000);
  EXPECT_EQ(model({{"RegisterUsageLevel", "10"}, {"660", "30"}, {"663", "31"}}).scale(31), 200'000);
}

TEST(BudgetModel, Knob663ClampsTheThreads) {
  // Where the line begins: knob 665.
  EXPECT_EQ(model().line(240), 300'000);
  EXPECT_EQ(model({{"663", "119"}}).line(118), 300'000);  // set, although to its default
  EXPECT_EQ(model({{"663", "1000"}}).line(240), 300'000);
  EXPECT_GT(model({{"663", "119"}}).fraction(130, 128), model().fraction(130, 128));
}

TEST(BudgetModel, TheFractionStaysBetweenItsBounds) {
  const BudgetModel m = model();
  EXPECT_LT(m.line(136), 0);
  EXPECT_EQ(m.fraction(0, 128), 200'000);
  EXPECT_EQ(m.fraction(136, 128), 200'000);
  EXPECT_EQ(m.fraction(480, 128), 1'000'000);
  EXPECT_EQ(m.fraction(100'000, 128), 1'000'000);
  for (int count = 0; count < 1000; ++count) EXPECT_LE(m.fraction(count, 128), m.fraction(count + 1, 128)) << count;
  EXPECT_EQ(model({{"664", "3"}}).fraction(0, 128), 3'000'000);  // the bounds cross
}

TEST(BudgetModel, NoSlopeWhereThereIsNoDistance) {
  const BudgetModel m = model({}, 240, 240);
  for (const int count : {0, 239, 240, 241, 1000}) EXPECT_EQ(m.fraction(count, 128), 300'000) << count;
  EXPECT_EQ(model({{"661", "1000"}}, 480, 240).fraction(0, 128), 1'000'000'000);  // downhill: steep, and still bounded
}

TEST(BudgetModel, PairsCountHalf) {
  const BudgetModel m = model({{"664", "1"}});
  EXPECT_TRUE(m.triggers(0, 2, 10, {.budget = 8}, false));  // 12 > 9
  EXPECT_FALSE(m.triggers(0, 2, 10, {.budget = 8}, true));  // 2 + 5 > 9
  EXPECT_FALSE(m.triggers(0, 3, 12, {.budget = 8}, true));  // 3 + 6 > 9
  EXPECT_TRUE(m.triggers(0, 3, 13, {.budget = 8}, true));   // half of 13 is 7
  EXPECT_FALSE(m.triggers(2, 2, 10, {.budget = 8}, true));  // the sum has to be above the threshold
  EXPECT_TRUE(m.triggers(3, 2, 10, {.budget = 8}, true));
  EXPECT_TRUE(m.triggers(0, 2, 10, {.budget = 8, .floor = 3}, true));  // 7 > 6
}

TEST(BudgetModel, WithTheDefaultsEveryPointOverBudgetTriggers) {
  for (const ir::Target& t : ir::targets()) {
    const BudgetModel m(t, Knobs());
    EXPECT_TRUE(m.always_triggers(false));
    for (int budget = 0; budget <= 255; ++budget)
      for (int over = 1; over < 400; over = over * 2 + 1)
        for (const bool is_paired : {false, budget <= 160})  // many pairs count half as much as a high threshold asks for
          EXPECT_TRUE(m.triggers(0, over, budget + over, {.budget = budget}, is_paired)) << budget << ' ' << over;
  }
}

TEST(BudgetModel, TheRangeOfEachTargetIsFromAllWarpsToAllRegisters) {
  for (const ir::Target& t : ir::targets()) {
    const int all = t.max_warps_per_sm;
    EXPECT_EQ(resident_warps(t, 32 * all / t.max_blocks_per_sm, t.occupancy_x_min), all) << t.name;
    EXPECT_LT(resident_warps(t, 32 * all / t.max_blocks_per_sm, t.occupancy_x_min + 1), all) << t.name;
    EXPECT_EQ(t.occupancy_x_max, 255);
  }
}

TEST(BudgetModel, FewRegistersWantOccupancyMoreThanMany) {
  const BudgetModel m = model({}, 32, 255);
  EXPECT_EQ(m.occupancy_fraction(119), 200'000);
  EXPECT_EQ(m.occupancy_fraction(120), m.line(120));
  EXPECT_EQ(m.occupancy_fraction(160), m.line(160));
  EXPECT_EQ(m.occupancy_fraction(161), 1'000'000);
  // A gain of a quarter, of which 0.8 count, and a quarter of that.
  EXPECT_EQ(m.worth_of_step(40, {32, 64, 48}, 100'000), 5'000);
  EXPECT_EQ(m.worth_of_step(161, {160, 12, 8}, 100'000), 0);
  // A block that does not fit at all gains everything.
  EXPECT_EQ(m.worth_of_step(70, {64, 32, 0}, 100'000), 20'000);
  EXPECT_GT(m.worth_of_step(70, {64, 32, 0}, std::int64_t{1} << 59), std::int64_t{1} << 56);
}

// always_triggers() is right, and it is false if a coefficient is above 1.
TEST(BudgetModel, AlwaysMeansAlways) {
  for (const char* a : {"0.0", "1.0", "1.000001"})
    for (const char* b : {"0.0", "1.0", "1.000001"})
      for (const char* c : {"0.0", "1000"}) {
        const BudgetModel m = model({{"664", a}, {"661", b}, {"665", c}, {"663", "1"}, {"660", "0"}, {"RegisterUsageLevel", "10"}});
        EXPECT_EQ(m.always_triggers(false), std::string_view(a) != "1.000001" && std::string_view(b) != "1.000001");
        EXPECT_FALSE(m.always_triggers(true));
        if (!m.always_triggers(false)) continue;
        for (int budget = 0; budget <= 255; ++budget)
          for (const int over : {1, 2, 300}) EXPECT_TRUE(m.triggers(0, over, budget + over, {.budget = budget}, false));
      }
}

TEST(LevelTarget, FromTheLimitDownToSixteen) {
  EXPECT_EQ(level_target(255, 0), 255);
  EXPECT_EQ(level_target(255, 10), 16);
  EXPECT_EQ(level_target(64, 5), 40);
  EXPECT_EQ(level_target(8, 10), 8);
  for (int limit = 1; limit <= 255; ++limit)
    for (int level = 0; level <= 10; ++level) {
      const int target = level_target(limit, level);
      EXPECT_GE(target, std::min(limit, 16));
      EXPECT_LE(target, limit);
      EXPECT_GE(target, level_target(limit - 1, level));
      if (level > 0) {
        EXPECT_LE(target, level_target(limit, level - 1));
      }
    }
}

TEST(SlotStrategy, ByTheWidestValue) {
  const auto narrow = testing::program("vreg %0 R b32\n block b0\n #0 %0 = ld 0\n #1 st %0 !write\n #2 exit\n");
  const auto wide = testing::program("vreg %0 R b32\n vreg %1 R b64\n block b0\n #0 %0 = ld 0\n #1 st %0 !write\n #2 exit\n");
  const SlotStrategy s = slot_strategy(narrow, Knobs());
  EXPECT_EQ(s.bucket_bytes, 8);
  EXPECT_EQ(s.align_bytes, 4u);
  EXPECT_EQ(s.max_pool_bytes, 0x100000);
  EXPECT_EQ(s.pool_bytes(0), 0);
  EXPECT_EQ(s.pool_bytes(12), 16);
  const SlotStrategy w = slot_strategy(wide, *Knobs::parse(Settings{{"FatPointPoolLimit", "512"}}));
  EXPECT_EQ(w.bucket_bytes, 16);
  EXPECT_EQ(w.align_bytes, 16u);
  EXPECT_EQ(w.max_pool_bytes, 512);
  EXPECT_EQ(w.pool_bytes(17), 32);
}

// Four bytes are spilled beside a value of eight, which stays in its registers.
TEST(SlotStrategy, TheFrameIsAligned) {
  const auto frame = [](const char* wide) {
    const ir::Function f = testing::program(fmt::format(R"(
    vreg %0 R b32
    vreg %1 R {}
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)",
                                                        wide));
    const ir::Function a = testing::allocate(f, testing::limits(f.vregs[1].units())).program;
    EXPECT_EQ(a.slots.size(), 1u);
    EXPECT_EQ(a.slots[0].size, 4u);
    return a.local_frame;
  };
  EXPECT_EQ(frame("b32"), 4u);
  EXPECT_EQ(frame("b64"), 16u);
}

}  // namespace
}  // namespace regduel::allocator
