// Pairs of programs over vregs, small ones: what a rewriting may do, and each thing that it may not.

#include "oracles/rewrite/rewrite.h"

#include <string>
#include <string_view>

#include "ir/check.h"
#include "oracles/rewrite/meaning.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::IsEmpty;

constexpr std::string_view kHead = R"(func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b64
  vreg %2 R b32
  vreg %3 R b32
  vreg %4 P pred
  vreg %5 R b64
  vreg %6 R b32
)";

JudgeResult judged(std::string_view before, std::string_view after) {
  const ir::Function b = testing::parse_function(std::string(kHead) + std::string(before));
  const ir::Function a = testing::parse_function(std::string(kHead) + std::string(after));
  EXPECT_TRUE(ir::check(a, ir::default_target(), 1).empty());
  return judge_rewrite(b, a, ir::default_target());
}
// The categories of the findings.
std::vector<std::string> objections(std::string_view before, std::string_view after) {
  std::vector<std::string> all;
  for (const Finding& f : judged(before, after).findings) all.push_back(f.category);
  return all;
}

constexpr std::string_view kProgram = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = cvta.to.global.u64 %0
    #2 %5 = add.s64 %1, 16
    #3 %2 = ld.global.u32 %5, 4 !read
    #4 %3 = mul.lo.s32 %2, 3
    #5 %4 = setp.gt.s32 %3, 7
    #6 @%4 st.global.u32 %5, %3 !write
    #7 cbra %4 -> b1, b2
  block b1
    #8 %6 = ld.global.u32 %1 !read
    #9 st.global.u32 %1, 8, %6 !write
    #10 bra -> b2
  block b2
    #11 st.global.u32 %1, %2 !write
    #12 exit
)";
std::vector<std::string> after_edit(std::string_view from, std::string_view to) {
  return objections(kProgram, testing::edit(std::string(kProgram), from, to));
}

TEST(Rewrite, TheSameProgramPasses) { EXPECT_EQ(judged(kProgram, kProgram).verdict, Verdict::Pass); }

TEST(Rewrite, OffsetsAndConversionsOfAddressesAreWhatTheyAre) {
  EXPECT_THAT(after_edit("#3 %2 = ld.global.u32 %5, 4", "#3 %2 = ld.global.u32 %0, 20"), IsEmpty());
  EXPECT_THAT(after_edit("st.global.u32 %5, %3", "st.global.u32 %1, 16, %3"), IsEmpty());
  EXPECT_THAT(after_edit("#3 %2 = ld.global.u32 %5, 4", "#3 %2 = ld.global.u32 %0, 16"), testing::Contains("wrong-value"));
  EXPECT_THAT(after_edit("st.global.u32 %5, %3", "st.global.u32 %1, 12, %3"), testing::Contains("wrong-value"));
}

TEST(Rewrite, PureInstructionsMoveAndGo) {
  EXPECT_THAT(after_edit("    #4 %3 = mul.lo.s32 %2, 3\n    #5 %4 = setp.gt.s32 %3, 7\n",
                         "    #20 %3 = mul.lo.s32 %2, 3\n    #5 %4 = setp.gt.s32 %3, 7\n"),
              IsEmpty());
  const std::string without =
      testing::edit(std::string(kProgram), "    #8 %6 = ld.global.u32 %1 !read\n    #9 st.global.u32 %1, 8, %6",
                    "    #9 st.global.u32 %1, 8, %2");
  EXPECT_THAT(objections(kProgram, without), testing::Contains("wrong-value")) << "a load is no other load's value";
}

TEST(Rewrite, EffectsStayInTheirOrder) {
  EXPECT_THAT(after_edit("    #11 st.global.u32 %1, %2 !write\n", ""), testing::Contains("effect-order"));
  EXPECT_THAT(after_edit("    #9 st.global.u32 %1, 8, %6 !write\n    #10 bra -> b2\n  block b2\n",
                         "    #10 bra -> b2\n  block b2\n    #9 st.global.u32 %1, 8, %6 !write\n"),
              testing::Contains("effect-order"));
  EXPECT_THAT(after_edit("#7 cbra %4 -> b1, b2", "#7 cbra %4 -> b2, b1"), testing::Contains("skeleton"));
}

TEST(Rewrite, ReadsOfMemoryPassNoWrite) {
  EXPECT_THAT(
      objections(
          "  block b0\n    #0 %2 = ld.shared.u32 0 !read\n    #1 bar 0 !barrier\n    #2 st.shared.u32 4, %2 !write\n    #3 exit\n",
          "  block b0\n    #1 bar 0 !barrier\n    #0 %2 = ld.shared.u32 0 !read\n    #2 st.shared.u32 4, %2 !write\n    #3 exit\n"),
      testing::ElementsAre("wrong-value"));
}

TEST(Rewrite, GuardsAndOperandsOfEffectsAreCompared) {
  EXPECT_THAT(after_edit("@%4 st.global", "@!%4 st.global"), testing::Contains("wrong-guard"));
  EXPECT_THAT(after_edit("@%4 st.global", "st.global"), testing::Contains("wrong-guard"));
  EXPECT_THAT(after_edit("#11 st.global.u32 %1, %2", "#11 st.global.u32 %1, %3"), testing::Contains("wrong-value"));
  EXPECT_THAT(after_edit("    #8 %6 = ld.global.u32 %1 !read\n", ""), testing::ElementsAre("undefined-value"));
}

TEST(Rewrite, AnInstructionThatKeepsItsNumberKeepsWhatItIs) {
  EXPECT_THAT(after_edit("#4 %3 = mul.lo.s32", "#4 %3 = mul.hi.s32"), ::testing::Not(IsEmpty()))
      << "another value, whatever its number is";
  EXPECT_THAT(after_edit("#9 st.global.u32", "#9 st.global.b32"), testing::Contains("changed-instruction"));
  EXPECT_THAT(after_edit("#4 %3 = mul.lo.s32 %2, 3", "#4 %3 = mul.lo.s32 %2, 3 !commutative"),
              testing::Contains("changed-instruction"));
  EXPECT_THAT(after_edit("#4 %3 = mul.lo.s32", "#4 %3{early} = mul.lo.s32"), testing::Contains("operand-constraint"));
}

TEST(Rewrite, TheNumberOfACopyThatWentIsFree) {
  EXPECT_THAT(objections("  block b0\n    #0 %2 = ld 0 !read\n    #1 %3, %6 = copy %2, %2\n    #2 st %2 !write\n    #3 exit\n",
                         "  block b0\n    #0 %2 = ld 0 !read\n    #1 %3 = copy %2\n    #2 st %3 !write\n    #3 exit\n"),
              IsEmpty());
}

TEST(Rewrite, ConstantsAndParametersMayBeOperands) {
  constexpr std::string_view kBefore = R"(  block b0
    #0 %2 = ld.param.u32 "p", 4 !read !readonly !remat
    #1 %3 = const 4294967295
    #2 %6 = xor.b32 %2, %3
    #3 st.shared.u32 0, %6 !write
    #4 st.shared.u32 4, %3 !write
    #5 exit
)";
  constexpr std::string_view kAfter = R"(  block b0
    #2 %6 = xor.b32 "c[p+4]", -1
    #3 st.shared.u32 0, %6 !write
    #4 st.shared.u32 4, -1 !write
    #5 exit
)";
  EXPECT_THAT(objections(kBefore, kAfter), IsEmpty());
  EXPECT_THAT(objections(kBefore, testing::edit(std::string(kAfter), "c[p+4]", "c[p]")), testing::Contains("wrong-value"));
  EXPECT_THAT(objections(kBefore, testing::edit(std::string(kAfter), "\", -1", "\", -2")), testing::Contains("wrong-value"));
}

TEST(Rewrite, WhatWasUndefinedMayBeAnything) {
  constexpr std::string_view kBefore = "  block b0\n    #0 st %2, %3 !write\n    #1 exit\n";
  EXPECT_THAT(objections(kBefore, "  block b0\n    #0 st %3, %2 !write\n    #1 exit\n"), IsEmpty());
}

TEST(Rewrite, EveryEdgeIsTaken) {
  std::string chain = "  block b0\n    #100 %4 = setp 1\n    #101 bra -> b1\n";
  for (int b = 1; b < 30; ++b)
    chain += "  block b" + std::to_string(b) + "\n    #" + std::to_string(b) + " cbra %4 -> b" + std::to_string(b + 1) + ", b31\n";
  chain += "  block b30\n    #200 st %4 !write\n    #201 exit\n  block b31\n    #202 exit\n";
  EXPECT_EQ(judged(chain, chain).verdict, Verdict::Pass);
  EXPECT_THAT(objections(chain, testing::edit(chain, "st %4", "st !%4")), testing::Contains("wrong-value"));
}

TEST(RewriteMeaning, ParametersAsOperands) {
  rewrite::ParameterOperand p;
  EXPECT_TRUE(rewrite::is_parameter_operand("c[x_param_0+16]", p));
  EXPECT_EQ(p.name, "x_param_0");
  EXPECT_EQ(p.offset, 16);
  EXPECT_TRUE(rewrite::is_parameter_operand("c[x]", p));
  EXPECT_EQ(p.offset, 0);
  EXPECT_FALSE(rewrite::is_parameter_operand("c[]", p));
  EXPECT_FALSE(rewrite::is_parameter_operand("c[x+]", p));
  EXPECT_FALSE(rewrite::is_parameter_operand("x", p));
}

}  // namespace
}  // namespace regduel::oracles
