#include "oracles/quality/refill_bound.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

// %0 to %3 in turn, then each read once: with three registers one of them goes. With two, %3 and one of %0 and %1 are there at #4,
// which puts %3 out.
constexpr const char* kFour = R"(func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b32
block b0
  #0 %0 = a
  #1 %1 = b
  #2 %2 = c
  #3 %3 = d
  #4 st %0, %1
  #5 st %2, %3
  #6 exit
)";

std::optional<std::int64_t> bound(const std::string& text, int registers) {
  const ir::Function f = parse_function(text);
  return fewest_refill_bytes(f, *ir::find_target(f.target), limits_of(f, registers));
}

TEST(RefillBound, WhatIsReadAgainLastGoes) {
  EXPECT_EQ(bound(kFour, 4), 0);
  EXPECT_EQ(bound(kFour, 3), 4);
  EXPECT_EQ(bound(kFour, 2), 12);
}

TEST(RefillBound, OperandsThatDoNotFit) { EXPECT_EQ(bound(kFour, 1), std::nullopt); }

TEST(RefillBound, WhatIsReadTwiceMayGoTwice) {
  const std::string text = edit(kFour, "  #6 exit", "  #6 st %0, %1\n  #7 exit");
  EXPECT_EQ(bound(text, 3), 8);
  EXPECT_EQ(bound(text, 2), 20);
}

TEST(RefillBound, WideValuesCountByUnits) {
  const std::string text = edit(edit(kFour, "%2 R b32", "%2 R b64"), "%3 R b32", "%3 R b64");
  EXPECT_EQ(bound(text, 6), 0);
  EXPECT_EQ(bound(text, 4), 8);
}

TEST(RefillBound, ReadTwiceByOneInstructionIsOneRefill) { EXPECT_EQ(bound(edit(kFour, "st %2, %3", "st %2, %3, %2, %3"), 2), 12); }

TEST(RefillBound, ClobbersLeaveLess) {
  const std::string text = edit(kFour, "  #4 st", "  #7 call clobbers R0:R1, R3\n  #4 st");
  EXPECT_EQ(bound(text, 4), 12);
  EXPECT_EQ(bound(text, 5), 8);
  EXPECT_EQ(bound(text, 7), 0);
  EXPECT_EQ(bound(edit(text, "R0:R1, R3", "R3, R0:R1, R3"), 5), 8) << "each unit once";
}

TEST(RefillBound, EarlyDefsStandBesideReads) {
  const std::string text = edit(kFour, "  #5 st %2, %3", "  #5 %0{early} = st %2, %3\n  #7 st %0");
  EXPECT_EQ(bound(text, 4), 0);
  EXPECT_EQ(bound(text, 2), std::nullopt);
  EXPECT_EQ(bound(edit(text, "{early}", ""), 2), 12);
}

TEST(RefillBound, ADefThatKillsNeedsNoRefill) {
  const std::string text = edit(kFour, "  #5 st %2, %3", "  #7 %2 = e\n  #5 st %2, %3");
  EXPECT_EQ(bound(text, 3), 0);
}

TEST(RefillBound, ADeadDefNeedsARegister) {
  const std::string text = edit(kFour, "  #4 st %0, %1", "  #7 %0 = e\n  #8 st %1");
  EXPECT_EQ(bound(text, 4), 0);
  EXPECT_EQ(bound(text, 3), 4);
  EXPECT_EQ(bound(text, 2), 8);
}

TEST(RefillBound, WhatMayBeHadWithoutARefillTakesNoPart) {
  EXPECT_EQ(bound(edit(kFour, "%0 = a", "%0 = a !remat"), 2), 4);
  EXPECT_EQ(bound(edit(kFour, "vreg %0 R b32", "vreg %0 R b32 uniform"), 2), 4);
  EXPECT_EQ(bound(edit(kFour, "vreg %0 R b32", "vreg %0 R b16"), 2), 4);
  EXPECT_EQ(bound(edit(kFour, "st %0, %1", "st %0.lo, %1"), 2), 4);
}

TEST(RefillBound, WhatIsHandedOnIsOneValue) {
  const std::string copy = edit(kFour, "  #3 %3 = d", "  #3 %3 = copy %2");
  EXPECT_EQ(bound(copy, 3), 0);
  EXPECT_EQ(bound(copy, 2), 8);
  // Over a block's end.
  EXPECT_EQ(bound(edit(copy, "  #3 %3 = copy %2", "  #3 bra -> b1\nblock b1\n  #7 %3 = phi b0: %2"), 2), 8);
  // %0 and %1 in turn are read last: each has what the other one had.
  const std::string swapped = edit(kFour, "  #4 st %0, %1", "  #7 %0, %1 = copy %1, %0\n  #4 st %0");
  EXPECT_EQ(bound(swapped, 3), 0);
  EXPECT_EQ(bound(edit(swapped, "  #6 exit", "  #8 st %1\n  #6 exit"), 3), 4);
  EXPECT_EQ(bound(edit(swapped, "  #6 exit", "  #8 st %0\n  #6 exit"), 3), 0);
}

// As a copy does, phis hand on all at one time.
TEST(RefillBound, PhisHandOnAsWell) {
  const std::string swapped = edit(kFour, "  #4 st %0, %1", R"(  #7 bra -> b1
block b1
  #8 %0 = phi b0: %1
  #9 %1 = phi b0: %0
  #4 st %0)");
  EXPECT_EQ(bound(swapped, 3), 0);
  EXPECT_EQ(bound(edit(swapped, "  #6 exit", "  #10 st %1\n  #6 exit"), 3), 4);
  EXPECT_EQ(bound(edit(swapped, "  #6 exit", "  #10 st %0\n  #6 exit"), 3), 0);
  // A predicate as well: the guard is defined.
  const std::string guarded = edit(edit(kFour, "  vreg %3 R b32", R"(
  vreg %3 R b32
  vreg %4 P pred
  vreg %5 P pred)"),
                                   "  #4 st", R"(  #7 %4 = setp
  #8 bra -> b1
block b1
  #9 %5 = phi b0: %4
  #4 @%5 st)");
  EXPECT_EQ(bound(guarded, 2), 12);
}

TEST(RefillBound, WhatIsMovedInPartTakesNoPart) {
  const std::string narrow = edit(kFour, "  vreg %3 R b32", R"(
  vreg %3 R b32
  vreg %4 R b16
  vreg %5 R b16
  vreg %6 R b32)");
  EXPECT_EQ(bound(edit(narrow, "  #4 st", "  #7 %4 = copy %0.lo\n  #4 st"), 2), 4);
  EXPECT_EQ(bound(edit(narrow, "  #4 st", "  #7 %4, %5 = unpack %0\n  #4 st"), 2), 4);
  EXPECT_EQ(bound(edit(narrow, "  #4 st", "  #7 %6 = pack %0.lo, %1.lo\n  #4 st"), 2), 0);
  // %1 is the high half of %6.
  EXPECT_EQ(bound(edit(edit(narrow, "vreg %6 R b32", "vreg %6 R b64"), "  #4 st", "  #7 %6 = pack %4, %5, %1\n  #4 st"), 2), 4);
}

TEST(RefillBound, WhatIsDefinedAgainIsGone) { EXPECT_EQ(bound(edit(kFour, "  #4 st", "  #7 %0 = e !remat\n  #4 st"), 3), 0); }

// %4 holds %0 and %1, in this order.
TEST(RefillBound, PiecesAreValues) {
  const std::string wide =
      edit(edit(kFour, "  vreg %3 R b32", "  vreg %3 R b32\n  vreg %4 R b64"), "  #3 %3 = d", "  #3 %4 = pack %0, %1");
  EXPECT_EQ(bound(edit(wide, "st %2, %3", "st %4, %2"), 3), 0);
  const std::string high = edit(edit(wide, "#4 st %0, %1", "#4 %3 = d"), "st %2, %3", "st %4.hi, %2, %3");
  EXPECT_EQ(bound(high, 3), 0);
  EXPECT_EQ(bound(edit(high, "  #6 exit", "  #7 st %1\n  #6 exit"), 3), 0);
  EXPECT_EQ(bound(edit(high, "  #6 exit", "  #7 st %0\n  #6 exit"), 3), 4);
  const std::string taken = edit(edit(high, "st %4.hi", "st %1"), "  #4 %3", "  #8 %0, %1 = unpack %4\n  #4 %3");
  EXPECT_EQ(bound(taken, 3), 0);
  EXPECT_EQ(bound(edit(taken, "  #6 exit", "  #7 st %0\n  #6 exit"), 3), 4);
}

TEST(RefillBound, WhatIsInAnotherFileTooTakesNoPart) {
  EXPECT_EQ(bound(edit(edit(kFour, "vreg %3 R b32", "vreg %3 UR b32"), "#3 %3 = d", "#3 %3 = copy %2"), 2), 0);
  EXPECT_EQ(bound(edit(kFour, "  #4 st", "  #7 %3{=R9} = copy %0\n  #4 st"), 2), 4);
}

TEST(RefillBound, WhatNeedNotBeWholeTakesNoPart) {
  const std::string guarded = edit(kFour, "  vreg %3 R b32", "  vreg %3 R b32\n  vreg %4 P pred");
  const std::string with_guard = edit(guarded, "  #0 %0 = a", "  #7 %4 = setp\n  #0 %0 = a");
  EXPECT_EQ(bound(edit(with_guard, "#0 %0", "#0 @%4 %0"), 2), 4);
  EXPECT_EQ(bound(edit(with_guard, "#4 st", "#4 @%4 st"), 2), 12);
  // The guard is undefined.
  EXPECT_EQ(bound(edit(guarded, "#4 st", "#4 @%4 st"), 2), 0);
  const std::string copied = edit(guarded, "  vreg %4 P pred", "  vreg %4 P pred\n  vreg %5 P pred");
  EXPECT_EQ(bound(edit(copied, "#4 st", "#7 %4 = setp\n  #8 %5 = copy %4\n  #4 @%5 st"), 2), 12);
  EXPECT_EQ(bound(edit(copied, "#4 st", "#8 %5 = copy %4\n  #4 @%5 st"), 2), 0);
  // Of %0 nothing was written.
  EXPECT_EQ(bound(edit(kFour, "  #0 %0 = a\n", ""), 2), 4);
}

TEST(RefillBound, OnePathThroughSeveralBlocks) {
  EXPECT_EQ(bound(edit(kFour, "  #4 st", "  #7 bra -> b1\nblock b1\n  #4 st"), 2), 12);
  EXPECT_EQ(bound(edit(kFour, "  #6 exit", "  #6 bra -> b1\nblock b1\n  #7 bra -> b1"), 2), std::nullopt);
  EXPECT_EQ(bound(edit(edit(kFour, "  vreg %3 R b32", "  vreg %3 R b32\n  vreg %4 P pred"), "  #4 st",
                       R"(  #7 %4 = setp
  #8 cbra %4 -> b1, b2
block b1
  #9 exit
block b2
  #4 st)"),
                  2),
            std::nullopt);
}

TEST(RefillBound, WhatIsFixedOutsideTheLimitTakesNoPart) { EXPECT_EQ(bound(edit(kFour, "%0 = a", "%0{=R9} = a"), 2), 4); }

}  // namespace
}  // namespace regduel::oracles
