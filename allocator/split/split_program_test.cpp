// Split live ranges, shown by the allocation. The program of each test has one value too many for its registers.
#include "allocator/split/split_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;
using testing::limits;
using ::testing::Not;
using testing::program;

// The instructions of a block, one a line, without what surrounds them.
std::string block(const ir::Allocation& a, std::size_t b) {
  std::string text;
  for (const ir::Inst& inst : a.program.insts_of(a.program.blocks[b])) text += ir::print(a.program, inst) + "\n";
  return text;
}
int count(const ir::Allocation& a, std::size_t b, ir::Op op) {
  int n = 0;
  for (const ir::Inst& inst : a.program.insts_of(a.program.blocks[b])) n += inst.op == op ? 1 : 0;
  return n;
}

// %0 is read twice, with a pair in between: it is stored and refilled once, and stays for the second read.
TEST(SplitProgram, AValueComesBackForAllItsNextUses) {
  const auto a = testing::allocate(program(R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 %1 = ld 1
      #3 st %1 !write
      #4 st %0 !write
      #5 st %0 !write
      #6 exit
)"),
                                   limits(2), {{"FatPointRefillReuse", "0"}});
  EXPECT_EQ(count(a, 0, ir::Op::Spill), 1);
  EXPECT_EQ(count(a, 0, ir::Op::Refill), 1);
  EXPECT_THAT(block(a, 0), HasSubstr("#4 st R0 !write\n#5 st R0 !write"));
}

// %0 is idle in the loop, where all registers are needed: it goes before it and comes back behind it, and #1 and #8 read registers.
TEST(SplitProgram, WhatIsIdleInALoopLeavesOnlyThere) {
  const auto a = testing::allocate(program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 %1 = ld 1
      #3 bra -> b1
    block b1
      #4 %2 = ld 2
      #5 %1 = add %1, %2
      #6 %3 = isetp 0
      #7 cbra %3 -> b1, b2
    block b2
      #8 st %0 !write
      #9 st %1, %0 !write
      #10 exit
)"),
                                   limits(2));
  EXPECT_EQ(count(a, 0, ir::Op::Spill), 1);
  EXPECT_EQ(count(a, 1, ir::Op::Spill) + count(a, 1, ir::Op::Refill), 0);
  EXPECT_EQ(count(a, 2, ir::Op::Refill), 1);
}

// A loop that reads %0 gets it in a register before it begins, though other loops leave none for it.
TEST(SplitProgram, WhatALoopReadsIsRefilledBeforeIt) {
  const auto a = testing::allocate(program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = ld 1
      #3 st %1 !write
      #4 %2 = isetp 0
      #5 cbra %2 -> b1, b2
    block b2
      #6 bra -> b3
    block b3
      #7 st %0 !write
      #8 %2 = isetp 1
      #9 cbra %2 -> b3, b4
    block b4
      #10 exit
)"),
                                   limits(2));
  EXPECT_EQ(count(a, 0, ir::Op::Spill), 1);
  EXPECT_EQ(count(a, 3, ir::Op::Refill), 0);
}

// The value is defined before the loop and leaves its register in it: one store behind the def, none in the loop.
TEST(SplitProgram, StoresStandWhereTheyAreExecutedLeast) {
  const auto a = testing::allocate(program(testing::kReadInALoop), limits(2));
  EXPECT_EQ(count(a, 0, ir::Op::Spill), 1);
  EXPECT_EQ(count(a, 1, ir::Op::Spill), 0);
  EXPECT_EQ(count(a, 1, ir::Op::Refill), 1);
}

// A call leaves one register: what lives across it goes right before and comes back behind, in the call's own block.
TEST(SplitProgram, SplitAroundACall) {
  const auto a = testing::allocate(program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = isetp 0
      #3 cbra %2 -> b1, b2
    block b1
      #4 call "f" clobbers R0:R22
      #5 bra -> b2
    block b2
      #6 st %0, %1 !write
      #7 st %0, %1 !write
      #8 exit
)"),
                                   limits(24));
  EXPECT_EQ(count(a, 0, ir::Op::Spill) + count(a, 2, ir::Op::Refill), 0) << block(a, 0) << block(a, 2);
  EXPECT_EQ(count(a, 1, ir::Op::Spill), 1);
  EXPECT_EQ(count(a, 1, ir::Op::Refill), 1);
}

// A rematerialised value is not stored; its def is repeated where the value is needed.
TEST(SplitProgram, RematerialisedPiecesNeedNoStore) {
  const auto a = testing::allocate(program(R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = const 7 !remat
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 st %0 !write
      #5 exit
)"),
                                   limits(2), {{"FatPointRefillReuse", "0"}});
  EXPECT_EQ(count(a, 0, ir::Op::Spill) + count(a, 0, ir::Op::Refill), 0);
  EXPECT_EQ(count(a, 0, ir::Op::Remat), 1);
}

// A parallel copy on an edge takes from memory and leaves in memory what has no register.
TEST(SplitProgram, PhisOfValuesInMemory) {
  const auto f = program(testing::kSwapInALoop);
  for (const int registers : {2, 3, 4}) testing::allocate(f, limits(registers));
}

// Nothing is split where everything fits, and a program that may not be split is spilled as a whole.
TEST(SplitProgram, OnlyWhereSomethingDoesNotFit) {
  const auto f = program(testing::kReadTwice);
  EXPECT_THAT(block(testing::allocate(f, limits(3)), 0), Not(HasSubstr("refill")));
  const auto whole = testing::allocate(f, limits(2), {{"FatPointRefillReuse", "0"}, {"FatPointSplitLiveRanges", "0"}});
  EXPECT_EQ(count(whole, 0, ir::Op::Refill), 2);
}

}  // namespace
}  // namespace regduel::allocator
