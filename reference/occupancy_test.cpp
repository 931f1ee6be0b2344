#include "reference/occupancy.h"

#include <gtest/gtest.h>

#include "reference/testing.h"

namespace regduel::reference {
namespace {

// The example of source 002: 65,536 registers, 256 threads of 32 registers each, 2,048 threads an SM.
TEST(Occupancy, EightBlocks) {
  const ir::Target& target = *ir::find_target("sm_80");
  const Occupancy o = occupancy(target, 32, 256);
  EXPECT_EQ(o.blocks, 8);
  EXPECT_EQ(o.percent, 100);
}

TEST(Occupancy, RegistersComeInMultiples) {
  const ir::Target& target = *ir::find_target("sm_80");
  EXPECT_EQ(occupancy(target, 33, 256).blocks, occupancy(target, 40, 256).blocks);
  EXPECT_EQ(occupancy(target, 40, 256).blocks, 6);
  EXPECT_EQ(occupancy(target, 41, 256).blocks, 5);
  EXPECT_EQ(occupancy(target, 255, 1024).blocks, 0) << "a block that does not fit";
}

TEST(Occupancy, MostRegistersForIt) {
  const ir::Target& target = *ir::find_target("sm_80");
  EXPECT_EQ(most_registers(target, 100, 256), 32);
  EXPECT_EQ(most_registers(target, 75, 256), 40);
  EXPECT_EQ(most_registers(target, 50, 256), 64);
  EXPECT_EQ(most_registers(target, 0, 256), 255);
  // 32 blocks of one warp are half of the 64 warps, with however few registers.
  EXPECT_EQ(most_registers(target, 75, 32), 255);
}

TEST(Occupancy, MoreRegistersNeverHelp) {
  for (const ir::Target& target : ir::targets())
    for (const int threads : {32, 96, 128, 256, 1024})
      for (int r = 1; r < target.max_registers_per_thread; ++r)
        EXPECT_GE(occupancy(target, r, threads).percent, occupancy(target, r + 1, threads).percent) << target.name << " " << r;
}

TEST(Occupancy, WarpgroupsAreFourWarps) {
  ir::Function with = testing::parse_body(R"(vreg %0 R b128
block b0
#0 %0 = wgmma.mma_async.sync.aligned !convergent
#1 exit
)");
  ir::Function without = testing::parse_body(R"(vreg %0 R b128
block b0
#0 %0 = mma.sync.aligned !convergent
#1 exit
)");
  for (ir::Function* f : {&with, &without}) f->threads = 288;  // two warpgroups and a warp
  EXPECT_EQ(threads_of_block(with), 384);
  EXPECT_EQ(threads_of_block(without), 288);
  const ir::Target& target = *ir::find_target("sm_90");
  EXPECT_EQ(most_registers(target, 50, threads_of_block(with)), 56);
  EXPECT_EQ(most_registers(target, 50, threads_of_block(without)), 56);
  EXPECT_EQ(occupancy(target, 72, threads_of_block(with)).blocks, 2);
  EXPECT_EQ(occupancy(target, 72, threads_of_block(without)).blocks, 3);
}

}  // namespace
}  // namespace regduel::reference
