// A uniform register goes out and comes back, while threads that leave its vreg undefined have something else in it.

#include "oracles/uniform/copied_out.h"

#include "oracles/uniform/testing.h"

namespace regduel::oracles {
namespace {

using testing::edit;
using testing::expect_right;
using testing::expect_wrong;

// UR0 holds what varies until the threads with P0 define %4 there. From then on all threads find the same in it.
const std::string kOut = R"(
    #0 %7, %0 = a           | P0, R0 = a
    +10                     | UR0 = copy R0
    #1 @%7 %4 = b           | @P0 UR0 = b
    +11                     | R5 = copy UR0
)";
const std::string kBack = R"(
    +12                     | UR1 = copy R5
    #2 %1 = copy %4         | R1 = copy UR1
    #3 use %1, %0 !write    | use R1, R0 !write
    #4 exit
)";
const std::string kOutAndBack = kOut + kBack;
std::string moved(const std::string& out, const std::string& back) {
  return edit(edit(kOutAndBack, "R5 = copy UR0", out), "UR1 = copy R5", back);
}

TEST(CopiedOut, WhatComesOutOfAUniformRegisterIsTheSameInAllThreads) {
  expect_right(kOutAndBack);
  expect_right(moved("spill UR0, slot 0", "UR1 = refill slot 0"));
  expect_right(moved("R5 = copy UR0\n    +13 | spill R5, slot 0\n    +14 | R6 = refill slot 0", "UR1 = copy R6"));
  expect_right(moved("R5, R6 = copy UR0, R0", "UR1, UR2 = copy R5, R6"));
}

TEST(CopiedOut, WhatSomeThreadsWriteIsNot) {
  expect_wrong(moved("R5 = copy R0\n    +13 | @P0 R5 = copy UR0", "UR1 = copy R5"));
  expect_wrong(moved("R5 = copy UR0\n    +13 | @!P0 R5 = copy R0", "UR1 = copy R5"));
  expect_wrong(moved("R5 = copy UR0\n    +13 | @!P0 R5.lo = copy R0.lo", "UR1 = copy R5"));
  expect_wrong(moved("R5 = copy UR0\n    +13 | @!P0 R5 = copy R0\n    +14 | R6 = copy R5", "UR1 = copy R6"));
}

TEST(CopiedOut, APredicateGoesOutToABitOfAPack) {
  const std::string body = R"(
    #0 %7, %10 = a          | P0, P1 = a
    +10                     | R9{inout} = bit_spill P1, 3
    +11                     | UP0 = bit_refill R9, 3
    #1 @%7 %8 = b           | @P0 UP0 = b
    +12                     | R9{inout} = bit_spill UP0, 3
    +13                     | UP1 = bit_refill R9, 3
    #2 use %10 !write       | use P1 !write
    #3 %10 = copy %8        | P2 = copy UP1
    #4 @%7 use %10 !write   | @P0 use P2 !write
    #5 exit
)";
  expect_right(body);
  expect_wrong(edit(body, "+13                     |", "+16 | @!P0 R9{inout} = bit_spill P1, 3\n    +13                     |"));
  expect_right(edit(body, "+13                     |", "+16 | @!P0 R9{inout} = bit_spill P1, 2\n    +13                     |"));
  // Some threads bring it back to where it was.
  expect_right(edit(edit(body, "UP1 = bit_refill R9", "@!P0 UP0 = bit_refill R9"), "P2 = copy UP1", "P2 = copy UP0"));
}

// All threads find in UR0 what was copied out of it, whichever of them bring it back; what came to it since is lost.
TEST(CopiedOut, SomeThreadsMayBringItBackForAll) {
  const std::string body = R"(
    #0 %7, %10, %0 = a      | P0, P1, R0 = a
    +10                     | UR0 = copy R0
    #1 @%7 %4 = b           | @P0 UR0 = b
    +11                     | spill UR0, slot 0
    +12                     | @P1 UR0 = refill slot 0
    #2 %1 = copy %4         | R1 = copy UR0
    #3 use %1, %0 !write    | use R1, R0 !write
    #4 exit
)";
  expect_right(body);
  const std::string stale = edit(edit(body, "    #1 @%7 %4 = b           | @P0 UR0 = b\n", ""), "    +12                     | @P1",
                                 "    #1 @%7 %4 = b           | @P0 UR0 = b\n    +12                     | @!P0");
  expect_wrong(stale);
  expect_right(edit(stale, "@!P0 UR0 = refill", "@!P0 UR2 = refill"));
  // R5 is not copied out: some threads keep R0 in it.
  expect_wrong(edit(edit(body, "spill UR0, slot 0", "R5 = copy R0\n    +13 | @P0 R5 = copy UR0"), "@P1 UR0 = refill slot 0",
                    "@!P0 UR0 = copy R5"));
}

// An instruction of the program writes R5 in the other threads.
TEST(CopiedOut, AnInstructionMakesWhatMayVary) {
  const std::string body = moved("R5 = copy UR0", "UR1 = copy R5");
  expect_wrong(edit(edit(body, "    +12 ", "    #5 @!%7 %2 = c          | @!P0 R5 = c\n    +12 "),
                    "use %1, %0 !write    | use R1, R0", "use %1, %0, %2 !write | use R1, R0, R5"));
}

// The way back is behind a loop, in which R5 stays as it is or is written anew, and behind a branch by what varies.
TEST(CopiedOut, WhereWaysMeetItIsOneWrite) {
  const auto body = [](const std::string& in_loop) {
    return kOut + "    #5 bra -> b1\n  block b1\n" + in_loop + R"(
    #6 %10 = p              | P1 = p
    #7 cbra %10 -> b1, b2   | cbra P1 -> b1, b2
  block b2
)" + kBack;
  };
  expect_right(body("    +13 | R6 = copy R5"));
  expect_right(body("    +13 | R5 = copy UR0"));
  expect_wrong(body("    +13 | @!P0 R5 = copy R0"));
}

// In the next block it is still so, but not where a lap of a loop may have written R5 in some threads.
TEST(CopiedOut, OverEdgesItIsTheSameWhereItIsOnAllPaths) {
  const std::string body = kOut + "    #5 bra -> b1\n  block b1\n" + kBack;
  expect_right(body);
  expect_wrong(edit(body, "  block b1\n", R"(  block b1
    #6 %10 = p              | P1 = p
    #7 cbra %10 -> b2, b3   | cbra P1 -> b2, b3
  block b2
    +13                     | @!P0 R5 = copy R0
    #8 bra -> b1
  block b3
)"));
}

// R5 is written in the inner one of two loops, whose exit is seen before that is known.
TEST(CopiedOut, LapsOfLoopsAreGoneThroughUntilNothingChanges) {
  const std::string body = kOut + R"(
    #5 bra -> b1
  block b1
    #6 %10 = p              | P1 = p
    #7 cbra %10 -> b2, b5   | cbra P1 -> b2, b5
  block b2
    #8 %10 = q              | P1 = q
    #9 cbra %10 -> b3, b4   | cbra P1 -> b3, b4
  block b3
    +13                     | @!P0 R5 = copy R0
    #21 bra -> b2
  block b4
    #22 bra -> b1
  block b5
)" + kBack;
  expect_wrong(body);
  expect_right(edit(body, "@!P0 R5 = copy R0", "@!P0 R6 = copy R0"));
}

// A phi that was kept copies on its edge, and on no other one.
TEST(CopiedOut, APhiCopiesOnItsEdge) {
  const std::string body = R"(
    #0 %7, %10, %0 = a      | P0, P1, R0 = a
    +10                     | UR0 = copy R0
    #1 @%7 %4 = b           | @P0 UR0 = b
    +14                     | R5 = copy R0
    +15                     | @P0 R5 = copy UR0
    #11 %3 = copy %4        | R8 = copy UR0
    #5 cbra %10 -> b1, b2   | cbra P1 -> b1, b2
  block b1
    #6 %2 = phi b0: %3      | R5 = phi b0: R8
    +12                     | UR1 = copy R5
    #2 %1 = copy %4         | R1 = copy UR1
    #3 use %1, %0 !write    | use R1, R0 !write
    #4 exit
  block b2
    #7 use %0 !write        | use R0 !write
    #8 exit
)";
  expect_right(body);
  expect_wrong(edit(body, "    #7 use %0 !write        | use R0 !write", R"(
    +13                     | UR1 = copy R5
    #9 %1 = copy %4         | R1 = copy UR1
    #7 use %1, %0 !write    | use R1, R0 !write)"));
}

}  // namespace
}  // namespace regduel::oracles
