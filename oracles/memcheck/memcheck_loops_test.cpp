// memcheck on hand-made allocations with joins, loops and phis.

#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

Pair loop_with_spill() {
  return {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #1 %1 = b            | R0 = b
    +21                  | spill R0, slot 1
    #2 bra -> b1
  block b1
    +22                  | R1 = refill slot 1
    +23                  | R0 = refill slot 0
    #3 %1 = add %1, %0   | R1 = add R1, R0
    +24                  | spill R1, slot 1
    #4 %2 = cmp %1       | P0 = cmp R1
    #5 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    +25                  | R0 = refill slot 1
    +26                  | R1 = refill slot 0
    #6 use %0, %1 !write | use R1, R0 !write
    #7 exit
)")};
}

TEST(MemcheckTest, AcceptsSpillsInLoops) { expect_pass(loop_with_spill()); }

TEST(MemcheckTest, FindsADefThatDisappears) {
  Pair p = loop_with_spill();
  p.after = edit(p.after, "    +24 spill R1, slot 1\n", "");
  // In the loop the first value is still right once; after it, never.
  EXPECT_THAT(categories(judge(p)), ElementsAre(kSpillRefill, kGone));
}

Pair diamond() {
  return {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = a            | R0 = a
    #1 %2 = p            | P0 = p
    +20                  | spill R0, slot 0
    #2 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %1 = b            | R0 = b
    #4 use %1 !write     | use R0 !write
    +21                  | R0 = refill slot 0
    #5 bra -> b3
  block b2
    #6 bra -> b3
  block b3
    #7 use %0 !write     | use R0 !write
    #8 exit
)")};
}

TEST(MemcheckTest, FindsARefillMissingOnOnePath) {
  expect_pass(diamond());
  Pair p = diamond();
  p.after = edit(p.after, "    +21 R0 = refill slot 0\n", "");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, FindsAStoreMissingOnOnePath) {
  Pair p = diamond();
  p.after = edit(p.after, "    +20 spill R0, slot 0\n", "");
  p.after = edit(p.after, "    +21 R0 = refill slot 0\n", "");
  p.after = edit(p.after, "    #3 R0 = b\n", "    #3 R1 = b\n");
  p.after = edit(p.after, "    #4 use R0 !write\n", "    #4 use R1 !write\n    +21 spill R0, slot 0\n");
  p.after = edit(p.after, "    #7 use R0", "    +22 R0 = refill slot 0\n    #7 use R0");
  expect_category(p, kRefillUninit);
}

TEST(MemcheckTest, PhisBecomeCopiesOnEdges) {
  Pair p = {side_by_side(kThreeR + R"(
  vreg %3 P pred
  block b0
    #0 %0 = a                  | R0 = a
    #1 %1 = b                  | R1 = b
    #2 bra -> b1
  block b1
    #3 %2 = phi b0: %0, b1: %1 | phi !deleted
    #4 %1 = phi b0: %1, b1: %2 | phi !deleted
    #5 %3 = p %2               | P0 = p R0
    #6 cbra %3 -> b1, b2       | cbra P0 -> b3, b2
  block b2
    #7 use %2, %1 !write       | use R0, R1 !write
    #8 exit
  block b3 edge b1 -> b1
    +20                        | R0, R1 = copy R1, R0
    +21                        | bra -> b1
)")};
  expect_pass(p);
  expect_category(with(p, "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0"), kGone);
}

// Each word of a pair has a phi of its own.
TEST(MemcheckTest, PhisOfPairsBecomeCopiesOfPairs) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b64
  vreg %1 P pred
  vreg %2 R b64
  block b0
    #0 %0 = a                  | R0:R1 = a
    #1 %1 = p                  | P0 = p
    #2 cbra %1 -> b1, b2       | cbra P0 -> b1, b2
  block b1
    #3 %0 = b                  | R0:R1 = b
    #4 bra -> b2
  block b2
    #5 %2 = phi b0: %0, b1: %0 | phi !deleted
    #6 use %2.hi !write        | use R0:R1.hi !write
    #7 exit
)")};
  expect_pass(p);
  EXPECT_EQ(testing::judge_pair(memcheck_judge(), {p.vregs, p.before, edit(p.after, "R0:R1.hi", "R0:R1.lo")}).verdict,
            Verdict::Fail);
}

TEST(MemcheckTest, AKeptPhiReadsAtTheEndOfItsPredecessors) {
  Pair p = {side_by_side(kThreeR + R"(
  vreg %3 P pred
  block b0
    #0 %3 = p                  | P0 = p
    #1 cbra %3 -> b1, b2       | cbra P0 -> b1, b2
  block b1
    #2 %0 = a                  | R3 = a
    #3 bra -> b3               | bra -> b4
  block b2
    #4 %1 = b                  | R3 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1 | R3 = phi b1: R3, b2: R3
    #7 use %2 !write           | use R3 !write
    #8 exit
  block b4 edge b1 -> b3
    +20                        | bra -> b3
)")};
  expect_pass(p);
  p.after = edit(p.after, "#4 R3 = b", "#4 R4 = b");
  expect_category(p, kUninit);
}

TEST(MemcheckTest, UnreachableBlocksDoNotCount) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 bra -> b2
  block b1
    #2 %0 = b        | R1 = b
    #3 use %1 !write | use R0 !write
    #4 bra -> b2
  block b2
    #5 use %0 !write | use R0 !write
    #6 exit
)")});
}

}  // namespace
}  // namespace regduel::oracles
