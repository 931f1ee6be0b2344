// Which allocations have each value in registers or in memory, here and there.

#include "oracles/proof/by_point.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = R"(func @f kernel target sm_90 threads 32
  frame local 64 shared 0
  vreg %0..%3 R b32
  vreg %4 P pred
  vreg %5..%6 R b64
  vreg %7 UR b32
  vreg %8 R b16
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  slot 2 local size 4 align 4 offset 12
)";

std::string why_not(const std::string& blocks) {
  const testing::Functions both = testing::parse_both(kHead + blocks);
  return why_not_by_point(Before(both.before, *ir::find_target(both.before.target)), both.after);
}

TEST(ByPoint, WholeValuesAreStoredRefilledCopiedAndComputedAgain) {
  EXPECT_EQ(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    +10 spill R0, slot 1
    #1 %5 = ld | R2:R3 = ld
    +11 spill R2:R3, slot 0
    #2 %1 = const 7 !remat | const !deleted
    #3 %8 = ld | R0 = ld
    +12 spill R0.lo, slot 2
    #4 %4 = ld | P0 = ld
    #5 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +13 R1 = refill slot 1
    +14 R4 = copy R1
    #6 st %0 !write | st R4 !write
    #7 bra -> b2
  block b2
    +15 R4:R5 = refill slot 0
    +16 R0 = remat #2
    +17 R1.lo = refill slot 2
    #8 st %5, %1, %8 !write | st R4:R5, R0, R1 !write
    #9 exit
)"),
            "");
}

// Half of %5 stays in R3, half is in memory.
TEST(ByPoint, NoPartOfAValueStaysInARegister) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %5 = ld | R2:R3 = ld
    +10 spill R2, slot 1
    #1 %0 = ld | R2 = ld
    #2 st %0 !write | st R2 !write
    +11 R2 = refill slot 1
    #3 st %5 !write | st R2:R3 !write
    #4 exit
)"),
              HasSubstr("#10: registers are read that no single def has written"));
}

TEST(ByPoint, NoValueIsAPartOfAnotherInItsRegister) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %5 = ld | R2:R3 = ld
    #1 %0 = copy %5.lo | copy !deleted
    #2 st %0, %5 !write | st R2, R2:R3 !write
    #3 exit
)"),
              HasSubstr("#1: a copy of a part is deleted"));
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %5 = ld | R2:R3 = ld
    #1 %0 = copy %5.lo | R2 = copy R2:R3.lo
    #2 st %0, %5 !write | st R2, R2:R3 !write
    #3 exit
)"),
              HasSubstr("#2: registers are read that no single def has written"));
}

TEST(ByPoint, WhatIsInsertedHasNoGuardAndReadsNoRegisterAgain) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %4 = ld | P0 = ld
    +10 @P0 spill R0, slot 1
    #2 @%4 st %0 !write | @P0 st R0 !write
    #3 exit
)"),
              HasSubstr("#10: what is inserted has a guard"));
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = add %0 !remat | add !deleted
    +10 R1 = remat #1 R0
    #2 st %1 !write | st R1 !write
    #3 exit
)"),
              HasSubstr("#10: a remat reads a register"));
}

TEST(ByPoint, PredicatesStayInTheirFile) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %4 = ld | P0 = ld
    +10 R0{inout} = bit_spill P0, 3
    #1 st %4 !write | st P0 !write
    #2 exit
)"),
              HasSubstr("#10: what is inserted is no copy, spill, refill or remat"));
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %7 = ld | UR0 = ld
    +10 R0 = copy UR0
    #1 st %7 !write | st UR0 !write
    #2 exit
)"),
              HasSubstr("#10: a copy is inserted from one file to another"));
}

TEST(ByPoint, AccessesShareAllBytesOrNone) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %5 = ld | R2:R3 = ld
    +10 spill R2:R3, slot 0
    #1 %0 = ld | R0 = ld
    +11 R0 = refill slot 0
    #2 st %0 !write | st R0 !write
    #3 exit
)"),
              HasSubstr("two accesses share some bytes of the frame"));
}

// On one way R0 holds %0, on the other one R1 does.
TEST(ByPoint, AnOperandIsWhatOneDefWroteOnAllPaths) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %4 = ld | P0 = ld
    #1 %5 = ld | R0:R1 = ld
    #2 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %0 = ld | R0 = ld
    #4 bra -> b2
  block b2
    #5 st %0 !write | st R0 !write
    #6 exit
)"),
              HasSubstr("#5: registers are read that no single def has written"));
}

}  // namespace
}  // namespace regduel::oracles
