// What goes to uniform registers in small programs, as text.

#include "passes/rewriting/uniform.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "ir/check.h"
#include "passes/rewriting/divergence.h"
#include "passes/rewriting/testing.h"

namespace regduel::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHead = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b32
  vreg %4 R b64
  vreg %5 P pred
  vreg %6 R b32
)";
using Knobs = std::vector<std::pair<std::string, std::string>>;

std::string moved(std::string_view body, std::string_view target = "sm_90", const Knobs& knobs = {}) {
  const ir::Function f = testing::parsed(std::string(kHead) + std::string(body));
  const ir::Target& t = *ir::find_target(target);
  const ir::Function after = *uniform().run(f, t, {.knobs = knobs});
  EXPECT_TRUE(ir::check(after, t, 1).empty()) << ir::print(after);
  const std::string text = ir::print(after);
  return text.substr(std::min(text.find("  vreg %7"), text.find("  block b0")));
}

constexpr std::string_view kAddress = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = mov.u32 "%ctaid.x"
    #2 %2 = mul.lo.s32 %1, 256
    #3 %3 = mov.u32 "%tid.x"
    #4 %3 = add.s32 %3, %2
    #5 %4 = mul.wide.s32 %3, 4
    #6 %4 = add.s64 %4, %0
    #7 st.global.u32 %4, %1 !write
    #8 exit
)";

TEST(Uniform, WhatAllThreadsShareGoesToURAndReadersTakeOneOperandFromThere) {
  EXPECT_EQ(moved(kAddress), R"(  vreg %7 UR b64 uniform
  vreg %8 UR b32 uniform
  vreg %9 UR b32 uniform
  vreg %10 R b32
  block b0
    #0 %7 = ld.param.u64 "p" !read !readonly !remat
    #1 %8 = mov.u32 "%ctaid.x"
    #2 %9 = mul.lo.s32 %8, 256
    #3 %3 = mov.u32 "%tid.x"
    #4 %3 = add.s32 %3, %9
    #5 %4 = mul.wide.s32 %3, 4
    #6 %4 = add.s64 %4, %7
    #9 %10 = copy %8
    #7 st.global.u32 %4, %10 !write
    #8 exit
)");
}

TEST(Uniform, TheTargetSaysWhatThereIs) {
  EXPECT_THAT(moved(kAddress, "sm_75"), HasSubstr("#6 %4 = add.s64 %4, \"c[p]\"")) << "sm_75 has the constant bank as an operand";
}

TEST(Uniform, AVoteOfAllThreadsIsShared) {
  constexpr std::string_view kVote = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = ld.global.u32 %0 !read
    #2 %5 = setp.lt.s32 %1, 4
    #3 %2 = vote.sync.ballot.b32 %5, 4294967295 !convergent
    #4 %3 = popc.b32 %2
    #5 %6 = redux.sync.add.s32 %1, MASK !convergent
    #6 %6 = add.s32 %6, %3
    #7 st.global.u32 %0, %6 !write
    #8 exit
)";
  const auto with_mask = [&](std::string_view mask) {
    std::string body(kVote);
    return body.replace(body.find("MASK"), 4, mask);
  };
  const std::string all = moved(with_mask("4294967295"));
  EXPECT_THAT(all, HasSubstr("#3 %8 = vote.sync.ballot.b32 %5, 4294967295"));
  EXPECT_THAT(all, HasSubstr("#4 %9 = popc.b32 %8"));
  EXPECT_THAT(all, HasSubstr("#6 %10 = add.s32 %10, %9"));
  EXPECT_THAT(moved(with_mask("4294967295"), "sm_75"), HasSubstr("#5 %6 = redux.sync.add.s32 %1, 4294967295"))
      << "REDUX is of sm_80";
  EXPECT_THAT(moved(with_mask("%1")), HasSubstr("#5 %6 = redux.sync.add.s32 %1, %1")) << "masks of several groups of threads";
}

// The instructions of the threads have guards of their own kind.
TEST(Uniform, UniformInstructionsHaveUniformGuards) {
  EXPECT_THAT(moved(R"(  block b0
    #0 %1 = ld.param.u32 "n" !read !readonly !remat
    #1 %5 = setp.lt.s32 %1, 4
    #2 @%5 %1 = add.s32 %1, 1
    #3 %3 = mov.u32 "%tid.x"
    #4 %3 = add.s32 %3, %1
    #5 st %3 !write
    #6 exit
)"),
              HasSubstr("#2 @%8 %7 = add.s32 %7, 1"));
  EXPECT_THAT(moved(R"(  block b0
    #0 %1 = ld.param.u32 "n" !read !readonly !remat
    #1 %5 = setp.lt.s32 %1, 4
    #2 %3 = mov.u32 "%tid.x"
    #3 @%5 %3 = add.s32 %3, %1
    #4 st %3 !write
    #5 exit
)"),
              HasSubstr("#1 %5 = setp.lt.s32 %"));
}

TEST(Uniform, ConstantsBecomeNumbers) {
  constexpr std::string_view kBody = R"(  block b0
    #0 %1 = const 5
    #1 %2 = mov.u32 "%tid.x"
    #2 %3 = xor.b32 %2, %1
    #3 st.shared.u32 %2, %3 !write
    #4 exit
)";
  const std::string numbers = moved(std::string(kBody));
  EXPECT_THAT(numbers, HasSubstr("#2 %3 = xor.b32 %2, 5"));
  EXPECT_THAT(numbers, Not(HasSubstr("const")));
  EXPECT_THAT(moved(kBody, "sm_90", {{"uniform-constants", "0"}}), Not(HasSubstr("xor.b32 %2, 5")));
}

TEST(Uniform, NothingIsWrittenWhereNotAllThreadsAre) {
  const std::string text = moved(R"(  block b0
    #0 %1 = mov.u32 "%tid.x"
    #1 %2 = mov.u32 "%ctaid.x"
    #2 %5 = setp.lt.s32 %1, 7
    #3 cbra %5 -> b1, b2
  block b1
    #4 %3 = add.s32 %2, 1
    #5 st.shared.u32 %1, %3 !write
    #6 bra -> b2
  block b2
    #7 %6 = add.s32 %2, 2
    #8 %6 = add.s32 %6, %1
    #9 st.shared.u32 %1, %6 !write
    #10 exit
)");
  EXPECT_THAT(text, HasSubstr("= copy %7\n    #4 %3 = add.s32 %8, 1"))
      << "the number is the one operand that is no register of the threads";
  EXPECT_THAT(text, HasSubstr("vreg %7 UR"));
}

TEST(Uniform, ThreadsThatLeaveMissNothing) {
  const std::string text = moved(R"(  block b0
    #0 %1 = mov.u32 "%tid.x"
    #1 %2 = mov.u32 "%ctaid.x"
    #2 %5 = setp.lt.s32 %1, 7
    #3 cbra %5 -> b2, b1
  block b1
    #4 %3 = add.s32 %2, 1
    #5 st.shared.u32 %3, %1 !write
    #6 bra -> b2
  block b2
    #7 exit
)");
  EXPECT_THAT(text, HasSubstr("#4 %8 = add.s32 %7, 1"));
  EXPECT_THAT(text, HasSubstr("st.shared.u32 %8, %1"));
}

TEST(Uniform, ALoopThatAllThreadsLeaveTogetherCountsInUR) {
  const std::string text = moved(R"(  block b0
    #0 %1 = const 0
    #1 %2 = ld.param.u32 "n" !read !readonly !remat
    #2 %6 = mov.u32 "%tid.x"
    #3 bra -> b1
  block b1
    #4 st.shared.u32 %6, %1 !write
    #5 %1 = add.s32 %1, 1
    #6 %5 = setp.lt.s32 %1, %2
    #7 cbra %5 -> b1, b2
  block b2
    #8 exit
)");
  EXPECT_THAT(text, HasSubstr("UP pred uniform"));
  EXPECT_THAT(text, HasSubstr("#5 %7 = add.s32 %7, 1"));
  EXPECT_THAT(text, HasSubstr("cbra %9 -> b1, b2"));
}

TEST(Uniform, LoadsAtomicsAndGuardsVary) {
  const std::string text = moved(R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = ld.global.u32 %0 !read
    #2 %2 = add.s32 %1, 1
    #3 %3 = atom.global.add.u32 %0, %2 !read !write
    #4 %5 = setp.lt.s32 %3, 7
    #5 %6 = mov.u32 "%ctaid.x"
    #6 @%5 %6 = add.s32 %6, 1
    #7 st.global.u32 %0, %6 !write
    #8 exit
)");
  EXPECT_THAT(text, HasSubstr("#2 %2 = add.s32 %1, 1"));
  EXPECT_THAT(text, HasSubstr("@%5 %6 = add.s32 %6, 1"));
  EXPECT_THAT(text, HasSubstr("#1 %1 = ld.global.u32 %7")) << "an address may be in UR";
}

TEST(Uniform, ATupleIsNoNumber) {
  const std::string text = moved(R"(  vreg %7 R b96
  block b0
    #0 %7 = const -22
    #1 %1 = max.f32 %7
    #2 st.shared.u32 16, %1 !write
    #3 exit
)");
  EXPECT_THAT(text, HasSubstr("#1 %1 = max.f32 %7"));
}

TEST(Uniform, ATiedCopyStaysInOneFile) {
  const std::string text = moved(R"(  block b0
    #0 %1 = mov.u32 "%ctaid.x"
    #1 %2{tied 1} = copy %1
    #2 st.shared.u32 %1, %2 !write
    #3 exit
)");
  EXPECT_THAT(text, HasSubstr("#1 %2{tied 1} = copy %1"));
}

TEST(Uniform, AFixedRegisterIsOneOfTheThreads) {
  const std::string text = moved(R"(  block b0
    #0 %1 = mov.u32 "%ctaid.x"
    #1 %2{=R6} = copy %1
    #2 st.shared.u32 16, %2 !write
    #3 exit
)");
  EXPECT_THAT(text, HasSubstr("#1 %2{=R6} = copy %7"));
}

TEST(Uniform, NoMoreLiveThanMay) {
  const std::string text = moved(kAddress, "sm_90", {{"uniform-most", "0"}});
  EXPECT_THAT(text.substr(0, text.find("block")), Not(HasSubstr("UR b64")));
}

TEST(Divergence, SpecialRegisters) {
  EXPECT_TRUE(is_shared_by_threads("%ctaid.x"));
  EXPECT_TRUE(is_shared_by_threads("%gridid"));
  EXPECT_FALSE(is_shared_by_threads("%tid.x"));
  EXPECT_FALSE(is_shared_by_threads("%ctaidx"));
  EXPECT_FALSE(is_shared_by_threads("%laneid"));
}

TEST(Divergence, ALoopThatThreadsLeaveAtDifferentTimesVaries) {
  const ir::Function f = testing::parsed(std::string(kHead) + R"(  block b0
    #0 %1 = const 0
    #1 %6 = mov.u32 "%tid.x"
    #2 bra -> b1
  block b1
    #3 %1 = add.s32 %1, 1
    #4 %5 = setp.lt.s32 %1, %6
    #5 cbra %5 -> b1, b2
  block b2
    #6 %2 = mov.u32 "%ctaid.x"
    #7 st.shared.u32 %2, %1 !write
    #8 exit
)");
  const ir::Cfg cfg(f);
  const Divergence d(f, cfg);
  EXPECT_TRUE(d.is_diverged(ir::BlockId(1)));
  EXPECT_FALSE(d.is_diverged(ir::BlockId(2)));
  EXPECT_TRUE(d.is_varying(ir::VRegId(1)));
  EXPECT_FALSE(d.is_varying(ir::VRegId(2)));
}

}  // namespace
}  // namespace regduel::passes
