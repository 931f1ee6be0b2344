#include "ir/ptx/print/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <fmt/format.h>

#include "ir/ptx/print/operations.h"
#include "ir/ptx/testing.h"

namespace regduel::ir::ptx {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(const PtxModule& m) {
  std::vector<PtxFunction> functions;
  for (std::size_t k = 0; k < m.functions.size(); ++k)
    functions.push_back({&m.functions[k], &m.declarations[k], ptx_style(m.functions[k])});
  return print_ptx(functions);
}
// How often each named operation stands in a module.
std::map<std::string, int> operations(const Module& m) {
  std::map<std::string, int> counts;
  for (const Function& f : m.functions)
    for (const Inst& i : f.insts)
      if (i.op == Op::Named || i.op == Op::Bar) ++counts[std::string(f.mnemonic(i))];
  return counts;
}

PtxModule kernel(std::string_view statements) {
  return testing::read(std::string(testing::kHead) + ".entry k(.param .u64 p, .param .u32 n) {" + std::string(testing::kRegisters) +
                           std::string(statements) + "}",
                       AbiName::Cuda);
}
std::string once(std::string_view statements) { return printed(kernel(statements)); }
// What is printed is read again, as the same operations.
std::string again(std::string_view statements) {
  const PtxModule first = kernel(statements);
  const std::string text = printed(first);
  const PtxModule second = testing::read(text, AbiName::Cuda);
  EXPECT_EQ(operations(second), operations(first)) << text;
  return text;
}

TEST(PtxOut, AKernelOfEachPart) {
  EXPECT_EQ(printed(testing::read(R"(.version 9.0
.target sm_90a
.entry k(.param .u64 p) .maxntid 128, 1, 1 .minnctapersm 2 {
  .reg .pred %p; .reg .b64 %rd; .reg .f32 %f;
  ld.param.u64 %rd, [p];
  ld.global.f32 %f, [%rd+8];
  setp.gt.f32 %p, %f, 0f3F800000;
  @!%p bra L;
  @%p st.global.f32 [%rd], %f;
L: ret;
})",
                                  AbiName::Cuda)),
            R"(.version 9.0
.target sm_90a
.address_size 64


.visible .entry k (.param .align 8 .b8 p[8]) .maxntid 128 .minnctapersm 2
{
	.reg .b64 %v0;
	.reg .b32 %v1;
	.reg .pred %v2;
$L0:
	ld.param.u64 %v0, [p];
	ld.global.f32 %v1, [%v0+8];
	setp.gt.f32 %v2, %v1, 0f3F800000;
	@!%v2 bra $L2;
$L1:
	@%v2 st.global.f32 [%v0], %v1;
$L2:
	ret;
}

)");
}

TEST(PtxOut, TuplesAreVectors) {
  EXPECT_THAT(
      again("ld.param.u64 %rd1, [p]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]; st.global.v2.f32 [%rd1], {%f4, %f1};"),
      AllOf(HasSubstr("ld.global.v4.f32 {%v1_0, %v1_1, %v1_2, %v1_3}, [%v0+16];"), HasSubstr("st.global.v2.f32 [%v0], {")));
  // Elements that are narrower in memory than their registers.
  EXPECT_THAT(once("ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd1]; st.global.v2.u8 [%rd1], {%rs4, %rs1};"),
              HasSubstr("ld.global.v4.u8 {%v1_0, %v1_1, %v1_2, %v1_3}, [%v0];"));
  again("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};");
  again("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];");
}

TEST(PtxOut, OperandsThatLookAlike) {
  // The offset of an address, and a value that is stored.
  EXPECT_THAT(again("st.global.u32 [%rd1], 8;"), HasSubstr("st.global.u32 [%v0], 8;"));
  EXPECT_THAT(again("st.global.u32 [%rd1+4], 8;"), HasSubstr("st.global.u32 [%v0+4], 8;"));
  EXPECT_THAT(again("atom.global.cas.b32 %r1, [%rd1], 8, 16;"), HasSubstr("[%v1], 8, 16;"));
  EXPECT_THAT(again("red.global.add.u32 [%rd1+12], 1;"), HasSubstr("[%v0+12], 1;"));
  EXPECT_THAT(again("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;"), HasSubstr("setp.lt.and.s32 %v0|%v1, %v2, 5, !%v3;"));
  EXPECT_THAT(again("vadd.u32.u32.u32 %r1, %r2.b1, %r3.h1;"), HasSubstr(".b1, %"));
  EXPECT_THAT(again("add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, 0;"), HasSubstr("addc.u32 %v4, %v5, 0;"));
  EXPECT_THAT(again("fma.rn.f64 %fd1, %fd2, 0d3FF0000000000000, %fd3;"), HasSubstr("0d3FF0000000000000"));
  EXPECT_THAT(again("add.f32 %f1, %f2, 1.5;"), HasSubstr("0f3FC00000"));
  EXPECT_THAT(again("shl.b64 %rd1, %rd2, 3;"), HasSubstr("shl.b64 %v0, %v1, 3;"));
}

// A vector in braces is one tuple in RIR as a wide register is.
TEST(PtxOut, TexturesAndSurfaces) {
  EXPECT_THAT(again("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p1, [%rd1, {%f5,%f6}];"), HasSubstr("}|%v"));
  EXPECT_THAT(again("tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, %rd2, {%f5,%f6,%f7,%f8}];"), HasSubstr("[%v5, %v6, {"));
  EXPECT_THAT(again("sust.b.1d.v2.b32.trap [%rd1, {%r1,%r2}], {%r3,%r4};"), ContainsRegex("\\], \\{%[a-z0-9_]+, %[a-z0-9_]+\\};"));
  EXPECT_THAT(again("sust.b.1d.v2.b32.trap [%rd1, {%r1,%r2}], %rd2;"), ContainsRegex("\\], %v[0-9]+;"));
  EXPECT_THAT(again("sust.b.1d.v2.b32.trap [%rd1, {%r1,%r2,%r3,%r4}], {%r5,%r6};"),
              ContainsRegex("\\{%[a-z0-9_]+, %[a-z0-9_]+, %[a-z0-9_]+, %[a-z0-9_]+\\}\\], \\{%[a-z0-9_]+, %[a-z0-9_]+\\};"));
  EXPECT_THAT(again("sured.b.max.2d.u64.zero [%rd1, {%r1,%r2}], %rd2;"),
              ContainsRegex("\\{%[a-z0-9_]+, %[a-z0-9_]+\\}\\], %v[0-9]+;"));
}

TEST(PtxOut, NumbersBesideAddresses) {
  EXPECT_THAT(again("createpolicy.range.L2::evict_first.b64 %rd1, [%rd2], 4096, 8192;"), HasSubstr("[%v1], 4096, 8192;"));
  EXPECT_THAT(again("cp.async.cg.shared.global [%r1], [%rd1], 16, 8;"), HasSubstr("], 16, 8;"));
  EXPECT_THAT(again("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd1, {0, %r1, 4}], [%r2];"),
              HasSubstr("[%v0, {0, %v1, 4}], [%v2];"));
  EXPECT_THAT(again("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r1, %r2, %r3}], {%rs1};"), HasSubstr("}], {%v4};"));
  EXPECT_THAT(
      again(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 256, [%r2], %rs1;"),
      HasSubstr("], 256, ["));
  EXPECT_THAT(again("st.global.L2::cache_hint.v2.f32 [%rd1], {%f1,%f2}, %rd2;"), HasSubstr("}, %v"));
  EXPECT_THAT(again("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;"),
              HasSubstr("[%v0], [%v1], 128;"));
}

TEST(PtxOut, AnIndexedVariable) {
  EXPECT_THAT(printed(testing::read(
                  std::string(testing::kHead) +
                      ".global .b8 g[64]; .entry k() { .reg .b32 %r<3>; ld.global.b32 %r1, g[%r2]; st.global.b32 g[%r2], %r1; }",
                  AbiName::Cuda)),
              AllOf(HasSubstr("ld.global.b32 %v0, g[%v1];"), HasSubstr("st.global.b32 g[%v1], %v0;")));
}

// A register of 8 bits is one of 16, which conversions from and to bf16 do not take.
TEST(PtxOut, ConversionsOfBytes) {
  EXPECT_THAT(once(".reg .s8 %c; cvt.rn.bf16.s8 %rs1, %c;"),
              AllOf(HasSubstr("cvt.s16.s8 %t2_0, %v1;"), HasSubstr("cvt.rn.bf16.s16 %v0, %t2_0;")));
  EXPECT_THAT(once(".reg .u8 %c; cvt.rni.u8.bf16 %c, %rs1;"),
              AllOf(HasSubstr("cvt.rni.u8.bf16 %byte, %v"), HasSubstr("cvt.u16.u8 %v")));
}

TEST(PtxOut, VariablesAreWhereTheyAreAccessed) {
  const PtxModule m = kernel(
      ".shared .align 16 .b8 s[64]; .local .align 8 .b8 l[16];"
      "mov.u32 %r1, s; st.shared.u32 [%r1+4], %r2; mov.u64 %rd1, l; cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], %r2;"
      "ld.shared.u16 %rs1, [s+2];");
  EXPECT_THAT(printed(m), AllOf(HasSubstr(".shared .align 16 .b8 s[64];"), HasSubstr(".local .align 8 .b8 l[16];"),
                                HasSubstr("ld.shared.u16 %v4, [s+2];")));
  // RIR has no declarations: an alignment is that of the largest access, through registers too.
  EXPECT_THAT(print_ptx({{{&m.functions[0], nullptr, PtxStyle::Operations}}}),
              AllOf(HasSubstr(".shared .align 4 .b8 s[1024];"), HasSubstr(".local .align 4 .b8 l[1024];")));
}

TEST(PtxOut, CallsAgreeWithTheFunctions) {
  const std::string text = printed(testing::read(R"(.version 9.0
.target sm_90
.func (.param .b64 r) f(.param .b32 a, .param .b64 b) { .reg .b64 %rd; ld.param.b64 %rd, [b]; st.param.b64 [r], %rd; ret; }
.entry k() { .reg .b64 %rd; .reg .b32 %r;
  { .param .b32 x; .param .b64 y; .param .b64 z; st.param.b32 [x], %r; st.param.b64 [y], %rd; call (z), f, (x, y); ld.param.b64 %rd, [z]; }
  ret; })",
                                                 AbiName::Cuda));
  // The function does not read its first parameter, and R5 is between the two.
  EXPECT_THAT(text, AllOf(HasSubstr(".func (.param .b64 r0) f (.param .b32 a0, .param .b32 a1, .param .b64 a2)\n{"),
                          HasSubstr("call ($c0_r0), f, ($c0_a0, $c0_a1, $c0_a2);"), HasSubstr("st.param.b64 [$c0_a2], %v1;")));
  const PtxModule second = testing::read(text, AbiName::Cuda);
  EXPECT_EQ(second.functions.size(), 2u);
}

TEST(PtxOut, PhisAreCopiesOnTheWayIn) {
  const auto m = parse(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = mov.u32 "%tid.x"
    #1 %2 = setp.eq.u32 %0, 0
    #2 cbra %2 -> b1, b2
  block b1
    #3 %1 = phi b0: %0, b1: %1
    #4 cbra %2 -> b1, b2
  block b2
    #5 exit
)");
  ASSERT_TRUE(m.has_value());
  const std::string text = print_ptx({{{&m->functions[0], nullptr, PtxStyle::Operations}}});
  EXPECT_THAT(text, AllOf(HasSubstr("\tmov.b32 %t4_0, %v0;\n\t@%v2 bra $L1;\n"), HasSubstr("$L1:\n\tmov.b32 %v1, %t4_0;\n"),
                          HasSubstr("\tmov.b32 %t4_0, %v1;\n\t@%v2 bra $L1;\n")));
}

constexpr std::string_view kRandom = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b16
  vreg %2 P pred
  block b0
    #0 %0 = ld.global 616 !read
    #1 @%2 %1 = anything %0, 5
    #2 %2 = isetp.mem %1
    #3 st.sink %0.lo, %1 !write
    #4 exit
)";

TEST(PtxOut, AnOperationWithoutMeaningBecomesArithmetic) {
  const auto m = parse(kRandom);
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(ptx_style(m->functions[0]), PtxStyle::StandIns);
  const std::string text = print_ptx({{{&m->functions[0], nullptr, PtxStyle::StandIns}}});
  EXPECT_THAT(text,
              AllOf(HasSubstr("ld.volatile.global.v2.b32 {%v0_0, %v0_1}, [$memory+"), HasSubstr("@%v2 mad.lo.s32 "),
                    HasSubstr("setp.lt.u32 %v2, "), HasSubstr("st.volatile.global.b32 [$memory+"), Not(HasSubstr("anything"))));
  const PtxModule second = testing::read(text, AbiName::Cuda);
  EXPECT_EQ(second.functions.size(), 1u);
}

TEST(PtxOut, ArithmeticWithoutAResultOrWithAnAddressIsNone) {
  const auto style = [](std::string_view instruction) {
    const auto m =
        parse(fmt::format("rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n"
                          "    #0 %0 = ld.global.b32 8 !read\n    #1 {}\n    #2 exit\n",
                          instruction));
    EXPECT_TRUE(m.has_value());
    return m ? ptx_style(m->functions[0]) : PtxStyle::Operations;
  };
  EXPECT_EQ(style("%1 = add.s32 %0, 5"), PtxStyle::Operations);
  EXPECT_EQ(style("%1 = add.s32 %0, \"%laneid\""), PtxStyle::Operations);
  EXPECT_EQ(style("%1 = add.s32 %0, \"label\""), PtxStyle::StandIns);
  EXPECT_EQ(style("add.s32 %0, 5"), PtxStyle::StandIns);
}

TEST(PtxOut, WhatIsObservedIsStored) {
  const auto m = parse(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = op
    #1 op %0
    #2 %1 = op %0
    #3 %2 = op %0
    #4 op %2
    #5 exit
)");
  ASSERT_TRUE(m.has_value());
  const std::string text = print_ptx({{{&m->functions[0], nullptr, PtxStyle::StandIns}}});
  const auto stores = [&](std::string_view what) { return text.find(fmt::format("], {};", what)) != std::string::npos; };
  EXPECT_TRUE(stores("%v0")) << text;  // an operation without a result
  EXPECT_TRUE(stores("%v2")) << text;
  EXPECT_EQ(testing::read(text, AbiName::Cuda).functions.size(), 1u);
  // One store for #1 and #4 each, and one for #2, whose result nobody reads.
  std::size_t count = 0;
  for (std::size_t at = text.find("st.volatile"); at != std::string::npos; at = text.find("st.volatile", at + 1)) ++count;
  EXPECT_EQ(count, 3u) << text;
}

TEST(PtxOut, APhiOfAPartIsThatPart) {
  const auto m = parse(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b16 alias %0.h1
  vreg %2 R b16
  vreg %3 P pred
  block b0
    #0 %0, %2, %3 = op
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %2, b1: %1
    #3 cbra %3 -> b1, b2
  block b2
    #4 op %0
    #5 exit
)");
  ASSERT_TRUE(m.has_value());
  const std::string text = print_ptx({{{&m->functions[0], nullptr, PtxStyle::StandIns}}});
  EXPECT_THAT(text, AllOf(HasSubstr("\tmov.b16 %t2_0, %v2;\n"), HasSubstr("%v0")));
  EXPECT_EQ(testing::read(text, AbiName::Cuda).functions.size(), 1u);
}

TEST(PtxOut, NumbersByType) {
  EXPECT_EQ(number_text(-5, {TypeKind::S, 32}), "-5");
  EXPECT_EQ(number_text(0x3F800000, {TypeKind::F, 32}), "0f3F800000");
  EXPECT_EQ(number_text(0x3FF8000000000000, {TypeKind::F, 32}), "0f3FC00000") << "a decimal literal is the bits of a double";
  EXPECT_EQ(number_text(0x3FF8000000000000, {TypeKind::F, 64}), "0d3FF8000000000000");
}

}  // namespace
}  // namespace regduel::ir::ptx
