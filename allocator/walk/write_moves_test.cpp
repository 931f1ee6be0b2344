#include "allocator/walk/write_moves.h"

#include <gmock/gmock.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;

// What the walk through the general registers makes of a program: with its copies, over vregs.
MovedProgram moved(testing::LoweredRound& r) {
  const FileAllocator allocator(r.round, ir::RegFile::R);
  std::vector<std::int16_t> unit_of(r.lowered.f.operands.size(), -1);
  const Walk w = walk(allocator, r.lowered_cfg, r.frequency, {}, ir::kMaxUnits, unit_of);
  EXPECT_TRUE(w.fits);
  return write_moves(r.lowered, r.lowered_cfg, r.frequency, {&w, 1}, std::vector<int>(r.lowered.f.vregs.size(), -1), unit_of);
}

TEST(WriteMoves, AVregBecomesOneForEachRegister) {
  testing::LoweredRound r(2, R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 st clobbers R0 !write
      #2 st clobbers R1 !write
      #3 st %0 !write
      #4 exit
)");
  const MovedProgram m = moved(r);
  const ir::Function& f = m.code.f;
  ASSERT_EQ(f.vregs.size(), 2u);
  EXPECT_EQ(m.homes[0], 1);
  EXPECT_EQ(m.homes[1], 0);
  EXPECT_THAT(ir::print(f), HasSubstr("%1 = copy %0\n    #2 "));
  EXPECT_EQ(f.insts.size(), m.code.source.size());
}

// Both ends of b1's edge to itself have other edges, and so does the one from b0.
TEST(WriteMoves, AnEdgeBetweenTwoForksGetsABlock) {
  testing::LoweredRound r(2, R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0, %1 = ld 0
      #1 st clobbers R1 !write
      #2 cbra %1 -> b1, b2
    block b1
      #3 st clobbers R0 !write
      #4 %1 = ld 1
      #5 st %0 !write
      #6 cbra %1 -> b1, b2
    block b2
      #7 exit
)");
  const MovedProgram m = moved(r);
  const ir::Function& f = m.code.f;
  ASSERT_EQ(f.blocks.size(), 4u);
  EXPECT_EQ(f.blocks[3].edge_from, ir::BlockId(0));
  EXPECT_EQ(f.blocks[3].edge_to, ir::BlockId(1));
  EXPECT_EQ(m.cfg.num_blocks(), 4u);
  EXPECT_EQ(m.frequency.size(), 4u);
  EXPECT_THAT(ir::print(f), HasSubstr("cbra %1 -> b3, b2"));
}

}  // namespace
}  // namespace regduel::allocator
