// What may go through a register that a warp shares: pairs with one mistake each, and pairs like them that are right.

#include "oracles/uniform/testing.h"

namespace regduel::oracles {
namespace {

using testing::expect_right;
using testing::expect_wrong;
using testing::kShared;
using testing::Pair;
using testing::side_by_side;
using testing::with;

TEST(Uniform, AValueOfEachThreadIsLostInARegisterOfAll) {
  const JudgeResult r = testing::judge_pair(uniform_judge(), testing::uniform_pair(R"(
    #0 %0 = a        | R0 = a
    +10              | UR3 = copy R0
    +11              | R1 = copy UR3
    #1 use %0 !write | use R1 !write
    #2 exit
)"));
  ASSERT_EQ(r.findings.size(), 1u) << testing::describe(r);
  EXPECT_EQ(r.findings[0].category, kShared);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(1));
  EXPECT_EQ(r.findings[0].operand, 0);
  EXPECT_EQ(r.findings[0].other, ir::InstId(10));
}

TEST(Uniform, WhatNothingReadsMayBeLost) {
  expect_right(R"(
    #0 %0 = a        | R0 = a
    +10              | UR3 = copy R0
    +11              | R1 = copy UR3
    #1 use %0 !write | use R0 !write
    #2 exit
)");
}

TEST(Uniform, ValuesOfUniformVregsAndConstantsMayGoAnywhere) {
  for (const char* def : {"#0 %4 = a | UR0 = a", "#0 %9 = a | R0 = a"}) {
    const bool is_ur = std::string_view(def).contains("UR");
    const std::string home = is_ur ? "UR0" : "R0", name = is_ur ? "%4" : "%9";
    expect_right("    " + std::string(def) + "\n    +10 | R5 = copy " + home + R"(
    +11              | spill R5, slot 0
    +12              | UR6 = refill slot 0
    +13              | R6 = copy UR6
    #1 %0 = copy )" +
                 name + R"( | copy !deleted
    #2 use %0 !write | use R6 !write
    #3 exit
)");
  }
  expect_right(R"(
    #0 %0 = const 5  | R0 = const 5
    +10              | UR3 = copy R0
    +11              | R1 = copy UR3
    #1 use %0 !write | use R1 !write
    #2 exit
)");
}

// The program itself puts %0 into a uniform vreg, so it is the same in all threads.
TEST(Uniform, WhatTheProgramMovesToAUniformVregIsShared) {
  const std::string moved = R"(
    #0 %0 = a            | R0 = a
    +10                  | UR3 = copy R0
    +11                  | R1 = copy UR3
    #1 use %0 !write     | use R1 !write
    #2 %4 = copy %0      | UR4 = copy R1
    #3 use %4 !write     | use UR4 !write
    #4 exit
)";
  expect_right(moved);
  expect_wrong(testing::edit(moved, "#2 %4 = copy %0      | UR4 = copy R1", "#2 %4 = b | UR4 = b"));
}

TEST(Uniform, OnePairOfAParallelCopyDoesNotClearTheOther) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %4 = b            | UR0 = b
    +10                  | UR2, UR3 = copy R0, UR0
    +11                  | R1, UR1 = copy UR2, UR3
    #2 use %0, %4 !write | use R0, UR1 !write
    #3 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(body, "use R0, UR1", "use R1, UR1"));
}

// Complementary guards write two vregs into one register. The last write holds for all threads.
TEST(Uniform, TheLastOfTwoGuardedWritesHolds) {
  const std::string body = R"(
    #0 %4 = a               | UR0 = a
    +10                     | spill UR0, slot 0
    #1 op clobbers UR0:UR3  | op clobbers UR0:UR3
    +11                     | UR0 = refill slot 0
    #2 %7 = b %4            | P0 = b UR0
    #3 @%7 %5 = c           | @P0 UR0 = c
    #4 @!%7 %6 = d          | @!P0 UR0 = d
    #5 use %6 !write        | use UR0 !write
    #6 exit
)";
  expect_right(body);
}

// %4 is defined where %7 is false, %5 where it is true. What is moved on is that one which is read.
TEST(Uniform, OfTwoNamesThatAskForPartsTheOneThatIsReadIsKept) {
  const std::string body = R"(
    #0 %7 = a               | P0 = a
    #1 @!%7 %4 = b          | @!P0 UR0 = b
    #2 @%7 %5 = c           | @P0 UR0 = c
    +10                     | spill UR0, slot 0
    #3 op clobbers UR0:UR3  | op clobbers UR0:UR3
    +11                     | UR1 = refill slot 0
    #4 %0 = copy %5         | R0 = copy UR1
    #5 use %0 !write        | use R0 !write
    #6 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(body, "copy %5", "copy %4"));
  // Each thread has its own in R0, and UR2 has that of any of them.
  const std::string chosen = R"(
    #0 %7 = a               | P0 = a
    #1 @!%7 %4 = b          | @!P0 UR0 = b
    #2 @%7 %5 = c           | @P0 UR1 = c
    +10                     | R0 = copy UR0
    +11                     | @P0 R0 = copy UR1
    +12                     | UR2 = copy R0
    +13                     | R1 = copy UR2
    #3 %0 = copy %4         | copy !deleted
    #4 %1 = copy %5         | copy !deleted
    #5 use %0 !write        | use R1 !write
    #6 exit
)";
  expect_wrong(chosen);
  expect_wrong(testing::edit(chosen, "use %0", "use %1"));
  // The last one that is written stays.
  const std::string last =
      testing::edit(testing::edit(testing::edit(chosen, "R0 = copy UR0", "@!P0 UR3 = copy UR0"), "R0 = copy UR1", "UR3 = copy UR1"),
                    "UR2 = copy R0", "UR2 = copy UR3");
  expect_wrong(last);
  expect_right(testing::edit(last, "use %0", "use %1"));
}

// At the head of b3 UR3 satisfies both, and the one that is read may be any of them.
TEST(Uniform, OfTwoNamesAtAHeadTheOneThatIsReadIsKept) {
  const std::string body = R"(
    #0 %4, %5, %7 = a       | UR0, UR1, P0 = a
    #1 cbra %7 -> b1, b2    | cbra P0 -> b1, b2
  block b1
    #2 %0 = copy %4         | copy !deleted
    +10                     | UR3 = copy UR0
    +11                     | R5 = copy UR0
    #3 bra -> b3
  block b2
    #4 %1 = copy %5         | copy !deleted
    +12                     | UR3 = copy UR1
    +13                     | R6 = copy UR1
    #5 bra -> b3
  block b3
    +14                     | R2 = copy UR3
    #6 use %0, %1 !write    | use R2, R6 !write
    #7 exit
)";
  expect_right(body);
  expect_right(testing::edit(body, "use R2, R6", "use R5, R2"));
  expect_wrong(testing::edit(body, "use R2, R6", "use R2, R2"));
}

// Threads with P0, in which %4 is undefined, write what they have.
TEST(Uniform, ThreadsInWhichTheNameIsUndefinedWriteUnderAGuardAsWell) {
  const std::string body = R"(
    #0 %7, %0 = a           | P0, R0 = a
    #1 @!%7 %4 = b          | @!P0 UR0 = b
    +10                     | @P0 UR0 = copy R0
    #2 @!%7 use %4 !write   | @!P0 use UR0 !write
    #3 use %0 !write        | use R0 !write
    #4 exit
)";
  expect_wrong(body);
  expect_right(testing::edit(body, "@P0 UR0 = copy R0", "@P0 UR1 = copy R0"));
}

// What P0 holds in the other threads is undefined in the program, which sees it before.
TEST(Uniform, WhatTheProgramFindsByChanceIsUndefined) {
  expect_right(R"(
    #0 %10 = a              | P1 = a
    #1 use %7 !write        | use P0 !write
    #2 @%10 %7 = b          | @P1 P0 = b
    #3 %8 = copy %7         | copy !deleted
    +10                     | R9{inout} = bit_spill P0, 0
    +11                     | UP0 = bit_refill R9, 0
    #4 @%8 %4 = c           | @UP0 UR0 = c
    #5 %0 = copy %4         | R0 = copy UR0
    #6 @%8 use %0 !write    | @UP0 use R0 !write
    #7 exit
)");
}

// A kept copy of the program defines its names, so that its own come first, though it moves before it renames.
TEST(Uniform, AGuardedCopyOfWhatIsUndefinedKeepsWhatTheGuardLeaves) {
  const std::string body = R"(
    #0 %7 = a               | P0 = a
    #1 %4 = b               | UR0 = b
    +10                     | R5 = copy UR0
    +11                     | UR1 = copy R5
    #2 @%7 %4 = copy %0     | @P0 UR1 = copy R0
    +12                     | R6 = copy UR1
    #3 %1 = copy %4         | copy !deleted
    #4 @!%7 use %1 !write   | @!P0 use R6 !write
    #5 use %1 !write        | use R6 !write
    #6 exit
)";
  expect_right(body);
  // Here it is defined, as a value that the program itself puts into a uniform vreg.
  expect_right(testing::edit(testing::edit(body, "#0 %7 = a               | P0 = a", "#0 %7, %0 = a | P0, R0 = a"),
                             "    #4 @!%7 use %1 !write   | @!P0 use R6 !write\n", ""));
}

// A write of some bytes leaves the others as they are.
TEST(Uniform, BytesUnderComplementaryGuardsAreToldApart) {
  const std::string body = R"(
    #0 %7 = p             | P0 = p
    #1 %4 = a             | UR0 = a
    #2 %5 = b             | UR1 = b
    #3 %0 = copy %4       | copy !deleted
    +10                   | spill UR0, slot 0
    +11                   | UR2 = copy UR1
    +12                   | @P0 UR2.lo = refill slot 0
    +13                   | @P0 UR2.hi = refill slot 0+2
    +14                   | @!P0 UR2.hi = refill slot 0+2
    +15                   | @!P0 UR2.lo = refill slot 0
    +16                   | R0 = copy UR2
    #4 use %0, %5 !write  | use R0, UR1 !write
    #5 exit
)";
  expect_right(body);
  // Where the guard does not hold UR2 keeps nothing, since other threads write it.
  const std::string kept = testing::edit(testing::edit(body, "    +14                   | @!P0 UR2.hi = refill slot 0+2\n", ""),
                                         "    +15                   | @!P0 UR2.lo = refill slot 0\n", "");
  expect_wrong(testing::edit(testing::edit(kept, "copy %4", "copy %5"), "#4 use %0, %5 !write  | use R0, UR1",
                             "#4 @!%7 use %0 !write | @!P0 use R0"));
}

// What is undefined in the first lap alone destroys nothing.
TEST(Uniform, AnOldValueThatTheFirstLapLacks) {
  expect_right(R"(
    #0 %7 = a               | P0 = a
    #1 %0{inout} = b        | R0{inout} = b
    #2 %0, %4 = copy %4, %0 | R0, UR0 = copy UR0, R0
    #3 bra -> b1
  block b1
    #4 cbra %7 -> b2, b1    | cbra P0 -> b2, b1
  block b2
    #5 @%7 %4 = copy %0     | @P0 UR0 = copy R0
    #6 bra -> b0
)");
}

TEST(Uniform, BytesOfASlotAreToldApart) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %4 = b            | UR0 = b
    +10                  | spill R0, slot 2
    +11                  | spill UR0, slot 2+4
    +12                  | UR2 = refill slot 2+4
    +13                  | R1 = copy UR2
    #2 use %0, %4 !write | use R0, UR2 !write
    #3 %1 = copy %4      | copy !deleted
    #4 use %1 !write     | use R1 !write
    #5 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(testing::edit(body, "UR2 = refill slot 2+4", "UR2 = refill slot 2"),
                             "#2 use %0, %4 !write | use R0, UR2", "#2 use %0, %4 !write | use R1, UR0"));
}

TEST(Uniform, HalvesOfARegisterAreToldApart) {
  const Pair halves = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b16 uniform
  block b0
    #0 %1 = a                | R0 = a
    #1 %2 = b                | R1 = b
    #2 %0 = pack %1, %2      | R2 = pack R0, R1
    +10                      | UR0 = copy R2
    +11                      | R3 = copy UR0
    #3 use %0.hi !write      | use R3.hi !write
    #4 exit
)")};
  testing::expect_right(halves);
  Pair low = halves;
  low.before = testing::edit(low.before, "%0.hi", "%0.lo");
  low.after = testing::edit(low.after, "R3.hi", "R3.lo");
  testing::expect_wrong(low);
}

TEST(Uniform, BitsOfAPackAreToldApart) {
  const std::string body = R"(
    #0 %7 = p            | P0 = p
    #1 %8 = q            | UP1 = q
    #2 %0 = const 0      | R0 = const 0
    +10                  | R0{inout} = bit_spill P0, 0
    +11                  | R0{inout} = bit_spill UP1, 1
    +12                  | UR0 = copy R0
    +13                  | R1 = copy UR0
    +14                  | UP2 = bit_refill R1, 1
    +15                  | P3 = bit_refill R1, 0
    #3 use %7, %8 !write | use P0, UP2 !write
    #4 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(body, "use P0, UP2", "use P3, UP2"));
}

// A guard that varies by thread chooses which of two uniform values the register has last.
TEST(Uniform, AGuardThatVariesChoosesWhatARegisterHolds) {
  const std::string body = R"(
    #0 %4 = a        | UR0 = a
    #1 %5 = b        | UR1 = b
    #2 %7 = p        | P0 = p
    #3 %0 = copy %4  | copy !deleted
    #4 @%7 %0 = copy %5 | copy !deleted
    +10              | UR3 = copy UR0
    +11              | @P0 UR3 = copy UR1
    +12              | R0 = copy UR3
    #5 use %0 !write | use R0 !write
    #6 exit
)";
  expect_wrong(body);
  expect_right(testing::edit(testing::edit(testing::edit(body, "#2 %7 = p        | P0", "#2 %8 = p        | UP0"), "@%7", "@%8"),
                             "@P0", "@UP0"));
  // Under the guard alone all threads find the value.
  expect_right(testing::edit(testing::edit(body, "#5 use %0 !write | use", "#5 @%7 use %0 !write | @P0 use"), "UR3 = copy UR0",
                             "UR3 = copy UR3"));
}

TEST(Uniform, ABranchThatVariesChoosesWhatARegisterHolds) {
  const std::string body = R"(
    #0 %4 = a            | UR0 = a
    #1 %5 = b            | UR1 = b
    #2 %7 = p            | P0 = p
    #3 cbra %7 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #4 %0 = copy %4      | copy !deleted
    +10                  | UR3 = copy UR0
    #5 bra -> b3
  block b2
    #6 %0 = copy %5      | copy !deleted
    +11                  | UR3 = copy UR1
    #7 bra -> b3
  block b3
    +12                  | R0 = copy UR3
    #8 use %0 !write     | use R0 !write
    #9 exit
)";
  expect_wrong(body);
  // The branch goes by a uniform predicate.
  expect_right(testing::edit(testing::edit(body, "#2 %7 = p            | P0", "#2 %8 = p            | UP0"),
                             "#3 cbra %7 -> b1, b2 | cbra P0", "#3 cbra %8 -> b1, b2 | cbra UP0"));
  // One value on both ways.
  expect_right(testing::edit(testing::edit(body, "%0 = copy %5", "%0 = copy %4"), "UR3 = copy UR1", "UR3 = copy UR0"));
  // What one way leaves undefined may be anything there.
  expect_right(testing::edit(testing::edit(body, "#6 %0 = copy %5      | copy !deleted", "#6 nop | nop"), "UR3 = copy UR1",
                             "UR3 = copy R7"));
}

// Values that stay the same around loops, whose branches vary.
TEST(Uniform, AValueThatALoopLeavesAloneStaysShared) {
  const std::string body = R"(
    #0 %4 = a            | UR0 = a
    #1 %0 = copy %4      | copy !deleted
    #2 bra -> b1
  block b1
    #3 %7 = p            | P0 = p
    #4 cbra %7 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #5 %8 = q            | UP0 = q
    #6 cbra %7 -> b2, b1 | cbra P0 -> b2, b1
  block b3
    +12                  | R0 = copy UR0
    #8 use %0 !write     | use R0 !write
    #9 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(testing::edit(body, "#0 %4 = a            | UR0 = a", "#0 %1 = a | R1 = a\n    +14 | UR0 = copy R1"),
                             "%0 = copy %4", "%0 = copy %1"));
}

TEST(Uniform, UndefinedContentIsTakenForShared) {
  // Of R9, of the old value that a guarded def keeps, of what one half of a slot never got.
  expect_right(R"(
    #0 %0 = a            | R0 = a
    +10                  | UR2 = copy R9
    +11                  | UR0 = copy UR2
    #1 %7 = p            | P0 = p
    #2 @%7 %4 = b        | @P0 UR0 = b
    +12                  | R1 = copy UR0
    +13                  | UR1 = copy R1
    #3 @%7 use %4 !write | @P0 use UR1 !write
    #4 use %0, %4 !write | use R0, UR1 !write
    #5 exit
)");
}

// The other side of a guarded def of a uniform register is no place for another value.
TEST(Uniform, AGuardedDefTakesTheRegisterOnBothSides) {
  expect_wrong(R"(
    #0 %4 = a             | UR0 = a
    #1 %0 = copy %4       | copy !deleted
    #2 %7 = p             | P0 = p
    #3 @%7 %5 = b         | @P0 UR0 = b
    #4 @%7 use %5 !write  | @P0 use UR0 !write
    +10                   | R0 = copy UR0
    #5 @!%7 use %0 !write | @!P0 use R0 !write
    #6 exit
)");
}

// The threads in which %7 is false read %4 where the others have written.
TEST(Uniform, AnInsertedWriteUnderAGuardTakesTheRegisterFromTheOthers) {
  const std::string body = R"(
    #0 %4 = b               | UR0 = b
    #1 %7, %0 = a           | P0, R1 = a
    +10                     | @P0 UR0 = copy R1
    #2 @!%7 use %4 !write   | @!P0 use UR0 !write
    #3 use %0 !write        | use R1 !write
    #4 exit
)";
  expect_wrong(body);
  expect_wrong(testing::edit(body, "UR0 = copy R1", "UR0.hi = copy R1.hi"));
  expect_right(testing::edit(body, "UR0 = copy R1", "UR1 = copy R1"));
  expect_right(testing::edit(body, "#2 @!%7 use %4 !write   | @!P0 use UR0", "#2 @%7 use %0 !write    | @P0 use R1"));
  // What is written is the same in all of them.
  expect_wrong(testing::edit(testing::edit(body, "#0 %4 = b               | UR0", "#0 %4, %5 = b           | UR0, UR1"), "copy R1",
                             "copy UR1"));
  const std::string copied =
      testing::edit(body, "#2 @!%7 use %4 !write   | @!P0 use UR0 !write",
                    "#5 @!%7 %5 = copy %4    | @!P0 UR3 = copy UR0\n    #2 @!%7 use %5 !write   | @!P0 use UR3 !write");
  expect_wrong(copied);
  expect_right(testing::edit(copied, "    +10                     | @P0 UR0 = copy R1\n", ""));
}

// All write UR2: those in which %1 is undefined with what they have in R2, even if that is the same in all of them.
TEST(Uniform, ThreadsInWhichTheNameIsUndefinedWriteAsWell) {
  const std::string body = R"(
    #0 %7, %0 = a           | P0, R2 = a
    +10                     | R9 = copy R2
    #1 @!%7 %1 = const 5    | @!P0 R2 = const 5
    +11                     | UR2 = copy R2
    +12                     | R3 = copy UR2
    #2 @!%7 use %1 !write   | @!P0 use R3 !write
    #3 use %0 !write        | use R9 !write
    #4 exit
)";
  expect_wrong(body);
  expect_right(testing::edit(body, "+11                     | UR2 = copy R2", "+11                     | @!P0 UR2 = copy R2"));
  expect_wrong(testing::edit(
      testing::edit(body, "+10                     | R9 = copy R2", "+10 | R9 = copy R2\n    #5 %2 = const 7 | R2 = const 7"),
      "use %0 !write        | use R9", "use %0, %2 !write | use R9, R2"));
  // What they have is undefined.
  expect_right(testing::edit(testing::edit(body, "| @!P0 R2 = const 5", "| @!P0 R4 = const 5"), "UR2 = copy R2", "UR2 = copy R4"));
}

// In the other threads %1 is undefined and its register keeps what varies. The program itself moves that to its uniform vreg.
TEST(Uniform, TheProgramMayWriteWhatIsUndefinedToItsUniformVregs) {
  expect_right(R"(
    #0 %7, %0 = a        | P0, R0 = a
    #1 @%7 %1 = b        | @P0 R0 = b
    #2 %4 = copy %1      | UR0 = copy R0
    +10                  | R6 = copy UR0
    #3 %2 = copy %4      | copy !deleted
    #4 use %2 !write     | use R6 !write
    #5 exit
)");
}

// UR0 and UP0 hold %4 and %8 at the head of b2, which one way leaves undefined.
TEST(Uniform, WhatAUniformRegisterHoldsWhereWaysMeetMayGoOutAndComeBack) {
  const std::string body = R"(
    #0 %7 = a              | P0 = a
    #1 cbra %7 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #2 %4, %8 = b          | UR0, UP0 = b
    +13                    | R4 = copy UR0
    #3 bra -> b2
  block b2
    #4 @%8 %5 = c          | @UP0 UR0 = c
    +10                    | R5 = copy UR0
    +11                    | UR1 = copy R5
    +12                    | R6 = copy UR1
    #5 %0 = copy %5        | copy !deleted
    #6 use %0 !write       | use R6 !write
    #8 %1 = copy %4        | copy !deleted
    #9 use %1 !write       | use R4 !write
    #7 exit
)";
  expect_right(body);
}

TEST(Uniform, AnUndefinedUniformReadWaivesNothing) {
  expect_wrong(R"(
    #0 %0 = a            | R0 = a
    +10                  | UR2 = copy R0
    #1 use %5 !write     | use UR4 !write
    +11                  | R1 = copy UR2
    #2 use %0 !write     | use R1 !write
    #3 exit
)");
}

TEST(Uniform, AnArchitecturalRegisterIsOfEachThreadUnlessMarked) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b32 fixed R9 architectural
  block b0
    #0 %0 = a %1         | R0 = a R9
    +4                   | UR0 = copy R9
    +5                   | R1 = copy UR0
    #1 %0 = copy %1      | copy !deleted
    #2 use %0, %1 !write | use R1, R9 !write
    #3 exit
)")};
  testing::expect_wrong(p);
  Pair marked = p;
  marked.before = testing::edit(marked.before, "R9 architectural", "R9 uniform architectural");
  marked.after = testing::edit(marked.after, "fixed R9 architectural", "fixed R9 uniform architectural");
  testing::expect_right(marked);
}

TEST(Uniform, ARematOfWhatVariesVaries) {
  const std::string body = R"(
    #0 %0 = a !remat | a !remat !deleted
    +5               | UR5 = remat #0
    +6               | R5 = copy UR5
    #1 use %0 !write | use R5 !write
    #2 exit
)";
  expect_wrong(body);
  expect_right(testing::edit(testing::edit(body, "#0 %0 =", "#0 %9 ="), "use %0", "use %9"));
}

TEST(Uniform, ACalleeSavedRegisterIsOfEachThread) {
  Pair p = {side_by_side(R"(
  vreg %0 R b32
  block b0
    +5               | UR5 = copy R24
    #0 %0 = a        | R24 = a
    #1 use %0 !write | use R24 !write
    +6               | R24 = copy UR5
    #2 ret
)")};
  p.kind = "device";
  testing::expect_wrong(p);
}

// R2 has what %1 was, wherever it came through.
TEST(Uniform, WhatIsWrongWithoutUniformRegistersIsNotReported) {
  const std::string body = R"(
    #0 %0, %1 = a    | R0, R1 = a
    +10              | UR3 = copy R1
    +11              | R2 = copy UR3
    #1 use %0 !write | use R2 !write
    #2 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(body, "use %0", "use %1"));
}

// The value under the guard is one with another behind the join: the quick analysis does not see that.
TEST(Uniform, WhatTheSlowerAnalysisFindsRightIsRight) {
  const std::string body = R"(
    #0 %0, %4, %5, %7, %8 = a | R0, UR0, UR1, P0, UP0 = a
    #1 cbra %8 -> b1, b2      | cbra UP0 -> b1, b2
  block b1
    #2 %1 = copy %0           | copy !deleted
    #3 @%7 %1 = copy %4       | copy !deleted
    +10                       | UR3 = copy R0
    +11                       | @P0 UR3 = copy UR0
    +12                       | R2 = copy UR3
    #4 bra -> b3
  block b2
    #5 %1 = copy %5           | copy !deleted
    +13                       | R2 = copy UR1
    #6 bra -> b3
  block b3
    #7 @%7 use %1 !write      | @P0 use R2 !write
    #8 exit
)";
  expect_right(body);
  expect_wrong(testing::edit(testing::edit(body, "@%7 use", "@!%7 use"), "@P0 use", "@!P0 use"));
}

// The quick analysis takes the slot for lost without any uniform register.
TEST(Uniform, WhatTheSlowerAnalysisAloneFindsRightMayBeSpoilt) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    +10                  | spill R0, slot 0
    #1 %7 = p            | P0 = p
    #2 %10 = q           | P1 = q
    #3 @%7 %0 = b        | @P0 R5 = b
    #4 cbra %10 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    +11                  | @P0 spill R5, slot 0
    #5 bra -> b3
  block b2
    #6 bra -> b3
  block b3
    +12                  | @P0 spill R5, slot 0
    +13                  | R0 = refill slot 0
    #7 use %0 !write     | use R0 !write
    #8 exit
)";
  expect_right(body);
  const std::string moved = testing::edit(
      body, "    #7 use", "    +14                  | UR0 = copy R0\n    +15                  | R0 = copy UR0\n    #7 use");
  expect_wrong(moved);
  expect_right(testing::edit(moved, "    #7 use", "    +16                  | R0 = refill slot 0\n    #7 use"));
}

// What went through UR3 lies below more guards than the analysis looks into.
TEST(Uniform, TooManyGuardsLeaveItUndecided) {
  std::string body = R"(
    #0 %0 = a        | R0 = a
    +10000           | UR3 = copy R0
    +10001           | R5 = copy UR3
)";
  int id = 2;
  for (; id < 2 * (Values::kMaxDepth + 20); id += 2)
    body += fmt::format("    #{} %7 = p | P0 = p\n    #{} @%7 %0 = b | @P0 R0 = b\n    +{} | @P0 R5 = copy R0\n", id, id + 1,
                        20'000 + id);
  body += fmt::format("    #{} use %0 !write | use R5 !write\n    #{} exit\n", id, id + 1);
  const JudgeResult r = testing::judge_pair(uniform_judge(), testing::uniform_pair(body));
  EXPECT_EQ(r.verdict, Verdict::Inconclusive) << testing::describe(r);
  EXPECT_EQ(r.reason, fmt::format("at #{} too many guards lie on top of one another", id));
}

TEST(Uniform, PairsThatCannotBeReadAreSkipped) {
  const JudgeResult r = testing::judge_pair(uniform_judge(), with(testing::uniform_pair(R"(
    #0 %0 = a        | R0 = a
    +10              | UR3 = copy R0
    +11              | R1 = copy UR3
    #1 use %0 !write | use R1 !write
    #2 exit
)"),
                                                                  "    #0 R0 = a\n", ""));
  EXPECT_EQ(r.verdict, Verdict::Skipped) << testing::describe(r);
}

}  // namespace
}  // namespace regduel::oracles
