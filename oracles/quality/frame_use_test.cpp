#include "oracles/quality/frame_use.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::oracles {
namespace {

std::int64_t local_use(std::string_view body) {
  const auto module = ir::parse(R"(
rir 1
func @f kernel target sm_90 threads 32 allocated
  frame local 16 shared 8
)" + std::string(body));
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  if (!module) return -1;
  const ir::Function& f = module->functions[0];
  return most_bytes_in_use(f, ir::Cfg(f), ir::MemSpace::Local);
}

const std::string kTwoSlots = R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  block b0
)";

TEST(FrameUse, OneAfterTheOtherIsOneAtATime) {
  EXPECT_EQ(local_use(R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  slot 2 shared size 4 align 4 offset 0
  block b0
    +0 spill R0, slot 0
    +1 spill R0, slot 2
    +2 R1 = refill slot 0
    +3 spill R2, slot 1
    +4 R1 = refill slot 1
    +5 R1 = refill slot 2
    #6 exit
)"),
            4);
}

TEST(FrameUse, WhatIsNeverRefilledHoldsNothing) {
  EXPECT_EQ(local_use(R"(
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  block b0
    +0 spill R0:R1, slot 0
    +1 spill R2, slot 1
    +2 R1 = refill slot 0+4
    #3 exit
)"),
            4);
}

TEST(FrameUse, AValueStaysAcrossALoop) {
  // Slot 0 is refilled in each lap; slot 1 is stored and refilled in each, beside it.
  EXPECT_EQ(local_use(R"(
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  block b0
    +0 spill R0:R1, slot 0
    #1 bra -> b1
  block b1
    +2 spill R2, slot 1
    +3 R2 = refill slot 1
    +4 R0:R1 = refill slot 0
    #5 cbra P0 -> b1, b2
  block b2
    #6 exit
)"),
            12);
}

TEST(FrameUse, AGuardedStoreLeavesTheOldBytes) {
  EXPECT_EQ(local_use(kTwoSlots + R"(
    +0 spill R0, slot 0
    +1 spill R0, slot 1
    +2 R1 = refill slot 1
    +3 @P0 spill R2, slot 0
    +4 R1 = refill slot 0
    #5 exit
)"),
            8);
  // Without the guard nothing is in slot 0 until it is written again.
  EXPECT_EQ(local_use(kTwoSlots + R"(
    +0 spill R0, slot 0
    +1 spill R0, slot 1
    +2 R1 = refill slot 1
    +3 spill R2, slot 0
    +4 R1 = refill slot 0
    #5 exit
)"),
            4);
}

TEST(FrameUse, WhatNoPathHasStoredIsNotThere) {
  EXPECT_EQ(local_use(kTwoSlots + R"(
    +0 spill R0, slot 0
    +1 R1 = refill slot 0
    +2 R1 = refill slot 1
    #3 exit
)"),
            4);
}

TEST(FrameUse, AValueIsNeededInTheBlocksBehind) {
  EXPECT_EQ(local_use(kTwoSlots + R"(
    +0 spill R0, slot 0
    #1 bra -> b1
  block b1
    +2 spill R2, slot 1
    +3 R2 = refill slot 1
    #4 bra -> b2
  block b2
    +5 R0 = refill slot 0
    #6 exit
)"),
            8);
}

// What the latch stores is in memory behind the loop too, and what the header refills is needed in the latch.
TEST(FrameUse, BackEdges) {
  EXPECT_EQ(local_use(kTwoSlots + R"(
    #0 bra -> b1
  block b1
    #1 cbra P0 -> b2, b3
  block b2
    +2 spill R0, slot 0
    #3 bra -> b1
  block b3
    +4 spill R2, slot 1
    +5 R2 = refill slot 1
    +6 R0 = refill slot 0
    #7 exit
)"),
            8);
  EXPECT_EQ(local_use(kTwoSlots + R"(
    +0 spill R0, slot 0
    #1 bra -> b1
  block b1
    +2 R0 = refill slot 0
    #3 bra -> b2
  block b2
    +4 spill R2, slot 1
    +5 R2 = refill slot 1
    #6 cbra P0 -> b1, b3
  block b3
    #7 exit
)"),
            8);
}

}  // namespace
}  // namespace regduel::oracles
