// Steps of the occupancy against every number of registers.

#include "allocator/spill/occupancy.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

TEST(Occupancy, WarpsThatFit) {
  const ir::Target& sm_90 = *ir::find_target("sm_90");
  EXPECT_EQ(resident_warps(sm_90, 256, 32), 64);
  EXPECT_EQ(resident_warps(sm_90, 256, 33), 48);
  EXPECT_EQ(resident_warps(sm_90, 256, 41), 40);  // 5 blocks of 8
  EXPECT_EQ(resident_warps(sm_90, 32, 16), 32);   // as many blocks as there may be
  EXPECT_EQ(resident_warps(sm_90, 1024, 65), 0);  // not even one
  EXPECT_EQ(resident_warps(sm_90, 1, 0), 32);
}

TEST(Occupancy, TheNextStepIsTheMostRegistersWithMoreWarps) {
  for (const ir::Target& t : ir::targets())
    for (const int threads : {32, 96, 128, 256, 1024})
      for (int registers = 1; registers <= 255; ++registers) {
        const int now = resident_warps(t, threads, registers);
        int expected = registers - 1;
        while (expected > 0 && resident_warps(t, threads, expected) <= now) --expected;
        const auto step = next_step(t, threads, registers);
        ASSERT_EQ(step ? step->registers : 0, expected) << t.name << ' ' << threads << ' ' << registers;
        if (!step) continue;
        EXPECT_EQ(step->warps, resident_warps(t, threads, step->registers));
        EXPECT_EQ(step->warps_now, now);
      }
}

}  // namespace
}  // namespace regduel::allocator
