// The meet of the symbolic judge and its fixed point, against hand-made allocations: the smallest programs with joins, loops and
// phis that it must accept and that it must reject, with the category.
#include "oracles/symbolic/join.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using testing::diamond;
using testing::expect_category;
using testing::expect_pass;
using testing::judge;
using testing::kAndP;
using testing::kLost;
using testing::kThreeR;
using testing::kWrong;
using testing::Pair;
using testing::with;

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
  const std::string before = R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 %3 = p
    #3 cbra %3 -> b1, b2
  block b1
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 use %0, %1 !write
    #7 exit
)";
  const Pair p = {kAndP, before, R"(
  block b0
    #0 R0 = a
    #1 copy !deleted
    #2 P0 = p
    #3 cbra P0 -> b1, b2
  block b1
    +9 R1 = copy R0
    #4 bra -> b3
  block b2
    +8 R1 = copy R0
    #5 bra -> b3
  block b3
    #6 use R1, R0 !write
    #7 exit
)"};
  expect_pass(p);
  expect_category(with(p, "    +8 R1 = copy R0\n", ""), kLost);
}

TEST(SymbolicJoinTest, ALoopVisitAfterTheFirstCounts) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 use %0, %1 !write
    #4 %1 = c %1
    #5 %3 = p
    #6 cbra %3 -> b1, b2
  block b2
    #7 exit
)",
                  R"(
  block b0
    #0 R0 = a
    +20 spill R0, slot 0
    #1 R1 = b
    #2 bra -> b1
  block b1
    +21 R0 = refill slot 0
    #3 use R0, R1 !write
    #4 R1 = c R1
    #5 P0 = p
    #6 cbra P0 -> b1, b2
  block b2
    #7 exit
)"};
  expect_pass(p);
  // Right on the first visit only: the value of the visit before.
  expect_category(with(p, "#4 R1 = c R1", "#4 R2 = c R1"), kLost);
  expect_category(with(with(p, "    #5 P0", "    +22 R0 = copy R1\n    #5 P0"), "    +21 R0 = refill slot 0\n", ""), kLost);
  // A def of this visit is not that of the last one.
  const Pair stale = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 %1 = copy %0
    #3 %0 = b
    #4 use %1, %0 !write
    #5 %3 = p
    #6 cbra %3 -> b1, b2
  block b2
    #7 exit
)",
                      R"(
  block b0
    #0 R0 = a
    #1 bra -> b1
  block b1
    #2 R1 = copy R0
    #3 R0 = b
    #4 use R1, R0 !write
    #5 P0 = p
    #6 cbra P0 -> b1, b2
  block b2
    #7 exit
)"};
  expect_pass(stale);
  EXPECT_EQ(judge(with(stale, "use R1, R0", "use R0, R1")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, EqualNamesFallApartInALoop) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 bra -> b1
  block b1
    #3 use %0, %1 !write
    #4 %1 = c
    #5 %3 = p
    #6 cbra %3 -> b1, b2
  block b2
    #7 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = copy R0
    #2 bra -> b1
  block b1
    #3 use R0, R1 !write
    #4 R1 = c
    #5 P0 = p
    #6 cbra P0 -> b1, b2
  block b2
    #7 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R1"), kWrong);
  expect_category(with(p, "use R0, R1", "use R0, R0"), kWrong);
}

TEST(SymbolicJoinTest, IrreducibleLoopsSettle) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 cbra %3 -> b1, b2
  block b1
    #3 use %0 !write
    #4 cbra %3 -> b2, b3
  block b2
    #5 use %0 !write
    #6 bra -> b1
  block b3
    #7 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    +20 spill R0, slot 0
    #2 cbra P0 -> b1, b2
  block b1
    +21 R1 = refill slot 0
    #3 use R1 !write
    #4 cbra P0 -> b2, b3
  block b2
    #5 use R0 !write
    #6 bra -> b1
  block b3
    #7 exit
)"};
  expect_pass(p);
  expect_category(with(p, "+21 R1 = refill slot 0\n    #3 use R1", "+21 R0 = refill slot 1\n    #3 use R0"), kLost);
}

Pair swapping_phis() {
  return {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 %2 = phi b0: %0, b1: %1
    #4 %1 = phi b0: %1, b1: %2
    #5 %3 = p %2
    #6 cbra %3 -> b1, b2
  block b2
    #7 use %2, %1 !write
    #8 exit
)",
          R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 bra -> b1
  block b1
    #3 phi !deleted
    #4 phi !deleted
    #5 P0 = p R0
    #6 cbra P0 -> b3, b2
  block b2
    #7 use R0, R1 !write
    #8 exit
  block b3 edge b1 -> b1
    +20 R0, R1 = copy R1, R0
    +21 bra -> b1
)"};
}

TEST(SymbolicJoinTest, PhisRenameInParallelOnTheirEdge) {
  expect_pass(swapping_phis());
  EXPECT_EQ(judge(with(swapping_phis(), "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0")).verdict,
            Verdict::Fail);
  EXPECT_EQ(judge(with(swapping_phis(), "    +20 R0, R1 = copy R1, R0\n", "")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(with(swapping_phis(), "#0 R0 = a", "#0 R1 = a"), "#1 R1 = b", "#1 R0 = b")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, AKeptPhiMovesAfterTheEdgeBlock) {
  const Pair p = {kAndP, R"(
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
    #7 use %2 !write
    #8 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R4 = a
    #3 bra -> b4
  block b2
    #4 R3 = b
    #5 bra -> b3
  block b3
    #6 R3 = phi b1: R3, b2: R3
    #7 use R3 !write
    #8 exit
  block b4 edge b1 -> b3
    +20 R3 = copy R4
    +21 bra -> b3
)"};
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
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %3 = p
    #3 cbra %3 -> b1, b2
  block b1
    #4 %1 = phi b0: %0
    #5 use %1 !write
    #6 exit
  block b2
    #7 use %1 !write
    #8 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 P0 = p
    #3 cbra P0 -> b1, b2
  block b1
    #4 R1 = phi b0: R0
    #5 use R1 !write
    #6 exit
  block b2
    #7 use R1 !write
    #8 exit
)"};
  expect_pass(p);
  expect_pass(with(with(p, "#4 R1 = phi b0: R0", "#4 phi !deleted"), "#5 use R1", "#5 use R0"));
  // What the phi reads comes from farther away.
  expect_pass({kAndP, R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 bra -> b2
  block b2
    #3 %1 = phi b1: %0
    #4 use %1 !write
    #5 exit
)",
               R"(
  block b0
    #0 R0 = a
    #1 bra -> b1
  block b1
    #2 bra -> b2
  block b2
    #3 R1 = phi b1: R0
    #4 use R1 !write
    #5 exit
)"});
}

TEST(SymbolicJoinTest, BlocksAreLookedAtEachByItself) {
  // Whichever is walked first leaves in a register what the other misses there.
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 cbra %3 -> b1, b2
  block b1
    #3 use %0 !write
    #4 exit
  block b2
    #5 use %0 !write
    #6 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    #2 cbra P0 -> b1, b2
  block b1
    #3 use R5 !write
    +20 R7 = copy R0
    #4 exit
  block b2
    #5 use R7 !write
    +21 R5 = copy R0
    #6 exit
)"};
  EXPECT_EQ(judge(p).findings.size(), 2u);
  // Nor is what one has defined defined in the other.
  expect_pass({kAndP, R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = a
    #3 use %0, %1 !write
    #4 exit
  block b2
    #5 %1 = b
    #6 use %0, %1 !write
    #7 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R0 = a
    #3 use R0, R5 !write
    #4 exit
  block b2
    #5 R1 = b
    #6 use R6, R1 !write
    #7 exit
)"});
}

// With %9 as the predicate that decides.
std::string up_to_nine(std::string vregs) {
  for (auto k = std::count(vregs.begin(), vregs.end(), '%'); k < 9; ++k) vregs += fmt::format("  vreg %{} R b32\n", k);
  return vregs + "  vreg %9 P pred\n";
}

// A block, a join after it, and what stands there.
Pair joined(std::string vregs, const std::string& before, const std::string& use, const std::string& after,
            const std::string& have) {
  return {up_to_nine(std::move(vregs)), "  block b0\n" + before + R"(
    #90 %9 = p
    #91 cbra %9 -> b1, b2
  block b1
    #92 bra -> b2
  block b2
    #93 use )" + use + " !write\n    #94 exit\n",
          "  block b0\n" + after + R"(
    #90 P6 = p
    #91 cbra P6 -> b1, b2
  block b1
    #92 bra -> b2
  block b2
)" + have};
}

TEST(SymbolicJoinTest, WordsAndTheirPiecesGoOverJoinsTogether) {
  // A half of %0 is a half of %1, which goes over the join as a whole; either may be read in the other's register.
  const std::string before = R"(
    #0 %1 = a
    #1 %2 = b
    #2 %0.h0 = copy %1.h0
    #3 %0.h1 = copy %2.h0
)";
  const std::string after = R"(
    #0 R1 = a
    #1 R2 = b
    #2 R0.h0 = copy R1.h0
    #3 R0.h1 = copy R2.h0
)";
  const Pair p =
      joined(kThreeR, before, "%1.h0, %2.h0, %0, %1, %2", after, "    #93 use R0.h0, R0.h1, R0, R1, R2 !write\n    #94 exit\n");
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "use R0.h0, R0.h1", "use R0.h1, R0.h0")).verdict, Verdict::Fail);
  // Both halves of %0 are one and the same.
  const Pair twice = joined(kThreeR, R"(
    #0 %1 = a
    #1 %0.h0 = copy %1.h0
    #2 %0.h1 = copy %1.h0
)",
                            "%0.h0, %0.h1, %0", R"(
    #0 R1 = a
    #1 R0.h0 = copy R1.h0
    #2 R0.h1 = copy R1.h0
    +20 R3.h0 = copy R0.h1
)",
                            "    #93 use R3.h0, R3.h0, R0 !write\n    #94 exit\n");
  expect_pass(twice);
  // A narrow name, and the word that it is the lower half of.
  const Pair narrow =
      joined(R"(
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b16
)",
             "    #0 %0 = a\n    #1 %1, %2 = unpack %0\n", "%1, %2, %0", "    #0 R0 = a\n    #1 R1, R2 = unpack R0\n",
             R"(
    +20 R3.h0 = copy R0.h0
    +21 R4.h0 = copy R0.h1
    #93 use R3, R4, R0 !write
    #94 exit
)");
  expect_pass(narrow);
  expect_category(with(narrow, "R4.h0 = copy R0.h1", "R4.h0 = copy R0.h0"), kWrong);
}

TEST(SymbolicJoinTest, AWordThatWasPutTogetherIsOneAtALoopHead) {
  const Pair p = joined(kThreeR, R"(
    #0 %1 = a
    #1 %0.h0 = copy %1.h0
    #2 %0.h1 = b
)",
                        "%0", R"(
    #0 R1 = a
    #1 R0.h0 = copy R1.h0
    #2 R0.h1 = b
)",
                        "    #93 use R0 !write\n    #94 exit\n");
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  symbolic::State state(*plan);
  for (const symbolic::Step& s : plan->steps_of(0)) state.transfer(s, nullptr);
  symbolic::Joiner joiner(*plan);
  for (const bool is_loop_head : {false, true}) {
    plan->is_loop_head[2] = is_loop_head ? 1 : 0;
    symbolic::Entry entry;
    ASSERT_TRUE(joiner.flow_into(entry, 2, state));
    EXPECT_FALSE(joiner.flow_into(entry, 2, state));
    ASSERT_EQ(entry.names.size(), 1u);
    ASSERT_EQ(entry.locations.size(), 1u);
    EXPECT_EQ(plan->values[entry.names[0]].kind, is_loop_head ? ValueKind::Merged : ValueKind::Word);
    EXPECT_EQ(entry.locations[0].value, entry.names[0]);
  }
}

TEST(SymbolicJoinTest, ManyNamesGoOverAJoin) {
  std::string vregs, before, after, want, have;
  for (int k = 0; k < 200; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    before += fmt::format("    #{} %{} = a\n", k, k);
    after += fmt::format("    #{} R{} = a\n", k, k);
    want += fmt::format("    #{} use %{} !write\n", 400 + k, k);
    have += fmt::format("    #{} use R{} !write\n", 400 + k, k);
  }
  vregs += "  vreg %200 P pred\n";
  const Pair p = {vregs, "  block b0\n" + before + R"(
    #300 %200 = p
    #301 cbra %200 -> b1, b2
  block b1
    #302 bra -> b2
  block b2
)" + want + "    #800 exit\n",
                  "  block b0\n" + after + R"(
    #300 P0 = p
    #301 cbra P0 -> b1, b2
  block b1
    #302 bra -> b2
  block b2
)" + have + "    #800 exit\n"};
  expect_pass(p);
  expect_category(with(p, "use R7 ", "use R8 "), kWrong);
}

TEST(SymbolicJoinTest, GuardedDefsSurviveJoins) {
  const std::string vregs = R"(
  vreg %0 R b8
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 P pred
)";
  const Pair p = {vregs, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 %0 = b
    #3 cbra %3 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    #5 use %0 !write
    #6 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 @P0 R0 = b
    +9 spill R0.b0, slot 0
    #3 cbra P0 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    +8 R1.b0 = refill slot 0
    #5 use R1 !write
    #6 exit
)"};
  expect_pass(p);
  expect_category(with(p, "    #4 bra", "    +7 spill R9, slot 0\n    #4 bra"), kLost);
}

// A branch in between that changes neither the predicate nor what it chose.
const std::string kDiamond = R"(
    #20 cbra %4 -> b1, b2
  block b1
    #21 bra -> b3
  block b2
    #22 bra -> b3
  block b3
)";
const std::string kDiamondAfter = R"(
    #20 cbra P1 -> b1, b2
  block b1
    #21 bra -> b3
  block b2
    #22 bra -> b3
  block b3
)";

TEST(SymbolicJoinTest, AStoreUnderTheGuardOfItsDefMayStandBehindAJoin) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #3 @%3 %0 = b
)" + kDiamond + "    #4 use %0 !write\n    #5 exit\n",
                  R"(
  block b0
    #0 R0 = a
    +30 spill R0, slot 0
    #1 P0 = p
    #2 P1 = q
    #3 @P0 R5 = b
)" + kDiamondAfter + R"(
    +31 @P0 spill R5, slot 0
    +32 R0 = refill slot 0
    #4 use R0 !write
    #5 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 P0 = copy P1\n    #21 bra")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 R5 = copy R0\n    #21 bra")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, ARefillUnderAGuardServesAUseUnderItBehindAJoin) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #6 %1 = c
)" + kDiamond + R"(
    #4 @%3 use %0 !write
    #7 use %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 R0 = a
    +30 spill R0, slot 0
    #1 P0 = p
    #2 P1 = q
    #6 R0 = c
    +34 R1 = copy R0
    +31 @P0 R0 = refill slot 0
)" + kDiamondAfter + R"(
    #4 @P0 use R0 !write
    #7 use R1 !write
    #5 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 R0 = copy R1\n    #21 bra")).verdict, Verdict::Fail);
}

// The predicate is none of the program's names any more.
TEST(SymbolicJoinTest, ACalleeSavedRegisterIsSavedUnderAGuardAroundAJoin) {
  Pair p = {kAndP, R"(
  block b0
    #1 %3 = p
    #2 %4 = q
    #3 @%3 %0 = b
    #4 @%3 use %0 !write
)" + kDiamond + "    #5 ret\n",
            R"(
  block b0
    #1 P0 = p
    #2 P1 = q
    +30 @P0 spill R24, slot 0
    #3 @P0 R24 = b
    #4 @P0 use R24 !write
)" + kDiamondAfter +
                "    +31 @P0 R24 = refill slot 0\n    #5 ret\n"};
  p.kind = "device";
  expect_pass(p);
  expect_category(with(p, "+31 @P0", "+31 @!P0"), "callee-saved");
  expect_category(with(p, "+30 @P0", "+30 @!P0"), "callee-saved");
}

// The value is in two places, in each where the predicate says so, while one side of a join has it in one.
TEST(SymbolicJoinTest, AValueInTwoPlacesGoesOverJoins) {
  const Pair in_a_loop = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #3 @%3 %0 = b
    #4 bra -> b1
  block b1
    #5 use %0 !write
    #6 cbra %4 -> b1, b2
  block b2
    #7 exit
)",
                          R"(
  block b0
    #0 R0 = a
    +30 spill R0, slot 0
    #1 P0 = p
    #2 P1 = q
    #3 @P0 R5 = b
    #4 bra -> b1
  block b1
    +31 @P0 spill R5, slot 0
    +32 R0 = refill slot 0
    #5 use R0 !write
    #6 cbra P1 -> b1, b2
  block b2
    #7 exit
)"};
  expect_pass(in_a_loop);
  expect_category(with(in_a_loop, "+31 @P0", "+31 @!P0"), kLost);
  expect_category(with(in_a_loop, "+31 @P0", "+31 @P1"), kLost);
  // The predicate is elsewhere: in another register, in a pack.
  expect_pass(with(with(in_a_loop, "#4 bra", "+33 P3 = copy P0\n    +34 P0 = copy P1\n    #4 bra"), "+31 @P0", "+31 @P3"));
  const Pair packed = with(with(in_a_loop, "#4 bra", "+33 R9{inout} = bit_spill P0, 17\n    +34 P0 = copy P1\n    #4 bra"),
                           "+31 @P0", "+35 P4 = bit_refill R9, 17\n    +31 @P4");
  expect_pass(packed);
  expect_category(with(packed, "bit_refill R9, 17", "bit_refill R9, 16"), kLost);
  // It is defined under a guard itself.
  Pair guarded = with(in_a_loop, "#2 P1 = q\n", "#2 P1 = q\n    #8 @P1 P0 = r\n");
  guarded.before = testing::edit(in_a_loop.before, "#2 %4 = q\n", "#2 %4 = q\n    #8 @%4 %3 = r\n");
  expect_pass(guarded);
  // One arm has put the value together.
  const Pair in_one_arm = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #3 @%3 %0 = b
)" + kDiamond + "    #4 use %0 !write\n    #5 exit\n",
                           R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    #2 P1 = q
    #3 @P0 R5 = b
)" + kDiamondAfter + R"(
    +31 @P0 R0 = copy R5
    #4 use R0 !write
    #5 exit
)"};
  expect_pass(with(in_one_arm, "#21 bra", "+30 @P0 R0 = copy R5\n    #21 bra"));
  expect_pass(with(in_one_arm, "#22 bra", "+30 @P0 R0 = copy R5\n    #22 bra"));
  expect_category(with(in_one_arm, "#22 bra", "+30 @!P0 R0 = copy R5\n    #22 bra"), kLost);
  // Behind a loop a register gets back what it had at entry.
  Pair saved = {kAndP, R"(
  block b0
    #1 %3 = p
    #9 bra -> b1
  block b1
    #2 %4 = q
    #0 @%3 %0 = a
    #3 @%3 use %0 !write
    #6 cbra %4 -> b1, b2
  block b2
    #7 ret
)",
                R"(
  block b0
    +30 spill R24, slot 0
    #1 P0 = p
    #9 bra -> b1
  block b1
    #2 P1 = q
    #0 @P0 R24 = a
    #3 @P0 use R24 !write
    #6 cbra P1 -> b1, b2
  block b2
    +31 @P0 R24 = refill slot 0
    #7 ret
)"};
  saved.kind = "device";
  expect_pass(saved);
  expect_category(with(saved, "+31 @P0", "+31 @!P0"), "callee-saved");
  // Of two callee-saved registers one is all right.
  Pair one_lost =
      with(with(saved, "+30 spill", "+40 spill R25, slot 2\n    +30 spill"), "+31 @P0", "+41 R25 = copy R9\n    +31 @P0");
  EXPECT_EQ(judge(one_lost).findings.size(), 1u);
}

// The same where the program before does not define it on all paths.
TEST(SymbolicJoinTest, ANameThatIsUndefinedOnOnePathMayBeInTwoPlaces) {
  const Pair p = {kAndP, R"(
  block b0
    #1 %3 = p
    #2 %4 = q
    #23 cbra %4 -> b4, b5
  block b1
    #5 use %0 !write
    #6 cbra %4 -> b1, b2
  block b2
    #7 exit
  block b3
    #3 @%3 %0 = b
    #26 bra -> b1
  block b4
    #0 %0 = a
    #24 bra -> b3
  block b5
    #25 bra -> b3
)",
                  R"(
  block b0
    #1 P0 = p
    #2 P1 = q
    #23 cbra P1 -> b4, b5
  block b1
    +31 @P0 spill R5, slot 0
    +32 R0 = refill slot 0
    #5 use R0 !write
    #6 cbra P1 -> b1, b2
  block b2
    #7 exit
  block b3
    #3 @P0 R5 = b
    #26 bra -> b1
  block b4
    #0 R0 = a
    +30 spill R0, slot 0
    #24 bra -> b3
  block b5
    #25 bra -> b3
)"};
  expect_pass(p);
  expect_category(with(p, "+31 @P0", "+31 @!P0"), kLost);
  expect_category(with(p, "    +30 spill R0, slot 0\n", ""), kLost);
}

// What is undefined but for guarded defs, the same round after round.
TEST(SymbolicJoinTest, GuardedDefsOfALoopUnderOneGuard) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 @%3 %0 = a
    #2 bra -> b1
  block b1
    #3 @%3 %0 = b
    #4 @!%3 use %0 !write
    #6 @%3 use %0 !write
    #5 bra -> b1
)",
                  R"(
  block b0
    #0 P0 = p
    #1 @P0 R0 = a
    #2 bra -> b1
  block b1
    #3 @P0 R0 = b
    #4 @!P0 use R0 !write
    #6 @P0 use R0 !write
    #5 bra -> b1
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#6 @P0 use R0", "#6 @P0 use R1")).verdict, Verdict::Fail);
}

// The predicate is undefined on one way to the join: there, nothing is asked for, and elsewhere it is what it is.
TEST(SymbolicJoinTest, APredicateThatIsUndefinedOnOneWayIsStillOneThing) {
  const std::string begin = R"(
  block b0
    #0 %0 = a
    #9 %1 = c
    #1 %4 = q
    #2 cbra %4 -> b1, b2
  block b1
    #3 %3 = p
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
)";
  const std::string begin_after = R"(
  block b0
    #0 R0 = a
    +30 spill R0, slot 0
    #9 R0 = c
    #1 P1 = q
    #2 cbra P1 -> b1, b2
  block b1
    #3 P0 = p
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
)";
  const Pair refill = {kAndP, begin + "    #6 @%3 use %0, %1 !write\n    #8 exit\n", begin_after + R"(
    +31 @P0 R1 = refill slot 0
    #6 @P0 use R1, R0 !write
    #8 exit
)"};
  expect_pass(refill);
  EXPECT_EQ(judge(with(refill, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(refill, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  const Pair store = {kAndP, begin + R"(
    #6 @%3 %0 = b
    #7 use %0, %1 !write
    #8 exit
)",
                      begin_after + R"(
    #6 @P0 R1 = b
    +31 @P0 spill R1, slot 0
    +32 R1 = refill slot 0
    #7 use R1, R0 !write
    #8 exit
)"};
  expect_pass(store);
  EXPECT_EQ(judge(with(store, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  // Two registers with what the program before asks for are not the same thing where it asks for nothing.
  const Pair two = with(with(refill, "#3 P0 = p", "#3 P0 = p\n    +33 P2 = copy P0"), "+31 @P0", "+31 @P2");
  EXPECT_NE(judge(two).verdict, Verdict::Inconclusive);
}

// A piece that is undefined under the guard of the pack.
TEST(SymbolicJoinTest, WhatIsUndefinedUnderAGuardStaysSo) {
  expect_pass({R"(
  vreg %0 P pred
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b128
)",
               R"(
  block b0
    #0 %0 = p
    #1 @!%0 %1 = a
    #2 %2 = b
    #3 bra -> b1
  block b1
    #4 @%0 %3 = pack %2, %1, %2, %2
    #5 cbra %0 -> b1, b2
  block b2
    #6 use %3 !write
    #7 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 @!P0 R1 = a
    #2 R2 = b
    #3 bra -> b1
  block b1
    #4 @P0 R4:R7 = pack R2, R1, R2, R2
    #5 cbra P0 -> b1, b2
  block b2
    #6 use R4:R7 !write
    #7 exit
)"});
}

// %1 and %2 change places under the guard of the only def, so where that was not executed both are undefined: what %1 may be chosen
// from goes by the token that it is chosen by.
TEST(SymbolicJoinTest, WhatIsSwappedWithSomethingUndefinedUnderAGuard) {
  expect_pass({R"(
  vreg %0 P pred
  vreg %1 R b32
  vreg %2 R b32
)",
               R"(
  block b0
    #0 %0 = op
    #1 st.sink %1
    #2 @%0 %1 = op
    #3 bra -> b1
  block b1
    #4 @%0 %2, %1 = copy %1, %2
    #5 cbra %0 -> b0, b1
)",
               R"(
  block b0
    #0 P0 = op
    #1 st.sink R1
    #2 @P0 R1 = op
    #3 bra -> b1
  block b1
    #4 @P0 R0, R1 = copy R1, R0
    #5 cbra P0 -> b0, b1
)"});
}

// Predicates that change round the loop: which one a value goes by must not change for ever.
TEST(SymbolicJoinTest, GatesOfALoopSettle) {
  const auto lines = [](bool before) {
    std::string text = R"(
  block b0
    #0 %0, %1, %2 = op
    #1 @%1 %0 = op
    #2 %1 = op
    #3 @%1 %0, %2 = op
    #4 mbra %0 -> b1, b2
  block b1
    #5 bra -> b2
  block b2
    #6 %1 = op
    #7 @!%1 %2 = op
    #8 bra -> b3
  block b3
    #9 %1 = op
    #10 @%1 %2 = op %0
    #11 %1 = op
    #12 @%1 %2 = op %2
    #13 bra -> b4
  block b4
    #14 %1 = op
    #15 cbra %1 -> b4, b5
  block b5
    #16 @%1 %0 = op
    #17 bra -> b3
)";
    for (std::size_t at; !before && (at = text.find('%')) != std::string::npos;)
      text.replace(at, 2, text[at + 1] == '1' ? "P0" : text[at + 1] == '0' ? "R0" : "R2");
    return text;
  };
  expect_pass({R"(
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 R b32
)",
               lines(true), lines(false)});
}

// A name that nothing satisfies on one way is one that nothing satisfies: once round the loop and again.
TEST(SymbolicJoinTest, ANameThatNothingSatisfiesStaysSo) {
  expect_pass({R"(
  vreg %0 P pred
  vreg %1 R u32
  vreg %2 R f256
  vreg %3 R s128
  vreg %4 R b128
)",
               R"(
  block b0
    #8 %0 = p
    #33 @!%0 %2 = pack %3, %4
    #34 %4.w3 = insert %1
    #11 cbra %0 -> b3, b2
  block b1
    #54 %2 = copy %2
    #6 ret
  block b2
    #12 bra -> b4
  block b3
    #13 mbra %1 -> b1, b0, b1
  block b4
    #14 cbra %0 -> b4, b0
)",
               R"(
  block b0
    #8 P0 = p
    #33 @!P0 R0:R7 = pack R8:R11, R20:R23
    #34 R20:R23.w3 = insert R38
    #11 cbra P0 -> b3, b2
  block b1
    #54 copy !deleted
    #6 ret
  block b2
    #12 bra -> b4
  block b3
    #13 mbra R38 -> b1, b0, b1
  block b4
    #14 cbra P0 -> b4, b0
)"});
}

TEST(SymbolicJoinTest, TheOrderOfGuardsDoesNotMatter) {
  // One byte is redefined under another guard; in between the value goes through a slot byte by byte.
  const Pair p = {R"(
  vreg %0 R b32
  vreg %1 P pred
  vreg %2 P pred
)",
                  R"(
  block b0
    #0 %1 = p
    #1 %2 = q
    #2 %0 = a
    #3 @%2 %0 = b
    #4 @%1 %0 = c
    #5 @%2 %0.b3 = d
    #6 cbra %1 -> b1, b2
  block b1
    #7 bra -> b2
  block b2
    #8 use %0 !write
    #9 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R0 = a
    #3 @P1 R0 = b
    #4 @P0 R0 = c
    +20 spill R0.h0, slot 0
    +21 spill R0.b2, slot 0 + 2
    #5 @P1 R0.b3 = d
    +22 spill R0.b3, slot 0 + 3
    #6 cbra P0 -> b1, b2
  block b1
    #7 bra -> b2
  block b2
    +23 R1 = refill slot 0
    #8 use R1 !write
    #9 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +22 spill R0.b3, slot 0 + 3\n", "")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, PacksGoOverJoins) {
  const std::string vregs = R"(
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
)";
  const Pair p = {vregs, R"(
  block b0
    #0 %0 = p
    #1 %2 = q
    #2 cbra %2 -> b1, b2
  block b1
    #3 %1 = r
    #4 bra -> b3
  block b2
    #5 %1 = s
    #6 bra -> b3
  block b3
    #7 use %0, %1 !write
    #8 exit
)",
                  R"(
  block b0
    #0 P0 = p
    +20 R9{inout} = p2r P0
    #1 P0 = q
    #2 cbra P0 -> b1, b2
  block b1
    #3 P1 = r
    +21 R9{inout} = bit_spill P1, 5
    #4 bra -> b3
  block b2
    #5 P0 = s
    +22 R9{inout} = bit_spill P0, 5
    #6 bra -> b3
  block b3
    +23 P0 = r2p R9
    +24 P2 = bit_refill R9, 5
    #7 use P0, P2 !write
    #8 exit
)"};
  expect_pass(p);
  expect_category(with(p, "    +22 R9{inout} = bit_spill P0, 5\n", ""), kLost);
}

TEST(SymbolicJoinTest, APackThatIsWrittenUnderAGuardGoesOverJoins) {
  // An inserted p2r under a guard makes each byte of the pack a choice between two packs, which are met bit by bit like any other.
  const Pair p = {R"(
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
)",
                  R"(
  block b0
    #0 %0 = p
    #1 %1 = q
    #2 %2 = r
    #3 cbra %2 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    #5 use %0 !write
    #6 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 P2 = r
    +20 R9{inout} = p2r P0
    +21 @P2 R9{inout} = p2r P1
    #3 cbra P2 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    +22 P3 = r2p R9
    +23 P0 = bit_refill R9, 0
    #5 use P0 !write
    #6 exit
)"};
  expect_pass(p);
  expect_category(with(p, "bit_refill R9, 0", "bit_refill R9, 1"), kLost);
  expect_category(with(p, "+21 @P2 R9{inout} = p2r P1", "+21 @P2 R9{inout} = bit_spill P1, 0"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// Not defined on all paths

TEST(SymbolicJoinTest, APathWithoutADefinitionAsksForNothing) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %1 = c
    #2 cbra %3 -> b1, b2
  block b1
    #3 %0 = a
    #4 bra -> b3
  block b2
    #5 use %1 !write
    #6 bra -> b3
  block b3
    #7 use %0 !write
    #8 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = c
    #2 cbra P0 -> b1, b2
  block b1
    #3 R1 = a
    +9 R0 = copy R1
    #4 bra -> b3
  block b2
    #5 use R0 !write
    #6 bra -> b3
  block b3
    #7 use R0 !write
    #8 exit
)"};
  expect_pass(p);  // R0 holds something else on the other path, and R1 nothing
  expect_pass(with(p, "#7 use R0", "#7 use R1"));
  expect_category(with(p, "    +9 R0 = copy R1\n", ""), kWrong);
}

// %0 is defined on one path only.
Pair on_one_path(std::string vregs, const std::string& def, const std::string& use, const std::string& after_def,
                 const std::string& other, const std::string& have) {
  return {up_to_nine(std::move(vregs)), R"(
  block b0
    #80 %9 = p
    #81 cbra %9 -> b1, b2
  block b1
)" + def + R"(
    #82 bra -> b3
  block b2
    #83 bra -> b3
)" + R"(
  block b3
    #84 cbra %9 -> b4, b5
  block b4
    #85 bra -> b5
  block b5
    #86 use )" + use + " !write\n    #87 exit\n",
          R"(
  block b0
    #80 P6 = p
    #81 cbra P6 -> b1, b2
  block b1
)" + after_def +
              "    #82 bra -> b3\n  block b2\n" + other + R"(
    #83 bra -> b3
  block b3
    #84 cbra P6 -> b4, b5
  block b4
    #85 bra -> b5
  block b5
)" + have + "    #87 exit\n"};
}

TEST(SymbolicJoinTest, PiecesOfWhatIsDefinedOnOnePathOnly) {
  const Pair p = on_one_path(kThreeR, "    #0 %0 = a\n", "%0.h0, %0", "    #0 R0 = a\n    +20 spill R0.h0, slot 0\n",
                             "    +21 spill P6, slot 0\n", "    +22 R4.h0 = refill slot 0\n    #86 use R4.h0, R0 !write\n");
  expect_pass(p);
  expect_category(with(p, "R4.h0 = refill slot 0\n", "R4.h0 = refill slot 0 + 2\n"), kLost);
  // A predicate in a pack.
  const Pair pack =
      on_one_path("  vreg %0 P pred\n", "    #0 %0 = a\n", "%0", "    #0 P1 = a\n    +20 R9{inout} = bit_spill P1, 3\n", "",
                  "    +22 P2 = bit_refill R9, 3\n    #86 use P2 !write\n");
  expect_pass(pack);
  expect_category(with(pack, "bit_refill R9, 3", "bit_refill R9, 4"), kLost);
  // A constant that is nowhere at the joins.
  for (const std::string cls : {"R b32", "P pred", "R b64"}) {
    const std::string at = cls == "R b32" ? "R0" : cls == "P pred" ? "P1" : "R0:R1";
    const Pair constant =
        on_one_path("  vreg %0 " + cls + "\n", "    #0 %0 = const 1 !remat\n", "%0", "    #0 const !remat !deleted\n", "",
                    "    +22 " + at + " = remat #0 1\n    #86 use " + at + " !write\n");
    expect_pass(constant);
    EXPECT_EQ(judge(with(constant, "    +22 " + at + " = remat #0 1\n", "")).verdict, Verdict::Fail);
  }
}

TEST(SymbolicJoinTest, AConstantHalfCanStillBeRepeated) {
  const Pair p = on_one_path(kThreeR, "    #0 %0 = const 1 !remat\n    #1 %0.h1 = a\n", "%0",
                             "    #0 const !remat !deleted\n    #1 R0.h1 = a\n", "", R"(
    +22 R5 = remat #0 1
    +23 R0.h0 = copy R5.h0
    #86 use R0 !write
)");
  expect_pass(p);
  expect_category(with(p, "    +23 R0.h0 = copy R5.h0\n", ""), kLost);
}

TEST(SymbolicJoinTest, WhatOneJoinHasSeenIsNothingToTheNext) {
  // %0 is undefined on one side of both joins; its register is there in the first only.
  const Pair p = on_one_path("  vreg %0 R b32\n", "    #0 %0 = a\n", "%0", "    #0 R0 = a\n", "", "    #86 use R0 !write\n");
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  symbolic::Joiner joiner(*plan);
  const auto name_after_joining = [&](bool in_a_register) {
    symbolic::State undefined(*plan), defined(*plan);
    for (const symbolic::Step& s : plan->steps_of(1)) defined.transfer(s, nullptr);
    if (!in_a_register) {
      for (const std::uint32_t l : plan->live_locations[3]) defined.locations.set(l, kJunk);
    }
    symbolic::Entry entry;
    EXPECT_TRUE(joiner.flow_into(entry, 3, undefined));
    EXPECT_TRUE(joiner.flow_into(entry, 3, defined));
    for (const Value v : entry.names)
      if (v != kAny) return plan->values[v].kind;
    return ValueKind::Any;
  };
  EXPECT_EQ(name_after_joining(true), ValueKind::OneOf);
  EXPECT_EQ(name_after_joining(false), ValueKind::Opaque);
}

TEST(SymbolicJoinTest, HalvesOfAWordThatIsDefinedOnOnePathOnly) {
  // %1 and %2 are the halves of %0, side by side in a slot: all of it again, under a name that is gone.
  const Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b16
  vreg %3 P pred
)",
                  R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = a
    #3 %1, %2 = unpack %0
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 use %2 !write
    #7 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R0 = a
    #3 R1, R2 = unpack R0
    +20 spill R1.h0, slot 0
    +21 spill R2.h0, slot 0 + 2
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    +22 R4.h0 = refill slot 0 + 2
    #6 use R4 !write
    #7 exit
)"};
  expect_pass(p);
  expect_category(with(p, "R4.h0 = refill slot 0 + 2", "R4.h0 = refill slot 0"), kLost);
  expect_pass(with(p, "    #4 bra", "    +23 R0, R1, R2 = copy R9, R9, R9\n    #4 bra"));  // in the slot alone
}

TEST(SymbolicJoinTest, WhatIsDefinedOnOnePathOnlySharesAWordOfTheFrame) {
  // A narrow value and a predicate in one word of the frame, each undefined on one path, over two joins.
  Pair p = {R"(
  vreg %0 R b8
  vreg %1 P pred
  vreg %2 P pred
)",
            R"(
  block b0
    #0 %2 = p
    #1 cbra %2 -> b1, b2
  block b1
    #2 %0 = a
    #3 %1 = b
    #4 bra -> b2
  block b2
    #5 cbra %2 -> b3, b4
  block b3
    #6 bra -> b4
  block b4
    #7 use %0, %1 !write
    #8 exit
)",
            R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R0 = a
    #3 P1 = b
    +20 spill R0.b0, slot 0
    +21 spill P1, slot 0 + 3
    #4 bra -> b2
  block b2
    #5 cbra P0 -> b3, b4
  block b3
    #6 bra -> b4
  block b4
    +22 R4.b0 = refill slot 0
    +23 P3 = refill slot 0 + 3
    #7 use R4, P3 !write
    #8 exit
)"};
  expect_pass(p);
  expect_category(with(p, "P3 = refill slot 0 + 3", "P3 = refill slot 0 + 2"), kLost);
  expect_category(with(p, "R4.b0 = refill slot 0\n", "R4.b0 = refill slot 0 + 1\n"), kLost);
}

TEST(SymbolicJoinTest, AConstantThatIsDefinedOnOnePathOnlyCanStillBeRepeated) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = const 5 !remat
    #3 %1 = a
    #4 bra -> b3
  block b2
    #5 %1 = b
    #6 bra -> b3
  block b3
    #7 use %0, %1 !write
    #8 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 const !remat !deleted
    #3 R1 = a
    #4 bra -> b3
  block b2
    #5 R1 = b
    #6 bra -> b3
  block b3
    +9 R0 = remat #2 5
    #7 use R0, R1 !write
    #8 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +9 R0 = remat #2 5\n", "")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, APredicateThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 cbra %3 -> b1, b2
  block b1
    #3 %4 = setp %0 !remat
    #4 bra -> b2
  block b2
    #5 bra -> b3
  block b3
    #6 use %4, %0 !write
    #7 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 cbra P0 -> b1, b2
  block b1
    #3 P1 = setp R0 !remat
    #4 bra -> b2
  block b2
    #5 bra -> b3
  block b3
    #6 use P1, R0 !write
    #7 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use P1", "use P0"), kWrong);
  expect_pass(with(with(p, "P1 = setp R0 !remat", "setp !remat !deleted"), "    #6 use", "    +9 P1 = remat #3 R0\n    #6 use"));
}

// A constant that a loop reads as a guard, over a join inside: what it is there on the other path is one thing from then on.
TEST(SymbolicJoinTest, AConstantGuardThatIsDefinedOnOnePathOnlyIsReadInALoop) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %1 = a
    #2 cbra %3 -> b1, b2
  block b1
    #3 %4 = const 1 !remat
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 @%4 %0 = ld %1
    #7 cbra %3 -> b4, b5
  block b4
    #8 bra -> b5
  block b5
    #9 cbra %3 -> b3, b6
  block b6
    #10 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R1 = a
    #2 cbra P0 -> b1, b2
  block b1
    #3 P6 = const 1 !remat
    +20 P6 = remat #3 1
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 @P6 R0 = ld R1
    #7 cbra P0 -> b4, b5
  block b4
    #8 bra -> b5
  block b5
    #9 cbra P0 -> b3, b6
  block b6
    #10 exit
)"};
  expect_pass(p);
  expect_category(with(p, "@P6", "@P5"), kLost);
}

TEST(SymbolicJoinTest, AGuardThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %4 = p
    #3 cbra %4 -> b1, b2
  block b1
    #4 %3 = q
    #5 bra -> b2
  block b2
    #6 @%3 %0 = copy %1
    #7 use %0 !write
    #8 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 P0 = p
    #3 cbra P0 -> b1, b2
  block b1
    #4 P1 = q
    #5 bra -> b2
  block b2
    #6 @P1 R0 = copy R1
    #7 use R0 !write
    #8 exit
)"};
  expect_pass(p);
  expect_category(with(p, "#7 use R0", "#7 use R5"), kLost);
}

TEST(SymbolicJoinTest, APartThatIsUndefinedAsksForNothing) {
  const Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
)",
                  R"(
  block b0
    #0 %1 = a
    #1 %0.h1 = b
    #2 %2 = p
    #3 cbra %2 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    #5 use %0, %1 !write
    #6 exit
)",
                  R"(
  block b0
    #0 R1 = a
    #1 R0.h1 = b
    #2 P0 = p
    #3 cbra P0 -> b1, b2
  block b1
    +9 R0.h0 = copy R1.h0
    #4 bra -> b2
  block b2
    #5 use R0, R1 !write
    #6 exit
)"};
  expect_pass(p);
  expect_category(with(p, "+9 R0.h0 = copy R1.h0", "+9 R0.h1 = copy R1.h0"), kLost);
}

// What is live at the join of a diamond: ten names, one of them narrow, a pair, two predicates, and a register for each.
Pair ten_names() {
  const std::string start = "  block b0\n", fork = "cbra ";
  std::string vregs, before, after, names, registers;
  for (int k = 0; k < 10; ++k) {
    vregs += fmt::format("  vreg %{} {}\n", k,
                         k == 8   ? "P pred"
                         : k == 9 ? "P pred"
                         : k == 7 ? "R b16"
                         : k == 6 ? "R b64"
                                  : "R b32");
    const std::string name = fmt::format("%{}", k), at = k >= 8   ? fmt::format("P{}", k - 8)
                                                         : k == 6 ? "R8:R9"
                                                                  : fmt::format("R{}", k);
    before += fmt::format("    #{} {} = a\n", k, name);
    after += fmt::format("    #{} {} = a\n", k, at);
    names += (k == 0 ? "" : ", ") + name;
    registers += (k == 0 ? "" : ", ") + at;
  }
  const std::string sides = R"( -> b1, b2
  block b1
    #11 bra -> b3
  block b2
    #12 bra -> b3
  block b3
    #13 use )";
  const std::string end = " !write\n    #14 exit\n";
  return {vregs, start + before + "    #10 cbra %8" + sides + names + end,
          start + after + "    #10 cbra P0" + sides + registers + end};
}

// A plan of these, with numbers of its own; what lives at the join, predicates and the others.
struct TenNames {
  static constexpr std::uint32_t kBlock = 3;
  const Pair pair = ten_names();
  const ir::Function before = testing::parse_function(pair.before_text()), after = testing::parse_function(pair.after_text());
  symbolic::Plan plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)}).value();
  Values& values = plan.values;
  std::vector<std::uint32_t> names, predicate_names, locations, predicates;

  TenNames() {
    for (const std::uint32_t n : plan.live_names[kBlock])
      (plan.bytes_of_name[n] == symbolic::kOneByte ? predicate_names : names).push_back(n);
    for (const std::uint32_t l : plan.live_locations[kBlock]) (plan.is_byte_location[l] != 0 ? predicates : locations).push_back(l);
  }
};

// Numbers of which names and locations are made, each width by itself.
struct Pool {
  std::vector<Value> words, bytes;
};
Pool some_values(Values& v, Random& random, bool with_guards) {
  const Value word = v.add_leaves(ValueKind::Def, 0, 3), constant = v.add_leaves(ValueKind::Constant, 1, 2),
              byte = v.add_leaves(ValueKind::Def, 2, 3);
  Pool pool = {{word, word + 1, word + 2, constant, constant + 1}, {byte, byte + 1, byte + 2}};
  for (int k = 0; k < 2; ++k) {
    std::array<Value, 4> bytes{};
    for (std::uint32_t i = 0; i < 4; ++i) bytes[i] = v.byte(pool.words[random.below(5)], random.chance(80) ? i : random.below(4));
    pool.words.push_back(v.word(bytes));
  }
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = v.bit(v.byte(word, 0), k);
  bits[2] = byte;
  pool.words.push_back(v.word({v.packed(bits), v.byte(word, 1), v.byte(word, 2), v.byte(word, 3)}));
  pool.bytes.push_back(v.bit(v.byte(word, 0), 5));
  if (with_guards) {
    pool.words.push_back(v.gate(byte, word, random.chance(50) ? kAny : word + 1));
    pool.bytes.push_back(v.gate(byte + 1, byte, byte + 2));
  }
  return pool;
}

// join(l) satisfies join(n) exactly where l satisfies n on both sides. Under guards it may be too entangled to see.
TEST(SymbolicJoinTest, ALocationHoldsANameWhereItDidOnBothSides) {
  constexpr int kTokens = 8;
  constexpr std::uint32_t kBlock = TenNames::kBlock;
  int num_held = 0, num_lost = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const bool with_guards = seed % 4 == 0;
    TenNames all;
    symbolic::Plan& plan = all.plan;
    Values& values = all.values;
    const auto names = plan.live_names[kBlock], locations = plan.live_locations[kBlock];
    ASSERT_EQ(names.size(), 11u);
    ASSERT_EQ(locations.size(), 11u);
    const Pool pool = some_values(values, random, with_guards);
    const auto draw = [&](bool is_byte, Value otherwise) {
      const std::vector<Value>& from = is_byte ? pool.bytes : pool.words;
      return random.chance(20) ? otherwise : from[random.below(static_cast<std::uint32_t>(from.size()))];
    };
    plan.is_loop_head[kBlock] = seed % 5 < 2 ? 1 : 0;
    symbolic::Joiner joiner(plan, seed % 3 == 0 ? kTokens : 0);
    symbolic::State state(plan), before_it(plan), after_it(plan);
    symbolic::Entry entry;
    for (int visit = 0; visit < 4; ++visit) {
      state.clear();
      for (const std::uint32_t n : names) state.names.set(n, draw(plan.bytes_of_name[n] == symbolic::kOneByte, kAny));
      for (const std::uint32_t l : locations) state.locations.set(l, draw(plan.is_byte_location[l] != 0, kJunk));
      before_it.clear();
      after_it.clear();
      if (entry.is_reached) joiner.load(entry, kBlock, before_it);
      const bool is_first = !entry.is_reached;
      const symbolic::Entry old = entry;
      const bool has_changed = joiner.flow_into(entry, kBlock, state);
      EXPECT_EQ(has_changed, !entry.holds_the_same(old));
      joiner.load(entry, kBlock, after_it);
      for (const std::uint32_t n : names) {
        const bool was_loose = !is_first && values.is_loose(before_it.names[n]);
        ASSERT_TRUE(was_loose || values.is_loose(state.names[n]) || !values.is_loose(after_it.names[n]));
      }
      for (const std::uint32_t n : names)
        for (const std::uint32_t l : locations) {
          const unsigned bytes = plan.bytes_of_name[n];
          if ((bytes == symbolic::kOneByte) != (plan.is_byte_location[l] != 0)) continue;
          const auto holds = [&](const symbolic::State& s) {
            return values.satisfies_bytes(s.locations[l], s.names[n], bytes == symbolic::kOneByte ? 0xF : bytes);
          };
          const bool expected = holds(state) && (is_first || holds(before_it)), found = holds(after_it);
          ASSERT_TRUE(expected || !found) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
          if (!with_guards) {
            ASSERT_EQ(expected, found) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
          }
          ++(expected ? num_held : num_lost);
        }
    }
  }
  EXPECT_GT(num_held, 5000);
  EXPECT_GT(num_lost, 5000);
}

// The same under each outcome of two predicates that are what they were, of a value that is a choice on one side too. Where the two
// are one on a side, that side has no outcome in which they differ. There something may be lost, but nothing is made up.
TEST(SymbolicJoinTest, ALocationHoldsANameUnderAnOutcomeWhereItDidOnBothSides) {
  constexpr std::uint32_t kBlock = TenNames::kBlock;
  int num_held = 0, num_lost = 0, num_held_in_part = 0, num_held_apart = 0, num_lost_apart = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const bool may_be_one = seed % 3 == 0;
    Random random(seed);
    TenNames all;
    symbolic::Plan& plan = all.plan;
    Values& values = all.values;
    const std::vector<std::uint32_t>&names = all.names, &predicate_names = all.predicate_names, &locations = all.locations,
          &predicates = all.predicates;
    ASSERT_EQ(predicates.size(), 2u);
    const Value leaf = values.add_leaves(ValueKind::Def, 0, 4), first_own = values.add_leaves(ValueKind::Def, 1, 2);
    const bool is_loop_head = seed % 2 == 0;
    plan.is_loop_head[kBlock] = is_loop_head ? 1 : 0;
    symbolic::Joiner joiner(plan, 8);
    symbolic::State state(plan), left(plan), joined(plan);
    symbolic::Entry entry;
    for (int visit = 0; visit < 4; ++visit) {
      left.clear();
      if (entry.is_reached) joiner.load(entry, kBlock, left);
      // As they are at the head of the block, where control comes back to it, or as the first way has them; or as one beside it.
      std::array<Value, 2> tokens{};
      const Value own = visit == 0 ? first_own : values.add_leaves(ValueKind::Def, 1, 2);
      const auto same = [&](std::uint32_t k) { return is_loop_head ? left.locations[predicates[k]] : first_own + k; };
      for (std::uint32_t k = 0; k < 2; ++k) tokens[k] = visit > 0 && random.chance(50) ? same(k) : own + k;
      if (may_be_one && random.chance(50)) tokens[1] = tokens[0];
      const auto draw = [&](Value otherwise) -> Value {
        const auto any = [&] { return random.chance(20) ? otherwise : leaf + random.below(4); };
        const Value x = any(), y = any();
        return random.chance(50) ? values.gate(tokens[random.below(2)], x, y) : x;
      };
      state.clear();
      for (std::uint32_t k = 0; k < 2; ++k) {
        if (random.chance(50)) state.names.set(predicate_names[k], tokens[k]);
        state.locations.set(predicates[k], tokens[k]);
      }
      for (const std::uint32_t n : names) state.names.set(n, draw(kAny));
      for (const std::uint32_t l : locations) state.locations.set(l, draw(kJunk));
      const bool is_first = !entry.is_reached;
      (void)joiner.flow_into(entry, kBlock, state);
      joined.clear();
      joiner.load(entry, kBlock, joined);
      if (is_first) continue;
      for (const std::uint32_t n : names)
        for (const std::uint32_t l : locations) {
          int num_outcomes = 0;
          for (unsigned outcome = 0; outcome < 4; ++outcome) {
            const bool differ = outcome == 1 || outcome == 2;
            const auto are_one = [&](const symbolic::State& s) { return s.locations[predicates[0]] == s.locations[predicates[1]]; };
            if (differ && are_one(left) && are_one(state)) continue;
            const auto holds = [&](const symbolic::State& s) {
              if (differ && are_one(s)) return true;
              Value have = s.locations[l], want = s.names[n];
              for (std::uint32_t k = 0; k < 2; ++k) {
                have = values.where(have, s.locations[predicates[k]], (outcome >> k & 1) != 0);
                want = values.where(want, s.locations[predicates[k]], (outcome >> k & 1) != 0);
              }
              return values.satisfies_bytes(have, want, plan.bytes_of_name[n]);
            };
            const bool expected = holds(left) && holds(state);
            if (are_one(left) || are_one(state)) {
              ASSERT_TRUE(expected || !holds(joined))
                  << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
              if (expected) ++(holds(joined) ? num_held_apart : num_lost_apart);
              continue;
            }
            ASSERT_EQ(holds(joined), expected) << "seed " << seed << " visit " << visit << " name " << n << " location " << l;
            ++(expected ? num_held : num_lost);
            num_outcomes += expected ? 1 : 0;
          }
          num_held_in_part += num_outcomes == 1 || num_outcomes == 2 ? 1 : 0;
        }
    }
  }
  EXPECT_GT(num_held, 5000);
  EXPECT_GT(num_lost, 5000);
  EXPECT_GT(num_held_in_part, 1000);
  EXPECT_GT(num_held_apart, num_lost_apart);
}

class JoinByTokens : public ::testing::Test, protected TenNames {
 protected:
  const Value leaf = values.add_leaves(ValueKind::Def, 0, 4), tokens = values.add_leaves(ValueKind::Def, 1, 2);
};

// A choice that a location alone holds lives on, by a predicate that no name asks for.
TEST_F(JoinByTokens, AChoiceOfALocationLivesOn) {
  symbolic::Joiner joiner(plan);
  symbolic::State state(plan), joined(plan);
  state.names.set(names[0], leaf);
  state.locations.set(predicates[1], tokens);
  state.locations.set(locations[0], values.gate(tokens, leaf, leaf + 1));
  for (const bool is_loop_head : {false, true}) {
    plan.is_loop_head[kBlock] = is_loop_head ? 1 : 0;
    symbolic::Entry entry;
    (void)joiner.flow_into(entry, kBlock, state);
    (void)joiner.flow_into(entry, kBlock, state);
    joined.clear();
    joiner.load(entry, kBlock, joined);
    const Value held = values.where(joined.locations[locations[0]], joined.locations[predicates[1]], true);
    EXPECT_TRUE(values.satisfies(held, joined.names[names[0]]));
  }
}

TEST_F(JoinByTokens, SoManyAreTakenOverAllVisits) {
  symbolic::Joiner joiner(plan, 1);
  symbolic::State state(plan), joined(plan);
  symbolic::Entry entry;
  const auto flow = [&](std::uint32_t predicate, std::uint32_t word) {
    joined.clear();
    if (entry.is_reached) joiner.load(entry, kBlock, joined);
    state.clear();
    for (std::uint32_t k = 0; k < 2; ++k)
      state.locations.set(predicates[k], entry.is_reached ? joined.locations[predicates[k]] : tokens + k);
    const auto value = [&](std::uint32_t at, Value first) { return entry.is_reached ? at : first; };
    state.names.set(names[0], value(joined.names[names[0]], leaf));
    for (std::uint32_t w = 0; w < 3; ++w) state.locations.set(locations[w], value(joined.locations[locations[w]], leaf));
    if (entry.is_reached) {
      const Value choice = values.gate(state.locations[predicates[predicate]], kJunk, state.locations[locations[word]]);
      state.locations.set(locations[word], choice);
    }
    return joiner.flow_into(entry, kBlock, state);
  };
  EXPECT_TRUE(flow(0, 0));
  EXPECT_EQ(entry.num_tokens, 0);
  EXPECT_TRUE(flow(0, 0));
  joined.clear();
  joiner.load(entry, kBlock, joined);
  const Value token = joined.locations[predicates[0]];
  EXPECT_EQ(entry.tokens, std::vector{token});
  EXPECT_EQ(entry.num_tokens, 1);
  EXPECT_EQ(values.token_of(joined.locations[locations[0]]), token);
  // No other one is; this one still is.
  EXPECT_TRUE(flow(1, 1));
  EXPECT_EQ(entry.tokens, std::vector{token});
  EXPECT_EQ(entry.num_tokens, 1);
  joined.clear();
  joiner.load(entry, kBlock, joined);
  EXPECT_EQ(joined.locations[locations[1]], kJunk);
  EXPECT_TRUE(flow(0, 2));
  EXPECT_EQ(entry.tokens, std::vector{token});
  // The first way into another block begins anew.
  symbolic::Entry other;
  EXPECT_TRUE(joiner.flow_into(other, kBlock, state));
  EXPECT_TRUE(other.tokens.empty());
  EXPECT_EQ(other.num_tokens, 0);
}

}  // namespace
}  // namespace regduel::oracles
