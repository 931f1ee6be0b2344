// Guards that are redefined in a loop, may be undefined, or are too entangled to decide.

#include <optional>
#include <string>

#include <fmt/format.h>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

// The predicate is defined in a block that the loop's head dominates, at one of two places: whichever of the two is looked at
// first.
TEST(MemcheckDetails, APredicateDefinedBehindTheHeadIsAnother) {
  for (const bool swapped : {false, true}) {
    const std::string_view in_loop = swapped ? "b4" : "b3", other = swapped ? "b3" : "b4";
    Pair p = {kVregs,
              fmt::format(R"(
  block b0
    #0 %2 = a
    #1 bra -> b6
  block b1
    #2 %4 = q
    #3 cbra %4 -> {0}, {1}
  block b2
    #8 exit
  block b3
    #9 {2}bra -> b5
  block b4
    #11 {3}bra -> b5
  block b5
    #4 @%3 use %2
    #5 %2 = b
    #6 @!%3 %2 = c
    #7 cbra %4 -> b1, b2
  block b6
    #20 %3 = p0
    #21 bra -> b1
)",
                          in_loop, other, swapped ? "" : "%3 = p\n    #10 ", swapped ? "%3 = p\n    #12 " : ""),
              ""};
    p.after = p.before;
    for (const auto& [from, to] : {std::pair("%2", "R1"), std::pair("%3", "P0"), std::pair("%4", "P1")})
      for (std::size_t at = p.after.find(from); at != std::string::npos; at = p.after.find(from)) p.after.replace(at, 2, to);
    expect_pass(p);
    p.after = edit(p.after, "#6 @!P0 R1 = c", "#6 @!P0 R5 = c");
    expect_category(p, kGone);
  }
}

// An instruction under a guard that may be undefined says nothing of the same guard at another visit, whatever the numbers of
// instructions.
TEST(MemcheckDetails, DoubtfulGuardsInAnyOrderOfNumbers) {
  const std::string_view before = R"(
  block b0
    #0 %0 = a
    #9 @%3 %0 = b
    #2 %4 = p
    #3 @%3 %0 = c
    #7 @%3 %0 = e
    #4 use %0
    #5 exit
)";
  const std::string_view after = R"(
  block b0
    #0 R0 = a
    #9 @P0 R0 = b
    #2 P0 = p
    #3 @P0 R0 = c
    #7 @P0 R0 = e
    #4 use R0
    #5 exit
)";
  expect_pass({kVregs, std::string(before), std::string(after)});
}

TEST(MemcheckDetails, ADoubtfulGuardOfALoopIsAnotherAtEachVisit) {
  // Only the visit before can have kept b.
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 bra -> b1
  block b1
    #2 use %0            | use R0
    #3 %0 = b            | R0 = b
    #4 @%3 %0 = c        | @P0 R0 = c
    #7 %3 = d            | P0 = d
    #5 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b2
    #6 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "#3 R0 = b", "#3 R1 = b");
  expect_category(p, kGone);
}

// An instruction whose guard no path defines happens or not, so what it may write is undefined, also another guard.
TEST(MemcheckDetails, WhatAnUndefinedGuardWritesIsUndefined) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a          | R0 = a
    #1 %4 = p          | P1 = p
    #2 @%3 %4 = q      | @P0 P1 = q
    #3 @%4 %0 = copy %1 | @P1 R0 = copy R1
    +9                 | R0 = copy R5
    #4 use %0          | use R0
    #5 exit
)")};
  expect_pass(p);
  EXPECT_EQ(
      judge_pair(memcheck_judge(), with({kVregs, edit(p.before, "    #2 @%3 %4 = q\n", ""), p.after}, "    #2 @P0 P1 = q\n", ""))
          .verdict,
      Verdict::Fail);
  // A copy of a vreg to itself changes nothing, whether it happens or not.
  Pair same = p;
  same.before = edit(same.before, "%0 = copy %1", "%0 = copy %0");
  same.after = edit(same.after, "R0 = copy R1", "R0 = copy R0");
  EXPECT_EQ(judge_pair(memcheck_judge(), same).verdict, Verdict::Fail);
}

// The guard of a copy matters where something but such copies reads what it may move.
TEST(MemcheckDetails, TheGuardOfACopyThatChangesNothingMayBeAnything) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p           | P1 = p
    #1 %1 = b           | R1 = b
    #2 %0 = copy %1     | R0 = copy R1
    +9                  | P1 = copy P5
    #3 @%3 %0 = copy %1 | @P1 R0 = copy R1
    #4 use %0           | use R0
    #5 exit
)")};
  expect_pass(p);
  Pair changed = p;
  changed.before = edit(changed.before, "#2 %0 = copy %1", "#2 %0 = c");
  changed.after = edit(changed.after, "#2 R0 = copy R1", "#2 R0 = c");
  EXPECT_EQ(judge_pair(memcheck_judge(), changed).verdict, Verdict::Fail);
  // %0 goes to a copy that goes to a copy, and no further.
  const Pair dead = {kVregs, edit(edit(changed.before, "use %0", "%2 = copy %0"), "#5 exit", "#6 @%3 %0 = copy %2\n    #5 exit"),
                     edit(edit(changed.after, "use R0", "R2 = copy R0"), "#5 exit", "#6 @P1 R0 = copy R2\n    #5 exit")};
  expect_pass(dead);
}

// A guarded early-clobber def leaves the old value where its guard does not hold.
TEST(MemcheckDetails, AGuardedEarlyClobberKeepsTheOldValue) {
  expect_pass({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p                | P0 = p
    #1 %0 = a                | R0 = a
    #2 %1 = b                | R1 = b
    #3 @%3 %1{early} = op %0 | @P0 R1 = op R0
    #4 use %1                | use R1
    #5 exit
)")});
}

// A guarded copy of a predicate to itself leaves one predicate: what is written under it again is gone. It has two definitions, so
// that the sparse graph assumes nothing of it.
TEST(MemcheckDetails, AGuardedCopyOfAPredicateToItselfIsNoWrite) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p           | P0 = p
    #8 %4 = q           | P1 = q
    #9 @%4 %3 = r       | @P1 P0 = r
    #1 %0 = a           | R0 = a
    #2 @%3 %0 = c       | @P0 R0 = c
    #3 use %0           | use R0
    #4 @%3 %3 = copy %3 | copy !deleted
    #5 @%3 %0 = d       | @P0 R0 = d
    #6 use %0           | use R0
    #7 exit
)")};
  EXPECT_TRUE(fast(p).is_same());
  EXPECT_FALSE(fast(with(p, "#5 @P0 R0", "#5 @P0 R1")).is_same());
}

// Swaps under guards, each of its own predicate: each way through them is another. In front of them a value that three guards
// together replace on every way; R9 in its place is a fault where they do not.
Pair entangled(int gates, std::string_view third_guard = "!") {
  Pair p;
  for (int v = 0; v < 2; ++v) p.vregs += fmt::format("  vreg %{} R b32\n", v);
  for (int v = 2; v < gates + 4; ++v) p.vregs += fmt::format("  vreg %{} P pred\n", v);
  const auto begin = [&](std::string_view value, std::string_view p0, std::string_view p1) {
    return fmt::format(R"(
    #2 {1} = p
    #3 {2} = q
    #4 @{1} {0} = c
    #5 @{2} {0} = d
    #6 @{3}{1} {0} = e
)",
                       value, p0, p1, third_guard);
  };
  p.before = R"(
  block b0
    #0 %0 = a
    #1 %1 = b
)" + begin("%0", "%2", "%3");
  p.after = R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    +10000 R0 = copy R9
)" + begin("R0", "P1", "P2");
  for (int g = 0; g < gates; ++g) {
    // One predicate register: each guard's value has a definition of its own.
    p.before += fmt::format("    #{0} %{1} = p\n    #{2} @%{1} %0, %1 = copy %1, %0\n", 10 + 2 * g, 4 + g, 11 + 2 * g);
    p.after += fmt::format("    #{} P0 = p\n    #{} @P0 R0, R1 = copy R1, R0\n", 10 + 2 * g, 11 + 2 * g);
  }
  p.before += "    #5000 use %0\n    #6000 exit\n";
  p.after += "    #5000 use R0\n    #6000 exit\n";
  return p;
}

TEST(MemcheckDetails, GuardsBeyondTheBudgetAreInconclusive) {
  expect_pass(entangled(40));
  const Judged many(entangled(2000));
  EXPECT_EQ(many.result.verdict, Verdict::Inconclusive);
  EXPECT_THAT(many.result.reason, HasSubstr("budget"));
  // Of removals too.
  Pair p = entangled(2000);
  p.after = edit(p.after, "+10000 R0 = copy R9", "+10000 R0 = copy R1");
  const Judged removed(p);
  EXPECT_EQ(removed.result.verdict, Verdict::Inconclusive) << describe(removed.result);
}

// Where nothing is known of the guards, R9 is seen at once; where they are known, the budget ends.
TEST(MemcheckDetails, DoubtfulGuardsBeyondTheBudgetAreInconclusive) {
  Pair p = entangled(2000);
  p.vregs += "  vreg %2004 P pred\n";
  p.before = edit(p.before, "    #2 %2 = p", "    #7 %2004 = o\n    #2 @%2004 %2 = p");
  p.after = edit(p.after, "    #2 P1 = p", "    #7 P3 = o\n    #2 @P3 P1 = p");
  const Judged j(p);
  EXPECT_EQ(j.result.verdict, Verdict::Inconclusive) << describe(j.result);
}

// What is wrong shows before the budget ends, and also where other walks have spent what they have together.
TEST(MemcheckDetails, AFaultBehindEntangledGuardsIsFound) {
  Pair p = entangled(2000, "");
  const Judged one(p);
  EXPECT_EQ(one.result.verdict, Verdict::Fail) << describe(one.result);
  EXPECT_EQ(one.result.findings.size(), 1u);
  EXPECT_EQ(one.details.inconclusive, "");
  p = entangled(2000);
  std::string before, after;
  for (int k = 0; k < 20; ++k) {
    before += fmt::format("    #{} use %0\n", 5001 + k);
    after += fmt::format("    #{} use R0\n", 5001 + k);
  }
  p.before = edit(p.before, "    #6000", before + "    #5101 @%2 %0 = f\n    #5102 use %0\n    #6000");
  p.after = edit(p.after, "    #6000", after + R"(
    #5101 @P1 R0 = f
    +5200 @P1 R0 = copy R8
    #5102 use R0
    #6000)");
  const Judged last(p);
  EXPECT_GT(last.details.walked, 1'000'000);
  EXPECT_LT(last.details.walked, 2'500'000);  // a million for each of the two programs, and no more than a little for each walk
  EXPECT_EQ(last.result.verdict, Verdict::Fail) << describe(last.result);
}

// A walk goes only where what it seeks comes from.
TEST(MemcheckDetails, AWalkKeepsToTheWayOfWhatItSeeks) {
  Pair p = stored_under_two_guards();
  const std::int64_t walked = Judged(p).details.walked;
  std::string before, after;
  for (int k = 0; k < 200; ++k) {
    // What is written after: on no way back to what R5 held at first.
    before += fmt::format("    #{} @%{} %0 = d\n", 100 + k, 3 + k % 2);
    after += fmt::format("    #{} @P{} R0 = d\n", 100 + k, k % 2);
  }
  p.before = edit(p.before, "    #5 use", before + "    #5 use");
  p.after = edit(p.after, "    #5 use", after + "    #5 use");
  const Judged j(p);
  EXPECT_EQ(j.result.verdict, Verdict::Pass) << describe(j.result);
  EXPECT_LE(j.details.walked, walked + 4 * 200);  // the writes under each of four assumptions, and nothing of what they write
}

// Nor into swaps under forty guards, where no walk would end.
TEST(MemcheckDetails, AWalkLeavesAsideWhatItDoesNotSeek) {
  Pair p = stored_under_two_guards();
  std::string before = "    #100 %6 = x\n    #101 %7 = y\n", after = "    #100 R6 = x\n    #101 R7 = y\n";
  p.vregs += R"(
  vreg %6 R b32
  vreg %7 R b32
)";
  for (int g = 0; g < 40; ++g) {
    p.vregs += fmt::format("  vreg %{} P pred\n", 8 + g);
    before += fmt::format("    #{0} %{1} = r\n    #{2} @%{1} %6, %7 = copy %7, %6\n", 200 + 2 * g, 8 + g, 201 + 2 * g);
    after += fmt::format("    #{} P3 = r\n    #{} @P3 R6, R7 = copy R7, R6\n", 200 + 2 * g, 201 + 2 * g);
  }
  p.before = edit(p.before, "    #5 use", before + "    #102 @%3 %0 = copy %6\n    #5 use");
  p.after = edit(p.after, "    #5 use", after + "    #102 @P0 R0 = copy R6\n    #5 use");
  expect_pass(p);
}

}  // namespace
}  // namespace regduel::oracles
