// What may stand in a new uniform register, and what may not.

#include "oracles/rewrite/uniform_values.h"

#include <string>
#include <string_view>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

// Objections to the uniform registers of a program of which the first six vregs were there before.
std::size_t objections(std::string_view body) {
  const ir::Function f = testing::parse_function(R"(func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b64
  vreg %4 UR b32
  vreg %5 R b32
  vreg %6 UR b32 uniform
  vreg %7 UP pred uniform
  vreg %8 UR b32 uniform
)" + std::string(body));
  Collector out("rewrite");
  rewrite::judge_uniform_values(f, 6, out);
  return out.finish().findings.size();
}

TEST(UniformValues, ParametersConstantsAndWhatAWarpHasInCommon) {
  EXPECT_EQ(objections(R"(  block b0
    #0 %6 = ld.param.u32 "n" !read !readonly
    #1 %8 = mov.u32 "%ctaid.x"
    #2 %6 = add.s32 %6, %8
    #3 %7 = setp.lt.s32 %6, 4
    #4 cbra %7 -> b1, b2
  block b1
    #5 %6 = add.s32 %6, 1
    #6 bra -> b2
  block b2
    #7 st %6 !write
    #8 exit
)"),
            0u);
}

TEST(UniformValues, AVoteIsTheSameForTheThreadsOfItsMask) {
  const auto voted = [](std::string_view first, std::string_view mask) {
    return objections("  block b0\n    #0 %0 = mov.u32 \"%tid.x\"\n    #1 %2 = setp.lt.s32 %0, 4\n" + std::string(first) +
                      "    #3 %6 = vote.sync.ballot.b32 %2, " + std::string(mask) + " !convergent\n    #4 exit\n");
  };
  EXPECT_EQ(voted("", "4294967295"), 0u);
  EXPECT_EQ(voted("", "%0"), 1u) << "threads with several masks";
  EXPECT_EQ(voted("    #2 cbra %2 -> b1, b2\n  block b1\n    #6 bra -> b2\n  block b2\n", "4294967295"), 0u)
      << "all have met again";
  EXPECT_EQ(objections(R"(  block b0
    #0 %0 = mov.u32 "%tid.x"
    #1 %2 = setp.lt.s32 %0, 4
    #2 cbra %2 -> b1, b2
  block b1
    #3 %6 = vote.sync.ballot.b32 %2, 15 !convergent
    #4 bra -> b2
  block b2
    #5 st %1 !write
    #6 exit
)"),
            1u);
  EXPECT_EQ(
      objections(
          "  block b0\n    #0 %0 = mov.u32 \"%tid.x\"\n    #1 %6 = match.any.sync.b32 %0, 4294967295 !convergent\n    #2 exit\n"),
      1u);
}

TEST(UniformValues, AMarkOfTheProgramIsTakenToBeRight) {
  const auto objections_to = [](std::string_view mark, std::size_t known) {
    const ir::Function f = testing::parse_function("func @f kernel target sm_90 threads 32\n  vreg %0 R b32" + std::string(mark) +
                                                   "\n  vreg %1 UR b32 uniform\n  block b0\n    #0 %0 = mov.u32 \"%tid.x\"\n" +
                                                   "    #1 %1 = copy %0\n    #2 exit\n");
    Collector out("rewrite");
    rewrite::judge_uniform_values(f, known, out);
    return out.finish().findings.size();
  };
  EXPECT_EQ(objections_to(" uniform", 1), 0u);
  EXPECT_EQ(objections_to("", 1), 1u);
  EXPECT_EQ(objections_to(" uniform", 0), 1u) << "a mark that the rewriting makes proves nothing";
}

TEST(UniformValues, WhatDiffersByThread) {
  EXPECT_EQ(objections("  block b0\n    #0 %6 = mov.u32 \"%tid.x\"\n    #1 st %6 !write\n    #2 exit\n"), 1u);
  EXPECT_EQ(objections("  block b0\n    #0 %6 = ld.global.u32 16 !read\n    #1 st %6 !write\n    #2 exit\n"), 1u);
  EXPECT_EQ(
      objections("  block b0\n    #0 %0 = mov.u32 \"%laneid\"\n    #1 %1 = add.s32 %0, 1\n    #2 %6 = copy %1\n    #3 exit\n"), 1u);
  EXPECT_EQ(objections("  block b0\n    #0 %6 = shfl.sync 16 !convergent\n    #1 exit\n"), 1u);
  EXPECT_EQ(
      objections(
          "  block b0\n    #0 %0 = mov.u32 \"%tid.x\"\n    #1 %2 = setp.lt.s32 %0, 4\n    #2 @%2 %6 = const 1\n    #3 exit\n"),
      1u);
  EXPECT_EQ(objections("  block b0\n    #0 %4 = mov.u32 \"%tid.x\"\n    #1 %6 = add.s32 %4, 1\n    #2 exit\n"), 0u)
      << "a uniform register of the program itself is taken to be right";
}

constexpr std::string_view kBranch = R"(  block b0
    #0 %0 = mov.u32 "%tid.x"
    #1 %2 = setp.lt.s32 %0, 4
    #2 cbra %2 -> b1, b2
  block b1
    #3 %6 = const 1
    #4 bra -> b2
  block b2
    #5 %8 = const 2
    #6 st %8 !write
    #7 exit
)";
TEST(UniformValues, NotAllThreadsAreThere) {
  EXPECT_EQ(objections(kBranch), 1u) << "b1, and not b2, where they have met again";
  EXPECT_EQ(objections(testing::edit(std::string(kBranch), "    #5 %8 = const 2\n    #6 st %8 !write\n", "")), 0u)
      << "the others have left";
}

TEST(UniformValues, ALoopThatThreadsLeaveOneByOne) {
  EXPECT_EQ(objections(R"(  block b0
    #0 %0 = mov.u32 "%tid.x"
    #1 bra -> b1
  block b1
    #2 %6 = const 1
    #3 %0 = add.s32 %0, %6
    #4 %2 = setp.lt.s32 %0, 4
    #5 cbra %2 -> b1, b2
  block b2
    #6 st %0 !write
    #7 exit
)"),
            1u);
}

}  // namespace
}  // namespace regduel::oracles
