// Joins of names that are not defined on all paths, on hand-made allocations.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "oracles/symbolic/join.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicJoinTest, APathWithoutADefinitionAsksForNothing) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %1 = c            | R0 = c
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %0 = a            | R1 = a
    +9                   | R0 = copy R1
    #4 bra -> b3
  block b2
    #5 use %1 !write     | use R0 !write
    #6 bra -> b3
  block b3
    #7 use %0 !write     | use R0 !write
    #8 exit
)")};
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
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  ASSERT_TRUE(plan) << plan.error();
  symbolic::Joiner joiner(*plan);
  const auto name_after_joining = [&](bool in_a_register) {
    symbolic::State undefined(*plan), defined(*plan);
    for (const symbolic::Step& s : plan->steps_of(1)) defined.transfer(s, nullptr);
    if (!in_a_register) {
      for (const std::uint32_t l : plan->live_locations[3]) defined.locations.set(l, kBottom);
    }
    symbolic::Entry entry;
    EXPECT_TRUE(joiner.flow_into(entry, 3, undefined));
    EXPECT_TRUE(joiner.flow_into(entry, 3, defined));
    for (const Value v : entry.names)
      if (v != kTop) return plan->values[v].kind;
    return ValueKind::Top;
  };
  EXPECT_EQ(name_after_joining(true), ValueKind::OneOf);
  EXPECT_EQ(name_after_joining(false), ValueKind::Opaque);
}

TEST(SymbolicJoinTest, HalvesOfAWordThatIsDefinedOnOnePathOnly) {
  // %1 and %2 are the halves of %0, side by side in a slot: all of it again, under a name that is gone.
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1..%2 R b16
  vreg %3 P pred
  block b0
    #0 %3 = p             | P0 = p
    #1 cbra %3 -> b1, b2  | cbra P0 -> b1, b2
  block b1
    #2 %0 = a             | R0 = a
    #3 %1, %2 = unpack %0 | R1, R2 = unpack R0
    +20                   | spill R1.h0, slot 0
    +21                   | spill R2.h0, slot 0 + 2
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    +22                   | R4.h0 = refill slot 0 + 2
    #6 use %2 !write      | use R4 !write
    #7 exit
)")};
  expect_pass(p);
  expect_category(with(p, "R4.h0 = refill slot 0 + 2", "R4.h0 = refill slot 0"), kLost);
  expect_pass(with(p, "    #4 bra", "    +23 R0, R1, R2 = copy R9, R9, R9\n    #4 bra"));  // in the slot alone
}

TEST(SymbolicJoinTest, WhatIsDefinedOnOnePathOnlySharesAWordOfTheFrame) {
  // A narrow value and a predicate in one word of the frame, each undefined on one path, over two joins.
  Pair p = {side_by_side(R"(
  vreg %0 R b8
  vreg %1..%2 P pred
  block b0
    #0 %2 = p            | P0 = p
    #1 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #2 %0 = a            | R0 = a
    #3 %1 = b            | P1 = b
    +20                  | spill R0.b0, slot 0
    +21                  | spill P1, slot 0 + 3
    #4 bra -> b2
  block b2
    #5 cbra %2 -> b3, b4 | cbra P0 -> b3, b4
  block b3
    #6 bra -> b4
  block b4
    +22                  | R4.b0 = refill slot 0
    +23                  | P3 = refill slot 0 + 3
    #7 use %0, %1 !write | use R4, P3 !write
    #8 exit
)")};
  expect_pass(p);
  expect_category(with(p, "P3 = refill slot 0 + 3", "P3 = refill slot 0 + 2"), kLost);
  expect_category(with(p, "R4.b0 = refill slot 0\n", "R4.b0 = refill slot 0 + 1\n"), kLost);
}

TEST(SymbolicJoinTest, AConstantThatIsDefinedOnOnePathOnlyCanStillBeRepeated) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p              | P0 = p
    #1 cbra %3 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #2 %0 = const 5 !remat | const !remat !deleted
    #3 %1 = a              | R1 = a
    #4 bra -> b3
  block b2
    #5 %1 = b              | R1 = b
    #6 bra -> b3
  block b3
    +9                     | R0 = remat #2 5
    #7 use %0, %1 !write   | use R0, R1 !write
    #8 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +9 R0 = remat #2 5\n", "")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, APredicateThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p              | P0 = p
    #1 %0 = a              | R0 = a
    #2 cbra %3 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #3 %4 = setp %0 !remat | P1 = setp R0 !remat
    #4 bra -> b2
  block b2
    #5 bra -> b3
  block b3
    #6 use %4, %0 !write   | use P1, R0 !write
    #7 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use P1", "use P0"), kWrong);
  expect_pass(with(with(p, "P1 = setp R0 !remat", "setp !remat !deleted"), "    #6 use", "    +9 P1 = remat #3 R0\n    #6 use"));
}

// A constant that a loop reads as a guard, over a join inside: what it is there on the other path is one thing from then on.
TEST(SymbolicJoinTest, AConstantGuardThatIsDefinedOnOnePathOnlyIsReadInALoop) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p              | P0 = p
    #1 %1 = a              | R1 = a
    #2 cbra %3 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #3 %4 = const 1 !remat | P6 = const 1 !remat
    +20                    | P6 = remat #3 1
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 @%4 %0 = ld %1      | @P6 R0 = ld R1
    #7 cbra %3 -> b4, b5   | cbra P0 -> b4, b5
  block b4
    #8 bra -> b5
  block b5
    #9 cbra %3 -> b3, b6   | cbra P0 -> b3, b6
  block b6
    #10 exit
)")};
  expect_pass(p);
  expect_category(with(p, "@P6", "@P5"), kLost);
}

TEST(SymbolicJoinTest, AGuardThatIsDefinedOnOnePathOnly) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    #2 %4 = p            | P0 = p
    #3 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #4 %3 = q            | P1 = q
    #5 bra -> b2
  block b2
    #6 @%3 %0 = copy %1  | @P1 R0 = copy R1
    #7 use %0 !write     | use R0 !write
    #8 exit
)")};
  expect_pass(p);
  expect_category(with(p, "#7 use R0", "#7 use R5"), kLost);
}

TEST(SymbolicJoinTest, APartThatIsUndefinedAsksForNothing) {
  const Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %1 = a            | R1 = a
    #1 %0.h1 = b         | R0.h1 = b
    #2 %2 = p            | P0 = p
    #3 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +9                   | R0.h0 = copy R1.h0
    #4 bra -> b2
  block b2
    #5 use %0, %1 !write | use R0, R1 !write
    #6 exit
)")};
  expect_pass(p);
  expect_category(with(p, "+9 R0.h0 = copy R1.h0", "+9 R0.h1 = copy R1.h0"), kLost);
}

}  // namespace
}  // namespace regduel::oracles
