// The transfer functions of the symbolic judge against hand-made allocations: for each the smallest programs that it must accept
// and that it must reject, with the category.
#include "oracles/symbolic/state.h"

#include <string>

#include <fmt/format.h>

#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using testing::categories;
using ::testing::ElementsAre;
using testing::expect_category;
using testing::expect_pass;
using testing::judge;
using testing::kAndP;
using testing::kLost;
using testing::kPairVregs;
using testing::kRemat;
using testing::kThreeR;
using testing::kWrong;
using testing::Pair;
using testing::repeated;
using testing::two_values;
using testing::with;

// ---------------------------------------------------------------------------------------------------------------
// Defs, uses, clobbers

TEST(SymbolicStateTest, AUseFindsItsVregInItsLocation) {
  expect_pass(two_values());
  expect_category(with(two_values(), "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(two_values(), "use R0, R1", "use R0, R5"), kLost);
}

TEST(SymbolicStateTest, ADefEndsWhatOtherLocationsHoldOfTheVreg) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %0 = b
    #2 use %0 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 use R1 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R1", "use R0"), kWrong);
}

TEST(SymbolicStateTest, ADefUseReadsAndWritesItsRegister) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %0{inout} = add 1
    #2 use %0 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R0{inout} = add 1
    #2 use R0 !write
    #3 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0{inout}", "#1 R1{inout}")).findings.size(), 2u);
}

TEST(SymbolicStateTest, FixedAndTiedOperandsAreWhereTheHardwareHasThem) {
  const Pair fixed = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 use %0{=R4} !write
    #2 exit
)",
                      R"(
  block b0
    #0 R4 = a
    #1 use R4 !write
    #2 exit
)"};
  expect_pass(fixed);
  expect_category(with(with(fixed, "R4 = a", "R5 = a"), "use R4", "use R5"), kLost);
  const Pair tied = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1{tied 1} = mad %0, 7
    #2 use %1 !write
    #3 exit
)",
                     R"(
  block b0
    #0 R0 = a
    #1 R0 = mad R0, 7
    #2 use R0 !write
    #3 exit
)"};
  expect_pass(tied);
  expect_category(with(with(tied, "R0 = mad R0", "R1 = mad R0"), "use R0", "use R1"), kLost);
}

TEST(SymbolicStateTest, ACallClobbers) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1{=R0} = call "g" clobbers R0:R3
    #2 use %0, %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R4 = a
    #1 R0 = call "g" clobbers R0:R3
    #2 use R4, R0 !write
    #3 exit
)"};
  expect_pass(p);
  const Pair bad = with(with(p, "R4 = a", "R3 = a"), "use R4", "use R3");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.at(0).other, ir::InstId(1));
}

TEST(SymbolicStateTest, AnEarlyClobberDefIsWrittenBeforeTheUsesAreRead) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1{early} = op %0
    #2 use %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = op R0
    #2 use R1 !write
    #3 exit
)"};
  expect_pass(p);
  const JudgeResult r = judge(with(with(p, "R1 = op R0", "R0 = op R0"), "use R1", "use R0"));
  EXPECT_THAT(categories(r), ElementsAre(kLost));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(1));
}

TEST(SymbolicStateTest, TwoDefsInOneRegisterLeaveNeither) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0, %1 = two
    #1 use %0 !write
    #2 use %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0, R1 = two
    #1 use R0 !write
    #2 use R1 !write
    #3 exit
)"};
  expect_pass(p);
  const Pair bad = with(with(p, "R0, R1 = two", "R0, R0 = two"), "use R1", "use R0");
  expect_category(bad, kLost);
  EXPECT_EQ(judge(bad).findings.size(), 2u);
}

TEST(SymbolicStateTest, TheOperandOfATerminatorIsAUse) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 cbra %3 -> b1, b1
  block b1
    #3 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 cbra P0 -> b1, b1
  block b1
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(p, "cbra P0", "cbra P1"), kWrong);
  expect_category(with(p, "cbra P0", "cbra !P0"), "symbolic-negation");
}

// ---------------------------------------------------------------------------------------------------------------
// Copies

TEST(SymbolicStateTest, AnOriginalCopyMakesTwoNamesEqual) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 use %0, %1 !write
    #3 %0 = b
    #4 use %0, %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 copy !deleted
    #2 use R0, R0 !write
    #3 R1 = b
    #4 use R1, R0 !write
    #5 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R0"), kWrong);
  // The copy's old value dies.
  const Pair old = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %1 = copy %0
    #3 use %1 !write
    #4 exit
)",
                    R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 R1 = copy R0
    #3 use R1 !write
    #4 exit
)"};
  expect_pass(old);
  expect_category(with(old, "#2 R1 = copy R0", "#2 copy !deleted"), kWrong);
}

// A copy destroys what any instruction would, also as a spill or a refill, and under a guard where that holds.
TEST(SymbolicStateTest, ACopyClobbers) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #9 %3 = p
    #2 %0 = copy %0 clobbers R7
    #3 use %0, %1 !write
    #4 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R6 = b
    #9 P0 = p
    #2 R0 = copy R0 clobbers R7
    #3 use R0, R6 !write
    #4 exit
)"};
  expect_pass(p);
  const Pair lost = with(with(p, "R6 = b", "R7 = b"), "use R0, R6", "use R0, R7");
  expect_category(lost, kLost);
  expect_category(
      with(with(lost, "#2 R0 = copy R0 clobbers", "#2 spill R0, slot 0 clobbers"), "    #3", "    +20 R0 = refill slot 0\n    #3"),
      kLost);
  expect_category(with(lost, "#2 R0 = copy R0 clobbers", "+20 spill R0, slot 0\n    #2 R0 = refill slot 0 clobbers"), kLost);
  expect_pass(with(lost, "#2 R0 = copy R0 clobbers R7", "#2 copy !deleted"));
  const auto guarded = [](Pair pair) {
    pair.before = testing::edit(pair.before, "#2 %0", "#2 @%3 %0");
    return with(pair, "#2 R0", "#2 @P0 R0");
  };
  expect_pass(guarded(p));
  expect_category(guarded(lost), kLost);
  // What is copied may be destroyed, and what is copied to as well.
  expect_pass(with(with(with(p, "R6 = b", "R6 = b\n    +20 R7 = copy R0"), "R0 = copy R0", "R0 = copy R7"), "use R0", "use R0"));
  expect_pass(with(with(p, "#2 R0 = copy R0", "#2 R7 = copy R0"), "use R0", "use R7"));
}

// A copy is not observed, and neither is its guard: only what it moves is.
TEST(SymbolicStateTest, TheGuardOfACopyMattersWhereTheCopyDoes) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 %4 = q
    #5 %1 = b
    #3 @%3 %1 = copy %0
    #6 use %1 !write
    #4 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 P0 = p
    #2 P1 = q
    #5 R1 = b
    #3 @P0 R1 = copy R0
    #6 use R1 !write
    #4 exit
)"};
  expect_pass(p);
  const Pair wrong = with(p, "@P0 R1", "@P1 R1");
  EXPECT_EQ(judge(wrong).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "@P0 R1", "@!P0 R1")).verdict, Verdict::Fail);
  Pair dead = with(wrong, "use R1", "use R0");
  dead.before = testing::edit(dead.before, "use %1", "use %0");
  expect_pass(dead);
  // Nor where it moves nothing.
  Pair identity = with(with(wrong, "R1 = copy R0", "R0 = copy R0"), "use R1", "use R0");
  identity.before = testing::edit(testing::edit(identity.before, "%1 = copy %0", "%0 = copy %0"), "use %1", "use %0");
  expect_pass(identity);
}

TEST(SymbolicStateTest, AnEarlyClobberDefOfACopyIsWrittenBeforeTheUsesAreRead) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1{early} = copy %0
    #2 use %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = copy R0
    #2 use R1 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(with(p, "R1 = copy R0", "R0 = copy R0"), "use R1", "use R0"), kLost);
  // What only the program after says of it means nothing.
  expect_pass({kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 use %1 !write
    #3 exit
)",
               R"(
  block b0
    #0 R0 = a
    #1 R0{early} = copy R0
    #2 use R0 !write
    #3 exit
)"});
}

TEST(SymbolicStateTest, AnOriginalCopyMayBecomeASpillOrARefill) {
  expect_pass({kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 %2 = copy %1
    #3 use %2, %0 !write
    #4 exit
)",
               R"(
  block b0
    #0 R0 = a
    #1 spill R0, slot 0
    #2 R1 = refill slot 0
    #3 use R1, R0 !write
    #4 exit
)"});
}

TEST(SymbolicStateTest, ParallelCopiesReadBeforeTheyWriteOnBothSides) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %0, %1 = copy %1, %0
    #3 use %0, %1 !write
    #4 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 R0, R1 = copy R1, R0
    #3 use R0, R1 !write
    #4 exit
)"};
  expect_pass(p);
  // Renamed away: the registers are swapped instead.
  expect_pass(with(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted"), "use R0, R1", "use R1, R0"));
  expect_category(with(p, "#2 R0, R1 = copy R1, R0", "#2 copy !deleted\n    +9 R0 = copy R1\n    +8 R1 = copy R0"), kWrong);
}

TEST(SymbolicStateTest, SpillsAndRefillsMove) {
  const Pair p = {kThreeR, two_values().before, R"(
  block b0
    #0 R0 = a
    +9 spill R0, slot 0
    #1 R0 = b
    +8 spill R0, slot 1
    +7 R0 = refill slot 0
    +6 R1 = refill slot 1
    #2 use R0, R1 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(with(p, "R0 = refill slot 0", "R0 = refill slot 1"), "R1 = refill slot 1", "R1 = refill slot 0"), kWrong);
  expect_category(with(p, "    +9 spill R0, slot 0\n", ""), kLost);
  Pair overlapping = p;
  overlapping.slots = testing::edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 1 offset 2");
  EXPECT_EQ(judge(overlapping).verdict, Verdict::Fail);
  Pair apart = p;
  apart.slots = testing::edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 shared size 4 align 4 offset 0");
  expect_pass(apart);
}

TEST(SymbolicStateTest, ACopyMayBeGuarded) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @%3 %1 = copy %0
    #4 use %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 R1 = b
    #3 @P0 R1 = copy R0
    #4 use R1 !write
    #5 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "@P0 R1 = copy R0", "@!P0 R1 = copy R0")).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted"), kWrong);
  expect_category(with(p, "#3 @P0 R1 = copy R0", "#3 copy !deleted\n    +9 R1 = copy R0"), kWrong);
  // A copy of the guard itself: the guard is read first.
  expect_pass({kAndP, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 @%3 %3 = copy %4
    #3 use %3 !write
    #4 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 @P0 P0 = copy P1
    #3 use P0 !write
    #4 exit
)"});
}

// ---------------------------------------------------------------------------------------------------------------
// Bytes

TEST(SymbolicStateTest, FindsAClobberedHalf) {
  const Pair p = {kPairVregs, R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 use %0, %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0:R1 = a
    #1 R2 = b
    #2 use R0:R1, R2 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(with(p, "R2 = b", "R1 = b"), "use R0:R1, R2", "use R0:R1, R1"), kWrong);
  expect_pass(with(p, "    #2 use", "    +9 R3, R2, R1 = copy R2, R1, R3\n    +8 R1, R2 = copy R2, R3\n    #2 use"));
}

TEST(SymbolicStateTest, PackAndUnpackMoveBytes) {
  const Pair p = {kPairVregs, R"(
  block b0
    #0 %1 = a
    #1 %2 = b
    #2 %0 = pack %1, %2
    #3 use %1, %2 !write
    #4 %2, %1 = unpack %0
    #5 use %1, %2 !write
    #6 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 R0:R1 = pack R0, R1
    #3 use R0, R1 !write
    #4 R0, R1 = unpack R0:R1
    #5 use R1, R0 !write
    #6 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R1, R0", "use R0, R1"), kWrong);
  expect_category(with(p, "pack R0, R1", "pack R1, R0"), kWrong);
  // Where the halves still stand apart, so does the pair.
  expect_pass(with(with(with(p, "R0:R1 = pack", "R4:R5 = pack"), "unpack R0:R1", "unpack R0:R1"), "#5", "#5"));
  const Pair narrow = {R"(
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b16
)",
                       R"(
  block b0
    #0 %1 = a
    #1 %2 = b
    #2 %0 = pack %1, %2
    #3 %2, %1 = unpack %0
    #4 use %1, %2, %0 !write
    #5 exit
)",
                       R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 R2 = pack R0, R1
    #3 R3, R4 = unpack R2
    #4 use R4, R3, R2 !write
    #5 exit
)"};
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
  const Pair p = {R"(
  vreg %0 R b128
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b32
  vreg %4 R b32
)",
                  R"(
  block b0
    #0 %0 = a
    #1 %1, %2, %3, %4 = unpack %0
    #2 use %3, %4 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0:R3 = a
    #1 R4, R4, R6, R7 = unpack R0:R3
    #2 use R6, R7 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R6", "use R4"), kLost);
}

TEST(SymbolicStateTest, PartsKeepTheOtherBytes) {
  const Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b16 alias %0.h1
)",
                  R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 use %0 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R0.h1 = b
    +9 spill R0.h1, slot 0 + 2
    +8 spill R0.h0, slot 0
    +7 R5 = refill slot 0
    #2 use R5 !write
    #3 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#1 R0.h1 = b", "#1 R0.h0 = b")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "slot 0 + 2", "slot 1 + 2")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, ANarrowVregOwnsAWholeUnit) {
  const Pair p = {R"(
  vreg %0 R b32
  vreg %1 R b16
)",
                  R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 use %0, %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    +9 spill R1.h0, slot 0
    +8 R2.h0 = refill slot 0
    #2 use R0, R2 !write
    #3 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(with(p, "#1 R1 = b", "#1 R0 = b"), "spill R1", "spill R0")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, AReadThatNothingReachesAsksForNothing) {
  expect_pass({kThreeR, R"(
  block b0
    #0 use %1 !write
    #1 exit
)",
               R"(
  block b0
    #0 use R7 !write
    #1 exit
)"});
}

// ---------------------------------------------------------------------------------------------------------------
// Guards

Pair guarded() {
  return {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @%3 %0 = c
    #4 use %0, %1 !write
    #5 exit
)",
          R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 spill R0, slot 0
    #2 R1 = b
    #3 @P0 R5 = c
    +21 @P0 spill R5, slot 0
    +22 R0 = refill slot 0
    #4 use R0, R1 !write
    #5 exit
)"};
}

TEST(SymbolicStateTest, AStoreUnderTheGuardOfItsDefIsAsGoodAsRefillModifyStore) {
  expect_pass(guarded());
  expect_pass(with(guarded(), "#3 @P0 R5 = c\n    +21 @P0 spill R5, slot 0",
                   "+23 R5 = refill slot 0\n    #3 @P0 R5 = c\n    +21 spill R5, slot 0"));
  expect_category(with(guarded(), "+21 @P0 spill", "+21 spill"), kLost);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+21 @!P0 spill")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+24 P0 = copy P1\n    +21 @P0 spill")).verdict, Verdict::Fail);
  // The predicate may have been elsewhere in between.
  expect_pass(with(guarded(), "    +21 @P0", "    +31 spill P0, slot 1\n    +32 P3 = refill slot 1\n    +21 @P3"));
}

TEST(SymbolicStateTest, AGuardedDefKeepsTheOldValue) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @%3 %0 = c
    #4 use %0 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 R1 = b
    #3 @P0 R0 = c
    #4 use R0 !write
    #5 exit
)"};
  expect_pass(p);
  const Pair bad = with(with(p, "@P0 R0 = c", "@P0 R1 = c"), "use R0", "use R1");
  EXPECT_EQ(judge(bad).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R0", "#3 @P1 R0"), kLost);  // the guard itself is no use of %3 any more, and decides otherwise
}

TEST(SymbolicStateTest, AUseUnderTheGuardAsksOnlyWhereItHolds) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 use %0 !write
    #3 @!%3 use %0 !write
    #4 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +9 @P0 R1 = copy R0
    #2 @P0 use R1 !write
    #3 @!P0 use R0 !write
    #4 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#3 @!P0 use R0", "#3 @!P0 use R1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+9 @P0 R1", "+9 @!P0 R1")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, AFirstGuardedDefSharesItsRegisterWithWhatDied) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %3 = p %0
    #2 @%3 %1 = b
    #3 @%3 use %1 !write
    #4 use %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 P0 = p R0
    #2 @P0 R0 = b
    #3 @P0 use R0 !write
    #4 use R0 !write
    #5 exit
)"};
  expect_pass(p);
  expect_category(with(p, "#2 @P0 R0 = b", "#2 @P0 R1 = b"), kWrong);
}

TEST(SymbolicStateTest, AnUndefinedGuardLeavesNothingDefined) {
  // %3 has no definition: whether #2 happens is not known, and %0 is undefined after it.
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = c
    #2 @%3 %0 = b
    #3 use %0, %1 !write
    #4 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = c
    #2 @P0 R2 = b
    #3 use R0, R1 !write
    #4 exit
)"};
  expect_pass(p);
  expect_category(with(p, "@P0 R2 = b", "@P0 R1 = b"), kLost);
}

TEST(SymbolicStateTest, ANegatedGuard) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @!%3 %0 = c
    #4 use %0, %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    +20 spill R0, slot 0
    #2 R1 = b
    #3 @!P0 R5 = c
    +21 @!P0 spill R5, slot 0
    +22 R0 = refill slot 0
    #4 use R0, R1 !write
    #5 exit
)"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+21 @!P0", "+21 @P0")).verdict, Verdict::Fail);
  // Where the guard holds, the new value alone is asked for.
  expect_pass({kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 %0 = c
    #3 @%3 use %0 !write
    #4 exit
)",
               R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 @P0 R1 = c
    #3 @P0 use R1 !write
    #4 exit
)"});
}

TEST(SymbolicStateTest, TwoGuardsOfWhichNothingIsKnownAreTwoButOneRegisterHoldsOneThing) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 use %0 !write
    #2 exit
)",
                  R"(
  block b0
    #0 R0 = a
    +9 @P5 R1 = copy R0
    +8 @!P6 R1 = copy R0
    #1 use R1 !write
    #2 exit
)"};
  expect_category(p, kLost);
  expect_pass(with(p, "@!P6", "@!P5"));
  // Until it is written.
  expect_category(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 P5 = copy P6\n    +8"), kLost);
  expect_category(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 @P5 P5 = copy P6\n    +8"), kLost);
  expect_pass(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 P6 = copy P5\n    +8"));
  // What it holds may be elsewhere in between.
  expect_pass(with(p, "    +8", "    +10 P6 = copy P5\n    +8"));
}

// %4 is undefined where %3 does not hold, and P1 holds anything there. It is one thing to what #4 and the inserted store do,
// also behind a join.
TEST(SymbolicStateTest, APredicateDefinedUnderAGuardIsOneThingToAllThatItGuards) {
  for (const bool is_joined : {false, true}) {
    const std::string begin = R"(
  block b0
    #0 %3 = p
    #1 @%3 %4 = q
    #2 %0 = a
)",
                      middle = is_joined ? R"(
    #3 mbra %0 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
)"
                                         : "",
                      end = R"(
    #5 @%4 %0 = c
    #6 use %0 !write
    #7 exit
)";
    Pair p = {kAndP, begin + middle + end,
              R"(
  block b0
    #0 P0 = p
    #1 @P0 P1 = q
    #2 R0 = a
    +20 spill R0, slot 0
)" + (is_joined ? testing::edit(middle, "%0", "R0") : "") +
                  R"(
    #5 @P1 R5 = c
    +21 @P1 spill R5, slot 0
    +22 R0 = refill slot 0
    #6 use R0 !write
    #7 exit
)"};
    expect_pass(p);
    EXPECT_EQ(judge(with(p, "+21 @P1", "+21 @!P1")).verdict, Verdict::Fail);
    EXPECT_EQ(judge(with(p, "    +21", "    +23 P1 = copy P2\n    +21")).verdict, Verdict::Fail);
  }
}

// The copy is deleted, an inserted one does it under the register that holds its guard, of which %2 asks for nothing where %3
// holds.
Pair copied_under_a_loose_guard() {
  return {R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 P pred
)",
          R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @!%3 %2 = q
    #4 @%2 %1 = copy %0
    #5 use %1 !write
    #6 exit
)",
          R"(
  block b0
    #0 P1 = p
    #1 R0 = a
    #2 R1 = b
    #3 @!P1 P0 = q
    +22 @P0 R1 = copy R0
    #4 copy !deleted
    #5 use R1 !write
    #6 exit
)"};
}

TEST(SymbolicStateTest, ADeletedCopyIsDoneUnderTheRegisterThatHoldsItsGuard) {
  expect_pass(copied_under_a_loose_guard());
  // Of the last three guards of inserted instructions.
  expect_pass(with(copied_under_a_loose_guard(), "    +22", "    +20 @P1 R8 = copy R9\n    +22"));
  expect_pass(with(copied_under_a_loose_guard(), "    #4", "    +20 @P1 R8 = copy R9\n    #4"));
  EXPECT_EQ(judge(with(copied_under_a_loose_guard(), "+22 @P0", "+22 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(copied_under_a_loose_guard(), "+22 @P0", "+22 @P1")).verdict, Verdict::Fail);
}

// At the end of a block: the inserted guards of the block before serve no copy of the next one.
TEST(SymbolicStateTest, AClearedStateKnowsNothing) {
  const Pair p = copied_under_a_loose_guard();
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const Case c(before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255));
  auto plan = symbolic::make_plan(c);
  ASSERT_TRUE(plan.has_value());
  const auto steps = plan->steps_of(0);
  const auto is_rename = [](const symbolic::Step& s) { return s.kind == symbolic::StepKind::Rename; };
  const auto copy = std::find_if(steps.begin(), steps.end(), is_rename);
  ASSERT_NE(copy, steps.end());
  for (const bool is_cleared : {false, true}) {
    symbolic::State state(*plan);
    for (auto s = steps.begin(); s != copy; ++s) state.transfer(*s, nullptr);
    std::vector<Value> names, locations;
    for (std::uint32_t k = 0; k < plan->num_names(); ++k) names.push_back(state.names[k]);
    for (std::uint32_t k = 0; k < plan->num_locations(); ++k) locations.push_back(state.locations[k]);
    const Value guard = state.locations[plan->locations.of_unit(ir::RegFile::P, 0)], a = names[0], b = names[1];
    if (is_cleared) {
      state.clear();
      EXPECT_TRUE(state.names.touched().empty() && state.locations.touched().empty());
      for (std::uint32_t k = 0; k < names.size(); ++k) state.names.set(k, names[k]);
      for (std::uint32_t k = 0; k < locations.size(); ++k) state.locations.set(k, locations[k]);
    }
    state.transfer(*copy, nullptr);
    EXPECT_EQ(state.names[1], plan->values.gate(is_cleared ? copy->opaque_name() : guard, a, b));
  }
}

TEST(SymbolicStateTest, WhatAnUndefinedGuardMayHaveWrittenAsksForNothing) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = c
    #2 @%3 %0 = b
    #3 @%4 %1 = copy %0
    #4 use %0, %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 R1 = c
    #2 @P0 R2 = b
    #3 @P1 R1 = copy R2
    #4 use R5, R6 !write
    #5 exit
)"};
  expect_pass(p);
  expect_pass({kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = c
    #2 @%4 %1 = copy %0
    #3 use %1 !write
    #4 exit
)",
               R"(
  block b0
    #0 R0 = a
    #1 R1 = c
    #2 @P1 R1 = copy R0
    #3 use R6 !write
    #4 exit
)"});
  // A copy that changes nothing leaves it defined.
  const Pair same = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 @%4 %1 = copy %0
    #3 use %1 !write
    #4 exit
)",
                     R"(
  block b0
    #0 R0 = a
    #1 R1 = copy R0
    #2 @P1 R1 = copy R0
    #3 use R1 !write
    #4 exit
)"};
  expect_pass(same);
  expect_category(with(same, "use R1", "use R5"), kLost);
}

TEST(SymbolicStateTest, ANegatedGuardOfACopy) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 %1 = b
    #3 @!%3 %1 = copy %0
    #4 use %1 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 R0 = a
    #2 R1 = b
    #3 @!P0 R1 = copy R0
    #4 use R1 !write
    #5 exit
)"};
  expect_pass(p);
  const JudgeResult r = judge(with(p, "@!P0", "@P0"));
  EXPECT_THAT(categories(r), ElementsAre(kLost));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(4));
  EXPECT_THAT(r.findings.at(0).message, ::testing::HasSubstr("under some guards only"));
}

TEST(SymbolicStateTest, AGuardFromAnotherBlockIsAUse) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %3 = p
    #1 %4 = q
    #2 bra -> b1
  block b1
    #3 @%3 %0 = a
    #4 use %4 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 bra -> b1
  block b1
    #3 @P0 R0 = a
    #4 use P1 !write
    #5 exit
)"};
  expect_pass(p);
  expect_category(with(p, "@P0 R0", "@P1 R0"), kWrong);
}

// Each load and store under a guard of its own, all in one register: what lies below is the oldest, and asked for no more.
TEST(SymbolicStateTest, ManyGuardedDefsLieOnTopOfOneAnother) {
  std::string vregs = "  vreg %0 P pred\n", before = "  block b0\n", after = before;
  for (int k = 1; k <= 100; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    for (std::string* text : {&before, &after}) {
      const bool is_before = text == &before;
      const std::string p = is_before ? "%0" : "P0", r = is_before ? fmt::format("%{}", k) : "R0";
      *text += fmt::format(R"(
    #{} {} = p
    #{} @{} {} = a
    #{} @{} use {} !write
)",
                           3 * k, p, 3 * k + 1, p, r, 3 * k + 2, p, r);
    }
  }
  const Pair p = {vregs, before + "    #0 exit\n", after + "    #0 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#301 @P0 R0", "#301 @P0 R1")).verdict, Verdict::Fail);
}

// Longer than what is looked into, and the first of them is guarded too. In R0, or in two registers in turn, and stored to slot 0
// under the guard.
Pair long_chain(bool is_stored) {
  std::string before = "  block b0\n", after = before;
  int id = 0;
  for (int k = 0; k < Values::kMaxDepth + 20; ++k, id += 2) {
    before += fmt::format("    #{} %3 = p\n    #{} @%3 %0 = a\n", id, id + 1);
    const int reg = is_stored ? 5 + k % 2 : 0;
    after += fmt::format("    #{} P0 = p\n    #{} @P0 R{} = a\n", id, id + 1, reg);
    if (is_stored) after += fmt::format("    +{} @P0 spill R{}, slot 0\n", 10'000 + k, reg);
  }
  if (is_stored) after += "    +9999 R0 = refill slot 0\n";
  const std::string end = fmt::format(" !write\n    #{} exit\n", id + 1);
  return {kAndP, before + fmt::format("    #{} use %0", id) + end, after + fmt::format("    #{} use R0", id) + end};
}

TEST(SymbolicStateTest, ALongChainOfGuardedDefs) {
  expect_pass(long_chain(false));
  expect_category(with(long_chain(false), "use R0", "use R1"), kLost);
}

// The name asks for nothing below all guards, the slot holds nothing there, and neither can be looked into so deep.
TEST(SymbolicStateTest, AChainTooLongToBeLookedIntoIsInconclusive) {
  const JudgeResult r = judge(long_chain(true));
  EXPECT_EQ(r.verdict, Verdict::Inconclusive);
  EXPECT_EQ(r.reason, fmt::format("at #{} too many guards lie on top of one another", 2 * (Values::kMaxDepth + 20)));
}

// ---------------------------------------------------------------------------------------------------------------
// Predicate packs

Pair packed() {
  return {R"(
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 R b32
)",
          R"(
  block b0
    #0 %0 = p
    #1 %1 = q
    #2 call "g" clobbers P0:P6
    #3 use %0, %1 !write
    #4 exit
)",
          R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    +10 R9{inout} = p2r P0, P1
    +11 spill R9, slot 0
    #2 call "g" clobbers P0:P6
    +12 R8 = refill slot 0
    +13 P0, P1 = r2p R8
    #3 use P0, P1 !write
    #4 exit
)"};
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
    #3 @%2 %0 = copy %1
    #4 use %0 !write
    #5 exit
)",
                  R"(
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 P2 = r
    +20 R9{inout} = p2r P0
    +21 @P2 R9{inout} = bit_spill P1, 0
    #3 copy !deleted
    +22 P4 = r2p R9
    +23 P5 = bit_refill R9, 0
    #4 use P5 !write
    #5 exit
)"};
  expect_pass(p);
  expect_category(with(p, "+21 @P2", "+21"), kWrong);
  expect_category(with(p, "p2r P0", "p2r !P0"), kLost);
}

// ---------------------------------------------------------------------------------------------------------------
// Remats

TEST(SymbolicStateTest, AConstantCanBeRepeatedAnywhere) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = const 5 !remat
    #1 %1 = const 6 !remat
    #2 use %0, %1 !write
    #3 exit
)",
                  R"(
  block b0
    #0 const !remat !deleted
    #1 const !remat !deleted
    +9 R0 = remat #0 5
    +8 R1 = remat #1 6
    #2 use R0, R1 !write
    #3 exit
)"};
  expect_pass(p);
  expect_category(with(p, "use R0, R1", "use R1, R0"), kWrong);
  expect_category(with(p, "remat #1 6", "remat #1 7"), kRemat);
  expect_category(with(p, "    +9 R0 = remat #0 5\n", ""), kLost);
}

TEST(SymbolicStateTest, AConstantCanBeRepeatedBeforeItsTurn) {
  expect_pass({kThreeR, R"(
  block b0
    #0 %1 = a
    #1 %0 = const 5 !remat
    #2 use %0, %1 !write
    #3 exit
)",
               R"(
  block b0
    +9 R0 = remat #1 5
    #0 R1 = a
    #1 const !remat !deleted
    #2 use R0, R1 !write
    #3 exit
)"});
}

// %2 is carried around the loop. What it was computed from is computed again before it is read, and is the same each time.
TEST(SymbolicStateTest, WhatIsComputedFromConstantsIsConstant) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = const 0 !remat
    #1 %1 = neg %0 !remat
    #2 use %2 !write
    #3 %2 = not %1 !remat
    #4 bra -> b0
)",
                  R"(
  block b0
    #0 R0 = const 0 !remat
    #1 neg !remat !deleted
    +5 R0 = remat #0 0
    +6 R1 = remat #1 R0
    +7 R2 = remat #3 R1
    #2 use R2 !write
    #3 not !remat !deleted
    #4 bra -> b0
)"};
  expect_pass(p);
  expect_category(with(p, "remat #3 R1", "remat #3 R0"), kRemat);
  expect_category(with(p, "remat #1 R0", "remat #1 R5"), kRemat);
  expect_category(with(p, "use R2", "use R1"), kWrong);
  // Not where another instruction writes one of them as well, or a guard says whether it is written.
  for (const auto& [from, to] : {std::pair{"#1 %1 = neg %0 !remat", "#1 %1 = neg %0 !remat\n    #8 %1 = a"},
                                 std::pair{"#0 %0 = const 0 !remat", "#0 %0 = ld 0 !read !remat"}}) {
    Pair q = p;
    q.before = testing::edit(q.before, from, to);
    q.after = testing::edit(q.after, "    +5", std::string(to).starts_with("#1") ? "    #8 R1 = a\n    +5" : "    +5");
    if (std::string(to).starts_with("#0"))
      q.after = testing::edit(testing::edit(q.after, "#0 R0 = const 0 !remat", "#0 R0 = ld 0 !read !remat"),
                              "    +5 R0 = remat #0 0\n", "");
    expect_category(q, kRemat);
  }
}

// The same without a remat of what it was computed from: R0 is of this iteration, %2 of the one before.
TEST(SymbolicStateTest, WhatAConstantIsComputedFromIsKnownAsConstantToo) {
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = const 0 !remat
    #1 %1 = neg %0 !remat
    #2 use %2 !write
    #3 %2 = not %1 !remat
    #4 bra -> b0
)",
                  R"(
  block b0
    #0 R0 = const 0 !remat
    #1 R1 = neg R0 !remat
    +7 R2 = remat #3 R1
    #2 use R2 !write
    #3 not !remat !deleted
    #4 bra -> b0
)"};
  expect_pass(p);
  expect_category(with(p, "remat #3 R1", "remat #3 R0"), kRemat);
}

// #0 computes one value in the first iteration, and another one in the others.
TEST(SymbolicStateTest, AnArchitecturalVregHasAValueBeforeItsOnlyDef) {
  const Pair p = {R"(
  vreg %0 R b32 fixed R0 architectural
  vreg %1 R b32
  vreg %2 R b32
)",
                  R"(
  block b0
    #0 %1 = neg %0 !remat
    #1 %0 = const 0 !remat
    #2 use %2 !write
    #3 %2 = copy %1
    #4 bra -> b0
)",
                  R"(
  block b0
    #0 neg !remat !deleted
    +9 R1 = remat #0 R0
    #1 R0 = const 0 !remat
    #2 use R2 !write
    #3 R2 = copy R1
    #4 bra -> b0
)"};
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
  const Pair p = {kAndP, R"(
  block b0
    #0 %0 = a
    #1 bra -> b1
  block b1
    #2 %1 = add %0, 4 !remat
    #3 %2 = copy %1
    #4 %0 = b
    #5 %3 = p
    #6 cbra %3 -> b1, b2
  block b2
    #7 use %2 !write
    #8 exit
)",
                  R"(
  block b0
    #0 R0 = a
    #1 bra -> b1
  block b1
    #2 add !remat !deleted
    #3 copy !deleted
    +9 R1 = copy R0
    #4 R0 = b
    #5 P0 = p
    #6 cbra P0 -> b1, b2
  block b2
    +18 R2 = remat #2 R1, 4
    #7 use R2 !write
    #8 exit
)"};
  expect_pass(p);
  expect_category(with(p, "remat #2 R1, 4", "remat #2 R0, 4"), kRemat);
  expect_pass(with(with(p, "#2 add !remat !deleted", "#2 R5 = add R0, 4 !remat"), "remat #2 R1, 4\n    #7 use R2",
                   "remat #2 R1, 4\n    #7 use R5"));
}

TEST(SymbolicStateTest, OnlyWhatMayBeRepeatedIs) {
  Pair p = repeated();
  p.before = testing::edit(p.before, "add %0, 4 !remat", "ld %0, 4 !read !readonly !remat");
  p.after = testing::edit(p.after, "add !remat !deleted", "ld !read !readonly !remat !deleted");
  expect_pass(p);
  p.before = testing::edit(p.before, " !readonly", "");
  p.after = testing::edit(p.after, " !readonly", "");
  expect_category(p, kRemat);
}

}  // namespace
}  // namespace regduel::oracles
