// memcheck in its details: guards that exclude paths, one assumption at a time and several at once; values across blocks; what the
// report and the findings say; what the fast check settles and what a comparison costs.

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::categories;
using testing::describe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Pair;

constexpr std::string_view kSpillRefill = "memcheck-1-spill-refill-mismatch";

constexpr std::string_view kRefillUninit = "memcheck-2-refill-reads-uninitialized";
constexpr std::string_view kBitPattern = "memcheck-4-bit-spill-refill-failure";
constexpr std::string_view kUninit = "memcheck-5-uninitialized-value-introduced";
constexpr std::string_view kExtra = "memcheck-6-extra-defs-introduced";
constexpr std::string_view kRemat = "memcheck-7-rematerialization-mismatch";
constexpr std::string_view kP2rBase = "memcheck-8-p2r-r2p-base-destroyed";
constexpr std::string_view kBitBase = "memcheck-9-bit-spill-base-destroyed";
constexpr std::string_view kGone = "memcheck-10-definitions-disappeared";

const std::string kVregs = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 P pred
  vreg %5 P pred
)";

std::string replaced(const std::string& text, std::string_view from, std::string_view to) { return testing::edit(text, from, to); }

// A pair as functions, and all that memcheck says of it.
struct Judged {
  explicit Judged(const Pair& p)
      : before(testing::parse_function(p.before_text())), after(testing::parse_function(p.after_text())),
        all{before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)}, details(memcheck(all)),
        result(memcheck_judge().judge(all)) {}

  ir::Function before, after;
  Case all;
  MemcheckDetails details;
  JudgeResult result;
};

FastAnswer fast(const Pair& p) { return fast_check(Judged(p).all); }

void expect_pass(const Pair& p) {
  const Judged j(p);
  EXPECT_EQ(j.result.verdict, Verdict::Pass) << describe(j.result) << "\n" << p.after;
}

void expect_category(const Pair& p, std::string_view category) {
  const Judged j(p);
  EXPECT_THAT(categories(j.result), ElementsAre(category)) << describe(j.result) << "\n" << p.after;
}

// ---------------------------------------------------------------------------------------------------------------
// Guards

// Stored by two guarded stores: what R5 held before is stored on no path, but only both guards together say so.
Pair stored_under_two_guards() {
  return {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 %0 = a
    #3 @%3 %0 = c
    #4 @%4 %0 = e
    #5 use %0
    #6 exit
)",
          R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R5 = a
    +20 spill R5, slot 0
    +21 R5 = copy R9
    #3 @P0 R5 = c
    #4 @P1 R5 = e
    +22 @P0 spill R5, slot 0
    +23 @P1 spill R5, slot 0
    +24 R0 = refill slot 0
    #5 use R0
    #6 exit
)"};
}

TEST(MemcheckDetails, SeveralGuardsAtOnceExcludeAPath) {
  const Pair p = stored_under_two_guards();
  expect_pass(p);
  EXPECT_GT(Judged(p).details.walked, 0);
  // Where one of the stores is under the other sense it is a fault.
  Pair wrong = p;
  wrong.after = replaced(p.after, "+22 @P0", "+22 @!P0");
  EXPECT_EQ(Judged(wrong).result.verdict, Verdict::Fail);
}

TEST(MemcheckDetails, SeveralGuardsExcludeAPathOfTheProgramBefore) {
  expect_pass({kVregs, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 %0 = a
    #9 %1 = g
    #3 @%3 %1 = c
    #4 @%4 %1 = e
    #10 @%3 %0 = copy %1
    #11 @%4 %0 = copy %1
    #5 use %0
    #6 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R5 = a
    #9 R6 = g
    #3 @P0 R5 = c
    #4 @P1 R5 = e
    #10 copy !deleted
    #11 copy !deleted
    #5 use R5
    #6 exit
)"});
}

// The guards stand before a loop, and the use in it under a guard that the loop defines.
TEST(MemcheckDetails, AWalkKeepsWhatTheLoopDoesNotDefine) {
  expect_pass({kVregs, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 %0 = a
    #3 @%3 %0 = c
    #4 @%4 %0 = e
    #12 bra -> b1
  block b1
    #7 %5 = r
    #5 @%5 use %0
    #8 cbra %5 -> b1, b2
  block b2
    #6 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R5 = a
    +20 spill R5, slot 0
    +21 R5 = copy R9
    #3 @P0 R5 = c
    #4 @P1 R5 = e
    #12 bra -> b1
  block b1
    #7 P2 = r
    +22 @P0 spill R5, slot 0
    +23 @P1 spill R5, slot 0
    +24 R0 = refill slot 0
    #5 @P2 use R0
    #8 cbra P2 -> b1, b2
  block b2
    #6 exit
)"});
}

// Two predicates in bytes of one word of the frame are two.
TEST(MemcheckDetails, GuardsRefilledFromOneWordAreApart) {
  Pair p = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #5 bra -> b1
  block b1
    #6 @%4 %0 = c
    #7 @%3 %0 = e
    #9 use %0
    #10 exit
)",
            R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    +11 spill P0, slot 0
    #2 P0 = q
    +12 spill P0, slot 1
    #5 bra -> b1
  block b1
    +13 P0 = refill slot 1
    #6 @P0 R0 = c
    +14 P0 = refill slot 0
    #7 @P0 R0 = e
    #9 use R0
    #10 exit
)"};
  p.slots = R"(
  slot 0 local size 1 align 1 offset 0
  slot 1 local size 1 align 1 offset 1
)";
  expect_pass(p);
  // Nor is the one excused by the other: what R5 held is stored where q holds and p does not.
  p.before = replaced(p.before, "    #7 @%3 %0 = e\n", "");
  p.slots += "  slot 2 local size 4 align 4 offset 8\n";
  p.after = replaced(p.after, "#0 R0 = a\n", R"(#0 R0 = a
    +15 spill R0, slot 2
    +16 R5 = copy R9
)");
  p.after = replaced(p.after, "#6 @P0 R0 = c", "#6 @P0 R5 = c");
  p.after = replaced(p.after, "#7 @P0 R0 = e", "+17 @P0 spill R5, slot 2\n    +18 R0 = refill slot 2");
  EXPECT_EQ(Judged(p).result.verdict, Verdict::Fail);
  p.after = replaced(p.after, "+14 P0 = refill slot 0", "+14 P0 = refill slot 1");
  expect_pass(p);
}

// What sets say under one assumption is not walked for.
TEST(MemcheckDetails, OneGuardAtATimeNeedsNoWalk) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 %0 = a
    #3 @%3 %0 = c
    #4 bra -> b1
  block b1
    #5 use %0
)";
  const std::string after = R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R5 = a
    +20 spill R5, slot 0
    +21 R5 = copy R9
    #3 @P0 R5 = c
    #4 bra -> b1
  block b1
    +22 @P0 spill R5, slot 0
    +24 R0 = refill slot 0
    #5 use R0
)";
  const std::vector<Pair> table = {
      // a store in another block than its def; of a negated guard; with another guarded write between
      {kVregs, before + "    #6 exit\n", after + "    #6 exit\n"},
      {kVregs, replaced(before, "@%3", "@!%3") + "    #6 exit\n",
       replaced(replaced(after, "#3 @P0", "#3 @!P0"), "+22 @P0", "+22 @!P0") + "    #6 exit\n"},
      {kVregs, before + R"(
    #7 @%4 %0 = e
    #8 use %0
    #6 exit
)",
       after + R"(
    #7 @P1 R0 = e
    #8 use R0
    #6 exit
)"},
      // an operand under the guard under which it was written: neither side's old value counts
      {kVregs, R"(
  block b0
    #0 %3 = p
    #2 %0 = a
    #3 @%3 %0 = c
    #5 @%3 use %0
    #6 exit
)",
       R"(
  block b0
    #0 P0 = p
    #2 R6 = a
    +21 R5 = copy R9
    #3 @P0 R5 = c
    #5 @P0 use R5
    #6 exit
)"},
      {kVregs, R"(
  block b0
    #0 %3 = p
    #2 %0 = a
    #3 @!%3 %0 = c
    #5 @!%3 use %0
    #6 exit
)",
       R"(
  block b0
    #0 P0 = p
    #2 R6 = a
    +21 R5 = copy R9
    #3 @!P0 R5 = c
    #5 @!P0 use R5
    #6 exit
)"},
      // through a join, and through a loop that does not define the predicate
      {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 %0 = a
    #3 @%3 %0 = c
    #4 bra -> b1
  block b1
    #9 cbra %4 -> b1, b2
  block b2
    #5 use %0
    #6 exit
)",
       R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R5 = a
    +20 spill R5, slot 0
    +21 R5 = copy R9
    #3 @P0 R5 = c
    #4 bra -> b1
  block b1
    #9 cbra P1 -> b1, b2
  block b2
    +22 @P0 spill R5, slot 0
    +24 R0 = refill slot 0
    #5 use R0
    #6 exit
)"},
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
    p.after = replaced(p.after, "#6 @!P0 R1 = c", "#6 @!P0 R5 = c");
    expect_category(p, kGone);
    // Without a phi: the same register on all ways.
    Pair q = p;
    q.before = replaced(replaced(q.before, "    #2 %1 = phi b0: %0, b1: %2\n", ""), "#4 @%3 use %1", "#4 @%3 use %2");
    q.before = replaced(q.before, "#0 %0 = a", "#0 %2 = a");
    q.after = replaced(q.after, "    #2 R1 = phi b0: R1, b1: R1\n", "");
    expect_category(q, kGone);
  }
}

// The value is in R1 where the predicate holds, in each lap another one: what it was on the way back is known.
Pair in_two_places_over_laps() {
  return {kVregs, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 bra -> b1
  block b1
    #3 use %0
    #4 %3 = q
    #5 cbra %3 -> b1, b2
  block b2
    #6 use %0
    #7 exit
)",
          R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    +20 @P0 R1 = copy R0
    +21 @P0 R0 = copy R5
    #2 bra -> b1
  block b1
    +22 @P0 R0 = copy R1
    #3 use R0
    #4 P0 = q
    +23 @P0 R1 = copy R0
    +24 @P0 R0 = copy R5
    #5 cbra P0 -> b1, b2
  block b2
    +25 @P0 R0 = copy R1
    #6 use R0
    #7 exit
)"};
}

TEST(MemcheckDetails, APredicateGoesBackThroughThePhiThatItIs) {
  const Pair p = in_two_places_over_laps();
  expect_pass(p);
  const auto expect_fail = [&](std::string_view from, std::string_view to) {
    Pair wrong = p;
    wrong.after = replaced(p.after, from, to);
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
  Pair copied = p;
  copied.after = replaced(p.after, "+22 @P0", "+30 P2 = copy P0\n    +22 @P2");
  expect_pass(copied);
  // Its phi is that of another join.
  Pair apart = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 %4 = r
    #2 cbra %4 -> b1, b2
  block b1
    #3 %3 = p
    #4 bra -> b3
  block b2
    #5 %3 = q
    #6 bra -> b3
  block b3
    #7 cbra %4 -> b4, b5
  block b4
    #8 bra -> b5
  block b5
    #9 use %0
    #10 exit
)",
                R"(
  block b0
    #0 R0 = a
    #1 P1 = r
    #2 cbra P1 -> b1, b2
  block b1
    #3 P0 = p
    +20 @P0 R1 = copy R0
    +21 @P0 R0 = copy R5
    #4 bra -> b3
  block b2
    #5 P0 = q
    +22 @P0 R1 = copy R0
    #6 bra -> b3
  block b3
    #7 cbra P1 -> b4, b5
  block b4
    +23 @P0 R0 = copy R6
    #8 bra -> b5
  block b5
    +24 @P0 R0 = copy R1
    #9 use R0
    #10 exit
)"};
  expect_pass(apart);
  apart.after = replaced(apart.after, "+22 @P0", "+22 @!P0");
  EXPECT_EQ(Judged(apart).result.verdict, Verdict::Fail);
}

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
    p.after = replaced(p.after, "#6 @!P0 R1 = c", "#6 @!P0 R5 = c");
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
  Pair p = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 use %0
    #3 %0 = b
    #4 @%3 %0 = c
    #5 cbra %4 -> b1, b2
  block b2
    #6 exit
)",
            R"(
  block b0
    #0 R0 = a
    #1 bra -> b1
  block b1
    #2 use R0
    #3 R0 = b
    #4 @P0 R0 = c
    #5 cbra P1 -> b1, b2
  block b2
    #6 exit
)"};
  expect_pass(p);
  p.after = replaced(p.after, "#3 R0 = b", "#3 R1 = b");
  expect_category(p, kGone);
}

// A guarded early-clobber def leaves the old value where its guard does not hold.
TEST(MemcheckDetails, AGuardedEarlyClobberKeepsTheOldValue) {
  expect_pass({kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @%3 %1{early} = op %0
    #4 use %1
    #5 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 R1 = b
    #3 @P0 R1 = op R0
    #4 use R1
    #5 exit
)"});
}

// A guarded copy of a predicate to itself leaves one predicate: what is written under it again is gone. It has two definitions, so
// that the sparse graph assumes nothing of it.
TEST(MemcheckDetails, AGuardedCopyOfAPredicateToItselfIsNoWrite) {
  const Pair p = {kVregs, R"(
  block b0
    #0 %3 = p
    #8 %4 = q
    #9 @%4 %3 = r
    #1 %0 = a
    #2 @%3 %0 = c
    #3 use %0
    #4 @%3 %3 = copy %3
    #5 @%3 %0 = d
    #6 use %0
    #7 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #8 P1 = q
    #9 @P1 P0 = r
    #1 R0 = a
    #2 @P0 R0 = c
    #3 use R0
    #4 copy !deleted
    #5 @P0 R0 = d
    #6 use R0
    #7 exit
)"};
  EXPECT_TRUE(fast(p).is_same());
  Pair other = p;
  other.after = replaced(p.after, "#5 @P0 R0", "#5 @P0 R1");
  EXPECT_FALSE(fast(other).is_same());
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
  p.after = replaced(p.after, "+10000 R0 = copy R9", "+10000 R0 = copy R1");
  const Judged removed(p);
  EXPECT_EQ(removed.result.verdict, Verdict::Inconclusive) << describe(removed.result);
}

// Where nothing is known of the guards, R9 is seen at once; where they are known, the budget ends.
TEST(MemcheckDetails, DoubtfulGuardsBeyondTheBudgetAreInconclusive) {
  Pair p = entangled(2000);
  p.vregs += "  vreg %2004 P pred\n";
  p.before = replaced(p.before, "    #2 %2 = p", "    #7 %2004 = o\n    #2 @%2004 %2 = p");
  p.after = replaced(p.after, "    #2 P1 = p", "    #7 P3 = o\n    #2 @P3 P1 = p");
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
  p.before = replaced(p.before, "    #6000", before + "    #5101 @%2 %0 = f\n    #5102 use %0\n    #6000");
  p.after = replaced(p.after, "    #6000", after + R"(
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
  p.before = replaced(p.before, "    #5 use", before + "    #5 use");
  p.after = replaced(p.after, "    #5 use", after + "    #5 use");
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
  p.before = replaced(p.before, "    #5 use", before + "    #102 @%3 %0 = copy %6\n    #5 use");
  p.after = replaced(p.after, "    #5 use", after + "    #102 @P0 R0 = copy R6\n    #5 use");
  expect_pass(p);
}

// ---------------------------------------------------------------------------------------------------------------
// Values across blocks

TEST(MemcheckDetails, PartsComeFromOtherBlocks) {
  Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)",
            R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 %2.h0 = copy %0.h0
    #4 %2.h1 = copy %1.h1
    #5 use %2
    #6 exit
)",
            R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 bra -> b1
  block b1
    #3 R2.h0 = copy R0.h0
    #4 R2.h1 = copy R1.h1
    #5 use R2
    #6 exit
)"};
  expect_pass(p);
  p.after = replaced(p.after, "R2.h1 = copy R1.h1", "R2.h1 = copy R0.h1");
  expect_category(p, kExtra);
}

TEST(MemcheckDetails, APartIsReadWhereItStands) {
  const Pair p = {"  vreg %0 R b32\n", R"(
  block b0
    #0 %0 = a
    #1 use %0.h1
    #2 exit
)",
                  R"(
  block b0
    #0 R0 = a
    +3 R0.h1 = copy R0.h0
    #1 use R0.h1
    #2 exit
)"};
  expect_category(p, kExtra);
}

TEST(MemcheckDetails, WhatIsPackedComesFromOtherBlocks) {
  Pair p = {R"(
  vreg %0 P pred
  vreg %1 P pred
)",
            R"(
  block b0
    #0 %0 = p
    #1 %1 = q
    #2 bra -> b1
  block b1
    #3 use %0, %1
    #4 exit
)",
            R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    +20 R0{inout} = bit_spill P0, 3
    #2 bra -> b1
  block b1
    +21 R0{inout} = bit_spill P1, 4
    +22 P2 = bit_refill R0, 3
    +23 P3 = bit_refill R0, 4
    #3 use P2, P3
    #4 exit
)"};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = replaced(p.after, "bit_refill R0, 3", "bit_refill R0, 4");
  expect_category(wrong, kBitPattern);
  wrong.after = replaced(p.after, "bit_spill P0, 3", "bit_spill P1, 3");
  expect_category(wrong, kBitPattern);
  wrong.after = replaced(p.after, "bit_spill P0, 3", "bit_spill !P0, 3");
  expect_category(wrong, kBitPattern);
}

// A predicate goes through one pack, and then through another: of which the base is destroyed is what counts, not which comes last.
TEST(MemcheckDetails, TheDestroyedBaseIsThatOfItsOwnPack) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 use %3, %0
    #3 exit
)";
  const std::string destroyed = "    +30 R9 = copy R0\n";
  const auto chained = [&](const std::string& first, const std::string& second) {
    return Pair{kVregs, before, R"(
  block b0
    #0 P0 = p
    #1 R0 = a
)" + first + second + "    #2 use P0, R0\n    #3 exit\n"};
  };
  const auto by_p2r = [](const std::string& base, const std::string& between) {
    return "    +20 " + base + "{inout} = p2r P0\n" + between + "    +21 P0 = r2p " + base + "\n";
  };
  const auto by_bits = [](const std::string& base, const std::string& between) {
    return "    +22 " + base + "{inout} = bit_spill P0, 3\n" + between + "    +23 P0 = bit_refill " + base + ", 3\n";
  };
  expect_pass(chained(by_bits("R9", ""), by_p2r("R8", "")));
  expect_category(chained(by_bits("R9", destroyed), by_p2r("R8", "")), kBitBase);
  expect_category(chained(by_bits("R8", ""), by_p2r("R9", destroyed)), kP2rBase);
  expect_category(chained(by_p2r("R8", ""), by_bits("R9", destroyed)), kBitBase);
  expect_category(chained(by_p2r("R9", destroyed), by_bits("R8", "")), kP2rBase);
  // Through a second register, a slot, and another bit put beside.
  const std::string moved = R"(
    +24 spill R9, slot 0
    +25 R7 = refill slot 0
    +26 R9 = copy R7
    +27 R9{inout} = bit_spill P0, 4
)";
  expect_category(chained(by_bits("R9", destroyed + moved), by_p2r("R8", "")), kBitBase);
}

TEST(MemcheckDetails, ABaseIsDestroyedInFrontOfALoop) {
  expect_category({kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 bra -> b1
  block b1
    #3 use %3, %0
    #4 cbra %3 -> b1, b2
  block b2
    #5 exit
)",
                   R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 R9{inout} = bit_spill P0, 3
    +21 R9 = copy R0
    #2 bra -> b1
  block b1
    +22 P1 = bit_refill R9, 3
    +23 R9{inout} = bit_spill P0, 4
    #3 use P1, R0
    #4 cbra P0 -> b1, b2
  block b2
    #5 exit
)"},
                  kBitBase);
}

// The store stands on one path, so that the refill behind it is one that may find nothing (2), not one without a store (1): also
// for an instruction under the other sense of the store's guard, which sees of the refill only the path without it.
TEST(MemcheckDetails, ARefillBehindAStoreUnderAGuardHasAStore) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 %0 = c
    #3 use %0
    #4 exit
)";
  const auto after = [](const std::string& store) {
    return R"(
  block b0
    #0 P0 = p
    #1 R0 = a
)" + store +
           R"(
    +21 R1 = refill slot 0
    #2 @P0 R1 = c
    +22 spill R1, slot 0
    +23 R2 = refill slot 0
    #3 use R2
    #4 exit
)";
  };
  expect_pass({kVregs, before, after("    +20 spill R0, slot 0\n")});
  expect_category({kVregs, before, after("    +20 @P0 spill R0, slot 0\n")}, kRefillUninit);
  expect_category({kVregs, before, after("")}, kSpillRefill);
  // Another refill behind the same store does not help one that reads another slot.
  expect_category({kVregs, before, after("    +20 @P0 spill R0, slot 1\n    +19 R3 = refill slot 1\n")}, kSpillRefill);
}

TEST(MemcheckDetails, ABaseIsDestroyedInAnotherBlock) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 bra -> b1
  block b1
    #2 call "g" clobbers P0:P6, R9, R10
    #3 use %3
    #4 exit
)";
  expect_category({kVregs, before, R"(
  block b0
    #0 P0 = p
    +20 R9{inout} = p2r P0
    #1 bra -> b1
  block b1
    #2 call "g" clobbers P0:P6, R9, R10
    +21 P0 = r2p R9
    #3 use P0
    #4 exit
)"},
                  kP2rBase);
}

// A register may be in two clobbers of one instruction.
TEST(MemcheckDetails, ABaseIsDestroyedByClobbersThatOverlap) {
  for (const std::string clobbers : {"R8:R9", "R8:R9, R9:R10", "R9, R8:R9, R9"}) {
    const std::string before = R"(
  block b0
    #0 %3 = p
    #1 call "g" clobbers P0:P6, )" +
                               clobbers + R"(
    #2 use %3
    #3 exit
)";
    expect_category({kVregs, before,
                     R"(
  block b0
    #0 P0 = p
    +20 R9{inout} = bit_spill P0, 3
    #1 call "g" clobbers P0:P6, )" +
                         clobbers + R"(
    +21 P0 = bit_refill R9, 3
    #2 use P0
    #3 exit
)"},
                    kBitBase);
  }
}

// What is wrong in the bit came along one path, with the byte that it is in: a write of another part of the register behind the
// join destroys nothing. A base that is overwritten part by part is destroyed by the part with the bit, whichever comes last.
TEST(MemcheckDetails, ABaseIsDestroyedByWhatWritesTheBit) {
  const auto with = [](const std::string& between) {
    return Pair{kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 cbra %3 -> b1, b2
  block b1
    #3 bra -> b2
  block b2
    #4 use %3, %0
    #5 exit
)",
                R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 cbra P0 -> b1, b2
  block b1
    +20 R9{inout} = bit_spill P0, 3
    #3 bra -> b2
  block b2
)" + between + R"(
    +24 P0 = bit_refill R9, 3
    #4 use P0, R0
    #5 exit
)"};
  };
  const std::string low = "    +21 R9.b0 = copy R0.b0\n", next = "    +22 R9.b1 = copy R0.b1\n",
                    high = "    +23 R9.hi = copy R0.hi\n";
  for (const std::string& other : {std::string(), high, next + high}) expect_category(with(other), kBitPattern);
  for (const std::string& parts : {low, low + high, high + low, next + low + high, low + high + next}) {
    expect_category(with(parts), kBitBase);
    const Judged j(with(parts));
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    EXPECT_EQ(j.details.mismatches[0].other, ir::InstId(21)) << parts;
  }
}

// A part of the pack alone was stored, and then all of it refilled: this destroyed the bit, however it was moved on since.
TEST(MemcheckDetails, ABaseIsDestroyedByARefillInPieces) {
  for (const std::string moved : {"", "    +23 spill R9, slot 1\n    +24 R9 = refill slot 1\n", R"(
    +23 spill R9, slot 1
    +24 R9.hi = refill slot 1+2
    +25 R9.lo = refill slot 1
)"}) {
    const Judged j({kVregs, R"(
  block b0
    #0 %3 = p
    #1 use %3
    #2 exit
)",
                    R"(
  block b0
    #0 P0 = p
    +20 R9{inout} = bit_spill P0, 30
    +21 spill R9.lo, slot 0
    +22 R9 = refill slot 0
)" + moved + R"(
    +26 P0 = bit_refill R9, 30
    #1 use P0
    #2 exit
)"});
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    EXPECT_EQ(j.result.findings[0].category, kBitBase) << moved;
    EXPECT_EQ(j.details.mismatches[0].other, ir::InstId(22)) << moved;
  }
}

TEST(MemcheckDetails, APackIsNoValueOfTheProgram) {
  const Pair p = {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 use %0
    #3 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 R0{inout} = p2r P0
    #2 use R0
    #3 exit
)"};
  expect_category(p, kExtra);
  EXPECT_THAT(print_memcheck(Judged(p).all, {.dump_ir = true}), HasSubstr("  [20] def opr # 0 src opr # 0  POTENTIAL PROBLEM"));
}

TEST(MemcheckDetails, AKeptPhiMayNameEdgeBlocks) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = a
    #3 bra -> b3
  block b2
    #4 %1 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1
    #7 use %2
    #8 exit
)";
  for (const std::string_view named : {"b1", "b4"}) {
    Pair p = {kVregs, before,
              fmt::format(R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R3 = a
    #3 bra -> b4
  block b2
    #4 R3 = b
    #5 bra -> b3
  block b3
    #6 R3 = phi {}: R3, b2: R3
    #7 use R3
    #8 exit
  block b4 edge b1 -> b3
    +20 bra -> b3
)",
                          named)};
    expect_pass(p);
    p.after = replaced(p.after, "#2 R3 = a", "#2 R4 = a");
    expect_category(p, kUninit);
    p.after = replaced(p.after, "+20 bra", "+21 R3 = copy R4\n    +20 bra");
    expect_pass(p);
  }
}

TEST(MemcheckDetails, AKeptPhiWithoutAUseForItsPredecessorIsUndefinedThere) {
  const Judged j({kVregs, R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = a
    #3 bra -> b3
  block b2
    #4 %1 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1
    #7 use %2
    #8 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R3 = a
    #3 bra -> b3
  block b2
    #4 R3 = b
    #5 bra -> b3
  block b3
    #6 R3 = phi b0: R3, b2: R3
    #7 use R3
    #8 exit
)"});
  ASSERT_EQ(j.result.findings.size(), 1u) << describe(j.result);
  EXPECT_EQ(j.result.findings[0].category, kUninit);
  EXPECT_EQ(j.result.findings[0].other, ir::InstId(6));
}

TEST(MemcheckDetails, InstructionsWithTwoDefsFollowEachOther) {
  expect_pass({kVregs, R"(
  block b0
    #0 %0, %1 = two
    #1 use %0, %1
    #2 %0, %1 = two
    #3 use %0, %1
    #4 exit
)",
               R"(
  block b0
    #0 R0, R1 = two
    #1 use R0, R1
    #2 R1, R0 = two
    #3 use R1, R0
    #4 exit
)"});
}

// ---------------------------------------------------------------------------------------------------------------
// What is said

TEST(MemcheckDetails, NamesTheInstructionThatDestroyed) {
  const Judged j({kVregs, R"(
  block b0
    #0 call "f" clobbers R8
    #1 %0 = a
    #2 call "g" clobbers R0
    #3 use %0
    #4 exit
)",
                  R"(
  block b0
    #0 call "f" clobbers R8
    #1 R0 = a
    #2 call "g" clobbers R0
    #3 use R0
    #4 exit
)"});
  ASSERT_EQ(j.result.findings.size(), 1u);
  EXPECT_EQ(j.result.findings[0].other, ir::InstId(2));
  EXPECT_EQ(j.result.findings[0].message, text(MemcheckCode::UninitializedValueIntroduced));
}

// What a def does not define is undefined: the bytes above a narrow one, the units beyond those of its vreg.
TEST(MemcheckDetails, ADefLeavesTheRestUndefined) {
  Judged narrow({R"(
  vreg %0 R b32
  vreg %1 R b16
)",
                 R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 use %0
    #3 exit
)",
                 R"(
  block b0
    #0 R0 = a
    #1 R0 = b
    #2 use R0
    #3 exit
)"});
  ASSERT_EQ(narrow.details.mismatches.size(), 1u);
  EXPECT_EQ(narrow.details.mismatches[0].code, MemcheckCode::ExtraDefsIntroduced);
  EXPECT_TRUE(narrow.details.mismatches[0].mixed_size);
  EXPECT_EQ(narrow.details.mismatches[0].other, ir::InstId(1));
  EXPECT_EQ(narrow.details.mismatches[0].after.size(), 2u);  // what #1 defines, and what it destroys
  const Judged wide({R"(
  vreg %0 R b32
  vreg %1 R b32
)",
                     R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 use %0
    #3 exit
)",
                     R"(
  block b0
    #0 R1 = a
    #1 R0:R1 = b
    #2 use R1
    #3 exit
)"});
  ASSERT_EQ(wide.result.findings.size(), 1u);
  EXPECT_EQ(wide.result.findings[0].category, kUninit);
  EXPECT_EQ(wide.result.findings[0].other, ir::InstId(1));
}

// One refill brings a right word and a wrong one: it is a problem, in whichever order.
TEST(MemcheckDetails, AProducerOfOneWrongWordIsAProblem) {
  for (const bool first : {false, true}) {
    const Judged j({R"(
  vreg %0 R b64
  vreg %1 R b32
)",
                    R"(
  block b0
    #0 %0 = a
    #3 %1 = b
    #1 use %0
    #2 exit
)",
                    fmt::format(R"(
  block b0
    #0 R0:R1 = a
    #3 R4 = b
    +9 spill R{}, slot 2
    +8 spill R{}, slot 2 + 4
    +7 R2:R3 = refill slot 2
    #1 use R2:R3
    #2 exit
)",
                                first ? 4 : 0, first ? 1 : 4)});
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    ASSERT_EQ(j.details.mismatches[0].additions.size(), 1u);
    EXPECT_FALSE(j.details.mismatches[0].additions[0].explained);
  }
}

// The way of the wrong value is that which the guard leaves open.
TEST(MemcheckDetails, ExplainsUnderTheGuard) {
  expect_category({kVregs, R"(
  block b0
    #0 %3 = p
    #1 %1 = x
    #2 %0 = a
    #3 @%3 %0 = c
    #4 @%3 use %0
    #5 exit
)",
                   R"(
  block b0
    #0 P0 = p
    #1 R7 = x
    +20 spill R7, slot 0
    #2 R0 = a
    +21 R0 = refill slot 0
    #3 @P0 R1 = c
    +22 @P0 R0 = copy R7
    #4 @P0 use R0
    #5 exit
)"},
                  kExtra);
}

TEST(MemcheckDetails, TellsOfEachCalleeSavedRegister) {
  // Two rets, in both orders of going through the blocks; an operand of another category stands before one of them.
  for (const bool swapped : {false, true}) {
    Pair p = {kVregs,
              fmt::format(R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 cbra %3 -> b{}, b{}
  block b1
    #3 use %0
    #4 ret
  block b2
    #5 ret
)",
                          swapped ? 2 : 1, swapped ? 1 : 2),
              fmt::format(R"(
  block b0
    #0 R24 = a
    #1 P0 = p
    #2 cbra P0 -> b{}, b{}
  block b1
    +20 R0 = refill slot 1
    #3 use R0
    #4 ret
  block b2
    #5 ret
)",
                          swapped ? 2 : 1, swapped ? 1 : 2)};
    p.kind = "device";
    const Judged j(p);
    ASSERT_EQ(j.result.findings.size(), 3u) << describe(j.result);
    EXPECT_EQ(j.result.findings[0].category, kSpillRefill);
    EXPECT_EQ(j.result.findings[1].category, kExtra);
    EXPECT_EQ(j.result.findings[1].inst, ir::InstId(4));
    EXPECT_EQ(j.result.findings[2].inst, ir::InstId(5));
    EXPECT_THAT(j.result.findings[2].message, ::testing::EndsWith(" (callee-saved R24)"));
    const std::string report = print_memcheck(j.all, {.dump_ir = true});
    EXPECT_THAT(report, HasSubstr(R"(Operand # -1 (callee-saved R24)
Producers for operand -1 of instruction [5] before register allocation:
  [entry] uninitialized def for src opr # -1

Producers for operand # -1 of instruction [5] after register allocation:
  [0] def opr # 0 for src opr # -1
)"));
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Remats

// A bad remat is found out at the end of two ways, after others were taken to be right because of it.
TEST(MemcheckDetails, WhatWasThoughtOfABadRematIsForgotten) {
  const std::string before = R"(
  block b0
    #0 %0 = const 1 !remat
    #1 %1 = inc %0 !remat
    #2 %3 = p
    #3 cbra %3 -> b1, b2
  block b1
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 use %1
    #7 exit
)";
  Pair p = {kVregs, before, R"(
  block b0
    #0 R0 = const 1 !remat
    #1 R1 = inc R0 !remat
    #2 P0 = p
    #3 cbra P0 -> b1, b2
  block b1
    +20 R2 = remat #0 1
    #4 bra -> b3
  block b2
    +21 R2 = remat #0 1
    #5 bra -> b3
  block b3
    +22 R1 = remat #1 R2
    #6 use R1
    #7 exit
)"};
  expect_pass(p);
  EXPECT_TRUE(fast(p).is_same());
  p.after = replaced(p.after, "+21 R2 = remat #0 1", "+21 R2 = remat #0 2");
  expect_category(p, kRemat);
  // Two bad ones, found in one round.
  p.after = replaced(p.after, "+20 R2 = remat #0 1", "+20 R2 = remat #0 3");
  expect_category(p, kRemat);
}

// While remats are tried, P0 and P1 count as one predicate, so that b never comes through to R3 (only a walk sees it, with P4 in
// between), and the remat of #10 is right. P0 is none: then R3 may hold b, and so may what was computed from it.
TEST(MemcheckDetails, AGuardIsForgottenWithTheBadRematThatMadeIt) {
  Pair p = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %3 = inc %0 !remat
    #3 %5 = p
    #14 %4 = q
    #4 cbra %5 -> b1, b2
  block b1
    #5 %3 = p
    #6 bra -> b3
  block b2
    #7 bra -> b3
  block b3
    #8 %1 = c
    #10 %2 = inc %1 !remat
    #11 use %1
    #12 use %2, %3, %4
    #13 exit
)",
            R"(
  block b0
    #0 R0 = a
    #1 R3 = b
    #2 P1 = inc R0 !remat
    #3 P5 = p
    #14 P4 = q
    #4 cbra P5 -> b1, b2
  block b1
    #5 P0 = p
    +20 P1 = copy P0
    #6 bra -> b3
  block b2
    +21 P0 = remat #2 R0
    #7 bra -> b3
  block b3
    #8 R5 = c
    +26 @!P1 R3 = copy R5
    +27 @!P4 R3 = copy R5
    +28 @P0 R3 = copy R5
    #10 R2 = inc R3 !remat
    #11 use R3
    +30 R4 = remat #10 R3
    #12 use R4, P1, P4
    #13 exit
)"};
  expect_pass(p);
  p.after = replaced(p.after, "remat #2 R0", "remat #2 R5");
  const Judged j(p);
  std::vector<std::uint32_t> wrong;
  for (const OperandMismatch& m : j.details.mismatches) wrong.push_back(m.inst.value);
  EXPECT_THAT(wrong, ElementsAre(10, 11, 12));
}

// ---------------------------------------------------------------------------------------------------------------
// The fast check

TEST(MemcheckDetails, TheFastCheckSettlesWhatIsRight) {
  const std::vector<Pair> table = {
      {kVregs, R"(
  block b0
    #0 %0 = a
    #1 use %0
    #2 exit
)",
       R"(
  block b0
    #0 R0 = a
    #1 use R0
    #2 exit
)"},
      // a store and a use under the guard of the def, in one block
      {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 %0 = c
    #3 use %0
    #4 exit
)",
       R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 spill R0, slot 0
    +21 R5 = copy R9
    #2 @P0 R5 = c
    +22 @P0 spill R5, slot 0
    +23 R0 = refill slot 0
    #3 use R0
    #4 exit
)"},
      {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @!%3 %0 = c
    #3 use %0
    #4 exit
)",
       R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 spill R0, slot 0
    +21 R5 = copy R9
    #2 @!P0 R5 = c
    +22 @!P0 spill R5, slot 0
    +23 R0 = refill slot 0
    #3 use R0
    #4 exit
)"},
      // a part, of which no word is a node
      {"  vreg %0 R b32\n", R"(
  block b0
    #0 %0 = a
    #1 %0.h1 = b
    #2 use %0
    #3 exit
)",
       R"(
  block b0
    #0 R0 = a
    #1 R0.h1 = b
    #2 use R0
    #3 exit
)"},
  };
  for (const Pair& p : table) EXPECT_TRUE(fast(p).is_same()) << p.after;
  // a predicate from any byte of the frame
  Pair spilled = {kVregs, R"(
  block b0
    #0 %3 = p
    #9 bra -> b1
  block b1
    #1 %0 = a
    #2 @%3 %0 = c
    #3 @!%3 %0 = e
    #4 use %0
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    +20 spill P0, slot 0
    #9 bra -> b1
  block b1
    #1 R0 = a
    +21 P1 = refill slot 0
    #2 @P1 R0 = c
    +22 P2 = refill slot 0
    #3 @!P2 R0 = e
    #4 use R0
    #5 exit
)"};
  spilled.slots = "  slot 0 local size 1 align 1 offset 5\n";
  EXPECT_TRUE(fast(spilled).is_same());
}

// Of what the fast check has settled the deep check knows nothing; only of one side here, so that it must not ask.
TEST(MemcheckDetails, TheDeepCheckLooksOnlyThere) {
  const Pair p = {kVregs, R"(
  block b0
    #0 %0 = const 1 !remat
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 use %0
    #4 use %1
    #5 exit
)",
                  R"(
  block b0
    #0 R0 = const 1 !remat
    #1 R1 = b
    #2 bra -> b1
  block b1
    +9 R2 = remat #0 1
    #3 use R2
    #4 use R0
    #5 exit
)"};
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(4));
}

TEST(MemcheckDetails, EachRetIsSeen) {
  Pair p = {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 cbra %3 -> b1, b2
  block b1
    #3 ret
  block b2
    #4 ret
)",
            R"(
  block b0
    #0 P0 = p
    +20 spill R24, slot 0
    #1 R24 = a
    #2 cbra P0 -> b1, b2
  block b1
    +21 R24 = refill slot 0
    #3 ret
  block b2
    #4 ret
)"};
  p.kind = "device";
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(4));
}

TEST(MemcheckDetails, AGoodRematIsTrustedBesideABadOne) {
  const Pair p = {kVregs, R"(
  block b0
    #0 %0 = const 1 !remat
    #1 use %0
    #2 use %0
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = const 1 !remat
    +8 R1 = remat #0 1
    #1 use R1
    +9 R2 = remat #0 2
    #2 use R2
    #3 exit
)"};
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(2));
}

// The instructions that the deep check is to look at.
TEST(MemcheckDetails, TheFastCheckSaysWhereToLook) {
  const auto suspects = [](const Pair& p) { return fast(p).suspects; };
  using Suspects = std::vector<ir::InstId>;
  const Pair wrong = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #9 use %0, %1
    #3 use %0
    #4 use %1
    #5 exit
)",
                      R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #9 use R1, R1
    #3 use R1
    #4 use R1
    #5 exit
)"};
  EXPECT_EQ(suspects(wrong), Suspects({ir::InstId(3), ir::InstId(9)}));
  Pair lost = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 use %0
    #2 ret
)",
               R"(
  block b0
    #0 R24 = a
    #1 use R24
    #2 ret
)"};
  lost.kind = "device";
  EXPECT_EQ(suspects(lost), Suspects({ir::InstId(2)}));
  const Pair doubtful = {kVregs, R"(
  block b0
    #0 @%3 use
    #1 exit
)",
                         R"(
  block b0
    #0 @P0 use
    #1 exit
)"};
  EXPECT_TRUE(fast(doubtful) == (FastAnswer{Suspects(), {ir::InstId(0)}}));
  // Neither graph concludes that the second write covers the first.
  const Pair twice = {kVregs, R"(
  block b0
    #0 %0 = a
    #1 @%3 %0 = b
    #2 @%3 %0 = c
    #3 use %0
    #4 exit
)",
                      R"(
  block b0
    #0 R0 = a
    #1 @P0 R0 = b
    #2 @P0 R0 = c
    #3 use R0
    #4 exit
)"};
  EXPECT_TRUE(fast(twice) == (FastAnswer{Suspects(), {ir::InstId(1), ir::InstId(2)}}));
  const Pair bad_remat = {kVregs, R"(
  block b0
    #0 %0 = const 1 !remat
    #1 use %0
    #2 exit
)",
                          R"(
  block b0
    #0 R1 = const 1 !remat
    +9 R0 = remat #0 2
    #1 use R0
    #2 exit
)"};
  EXPECT_EQ(suspects(bad_remat), std::nullopt);
}

// R3 holds #8 before, and slot 0 nothing: where the guard holds, neither is seen.
TEST(MemcheckDetails, TheFastCheckSeesThroughGuards) {
  const auto is_same = [](const Pair& p) {
    return fast(p).is_same() && fast_check(Judged(p).all, MemcheckScope::Errors).is_same();
  };
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #8 %1 = q
    #9 use %1
    #2 @%3 %0 = b
    #3 @%3 use %0
    #4 exit
)";
  Pair refilled = {kVregs, before, R"(
  block b0
    #0 P0 = p
    #1 R2 = a
    #8 R3 = q
    #9 use R3
    #2 @P0 R2 = b
    +20 @P0 spill R2, slot 0
    +21 @P0 R3 = refill slot 0
    #3 @P0 use R3
    #4 exit
)"};
  EXPECT_TRUE(is_same(refilled));
  refilled.before = replaced(refilled.before, "#3 @%3", "#3 @!%3");
  refilled.after = replaced(refilled.after, "#3 @P0", "#3 @!P0");
  EXPECT_FALSE(is_same(refilled));
  // No guard at the read, and one of the two writes on each path.
  Pair both = {kVregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #8 %1 = q
    #9 use %1
    #7 use %0
    #2 @%3 %0 = b
    #5 @!%3 %0 = c
    #3 use %0
    #4 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 R2 = a
    #8 R3 = q
    #9 use R3
    #7 use R2
    #2 @P0 R3 = b
    #5 @!P0 R3 = c
    #3 use R3
    #4 exit
)"};
  EXPECT_TRUE(is_same(both));
  both.before = replaced(both.before, "#5 @!%3", "#5 @%3");
  both.after = replaced(both.after, "#5 @!P0", "#5 @P0");
  EXPECT_FALSE(is_same(both));
  // %3 has two definitions, and #6 stands between.
  both.before = replaced(both.before, "#5 @%3", "#6 %3 = p\n    #5 @!%3");
  both.after = replaced(both.after, "#5 @P0", "#6 P0 = p\n    #5 @!P0");
  EXPECT_FALSE(is_same(both));
}

TEST(MemcheckDetails, TheFastCheckComparesWordsOfParts) {
  // Neither word is a node, and their lower bytes are the same.
  expect_category({R"(
  vreg %0 R b32
  vreg %1 R b32
)",
                   R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %0.h1 = c
    #3 use %0, %1
    #4 exit
)",
                   R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 R0.h1 = c
    +9 R0.h1 = copy R1.h1
    #3 use R0, R1
    #4 exit
)"},
                  kExtra);
}

// On one path %0 is put together from two defs, on the other undefined; there R0 holds something else behind the last use of that.
TEST(MemcheckDetails, AWordOfPartsCountsAsDefined) {
  Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
)",
            R"(
  block b0
    #0 %2 = p
    #1 cbra %2 -> b1, b2
  block b1
    #2 %0 = a
    #3 %0.h1 = c
    #4 bra -> b3
  block b2
    #5 %1 = d
    #6 use %1
    #7 bra -> b3
  block b3
    #8 use %0
    #9 exit
)",
            R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R0 = a
    #3 R0.h1 = c
    #4 bra -> b3
  block b2
    #5 R0 = d
    #6 use R0
    #7 bra -> b3
  block b3
    #8 use R0
    #9 exit
)"};
  EXPECT_TRUE(fast_check(Judged(p).all, MemcheckScope::Errors).is_same());
  p.after = replaced(p.after, "#3 R0.h1", "#3 R1.h1");
  EXPECT_FALSE(fast_check(Judged(p).all, MemcheckScope::Errors).is_same());
}

}  // namespace
}  // namespace regduel::oracles
