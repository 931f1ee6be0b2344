#include "passes/in_memory.h"

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::passes {
namespace {

ir::Function parse(const std::string& text) {
  const auto module = ir::parse("rir 1\n" + text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

TEST(InMemory, EachInstructionReadsItsUsesFromTheirSlotsAndWritesItsDefsToTheirs) {
  const auto after = allocate_in_memory(parse(R"(func @f kernel target sm_90 threads 1
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = ld 0
    #1 @%2 %1 = op %0.hi, %1{=R4}
    #2 %1{tied 1} = mad %1, 7
    #3 exit
)"),
                                        ir::default_target());
  ASSERT_TRUE(after.has_value());
  EXPECT_TRUE(ir::check(*after, 1).empty());
  EXPECT_EQ(ir::print(*after),
            R"(func @f kernel target sm_90 threads 1 allocated
  frame local 16 shared 0
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  slot 2 local size 1 align 4 offset 12
  block b0
    #0 R0:R1 = ld 0
    +4 spill R0:R1, slot 0
    +5 R4 = refill slot 1
    +6 R0:R1 = refill slot 0
    +7 P0 = refill slot 2
    #1 @P0 R4 = op R0:R1.hi, R4
    +8 spill R4, slot 1
    +9 R0 = refill slot 1
    #2 R0 = mad R0, 7
    +10 spill R0, slot 1
    #3 exit
)");
}

// A swap by phis needs all values to wait.
TEST(InMemory, PhisMoveTheirValuesOnTheEdge) {
  const auto after = allocate_in_memory(parse(R"(func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0, %1 = ld
    #1 bra -> b1
  block b1
    #2 %0 = phi b0: %0, b1: %1
    #3 %1 = phi b0: %1, b1: %0
    #4 mbra %0 -> b1, b1, b2
  block b2
    #5 exit
)"),
                                        ir::default_target());
  ASSERT_TRUE(after.has_value());
  EXPECT_TRUE(ir::check(*after, 1).empty());
  const std::string text = ir::print(*after);
  EXPECT_NE(text.find("#4 mbra R0 -> b4, b4, b2\n"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(  block b4 edge b1 -> b1
    +18 R0 = refill slot 1
    +19 spill R0, slot 2
    +20 R0 = refill slot 0
    +21 spill R0, slot 3
    +22 R0 = refill slot 2
    +23 spill R0, slot 0
    +24 R0 = refill slot 3
    +25 spill R0, slot 1
    +26 bra -> b1
)"),
            std::string::npos)
      << text;
}

TEST(InMemory, CalleeSavedRegistersOfFixedOperandsAreSaved) {
  const auto after = allocate_in_memory(parse(R"(func @f device target sm_90 threads 1
  vreg %0 R b32
  block b0
    #0 %0{=R24} = op
    #1 ret
)"),
                                        ir::default_target());
  ASSERT_TRUE(after.has_value());
  const std::string text = ir::print(*after);
  EXPECT_NE(text.find("    +2 spill R24, slot 0\n    #0 R24 = op\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" R24 = refill slot 0\n    #1 ret\n"), std::string::npos) << text;
}

TEST(InMemory, AnInstructionWithoutRegistersIsAnError) {
  ir::Target small = ir::default_target();
  small.units[ir::index(ir::RegFile::R)] = 2;
  const auto after = allocate_in_memory(parse(R"(func @f kernel target sm_90 threads 1
  vreg %0 R b64
  vreg %1 R b32
  block b0
    #0 op %0, %1
    #1 exit
)"),
                                        small);
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error(), "#0: its operands find no registers");
}

}  // namespace
}  // namespace regduel::passes
