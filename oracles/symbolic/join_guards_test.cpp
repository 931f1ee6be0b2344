// Joins of what guarded instructions define, on hand-made allocations.

#include <string>

#include "oracles/symbolic/join.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicJoinTest, GuardedDefsSurviveJoins) {
  const std::string vregs = R"(
  vreg %0 R b8
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 P pred
)";
  const Pair p = {vregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    #2 @%3 %0 = b        | @P0 R0 = b
    +9                   | spill R0.b0, slot 0
    #3 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
    +8                   | R1.b0 = refill slot 0
    #5 use %0 !write     | use R1 !write
    #6 exit
)")};
  expect_pass(p);
  expect_category(with(p, "    #4 bra", "    +7 spill R9, slot 0\n    #4 bra"), kLost);
}

// A branch in between that changes neither the predicate nor what it chose.
const std::string kDiamond = R"(
    #20 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #21 bra -> b3
  block b2
    #22 bra -> b3
  block b3
)";

TEST(SymbolicJoinTest, AStoreUnderTheGuardOfItsDefMayStandBehindAJoin) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    +30              | spill R0, slot 0
    #1 %3 = p        | P0 = p
    #2 %4 = q        | P1 = q
    #3 @%3 %0 = b    | @P0 R5 = b
)" + kDiamond + R"(
    +31              | @P0 spill R5, slot 0
    +32              | R0 = refill slot 0
    #4 use %0 !write | use R0 !write
    #5 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 P0 = copy P1\n    #21 bra")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 R5 = copy R0\n    #21 bra")).verdict, Verdict::Fail);
}

TEST(SymbolicJoinTest, ARefillUnderAGuardServesAUseUnderItBehindAJoin) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    +30                  | spill R0, slot 0
    #1 %3 = p            | P0 = p
    #2 %4 = q            | P1 = q
    #6 %1 = c            | R0 = c
    +34                  | R1 = copy R0
    +31                  | @P0 R0 = refill slot 0
)" + kDiamond + R"(
    #4 @%3 use %0 !write | @P0 use R0 !write
    #7 use %1 !write     | use R1 !write
    #5 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "#21 bra", "+33 R0 = copy R1\n    #21 bra")).verdict, Verdict::Fail);
}

// The predicate is none of the program's names any more.
TEST(SymbolicJoinTest, ACalleeSavedRegisterIsSavedUnderAGuardAroundAJoin) {
  Pair p = {kAndP, side_by_side(R"(
  block b0
    #1 %3 = p            | P0 = p
    #2 %4 = q            | P1 = q
    +30                  | @P0 spill R24, slot 0
    #3 @%3 %0 = b        | @P0 R24 = b
    #4 @%3 use %0 !write | @P0 use R24 !write
)" + kDiamond + R"(
    +31                  | @P0 R24 = refill slot 0
    #5 ret
)")};
  p.kind = "device";
  expect_pass(p);
  expect_category(with(p, "+31 @P0", "+31 @!P0"), "callee-saved");
  expect_category(with(p, "+30 @P0", "+30 @!P0"), "callee-saved");
}

// The value is in two places, in each where the predicate says so, while one side of a join has it in one.
TEST(SymbolicJoinTest, AValueInTwoPlacesGoesOverJoins) {
  const Pair in_a_loop = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    +30                  | spill R0, slot 0
    #1 %3 = p            | P0 = p
    #2 %4 = q            | P1 = q
    #3 @%3 %0 = b        | @P0 R5 = b
    #4 bra -> b1
  block b1
    +31                  | @P0 spill R5, slot 0
    +32                  | R0 = refill slot 0
    #5 use %0 !write     | use R0 !write
    #6 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b2
    #7 exit
)")};
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
  guarded.before = edit(in_a_loop.before, "#2 %4 = q\n", "#2 %4 = q\n    #8 @%4 %3 = r\n");
  expect_pass(guarded);
  // One arm has put the value together.
  const Pair in_one_arm = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 %3 = p        | P0 = p
    #2 %4 = q        | P1 = q
    #3 @%3 %0 = b    | @P0 R5 = b
)" + kDiamond + R"(
    +31              | @P0 R0 = copy R5
    #4 use %0 !write | use R0 !write
    #5 exit
)")};
  expect_pass(with(in_one_arm, "#21 bra", "+30 @P0 R0 = copy R5\n    #21 bra"));
  expect_pass(with(in_one_arm, "#22 bra", "+30 @P0 R0 = copy R5\n    #22 bra"));
  expect_category(with(in_one_arm, "#22 bra", "+30 @!P0 R0 = copy R5\n    #22 bra"), kLost);
  // Behind a loop a register gets back what it had at entry.
  Pair saved = {kAndP, side_by_side(R"(
  block b0
    +30                  | spill R24, slot 0
    #1 %3 = p            | P0 = p
    #9 bra -> b1
  block b1
    #2 %4 = q            | P1 = q
    #0 @%3 %0 = a        | @P0 R24 = a
    #3 @%3 use %0 !write | @P0 use R24 !write
    #6 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b2
    +31                  | @P0 R24 = refill slot 0
    #7 ret
)")};
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
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #1 %3 = p             | P0 = p
    #2 %4 = q             | P1 = q
    #23 cbra %4 -> b4, b5 | cbra P1 -> b4, b5
  block b1
    +31                   | @P0 spill R5, slot 0
    +32                   | R0 = refill slot 0
    #5 use %0 !write      | use R0 !write
    #6 cbra %4 -> b1, b2  | cbra P1 -> b1, b2
  block b2
    #7 exit
  block b3
    #3 @%3 %0 = b         | @P0 R5 = b
    #26 bra -> b1
  block b4
    #0 %0 = a             | R0 = a
    +30                   | spill R0, slot 0
    #24 bra -> b3
  block b5
    #25 bra -> b3
)")};
  expect_pass(p);
  expect_category(with(p, "+31 @P0", "+31 @!P0"), kLost);
  expect_category(with(p, "    +30 spill R0, slot 0\n", ""), kLost);
}

// What is undefined but for guarded defs, the same round after round.
TEST(SymbolicJoinTest, GuardedDefsOfALoopUnderOneGuard) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p             | P0 = p
    #1 @%3 %0 = a         | @P0 R0 = a
    #2 bra -> b1
  block b1
    #3 @%3 %0 = b         | @P0 R0 = b
    #4 @!%3 use %0 !write | @!P0 use R0 !write
    #6 @%3 use %0 !write  | @P0 use R0 !write
    #5 bra -> b1
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#6 @P0 use R0", "#6 @P0 use R1")).verdict, Verdict::Fail);
}

// The predicate is undefined on one way to the join: there, nothing is asked for, and elsewhere it is what it is.
TEST(SymbolicJoinTest, APredicateThatIsUndefinedOnOneWayIsStillOneThing) {
  const std::string begin = R"(
  block b0
    #0 %0 = a            | R0 = a
    +30                  | spill R0, slot 0
    #9 %1 = c            | R0 = c
    #1 %4 = q            | P1 = q
    #2 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #3 %3 = p            | P0 = p
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
)";
  const Pair refill = {kAndP, side_by_side(begin + R"(
    +31                      | @P0 R1 = refill slot 0
    #6 @%3 use %0, %1 !write | @P0 use R1, R0 !write
    #8 exit
)")};
  expect_pass(refill);
  EXPECT_EQ(judge(with(refill, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(refill, "+31 @P0", "+31 @!P0")).verdict, Verdict::Fail);
  const Pair store = {kAndP, side_by_side(begin + R"(
    #6 @%3 %0 = b        | @P0 R1 = b
    +31                  | @P0 spill R1, slot 0
    +32                  | R1 = refill slot 0
    #7 use %0, %1 !write | use R1, R0 !write
    #8 exit
)")};
  expect_pass(store);
  EXPECT_EQ(judge(with(store, "+31 @P0", "+31 @P1")).verdict, Verdict::Fail);
  // Two registers with what the program before asks for are not the same thing where it asks for nothing.
  const Pair two = with(with(refill, "#3 P0 = p", "#3 P0 = p\n    +33 P2 = copy P0"), "+31 @P0", "+31 @P2");
  EXPECT_NE(judge(two).verdict, Verdict::Inconclusive);
}

// A piece that is undefined under the guard of the pack.
TEST(SymbolicJoinTest, WhatIsUndefinedUnderAGuardStaysSo) {
  expect_pass({side_by_side(R"(
  vreg %0 P pred
  vreg %1..%2 R b32
  vreg %3 R b128
  block b0
    #0 %0 = p                       | P0 = p
    #1 @!%0 %1 = a                  | @!P0 R1 = a
    #2 %2 = b                       | R2 = b
    #3 bra -> b1
  block b1
    #4 @%0 %3 = pack %2, %1, %2, %2 | @P0 R4:R7 = pack R2, R1, R2, R2
    #5 cbra %0 -> b1, b2            | cbra P0 -> b1, b2
  block b2
    #6 use %3 !write                | use R4:R7 !write
    #7 exit
)")});
}

// %1 and %2 change places under the guard of the only def, so where that was not executed both are undefined: what %1 may be chosen
// from goes by the token that it is chosen by.
TEST(SymbolicJoinTest, WhatIsSwappedWithSomethingUndefinedUnderAGuard) {
  expect_pass({side_by_side(R"(
  vreg %0 P pred
  vreg %1..%2 R b32
  block b0
    #0 %0 = op                  | P0 = op
    #1 st.sink %1               | st.sink R1
    #2 @%0 %1 = op              | @P0 R1 = op
    #3 bra -> b1
  block b1
    #4 @%0 %2, %1 = copy %1, %2 | @P0 R0, R1 = copy R1, R0
    #5 cbra %0 -> b0, b1        | cbra P0 -> b0, b1
)")});
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
  expect_pass({side_by_side(R"(
  vreg %0 P pred
  vreg %1 R u32
  vreg %2 R f256
  vreg %3 R s128
  vreg %4 R b128
  block b0
    #8 %0 = p                 | P0 = p
    #33 @!%0 %2 = pack %3, %4 | @!P0 R0:R7 = pack R8:R11, R20:R23
    #34 %4.w3 = insert %1     | R20:R23.w3 = insert R38
    #11 cbra %0 -> b3, b2     | cbra P0 -> b3, b2
  block b1
    #54 %2 = copy %2          | copy !deleted
    #6 ret
  block b2
    #12 bra -> b4
  block b3
    #13 mbra %1 -> b1, b0, b1 | mbra R38 -> b1, b0, b1
  block b4
    #14 cbra %0 -> b4, b0     | cbra P0 -> b4, b0
)")});
}

TEST(SymbolicJoinTest, TheOrderOfGuardsDoesNotMatter) {
  // One byte is redefined under another guard; in between the value goes through a slot byte by byte.
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1..%2 P pred
  block b0
    #0 %1 = p            | P0 = p
    #1 %2 = q            | P1 = q
    #2 %0 = a            | R0 = a
    #3 @%2 %0 = b        | @P1 R0 = b
    #4 @%1 %0 = c        | @P0 R0 = c
    +20                  | spill R0.h0, slot 0
    +21                  | spill R0.b2, slot 0 + 2
    #5 @%2 %0.b3 = d     | @P1 R0.b3 = d
    +22                  | spill R0.b3, slot 0 + 3
    #6 cbra %1 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #7 bra -> b2
  block b2
    +23                  | R1 = refill slot 0
    #8 use %0 !write     | use R1 !write
    #9 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "    +22 spill R0.b3, slot 0 + 3\n", "")).verdict, Verdict::Fail);
}

// Two bits of a pack, each written under the other one's guard or an own one: a join meets bit with bit, whatever their guards are.
TEST(SymbolicJoinTest, BitsOfAPackThatWereWrittenUnderDifferentGuards) {
  const Pair p = {side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = p            | P2 = p
    +20                  | R8{inout} = bit_spill P2, 0
    #1 %1 = q            | P1 = q
    +21                  | R8{inout} = bit_spill P1, 1
    #2 %2 = r            | P5 = r
    #3 bra -> b1
  block b1
    +22                  | P2 = bit_refill R8, 0
    #4 @%0 %1 = a        | @P2 P0 = a
    +23                  | @P2 R8{inout} = bit_spill P0, 1
    +24                  | P0 = bit_refill R8, 1
    #5 cbra %1 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #6 @%2 %0 = b        | @P5 P0 = b
    +25                  | @P5 R8{inout} = bit_spill P0, 0
    #7 bra -> b3
  block b3
    +26                  | P2 = bit_refill R8, 0
    #8 cbra %0 -> b1, b4 | cbra P2 -> b1, b4
  block b4
    #9 exit
)")};
  expect_pass(p);
  for (const auto& [right, wrong] :
       {std::pair("+23 @P2", "+23 @P5"), std::pair("+23 @P2", "+23 @!P2"), std::pair("bit_spill P0, 1", "bit_spill P0, 0"),
        std::pair("+25 @P5", "+25 @P2"), std::pair("+24 P0 = bit_refill R8, 1", "+24 P0 = bit_refill R8, 0"),
        std::pair("+26 P2 = bit_refill R8, 0", "+26 P2 = bit_refill R8, 1")})
    EXPECT_EQ(judge(with(p, right, wrong)).verdict, Verdict::Fail) << wrong;
}

// One arm writes the bit under a guard that is always undefined: there, nothing is asked for.
TEST(SymbolicJoinTest, ABitOfAPackUnderAnUndefinedGuardOnOneArm) {
  const Pair p = {side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = p            | P3 = p
    #1 cbra %0 -> b1, b2 | cbra P3 -> b1, b2
  block b1
    #2 @%1 %2 = a        | @P1 P2 = a
    +20                  | @P1 R8{inout} = bit_spill P2, 2
    #3 bra -> b3
  block b2
    #4 @%0 %2 = b        | @P3 P0 = b
    +21                  | @P3 R8{inout} = bit_spill P0, 2
    #5 bra -> b3
  block b3
    +22                  | P0 = bit_refill R8, 2
    #6 @%2 st !write     | @P0 st !write
    #7 exit
)")};
  expect_pass(p);
  for (const auto& [right, wrong] :
       {std::pair("+21 @P3", "+21 @!P3"), std::pair("+21 @P3", "+21 @P1"), std::pair("bit_spill P0, 2", "bit_spill P0, 1"),
        std::pair("+22 P0 = bit_refill R8, 2", "+22 P0 = bit_refill R8, 1")})
    EXPECT_EQ(judge(with(p, right, wrong)).verdict, Verdict::Fail) << wrong;
}

}  // namespace
}  // namespace regduel::oracles
