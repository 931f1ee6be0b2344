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
  const std::string body = words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 st %0, %1 !write\n    #3 exit\n";
  EXPECT_TRUE(interfere(body, 0, 1));
  EXPECT_FALSE(interfere(words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1 = op %0\n    #2 st %1 !write\n    #3 exit\n", 0, 1));
}

TEST(Interference, ADeadDefToo) {
  EXPECT_TRUE(interfere(words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 st %0 !write\n    #3 exit\n", 0, 1));
}

TEST(Interference, ACopyLeavesTwoEqual) {
  const std::string copied = words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 st %0, %1 !write\n";
  EXPECT_FALSE(interfere(copied + "    #3 exit\n", 0, 1));
  EXPECT_TRUE(interfere(copied + "    #3 %0 = ld\n    #4 st %0, %1 !write\n    #5 exit\n", 0, 1)) << "until one is written";
}

TEST(Interference, ASwap) {
  EXPECT_TRUE(interfere(
      words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 %0, %1 = copy %1, %0\n    #3 st %0, %1 !write\n    #4 exit\n",
      0, 1));
  EXPECT_TRUE(
      interfere(words(3) + "  block b0\n    #0 %0 = ld\n    #1 %1, %2 = copy %0, %0\n    #2 st %1, %2 !write\n    #3 exit\n", 1, 2))
      << "one instruction cannot write a register twice, be it the same value";
}

TEST(Interference, AnEarlierMergeTakesItAway) {
  Prepared s(program(
      words(3) + "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %2 = copy %0\n    #3 st %1, %2 !write\n    #4 exit\n"));
  EXPECT_TRUE(s.interfere(1, 2)) << "%2 is written where %1 lives";
  s.merge(0, 1);
  EXPECT_FALSE(s.interfere(1, 2)) << "by a copy of what is one with %1 now";
}

TEST(Interference, PhisOfOneBlock) {
  const std::string body =
      words(4) +
      "  vreg %4 P pred\n  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 bra -> b1\n  block b1\n    #3 %2 = phi b0: %0, b1: %3\n"
      "    #4 %3 = phi b0: %1, b1: %2\n    #5 cbra %4 -> b1, b2\n  block b2\n    #6 st %2, %3 !write\n    #7 exit\n";
  EXPECT_TRUE(interfere(body, 2, 3));
  EXPECT_FALSE(interfere(body, 0, 2));
  EXPECT_FALSE(interfere(body, 1, 3));
}

TEST(Interference, TheLostCopy) {
  const std::string body = words(3) +
                           "  vreg %3 P pred\n  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0, "
                           "b1: %2\n    #3 %2 = add %1\n"
                           "    #4 cbra %3 -> b1, b2\n  block b2\n    #5 st %1 !write\n    #6 exit\n";
  EXPECT_TRUE(interfere(body, 1, 2));
  EXPECT_FALSE(interfere(body, 0, 1));
}

TEST(Interference, APhiOfSomethingThatLivesOnIsNoCopyOfIt) {
  EXPECT_TRUE(interfere(
      words(3) +
          "  vreg %3 P pred\n  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 bra -> b2\n"
          "  block b2\n    #4 %2 = phi b0: %0, b1: %1\n    #5 st %0, %2 !write\n    #6 exit\n",
      0, 2));
}

TEST(Interference, TiesNeedTheRegister) {
  // %1 takes the register of %0, which dies; %2 = %0 would keep it.
  const std::string body =
      words(3) +
      "  block b0\n    #0 %0 = ld\n    #1 %2 = copy %0\n    #2 %1{tied 1} = op %0\n    #3 st %1, %2 !write\n    #4 exit\n";
  EXPECT_TRUE(interfere(body, 0, 2));
  EXPECT_FALSE(interfere(body, 0, 1));
}

TEST(Interference, EarlyClobber) {
  EXPECT_TRUE(
      interfere(words(2) + "  block b0\n    #0 %0 = ld\n    #1 %1{early} = op %0\n    #2 st %1 !write\n    #3 exit\n", 0, 1));
  EXPECT_TRUE(interfere(words(2) + "  block b0\n    #1 %1{early} = op %0\n    #2 st %1 !write\n    #3 exit\n", 0, 1))
      << "undefined, but read";
}

TEST(Interference, EachPiece) {
  const std::string body =
      "  vreg %0 R b128\n  vreg %1 R b128\n  block b0\n    #0 %0 = ld\n    #1 %1.d0 = copy %0.d0\n    #2 %1.d1 = ld\n";
  EXPECT_TRUE(interfere(body + "    #3 st %1, %0.d1 !write\n    #4 exit\n", 0, 1));
  EXPECT_FALSE(interfere(body + "    #3 st %1, %0.d0 !write\n    #4 exit\n", 0, 1))
      << "the low halves are equal, the high one is dead";
}

TEST(Interference, TwoPiecesWrittenByOneInstruction) {
  Prepared s(program(
      "  vreg %0 R b128\n  vreg %1 R b128\n  block b0\n    #0 %0.d0, %1.d1 = ld\n    #1 st %0.d0, %1.d1 !write\n    #2 exit\n"));
  EXPECT_FALSE(s.interfere(0, 1));
  EXPECT_TRUE(s.interference.clash_in_an_instruction(ir::VRegId(0), ir::VRegId(1)));
}

TEST(Interference, OnlyCopies) {
  Prepared s(program(
      words(3) + "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %2 = ld\n    #3 st %0, %1, %2 !write\n    #4 exit\n"));
  EXPECT_TRUE(s.interference.only_copies(ir::VRegId(1), ir::VRegId(0)));
  EXPECT_FALSE(s.interference.only_copies(ir::VRegId(2), ir::VRegId(0)));
}

}  // namespace
}  // namespace regduel::passes::nvptx
