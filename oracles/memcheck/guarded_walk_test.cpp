// Guards that exclude paths, one assumption at a time and several at once.

#include "oracles/memcheck/guarded_walk.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckDetails, SeveralGuardsAtOnceExcludeAPath) {
  const Pair p = stored_under_two_guards();
  expect_pass(p);
  EXPECT_GT(Judged(p).details.walked, 0);
  // Where one of the stores is under the other sense it is a fault.
  EXPECT_EQ(Judged(with(p, "+22 @P0", "+22 @!P0")).result.verdict, Verdict::Fail);
}

TEST(MemcheckDetails, SeveralGuardsExcludeAPathOfTheProgramBefore) {
  expect_pass({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %4 = q            | P1 = q
    #2 %0 = a            | R5 = a
    #9 %1 = g            | R6 = g
    #3 @%3 %1 = c        | @P0 R5 = c
    #4 @%4 %1 = e        | @P1 R5 = e
    #10 @%3 %0 = copy %1 | copy !deleted
    #11 @%4 %0 = copy %1 | copy !deleted
    #5 use %0            | use R5
    #6 exit
)")});
}

// The guards stand before a loop, and the use in it under a guard that the loop defines.
TEST(MemcheckDetails, AWalkKeepsWhatTheLoopDoesNotDefine) {
  expect_pass({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %4 = q            | P1 = q
    #2 %0 = a            | R5 = a
    +20                  | spill R5, slot 0
    +21                  | R5 = copy R9
    #3 @%3 %0 = c        | @P0 R5 = c
    #4 @%4 %0 = e        | @P1 R5 = e
    #12 bra -> b1
  block b1
    #7 %5 = r            | P2 = r
    +22                  | @P0 spill R5, slot 0
    +23                  | @P1 spill R5, slot 0
    +24                  | R0 = refill slot 0
    #5 @%5 use %0        | @P2 use R0
    #8 cbra %5 -> b1, b2 | cbra P2 -> b1, b2
  block b2
    #6 exit
)")});
}

// Two predicates in bytes of one word of the frame are two.
TEST(MemcheckDetails, GuardsRefilledFromOneWordAreApart) {
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a     | R0 = a
    #1 %3 = p     | P0 = p
    +11           | spill P0, slot 0
    #2 %4 = q     | P0 = q
    +12           | spill P0, slot 1
    #5 bra -> b1
  block b1
    +13           | P0 = refill slot 1
    #6 @%4 %0 = c | @P0 R0 = c
    +14           | P0 = refill slot 0
    #7 @%3 %0 = e | @P0 R0 = e
    #9 use %0     | use R0
    #10 exit
)")};
  p.slots = R"(
  slot 0 local size 1 align 1 offset 0
  slot 1 local size 1 align 1 offset 1
)";
  expect_pass(p);
  // Nor is the one excused by the other: what R5 held is stored where q holds and p does not.
  p.before = edit(p.before, "    #7 @%3 %0 = e\n", "");
  p.slots += "  slot 2 local size 4 align 4 offset 8\n";
  p.after = edit(p.after, "#0 R0 = a\n", R"(#0 R0 = a
    +15 spill R0, slot 2
    +16 R5 = copy R9
)");
  p.after = edit(p.after, "#6 @P0 R0 = c", "#6 @P0 R5 = c");
  p.after = edit(p.after, "#7 @P0 R0 = e", "+17 @P0 spill R5, slot 2\n    +18 R0 = refill slot 2");
  EXPECT_EQ(Judged(p).result.verdict, Verdict::Fail);
  p.after = edit(p.after, "+14 P0 = refill slot 0", "+14 P0 = refill slot 1");
  expect_pass(p);
}

// What sets say under one assumption is not walked for.
TEST(MemcheckDetails, OneGuardAtATimeNeedsNoWalk) {
  const auto [before, after] = side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #1 %4 = q     | P1 = q
    #2 %0 = a     | R5 = a
    +20           | spill R5, slot 0
    +21           | R5 = copy R9
    #3 @%3 %0 = c | @P0 R5 = c
    #4 bra -> b1
  block b1
    +22           | @P0 spill R5, slot 0
    +24           | R0 = refill slot 0
    #5 use %0     | use R0
)");
  const std::vector<Pair> table = {
      // a store in another block than its def; of a negated guard; with another guarded write between
      {kVregs, before + "    #6 exit\n", after + "    #6 exit\n"},
      {kVregs, edit(before, "@%3", "@!%3") + "    #6 exit\n",
       edit(edit(after, "#3 @P0", "#3 @!P0"), "+22 @P0", "+22 @!P0") + "    #6 exit\n"},
      {kVregs, before + "    #7 @%4 %0 = e\n    #8 use %0\n    #6 exit\n",
       after + "    #7 @P1 R0 = e\n    #8 use R0\n    #6 exit\n"},
      // an operand under the guard under which it was written: neither side's old value counts
      {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #2 %0 = a     | R6 = a
    +21           | R5 = copy R9
    #3 @%3 %0 = c | @P0 R5 = c
    #5 @%3 use %0 | @P0 use R5
    #6 exit
)")},
      {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    #2 %0 = a      | R6 = a
    +21            | R5 = copy R9
    #3 @!%3 %0 = c | @!P0 R5 = c
    #5 @!%3 use %0 | @!P0 use R5
    #6 exit
)")},
      // through a join, and through a loop that does not define the predicate
      {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %4 = q            | P1 = q
    #2 %0 = a            | R5 = a
    +20                  | spill R5, slot 0
    +21                  | R5 = copy R9
    #3 @%3 %0 = c        | @P0 R5 = c
    #4 bra -> b1
  block b1
    #9 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b2
    +22                  | @P0 spill R5, slot 0
    +24                  | R0 = refill slot 0
    #5 use %0            | use R0
    #6 exit
)")},
  };
  for (const Pair& p : table) {
    const Judged j(p);
    EXPECT_EQ(j.result.verdict, Verdict::Pass) << describe(j.result) << "\n" << p.after;
    EXPECT_EQ(j.details.walked, 0) << p.after;
    // Nor where the fast check has settled nothing.
    Definitions defs(j.before);
    const MemcheckDetails deep = DeepCheck(j.all, defs, {std::nullopt, {}}).run();
    EXPECT_TRUE(deep.mismatches.empty()) << p.after;
    EXPECT_EQ(deep.walked, 0) << p.after;
  }
}

// What the visit before wrote under its predicate is not excluded by this visit's.
TEST(MemcheckDetails, AnotherVisitsPredicateIsAnother) {
  // Through a phi of the program; the predicate is defined in the loop, on the other side of a block, or at two places.
  for (const std::string_view extra : {"", "    #10 %3 = p\n"}) {
    Pair p = {kVregs,
              fmt::format(R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %2
{}    #3 %3 = p
    #4 @%3 use %1
    #5 %2 = b
    #6 @!%3 %2 = c
    #7 cbra %3 -> b1, b2
  block b2
    #8 exit
)",
                          extra),
              fmt::format(R"(
  block b0
    #0 R1 = a
    #1 bra -> b1
  block b1
    #2 R1 = phi b0: R1, b1: R1
{}    #3 P0 = p
    #4 @P0 use R1
    #5 R1 = b
    #6 @!P0 R1 = c
    #7 cbra P0 -> b1, b2
  block b2
    #8 exit
)",
                          extra.empty() ? "" : "    #10 P0 = p\n")};
    expect_pass(p);
    p.after = edit(p.after, "#6 @!P0 R1 = c", "#6 @!P0 R5 = c");
    expect_category(p, kGone);
    // Without a phi: the same register on all ways.
    Pair q = p;
    q.before = edit(edit(q.before, "    #2 %1 = phi b0: %0, b1: %2\n", ""), "#4 @%3 use %1", "#4 @%3 use %2");
    q.before = edit(q.before, "#0 %0 = a", "#0 %2 = a");
    q.after = edit(q.after, "    #2 R1 = phi b0: R1, b1: R1\n", "");
    expect_category(q, kGone);
  }
}

// The value is in R1 where the predicate holds, in each lap another one: what it was on the way back is known.
Pair in_two_places_over_laps() {
  return {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p            | P0 = p
    +20                  | @P0 R1 = copy R0
    +21                  | @P0 R0 = copy R5
    #2 bra -> b1
  block b1
    +22                  | @P0 R0 = copy R1
    #3 use %0            | use R0
    #4 %3 = q            | P0 = q
    +23                  | @P0 R1 = copy R0
    +24                  | @P0 R0 = copy R5
    #5 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    +25                  | @P0 R0 = copy R1
    #6 use %0            | use R0
    #7 exit
)")};
}

TEST(MemcheckDetails, APredicateGoesBackThroughThePhiThatItIs) {
  const Pair p = in_two_places_over_laps();
  expect_pass(p);
  const auto expect_fail = [&](std::string_view from, std::string_view to) {
    Pair wrong = p;
    wrong.after = edit(p.after, from, to);
    EXPECT_EQ(Judged(wrong).result.verdict, Verdict::Fail) << wrong.after;
  };
  expect_fail("    +23 @P0 R1 = copy R0\n", "");  // what was saved in the lap before
  expect_fail("+22 @P0", "+22 @!P0");
  expect_fail(R"(
    #4 P0 = q
    +23 @P0 R1 = copy R0
    +24 @P0 R0 = copy R5
)",
              R"(
    +23 @P0 R1 = copy R0
    +24 @P0 R0 = copy R5
    #4 P0 = q
)");
  // The predicate is copied on the way, and refilled.
  expect_pass(with(p, "+22 @P0", "+30 P2 = copy P0\n    +22 @P2"));
  // Its phi is that of another join.
  Pair apart = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %4 = r            | P1 = r
    #2 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #3 %3 = p            | P0 = p
    +20                  | @P0 R1 = copy R0
    +21                  | @P0 R0 = copy R5
    #4 bra -> b3
  block b2
    #5 %3 = q            | P0 = q
    +22                  | @P0 R1 = copy R0
    #6 bra -> b3
  block b3
    #7 cbra %4 -> b4, b5 | cbra P1 -> b4, b5
  block b4
    +23                  | @P0 R0 = copy R6
    #8 bra -> b5
  block b5
    +24                  | @P0 R0 = copy R1
    #9 use %0            | use R0
    #10 exit
)")};
  expect_pass(apart);
  apart.after = edit(apart.after, "+22 @P0", "+22 @!P0");
  EXPECT_EQ(Judged(apart).result.verdict, Verdict::Fail);
}

}  // namespace
}  // namespace regduel::oracles
