// What the program before and the heads of blocks say about values that all threads share.

#include "oracles/uniform/shared_values.h"

#include <regex>

#include "oracles/uniform/testing.h"

namespace regduel::oracles {
namespace {

using testing::edit;
using testing::expect_right;
using testing::expect_wrong;

// %4 is defined under %7, and its value is kept under %10 as well, whichever of the two is asked first.
TEST(SharedValues, AGuardedDefOfAUniformVregIsShared) {
  for (const auto& [one, other] : {std::pair("%7", "%10"), std::pair("%10", "%7")}) {
    const auto reg = [](std::string_view vreg) { return vreg == "%7" ? "P0" : "P1"; };
    expect_right(fmt::format(R"(
    #0 %7 = p                 | P0 = p
    #1 %10 = q                | P1 = q
    #2 @{0} %4 = a            | @{2} UR0 = a
    #3 @{1} %0 = copy %4      | @{3} R0 = copy UR0
    +10                       | UR1 = copy R0
    +11                       | R1 = copy UR1
    #4 use %0 !write          | use R1 !write
    #5 exit
)",
                             one, other, reg(one), reg(other)));
  }
}

TEST(SharedValues, WhatAPhiMovesToAUniformVregIsShared) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    +10                  | UR3 = copy R0
    +11                  | R1 = copy UR3
    #1 %8 = p            | UP0 = p
    #2 cbra %8 -> b1, b2 | cbra UP0 -> b1, b2
  block b1
    #3 bra -> b3
  block b2
    #4 %1 = b            | R2 = b
    #5 bra -> b3
  block b3
    #6 %9 = phi b1: %0, b2: %1 | phi !deleted
    #7 use %9 !write     | use R5 !write
    #8 exit
)";
  const std::string moved =
      edit(edit(body, "    #3 bra", "    +12                  | R5 = copy R1\n    #3 bra"), "| R2 = b", "| R5 = b");
  const std::string read = edit(moved, "    #7 use %9 !write     | use R5", "    #7 use %9, %0 !write | use R5, R1");
  expect_right(read);
  expect_wrong(edit(read, "%9 = phi", "%2 = phi"));
}

// What one way of a branch says about %0.
const std::string kCopiedOnOneWay = R"(
    #0 %0 = a            | R0 = a
    #1 %7 = p            | P0 = p
    #2 cbra %7 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %4 = copy %0      | UR0 = copy R0
    #4 use %4 !write     | use UR0 !write
    #5 bra -> b3
  block b2
    #6 bra -> b3
  block b3
    #7 use %0 !write     | use R0 !write
    #8 exit
)";
std::string moved_through(std::string body, const std::string& before, const std::string& reg, int number = 10) {
  const std::string moves = fmt::format("    +{1}                  | {0} = copy R0\n    +{2}                  | R0 = copy {0}\n",
                                        reg, number, number + 1);
  return edit(std::move(body), before, moves + before);
}

TEST(SharedValues, WhatOneWayCopiesIsSharedThere) {
  expect_right(kCopiedOnOneWay);
  expect_right(moved_through(kCopiedOnOneWay, "    #3 %4", "UR3"));
  expect_right(moved_through(kCopiedOnOneWay, "    #5 bra", "UR3"));
  expect_wrong(moved_through(kCopiedOnOneWay, "    #6 bra", "UR3"));
  expect_wrong(moved_through(kCopiedOnOneWay, "    #7 use", "UR3"));
  expect_wrong(moved_through(kCopiedOnOneWay, "    #1 %7", "UR3"));
  // Also where %0 is made again there.
  const std::string remade = edit(edit(kCopiedOnOneWay, "    #0 %0 = a            | R0 = a",
                                       "    #9 %1 = b            | R1 = b\n    #0 %0 = a %1 !remat  | R0 = a R1 !remat"),
                                  "    #3 %4", "    +20                  | R0 = remat #0 R1\n    #3 %4");
  expect_right(moved_through(remade, "    #5 bra", "UR3"));
  expect_wrong(moved_through(remade, "    #6 bra", "UR3"));
  // A copy that all threads execute, before or behind.
  const std::string before = edit(kCopiedOnOneWay, "    #2 cbra", "    #9 %5 = copy %0      | UR1 = copy R0\n    #2 cbra");
  expect_right(moved_through(before, "    #6 bra", "UR3"));
  // On both ways, whichever is looked at first.
  const std::string both = moved_through(moved_through(kCopiedOnOneWay, "    #5 bra", "UR3"), "    #6 bra", "UR3", 12);
  expect_wrong(both);
  expect_wrong(edit(both, "-> b1, b2 | cbra P0 -> b1, b2", "-> b2, b1 | cbra P0 -> b2, b1"));
  const std::string behind = edit(kCopiedOnOneWay, "    #8 exit", "    #9 %5 = copy %0      | UR1 = copy R0\n    #8 exit");
  expect_right(moved_through(behind, "    #6 bra", "UR3"));
}

TEST(SharedValues, WhatOneEdgeGivesToAUniformVregIsSharedOnIt) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %7 = p            | P0 = p
    #2 cbra %7 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %1 = b            | R1 = b
    +20                  | R5 = copy R1
    #5 bra -> b3
  block b2
    +21                  | R5 = copy R0
    #6 bra -> b3
  block b3
    #7 %9 = phi b1: %1, b2: %0 | phi !deleted
    #8 use %9, %0 !write | use R5, R0 !write
    #9 exit
)";
  expect_right(body);
  expect_right(moved_through(body, "    #6 bra", "UR3"));
  expect_wrong(moved_through(body, "    #5 bra", "UR3"));
}

TEST(SharedValues, WhatAPhiGetsOnTheOnlyEdgeIntoItsBlockIsSharedThere) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %7 = p            | P0 = p
    #2 cbra %7 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %9 = phi b0: %0   | phi !deleted
    #4 use %9, %0 !write | use R0, R0 !write
    #5 exit
  block b2
    #6 use %0 !write     | use R0 !write
    #7 exit
)";
  expect_right(moved_through(body, "    #4 use", "UR3"));
  expect_wrong(moved_through(body, "    #6 use", "UR3"));
}

// Each lap makes another value, by a def or at the head of the loop, and only the last one is copied.
TEST(SharedValues, WhatIsCopiedBehindALoopIsTheValueOfTheLastLap) {
  const std::string body = R"(
    #0 %0, %7 = a        | R0, P0 = a
    #1 bra -> b1
  block b1
    #2 %0 = b            | R0 = b
    #3 cbra %7 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    +10                  | UR3 = copy R0
    +11                  | R1 = copy UR3
    #4 use %0 !write     | use R1 !write
    #5 bra -> b1
  block b3
    #6 %4 = copy %0      | UR0 = copy R0
    #7 use %4 !write     | use UR0 !write
    #8 exit
)";
  const std::string def = "    #2 %0 = b            | R0 = b\n", end = "    #5 bra -> b1\n";
  expect_wrong(body);
  expect_wrong(edit(edit(body, def, ""), end, def + end));
  expect_right(edit(body, "    #3 cbra", "    #9 %5 = copy %0      | UR1 = copy R0\n    #3 cbra"));
}

TEST(SharedValues, WhatPiecesOneWayTakesIsSharedThere) {
  const std::string body = R"(
  vreg %0 R b64
  vreg %1..%2 UR b32
  vreg %3 P pred
  block b0
    #0 %0 = a              | R0:R1 = a
    #1 %3 = p              | P0 = p
    #2 cbra %3 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #3 %1, %2 = unpack %0  | UR0, UR1 = unpack R0:R1
    #4 use %1, %2 !write   | use UR0, UR1 !write
    #5 exit
  block b2
    #6 use %0 !write       | use R0:R1 !write
    #7 exit
)";
  expect_right(testing::Pair(testing::side_by_side(moved_through(body, "    #3 %1", "UR3"))));
  expect_wrong(testing::Pair(testing::side_by_side(moved_through(body, "    #6 use", "UR3"))));
}

// %4 is %0 where %7 is true.
TEST(SharedValues, WhatIsCopiedUnderAGuardIsSharedUnderIt) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %4 = b            | UR0 = b
    #2 %7 = p            | P0 = p
    #3 @%7 %4 = copy %0  | @P0 UR0 = copy R0
    +10                  | @P0 UR3 = copy R0
    +11                  | @P0 R1 = copy UR3
    #4 @%7 use %0 !write | @P0 use R1 !write
    #5 use %4 !write     | use UR0 !write
    #6 exit
)";
  expect_right(body);
  expect_right(std::regex_replace(body, std::regex("@"), "@!"));
  expect_right(edit(body, "    +10", "    +9                   | UR3 = copy UR0\n    +10"));
  expect_right(edit(body, "    +10", "    +9                   | UR3 = copy R0\n    +10"));
  expect_wrong(
      edit(edit(edit(body, "@P0 UR3", "@!P0 UR3"), "@P0 R1", "@!P0 R1"), "@%7 use %0 !write | @P0", "@!%7 use %0 !write | @!P0"));
  expect_wrong(edit(edit(edit(body, "@P0 UR3", "UR3"), "@P0 R1", "R1"), "@%7 use %0 !write | @P0", "use %0 !write | "));
}

// A branch goes by what one of its ways copies: then all threads take it alike, and one way is enough for %0 as well.
TEST(SharedValues, ABranchMayGoByWhatIsSharedOnOneWay) {
  const std::string body = R"(
    #0 %0, %7 = a        | R0, P0 = a
    #1 bra -> b1
  block b1
    +10                  | UR3 = copy R0
    +11                  | R1 = copy UR3
    #2 cbra %7 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #3 %4 = copy %0      | UR0 = copy R0
    #4 %8 = copy %7      | UP0 = copy P0
    #5 use %4, %8 !write | use UR0, UP0 !write
    #6 bra -> b3
  block b3
    #7 use %0 !write     | use R1 !write
    #8 exit
)";
  expect_right(body);
  expect_wrong(edit(edit(body, "    #4 %8 = copy %7      | UP0 = copy P0\n", ""), "use %4, %8 !write | use UR0, UP0",
                    "use %4 !write | use UR0"));
}

// R1 is one of two uniform vregs, by a uniform branch.
TEST(SharedValues, ABranchMayGoByWhatMeetsAtAHead) {
  const std::string body = R"(
    #0 %0, %4, %5, %2, %8 = a | R0, UR0, UR1, R4, UP0 = a
    #1 cbra %8 -> b1, b2      | cbra UP0 -> b1, b2
  block b1
    #2 %1 = copy %4           | R1 = copy UR0
    #3 bra -> b3
  block b2
    #4 %1 = copy %5           | R1 = copy UR1
    #5 bra -> b3
  block b3
    +10                       | UR3 = copy R0
    +11                       | R2 = copy UR3
    #6 mbra %1 -> b4, b5      | mbra R1 -> b4, b5
  block b4
    #7 %6 = copy %0           | UR2 = copy R0
    #8 use %6 !write          | use UR2 !write
    #9 bra -> b5
  block b5
    #12 use %0 !write         | use R2 !write
    #13 exit
)";
  expect_right(body);
  expect_wrong(edit(body, "%1 = copy %5           | R1 = copy UR1", "%1 = copy %2 | R1 = copy R4"));
}

// b4 alone copies what is asked for; not all threads go there.
const std::string kCopiedInB4 = R"(
  block b3
    +10                    | UR3 = copy R2
    +11                    | R3 = copy UR3
    #6 use %2 !write       | use R3 !write
    #7 cbra %10 -> {0}, {1} | cbra P1 -> {0}, {1}
  block b4
    #8 {2}
    #9 exit
  block b5
    #12 exit
)";

TEST(SharedValues, WhatMeetsAtAHeadIsSharedWhereItComesFrom) {
  const std::string meet = R"(
    #0 %0, %1, %8, %10 = a | R0, R1, UP0, P1 = a
    #1 cbra %8 -> b1, b2   | cbra UP0 -> b1, b2
  block b1
    #2 %2 = copy %0        | R2 = copy R0
    #3 bra -> b3
  block b2
    #4 %2 = copy %1        | R2 = copy R1
    #5 bra -> b3)";
  for (const auto& [one, other] : {std::pair("b4", "b5"), std::pair("b5", "b4")}) {
    const std::string body =
        meet + fmt::format(fmt::runtime(kCopiedInB4), one, other, "%4, %5 = copy %0, %1 | UR0, UR1 = copy R0, R1");
    expect_wrong(body);
    expect_right(edit(edit(body, "    #1 cbra %8", "    #14 %6 = copy %1 | UR2 = copy R1\n    #1 cbra %8"), "    #14 %6",
                      "    #15 %3 = copy %0 | R5 = copy R0\n    #16 %6 = copy %0 | UR2 = copy R0\n    #14 %6"));
  }
}

TEST(SharedValues, ABranchGoesByWhatIsSharedWhereItStands) {
  const std::string meet = R"(
    #0 %4, %5, %7, %10 = a | UR0, UR1, P0, P1 = a
    #1 cbra %7 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    #2 %2 = copy %4        | R2 = copy UR0
    #3 bra -> b3
  block b2
    #4 %2 = copy %5        | R2 = copy UR1
    #5 bra -> b3)";
  for (const auto& [one, other] : {std::pair("b4", "b5"), std::pair("b5", "b4")}) {
    const std::string body = meet + fmt::format(fmt::runtime(kCopiedInB4), one, other, "%8 = copy %7 | UP0 = copy P0");
    expect_wrong(body);
    expect_right(edit(body, "    #1 cbra %7", "    #14 %8 = copy %7 | UP0 = copy P0\n    #1 cbra %7"));
  }
}

// In b1 the branch asks for it, too.
TEST(SharedValues, WhatOneWayCopiesAndGoesByIsNotSharedBefore) {
  expect_wrong(R"(
    #0 %7, %10 = a        | P0, P1 = a
    +10                   | UP3 = copy P0
    +11                   | P2 = copy UP3
    #1 use %7 !write      | use P2 !write
    #2 cbra %10 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #3 %8 = copy %7       | UP0 = copy P0
    #4 use %8 !write      | use UP0 !write
    #5 cbra %7 -> b2, b3  | cbra P0 -> b2, b3
  block b2
    #6 exit
  block b3
    #7 exit
)");
}

TEST(SharedValues, WhatEachWayCopiesIsSharedBeforeABranchThatMayVary) {
  testing::SharedValuesOf asked(R"(
    #0 %0, %1, %7 = a    | R0, R1, P0 = a
    #1 bra -> b1
  block b1
    #2 cbra %7 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #3 %4 = copy %0      | UR0 = copy R0
    #4 use %4 !write     | use UR0 !write
    #5 exit
  block b3
    #6 %5 = copy %0      | UR1 = copy R0
    #7 use %5, %1 !write | use UR1, R1 !write
    #8 exit
)");
  EXPECT_TRUE(asked.is_shared_at(1, 0));
  EXPECT_FALSE(asked.is_shared_at(1, 1));
  EXPECT_TRUE(asked.shared.add_marks_before_branches());
}

// By a def, and at the head of a loop. So what branches go by need not be looked at.
TEST(SharedValues, WhatIsCopiedInTheBlockThatMakesItIsSharedEverywhere) {
  testing::SharedValuesOf asked(R"(
    #0 %0, %1, %7 = a    | R0, R1, P0 = a
    #1 %4 = copy %0      | UR0 = copy R0
    #2 bra -> b1
  block b1
    #3 %5 = copy %1      | UR1 = copy R1
    #4 use %4, %5 !write | use UR0, UR1 !write
    #5 cbra %7 -> b2, b3 | cbra P0 -> b2, b3
  block b2
    #6 %1 = b %1         | R1 = b R1
    #7 bra -> b1
  block b3
    #8 use %0, %1 !write | use R0, R1 !write
    #9 exit
)");
  EXPECT_TRUE(asked.is_shared_at(3, 0));
  EXPECT_TRUE(asked.is_shared_at(3, 1));
  EXPECT_FALSE(asked.shared.add_marks_before_branches());
}

// Two values that all threads share, chosen by a branch that all threads take the same way.
const std::string kChosen = R"(
    #0 %4, %5, %1, %8 = a    | UR0, UR1, R1, UP0 = a
    #1 bra -> b4
  block b1
    #4 %0 = copy %4          | copy !deleted
    +10                      | R0 = copy UR0
    #5 bra -> b3
  block b2
    #6 %0 = copy %5          | copy !deleted
    +11                      | R0 = copy UR1
    #7 bra -> b3
  block b3
    +12                      | UR3 = copy R0
    +13                      | R2 = copy UR3
    #8 use %0 !write         | use R2 !write
    #9 exit
  block b4
    #2 cbra %8 -> b1, b2     | cbra UP0 -> b1, b2
)";

TEST(SharedValues, AtTheHeadOfABlockAValueIsThoseThatComeIn) {
  expect_right(kChosen);
  expect_wrong(edit(edit(kChosen, "%0 = copy %5 ", "%0 = copy %1 "), "R0 = copy UR1", "R0 = copy R1"));
}

// Another name, whose values all differ, says nothing about this one.
TEST(SharedValues, EachNameAtAHeadIsAskedByItself) {
  for (const auto& [name, other] : {std::pair("%0", "%2"), std::pair("%2", "%0")}) {
    expect_right(fmt::format(R"(
    #0 %4, %5, %1, %8 = a    | UR0, UR1, R1, UP0 = a
    #1 %3 = b                | R3 = b
    #2 cbra %8 -> b1, b2     | cbra UP0 -> b1, b2
  block b1
    #3 {0} = copy %4         | copy !deleted
    +10                      | R0 = copy UR0
    #4 {1} = copy %1         | R4 = copy R1
    #5 bra -> b3
  block b2
    #6 {0} = copy %5         | copy !deleted
    +11                      | R0 = copy UR1
    #7 {1} = copy %3         | R4 = copy R3
    #8 bra -> b3
  block b3
    +12                      | UR3 = copy R0
    +13                      | R2 = copy UR3
    #9 use {0}, {1} !write   | use R2, R4 !write
    #20 exit
)",
                             name, other));
  }
}

// The branch is not in the first block.
TEST(SharedValues, ABranchThatVariesMayStandAnywhere) {
  expect_wrong(edit(edit(edit(kChosen, "%1, %8 = a    | UR0, UR1, R1, UP0", "%1, %7 = a | UR0, UR1, R1, P0"), "cbra %8", "cbra %7"),
                    "cbra UP0", "cbra P0"));
}

TEST(SharedValues, ABranchMayGoByAWord) {
  const std::string by_word = edit(edit(kChosen, "cbra %8 ", "mbra %9 "), "cbra UP0 ", "mbra R9 ");
  const std::string shared = edit(by_word, "%1, %8 = a    | UR0, UR1, R1, UP0", "%1, %9 = a | UR0, UR1, R1, R9");
  expect_right(shared);
  expect_wrong(edit(edit(shared, "%1, %9 = a", "%1, %3 = a"), "mbra %9", "mbra %3"));
}

// b4 takes back what was assumed of b1, which comes earlier.
TEST(SharedValues, WhatComesAroundALoopIsTakenBack) {
  const std::string body = R"(
    #0 %4, %1, %8 = a        | UR0, R1, UP0 = a
    #1 %0 = copy %4          | copy !deleted
    +10                      | R0 = copy UR0
    #2 bra -> b1
  block b1
    +11                      | UR3 = copy R0
    +12                      | R2 = copy UR3
    #3 use %0 !write         | use R2 !write
    #4 cbra %8 -> b2, b3     | cbra UP0 -> b2, b3
  block b2
    #5 %0 = copy %4          | copy !deleted
    +13                      | R0 = copy UR0
    #6 bra -> b3
  block b3
    #7 cbra %8 -> b1, b4     | cbra UP0 -> b1, b4
  block b4
    #8 exit
)";
  expect_right(body);
  const std::size_t at = body.find("#5 %0 = copy %4");
  std::string varies = body;
  varies.replace(at, 15, "#5 %0 = copy %1");
  expect_wrong(edit(varies, "    +13                      | R0 = copy UR0", "    +13 | R0 = copy R1"));
}

// Two loops, and behind the inner one a branch that varies, both ways of which lead to the head of the outer one: one value.
TEST(SharedValues, OneValueInALoopInALoopIsOne) {
  expect_right(R"(
    #0 %4, %7 = a            | UR0, P0 = a
    #1 %0 = copy %4          | copy !deleted
    #2 bra -> b1
  block b1
    #3 bra -> b2
  block b2
    #4 cbra %7 -> b2, b3     | cbra P0 -> b2, b3
  block b3
    +10                      | R0 = copy UR0
    #5 use %0 !write         | use R0 !write
    #6 cbra %7 -> b4, b5     | cbra P0 -> b4, b5
  block b4
    #7 bra -> b1
  block b5
    #8 cbra %7 -> b1, b6     | cbra P0 -> b1, b6
  block b6
    #9 exit
)");
}

// At b1 meet what came around and %5; b2, from which the one comes, is behind b1 in the text.
TEST(SharedValues, TwoValuesThatComeInByALoopAreTwo) {
  expect_wrong(R"(
    #0 %4, %5, %7 = a        | UR0, UR1, P0 = a
    #1 %0 = copy %4          | copy !deleted
    +10                      | R0 = copy UR0
    #2 bra -> b2
  block b1
    +11                      | UR3 = copy R0
    +12                      | R2 = copy UR3
    #3 use %0 !write         | use R2 !write
    #4 cbra %7 -> b2, b4     | cbra P0 -> b2, b4
  block b2
    #5 cbra %7 -> b3, b1     | cbra P0 -> b3, b1
  block b3
    #6 %0 = copy %5          | copy !deleted
    +13                      | R0 = copy UR1
    #7 bra -> b1
  block b4
    #8 exit
)");
}

// The low halves are those of a uniform vreg, the high halves are not. %4 is the low half alone.
TEST(SharedValues, OfHalvesThatAreJoinedOneMayBeShared) {
  const auto pair = [](const std::string& half) {
    return testing::Pair(testing::side_by_side(fmt::format(R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b16 uniform
  vreg %3 R b32
  vreg %4 R b16
  vreg %5 UP pred
  block b0
    #0 %0, %1, %5 = a       | R0, R1, UP0 = a
    #1 %2 = copy %0.lo      | copy !deleted
    #2 %2 = copy %1.lo      | copy !deleted
    #3 cbra %5 -> b1, b2    | cbra UP0 -> b1, b2
  block b1
    #4 %3 = copy %0         | R2 = copy R0
    #5 %4 = copy %0.lo      | copy !deleted
    #6 bra -> b3
  block b2
    #7 %3 = copy %1         | R2 = copy R1
    #8 %4 = copy %1.lo      | copy !deleted
    #9 bra -> b3
  block b3
    +20                     | UR3 = copy R2
    +21                     | R3 = copy UR3
    #10 use %3.{0} !write   | use R3.{0} !write
    #11 use %4 !write       | use R2 !write
    #12 exit
)",
                                                           half)));
  };
  expect_right(pair("lo"));
  testing::expect_category(uniform_judge(), pair("hi"), testing::kShared);
}

// That all threads have one %4 does not say that they have one %7, by which it was chosen.
TEST(SharedValues, AGuardedValueIsSharedAsAWhole) {
  const std::string body = R"(
    #0 %4, %7, %10 = a       | UR0, P0, P1 = a
    #1 @%7 %4 = b            | @P0 UR0 = b
    #2 %0 = copy %4          | copy !deleted
    #3 bra -> b1
  block b1
    +10                      | UP3 = copy P0
    +11                      | P2 = copy UP3
    +12                      | R0 = copy UR0
    #4 use %0, %7 !write     | use R0, P0 !write
    #5 cbra %10 -> b1, b2    | cbra P1 -> b1, b2
  block b2
    #6 exit
)";
  expect_right(body);
  expect_wrong(edit(body, "use R0, P0", "use R0, P2"));
}

// Two values change places under 40 guards: as trees their values have 2^40 leaves.
TEST(SharedValues, AValueWithManyGuardsIsLookedAtOnce) {
  std::string body = R"(
    #0 %4, %5 = a        | UR0, UR1 = a
    #1 %0, %1 = copy %4, %5 | R0, R1 = copy UR0, UR1
)";
  for (int k = 0; k < 40; ++k)
    body += fmt::format("    #{} %8 = p | UP0 = p\n    #{} @%8 %0, %1 = copy %1, %0 | @UP0 R0, R1 = copy R1, R0\n", 2 * k + 2,
                        2 * k + 3);
  expect_right(body + R"(
    +100                 | UR3 = copy R0
    +101                 | R2 = copy UR3
    #90 use %0 !write    | use R2 !write
    #91 exit
)");
}

}  // namespace
}  // namespace regduel::oracles
