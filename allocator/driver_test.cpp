// The retry driver by its trace, and the knobs that steer it.

#include "allocator/driver.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Lines;
using ::testing::Not;

constexpr std::string_view kThree = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1 !write
      #4 st %2 !write
      #5 exit
)";

std::vector<std::string> trace(int limit, std::vector<std::pair<std::string, std::string>> knobs = {}) {
  Lines lines;
  testing::allocate(testing::program(kThree), testing::limits(limit), std::move(knobs), &lines);
  return lines.lines;
}

TEST(Driver, OneAttemptThatNeedsNoMoreThanMaxLive) {
  EXPECT_THAT(trace(8), ElementsAre("-CLASS NOSPILL REGALLOC: attemp 0, used 3, target 8", HasSubstr("placed 3 by first fit")));
}

TEST(Driver, HighPressureSkipsToSpilling) {
  EXPECT_THAT(trace(2), Not(Contains(HasSubstr("NOSPILL"))));
  EXPECT_THAT(trace(2), Contains(HasSubstr("guidance spills 2")));
}

TEST(Driver, ClobbersBelowThePressureSkipToSpillingToo) {
  Lines lines;
  testing::allocate(testing::program(R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 call "f" clobbers R0:R3
      #2 st %0 !write
      #3 exit
)"),
                    testing::limits(4), {}, &lines);
  EXPECT_THAT(lines.lines, ElementsAre("file R: round 1, guidance spills 1",
                                       "live ranges: weighted bytes moved at first sight 8 if split, 8 if not",
                                       HasSubstr("placed 2 by first fit")));
}

TEST(Driver, LargeProgramFindsItsFirstVictimsBeforeItIsLowered) {
  // Guidance names the same vregs here; an attempt at a program within its budget comes first all the same.
  EXPECT_EQ(trace(2, {{"FatPointLargeProgram", "0"}}), trace(2));
  EXPECT_THAT(trace(8, {{"FatPointLargeProgram", "0"}}),
              ElementsAre("-CLASS NOSPILL REGALLOC: attemp 0, used 3, target 8", HasSubstr("placed 3 by first fit")));
}

TEST(Driver, ALevelSpillsNothingByItself) {
  // Level 10 aims at 16 registers, and 20 values are live at once.
  std::string many = "vreg %0..%19 R b32\nblock b0\n";
  for (int k = 0; k < 20; ++k) many += "#" + std::to_string(k) + " %" + std::to_string(k) + " = ld " + std::to_string(k) + "\n";
  for (int k = 0; k < 20; ++k) many += "#" + std::to_string(20 + k) + " st %" + std::to_string(k) + " !write\n";
  many += "#40 exit\n";
  Lines lines;
  const auto bent = testing::allocate(testing::program(many), testing::limits(64), {{"RegisterUsageLevel", "10"}}, &lines);
  EXPECT_THAT(lines.lines, Contains("level 10: 20 registers instead of 16, so that the level spills nothing by itself"));
  EXPECT_TRUE(bent.program.slots.empty());
  // Where the limit spills by itself, the level aims at as little as the limit.
  Lines tight;
  testing::allocate(testing::program(kThree), testing::limits(2), {{"RegisterUsageLevel", "10"}}, &tight);
  EXPECT_THAT(tight.lines, Not(Contains(HasSubstr("level"))));
}

TEST(Driver, FastAllocationTriesOnceAnyhow) {
  EXPECT_THAT(trace(2, {{"638", "1"}}), Contains("-CLASS NOSPILL REGALLOC: attemp 0, used 3, target 2"));
  EXPECT_THAT(trace(2, {{"638", "1"}}), Not(Contains(HasSubstr("attemp 1"))));
  EXPECT_THAT(trace(2, {{"638", "1"}, {"639", "2"}}), Contains("-CLASS NOSPILL REGALLOC: attemp 1, used 3, target 2"));
}

// %1 lives across the call, which leaves it R0 alone. %0, which is defined first, would have taken R0.
TEST(Driver, WhoHasLittleChoiceComesFirst) {
  Lines lines;
  const auto a = testing::allocate(testing::program(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0 !write
      #3 call "f" clobbers R1
      #4 st %1 !write
      #5 exit
)"),
                                   testing::limits(2), {{"FatPointOrders", "1"}, {"FatPointPackingAttempt", "0"}}, &lines);
  EXPECT_THAT(lines.lines, Contains("-CLASS NOSPILL REGALLOC: attemp 0, used 2, target 2"));
  EXPECT_THAT(ir::print(a.program), AllOf(HasSubstr("R1 = ld 0"), HasSubstr("R0 = ld 1")));
}

TEST(Driver, NoRoundsMeansTheLastFallback) {
  EXPECT_THAT(trace(2, {{"FatPointSpillRounds", "0"}}), Contains(HasSubstr("last fallback")));
}

// %2 waits in its register from one use to the next, and each round bars one of them only.
TEST(Driver, RoundsSufficeForAValueOfManyUses) {
  const ir::Function f = testing::program(R"(
    vreg %0 P pred
    vreg %1 R b64
    vreg %2..%3 R b32
    vreg %4..%5 R b256
    vreg %6 R b96
    block b0
      #0 %0, %1, %2 = op
      #1 op %2
      #2 %3 = op %2, %1
      #3 op %2
      #4 op %2
      #5 op %2
      #6 op %2
      #7 op %2
      #8 op %2
      #9 op %2
      #10 op %2
      #11 @%0 %2 = op %2
      #12 op %2
      #13 %4, %5 = op
      #14 op %4
      #15 %6 = op %2
      #16 %1 = op clobbers R15:R21
      #17 op %3, %2, %5
      #18 exit
)");
  const auto run = [&](std::vector<std::pair<std::string, std::string>> knobs) {
    Lines lines;
    const auto a = testing::allocate(f, testing::limits(22), std::move(knobs), &lines);
    const auto spills =
        std::count_if(a.program.insts.begin(), a.program.insts.end(), [](const ir::Inst& i) { return i.op == ir::Op::Spill; });
    return std::pair{std::move(lines.lines), spills};
  };
  const auto [lines, spills] = run({{"FatPointMovingHomes", "0"}});
  EXPECT_THAT(lines, Contains(HasSubstr("round 16")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("last fallback"))));
  EXPECT_EQ(spills, 3);
  const auto [few_lines, few_spills] = run({{"FatPointMovingHomes", "0"}, {"FatPointSpillRounds", "16"}});
  EXPECT_THAT(few_lines, Contains(HasSubstr("last fallback")));
  EXPECT_EQ(few_spills, 7);
}

TEST(Driver, LoopIterationsDecideWhatIsCheap) {
  // %0 is used once in a loop, %1 four times outside: at 10 iterations %1 is cheaper, at 1 it is %0.
  const auto f = testing::program(R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %2 = ld 2
      #4 st %2 !write
      #5 st %0 !write
      #6 %3 = isetp 0
      #7 cbra %3 -> b1, b2
    block b2
      #8 st %1 !write
      #9 st %1 !write
      #10 st %1 !write
      #11 st %1 !write
      #12 exit
)");
  const auto in_loop = [&](const char* iterations) {
    const auto a = testing::allocate(f, testing::limits(3),
                                     {{"623", iterations}, {"FatPointRefillReuse", "0"}, {"FatPointSplitLiveRanges", "0"}});
    int refills = 0;
    for (const ir::Inst& i : a.program.insts_of(ir::BlockId(1))) refills += i.op == ir::Op::Refill ? 1 : 0;
    return refills;
  };
  EXPECT_EQ(in_loop("10"), 0);
  EXPECT_EQ(in_loop("1"), 1);
}

}  // namespace
}  // namespace regduel::allocator
