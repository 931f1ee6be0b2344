// `classic` from program to allocation: phases, failure points, knobs.

#include "allocator/classic/classic.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::count;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kReadInALoop;
using testing::kSwapInALoop;
using testing::limits;
using testing::Lines;
using testing::program;
using ::testing::StartsWith;
using Settings = std::vector<std::pair<std::string, std::string>>;

ir::Allocation allocate(std::string_view body, int registers, Settings knobs = {}, ir::Trace* trace = nullptr) {
  return testing::allocate_with(*make_classic(), program(body), limits(registers), std::move(knobs), trace);
}

// Six values live at once, three times over.
std::string pressed(int values) {
  std::string text = "vreg %0..%" + std::to_string(values - 1) + " R b32\nblock b0\n";
  for (int v = 0; v < values; ++v) text += "#" + std::to_string(v) + " %" + std::to_string(v) + " = ld " + std::to_string(v) + "\n";
  for (int v = 0; v < values; ++v) text += "#" + std::to_string(values + v) + " st %" + std::to_string(v) + " !write\n";
  return text + "#" + std::to_string(2 * values) + " exit\n";
}

TEST(Classic, IsSelectedByItsName) { EXPECT_EQ(make_classic()->name(), "classic"); }

TEST(Classic, WithoutPressureNothingIsSpilled) {
  Lines trace;
  const ir::Allocation a = allocate(pressed(6), 6, {}, &trace);
  EXPECT_EQ(a.claims.spill_store_bytes, 0);
  EXPECT_EQ(a.claims.registers[0], 6);
  EXPECT_NE(trace.first("-CLASS NOSPILL REGALLOC: attemp 0, used 6, target 6"), -1);
}

TEST(Classic, HighPressureSkipsTheAttemptsWithoutSpilling) {
  Lines trace;
  const ir::Allocation a = allocate(pressed(6), 4, {}, &trace);
  EXPECT_GT(a.claims.spill_store_bytes, 0);
  EXPECT_EQ(trace.first("-CLASS NOSPILL REGALLOC"), -1);
  EXPECT_NE(trace.first("file R: round 1, guidance spills 2"), -1);
}

TEST(Classic, SwapAndLoopKeepTheirValues) {
  for (const std::string_view body : {kSwapInALoop, kReadInALoop})
    for (const int registers : {2, 3, 4, 8}) allocate(body, registers);
}

TEST(Classic, WithoutRoundsTheAlternateAllocatorTakesOver) {
  Lines trace;
  allocate(pressed(6), 4, {{"FatPointSpillRounds", "0"}}, &trace);
  EXPECT_NE(trace.first("the walk spills"), -1);
  EXPECT_EQ(trace.first("last fallback"), -1);
}

TEST(Classic, WithoutTheAlternateAllocatorTheLastFallbackPacksEachInstruction) {
  Lines trace;
  const ir::Allocation a = allocate(pressed(6), 4, {{"FatPointSpillRounds", "0"}, {"RegAllocInstructionWalk", "0"}}, &trace);
  EXPECT_NE(trace.first("last fallback: everything in memory"), -1);
  EXPECT_EQ(count(a.program, ir::Op::Spill), 6);
}

TEST(Classic, AnImpossibleInstructionIsTheOnlyFailure) {
  const ir::Function f = program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0, %1, %2 = ld 0
      #1 st %0, %1, %2 !write
      #2 exit
  )");
  const auto failed = make_classic()->allocate(f, ir::default_target(), {.limits = limits(2), .knobs = {}});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ir::AllocFailure::Kind::Impossible);
  EXPECT_EQ(failed.error().inst, ir::InstId(0));
  EXPECT_TRUE(make_classic()->allocate(f, ir::default_target(), {.limits = limits(3), .knobs = {}}).has_value());
}

TEST(Classic, ALevelBelowTheDemandGivesWayToTheLimit) {
  Lines trace;
  std::string text = "vreg %0..%17 R b32\nblock b0\n#0 ";
  for (int v = 0; v < 18; ++v) text += (v == 0 ? "%" : ", %") + std::to_string(v);
  text += " = ld 0\n#1 st ";
  for (int v = 0; v < 18; ++v) text += (v == 0 ? "%" : ", %") + std::to_string(v);
  text += " !write\n#2 exit\n";
  allocate(text, 64, {{"RegisterUsageLevel", "10"}}, &trace);
  EXPECT_NE(trace.first("level 10: impossible with 16 registers, the limit holds"), -1);
}

TEST(Classic, AKnobOfFatPointAloneIsUnknown) {
  const auto failed = make_classic()->allocate(program(pressed(2)), ir::default_target(),
                                               {.limits = limits(8), .knobs = {{"FatPointEviction", "0"}}});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ir::AllocFailure::Kind::BadKnob);
  EXPECT_THAT(failed.error().message, HasSubstr("FatPointEviction"));
}

TEST(Classic, SpecialModeMakesNoAttemptWithoutSpilling) {
  Lines trace;
  allocate(pressed(4), 8, {{"FastCompile", "3"}}, &trace);
  EXPECT_EQ(trace.first("-CLASS NOSPILL REGALLOC"), -1);
  EXPECT_NE(trace.first("file R: round 1"), -1);
}

TEST(Classic, OutOfFuelItIsRightAllTheSame) {
  for (std::int64_t limit : {0, 1, 3, 10, 30}) {
    ir::Fuel fuel{.limit = limit};
    const ir::Function f = program(pressed(8));
    const auto a = make_classic()->allocate(f, ir::default_target(), {.limits = limits(4), .knobs = {}, .fuel = &fuel});
    ASSERT_TRUE(a.has_value()) << limit;
    EXPECT_TRUE(ir::check(a->program, ir::default_target()).empty()) << limit;
    testing::expect_same_behaviour(f, a->program);
  }
}

}  // namespace
}  // namespace regduel::allocator
