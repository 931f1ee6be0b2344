// The transfer functions of the symbolic judge against hand-made allocations, original instructions and moves: for each the
// smallest programs that it must accept and that it must reject, with the category.

#include "oracles/symbolic/state.h"

#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicStateTest, AUseFindsItsVregInItsLocation) {
  expect_pass(two_values());
  expect_category(with(two_values(), "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(two_values(), "use R0, R1", "use R0, R5"), kLost);
}

TEST(SymbolicStateTest, ADefEndsWhatOtherLocationsHoldOfTheVreg) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 %0 = b        | R1 = b
    #2 use %0 !write | use R1 !write
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R1", "use R0"), kWrong);
}

TEST(SymbolicStateTest, ADefUseReadsAndWritesItsRegister) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %0{inout} = add 1 | R0{inout} = add 1
    #2 use %0 !write     | use R0 !write
    #3 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0{inout}", "#1 R1{inout}")).findings.size(), 2u);
}

TEST(SymbolicStateTest, FixedAndTiedOperandsAreWhereTheHardwareHasThem) {
  const Pair fixed = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a             | R4 = a
    #1 use %0{=R4} !write | use R4 !write
    #2 exit
)")};
  expect_pass(fixed);
  expect_category(with(with(fixed, "R4 = a", "R5 = a"), "use R4", "use R5"), kLost);
  const Pair tied = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a                 | R0 = a
    #1 %1{tied 1} = mad %0, 7 | R0 = mad R0, 7
    #2 use %1 !write          | use R0 !write
    #3 exit
)")};
  expect_pass(tied);
  expect_category(with(with(tied, "R0 = mad R0", "R1 = mad R0"), "use R0", "use R1"), kLost);
}

TEST(SymbolicStateTest, ACallClobbers) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a                            | R4 = a
    #1 %1{=R0} = call "g" clobbers R0:R3 | R0 = call "g" clobbers R0:R3
    #2 use %0, %1 !write                 | use R4, R0 !write
    #3 exit
)")};
  expect_pass(p);
  const Pair bad = with(with(p, "R4 = a", "R3 = a"), "use R4", "use R3");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.at(0).other, ir::InstId(1));
}

TEST(SymbolicStateTest, AnEarlyClobberDefIsWrittenBeforeTheUsesAreRead) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1{early} = op %0 | R1 = op R0
    #2 use %1 !write     | use R1 !write
    #3 exit
)")};
  expect_pass(p);
  const JudgeResult r = judge(with(with(p, "R1 = op R0", "R0 = op R0"), "use R1", "use R0"));
  EXPECT_THAT(categories(r), ElementsAre(kLost));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(1));
}

TEST(SymbolicStateTest, TwoDefsInOneRegisterLeaveNeither) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0, %1 = two  | R0, R1 = two
    #1 use %0 !write | use R0 !write
    #2 use %1 !write | use R1 !write
    #3 exit
)")};
  expect_pass(p);
  const Pair bad = with(with(p, "R0, R1 = two", "R0, R0 = two"), "use R1", "use R0");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.size(), 2u);
}

TEST(SymbolicStateTest, TheOperandOfATerminatorIsAUse) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %4 = q            | P1 = q
    #2 cbra %3 -> b1, b1 | cbra P0 -> b1, b1
  block b1
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(p, "cbra P0", "cbra P1"), kWrong);
  expect_category(with(p, "cbra P0", "cbra !P0"), "symbolic-negation");
}

TEST(SymbolicStateTest, AnOriginalCopyMakesTwoNamesEqual) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = copy %0      | copy !deleted
    #2 use %0, %1 !write | use R0, R0 !write
    #3 %0 = b            | R1 = b
    #4 use %0, %1 !write | use R1, R0 !write
    #5 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R0"), kWrong);
  // The copy's old value dies.
  const Pair old = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 %1 = b        | R1 = b
    #2 %1 = copy %0  | R1 = copy R0
    #3 use %1 !write | use R1 !write
    #4 exit
)")};
  expect_pass(old);
  expect_category(with(old, "#2 R1 = copy R0", "#2 copy !deleted"), kWrong);
}

// A copy destroys what any instruction would, also as a spill or a refill, and under a guard where that holds.
TEST(SymbolicStateTest, ACopyClobbers) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a                   | R0 = a
    #1 %1 = b                   | R6 = b
    #9 %3 = p                   | P0 = p
    #2 %0 = copy %0 clobbers R7 | R0 = copy R0 clobbers R7
    #3 use %0, %1 !write        | use R0, R6 !write
    #4 exit
)")};
  expect_pass(p);
  const Pair lost = with(with(p, "R6 = b", "R7 = b"), "use R0, R6", "use R0, R7");
  expect_category(lost, kLost);
  expect_category(
      with(with(lost, "#2 R0 = copy R0 clobbers", "#2 spill R0, slot 0 clobbers"), "    #3", "    +20 R0 = refill slot 0\n    #3"),
      kLost);
  expect_category(with(lost, "#2 R0 = copy R0 clobbers", "+20 spill R0, slot 0\n    #2 R0 = refill slot 0 clobbers"), kLost);
  expect_pass(with(lost, "#2 R0 = copy R0 clobbers R7", "#2 copy !deleted"));
  const auto guarded = [](Pair pair) {
    pair.before = edit(pair.before, "#2 %0", "#2 @%3 %0");
    return with(pair, "#2 R0", "#2 @P0 R0");
  };
  expect_pass(guarded(p));
  expect_category(guarded(lost), kLost);
  // What is copied may be destroyed, and what is copied to as well.
  expect_pass(with(with(with(p, "R6 = b", "R6 = b\n    +20 R7 = copy R0"), "R0 = copy R0", "R0 = copy R7"), "use R0", "use R0"));
  expect_pass(with(with(p, "#2 R0 = copy R0", "#2 R7 = copy R0"), "use R0", "use R7"));
}

// A copy is not observed, and neither is its guard: only what it moves is.
TEST(SymbolicStateTest, TheGuardOfACopyMattersWhereTheCopyDoes) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a           | R0 = a
    #1 %3 = p           | P0 = p
    #2 %4 = q           | P1 = q
    #5 %1 = b           | R1 = b
    #3 @%3 %1 = copy %0 | @P0 R1 = copy R0
    #6 use %1 !write    | use R1 !write
    #4 exit
)")};
  expect_pass(p);
  const Pair wrong = with(p, "@P0 R1", "@P1 R1");
  EXPECT_EQ(judge(wrong).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "@P0 R1", "@!P0 R1")).verdict, Verdict::Fail);
  Pair dead = with(wrong, "use R1", "use R0");
  dead.before = edit(dead.before, "use %1", "use %0");
  expect_pass(dead);
  // Nor where it moves nothing.
  Pair identity = with(with(wrong, "R1 = copy R0", "R0 = copy R0"), "use R1", "use R0");
  identity.before = edit(edit(identity.before, "%1 = copy %0", "%0 = copy %0"), "use %1", "use %0");
  expect_pass(identity);
}

TEST(SymbolicStateTest, AnEarlyClobberDefOfACopyIsWrittenBeforeTheUsesAreRead) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a              | R0 = a
    #1 %1{early} = copy %0 | R1 = copy R0
    #2 use %1 !write       | use R1 !write
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(with(p, "R1 = copy R0", "R0 = copy R0"), "use R1", "use R0"), kLost);
  // What only the program after says of it means nothing.
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 %1 = copy %0  | R0{early} = copy R0
    #2 use %1 !write | use R0 !write
    #3 exit
)")});
}

TEST(SymbolicStateTest, AnOriginalCopyMayBecomeASpillOrARefill) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = copy %0      | spill R0, slot 0
    #2 %2 = copy %1      | R1 = refill slot 0
    #3 use %2, %0 !write | use R1, R0 !write
    #4 exit
)")});
}

TEST(SymbolicStateTest, ParallelCopiesReadBeforeTheyWriteOnBothSides) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a               | R0 = a
    #1 %1 = b               | R1 = b
    #2 %0, %1 = copy %1, %0 | R0, R1 = copy R1, R0
    #3 use %0, %1 !write    | use R0, R1 !write
    #4 exit
)")};
  expect_pass(p);
  // Renamed away: the registers are swapped instead.
  expect_pass(with(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted"), "use R0, R1", "use R1, R0"));
  expect_category(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted\n    +9 R0 = copy R1\n    +8 R1 = copy R0"), kWrong);
}

TEST(SymbolicStateTest, SpillsAndRefillsMove) {
  const Pair p = {kThreeR, two_values().before, R"(
  block b0
    #0 R0 = a
    +9 spill R0, slot 0
    #1 R0 = b
    +8 spill R0, slot 1
    +7 R0 = refill slot 0
    +6 R1 = refill slot 1
    #2 use R0, R1 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(with(p, "R0 = refill slot 0", "R0 = refill slot 1"), "R1 = refill slot 1", "R1 = refill slot 0"), kWrong);
  expect_category(with(p, "    +9 spill R0, slot 0\n", ""), kLost);
  Pair overlapping = p;
  overlapping.slots = edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 1 offset 2");
  EXPECT_EQ(judge(overlapping).verdict, Verdict::Fail);
  Pair apart = p;
  apart.slots = edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 shared size 4 align 4 offset 0");
  expect_pass(apart);
}

TEST(SymbolicStateTest, ACopyMayBeGuarded) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p           | P0 = p
    #1 %0 = a           | R0 = a
    #2 %1 = b           | R1 = b
    #3 @%3 %1 = copy %0 | @P0 R1 = copy R0
    #4 use %1 !write    | use R1 !write
    #5 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "@P0 R1 = copy R0", "@!P0 R1 = copy R0")).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted"), kWrong);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted\n    +9 R1 = copy R0"), kWrong);
  // A copy of the guard itself: the guard is read first.
  expect_pass({kAndP, side_by_side(R"(
  block b0
    #0 %3 = p           | P0 = p
    #1 %4 = q           | P1 = q
    #2 @%3 %3 = copy %4 | @P0 P0 = copy P1
    #3 use %3 !write    | use P0 !write
    #4 exit
)")});
}

}  // namespace
}  // namespace regduel::oracles
