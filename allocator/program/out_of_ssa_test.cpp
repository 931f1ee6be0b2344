#include "allocator/program/out_of_ssa.h"

#include "allocator/testing.h"
#include "ir/text/text.h"

namespace regduel::allocator {
namespace {

TEST(OutOfSsa, HeadTailAndEdgeBlock) {
  const auto f = out_of_ssa(testing::program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %2 = isetp 0
      #2 cbra %2 -> b1, b2
    block b1
      #3 %1 = phi b0: %0
      #4 bra -> b2
    block b2
      #5 %1 = phi b0: %0, b1: %1
      #6 mbra %1 -> b3, b3
    block b3
      #7 %0 = phi b2: %1
      #8 exit
)"));
  ASSERT_EQ(f.blocks.size(), 5u);
  EXPECT_TRUE(f.insts_of(ir::BlockId(1))[1].is_inserted());  // at the head: one predecessor
  EXPECT_EQ(f.insts_of(ir::BlockId(1)).size(), 3u);          // b1 -> b2 keeps %1: no copy
  EXPECT_TRUE(f.block(ir::BlockId(4)).is_edge_block());      // b0 -> b2 is critical
  EXPECT_EQ(f.successors(ir::BlockId(0))[1], ir::BlockId(4));
  EXPECT_EQ(f.successors(ir::BlockId(4))[0], ir::BlockId(2));
  EXPECT_TRUE(f.insts_of(ir::BlockId(3))[1].is_inserted());
}

TEST(OutOfSsa, NoCopyBeforeATerminatorThatReads) {
  const auto f = out_of_ssa(testing::program(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = phi b0: %0, b1: %0
      #3 mbra %1 -> b1, b1
)"));
  ASSERT_EQ(f.blocks.size(), 3u);
  EXPECT_EQ(f.block(ir::BlockId(2)).edge_from, ir::BlockId(1));
  EXPECT_EQ(f.successors(ir::BlockId(1))[0], ir::BlockId(2));
  EXPECT_EQ(f.successors(ir::BlockId(1))[1], ir::BlockId(2));
  EXPECT_TRUE(f.insts_of(ir::BlockId(0))[1].is_inserted());
}

TEST(OutOfSsa, OverlappingPhisTakeEffectOneAfterTheOther) {
  const auto before = testing::program(R"(
    vreg %0 R b32
    vreg %1 R b16 alias %0.h1
    vreg %2 R b32
    vreg %3 R b16
    block b0
      #0 %2 = ld 0
      #1 %3 = ld 1
      #2 bra -> b1
    block b1
      #3 %0 = phi b0: %2
      #4 %1 = phi b0: %3
      #5 st %0 !write
      #6 exit
)");
  const auto f = out_of_ssa(before);
  EXPECT_EQ(f.vregs.size(), 5u);
  testing::allocate(before, testing::limits(255));
  testing::allocate(before, testing::limits(1));
}

TEST(OutOfSsa, AliasesBecomePartsAndFixedRegistersMoveToTheOperand) {
  const auto f = out_of_ssa(testing::program(R"(
    vreg %0 R b64 fixed R4:R5
    vreg %1 R b32 alias %0.hi
    vreg %2 R b32 alias %1
    block b0
      #0 %2 = ld 0
      #1 exit
)"));
  const ir::Operand& op = f.operands_of(f.insts[0])[0];
  EXPECT_EQ(op.vreg(), ir::VRegId(0));
  EXPECT_EQ(op.part, ir::Part::of(2, 1));
  EXPECT_EQ(op.fixed(), (ir::PReg{ir::RegFile::R, 2, 4}));
}

TEST(OutOfSsa, ThreePhisOfOneVRegTakeEffectInOrder) {
  const auto f = out_of_ssa(testing::program(R"(
    vreg %0..%3 R b32
    block b0
      #0 %1, %2, %3 = ld 0
      #1 bra -> b1
    block b1
      #2 %0 = phi b0: %1
      #3 %0 = phi b0: %2
      #4 %0 = phi b0: %3
      #5 st %0 !write
      #6 exit
)"));
  std::vector<std::string> copies;
  for (const ir::Inst& i : f.insts_of(ir::BlockId(1)))
    if (i.op == ir::Op::Copy) copies.push_back(ir::print(f, i));
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_NE(copies[0].find("%0, %4, %5 = copy %1, %2, %3"), std::string::npos) << copies[0];
  EXPECT_NE(copies[1].find("%0 = copy %4"), std::string::npos) << copies[1];
  EXPECT_NE(copies[2].find("%0 = copy %5"), std::string::npos) << copies[2];
}

}  // namespace
}  // namespace regduel::allocator
