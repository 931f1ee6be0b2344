#include "passes/nvptx/interference.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

using testing::Prepared;
using testing::program;
using testing::words;

bool interfere(const std::string& body, int a, int b) { return Prepared(program(body)).interfere(a, b); }

TEST(Interference, TwoValuesAtOnePoint) {
  const std::string body = words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 st %0, %1 !write
    #3 exit
)";
  EXPECT_TRUE(interfere(body, 0, 1));
  EXPECT_FALSE(interfere(words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = op %0
    #2 st %1 !write
    #3 exit
)",
                         0, 1));
}

TEST(Interference, ADeadDefToo) {
  EXPECT_TRUE(interfere(words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 st %0 !write
    #3 exit
)",
                        0, 1));
}

TEST(Interference, ACopyLeavesTwoEqual) {
  const std::string copied = words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 st %0, %1 !write
)";
  EXPECT_FALSE(interfere(copied + "    #3 exit\n", 0, 1));
  EXPECT_TRUE(interfere(copied + R"(    #3 %0 = ld
    #4 st %0, %1 !write
    #5 exit
)",
                        0, 1))
      << "until one is written";
}

TEST(Interference, ASwap) {
  EXPECT_TRUE(interfere(words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 %0, %1 = copy %1, %0
    #3 st %0, %1 !write
    #4 exit
)",
                        0, 1));
  EXPECT_TRUE(interfere(words(3) + R"(  block b0
    #0 %0 = ld
    #1 %1, %2 = copy %0, %0
    #2 st %1, %2 !write
    #3 exit
)",
                        1, 2))
      << "one instruction cannot write a register twice, be it the same value";
}

TEST(Interference, AnEarlierMergeTakesItAway) {
  Prepared s(program(words(3) + R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = copy %0
    #3 st %1, %2 !write
    #4 exit
)"));
  EXPECT_TRUE(s.interfere(1, 2)) << "%2 is written where %1 lives";
  s.merge(0, 1);
  EXPECT_FALSE(s.interfere(1, 2)) << "by a copy of what is one with %1 now";
}

TEST(Interference, PhisOfOneBlock) {
  const std::string body = words(4) +
                           R"(  vreg %4 P pred
  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 bra -> b1
  block b1
    #3 %2 = phi b0: %0, b1: %3
    #4 %3 = phi b0: %1, b1: %2
    #5 cbra %4 -> b1, b2
  block b2
    #6 st %2, %3 !write
    #7 exit
)";
  EXPECT_TRUE(interfere(body, 2, 3));
  EXPECT_FALSE(interfere(body, 0, 2));
  EXPECT_FALSE(interfere(body, 1, 3));
}

TEST(Interference, TheLostCopy) {
  const std::string body = words(3) +
                           R"(  vreg %3 P pred
  block b0
    #0 %0 = ld
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %2
    #3 %2 = add %1
    #4 cbra %3 -> b1, b2
  block b2
    #5 st %1 !write
    #6 exit
)";
  EXPECT_TRUE(interfere(body, 1, 2));
  EXPECT_FALSE(interfere(body, 0, 1));
}

TEST(Interference, APhiOfSomethingThatLivesOnIsNoCopyOfIt) {
  EXPECT_TRUE(interfere(words(3) +
                            R"(  vreg %3 P pred
  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 cbra %3 -> b1, b2
  block b1
    #3 bra -> b2
  block b2
    #4 %2 = phi b0: %0, b1: %1
    #5 st %0, %2 !write
    #6 exit
)",
                        0, 2));
}

TEST(Interference, TiesNeedTheRegister) {
  // %1 takes the register of %0, which dies; %2 = %0 would keep it.
  const std::string body = words(3) +
                           R"(  block b0
    #0 %0 = ld
    #1 %2 = copy %0
    #2 %1{tied 1} = op %0
    #3 st %1, %2 !write
    #4 exit
)";
  EXPECT_TRUE(interfere(body, 0, 2));
  EXPECT_FALSE(interfere(body, 0, 1));
}

TEST(Interference, EarlyClobber) {
  EXPECT_TRUE(interfere(words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1{early} = op %0
    #2 st %1 !write
    #3 exit
)",
                        0, 1));
  EXPECT_TRUE(interfere(words(2) + R"(  block b0
    #1 %1{early} = op %0
    #2 st %1 !write
    #3 exit
)",
                        0, 1))
      << "undefined, but read";
}

TEST(Interference, EachPiece) {
  const std::string body =
      R"(  vreg %0 R b128
  vreg %1 R b128
  block b0
    #0 %0 = ld
    #1 %1.d0 = copy %0.d0
    #2 %1.d1 = ld
)";
  EXPECT_TRUE(interfere(body + "    #3 st %1, %0.d1 !write\n    #4 exit\n", 0, 1));
  EXPECT_FALSE(interfere(body + "    #3 st %1, %0.d0 !write\n    #4 exit\n", 0, 1))
      << "the low halves are equal, the high one is dead";
}

TEST(Interference, TwoPiecesWrittenByOneInstruction) {
  Prepared s(program(
      R"(  vreg %0 R b128
  vreg %1 R b128
  block b0
    #0 %0.d0, %1.d1 = ld
    #1 st %0.d0, %1.d1 !write
    #2 exit
)"));
  EXPECT_FALSE(s.interfere(0, 1));
  EXPECT_TRUE(s.interference.clash_in_an_instruction(ir::VRegId(0), ir::VRegId(1)));
}

TEST(Interference, OnlyCopies) {
  Prepared s(program(words(3) + R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = ld
    #3 st %0, %1, %2 !write
    #4 exit
)"));
  EXPECT_TRUE(s.interference.only_copies(ir::VRegId(1), ir::VRegId(0)));
  EXPECT_FALSE(s.interference.only_copies(ir::VRegId(2), ir::VRegId(0)));
}

}  // namespace
}  // namespace regduel::passes::nvptx
