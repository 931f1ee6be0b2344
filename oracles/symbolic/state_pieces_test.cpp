// The transfer functions for parts, packs and remats, on hand-made allocations.

#include <string>

#include "oracles/symbolic/state.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(SymbolicStateTest, FindsAClobberedHalf) {
  const Pair p = {kPairVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0:R1 = a
    #1 %1 = b            | R2 = b
    #2 use %0, %1 !write | use R0:R1, R2 !write
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(with(p, "R2 = b", "R1 = b"), "use R0:R1, R2", "use R0:R1, R1"), kWrong);
  expect_pass(with(p, "    #2 use", "    +9 R3, R2, R1 = copy R2, R1, R3\n    +8 R1, R2 = copy R2, R3\n    #2 use"));
}

TEST(SymbolicStateTest, PackAndUnpackMoveBytes) {
  const Pair p = {kPairVregs, side_by_side(R"(
  block b0
    #0 %1 = a             | R0 = a
    #1 %2 = b             | R1 = b
    #2 %0 = pack %1, %2   | R0:R1 = pack R0, R1
    #3 use %1, %2 !write  | use R0, R1 !write
    #4 %2, %1 = unpack %0 | R0, R1 = unpack R0:R1
    #5 use %1, %2 !write  | use R1, R0 !write
    #6 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R1"), kWrong);
  expect_category(with(p, "pack R0, R1", "pack R1, R0"), kWrong);
  // Where the halves still stand apart, so does the pair.
  expect_pass(with(with(with(p, "R0:R1 = pack", "R4:R5 = pack"), "unpack R0:R1", "unpack R0:R1"), "#5", "#5"));
  const Pair narrow = {side_by_side(R"(
  vreg %0 R b32
  vreg %1..%2 R b16
  block b0
    #0 %1 = a                | R0 = a
    #1 %2 = b                | R1 = b
    #2 %0 = pack %1, %2      | R2 = pack R0, R1
    #3 %2, %1 = unpack %0    | R3, R4 = unpack R2
    #4 use %1, %2, %0 !write | use R4, R3, R2 !write
    #5 exit
)")};
  expect_pass(narrow);
  expect_category(with(narrow, "use R4, R3, R2", "use R3, R4, R2"), kWrong);
}

// Of words, and of halves of words.
TEST(SymbolicStateTest, EachPackHasThePiecesOfItsOwn) {
  const std::string before = R"(
  block b0
    #0 %1, %2, %3, %4 = four
    #1 %0 = pack %1, %2
    #2 %5 = pack %3, %4
    #3 use %5 !write
    #4 use %0 !write
    #5 exit
)";
  for (const bool are_words : {true, false}) {
    const std::string piece = are_words ? "b32\n" : "b16\n", whole = are_words ? "b64\n" : "b32\n";
    std::string vregs;
    for (const char* v : {"0", "1", "2", "3", "4", "5"})
      vregs += std::string("  vreg %") + v + " R " + (*v == '0' || *v == '5' ? whole : piece);
    const std::string one = are_words ? "R6:R7" : "R6", other = are_words ? "R8:R9" : "R8";
    const Pair p = {vregs, before,
                    R"(
  block b0
    #0 R0, R1, R2, R3 = four
    #1 )" + one + " = pack R0, R1\n    #2 " +
                        other + " = pack R2, R3\n    #3 use " + other + " !write\n    #4 use " + one + " !write\n    #5 exit\n"};
    expect_pass(p);
    expect_category(with(p, "use " + other, "use " + one), kWrong);
  }
}

TEST(SymbolicStateTest, PiecesThatAreUnpackedIntoOneRegisterLeaveTheOthers) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b128
  vreg %1..%4 R b32
  block b0
    #0 %0 = a                     | R0:R3 = a
    #1 %1, %2, %3, %4 = unpack %0 | R4, R4, R6, R7 = unpack R0:R3
    #2 use %3, %4 !write          | use R6, R7 !write
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R6", "use R4"), kLost);
}

TEST(SymbolicStateTest, PartsKeepTheOtherBytes) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16 alias %0.h1
  block b0
    #0 %0 = a        | R0 = a
    #1 %1 = b        | R0.h1 = b
    +9               | spill R0.h1, slot 0 + 2
    +8               | spill R0.h0, slot 0
    +7               | R5 = refill slot 0
    #2 use %0 !write | use R5 !write
    #3 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0.h1 = b", "#1 R0.h0 = b")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "slot 0 + 2", "slot 1 + 2")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, ANarrowVregOwnsAWholeUnit) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    +9                   | spill R1.h0, slot 0
    +8                   | R2.h0 = refill slot 0
    #2 use %0, %1 !write | use R0, R2 !write
    #3 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(with(p, "#1 R1 = b", "#1 R0 = b"), "spill R1", "spill R0")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, AReadThatNothingReachesAsksForNothing) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 use %1 !write | use R7 !write
    #1 exit
)")});
}

Pair packed() {
  return {side_by_side(R"(
  vreg %0..%1 P pred
  vreg %2 R b32
  block b0
    #0 %0 = p            | P0 = p
    #1 %1 = q            | P1 = q
    +10                  | R9{inout} = p2r P0, P1
    +11                  | spill R9, slot 0
    #2 call "g" clobbers P0:P6
    +12                  | R8 = refill slot 0
    +13                  | P0, P1 = r2p R8
    #3 use %0, %1 !write | use P0, P1 !write
    #4 exit
)")};
}

TEST(SymbolicStateTest, PredicatesComeBackFromTheirBitOfThePack) {
  expect_pass(packed());
  expect_category(with(packed(), "+13 P0, P1 = r2p R8\n    #3 use P0, P1", "+13 P0, P1 = r2p R8\n    #3 use P1, P0"), kWrong);
  expect_category(with(packed(), "p2r P0, P1", "p2r P0"), kLost);
  expect_category(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8"), kLost);
  expect_pass(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8\n    +14 P1 = bit_refill R8, 1"));
  expect_category(with(packed(), "P0, P1 = r2p R8", "P0 = r2p R8\n    +14 P1 = bit_refill R8, 0"), kWrong);
  expect_pass(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = p2r P0\n    +15 R9{inout} = bit_spill P1, 1"));
  expect_category(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = p2r P0\n    +15 R9{inout} = bit_spill P1, 9"),
                  kLost);
}

TEST(SymbolicStateTest, APackKeepsItsOtherBits) {
  const Pair p =
      with(with(packed(), "+10 R9{inout} = p2r P0, P1", "+10 R9{inout} = bit_spill P0, 17\n    +15 R9{inout} = bit_spill P1, 1"),
           "P0, P1 = r2p R8", "P0 = bit_refill R8, 17\n    +16 P1 = bit_refill R8, 1");
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "bit_spill P1, 1\n", "bit_spill P1, 17\n")).findings.size(),
            2u);  // over the other, and not where it is looked for
}

TEST(SymbolicStateTest, APredicateOfAPackUnderAGuard) {
  // An original copy under a guard, done in the pack.
  const Pair p = {side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = p           | P0 = p
    #1 %1 = q           | P1 = q
    #2 %2 = r           | P2 = r
    +20                 | R9{inout} = p2r P0
    +21                 | @P2 R9{inout} = bit_spill P1, 0
    #3 @%2 %0 = copy %1 | copy !deleted
    +22                 | P4 = r2p R9
    +23                 | P5 = bit_refill R9, 0
    #4 use %0 !write    | use P5 !write
    #5 exit
)")};
  expect_pass(p);
  expect_category(with(p, "+21 @P2", "+21"), kWrong);
  expect_category(with(p, "p2r P0", "p2r !P0"), kLost);
}

TEST(SymbolicStateTest, AConstantCanBeRepeatedAnywhere) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = const 5 !remat | const !remat !deleted
    #1 %1 = const 6 !remat | const !remat !deleted
    +9                     | R0 = remat #0 5
    +8                     | R1 = remat #1 6
    #2 use %0, %1 !write   | use R0, R1 !write
    #3 exit
)")};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(p, "remat #1 6", "remat #1 7"), kRemat);
  expect_category(with(p, "    +9 R0 = remat #0 5\n", ""), kLost);
}

TEST(SymbolicStateTest, AConstantCanBeRepeatedBeforeItsTurn) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    +9                     | R0 = remat #1 5
    #0 %1 = a              | R1 = a
    #1 %0 = const 5 !remat | const !remat !deleted
    #2 use %0, %1 !write   | use R0, R1 !write
    #3 exit
)")});
}

// %2 is carried around the loop. What it was computed from is computed again before it is read, and is the same each time.
TEST(SymbolicStateTest, WhatIsComputedFromConstantsIsConstant) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = const 0 !remat | R0 = const 0 !remat
    #1 %1 = neg %0 !remat  | neg !remat !deleted
    +5                     | R0 = remat #0 0
    +6                     | R1 = remat #1 R0
    +7                     | R2 = remat #3 R1
    #2 use %2 !write       | use R2 !write
    #3 %2 = not %1 !remat  | not !remat !deleted
    #4 bra -> b0
)")};
  expect_pass(p);
  expect_category(with(p, "remat #3 R1", "remat #3 R0"), kRemat);
  expect_category(with(p, "remat #1 R0", "remat #1 R5"), kRemat);
  expect_category(with(p, "use R2", "use R1"), kWrong);
  // Not where another instruction writes one of them as well, or a guard says whether it is written.
  for (const auto& [from, to] : {std::pair{"#1 %1 = neg %0 !remat", "#1 %1 = neg %0 !remat\n    #8 %1 = a"},
                                 std::pair{"#0 %0 = const 0 !remat", "#0 %0 = ld 0 !read !remat"}}) {
    Pair q = p;
    q.before = edit(q.before, from, to);
    q.after = edit(q.after, "    +5", std::string(to).starts_with("#1") ? "    #8 R1 = a\n    +5" : "    +5");
    if (std::string(to).starts_with("#0"))
      q.after = edit(edit(q.after, "#0 R0 = const 0 !remat", "#0 R0 = ld 0 !read !remat"), "    +5 R0 = remat #0 0\n", "");
    expect_category(q, kRemat);
  }
}

// The same without a remat of what it was computed from: R0 is of this iteration, %2 of the one before.
TEST(SymbolicStateTest, WhatAConstantIsComputedFromIsKnownAsConstantToo) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = const 0 !remat | R0 = const 0 !remat
    #1 %1 = neg %0 !remat  | R1 = neg R0 !remat
    +7                     | R2 = remat #3 R1
    #2 use %2 !write       | use R2 !write
    #3 %2 = not %1 !remat  | not !remat !deleted
    #4 bra -> b0
)")};
  expect_pass(p);
  expect_category(with(p, "remat #3 R1", "remat #3 R0"), kRemat);
}

// #0 computes one value in the first iteration, and another one in the others.
TEST(SymbolicStateTest, AnArchitecturalVregHasAValueBeforeItsOnlyDef) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32 fixed R0 architectural
  vreg %1..%2 R b32
  block b0
    #0 %1 = neg %0 !remat  | neg !remat !deleted
    +9                     | R1 = remat #0 R0
    #1 %0 = const 0 !remat | R0 = const 0 !remat
    #2 use %2 !write       | use R2 !write
    #3 %2 = copy %1        | R2 = copy R1
    #4 bra -> b0
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "use R2", "use R1")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, ARematReadsWhatTheInstructionRead) {
  expect_pass(repeated());
  expect_category(with(repeated(), "+9 R1 = remat #1 R0, 4", "+9 R1 = remat #1 R5, 4"), kRemat);
  // The source has changed: %0 is right, but not what #1 read.
  expect_category(with(repeated(), "    #4 use R0", "    +8 R1 = remat #1 R0, 4\n    #4 use R0"), kRemat);
  // A copy of the old source serves.
  expect_pass(with(with(repeated(), "    #3 R0 = b\n", "    +7 R2 = copy R0\n    #3 R0 = b\n"), "    #4 use R0",
                   "    +8 R1 = remat #1 R2, 4\n    #4 use R0"));
}

TEST(SymbolicStateTest, ARematGivesTheValueOfTheLastExecution) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a                | R0 = a
    #1 bra -> b1
  block b1
    #2 %1 = add %0, 4 !remat | add !remat !deleted
    #3 %2 = copy %1          | copy !deleted
    +9                       | R1 = copy R0
    #4 %0 = b                | R0 = b
    #5 %3 = p                | P0 = p
    #6 cbra %3 -> b1, b2     | cbra P0 -> b1, b2
  block b2
    +18                      | R2 = remat #2 R1, 4
    #7 use %2 !write         | use R2 !write
    #8 exit
)")};
  expect_pass(p);
  expect_category(with(p, "remat #2 R1, 4", "remat #2 R0, 4"), kRemat);
  expect_pass(with(with(p, "#2 add !remat !deleted", "#2 R5 = add R0, 4 !remat"), "remat #2 R1, 4\n    #7 use R2",
                   "remat #2 R1, 4\n    #7 use R5"));
}

TEST(SymbolicStateTest, OnlyWhatMayBeRepeatedIs) {
  Pair p = repeated();
  p.before = edit(p.before, "add %0, 4 !remat", "ld %0, 4 !read !readonly !remat");
  p.after = edit(p.after, "add !remat !deleted", "ld !read !readonly !remat !deleted");
  expect_pass(p);
  p.before = edit(p.before, " !readonly", "");
  p.after = edit(p.after, " !readonly", "");
  expect_category(p, kRemat);
}

}  // namespace
}  // namespace regduel::oracles
