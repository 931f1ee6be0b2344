// Correct allocations of every kind that must pass, and one fault at a time that must not.

#include "oracles/execution/execution.h"

#include "oracles/execution/testing.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using namespace testing::execution;

const Pair kSpills = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b64
  vreg %2 R b32
  vreg %3 P pred
  block b0
    #0 %0 = const 1             | R0 = const 1
    +20                         | spill R0, slot 1
    #1 %1 = ld 2 !read          | R0:R1 = ld 2 !read
    +21                         | spill R0:R1, slot 0
    +22                         | R2 = refill slot 1
    #2 %2 = add %0, %1.hi       | R1 = add R2, R0:R1.hi
    #3 %3 = setp %2, %0         | P0 = setp R1, R2
    +23                         | spill R1, slot 2
    #4 @%3 %2 = add %0, 3       | @P0 R1 = add R2, 3
    +24                         | @P0 spill R1, slot 2
    +25                         | spill P0, slot 1
    +26                         | R3 = copy R2
    +27                         | R0:R1 = refill slot 0
    #5 st %0, %1 !write         | st R3, R0:R1 !write
    +28                         | P0 = refill slot 1
    +29                         | R2 = refill slot 2
    +30                         | R1 = refill slot 0 + 4
    #6 st %2, %1.lo, !%3 !write | st R2, R0:R1.lo, !P0 !write
    #7 exit
)"),
                      "  frame local 16 shared 4\n", R"(
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  slot 2 shared size 4 align 4 offset 0
)"};

TEST(Execution, PassesSpillsThroughMemory) { expect_pass(kSpills); }

TEST(Execution, FindsFaultsOfSpills) {
  expect_fail(kSpills, "+22 R2 = refill slot 1", "+22 R2 = refill slot 0", kWrong, 2);
  expect_fail(kSpills, "    +22 R2 = refill slot 1\n", "", kUndefined, 2);
  expect_fail(kSpills, "+21 spill R0:R1, slot 0", "+21 spill R0, slot 0", kUndefined, 5);
  expect_fail(kSpills, "#2 R1 = add R2, R0:R1.hi", "#2 R1 = add R2, R0:R1.lo", kWrong, 2);
  expect_fail(kSpills, "+24 @P0 spill", "+24 @!P0 spill", kWrong, 6);
  expect_fail(kSpills, "    +23 spill R1, slot 2\n", "", kUndefined, 6);
  expect_fail(kSpills, "    +24 @P0 spill R1, slot 2\n", "", kWrong, 6);
  expect_fail(kSpills, "#4 @P0 R1 = add R2, 3", "#4 @P1 R1 = add R2, 3", kUndefined, 4);
  expect_fail(kSpills, "R0:R1.lo, !P0", "R0:R1.lo, P0", kWrong, 6);
  // The spilled predicate runs into the slot of %0, which is not read again: no fault. Before the copy it would be one.
  expect_fail(kSpills, "+26 R3 = copy R2", "+26 R3 = refill slot 1", kWrong, 5);
}

TEST(Execution, SaysWhatItExpectedAndFound) {
  const JudgeResult r = judged(kSpills, edit(kSpills.after, "+22 R2 = refill slot 1", "+22 R2 = refill slot 0"));
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].operand, 1);
  EXPECT_EQ(r.findings[0].other, ir::InstId(22));
  EXPECT_EQ(r.findings[0].message, "expected the value of #0, found that of #1, put there by #22");
}

const Pair kLoop = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  vreg %3..%4 R b32
  block b0
    #0 %0 = const 0            | R0 = const 0
    #1 %1 = const 1            | R1 = const 1
    #2 bra -> b1
  block b1
    #3 %3 = phi b0: %0, b1: %4 | phi !deleted
    #4 %4 = phi b0: %1, b1: %3 | phi !deleted
    #5 %2 = setp %3, %4        | P0 = setp R0, R1
    #6 cbra %2 -> b1, b2       | cbra P0 -> b3, b2
  block b2
    #7 st %3, %4 !write        | st R0, R1 !write
    #8 exit
  block b3 edge b1 -> b1
    +20                        | R0, R1 = copy R1, R0
    +21                        | bra -> b1
)")};

TEST(Execution, PassesPhisMadeParallelCopies) { expect_pass(kLoop); }

TEST(Execution, FindsPhisInAnyOrderButParallel) {
  expect_fail(kLoop, "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0", kWrong, 5);
  expect_fail(kLoop, "cbra P0 -> b3, b2", "cbra P0 -> b1, b2", kWrong, 5);
}

TEST(Execution, PassesAKeptPhi) {
  Pair p = kLoop;
  p.before = edit(p.before, "%3 = phi b0: %0, b1: %4", "%3 = phi b0: %0, b1: %3");
  p.before = edit(p.before, "%4 = phi b0: %1, b1: %3", "%4 = phi b0: %1, b1: %4");
  p.after = edit(p.after, "+20 R0, R1 = copy R1, R0\n    ", "");
  p.after = edit(p.after, "#3 phi !deleted", "#3 R0 = phi b0: R0, b3: R0");
  expect_pass(p);
  expect_fail(p, "b3: R0", "b3: R1", kWrong, 5);
}

TEST(Execution, FollowsTheEdgesOfTheProgramAfter) {
  const JudgeResult r = judged(kLoop, edit(kLoop.after, "+21 bra -> b1", "+21 bra -> b2"));
  ASSERT_EQ(r.findings.size(), 1u) << describe(r);
  EXPECT_EQ(r.findings[0].category, "execution-wrong-path");
}

const Pair kConstraints = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0 = const 0               | R5 = const 0
    #1 %1 = const 1               | R6 = const 1
    #2 %2{tied 1} = mad %0, %1    | R5 = mad R5, R6
    #3 %2{early} = loop %2.h0, %1 | R7 = loop R5.h0, R6
    +20                           | R4 = copy R7
    #4 %0{=R0} = call "f", %2{=R4}, %1 clobbers R0:R3 | R0 = call "f", R4, R6 clobbers R0:R3
    #5 st %0, %1, %2 !write       | st R0, R6, R4 !write
    #6 exit
)")};

TEST(Execution, FindsBrokenConstraintsAsWrongValues) {
  Pair p = kConstraints;
  p.before = edit(p.before, "%2{early} = loop %2.h0, %1", "%2{early} = loop %0, %1");
  p.after = edit(p.after, "#2 R5 = mad R5, R6", "+21 R8 = copy R5\n    #2 R8 = mad R8, R6");
  p.after = edit(p.after, "loop R5.h0, R6", "loop R5, R6");
  expect_pass(p);
  expect_fail(p, "#2 R8 = mad", "#2 R9 = mad", kUndefined, 2);
  expect_fail(p, "#3 R7 = loop R5, R6", "#3 R6 = loop R5, R6", kUndefined, 3);
  // The call reads its fixed register, whatever stands there.
  expect_fail(with(p, "call \"f\", R4", "call \"f\", R7"), "+20 R4 = copy R7", "+20 R3 = copy R7", kUndefined, 4);
  expect_fail(p, "+20 R4 = copy R7", "+20 R3 = copy R7", kUndefined, 4);
}

TEST(Execution, FindsAValueThatACallDestroyed) {
  Pair p = kConstraints;
  p.before = edit(p.before, "%2{early} = loop %2.h0, %1", "%2{early} = loop %0, %1");
  p.after = edit(p.after, "#2 R5 = mad R5, R6", "+21 R8 = copy R5\n    #2 R8 = mad R8, R6");
  p.after = edit(p.after, "loop R5.h0, R6", "loop R5, R6");
  p.after = edit(p.after, "    #5 st R0, R6, R4 !write\n", "    +22 R9 = copy R1\n    #5 st R0, R9, R4 !write\n");
  p.after = edit(p.after, "+20 R4 = copy R7", "+20 R4, R1 = copy R7, R6");
  const JudgeResult r = judged(p, p.after);
  ASSERT_THAT(categories(r), ElementsAre(kUndefined)) << describe(r);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(5));
}

const Pair kPacks = {side_by_side(R"(
  vreg %0..%1 P pred
  vreg %2 R b32
  block b0
    #0 %0 = setp 0 | P3 = setp 0
    #1 %1 = setp 1 | P1 = setp 1
    +20            | R0{inout} = p2r P3
    +21            | R1{inout} = bit_spill P1, 30
    +22            | R0{inout} = p2r P1
    +23            | spill R0, slot 0
    +24            | R5 = copy R1
    +25            | P3, P2 = r2p R0
    +26            | P0 = bit_refill R0, 3
    #2 use %0      | use P0
    +27            | P2 = bit_refill R5, 30
    #3 @%0 use %1  | @P3 use P2
    +28            | R6 = refill slot 0
    +29            | P0, P1 = r2p R6
    +30            | P4 = bit_refill R6, 3
    #4 use %0, %1  | use P4, P1
    #5 exit
)")};

TEST(Execution, PassesPredicatesThroughPacksThatMove) { expect_pass(kPacks); }

TEST(Execution, FindsFaultsOfPacks) {
  expect_fail(kPacks, "+26 P0 = bit_refill R0, 3", "+26 P0 = bit_refill R0, 1", kWrong, 2);
  expect_fail(kPacks, "+26 P0 = bit_refill R0, 3", "+26 P0 = bit_refill R0, 11", kUndefined, 2);
  expect_fail(kPacks, "+27 P2 = bit_refill R5, 30", "+27 P2 = bit_refill R5, 31", kUndefined, 3);
  expect_fail(kPacks, "+22 R0{inout} = p2r P1", "+22 R0{inout} = p2r P3", kUndefined, 4);
  expect_fail(kPacks, "    +25 P3, P2 = r2p R0\n", "    +25 P3 = r2p R6\n", kUndefined, 3);
  expect_fail(kPacks, "+29 P0, P1 = r2p R6", "+29 P1 = r2p R1", kUndefined, 4);
}

const Pair kRemat = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0 = const 7     | R0 = const 7
    #1 %1 = ld.const %0, 4 !read !readonly !remat | ld.const !read !readonly !remat !deleted
    #2 use %0           | use R0
    +20                 | R1 = remat #1 R0, 4
    #3 %2 = add %1, %0  | R2 = add R1, R0
    +21                 | R1 = remat #1 R0, 4
    #4 st %2, %1 !write | st R2, R1 !write
    #5 exit
)")};

TEST(Execution, PassesRemats) { expect_pass(kRemat); }

TEST(Execution, FindsFaultsOfRemats) {
  expect_fail(kRemat, "    +20 R1 = remat #1 R0, 4\n", "", kUndefined, 3);
  expect_fail(kRemat, "+21 R1 = remat #1 R0, 4", "+21 R1 = remat #1 R2, 4", kWrong, 4);
  Pair p = kRemat;
  p.before = edit(p.before, "use %0", "%0 = next %0");
  p.after = edit(p.after, "#2 use R0", "#2 R0 = next R0");
  EXPECT_THAT(categories(judged(p, p.after)), ElementsAre(kWrong));
}

// A remat computes what it says, whatever the instruction that it repeats says.
TEST(Execution, ARematBringsItsOwnConstants) {
  expect_fail(kRemat, "+20 R1 = remat #1 R0, 4", "+20 R1 = remat #1 R0, 5", kWrong, 3);
  Pair p = kRemat;
  p.before = edit(p.before, "ld.const %0, 4", "ld.const %0, \"table\"");
  p.after = edit(edit(p.after, "+20 R1 = remat #1 R0, 4", "+20 R1 = remat #1 R0, \"table\""), "+21 R1 = remat #1 R0, 4",
                 "+21 R1 = remat #1 R0, \"table\"");
  expect_pass(p);
  expect_fail(p, "+20 R1 = remat #1 R0, \"table\"", "+20 R1 = remat #1 R0, \"chair\"", kWrong, 3);
}

TEST(Execution, AReadOfMemoryThatIsWrittenIsNotComputedAgain) {
  Pair p = kRemat;
  p.before = edit(p.before, "#2 use %0", "#2 st %0 !write");
  p.before = edit(p.before, " !readonly", "");
  p.after = edit(p.after, "#2 use R0", "#2 st R0 !write");
  p.after = edit(p.after, " !readonly", "");
  const JudgeResult r = judged(p, p.after);
  EXPECT_THAT(categories(r), ElementsAre(kWrong)) << describe(r);
}

Pair device_pair(Programs both) {
  Pair p = std::move(both);
  p.kind = "device";
  return p;
}

const Pair kDevice = device_pair(side_by_side(R"(
  vreg %0 R b32
  block b0
    +20             | spill R24, slot 0
    #0 %0 = const 1 | R24 = const 1
    #1 use %0       | use R24
    +21             | R24 = refill slot 0
    #2 ret
)"));

// A copy that may happen or not: its def holds what it held, or what it is given, even where the copy clobbers its register.
TEST(Execution, ACopyThatMayHappenKeepsWhatItClobbersAndDefines) {
  expect_pass({side_by_side(R"(
  vreg %0 R b64
  vreg %1 P pred
  block b0
    #0 %0 = a                       | R0:R1 = a
    #1 @%1 %0 = copy %0 clobbers R1 | @P0 R0:R1 = copy R0:R1 clobbers R1
    #2 use %0 !write                | use R0:R1 !write
    #3 exit
)")});
  // What it does not define is destroyed.
  const Pair destroyed = {side_by_side(R"(
  vreg %0 R b64
  vreg %1 P pred
  block b0
    #0 %0 = a                             | R0:R1 = a
    #1 @%1 %0.lo = copy %0.lo clobbers R1 | @P0 R0:R1.lo = copy R0:R1.lo clobbers R1
    #2 use %0 !write                      | use R0:R1 !write
    #3 exit
)")};
  EXPECT_EQ(judged(destroyed, destroyed.after).verdict, Verdict::Fail);
}

// What the program itself clobbers it has given up: no save is owed, by execution or by memcheck.
TEST(Execution, AClobberedCalleeSavedRegisterIsNotOwed) {
  const Pair given_up = device_pair(side_by_side(R"(
  vreg %0 R b32
  block b0
    #0 %0 = const 1        | R24 = const 1
    #1 use %0 clobbers R24 | use R24 clobbers R24
    #2 ret
)"));
  expect_pass(given_up);
  EXPECT_EQ(judge_text(memcheck_judge(), given_up.before_text(), given_up.after_text()).verdict, Verdict::Pass);
}

TEST(Execution, CalleeSavedRegistersComeBack) {
  expect_pass(kDevice);
  expect_fail(kDevice, "    +21 R24 = refill slot 0\n", "", "execution-callee-saved", 2);
  expect_fail(kDevice, "    +20 spill R24, slot 0\n", "", "execution-callee-saved", 2);
  Pair kernel = kDevice;
  kernel.kind = "kernel";
  kernel.after = edit(kernel.after, "    +21 R24 = refill slot 0\n", "");
  expect_pass(kernel);
}

TEST(Execution, AHalfOfAPairMayNotBeLost) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b64
  vreg %1 R b32
  block b0
    #0 %0 = const 1 | R2:R3 = const 1
    #1 %1 = const 2 | R4 = const 2
    #2 use %0, %1   | use R2:R3, R4
    #3 exit
)")};
  expect_pass(p);
  const JudgeResult r = judged(p, edit(edit(p.after, "#1 R4", "#1 R3"), "R2:R3, R4", "R2:R3, R3"));
  EXPECT_THAT(categories(r), ElementsAre(kWrong)) << describe(r);
}

TEST(Execution, GuardsAreTakenBothWays) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp 1      | P0 = setp 1
    #1 %0 = const 1     | R0 = const 1
    #2 @%1 %0 = const 2 | @P0 R0 = const 2
    #3 use %0, %1       | use R0, P0
    #4 exit
)")};
  expect_pass(p);
  // The def in a register of its own: right where the guard holds, wrong where it does not; and the other way round.
  const JudgeResult holds = judged(p, edit(edit(p.after, "R0 = const 2", "R1 = const 2"), "use R0", "use R1"));
  EXPECT_THAT(categories(holds), ElementsAre(kUndefined)) << describe(holds);
  const JudgeResult not_holds = judged(p, edit(p.after, "R0 = const 2", "R1 = const 2"));
  EXPECT_THAT(categories(not_holds), ElementsAre(kWrong)) << describe(not_holds);
}

TEST(Execution, ACopyMayBecomeNothingASpillOrARefill) {
  const Pair p = {side_by_side(R"(
  vreg %0..%2 R b32
  vreg %3 UR b32
  block b0
    #0 %0 = const 1       | R0 = const 1
    #1 %1 = copy %0       | spill R0, slot 0
    #2 %2 = copy %1       | R2 = refill slot 0
    #3 %3 = copy %2       | UR1 = copy R2
    #4 use %0, %1, %2, %3 | use R0, R0, R2, UR1
    #5 exit
)")};
  expect_pass(p);
  Pair deleted = p;
  deleted.after = edit(edit(p.after, "#1 spill R0, slot 0", "#1 copy !deleted"), "#2 R2 = refill slot 0", "#2 R2 = copy R0");
  expect_pass(deleted);
  expect_fail(p, "#1 spill R0, slot 0", "#1 copy !deleted", kUndefined, 4);
}

TEST(Execution, AnEndlessLoopIsJudgedByWhatWasRun) {
  const std::string vregs = "  vreg %0 R b32\n";
  const Pair p = {vregs, side_by_side(R"(
  block b0
    #0 %0 = const 1 | R0 = const 1
    #1 bra -> b1
  block b1
    #2 use %0       | use R0
    #3 bra -> b1
)")};
  expect_pass(p);
  expect_fail(p, "use R0", "use R1", kUndefined, 2);
  // Too little fuel to come to the end.
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const JudgeResult r = judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr},
                                        {.runs = 2, .fuel_base = 1, .fuel_per_instruction = 0, .fuel_to_cover = 0});
  EXPECT_EQ(r.verdict, Verdict::Inconclusive);
  EXPECT_EQ(r.reason, "fuel: 2 of 2 reachable edges were not taken, or not in two laps");
}

TEST(Execution, SkipsWhatCannotBeRunSideBySide) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"    #5 st R3, R0:R1 !write\n", ""},
                                                                                 {"#5 st R3, R0:R1", "#5 st R3, R0"},
                                                                                 {"#5 st R3, R0:R1", "#5 st R3"},
                                                                                 {"#4 @P0 R1 = add R2, 3", "#4 R1 = add R2, 3"}}) {
    const JudgeResult r = judged(kSpills, edit(kSpills.after, from, to));
    EXPECT_EQ(r.verdict, Verdict::Skipped) << from;
    EXPECT_FALSE(r.reason.empty());
  }
}

TEST(Execution, TheSameSeedSaysTheSame) {
  const std::string bad = edit(kLoop.after, "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1");
  EXPECT_EQ(describe(judged(kLoop, bad)), describe(judged(kLoop, bad)));
}

}  // namespace
}  // namespace regduel::oracles
