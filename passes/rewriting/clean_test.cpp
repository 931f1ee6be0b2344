// What cleaning makes of small programs, as text.

#include "passes/rewriting/clean.h"

#include <string>
#include <string_view>

#include "ir/check.h"
#include "passes/rewriting/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kHead = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b64
  vreg %2 R b64
  vreg %3 R b64
  vreg %4 R b32
  vreg %5 R b32
  vreg %6 P pred
)";

std::string cleaned(std::string_view body, ir::Fuel* fuel = nullptr) {
  const ir::Function f = testing::parsed(std::string(kHead) + std::string(body));
  const ir::Function after = *clean().run(f, ir::default_target(), {.fuel = fuel});
  EXPECT_TRUE(ir::check(after, ir::default_target(), 1).empty());
  const std::string text = ir::print(after);
  return text.substr(text.find("  block b0"));
}

TEST(Clean, SumsBecomeOffsetsAndConversionsGo) {
  EXPECT_EQ(cleaned(R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = cvta.to.global.u64 %0
    #2 %2 = add.s64 %1, 16
    #3 %3 = sub.s64 %2, 4
    #4 %4 = ld.global.u32 %2, 4 !read
    #5 st.global.u32 %3, %4 !write
    #6 exit
)"),
            R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #2 %2 = add.s64 %0, 16
    #4 %4 = ld.global.u32 %2, 4 !read
    #5 st.global.u32 %2, -4, %4 !write
    #6 exit
)") << "a difference is no reader that %2 can do without";
  EXPECT_EQ(cleaned(R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = cvta.to.global.u64 %0
    #2 %2 = add.s64 %1, 16
    #3 %3 = add.s64 %2, 8
    #4 %4 = ld.global.u32 %2, 4 !read
    #5 st.global.u32 %3, -24, %4 !write
    #6 exit
)"),
            R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #4 %4 = ld.global.u32 %0, 20 !read
    #5 st.global.u32 %0, %4 !write
    #6 exit
)");
}

TEST(Clean, ASumThatIsNeededStays) {
  constexpr std::string_view kStored = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = add.s64 %0, 16
    #2 %4 = ld.global.u32 %1 !read
    #3 st.global.u64 %0, %1 !write
    #4 st.global.u32 %0, %4 !write
    #5 exit
)";
  EXPECT_EQ(cleaned(kStored), kStored);
  constexpr std::string_view kFar = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = add.s64 %0, 8388600
    #2 %4 = ld.global.u32 %1, 8 !read
    #3 st.global.u32 %0, %4 !write
    #4 exit
)";
  EXPECT_EQ(cleaned(kFar), kFar) << "an offset has 24 bits";
}

TEST(Clean, ABaseThatChangesHoldsUntilItDoes) {
  EXPECT_EQ(cleaned(R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 bra -> b1
  block b1
    #2 %1 = add.s64 %0, 16
    #3 %4 = ld.global.u32 %1 !read
    #4 %0 = add.s64 %0, 64
    #5 %6 = setp.eq.u32 %4, 0
    #6 cbra %6 -> b1, b2
  block b2
    #7 exit
)"),
            R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 bra -> b1
  block b1
    #3 %4 = ld.global.u32 %0, 16 !read
    #4 %0 = add.s64 %0, 64
    #5 %6 = setp.eq.u32 %4, 0
    #6 cbra %6 -> b1, b2
  block b2
    #7 exit
)");
  constexpr std::string_view kLater = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 bra -> b1
  block b1
    #2 %1 = add.s64 %0, 16
    #3 %0 = add.s64 %0, 64
    #4 %4 = ld.global.u32 %1 !read
    #5 %6 = setp.eq.u32 %4, 0
    #6 cbra %6 -> b1, b2
  block b2
    #7 exit
)";
  EXPECT_EQ(cleaned(kLater), kLater);
}

TEST(Clean, WhatNothingReadsGoesButNotEffects) {
  EXPECT_EQ(cleaned(R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %4 = ld.global.u32 %0 !read
    #2 %5 = mul.lo.s32 %4, 3
    #3 %4 = ld.volatile.global.u32 %0 !read
    #4 %5 = atom.global.add.u32 %0, 1 !read !write
    #5 exit
)"),
            R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #3 %4 = ld.volatile.global.u32 %0 !read
    #4 %5 = atom.global.add.u32 %0, 1 !read !write
    #5 exit
)");
}

TEST(Clean, AStoredAddressIsNoOffset) {
  constexpr std::string_view kBoth = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = add.s64 %0, 16
    #2 st.global.u64 %1, %1 !write
    #3 exit
)";
  EXPECT_EQ(cleaned(kBoth), kBoth);
}

TEST(Clean, WithoutFuelTheProgramStaysAsItIs) {
  constexpr std::string_view kBody = R"(  block b0
    #0 %0 = ld.param.u64 "p" !read !readonly !remat
    #1 %1 = cvta.to.global.u64 %0
    #2 %2 = add.s64 %1, 16
    #3 %4 = ld.global.u32 %2 !read
    #4 exit
)";
  ir::Fuel none{.limit = 0};
  EXPECT_EQ(cleaned(kBody, &none), kBody);
  EXPECT_EQ(none.refused, "drop-address-conversion");
}

}  // namespace
}  // namespace regduel::passes
