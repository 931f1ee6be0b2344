// memcheck on hand-made allocations with undefined reads and guards.

#include <string>

#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckTest, AReadThatNothingReachesIsAWildcard) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 use %1 !write | use R0 !write
    #2 use %0 !write | use R0 !write
    #3 exit
)")};
  expect_pass(p);
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const MemcheckDetails d = memcheck({b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)});
  EXPECT_EQ(d.total_mismatch, 1);
  EXPECT_EQ(d.mismatch_on_old, 1);
}

TEST(MemcheckTest, AFirstGuardedDefSharesItsRegisterWithWhatDiedBefore) {
  expect_pass({side_by_side(kThreeR + R"(
  vreg %3 P pred
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p %0         | P0 = p R0
    #2 @%3 %1 = b        | @P0 R0 = b
    #3 @%3 use %1 !write | @P0 use R0 !write
    #4 use %1 !write     | use R0 !write
    #5 exit
)")});
}

Pair guarded() {
  return {side_by_side(kThreeR + R"(
  vreg %3 P pred
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #2 %1 = b            | R1 = b
    #3 @%3 %0 = c        | @P0 R5 = c
    +21                  | @P0 spill R5, slot 0
    +22                  | R0 = refill slot 0
    #4 use %0, %1 !write | use R0, R1 !write
    #5 exit
)")};
}

TEST(MemcheckTest, AcceptsAStoreUnderTheGuardOfItsDef) {
  expect_pass(guarded());
  // R5 held something else before: only a path that the guards rule out sees that.
  Pair p = guarded();
  p.after = edit(p.after, "#2 R1 = b\n", "#2 R1 = b\n    +30 R5 = copy R1\n");
  expect_pass(p);
  // The predicate may have been spilled and refilled in between.
  p.after = edit(p.after, "    +21 @P0", "    +31 spill P0, slot 1\n    +32 P3 = refill slot 1\n    +21 @P3");
  expect_pass(p);
}

TEST(MemcheckTest, FindsAGuardedDefTakenForAKill) {
  Pair p = guarded();
  p.after = edit(p.after, "+21 @P0 spill", "+21 spill");
  expect_category(p, kRefillUninit);
}

TEST(MemcheckTest, FindsTheOldValueMissingUnderAGuardedDef) {
  Pair p = guarded();
  p.after = edit(p.after, R"(#3 @P0 R5 = c
    +21 @P0 spill R5, slot 0
    +22 R0 = refill slot 0
)",
                 "#3 @P0 R0 = c\n");
  expect_pass(p);
  p.after = edit(p.after, "#2 R1 = b\n", "#2 R1 = b\n    +30 R0 = copy R1\n");
  expect_category(p, kExtra);
}

// The pack is refilled on either side of its predicate, so that it holds nothing else, and what comes out of it is the guard of #2,
// each time that it is asked for.
TEST(MemcheckTest, AGuardOutOfAPackThatWasRefilledUnderGuards) {
  const Pair p = {side_by_side(R"(
  vreg %0 P pred
  vreg %1..%2 R b32
  block b0
    #0 %0 = p            | P0 = p
    #1 %1 = a            | R2 = a
    #2 @%0 %1 = b        | @P0 R1 = b
    +20                  | R9{inout} = bit_spill P0, 3
    +21                  | spill R9, slot 0
    #3 %2 = c            | R9 = c
    +22                  | @P0 R9.lo = refill slot 0
    +25                  | @P0 R9.hi = refill slot 0+2
    +23                  | @!P0 R9 = refill slot 0
    +24                  | P1 = bit_refill R9, 3
    #4 @%0 use %1 !write | @P1 use R1 !write
    #6 @%0 use %1 !write | @P1 use R1 !write
    #5 exit
)")};
  expect_pass(p);
  EXPECT_THAT(categories(judge(with(p, "    +23 @!P0 R9 = refill slot 0\n", ""))), ElementsAre(kUninit, kBitBase));
}

TEST(MemcheckTest, ChecksGuardsThemselves) {
  const Pair p = {side_by_side(kThreeR + R"(
  vreg %3..%4 P pred
  block b0
    #0 %3 = p             | P0 = p
    #1 %4 = q             | P1 = q
    #2 %0 = a             | R0 = a
    #6 %1 = b             | R1 = b
    #3 @%3 %1 = copy %0   | @P0 R1 = copy R0
    #4 @!%4 use %0 !write | @!P1 use R0 !write
    #7 use %1 !write      | use R1 !write
    #5 exit
)")};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = edit(p.after, "#4 @!P1", "#4 @!P0");
  expect_category(wrong, kExtra);
  wrong.after = edit(p.after, "#3 @P0", "#3 @P1");
  expect_category(wrong, kExtra);
  // A copy that nobody needs may have any guard: what it writes is not read, or only once it is overwritten, or it moves nothing.
  Pair dead = wrong;
  dead.before = edit(p.before, "#7 use %1", "#7 use %0");
  dead.after = edit(wrong.after, "#7 use R1", "#7 use R0");
  expect_pass(dead);
  Pair overwritten = wrong;
  overwritten.before = edit(p.before, "    #7 use %1", "    #8 %1 = c\n    #7 use %1");
  overwritten.after = edit(wrong.after, "    #7 use R1", "    #8 R1 = c\n    #7 use R1");
  expect_pass(overwritten);
  Pair identity = wrong;
  identity.before = edit(edit(p.before, "%1 = copy %0", "%0 = copy %0"), "#7 use %1", "#7 use %0");
  identity.after = edit(edit(wrong.after, "R1 = copy R0", "R0 = copy R0"), "#7 use R1", "#7 use R0");
  expect_pass(identity);
}

// Over edges, round a loop, into a phi: where a copy is read.
TEST(MemcheckTest, TheGuardOfACopyMattersWhereverTheCopyIsRead) {
  const std::string start = R"(
  block b0
    #0 %3 = p | P0 = p
    #1 %4 = q | P1 = q
    #2 %0 = a | R0 = a
    #6 %1 = b | R1 = b
    #7 bra -> b1
  block b1
)";
  const std::string vregs = kThreeR + R"(
  vreg %3 P pred
  vreg %4 P pred
)";
  const auto check = [&](const std::string& text) {
    const Pair p = {vregs, side_by_side(start + text)};
    expect_pass(p);
    expect_category({p.vregs, p.before, edit(p.after, "@P0 R1 = copy", "@P1 R1 = copy")}, kExtra);
  };
  check(R"(
    #8 use %1 !write     | use R1 !write
    #3 @%3 %1 = copy %0  | @P0 R1 = copy R0
    #9 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b2
    #10 exit
)");
  check(R"(
    #3 @%3 %1 = copy %0  | @P0 R1 = copy R0
    #9 cbra %4 -> b2, b3 | cbra P1 -> b2, b3
  block b2
    #10 exit
  block b3
    #11 use %1 !write    | use R1 !write
    #12 exit
)");
  check(R"(
    #3 @%3 %1 = copy %0 | @P0 R1 = copy R0
    #9 bra -> b2
  block b2
    #11 %2 = phi b1: %1 | phi !deleted
    #13 use %2 !write   | use R1 !write
    #12 exit
)");
}

TEST(MemcheckTest, TheGuardMayBeARedefinedPredicateOfALoop) {
  // Two definitions reach the guard; the garbage in R5 is never stored.
  expect_pass({side_by_side(kThreeR + R"(
  vreg %3 P pred
  block b0
    #0 %3 = p            | P0 = p
    +30                  | R5 = copy R9
    #1 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #2 bra -> b1
  block b1
    #3 @%3 %0 = c        | @P0 R5 = c
    +21                  | @P0 spill R5, slot 0
    +22                  | R0 = refill slot 0
    #4 use %0 !write     | use R0 !write
    #5 %3 = q %0         | P0 = q R0
    #6 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #7 exit
)")});
}

TEST(MemcheckTest, TheStoreMayStandInAnotherBlockThanItsDef) {
  // What R5 held before is stored on no path; the predicate is refilled anew for each guard, and others guard what is written
  // between.
  const Pair p = {side_by_side(kThreeR + R"(
  vreg %3..%4 P pred
  block b0
    #0 %3 = p            | P0 = p
    +20                  | spill P0, slot 1
    #1 %4 = q            | P1 = q
    #2 %0 = a            | R5 = a
    +21                  | spill R5, slot 0
    +30                  | R5 = copy R9
    +22                  | P0 = refill slot 1
    #3 @%3 %0 = c        | @P0 R5 = c
    #4 @%4 %1 = d        | @P1 R1 = d
    #5 bra -> b1
  block b1
    +23                  | P0 = refill slot 1
    +24                  | @P0 spill R5, slot 0
    +25                  | R5 = refill slot 0
    #6 use %0 !write     | use R5 !write
    #7 @%4 %0 = e        | @P1 R5 = e
    #8 use %0, %0 !write | use R5, R5 !write
    #9 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+24 @P0", "+24 @P1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+24 @P0", "+24 @!P0")).verdict, Verdict::Fail);
}

// After allocation an undefined guard may share its register with a defined one, at one read or at all of them.
TEST(Memcheck, AnUndefinedGuardIsNoKnownValue) {
  const std::string vregs = R"(
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 P pred
)";
  expect_pass({vregs, side_by_side(R"(
  block b0
    #0 %0 = a      | R0 = a
    #1 %1 = p      | P0 = p
    #2 @%1 %0 = b  | @P0 R0 = b
    #3 @!%2 %0 = c | @!P0 R0 = c
    #4 use %0      | use R0
    #5 exit
)")});
  expect_pass({vregs, side_by_side(R"(
  block b0
    #0 %0 = a     | R0 = a
    #1 @%1 %0 = b | @P0 R0 = b
    #2 %2 = p     | P0 = p
    #3 @%1 %0 = c | @P0 R0 = c
    #4 use %0     | use R0
    #5 exit
)")});
  // Nothing of what it guards is asked for: R1 is refilled where the guard of #1 does not hold, and #2 happens to go by that.
  const Pair refilled = {side_by_side(vregs + R"(
  vreg %3 R b32
  block b0
    #0 %1 = p             | P0 = p
    #1 @%1 %0 = a         | @P0 R0 = a
    +4                    | spill R0, slot 0
    +5                    | R0 = copy R1
    +6                    | @!P0 R0 = refill slot 0
    #2 @!%2 use %0 !write | @!P0 use R0 !write
    #3 exit
)")};
  expect_pass(refilled);
  // Where it is undefined on one way only, that does not excuse a value that is lost on the other.
  const Pair one_way = {vregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #6 %2 = q            | P1 = q
    #7 cbra %2 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #8 %1 = p            | P0 = p
    #9 bra -> b2
  block b2
    #1 @%1 %0 = b        | @P0 R0 = b
    #4 use %0            | use R0
    #5 exit
)")};
  expect_pass(one_way);
  expect_category({one_way.vregs, one_way.before, edit(one_way.after, "@P0 R0 = b", "@P0 R1 = b")}, kGone);
}

}  // namespace
}  // namespace regduel::oracles
