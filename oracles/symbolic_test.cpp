// The symbolic judge against hand-made allocations: for each transfer function and for the meet the smallest programs that it must accept
// and that it must reject, with the category; and the values by themselves.

#include "oracles/symbolic.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/symbolic_join.h"
#include "oracles/symbolic_plan.h"
#include "oracles/symbolic_state.h"
#include "oracles/symbolic_values.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::categories;
using testing::describe;
using testing::judge_text;
using testing::Pair;

JudgeResult judge(const Pair& p) { return judge_text(symbolic_judge(), p.before_text(), p.after_text()); }

void expect_pass(const Pair& p) {
  const JudgeResult r = judge(p);
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r) << "\n" << p.after_text();
}
void expect_category(const Pair& p, std::string_view category) {
  const JudgeResult r = judge(p);
  EXPECT_EQ(r.verdict, Verdict::Fail) << p.after_text();
  EXPECT_THAT(categories(r), ElementsAre(category)) << describe(r) << "\n" << p.after_text();
}
// The same pair with one edit of the program after.
Pair with(Pair p, std::string_view from, std::string_view to) {
  p.after = testing::edit(p.after, from, to);
  return p;
}

constexpr std::string_view kWrong = "symbolic-wrong-value";
constexpr std::string_view kLost = "symbolic-lost-value";
constexpr std::string_view kRemat = "remat-mismatch";

const std::string kThreeR = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n";
const std::string kAndP = kThreeR + "  vreg %3 P pred\n  vreg %4 P pred\n";

// ---------------------------------------------------------------------------------------------------------------
// Defs, uses, clobbers

Pair two_values() {
  return {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 use R0, R1 !write\n    #3 exit\n"};
}

TEST(SymbolicTest, AUseFindsItsVregInItsLocation) {
  expect_pass(two_values());
  expect_category(with(two_values(), "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(two_values(), "use R0, R1", "use R0, R5"), kLost);
}

TEST(SymbolicTest, SaysWhatTheLocationHoldsAndWhoWroteIt) {
  const JudgeResult r = judge(with(two_values(), "#1 R1 = b", "#1 R0 = b"));
  ASSERT_EQ(r.findings.size(), 2u) << describe(r);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(2));
  EXPECT_EQ(r.findings[0].operand, 0);
  EXPECT_EQ(r.findings[0].other, ir::InstId(1));
  EXPECT_THAT(r.findings[0].message, HasSubstr("expected %0, but the location holds %1"));
  EXPECT_EQ(r.findings[1].category, kLost);
}

TEST(SymbolicTest, ADefEndsWhatOtherLocationsHoldOfTheVreg) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %0 = b\n    #2 use %0 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 use R1 !write\n    #3 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R1", "use R0"), kWrong);
}

TEST(SymbolicTest, ADefUseReadsAndWritesItsRegister) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %0{inout} = add 1\n    #2 use %0 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R0{inout} = add 1\n    #2 use R0 !write\n    #3 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0{inout}", "#1 R1{inout}")).findings.size(), 2u);
}

TEST(SymbolicTest, FixedAndTiedOperandsAreWhereTheHardwareHasThem) {
  const Pair fixed = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 use %0{=R4} !write\n    #2 exit\n",
                      "  block b0\n    #0 R4 = a\n    #1 use R4 !write\n    #2 exit\n"};
  expect_pass(fixed);
  expect_category(with(with(fixed, "R4 = a", "R5 = a"), "use R4", "use R5"), kLost);
  const Pair tied = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1{tied 1} = mad %0, 7\n    #2 use %1 !write\n    #3 exit\n",
                     "  block b0\n    #0 R0 = a\n    #1 R0 = mad R0, 7\n    #2 use R0 !write\n    #3 exit\n"};
  expect_pass(tied);
  expect_category(with(with(tied, "R0 = mad R0", "R1 = mad R0"), "use R0", "use R1"), kLost);
}

TEST(SymbolicTest, ACallClobbers) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1{=R0} = call \"g\" clobbers R0:R3\n    #2 use %0, %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 R4 = a\n    #1 R0 = call \"g\" clobbers R0:R3\n    #2 use R4, R0 !write\n    #3 exit\n"};
  expect_pass(p);
  const Pair bad = with(with(p, "R4 = a", "R3 = a"), "use R4", "use R3");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.at(0).other, ir::InstId(1));
}

TEST(SymbolicTest, AnEarlyClobberDefIsWrittenBeforeTheUsesAreRead) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1{early} = op %0\n    #2 use %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = op R0\n    #2 use R1 !write\n    #3 exit\n"};
  expect_pass(p);
  const JudgeResult r = judge(with(with(p, "R1 = op R0", "R0 = op R0"), "use R1", "use R0"));
  EXPECT_THAT(categories(r), ElementsAre(kLost));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(1));
}

TEST(SymbolicTest, TwoDefsInOneRegisterLeaveNeither) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0, %1 = two\n    #1 use %0 !write\n    #2 use %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0, R1 = two\n    #1 use R0 !write\n    #2 use R1 !write\n    #3 exit\n"};
  expect_pass(p);
  const Pair bad = with(with(p, "R0, R1 = two", "R0, R0 = two"), "use R1", "use R0");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.size(), 2u);
}

TEST(SymbolicTest, TheOperandOfATerminatorIsAUse) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 cbra %3 -> b1, b1\n  block b1\n    #3 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 cbra P0 -> b1, b1\n  block b1\n    #3 exit\n"};
  expect_pass(p);
  expect_category(with(p, "cbra P0", "cbra P1"), kWrong);
  expect_category(with(p, "cbra P0", "cbra !P0"), "symbolic-negation");
}

// ---------------------------------------------------------------------------------------------------------------
// Copies

TEST(SymbolicTest, AnOriginalCopyMakesTwoNamesEqual) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 use %0, %1 !write\n    #3 %0 = b\n    #4 use %0, %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 copy !deleted\n    #2 use R0, R0 !write\n    #3 R1 = b\n    #4 use R1, R0 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R0"), kWrong);
  // The copy's old value dies.
  const Pair old = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 %1 = copy %0\n    #3 use %1 !write\n    #4 exit\n",
                    "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 R1 = copy R0\n    #3 use R1 !write\n    #4 exit\n"};
  expect_pass(old);
  expect_category(with(old, "#2 R1 = copy R0", "#2 copy !deleted"), kWrong);
}

TEST(SymbolicTest, AnOriginalCopyMayBecomeASpillOrARefill) {
  expect_pass({kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 %2 = copy %1\n    #3 use %2, %0 !write\n    #4 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 spill R0, slot 0\n    #2 R1 = refill slot 0\n    #3 use R1, R0 !write\n    #4 exit\n"});
}

TEST(SymbolicTest, ParallelCopiesReadBeforeTheyWriteOnBothSides) {
  const Pair p = {kThreeR,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 %0, %1 = copy %1, %0\n    #3 use %0, %1 !write\n    #4 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 R0, R1 = copy R1, R0\n    #3 use R0, R1 !write\n    #4 exit\n"};
  expect_pass(p);
  // Renamed away: the registers are swapped instead.
  expect_pass(with(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted"), "use R0, R1", "use R1, R0"));
  expect_category(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted\n    +9 R0 = copy R1\n    +8 R1 = copy R0"), kWrong);
}

TEST(SymbolicTest, SpillsAndRefillsMove) {
  const Pair p = {kThreeR, two_values().before,
                  "  block b0\n    #0 R0 = a\n    +9 spill R0, slot 0\n    #1 R0 = b\n    +8 spill R0, slot 1\n    +7 R0 = refill slot 0\n"
                  "    +6 R1 = refill slot 1\n    #2 use R0, R1 !write\n    #3 exit\n"};
  expect_pass(p);
  expect_category(with(with(p, "R0 = refill slot 0", "R0 = refill slot 1"), "R1 = refill slot 1", "R1 = refill slot 0"), kWrong);
  expect_category(with(p, "    +9 spill R0, slot 0\n", ""), kLost);
  Pair overlapping = p;
  overlapping.slots = testing::edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 1 offset 2");
  EXPECT_EQ(judge(overlapping).verdict, Verdict::Fail);
  Pair apart = p;
  apart.slots = testing::edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 shared size 4 align 4 offset 0");
  expect_pass(apart);
}

TEST(SymbolicTest, ACopyMayBeGuarded) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @%3 %1 = copy %0\n    #4 use %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 R1 = b\n    #3 @P0 R1 = copy R0\n    #4 use R1 !write\n    #5 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "@P0 R1 = copy R0", "@!P0 R1 = copy R0")).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted"), kWrong);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted\n    +9 R1 = copy R0"), kWrong);
  // A copy of the guard itself: the guard is read first.
  expect_pass({kAndP, "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 @%3 %3 = copy %4\n    #3 use %3 !write\n    #4 exit\n",
               "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 @P0 P0 = copy P1\n    #3 use P0 !write\n    #4 exit\n"});
}

// ---------------------------------------------------------------------------------------------------------------
// Bytes

const std::string kPairVregs = "  vreg %0 R b64\n  vreg %1 R b32\n  vreg %2 R b32\n";

TEST(SymbolicTest, FindsAClobberedHalf) {
  const Pair p = {kPairVregs, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0:R1 = a\n    #1 R2 = b\n    #2 use R0:R1, R2 !write\n    #3 exit\n"};
  expect_pass(p);
  expect_category(with(with(p, "R2 = b", "R1 = b"), "use R0:R1, R2", "use R0:R1, R1"), kWrong);
  expect_pass(with(p, "    #2 use", "    +9 R3, R2, R1 = copy R2, R1, R3\n    +8 R1, R2 = copy R2, R3\n    #2 use"));
}

TEST(SymbolicTest, PackAndUnpackMoveBytes) {
  const Pair p = {kPairVregs,
                  "  block b0\n    #0 %1 = a\n    #1 %2 = b\n    #2 %0 = pack %1, %2\n    #3 use %1, %2 !write\n    #4 %2, %1 = unpack %0\n"
                  "    #5 use %1, %2 !write\n    #6 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 R0:R1 = pack R0, R1\n    #3 use R0, R1 !write\n    #4 R0, R1 = unpack R0:R1\n"
                  "    #5 use R1, R0 !write\n    #6 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R1"), kWrong);
  expect_category(with(p, "pack R0, R1", "pack R1, R0"), kWrong);
  // Where the halves still stand apart, so does the pair.
  expect_pass(with(with(with(p, "R0:R1 = pack", "R4:R5 = pack"), "unpack R0:R1", "unpack R0:R1"), "#5", "#5"));
  const Pair narrow = {"  vreg %0 R b32\n  vreg %1 R b16\n  vreg %2 R b16\n",
                       "  block b0\n    #0 %1 = a\n    #1 %2 = b\n    #2 %0 = pack %1, %2\n    #3 %2, %1 = unpack %0\n    #4 use %1, %2, %0 !write\n    #5 exit\n",
                       "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 R2 = pack R0, R1\n    #3 R3, R4 = unpack R2\n    #4 use R4, R3, R2 !write\n    #5 exit\n"};
  expect_pass(narrow);
  expect_category(with(narrow, "use R4, R3, R2", "use R3, R4, R2"), kWrong);
}

TEST(SymbolicTest, PartsKeepTheOtherBytes) {
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b16 alias %0.h1\n",
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R0.h1 = b\n    +9 spill R0.h1, slot 0 + 2\n    +8 spill R0.h0, slot 0\n"
                  "    +7 R5 = refill slot 0\n    #2 use R5 !write\n    #3 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0.h1 = b", "#1 R0.h0 = b")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "slot 0 + 2", "slot 1 + 2")).verdict, Verdict::Fail);
}

TEST(SymbolicTest, ANarrowVregOwnsAWholeUnit) {
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b16\n", "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    +9 spill R1.h0, slot 0\n    +8 R2.h0 = refill slot 0\n    #2 use R0, R2 !write\n    #3 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(with(p, "#1 R1 = b", "#1 R0 = b"), "spill R1", "spill R0")).verdict, Verdict::Fail);
}

// ---------------------------------------------------------------------------------------------------------------
// Paths

Pair diamond() {
  return {kAndP,
          "  block b0\n    #0 %0 = a\n    #1 %3 = p\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 %1 = b\n    #4 use %1 !write\n    #5 bra -> b3\n"
          "  block b2\n    #6 bra -> b3\n  block b3\n    #7 use %0 !write\n    #8 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    +20 spill R0, slot 0\n    #2 cbra P0 -> b1, b2\n"
          "  block b1\n    #3 R0 = b\n    #4 use R0 !write\n    +21 R0 = refill slot 0\n    #5 bra -> b3\n  block b2\n    #6 bra -> b3\n"
          "  block b3\n    #7 use R0 !write\n    #8 exit\n"};
}

TEST(SymbolicTest, TheMeetIsOverAllPaths) {
  expect_pass(diamond());
  expect_category(with(diamond(), "    +21 R0 = refill slot 0\n", ""), kLost);
  // It is an intersection, not the state of either side: R0 and the slot hold it on one side each.
  Pair p = with(diamond(), "    +21 R0 = refill slot 0\n", "");
  p = with(p, "  block b2\n", "  block b2\n    +22 R1 = copy R0\n    +23 spill R1, slot 1\n");
  expect_category(with(p, "    #7 use R0", "    +24 R0 = refill slot 1\n    #7 use R0"), kLost);
  expect_pass(with(p, "    #7 use R0", "    +24 R0 = refill slot 0\n    #7 use R0"));
}

TEST(SymbolicTest, EqualNamesStayEqualOverJoins) {
  const std::string before =
      "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 %3 = p\n    #3 cbra %3 -> b1, b2\n  block b1\n    #4 bra -> b3\n"
      "  block b2\n    #5 bra -> b3\n  block b3\n    #6 use %0, %1 !write\n    #7 exit\n";
  const Pair p = {kAndP, before,
                  "  block b0\n    #0 R0 = a\n    #1 copy !deleted\n    #2 P0 = p\n    #3 cbra P0 -> b1, b2\n  block b1\n    +9 R1 = copy R0\n    #4 bra -> b3\n"
                  "  block b2\n    +8 R1 = copy R0\n    #5 bra -> b3\n  block b3\n    #6 use R1, R0 !write\n    #7 exit\n"};
  expect_pass(p);
  expect_category(with(p, "    +8 R1 = copy R0\n", ""), kLost);
}

TEST(SymbolicTest, ALoopVisitAfterTheFirstCounts) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 bra -> b1\n  block b1\n    #3 use %0, %1 !write\n    #4 %1 = c %1\n    #5 %3 = p\n"
                  "    #6 cbra %3 -> b1, b2\n  block b2\n    #7 exit\n",
                  "  block b0\n    #0 R0 = a\n    +20 spill R0, slot 0\n    #1 R1 = b\n    #2 bra -> b1\n"
                  "  block b1\n    +21 R0 = refill slot 0\n    #3 use R0, R1 !write\n    #4 R1 = c R1\n    #5 P0 = p\n    #6 cbra P0 -> b1, b2\n"
                  "  block b2\n    #7 exit\n"};
  expect_pass(p);
  // Right on the first visit only: the value of the visit before.
  expect_category(with(p, "#4 R1 = c R1", "#4 R2 = c R1"), kLost);
  expect_category(with(with(p, "    #5 P0", "    +22 R0 = copy R1\n    #5 P0"), "    +21 R0 = refill slot 0\n", ""), kLost);
  // A def of this visit is not that of the last one.
  const Pair stale = {kAndP,
                      "  block b0\n    #0 %0 = a\n    #1 bra -> b1\n  block b1\n    #2 %1 = copy %0\n    #3 %0 = b\n    #4 use %1, %0 !write\n    #5 %3 = p\n"
                      "    #6 cbra %3 -> b1, b2\n  block b2\n    #7 exit\n",
                      "  block b0\n    #0 R0 = a\n    #1 bra -> b1\n  block b1\n    #2 R1 = copy R0\n    #3 R0 = b\n    #4 use R1, R0 !write\n    #5 P0 = p\n"
                      "    #6 cbra P0 -> b1, b2\n  block b2\n    #7 exit\n"};
  expect_pass(stale);
  EXPECT_EQ(judge(with(stale, "use R1, R0", "use R0, R1")).verdict, Verdict::Fail);
}

TEST(SymbolicTest, IrreducibleLoopsSettle) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 %3 = p\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 use %0 !write\n    #4 cbra %3 -> b2, b3\n"
                  "  block b2\n    #5 use %0 !write\n    #6 bra -> b1\n  block b3\n    #7 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    +20 spill R0, slot 0\n    #2 cbra P0 -> b1, b2\n  block b1\n    +21 R1 = refill slot 0\n"
                  "    #3 use R1 !write\n    #4 cbra P0 -> b2, b3\n  block b2\n    #5 use R0 !write\n    #6 bra -> b1\n  block b3\n    #7 exit\n"};
  expect_pass(p);
  expect_category(with(p, "+21 R1 = refill slot 0\n    #3 use R1", "+21 R0 = refill slot 1\n    #3 use R0"), kLost);
}

Pair swapping_phis() {
  return {kAndP,
          "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 bra -> b1\n"
          "  block b1\n    #3 %2 = phi b0: %0, b1: %1\n    #4 %1 = phi b0: %1, b1: %2\n    #5 %3 = p %2\n    #6 cbra %3 -> b1, b2\n"
          "  block b2\n    #7 use %2, %1 !write\n    #8 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 bra -> b1\n"
          "  block b1\n    #3 phi !deleted\n    #4 phi !deleted\n    #5 P0 = p R0\n    #6 cbra P0 -> b3, b2\n"
          "  block b2\n    #7 use R0, R1 !write\n    #8 exit\n  block b3 edge b1 -> b1\n    +20 R0, R1 = copy R1, R0\n    +21 bra -> b1\n"};
}

TEST(SymbolicTest, PhisRenameInParallelOnTheirEdge) {
  expect_pass(swapping_phis());
  EXPECT_EQ(judge(with(swapping_phis(), "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(swapping_phis(), "    +20 R0, R1 = copy R1, R0\n", "")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(with(swapping_phis(), "#0 R0 = a", "#0 R1 = a"), "#1 R1 = b", "#1 R0 = b")).verdict, Verdict::Fail);
}

TEST(SymbolicTest, AKeptPhiMovesAfterTheEdgeBlock) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = a\n    #3 bra -> b3\n"
                  "  block b2\n    #4 %1 = b\n    #5 bra -> b3\n  block b3\n    #6 %2 = phi b1: %0, b2: %1\n    #7 use %2 !write\n    #8 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 R4 = a\n    #3 bra -> b4\n"
                  "  block b2\n    #4 R3 = b\n    #5 bra -> b3\n  block b3\n    #6 R3 = phi b1: R3, b2: R3\n    #7 use R3 !write\n    #8 exit\n"
                  "  block b4 edge b1 -> b3\n    +20 R3 = copy R4\n    +21 bra -> b3\n"};
  expect_pass(p);
  expect_category(with(p, "    +20 R3 = copy R4\n", ""), kLost);
  // Two homes: it is executed as the copy that it is.
  expect_pass(with(with(p, "b2: R3", "b2: R5"), "#4 R3 = b", "#4 R5 = b"));
  expect_category(with(p, "b2: R3", "b2: R5"), kLost);
}

TEST(SymbolicTest, ABranchThatLeadsElsewhere) {
  expect_category(with(diamond(), "#2 cbra P0 -> b1, b2", "#2 cbra P0 -> b1, b1"), "symbolic-wrong-path");
}

TEST(SymbolicTest, UnreachableBlocksAreNotChecked) {
  expect_pass({kThreeR, "  block b0\n    #0 %0 = a\n    #1 bra -> b2\n  block b1\n    #2 %0 = b\n    #3 use %0 !write\n    #4 bra -> b2\n"
                        "  block b2\n    #5 use %0 !write\n    #6 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 bra -> b2\n  block b1\n    #2 R1 = b\n    #3 use R7 !write\n    #4 bra -> b2\n"
               "  block b2\n    #5 use R0 !write\n    #6 exit\n"});
}

// ---------------------------------------------------------------------------------------------------------------
// Undefined

TEST(SymbolicTest, AReadThatNothingReachesAsksForNothing) {
  expect_pass({kThreeR, "  block b0\n    #0 use %1 !write\n    #1 exit\n", "  block b0\n    #0 use R7 !write\n    #1 exit\n"});
}

TEST(SymbolicTest, APathWithoutADefinitionAsksForNothing) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 %1 = c\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 %0 = a\n    #4 bra -> b3\n"
                  "  block b2\n    #5 use %1 !write\n    #6 bra -> b3\n  block b3\n    #7 use %0 !write\n    #8 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = c\n    #2 cbra P0 -> b1, b2\n  block b1\n    #3 R1 = a\n    +9 R0 = copy R1\n    #4 bra -> b3\n"
                  "  block b2\n    #5 use R0 !write\n    #6 bra -> b3\n  block b3\n    #7 use R0 !write\n    #8 exit\n"};
  expect_pass(p);                                   // R0 holds something else on the other path, and R1 nothing
  expect_pass(with(p, "#7 use R0", "#7 use R1"));
  expect_category(with(p, "    +9 R0 = copy R1\n", ""), kLost);
}

TEST(SymbolicTest, HalvesOfAWordThatIsDefinedOnOnePathOnly) {
  // %1 and %2 are the halves of %0, side by side in a slot: all of it again, under a name that is gone.
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b16\n  vreg %2 R b16\n  vreg %3 P pred\n",
                  "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = a\n    #3 %1, %2 = unpack %0\n    #4 bra -> b3\n"
                  "  block b2\n    #5 bra -> b3\n  block b3\n    #6 use %2 !write\n    #7 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 R0 = a\n    #3 R1, R2 = unpack R0\n    +20 spill R1.h0, slot 0\n"
                  "    +21 spill R2.h0, slot 0 + 2\n    #4 bra -> b3\n  block b2\n    #5 bra -> b3\n  block b3\n    +22 R4.h0 = refill slot 0 + 2\n"
                  "    #6 use R4 !write\n    #7 exit\n"};
  expect_pass(p);
  expect_category(with(p, "R4.h0 = refill slot 0 + 2", "R4.h0 = refill slot 0"), kLost);
  expect_pass(with(p, "    #4 bra", "    +23 R0, R1, R2 = copy R9, R9, R9\n    #4 bra"));  // in the slot alone
}

TEST(SymbolicTest, WhatIsDefinedOnOnePathOnlySharesAWordOfTheFrame) {
  // A narrow value and a predicate in one word of the frame, each undefined on one path, over two joins.
  Pair p = {"  vreg %0 R b8\n  vreg %1 P pred\n  vreg %2 P pred\n",
            "  block b0\n    #0 %2 = p\n    #1 cbra %2 -> b1, b2\n  block b1\n    #2 %0 = a\n    #3 %1 = b\n    #4 bra -> b2\n"
            "  block b2\n    #5 cbra %2 -> b3, b4\n  block b3\n    #6 bra -> b4\n  block b4\n    #7 use %0, %1 !write\n    #8 exit\n",
            "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 R0 = a\n    #3 P1 = b\n    +20 spill R0.b0, slot 0\n"
            "    +21 spill P1, slot 0 + 3\n    #4 bra -> b2\n  block b2\n    #5 cbra P0 -> b3, b4\n  block b3\n    #6 bra -> b4\n"
            "  block b4\n    +22 R4.b0 = refill slot 0\n    +23 P3 = refill slot 0 + 3\n    #7 use R4, P3 !write\n    #8 exit\n"};
  expect_pass(p);
  expect_category(with(p, "P3 = refill slot 0 + 3", "P3 = refill slot 0 + 2"), kLost);
  expect_category(with(p, "R4.b0 = refill slot 0\n", "R4.b0 = refill slot 0 + 1\n"), kLost);
}

TEST(SymbolicTest, AConstantThatIsDefinedOnOnePathOnlyCanStillBeRepeated) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = const 5 !remat\n    #3 %1 = a\n    #4 bra -> b3\n"
                  "  block b2\n    #5 %1 = b\n    #6 bra -> b3\n  block b3\n    #7 use %0, %1 !write\n    #8 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 const !remat !deleted\n    #3 R1 = a\n    #4 bra -> b3\n"
                  "  block b2\n    #5 R1 = b\n    #6 bra -> b3\n  block b3\n    +9 R0 = remat #2 5\n    #7 use R0, R1 !write\n    #8 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +9 R0 = remat #2 5\n", "")).verdict, Verdict::Fail);
}

TEST(SymbolicTest, APartThatIsUndefinedAsksForNothing) {
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n",
                  "  block b0\n    #0 %1 = a\n    #1 %0.h1 = b\n    #2 %2 = p\n    #3 cbra %2 -> b1, b2\n  block b1\n    #4 bra -> b2\n"
                  "  block b2\n    #5 use %0, %1 !write\n    #6 exit\n",
                  "  block b0\n    #0 R1 = a\n    #1 R0.h1 = b\n    #2 P0 = p\n    #3 cbra P0 -> b1, b2\n  block b1\n    +9 R0.h0 = copy R1.h0\n    #4 bra -> b2\n"
                  "  block b2\n    #5 use R0, R1 !write\n    #6 exit\n"};
  expect_pass(p);
  expect_category(with(p, "+9 R0.h0 = copy R1.h0", "+9 R0.h1 = copy R1.h0"), kLost);
}

TEST(SymbolicTest, AnUndefinedGuardLeavesNothingDefined) {
  // %3 has no definition: whether #2 happens is not known, and %0 is undefined after it.
  const Pair p = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %1 = c\n    #2 @%3 %0 = b\n    #3 use %0, %1 !write\n    #4 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = c\n    #2 @P0 R2 = b\n    #3 use R0, R1 !write\n    #4 exit\n"};
  expect_pass(p);
  expect_category(with(p, "@P0 R2 = b", "@P0 R1 = b"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// Guards

Pair guarded() {
  return {kAndP,
          "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @%3 %0 = c\n    #4 use %0, %1 !write\n    #5 exit\n",
          "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    +20 spill R0, slot 0\n    #2 R1 = b\n    #3 @P0 R5 = c\n"
          "    +21 @P0 spill R5, slot 0\n    +22 R0 = refill slot 0\n    #4 use R0, R1 !write\n    #5 exit\n"};
}

TEST(SymbolicTest, AStoreUnderTheGuardOfItsDefIsAsGoodAsRefillModifyStore) {
  expect_pass(guarded());
  expect_pass(with(guarded(), "#3 @P0 R5 = c\n    +21 @P0 spill R5, slot 0", "+23 R5 = refill slot 0\n    #3 @P0 R5 = c\n    +21 spill R5, slot 0"));
  expect_category(with(guarded(), "+21 @P0 spill", "+21 spill"), kLost);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+21 @!P0 spill")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+24 P0 = copy P1\n    +21 @P0 spill")).verdict, Verdict::Fail);
  // The predicate may have been elsewhere in between.
  expect_pass(with(guarded(), "    +21 @P0", "    +31 spill P0, slot 1\n    +32 P3 = refill slot 1\n    +21 @P3"));
}

TEST(SymbolicTest, AGuardedDefKeepsTheOldValue) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @%3 %0 = c\n    #4 use %0 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 R1 = b\n    #3 @P0 R0 = c\n    #4 use R0 !write\n    #5 exit\n"};
  expect_pass(p);
  const Pair bad = with(with(p, "@P0 R0 = c", "@P0 R1 = c"), "use R0", "use R1");
  EXPECT_EQ(judge(bad).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R0", "#3 @P1 R0"), kLost);  // the guard itself is no use of %3 any more, and decides otherwise
}

TEST(SymbolicTest, AUseUnderTheGuardAsksOnlyWhereItHolds) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 @%3 use %0 !write\n    #3 @!%3 use %0 !write\n    #4 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    +9 @P0 R1 = copy R0\n    #2 @P0 use R1 !write\n    #3 @!P0 use R0 !write\n    #4 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#3 @!P0 use R0", "#3 @!P0 use R1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+9 @P0 R1", "+9 @!P0 R1")).verdict, Verdict::Fail);
}

TEST(SymbolicTest, AFirstGuardedDefSharesItsRegisterWithWhatDied) {
  const Pair p = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %3 = p %0\n    #2 @%3 %1 = b\n    #3 @%3 use %1 !write\n    #4 use %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 P0 = p R0\n    #2 @P0 R0 = b\n    #3 @P0 use R0 !write\n    #4 use R0 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_category(with(p, "#2 @P0 R0 = b", "#2 @P0 R1 = b"), kWrong);
}

TEST(SymbolicTest, GuardedDefsSurviveJoins) {
  const std::string vregs = "  vreg %0 R b8\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 P pred\n  vreg %4 P pred\n";
  const Pair p = {vregs,
                  "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 @%3 %0 = b\n    #3 cbra %3 -> b1, b2\n  block b1\n    #4 bra -> b2\n"
                  "  block b2\n    #5 use %0 !write\n    #6 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 @P0 R0 = b\n    +9 spill R0.b0, slot 0\n    #3 cbra P0 -> b1, b2\n"
                  "  block b1\n    #4 bra -> b2\n  block b2\n    +8 R1.b0 = refill slot 0\n    #5 use R1 !write\n    #6 exit\n"};
  expect_pass(p);
  expect_category(with(p, "    #4 bra", "    +7 spill R9, slot 0\n    #4 bra"), kLost);
}

TEST(SymbolicTest, TheOrderOfGuardsDoesNotMatter) {
  // One byte is redefined under another guard; in between the value goes through a slot byte by byte.
  const Pair p = {"  vreg %0 R b32\n  vreg %1 P pred\n  vreg %2 P pred\n",
                  "  block b0\n    #0 %1 = p\n    #1 %2 = q\n    #2 %0 = a\n    #3 @%2 %0 = b\n    #4 @%1 %0 = c\n    #5 @%2 %0.b3 = d\n"
                  "    #6 cbra %1 -> b1, b2\n  block b1\n    #7 bra -> b2\n  block b2\n    #8 use %0 !write\n    #9 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 R0 = a\n    #3 @P1 R0 = b\n    #4 @P0 R0 = c\n    +20 spill R0.h0, slot 0\n"
                  "    +21 spill R0.b2, slot 0 + 2\n    #5 @P1 R0.b3 = d\n    +22 spill R0.b3, slot 0 + 3\n    #6 cbra P0 -> b1, b2\n"
                  "  block b1\n    #7 bra -> b2\n  block b2\n    +23 R1 = refill slot 0\n    #8 use R1 !write\n    #9 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +22 spill R0.b3, slot 0 + 3\n", "")).verdict, Verdict::Fail);
}

// ---------------------------------------------------------------------------------------------------------------
// Predicate packs

Pair packed() {
  return {"  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 R b32\n",
          "  block b0\n    #0 %0 = p\n    #1 %1 = q\n    #2 call \"g\" clobbers P0:P6\n    #3 use %0, %1 !write\n    #4 exit\n",
          "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    +10 R9{inout} = p2r P0, P1\n    +11 spill R9, slot 0\n    #2 call \"g\" clobbers P0:P6\n"
          "    +12 R8 = refill slot 0\n    +13 P0, P1 = r2p R8\n    #3 use P0, P1 !write\n    #4 exit\n"};
}

TEST(SymbolicTest, PredicatesComeBackFromTheirBitOfThePack) {
  expect_pass(packed());
  expect_category(with(packed(), "+13 P0, P1 = r2p R8\n    #3 use P0, P1", "+13 P0, P1 = r2p R8\n    #3 use P1, P0"), kWrong);
  expect_category(with(packed(), "p2r P0, P1", "p2r P0"), kLost);
  expect_category(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8"), kLost);
  expect_pass(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8\n    +14 P1 = bit_refill R8, 1"));
  expect_category(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8\n    +14 P1 = bit_refill R8, 0"), kWrong);
  expect_pass(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = p2r P0\n    +15 R9{inout} = bit_spill P1, 1"));
  expect_category(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = p2r P0\n    +15 R9{inout} = bit_spill P1, 9"), kLost);
}

TEST(SymbolicTest, APackKeepsItsOtherBits) {
  const Pair p = with(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = bit_spill P0, 17\n    +15 R9{inout} = bit_spill P1, 1"),
                      "P0, P1 = r2p R8", "P0 = bit_refill R8, 17\n    +16 P1 = bit_refill R8, 1");
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "bit_spill P1, 1\n", "bit_spill P1, 17\n")).findings.size(), 2u);  // over the other, and not where it is looked for
}

TEST(SymbolicTest, PacksGoOverJoins) {
  const std::string vregs = "  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 P pred\n";
  const Pair p = {vregs,
                  "  block b0\n    #0 %0 = p\n    #1 %2 = q\n    #2 cbra %2 -> b1, b2\n  block b1\n    #3 %1 = r\n    #4 bra -> b3\n"
                  "  block b2\n    #5 %1 = s\n    #6 bra -> b3\n  block b3\n    #7 use %0, %1 !write\n    #8 exit\n",
                  "  block b0\n    #0 P0 = p\n    +20 R9{inout} = p2r P0\n    #1 P0 = q\n    #2 cbra P0 -> b1, b2\n"
                  "  block b1\n    #3 P1 = r\n    +21 R9{inout} = bit_spill P1, 5\n    #4 bra -> b3\n"
                  "  block b2\n    #5 P0 = s\n    +22 R9{inout} = bit_spill P0, 5\n    #6 bra -> b3\n"
                  "  block b3\n    +23 P0 = r2p R9\n    +24 P2 = bit_refill R9, 5\n    #7 use P0, P2 !write\n    #8 exit\n"};
  expect_pass(p);
  expect_category(with(p, "    +22 R9{inout} = bit_spill P0, 5\n", ""), kLost);
}

TEST(SymbolicTest, APackThatIsWrittenUnderAGuardGoesOverJoins) {
  // An inserted p2r under a guard makes each byte of the pack a choice between two packs, which are met bit by bit like any other.
  const Pair p = {"  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 P pred\n",
                  "  block b0\n    #0 %0 = p\n    #1 %1 = q\n    #2 %2 = r\n    #3 cbra %2 -> b1, b2\n  block b1\n    #4 bra -> b2\n"
                  "  block b2\n    #5 use %0 !write\n    #6 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 P2 = r\n    +20 R9{inout} = p2r P0\n    +21 @P2 R9{inout} = p2r P1\n"
                  "    #3 cbra P2 -> b1, b2\n  block b1\n    #4 bra -> b2\n  block b2\n    +22 P3 = r2p R9\n    +23 P0 = bit_refill R9, 0\n"
                  "    #5 use P0 !write\n    #6 exit\n"};
  expect_pass(p);
  expect_category(with(p, "bit_refill R9, 0", "bit_refill R9, 1"), kLost);
  expect_category(with(p, "+21 @P2 R9{inout} = p2r P1", "+21 @P2 R9{inout} = bit_spill P1, 0"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// Remats

TEST(SymbolicTest, AConstantCanBeRepeatedAnywhere) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = const 5 !remat\n    #1 %1 = const 6 !remat\n    #2 use %0, %1 !write\n    #3 exit\n",
                  "  block b0\n    #0 const !remat !deleted\n    #1 const !remat !deleted\n    +9 R0 = remat #0 5\n    +8 R1 = remat #1 6\n"
                  "    #2 use R0, R1 !write\n    #3 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(p, "remat #1 6", "remat #1 7"), kRemat);
  expect_category(with(p, "    +9 R0 = remat #0 5\n", ""), kLost);
}

Pair repeated() {
  return {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = add %0, 4 !remat\n    #2 use %1, %0 !write\n    #3 %0 = b\n    #4 use %0 !write\n    #5 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 add !remat !deleted\n    +9 R1 = remat #1 R0, 4\n    #2 use R1, R0 !write\n    #3 R0 = b\n"
          "    #4 use R0 !write\n    #5 exit\n"};
}

TEST(SymbolicTest, ARematReadsWhatTheInstructionRead) {
  expect_pass(repeated());
  expect_category(with(repeated(), "+9 R1 = remat #1 R0, 4", "+9 R1 = remat #1 R5, 4"), kRemat);
  // The source has changed: %0 is right, but not what #1 read.
  expect_category(with(repeated(), "    #4 use R0", "    +8 R1 = remat #1 R0, 4\n    #4 use R0"), kRemat);
  // A copy of the old source serves.
  expect_pass(with(with(repeated(), "    #3 R0 = b\n", "    +7 R2 = copy R0\n    #3 R0 = b\n"), "    #4 use R0", "    +8 R1 = remat #1 R2, 4\n    #4 use R0"));
}

TEST(SymbolicTest, ARematGivesTheValueOfTheLastExecution) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 bra -> b1\n  block b1\n    #2 %1 = add %0, 4 !remat\n    #3 %2 = copy %1\n    #4 %0 = b\n    #5 %3 = p\n"
                  "    #6 cbra %3 -> b1, b2\n  block b2\n    #7 use %2 !write\n    #8 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 bra -> b1\n  block b1\n    #2 add !remat !deleted\n    #3 copy !deleted\n    +9 R1 = copy R0\n    #4 R0 = b\n"
                  "    #5 P0 = p\n    #6 cbra P0 -> b1, b2\n  block b2\n    +18 R2 = remat #2 R1, 4\n    #7 use R2 !write\n    #8 exit\n"};
  expect_pass(p);
  expect_category(with(p, "remat #2 R1, 4", "remat #2 R0, 4"), kRemat);
  expect_pass(with(with(p, "#2 add !remat !deleted", "#2 R5 = add R0, 4 !remat"), "remat #2 R1, 4\n    #7 use R2", "remat #2 R1, 4\n    #7 use R5"));
}

TEST(SymbolicTest, OnlyWhatMayBeRepeatedIs) {
  Pair p = repeated();
  p.before = testing::edit(p.before, "add %0, 4 !remat", "ld %0, 4 !read !readonly !remat");
  p.after = testing::edit(p.after, "add !remat !deleted", "ld !read !readonly !remat !deleted");
  expect_pass(p);
  p.before = testing::edit(p.before, " !readonly", "");
  p.after = testing::edit(p.after, " !readonly", "");
  expect_category(p, kRemat);
}

// ---------------------------------------------------------------------------------------------------------------
// What a finding says

struct Said {
  Pair pair;
  std::uint32_t inst;
  int operand;
  std::string_view category, message;
  std::uint32_t other;  // who wrote the location
};

TEST(SymbolicTest, AFindingNamesItsOperandWhatIsThereAndWhoWroteIt) {
  const std::string four = kThreeR + "  vreg %3 R b32\n  vreg %4 R b32\n";
  const Pair copies = {four,
                       "  block b0\n    #0 %1 = a\n    #1 %0 = copy %1\n    #2 %2 = copy %1\n    #3 %3 = copy %1\n    #4 %4 = b\n    #5 use 1, %4 !write\n"
                       "    #6 use %0, %1, %2, %3 !write\n    #7 exit\n",
                       "  block b0\n    #0 R0 = a\n    #1 copy !deleted\n    #2 copy !deleted\n    #3 copy !deleted\n    #4 R1 = b\n    #5 use 1, R0 !write\n"
                       "    #6 use R0, R0, R0, R0 !write\n    #7 exit\n"};
  const Pair far = {kThreeR,
                    "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 bra -> b1\n  block b1\n    #3 bra -> b2\n  block b2\n    #4 use %0, %1 !write\n    #5 exit\n",
                    "  block b0\n    #0 R0 = a\n    +9 R2 = copy R0\n    #1 R1 = b\n    #2 bra -> b1\n  block b1\n    #3 bra -> b2\n"
                    "  block b2\n    #4 use R0, R2 !write\n    #5 exit\n"};
  const Pair guard = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 %0 = a\n    #3 @%3 %0 = copy %0\n    #4 @%3 use %0 !write\n    #5 exit\n",
                      "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 R0 = a\n    #3 @P0 R0 = copy R0\n    #4 @P0 use R0 !write\n    #5 exit\n"};
  const Pair remat = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %3 = p\n    #2 %1 = sel 5, %0, !%3 !remat\n    #3 use %1, %3 !write\n    #4 exit\n",
                      "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    #2 sel !remat !deleted\n    +9 R1 = remat #2 5, R0, !P0\n    #3 use R1, P0 !write\n    #4 exit\n"};
  expect_pass(guard);
  expect_pass(remat);
  const Said said[] = {
      {copies, 5, 1, kWrong, "expected %4, but the location holds %0, %1, %2", 0},
      {far, 4, 1, kWrong, "expected %1, but the location holds %0", 9},
      {with(far, "    +9 R2 = copy R0\n    #1 R1 = b\n", "    #1 R2 = b\n    +9 R2 = copy R0\n"), 4, 1, kWrong, "expected %1, but the location holds %0", 9},
      {with(guard, "#3 @P0 R0 = copy R0", "#3 @P1 R0 = copy R0"), 3, 2, kWrong, "expected %3, but the location holds %4", 1},
      {with(guard, "#3 @P0 R0 = copy R0", "#3 @!P0 R0 = copy R0"), 3, 2, "symbolic-negation", "%3 is read with the other polarity", ir::InstId().value},
      {with(guard, "#4 @P0", "#4 @P1"), 4, 1, kWrong, "expected %3, but the location holds %4", 1},
      {with(remat, "remat #2 5, R0, !P0", "remat #2 5, R7, !P0"), 9, 2, kRemat, "#2 read another value here: the location holds nothing known", ir::InstId().value},
      {with(remat, "remat #2 5, R0, !P0", "remat #2 5, R0, P0"), 9, 3, "symbolic-negation", "polarity", ir::InstId().value},
  };
  for (const Said& s : said) {
    const JudgeResult r = judge(s.pair);
    ASSERT_EQ(r.findings.size(), 1u) << describe(r) << "\n" << s.pair.after_text();
    const Finding& f = r.findings[0];
    EXPECT_EQ(f.inst.value, s.inst) << describe(r);
    EXPECT_EQ(f.operand, s.operand) << describe(r);
    EXPECT_EQ(f.category, s.category) << describe(r);
    EXPECT_THAT(f.message, EndsWith(std::string(s.message)));
    EXPECT_EQ(f.other.value, s.other) << describe(r);
  }
}

TEST(SymbolicTest, BlocksAreLookedAtEachByItself) {
  // Whichever is walked first leaves in a register what the other misses there.
  const Pair p = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %3 = p\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 use %0 !write\n    #4 exit\n"
                         "  block b2\n    #5 use %0 !write\n    #6 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    #2 cbra P0 -> b1, b2\n  block b1\n    #3 use R5 !write\n    +20 R7 = copy R0\n    #4 exit\n"
                  "  block b2\n    #5 use R7 !write\n    +21 R5 = copy R0\n    #6 exit\n"};
  EXPECT_EQ(judge(p).findings.size(), 2u);
  // Nor is what one has defined defined in the other.
  expect_pass({kAndP, "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = a\n    #3 use %0, %1 !write\n    #4 exit\n"
                      "  block b2\n    #5 %1 = b\n    #6 use %0, %1 !write\n    #7 exit\n",
               "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 R0 = a\n    #3 use R0, R5 !write\n    #4 exit\n"
               "  block b2\n    #5 R1 = b\n    #6 use R6, R1 !write\n    #7 exit\n"});
}

TEST(SymbolicTest, APhiCountsOnItsOwnEdgeOnly) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 %3 = p\n    #3 cbra %3 -> b1, b2\n  block b1\n    #4 %1 = phi b0: %0\n    #5 use %1 !write\n"
                  "    #6 exit\n  block b2\n    #7 use %1 !write\n    #8 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 P0 = p\n    #3 cbra P0 -> b1, b2\n  block b1\n    #4 R1 = phi b0: R0\n    #5 use R1 !write\n"
                  "    #6 exit\n  block b2\n    #7 use R1 !write\n    #8 exit\n"};
  expect_pass(p);
  expect_pass(with(with(p, "#4 R1 = phi b0: R0", "#4 phi !deleted"), "#5 use R1", "#5 use R0"));
  // What the phi reads comes from farther away.
  expect_pass({kAndP,
               "  block b0\n    #0 %0 = a\n    #1 bra -> b1\n  block b1\n    #2 bra -> b2\n  block b2\n    #3 %1 = phi b1: %0\n    #4 use %1 !write\n    #5 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 bra -> b1\n  block b1\n    #2 bra -> b2\n  block b2\n    #3 R1 = phi b1: R0\n    #4 use R1 !write\n    #5 exit\n"});
}

// ---------------------------------------------------------------------------------------------------------------
// Places

TEST(SymbolicTest, PartsOfFixedAndTiedOperands) {
  const Pair half = {kPairVregs,
                     "  block b0\n    #0 %0 = a\n    #1 %0.hi{=R4:R5} = b\n    #2 use %0.hi{=R4:R5} !write\n    #3 use %0 !write\n    #4 exit\n",
                     "  block b0\n    #0 R4:R5 = a\n    #1 R4:R5.hi = b\n    #2 use R4:R5.hi !write\n    #3 use R4:R5 !write\n    #4 exit\n"};
  expect_pass(half);
  Pair quarter = half;
  for (std::string* text : {&quarter.before, &quarter.after})
    for (int k = 0; k < 2; ++k) text->replace(text->find(".hi"), 3, ".h1");
  expect_pass(quarter);
  // A tied def is where the use is fixed.
  expect_pass({kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1{tied 1} = mad %0{=R4}, 7\n    #2 use %1 !write\n    #3 exit\n",
               "  block b0\n    #0 R4 = a\n    #1 R5 = mad R5, 7\n    #2 use R4 !write\n    #3 exit\n"});
}

TEST(SymbolicTest, DefsInOneTupleAreContested) {
  const Pair p = {"  vreg %0 R b128\n  vreg %1 R b32\n  vreg %2 R b32\n",
                  "  block b0\n    #0 %1, %0, %2 = three\n    #1 use %2 !write\n    #2 exit\n",
                  "  block b0\n    #0 R0, R4:R7, R8 = three\n    #1 use R8 !write\n    #2 exit\n"};
  expect_pass(p);
  expect_category(with(with(p, "R4:R7, R8 =", "R4:R7, R6 ="), "use R8", "use R6"), kLost);
}

TEST(SymbolicTest, PartsAreDefinedOneAfterTheOther) {
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n",
                  "  block b0\n    #0 %0.h0 = a\n    #1 %0.h1 = b\n    #2 %1 = c\n    #3 %2.h0, %2.h1 = copy %0.h1, %1.h1\n    #4 use %0, %1, %2 !write\n    #5 exit\n",
                  "  block b0\n    #0 R0.h0 = a\n    #1 R0.h1 = b\n    #2 R1 = c\n    #3 R2.h0, R2.h1 = copy R0.h1, R1.h1\n    #4 use R0, R1, R2 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_category(with(p, "copy R0.h1, R1.h1", "copy R0.h1, R1.h0"), kLost);
  expect_pass(with(with(p, "    #3 R2.h0, R2.h1 = copy R0.h1, R1.h1", "    +9 R3.h0 = copy R0.h1\n    #3 R2.h0, R2.h1 = copy R3.h0, R1.h1"), "use R0", "use R0"));
  EXPECT_EQ(judge(with(p, "#1 R0.h1 = b", "#1 R0.h0 = b")).verdict, Verdict::Fail);
  // A narrow vreg in the upper half of a register, whatever structure says of that.
  expect_pass({"  vreg %0 R b32\n  vreg %1 R b16\n", "  block b0\n    #0 %0.h0 = a\n    #1 %1 = b\n    #2 use %1 !write\n    #3 exit\n",
               "  block b0\n    #0 R0.h0 = a\n    #1 R2.h1 = b\n    #2 use R2.h1 !write\n    #3 exit\n"});
}

TEST(SymbolicTest, APackIsAnInstructionLikeAnyOther) {
  const std::string vregs = kPairVregs + "  vreg %3 R b32\n  vreg %4 R b32\n";
  const Pair p = {vregs,
                  "  block b0\n    #0 %1 = a\n    #1 %2 = b\n    #2 %0{early} = pack %1, %2\n    #3 %3, %4 = unpack %0 clobbers R20\n    #4 use %3 !write\n"
                  "    #5 use %1, %2 !write\n    #6 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    +20 R9 = copy R0\n    #2 R2:R3 = pack R0, R1\n    #3 R4, R5 = unpack R2:R3 clobbers R20\n    #4 use R9 !write\n"
                  "    #5 use R0, R1 !write\n    #6 exit\n"};
  expect_pass(p);
  const JudgeResult swapped = judge(with(p, "pack R0, R1", "pack R1, R0"));
  ASSERT_FALSE(swapped.findings.empty());
  EXPECT_EQ(swapped.findings[0].inst, ir::InstId(2)) << describe(swapped);
  expect_category(with(with(with(p, "#2 R2:R3 =", "#2 R0:R1 ="), "unpack R2:R3", "unpack R0:R1"), "#5 use R0, R1", "#5 use R4, R5"), kLost);
  expect_category(with(with(p, "+20 R9", "+20 R20"), "use R9", "use R20"), kLost);
  expect_category(with(with(with(p, "R4, R5 = unpack", "R4, R4 = unpack"), "+20 R9", "+20 R4"), "use R9", "use R4"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// More of guards

TEST(SymbolicTest, ANegatedGuard) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @!%3 %0 = c\n    #4 use %0, %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    +20 spill R0, slot 0\n    #2 R1 = b\n    #3 @!P0 R5 = c\n    +21 @!P0 spill R5, slot 0\n"
                  "    +22 R0 = refill slot 0\n    #4 use R0, R1 !write\n    #5 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+21 @!P0", "+21 @P0")).verdict, Verdict::Fail);
  // Where the guard holds, the new value alone is asked for.
  expect_pass({kAndP, "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 @%3 %0 = c\n    #3 @%3 use %0 !write\n    #4 exit\n",
               "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 @P0 R1 = c\n    #3 @P0 use R1 !write\n    #4 exit\n"});
}

TEST(SymbolicTest, TwoGuardsOfWhichNothingIsKnownAreTwo) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 use %0 !write\n    #2 exit\n",
                  "  block b0\n    #0 R0 = a\n    +9 @P5 R1 = copy R0\n    +8 @!P6 R1 = copy R0\n    #1 use R1 !write\n    #2 exit\n"};
  expect_category(p, kLost);
  // A predicate that came from elsewhere is one and the same.
  expect_category(with(p, "@!P6", "@!P5"), kLost);
}

TEST(SymbolicTest, WhatAnUndefinedGuardMayHaveWrittenAsksForNothing) {
  const Pair p = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %1 = c\n    #2 @%3 %0 = b\n    #3 @%4 %1 = copy %0\n    #4 use %0, %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = c\n    #2 @P0 R2 = b\n    #3 @P1 R1 = copy R2\n    #4 use R5, R6 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_pass({kAndP, "  block b0\n    #0 %0 = a\n    #1 %1 = c\n    #2 @%4 %1 = copy %0\n    #3 use %1 !write\n    #4 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 R1 = c\n    #2 @P1 R1 = copy R0\n    #3 use R6 !write\n    #4 exit\n"});
  // A copy that changes nothing leaves it defined.
  const Pair same = {kAndP, "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 @%4 %1 = copy %0\n    #3 use %1 !write\n    #4 exit\n",
                     "  block b0\n    #0 R0 = a\n    #1 R1 = copy R0\n    #2 @P1 R1 = copy R0\n    #3 use R1 !write\n    #4 exit\n"};
  expect_pass(same);
  expect_category(with(same, "use R1", "use R5"), kLost);
}

TEST(SymbolicTest, AGuardThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 %4 = p\n    #3 cbra %4 -> b1, b2\n  block b1\n    #4 %3 = q\n    #5 bra -> b2\n"
                  "  block b2\n    #6 @%3 %0 = copy %1\n    #7 use %0 !write\n    #8 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 P0 = p\n    #3 cbra P0 -> b1, b2\n  block b1\n    #4 P1 = q\n    #5 bra -> b2\n"
                  "  block b2\n    #6 @P1 R0 = copy R1\n    #7 use R0 !write\n    #8 exit\n"};
  expect_pass(p);
  expect_category(with(p, "#7 use R0", "#7 use R5"), kLost);
}

TEST(SymbolicTest, ANegatedGuardOfACopy) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @!%3 %1 = copy %0\n    #4 use %1 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 R1 = b\n    #3 @!P0 R1 = copy R0\n    #4 use R1 !write\n    #5 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "@!P0", "@P0")).findings.at(0).category, "symbolic-negation");
}

TEST(SymbolicTest, AGuardFromAnotherBlockIsAUse) {
  const Pair p = {kAndP, "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 bra -> b1\n  block b1\n    #3 @%3 %0 = a\n    #4 use %4 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 bra -> b1\n  block b1\n    #3 @P0 R0 = a\n    #4 use P1 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_category(with(p, "@P0 R0", "@P1 R0"), kWrong);
}

TEST(SymbolicTest, ALongChainOfGuardedDefs) {
  // Longer than what is looked into, and the first of them is guarded too.
  std::string before = "  block b0\n", after = before;
  int id = 0;
  for (int k = 0; k < 60; ++k) {
    before += "    #" + std::to_string(id) + " %3 = p\n    #" + std::to_string(id + 1) + " @%3 %0 = a\n";
    after += "    #" + std::to_string(id) + " P0 = p\n    #" + std::to_string(id + 1) + " @P0 R0 = a\n";
    id += 2;
  }
  const std::string end = " !write\n    #" + std::to_string(id + 1) + " exit\n";
  const Pair p = {kAndP, before + "    #" + std::to_string(id) + " use %0" + end, after + "    #" + std::to_string(id) + " use R0" + end};
  expect_pass(p);
  expect_category(with(p, "use R0", "use R1"), kLost);
}

TEST(SymbolicTest, APredicateOfAPackUnderAGuard) {
  // An original copy under a guard, done in the pack.
  const Pair p = {"  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 P pred\n",
                  "  block b0\n    #0 %0 = p\n    #1 %1 = q\n    #2 %2 = r\n    #3 @%2 %0 = copy %1\n    #4 use %0 !write\n    #5 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 P2 = r\n    +20 R9{inout} = p2r P0\n    +21 @P2 R9{inout} = bit_spill P1, 0\n"
                  "    #3 copy !deleted\n    +22 P4 = r2p R9\n    +23 P5 = bit_refill R9, 0\n    #4 use P5 !write\n    #5 exit\n"};
  expect_pass(p);
  expect_category(with(p, "+21 @P2", "+21"), kWrong);
  expect_category(with(p, "p2r P0", "p2r !P0"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// Not defined on all paths, and constants

TEST(SymbolicTest, APredicateThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 %4 = setp %0 !remat\n    #4 bra -> b2\n"
                  "  block b2\n    #5 bra -> b3\n  block b3\n    #6 use %4, %0 !write\n    #7 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    #2 cbra P0 -> b1, b2\n  block b1\n    #3 P1 = setp R0 !remat\n    #4 bra -> b2\n"
                  "  block b2\n    #5 bra -> b3\n  block b3\n    #6 use P1, R0 !write\n    #7 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use P1", "use P0"), kLost);
  expect_pass(with(with(p, "P1 = setp R0 !remat", "setp !remat !deleted"), "    #6 use", "    +9 P1 = remat #3 R0\n    #6 use"));
}

TEST(SymbolicTest, AConstantCanBeRepeatedBeforeItsTurn) {
  expect_pass({kThreeR, "  block b0\n    #0 %1 = a\n    #1 %0 = const 5 !remat\n    #2 use %0, %1 !write\n    #3 exit\n",
               "  block b0\n    +9 R0 = remat #1 5\n    #0 R1 = a\n    #1 const !remat !deleted\n    #2 use R0, R1 !write\n    #3 exit\n"});
}

// ---------------------------------------------------------------------------------------------------------------
// Callee-saved registers, and programs that cannot be followed

TEST(SymbolicTest, CalleeSavedRegistersComeBack) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 use %0 !write\n    #2 ret\n",
            "  block b0\n    +9 spill R24, slot 0\n    #0 R24 = a\n    #1 use R24 !write\n    +8 R24 = refill slot 0\n    #2 ret\n"};
  p.kind = "device";
  expect_pass(p);
  expect_category(with(p, "    +8 R24 = refill slot 0\n", ""), "callee-saved");
  expect_category(with(p, "R24 = refill slot 0", "R24 = refill slot 1"), "callee-saved");
  // At a ret in another block; written by a move alone, or as a pack.
  Pair other = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 bra -> b1\n  block b1\n    #2 ret\n",
                "  block b0\n    +9 spill R24, slot 0\n    #0 R24 = a\n    +8 R24 = refill slot 0\n    #1 bra -> b1\n  block b1\n    #2 ret\n"};
  other.kind = "device";
  expect_pass(other);
  expect_category(with(p, "+9 spill R24, slot 0\n    #0 R24 = a\n    #1 use R24 !write\n    +8 R24 = refill slot 0", "#0 R4 = a\n    #1 use R4 !write\n    +8 R24 = copy R4"),
                  "callee-saved");
  expect_category(with(p, "+9 spill R24, slot 0\n    #0 R24 = a\n    #1 use R24 !write\n    +8 R24 = refill slot 0",
                       "#0 R4 = a\n    #1 use R4 !write\n    +8 R24{inout} = p2r P0"),
                  "callee-saved");
  p.kind = "kernel";
  expect_pass(with(p, "    +8 R24 = refill slot 0\n", ""));
}

TEST(SymbolicTest, ArchitecturalRegistersHoldSomethingFromTheEntry) {
  const std::string vregs = "  vreg %0 P pred fixed P7 architectural\n  vreg %1 R b32\n";
  const Pair p = {vregs, "  block b0\n    #0 use %0 !write\n    #1 exit\n", "  block b0\n    #0 use P7 !write\n    #1 exit\n"};
  const JudgeResult r = judge(p);
  EXPECT_NE(r.verdict, Verdict::Fail) << describe(r);
  expect_category(with(p, "    #0 use P7", "    +9 P7 = copy P1\n    #0 use P7"), kLost);
}

TEST(SymbolicTest, NonsenseIsSkippedWithAReason) {
  const auto expect_skipped = [](const Pair& p, std::string_view reason) {
    const JudgeResult r = judge(p);
    EXPECT_EQ(r.verdict, Verdict::Skipped) << describe(r);
    EXPECT_THAT(r.reason, HasSubstr(reason));
  };
  expect_skipped(with(two_values(), "    #1 R1 = b\n", ""), "does not hold");
  expect_skipped(with(two_values(), "#2 use R0, R1", "#2 use R0"), "number of operands");
  expect_skipped(with(two_values(), "#1 R1 = b", "#1 R1{inout} = b"), "role");
  Pair narrow = two_values();
  narrow.vregs = kPairVregs;
  expect_skipped(narrow, "narrower");
  expect_skipped(with(two_values(), "    #2 use", "    +9 R3 = remat #77 5\n    #2 use"), "remat of nothing");
  expect_skipped(with(two_values(), "use R0, R1", "use 5, R1"), "no register");
  expect_skipped(with(two_values(), "    #3 exit\n", "    +9 exit\n"), "not inserted");
  expect_skipped(with(two_values(), "    #2 use", "    +9 R3 = foo\n    #2 use"), "not inserted");
  expect_skipped(with(two_values(), "    #3 exit\n", "    +9 bra -> b0\n"), "does not hold all its original");
  Pair copy = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 exit\n", "  block b0\n    #0 R0 = a\n    #1 R1 = foo R0\n    #2 exit\n"};
  expect_skipped(copy, "something else");
  Pair remat = repeated();
  remat.vregs = "  vreg %0 R b64\n  vreg %1 R b32\n  vreg %2 R b32\n";
  remat.after = testing::edit(remat.after, "#0 R0 = a", "#0 R4:R5 = a");
  remat.after = testing::edit(remat.after, "use R1, R0", "use R1, R4:R5");
  remat.after = testing::edit(testing::edit(remat.after, "#3 R0 = b", "#3 R4:R5 = b"), "#4 use R0", "#4 use R4:R5");
  expect_skipped(remat, "narrower");
  expect_skipped({kAndP,
                  "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 bra -> b3\n  block b2\n    #3 bra -> b3\n  block b3\n    #4 exit\n",
                  "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 bra -> b4\n  block b2\n    #3 bra -> b4\n  block b3\n    #4 exit\n"
                  "  block b4 edge b1 -> b3\n    +9 bra -> b3\n"},
                 "stands on two edges");
}

// ---------------------------------------------------------------------------------------------------------------
// More of joins

// With %9 as the predicate that decides.
std::string up_to_nine(std::string vregs) {
  for (auto k = std::count(vregs.begin(), vregs.end(), '%'); k < 9; ++k) vregs += fmt::format("  vreg %{} R b32\n", k);
  return vregs + "  vreg %9 P pred\n";
}
// A block, a join after it, and what stands there.
Pair joined(std::string vregs, const std::string& before, const std::string& use, const std::string& after, const std::string& have) {
  return {up_to_nine(std::move(vregs)),
          "  block b0\n" + before + "    #90 %9 = p\n    #91 cbra %9 -> b1, b2\n  block b1\n    #92 bra -> b2\n  block b2\n    #93 use " + use +
              " !write\n    #94 exit\n",
          "  block b0\n" + after + "    #90 P6 = p\n    #91 cbra P6 -> b1, b2\n  block b1\n    #92 bra -> b2\n  block b2\n" + have};
}

TEST(SymbolicTest, WordsAndTheirPiecesGoOverJoinsTogether) {
  // A half of %0 is a half of %1, which goes over the join as a whole; either may be read in the other's register.
  const std::string before = "    #0 %1 = a\n    #1 %2 = b\n    #2 %0.h0 = copy %1.h0\n    #3 %0.h1 = copy %2.h0\n";
  const std::string after = "    #0 R1 = a\n    #1 R2 = b\n    #2 R0.h0 = copy R1.h0\n    #3 R0.h1 = copy R2.h0\n";
  const Pair p = joined(kThreeR, before, "%1.h0, %2.h0, %0, %1, %2", after, "    #93 use R0.h0, R0.h1, R0, R1, R2 !write\n    #94 exit\n");
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "use R0.h0, R0.h1", "use R0.h1, R0.h0")).verdict, Verdict::Fail);
  // Both halves of %0 are one and the same.
  const Pair twice = joined(kThreeR, "    #0 %1 = a\n    #1 %0.h0 = copy %1.h0\n    #2 %0.h1 = copy %1.h0\n", "%0.h0, %0.h1, %0",
                            "    #0 R1 = a\n    #1 R0.h0 = copy R1.h0\n    #2 R0.h1 = copy R1.h0\n    +20 R3.h0 = copy R0.h1\n",
                            "    #93 use R3.h0, R3.h0, R0 !write\n    #94 exit\n");
  expect_pass(twice);
  // A narrow name, and the word that it is the lower half of.
  const Pair narrow = joined("  vreg %0 R b32\n  vreg %1 R b16\n  vreg %2 R b16\n", "    #0 %0 = a\n    #1 %1, %2 = unpack %0\n", "%1, %2, %0",
                             "    #0 R0 = a\n    #1 R1, R2 = unpack R0\n",
                             "    +20 R3.h0 = copy R0.h0\n    +21 R4.h0 = copy R0.h1\n    #93 use R3, R4, R0 !write\n    #94 exit\n");
  expect_pass(narrow);
  expect_category(with(narrow, "R4.h0 = copy R0.h1", "R4.h0 = copy R0.h0"), kWrong);
}

TEST(SymbolicTest, EqualNamesFallApartInALoop) {
  const Pair p = {kAndP,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 bra -> b1\n  block b1\n    #3 use %0, %1 !write\n    #4 %1 = c\n    #5 %3 = p\n"
                  "    #6 cbra %3 -> b1, b2\n  block b2\n    #7 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = copy R0\n    #2 bra -> b1\n  block b1\n    #3 use R0, R1 !write\n    #4 R1 = c\n    #5 P0 = p\n"
                  "    #6 cbra P0 -> b1, b2\n  block b2\n    #7 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R1"), kWrong);
  expect_category(with(p, "use R0, R1", "use R0, R0"), kWrong);
}

TEST(SymbolicTest, ManyNamesGoOverAJoin) {
  std::string vregs, before, after, want, have;
  for (int k = 0; k < 200; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    before += fmt::format("    #{} %{} = a\n", k, k);
    after += fmt::format("    #{} R{} = a\n", k, k);
    want += fmt::format("    #{} use %{} !write\n", 400 + k, k);
    have += fmt::format("    #{} use R{} !write\n", 400 + k, k);
  }
  vregs += "  vreg %200 P pred\n";
  const Pair p = {vregs, "  block b0\n" + before + "    #300 %200 = p\n    #301 cbra %200 -> b1, b2\n  block b1\n    #302 bra -> b2\n  block b2\n" + want + "    #800 exit\n",
                  "  block b0\n" + after + "    #300 P0 = p\n    #301 cbra P0 -> b1, b2\n  block b1\n    #302 bra -> b2\n  block b2\n" + have + "    #800 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R7 ", "use R8 "), kWrong);
}

// %0 is defined on one path only.
Pair on_one_path(std::string vregs, const std::string& def, const std::string& use, const std::string& after_def, const std::string& other,
                 const std::string& have) {
  return {up_to_nine(std::move(vregs)),
          "  block b0\n    #80 %9 = p\n    #81 cbra %9 -> b1, b2\n  block b1\n" + def + "    #82 bra -> b3\n  block b2\n    #83 bra -> b3\n" +
              "  block b3\n    #84 cbra %9 -> b4, b5\n  block b4\n    #85 bra -> b5\n  block b5\n    #86 use " + use + " !write\n    #87 exit\n",
          "  block b0\n    #80 P6 = p\n    #81 cbra P6 -> b1, b2\n  block b1\n" + after_def + "    #82 bra -> b3\n  block b2\n" + other +
              "    #83 bra -> b3\n  block b3\n    #84 cbra P6 -> b4, b5\n  block b4\n    #85 bra -> b5\n  block b5\n" + have + "    #87 exit\n"};
}

TEST(SymbolicTest, PiecesOfWhatIsDefinedOnOnePathOnly) {
  const Pair p = on_one_path(kThreeR, "    #0 %0 = a\n", "%0.h0, %0", "    #0 R0 = a\n    +20 spill R0.h0, slot 0\n", "    +21 spill P6, slot 0\n",
                             "    +22 R4.h0 = refill slot 0\n    #86 use R4.h0, R0 !write\n");
  expect_pass(p);
  expect_category(with(p, "R4.h0 = refill slot 0\n", "R4.h0 = refill slot 0 + 2\n"), kLost);
  // A predicate in a pack.
  const Pair pack = on_one_path("  vreg %0 P pred\n", "    #0 %0 = a\n", "%0", "    #0 P1 = a\n    +20 R9{inout} = bit_spill P1, 3\n", "",
                                "    +22 P2 = bit_refill R9, 3\n    #86 use P2 !write\n");
  expect_pass(pack);
  expect_category(with(pack, "bit_refill R9, 3", "bit_refill R9, 4"), kLost);
  // A constant that is nowhere at the joins.
  for (const std::string cls : {"R b32", "P pred", "R b64"}) {
    const std::string at = cls == "R b32" ? "R0" : cls == "P pred" ? "P1" : "R0:R1";
    const Pair constant = on_one_path("  vreg %0 " + cls + "\n", "    #0 %0 = const 1 !remat\n", "%0", "    #0 const !remat !deleted\n", "",
                                      "    +22 " + at + " = remat #0 1\n    #86 use " + at + " !write\n");
    expect_pass(constant);
    EXPECT_EQ(judge(with(constant, "    +22 " + at + " = remat #0 1\n", "")).verdict, Verdict::Fail);
  }
}

TEST(SymbolicTest, AWordThatWasPutTogetherIsOneAfterAJoin) {
  const Pair p = joined(kThreeR, "    #0 %1 = a\n    #1 %0.h0 = copy %1.h0\n    #2 %0.h1 = b\n", "%0",
                        "    #0 R1 = a\n    #1 R0.h0 = copy R1.h0\n    #2 R0.h1 = b\n", "    #93 use R0 !write\n    #94 exit\n");
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  symbolic::State state(*plan);
  for (const symbolic::Step& s : plan->steps_of(0)) state.transfer(s, nullptr);
  symbolic::Joiner joiner(*plan);
  symbolic::Entry entry;
  ASSERT_TRUE(joiner.flow_into(entry, 2, state));
  EXPECT_FALSE(joiner.flow_into(entry, 2, state));
  ASSERT_EQ(entry.names.size(), 1u);
  ASSERT_EQ(entry.locations.size(), 1u);
  EXPECT_EQ(plan->values[entry.names[0]].kind, ValueKind::Merged);
  EXPECT_EQ(entry.locations[0].value, entry.names[0]);
}

// ---------------------------------------------------------------------------------------------------------------
// What is kept at the head of a block

// Live vregs and registers at the head of `block`: "%0 R4", and how many words of the frames.
std::string live_at(const Pair& p, std::uint32_t block) {
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)});
  if (!plan) return plan.error();
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t name : plan->live_names[block])
    for (std::size_t v = 0; v < before.vregs.size(); ++v) {
      const Place at = plan->names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v)));
      if (name >= at.cell && name < at.cell + at.cells()) text += fmt::format("%{} ", v);
    }
  for (const std::uint32_t l : plan->live_locations[block])
    for (const ir::RegFile file : {ir::RegFile::R, ir::RegFile::P})
      for (int u = 0; u < 64; ++u)
        if (l == plan->locations.of_unit(file, u)) {
          text += fmt::format("{}{} ", file == ir::RegFile::R ? "R" : "P", u);
          ++named;
        }
  return text + fmt::format("+{}", plan->live_locations[block].size() - named);
}

TEST(SymbolicTest, OnlyWhatIsReadLaterIsKept) {
  const auto two_blocks = [](std::string vregs, const std::string& before, const std::string& after) {
    return Pair{std::move(vregs), "  block b0\n    #90 bra -> b1\n  block b1\n" + before + "    #91 exit\n",
                "  block b0\n    #90 bra -> b1\n  block b1\n" + after + "    #91 exit\n"};
  };
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 use %0 !write\n", "    #0 use R4 !write\n"), 1), "%0 R4 +0");
  // Written before it is read; in two parts; by a copy; by a clobber; by a refill of its two bytes.
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 %0 = a\n    #1 use %0 !write\n", "    #0 R4 = a\n    #1 use R4 !write\n"), 0), "+0");
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 %0.h0 = a\n    #1 %0.h1 = a\n    #2 use %0 !write\n",
                               "    #0 R4.h0 = a\n    #1 R4.h1 = a\n    #2 use R4 !write\n"), 0), "+0");
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 %0.h0 = a\n    #2 use %0 !write\n", "    #0 R4.h0 = a\n    #2 use R4 !write\n"), 0), "%0 R4 +0");
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 %0 = copy %1\n    #1 use %0 !write\n", "    #0 R4 = copy R5\n    #1 use R4 !write\n"), 0), "%1 R5 +0");
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 call \"f\" clobbers R4\n    #1 use %0 !write\n", "    #0 call \"f\" clobbers R4\n    #1 use R4 !write\n"), 0),
            "%0 +0");
  EXPECT_EQ(live_at(two_blocks("  vreg %0 R b16\n", "    #0 %0 = a\n    #1 use %0 !write\n",
                               "    #0 R0 = a\n    +9 spill R0.h0, slot 0\n    +8 R1.h0 = refill slot 0\n    #1 use R1 !write\n"), 0), "R1 +0");
  // Not under a guard.
  EXPECT_EQ(live_at(two_blocks(kAndP, "    #0 @%3 %0 = a\n    #1 use %0 !write\n", "    #0 @P0 R4 = a\n    #1 use R4 !write\n"), 0), "%0 %3 R4 P0 +0");
  EXPECT_EQ(live_at(two_blocks(kAndP, "    #0 use %3 !write\n", "    +9 P1 = r2p R4\n    #0 use P1 !write\n"), 0), "%3 R4 +0");
  EXPECT_EQ(live_at(two_blocks(kThreeR, "    #0 %1 = add %0 !remat\n    #1 use %1 !write\n", "    #0 add !remat !deleted\n    +9 R1 = remat #0 R4\n    #1 use R1 !write\n"), 0),
            "%0 R4 +1");
  // What a phi writes is not live before it.
  const Pair phi = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0\n    #3 bra -> b2\n  block b2\n    #4 use %1 !write\n    #5 exit\n",
                    "  block b0\n    #0 R0 = a\n    #1 bra -> b1\n  block b1\n    #2 phi !deleted\n    #3 bra -> b2\n  block b2\n    #4 use R0 !write\n    #5 exit\n"};
  EXPECT_EQ(live_at(phi, 0), "+0");
  // What it reads is not all written by a part.
  const Pair part = {kThreeR, "  block b0\n    #0 bra -> b1\n  block b1\n    #1 %0.h0 = a\n    #2 bra -> b2\n  block b2\n    #3 %1 = phi b1: %0\n    #4 use %1 !write\n    #5 exit\n",
                     "  block b0\n    #0 bra -> b1\n  block b1\n    #1 R0.h0 = a\n    #2 bra -> b2\n  block b2\n    #3 R1 = phi b1: R0\n    #4 use R1 !write\n    #5 exit\n"};
  EXPECT_EQ(live_at(part, 1), "%0 R0 R1 +0");
  EXPECT_EQ(live_at(phi, 1), "%1 R0 +0");
}

TEST(SymbolicTest, ThePlanCountsWhatItMust) {
  Pair p = diamond();
  p.kind = "device";
  p.before = testing::edit(p.before, "#8 exit", "#8 ret");
  p.after = testing::edit(testing::edit(p.after, "#8 exit", "+30 R24 = copy R0\n    #8 ret"), "#7 use R0", "#7 use R0");
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_THAT(plan->num_preds, ElementsAre(0, 1, 1, 2));
  ASSERT_EQ(plan->saved.size(), 1u);
  EXPECT_EQ(ir::to_string(plan->saved[0].unit), "R24");
}

// ---------------------------------------------------------------------------------------------------------------
// Values

TEST(SymbolicValuesTest, WhatIsTakenApartAndPutTogetherIsTheSame) {
  Values v;
  const Value w = v.add_leaves(ValueKind::Def, 0), u = v.add_leaves(ValueKind::Def, 1);
  EXPECT_EQ(v.word({v.byte(w, 0), v.byte(w, 1), v.byte(w, 2), v.byte(w, 3)}), w);
  const Value mixed = v.word({v.byte(w, 0), v.byte(u, 1), v.byte(w, 2), v.byte(w, 3)});
  EXPECT_NE(mixed, w);
  EXPECT_EQ(v.byte(mixed, 1), v.byte(u, 1));
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(w, 0), k);
  EXPECT_EQ(v.packed(bits), v.byte(w, 0));
  bits[3] = u;
  EXPECT_EQ(v.bit(v.packed(bits), 3), u);
}

TEST(SymbolicValuesTest, GatesOnOneTokenCollapse) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2),
              z = v.add_leaves(ValueKind::Def, 3), s = v.add_leaves(ValueKind::Def, 4);
  EXPECT_EQ(v.gate(t, x, x), x);
  EXPECT_EQ(v.gate(t, v.gate(t, x, y), z), v.gate(t, x, z));
  EXPECT_EQ(v.gate(t, x, v.gate(t, y, z)), v.gate(t, x, z));
  EXPECT_EQ(v.gate(t, v.gate(s, x, y), z), v.gate(s, v.gate(t, x, z), v.gate(t, y, z)));
  EXPECT_EQ(v.where(v.gate(s, v.gate(t, x, y), z), t, false), v.gate(s, y, z));
  EXPECT_TRUE(v.satisfies(v.gate(t, x, y), v.gate(t, x, kAny)));
  EXPECT_FALSE(v.satisfies(v.gate(t, x, y), v.gate(t, kAny, z)));
  EXPECT_TRUE(v.satisfies(x, v.gate(t, x, kAny)));
  EXPECT_FALSE(v.satisfies(v.gate(s, x, y), v.gate(t, x, kAny)));
}

TEST(SymbolicValuesTest, ALooseNameIsSatisfiedByAnyOfItsMembers) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2), z = v.add_leaves(ValueKind::Def, 3);
  const Value either = v.one_of({y, x, y});
  EXPECT_EQ(either, v.one_of({x, y}));
  EXPECT_TRUE(v.satisfies(x, either) && v.satisfies(y, either));
  EXPECT_FALSE(v.satisfies(z, either));
  EXPECT_FALSE(v.satisfies(kJunk, either));
  EXPECT_TRUE(v.satisfies(kJunk, kAny));
  EXPECT_TRUE(v.satisfies_bytes(v.word({v.byte(x, 0), v.byte(x, 1), kJunk, kJunk}), either, 0x3));
  EXPECT_FALSE(v.satisfies_bytes(v.word({v.byte(x, 0), v.byte(x, 1), kJunk, kJunk}), either, 0x7));
}

TEST(SymbolicValuesTest, LongChainsOfGatesAreStillToldApart) {
  Values v;
  Value a = v.add_leaves(ValueKind::Def, 0), b = a;
  const Value x = v.add_leaves(ValueKind::Def, 1, 200), t = v.add_leaves(ValueKind::Def, 2, 200);
  for (std::uint32_t k = 0; k < 200; ++k) {
    a = v.gate(t + k, x + k, a);
    b = v.gate(t + k, k == 0 ? x + 1 : x + k, b);
    EXPECT_LE(v.depth(a), Values::kMaxDepth);
  }
  EXPECT_FALSE(v.satisfies(a, b));
  EXPECT_TRUE(v.satisfies(a, a));
}

TEST(SymbolicValuesTest, WhatAValueIsMadeOfShows) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2),
              u = v.add_leaves(ValueKind::Merged, 3, 1, true);
  EXPECT_TRUE(v.is_undefined(u) && v.is_undefined(kJunk) && !v.is_undefined(x));
  const Value g = v.gate(t, x, y), byte = v.gate(t, v.byte(x, 0), v.byte(y, 0));
  EXPECT_EQ(v.depth(g), 1);
  EXPECT_TRUE(v.is_undefined(v.gate(t, x, u)) && v.is_undefined(v.gate(u, x, y)) && !v.is_undefined(g));
  EXPECT_TRUE(v.is_loose(v.gate(t, kAny, x)) && !v.is_loose(g));
  // Of words put together, of packs, of sets.
  const Value w = v.word({byte, v.byte(x, 0), v.byte(x, 0), kAny});
  EXPECT_TRUE(v.is_gated(w) && v.is_loose(w) && v.depth(w) == 1);
  const Value p = v.packed({byte, kAny, u, x, x, x, x, x});
  EXPECT_TRUE(v.is_gated(p) && v.is_loose(p) && v.is_undefined(p) && v.has_packs(p) && v.depth(p) == 1);
  const Value one = v.one_of({g, u});
  EXPECT_TRUE(v.is_gated(one) && v.is_loose(one) && v.is_undefined(one) && v.depth(one) == 1);
  EXPECT_TRUE(v.has_packs(v.gate(t, p, x)) && !v.has_packs(g));
  // A pack is no bit of another.
  EXPECT_EQ(v.bit(v.packed({p, x, x, x, x, x, x, x}), 0), kJunk);
  EXPECT_EQ(v.bit(v.packed({one, x, x, x, x, x, x, x}), 0), kJunk);
}

TEST(SymbolicValuesTest, AGateGoesThroughWhatItStandsIn) {
  Values v;
  const Value t = v.add_leaves(ValueKind::Def, 0), x = v.add_leaves(ValueKind::Def, 1), y = v.add_leaves(ValueKind::Def, 2);
  const Value g = v.gate(t, x, y);
  EXPECT_EQ(v.word({v.byte(g, 0), v.byte(g, 1), v.byte(g, 2), v.byte(g, 3)}), g);
  const Value mixed = v.word({v.byte(g, 0), v.byte(x, 1), v.byte(x, 2), v.byte(x, 3)});
  EXPECT_EQ(v.where(mixed, t, true), x);
  EXPECT_EQ(v.byte(v.where(mixed, t, false), 0), v.byte(y, 0));
  const Value z = v.add_leaves(ValueKind::Def, 3);
  EXPECT_EQ(v.where(v.one_of({g, z}), t, false), v.one_of({y, z}));
  EXPECT_EQ(v.byte(v.one_of({x, z}), 2), v.one_of({v.byte(x, 2), v.byte(z, 2)}));
}

TEST(SymbolicValuesTest, ManyValuesAreFoundAgain) {
  Values v;
  const Value x = v.add_leaves(ValueKind::Def, 0, 5000);
  std::vector<Value> bits;
  for (Value k = 0; k < 5000; ++k) bits.push_back(v.bit(x + k, 3));
  const std::size_t size = v.size();
  for (Value k = 0; k < 5000; ++k) ASSERT_EQ(v.bit(x + k, 3), bits[k]);
  EXPECT_EQ(v.size(), size);
}

TEST(SymbolicValuesTest, ASharedDiagramIsGoneThroughOnce) {
  // x[k] and y[k] are made of both of the level below, so there are 2^k ways down and only 2k values.
  Values v;
  const Value s = v.add_leaves(ValueKind::Def, 0), t = v.add_leaves(ValueKind::Def, 1, 20);
  Value x = v.add_leaves(ValueKind::Def, 2), y = v.add_leaves(ValueKind::Def, 3);
  Value a = v.gate(s, x, y), b = v.gate(s, y, x);
  for (Value k = 0; k < 20; ++k) {
    const Value up = v.gate(t + k, x, y), down = v.gate(t + k, y, x), left = v.gate(t + k, a, b), right = v.gate(t + k, b, a);
    x = up;
    y = down;
    a = left;
    b = right;
  }
  EXPECT_EQ(v.gate(s, x, y), a);
}

}  // namespace
}  // namespace regduel::oracles
