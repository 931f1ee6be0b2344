// The meet of the symbolic judge and its fixed point, against hand-made allocations: the smallest programs with joins, loops and
// phis that it must accept and that it must reject, with the category.

#include "oracles/symbolic/join.h"

#include <string>

#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicJoinTest, TheMeetIsOverAllPaths) {
  expect_pass(diamond());
  expect_category(with(diamond(), "    +21 R0 = refill slot 0\n", ""), kLost);
  // It is an intersection, not the state of either side: R0 and the slot hold it on one side each.
  Pair p = with(diamond(), "    +21 R0 = refill slot 0\n", "");
  p = with(p, "  block b2\n", R"(
  block b2
    +22 R1 = copy R0
    +23 spill R1, slot 1
)");
  expect_category(with(p, "    #7 use R0", "    +24 R0 = refill slot 1\n    #7 use R0"), kLost);
  expect_pass(with(p, "    #7 use R0", "    +24 R0 = refill slot 0\n    #7 use R0"));
}

TEST(SymbolicJoinTest, EqualNamesStayEqualOverJoins) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = copy %0      | copy !deleted
    #2 %3 = p            | P0 = p
    #3 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +9                   | R1 = copy R0
    #4 bra -> b3
  block b2
    +8                   | R1 = copy R0
    #5 bra -> b3
  block b3
    #6 use %0, %1 !write | use R1, R0 !write
    #7 exit
)")};
  expect_pass(p);
  expect_category(with(p, "    +8 R1 = copy R0\n", ""), kLost);
}

TEST(SymbolicJoinTest, ALoopVisitAfterTheFirstCounts) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #1 %1 = b            | R1 = b
    #2 bra -> b1
  block b1
    +21                  | R0 = refill slot 0
    #3 use %0, %1 !write | use R0, R1 !write
    #4 %1 = c %1         | R1 = c R1
    #5 %3 = p            | P0 = p
    #6 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #7 exit
)")};
  expect_pass(p);
  // Right on the first visit only: the value of the visit before.
  expect_category(with(p, "#4 R1 = c R1", "#4 R2 = c R1"), kLost);
  expect_category(with(with(p, "    #5 P0", "    +22 R0 = copy R1\n    #5 P0"), "    +21 R0 = refill slot 0\n", ""), kLost);
  // A def of this visit is not that of the last one.
  const Pair stale = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 bra -> b1
  block b1
    #2 %1 = copy %0      | R1 = copy R0
    #3 %0 = b            | R0 = b
    #4 use %1, %0 !write | use R1, R0 !write
    #5 %3 = p            | P0 = p
    #6 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #7 exit
)")};
  expect_pass(stale);
  EXPECT_EQ(judge(with(stale, "use R1, R0", "use R0, R1")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, EqualNamesFallApartInALoop) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = copy %0      | R1 = copy R0
    #2 bra -> b1
  block b1
    #3 use %0, %1 !write | use R0, R1 !write
    #4 %1 = c            | R1 = c
    #5 %3 = p            | P0 = p
    #6 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #7 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R1"), kWrong);
  expect_category(with(p, "use R0, R1", "use R0, R0"), kWrong);
}

TEST(SymbolicJoinTest, IrreducibleLoopsSettle) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p            | P0 = p
    +20                  | spill R0, slot 0
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +21                  | R1 = refill slot 0
    #3 use %0 !write     | use R1 !write
    #4 cbra %3 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #5 use %0 !write     | use R0 !write
    #6 bra -> b1
  block b3
    #7 exit
)")};
  expect_pass(p);
  expect_category(with(p, "+21 R1 = refill slot 0\n    #3 use R1", "+21 R0 = refill slot 1\n    #3 use R0"), kLost);
}

Pair swapping_phis() {
  return {kAndP, side_by_side(R"(
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
}

TEST(SymbolicJoinTest, PhisRenameInParallelOnTheirEdge) {
  expect_pass(swapping_phis());
  EXPECT_EQ(judge(with(swapping_phis(), "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0")).verdict,
            Verdict::Fail);
  EXPECT_EQ(judge(with(swapping_phis(), "    +20 R0, R1 = copy R1, R0\n", "")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(with(swapping_phis(), "#0 R0 = a", "#0 R1 = a"), "#1 R1 = b", "#1 R0 = b")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, AKeptPhiMovesAfterTheEdgeBlock) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p                  | P0 = p
    #1 cbra %3 -> b1, b2       | cbra P0 -> b1, b2
  block b1
    #2 %0 = a                  | R4 = a
    #3 bra -> b3               | bra -> b4
  block b2
    #4 %1 = b                  | R3 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1 | R3 = phi b1: R3, b2: R3
    #7 use %2 !write           | use R3 !write
    #8 exit
  block b4 edge b1 -> b3
    +20                        | R3 = copy R4
    +21                        | bra -> b3
)")};
  expect_pass(p);
  expect_category(with(p, "    +20 R3 = copy R4\n", ""), kLost);
  // Two homes: it is executed as the copy that it is.
  expect_pass(with(with(p, "b2: R3", "b2: R5"), "#4 R3 = b", "#4 R5 = b"));
  expect_category(with(p, "b2: R3", "b2: R5"), kLost);
  // Behind an edge block too, which it names by the block before that or by itself.
  const Pair beyond = with(with(p, "phi b1: R3", "phi b1: R5"), "R3 = copy R4", "R5 = copy R4");
  expect_pass(beyond);
  expect_pass(with(beyond, "phi b1: R5", "phi b4: R5"));
}

TEST(SymbolicJoinTest, APhiCountsOnItsOwnEdgeOnly) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    #2 %3 = p            | P0 = p
    #3 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #4 %1 = phi b0: %0   | R1 = phi b0: R0
    #5 use %1 !write     | use R1 !write
    #6 exit
  block b2
    #7 use %1 !write     | use R1 !write
    #8 exit
)")};
  expect_pass(p);
  expect_pass(with(with(p, "#4 R1 = phi b0: R0", "#4 phi !deleted"), "#5 use R1", "#5 use R0"));
  // What the phi reads comes from farther away.
  expect_pass({kAndP, side_by_side(R"(
  block b0
    #0 %0 = a          | R0 = a
    #1 bra -> b1
  block b1
    #2 bra -> b2
  block b2
    #3 %1 = phi b1: %0 | R1 = phi b1: R0
    #4 use %1 !write   | use R1 !write
    #5 exit
)")});
}

TEST(SymbolicJoinTest, BlocksAreLookedAtEachByItself) {
  // Whichever is walked first leaves in a register what the other misses there.
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p            | P0 = p
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 use %0 !write     | use R5 !write
    +20                  | R7 = copy R0
    #4 exit
  block b2
    #5 use %0 !write     | use R7 !write
    +21                  | R5 = copy R0
    #6 exit
)")};
  EXPECT_EQ(judge(p).findings.size(), 2u);
  // Nor is what one has defined defined in the other.
  expect_pass({kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #2 %0 = a            | R0 = a
    #3 use %0, %1 !write | use R0, R5 !write
    #4 exit
  block b2
    #5 %1 = b            | R1 = b
    #6 use %0, %1 !write | use R6, R1 !write
    #7 exit
)")});
}

}  // namespace
}  // namespace regduel::oracles
