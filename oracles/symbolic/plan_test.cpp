// Two programs as steps: which locations operands are, where loops begin, and which programs the symbolic judge cannot follow.

#include "oracles/symbolic/plan.h"

#include <string>

#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicPlanTest, ThePlanCountsWhatItMust) {
  Pair p = diamond();
  p.kind = "device";
  p.before = edit(p.before, "#8 exit", "#8 ret");
  p.after = edit(edit(p.after, "#8 exit", "+30 R24 = copy R0\n    #8 ret"), "#7 use R0", "#7 use R0");
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_THAT(plan->num_preds, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(plan->is_loop_head, ElementsAre(0, 0, 0, 0));
  ASSERT_EQ(plan->saved.size(), 1u);
  EXPECT_EQ(ir::to_string(plan->saved[0].unit), "R24");
}

// b1 and b2 are one loop, entered at either; b3 is one by itself.
TEST(SymbolicPlanTest, EachCycleHasALoopHead) {
  const std::string body = R"(
  block b0
    #0 cbra %3 -> b1, b2
  block b1
    #1 bra -> b2
  block b2
    #2 cbra %3 -> b1, b3
  block b3
    #3 cbra %3 -> b3, b4
  block b4
    #4 exit
)";
  const Pair p = {kAndP, body,
                  edit(edit(edit(body, "cbra %3 -> b1, b2", "cbra P0 -> b1, b2"), "cbra %3 -> b1, b3", "cbra P0 -> b1, b3"),
                       "cbra %3 -> b3", "cbra P0 -> b3")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->is_loop_head[0] + plan->is_loop_head[4], 0);
  EXPECT_EQ(plan->is_loop_head[1] + plan->is_loop_head[2], 1) << "which one depends on the order";
  EXPECT_EQ(plan->is_loop_head[3], 1);
}

TEST(SymbolicPlanTest, PartsOfFixedAndTiedOperands) {
  const Pair half = {kPairVregs, side_by_side(R"(
  block b0
    #0 %0 = a                   | R4:R5 = a
    #1 %0.hi{=R4:R5} = b        | R4:R5.hi = b
    #2 use %0.hi{=R4:R5} !write | use R4:R5.hi !write
    #3 use %0 !write            | use R4:R5 !write
    #4 exit
)")};
  expect_pass(half);
  Pair quarter = half;
  for (std::string* text : {&quarter.before, &quarter.after})
    for (int k = 0; k < 2; ++k) text->replace(text->find(".hi"), 3, ".h1");
  expect_pass(quarter);
  // A tied def is where the use is fixed.
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a                      | R4 = a
    #1 %1{tied 1} = mad %0{=R4}, 7 | R5 = mad R5, 7
    #2 use %1 !write               | use R4 !write
    #3 exit
)")});
}

TEST(SymbolicPlanTest, DefsInOneTupleAreContested) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b128
  vreg %1..%2 R b32
  block b0
    #0 %1, %0, %2 = three | R0, R4:R7, R8 = three
    #1 use %2 !write      | use R8 !write
    #2 exit
)")};
  expect_pass(p);
  expect_category(with(with(p, "R4:R7, R8 =", "R4:R7, R6 ="), "use R8", "use R6"), kLost);
  // In any order.
  expect_pass(with(with(p, "R0, R4:R7, R8 =", "R9, R4:R7, R0 ="), "use R8", "use R0"));
  expect_category(with(with(p, "R0, R4:R7, R8 =", "R9, R4:R7, R4 ="), "use R8", "use R4"), kLost);
}

// Neither of two defs in one half is there afterwards, nor what was there before.
TEST(SymbolicPlanTest, DefsInOneHalfAreContested) {
  expect_category({side_by_side(R"(
  vreg %0 R b32
  block b0
    #0 %0 = a             | R2 = a
    #1 %0.h0, %0.h1 = two | R2.h1, R2.h1 = two
    #2 use %0.h1 !write   | use R2.h1 !write
    #3 exit
)")},
                  kLost);
  // What was there is lost to a copy of it too.
  expect_category({side_by_side(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a             | R2 = a
    #4 %1 = copy %0       | copy !deleted
    #1 %0.h0, %0.h1 = two | R2.h1, R2.h1 = two
    #2 use %1.h1 !write   | use R2.h1 !write
    #3 exit
)")},
                  kLost);
}

TEST(SymbolicPlanTest, PartsAreDefinedOneAfterTheOther) {
  const Pair p = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0.h0 = a                        | R0.h0 = a
    #1 %0.h1 = b                        | R0.h1 = b
    #2 %1 = c                           | R1 = c
    #3 %2.h0, %2.h1 = copy %0.h1, %1.h1 | R2.h0, R2.h1 = copy R0.h1, R1.h1
    #4 use %0, %1, %2 !write            | use R0, R1, R2 !write
    #5 exit
)")};
  expect_pass(p);
  expect_category(with(p, "copy R0.h1, R1.h1", "copy R0.h1, R1.h0"), kLost);
  expect_pass(
      with(with(p, "    #3 R2.h0, R2.h1 = copy R0.h1, R1.h1", "    +9 R3.h0 = copy R0.h1\n    #3 R2.h0, R2.h1 = copy R3.h0, R1.h1"),
           "use R0", "use R0"));
  EXPECT_EQ(judge(with(p, "#1 R0.h1 = b", "#1 R0.h0 = b")).verdict, Verdict::Fail);
  // A narrow vreg in the upper half of a register, whatever structure says of that.
  expect_pass({side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16
  block b0
    #0 %0.h0 = a     | R0.h0 = a
    #1 %1 = b        | R2.h1 = b
    #2 use %1 !write | use R2.h1 !write
    #3 exit
)")});
}

TEST(SymbolicPlanTest, APackIsAnInstructionLikeAnyOther) {
  const std::string vregs = kPairVregs + R"(
  vreg %3 R b32
  vreg %4 R b32
)";
  const Pair p = {vregs, side_by_side(R"(
  block b0
    #0 %1 = a                          | R0 = a
    #1 %2 = b                          | R1 = b
    +20                                | R9 = copy R0
    #2 %0{early} = pack %1, %2         | R2:R3 = pack R0, R1
    #3 %3, %4 = unpack %0 clobbers R20 | R4, R5 = unpack R2:R3 clobbers R20
    #4 use %3 !write                   | use R9 !write
    #5 use %1, %2 !write               | use R0, R1 !write
    #6 exit
)")};
  expect_pass(p);
  const JudgeResult swapped = judge(with(p, "pack R0, R1", "pack R1, R0"));
  ASSERT_FALSE(swapped.findings.empty());
  EXPECT_EQ(swapped.findings[0].inst, ir::InstId(2)) << describe(swapped);
  expect_category(with(with(with(p, "#2 R2:R3 =", "#2 R0:R1 ="), "unpack R2:R3", "unpack R0:R1"), "#5 use R0, R1", "#5 use R4, R5"),
                  kLost);
  expect_category(with(with(p, "+20 R9", "+20 R20"), "use R9", "use R20"), kLost);
  expect_category(with(with(with(p, "R4, R5 = unpack", "R4, R4 = unpack"), "+20 R9", "+20 R4"), "use R9", "use R4"), kLost);
}

TEST(SymbolicPlanTest, NonsenseIsSkippedWithAReason) {
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
  Pair copy = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a       | R0 = a
    #1 %1 = copy %0 | R1 = foo R0
    #2 exit
)")};
  expect_skipped(copy, "something else");
  Pair remat = repeated();
  remat.vregs = R"(
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 R b32
)";
  remat.after = edit(remat.after, "#0 R0 = a", "#0 R4:R5 = a");
  remat.after = edit(remat.after, "use R1, R0", "use R1, R4:R5");
  remat.after = edit(edit(remat.after, "#3 R0 = b", "#3 R4:R5 = b"), "#4 use R0", "#4 use R4:R5");
  expect_skipped(remat, "narrower");
  expect_skipped({kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #2 bra -> b3         | bra -> b4
  block b2
    #3 bra -> b3         | bra -> b4
  block b3
    #4 exit
  block b4 edge b1 -> b3
    +9                   | bra -> b3
)")},
                 "stands on two edges");
}

}  // namespace
}  // namespace regduel::oracles
