// The PTX reader: each form on the smallest text. Errors, whole files and bytes that are no PTX: ptx_robust_test.cpp.

#include "ir/ptx/ptx.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/ptx/testing.h"
#include "ir/target.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

using namespace ptx::testing;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ptx, AModuleOfAllItemsHasTheFunctionsWithABody) {
  const Module m = read(R"(// a comment
.version 9.0
.target sm_90a, debug /* and
another */
.address_size 64
	.file	1 "a.cu", 123, 456
.extern .func (.param .b32 r) printf (.param .b64 a, .param .b64 b);
.func helper () .noreturn;
.visible .const .align 4 .b8 table[8] = {1, 2, 3, 4, 0xFF, 6, 7, 8}, other[2];
.global .align 8 .u64 functions[2] = {helper, generic(table)};
.extern .shared .align 16 .b8 dynamic[];
.weak .global .attribute(.managed) .u32 managed = 5;
.pragma "nounroll";
.visible .entry first(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24])
.maxntid 32, 4, 1
.minnctapersm 2
{
  .loc 1 12 3, function_name $L__info, inlined_at 1 3 4
  .pragma "nounroll";
  .shared .align 4 .b8 local[64];
  ret;
}
.weak .func helper() { }
.entry second .reqntid 64 { exit; }
.alias other_name, helper;
.section .debug_info { .b8 1, 2 .b32 x { } }
)");
  ASSERT_EQ(m.functions.size(), 3u);
  EXPECT_EQ(m.functions[0].source_place(m.functions[0].insts[0]), "a.cu:12:3");
  EXPECT_EQ(m.functions[0].name, "first");
  EXPECT_EQ(m.functions[0].kind, FunctionKind::Kernel);
  EXPECT_EQ(m.functions[0].target, "sm_90");
  EXPECT_EQ(m.functions[0].threads, 128u);
  EXPECT_THAT(lines(m.functions[0]), ElementsAre("ret<ret> !line \"a.cu\" 12:3"));
  EXPECT_EQ(m.functions[1].name, "helper");
  EXPECT_EQ(m.functions[1].kind, FunctionKind::Device);
  EXPECT_EQ(m.functions[1].threads, 256u);
  EXPECT_THAT(lines(m.functions[1]), ElementsAre("ret"));
  EXPECT_EQ(m.functions[2].threads, 64u);
  EXPECT_THAT(lines(m.functions[2]), ElementsAre("exit<exit>"));
}

TEST(Ptx, SourceLines) {
  const Module m = read(R"(.entry k {
  .reg .b32 %r<3>;
  mov.u32 %r1, 1;
  .loc 1 7 5
  add.u32 %r1, %r1, 1;
  add.u32 %r2, %r1, 1;
  .loc 2 9 0, function_name $L, inlined_at 1 7 5
  add.u32 %r2, %r2, 1;
  .loc 1 7 5
  add.u32 %r2, %r2, 2;
  .loc 1 0 0
  add.u32 %r2, %r2, 3;
  .loc 3 1 1
  st.u32 [%r1], %r2;
}
.entry other { ret; }
  .file 1 "a.cu"
  .file 2 "dir/b.h", 1, 2
)");
  ASSERT_EQ(m.functions.size(), 2u);
  const Function& f = m.functions[0];
  std::vector<std::string> places;
  for (const Inst& i : f.insts) places.push_back(f.source_place(i));
  EXPECT_THAT(places, ElementsAre("", "a.cu:7:5", "a.cu:7:5", "dir/b.h:9", "a.cu:7:5", "", "file 3:1:1", ""));
  EXPECT_EQ(f.source_lines.size(), 3u);
  EXPECT_TRUE(m.functions[1].source_lines.empty());
  EXPECT_FALSE(parse_ptx(".entry k { .loc 1 x; ret; }").has_value());
  EXPECT_FALSE(parse_ptx(".file 1 name").has_value());
}

TEST(Ptx, TargetIsTheNewestKnownOneThatIsNotAbove) {
  const auto target_of = [](std::string_view name) {
    const Module m = read(".target " + std::string(name) + "\n.entry k {}");
    return m.functions.empty() ? "" : m.functions[0].target;
  };
  EXPECT_EQ(target_of("sm_75"), "sm_75");
  EXPECT_EQ(target_of("sm_100a"), "sm_100");
  EXPECT_EQ(target_of("sm_120f"), "sm_120");
  EXPECT_EQ(target_of("sm_87"), "sm_86");
  EXPECT_EQ(target_of("sm_999"), "sm_121");
  EXPECT_EQ(target_of("sm_52"), "sm_70");
}

// --- instructions ---------------------------------------------------------------------------------------------------

TEST(Ptx, RegistersHaveClassWidthTypeAndName) {
  const Module m = read(
      ".entry k { .reg .pred p, %q; .reg .b16 %h<2>; .reg .f16x2 x; .reg .s64 %rd<2>; .reg .b8 b; .reg .b128 w;\n"
      "foo %h1, p, x, %rd1, b, w, %q; }");
  ASSERT_EQ(m.functions.size(), 1u);
  const Function& f = m.functions[0];
  std::vector<std::string> vregs;
  for (const VReg& v : f.vregs)
    vregs.push_back(std::string(name(v.cls)) + " " + print_type(v) + " " + std::string(f.symbols[v.name]));
  EXPECT_THAT(vregs, ElementsAre("R b16 %h1", "P pred p", "R f32 x", "R s64 %rd1", "R b8 b", "R b128 w", "P pred %q"));
  EXPECT_THAT(lines(f), ElementsAre("%0 = foo %1, %2, %3, %4, %5, %6", "ret"));
}

TEST(Ptx, LiteralsAreBits) {
  EXPECT_THAT(kernel("foo %r1, 5, -5, 0x1F, 017, 0b101, 7U, 0f3F800000, 0d3FF0000000000000, 1.0, ~0;"),
              ElementsAre("%0 = foo 5, -5, 31, 15, 5, 7, 1065353216, 4607182418800017408, 4607182418800017408, -1", "ret"));
}

TEST(Ptx, MovesAreCopiesConstantsAndNamedOperations) {
  EXPECT_THAT(
      kernel(".shared .b8 buffer[4];\n"
             "mov.u32 %r1, %r2; mov.b64 %rd1, %fd1; mov.pred %p1, %p2; mov.pred %p1, !%p2; mov.pred %p1, -1; mov.f32 %f1, "
             "0f00000001;\n"
             "mov.u64 %rd1, buffer; mov.u64 %rd1, buffer+8; mov.u32 %r1, %tid.x; mov.u64 %rd1, %clock64; mov.u32 %r1, WARP_SZ;\n"
             "@%p1 mov.u32 %r1, 7; @!%p1 mov.u32 %r1, %r2;"),
      ElementsAre("%0 = copy<mov.u32> %1", "%2 = copy<mov.b64> %3", "%4 = copy<mov.pred> %5", "%4 = mov.pred !%5",
                  "%4 = const<mov.pred> -1 !remat", "%6 = const<mov.f32> 1 !remat", "%2 = const<mov.u64> \"buffer\" !remat",
                  "%2 = mov.u64 \"buffer\", 8 !remat", "%0 = mov.u32 \"%tid.x\" !remat", "%2 = mov.u64 \"%clock64\" !read",
                  "%0 = const<mov.u32> 32 !remat", "@%4 %0 = const<mov.u32> 7", "@!%4 %0 = copy<mov.u32> %1", "ret"));
}

TEST(Ptx, PackAndUnpack) {
  EXPECT_THAT(kernel("mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r4}, %fd1; mov.b32 %r1, {%rs1, %rs1}; mov.b64 {_, %r5}, %rd1;\n"
                     "mov.b64 {%r5, %r5}, %rd1; mov.b64 %rd1, {%r1, 7}; mov.b64 {%r1, %r2}, 9; @%p1 mov.b64 {%r1, %r2}, %rd1;"),
              ElementsAre("%0 = pack<mov.b64> %1, %2", "%3, %4 = unpack<mov.b64> %5", "%1 = pack<mov.b32> %6, %6",
                          "%7, %8 = unpack<mov.b64> %0", "%9, %8 = unpack<mov.b64> %0", "%10 = const 7 !remat",
                          "%0 = pack<mov.b64> %1, %10", "%11 = const 9 !remat", "%1, %2 = unpack<mov.b64> %11",
                          "@%12 %1, %2 = unpack<mov.b64> %0", "ret"));
}

TEST(Ptx, AddressesAndMemoryFlags) {
  EXPECT_THAT(kernel(".local .align 8 .b8 depot[16]; .const .b32 c;\n"
                     "ld.param.u64 %rd1, [p+8]; ld.param.u32 %r1, [%rd1]; ld.const.u32 %r1, [c]; ld.const.u32 %r1, [%rd1+4]; "
                     "ld.global.nc.f32 %f1, [%rd1];\n"
                     "ld.volatile.global.u32 %r1, [%rd1+-16]; st.shared.u32 [%r1+4], %r2; st.local.u32 [depot+4], 5; @%p1 "
                     "ld.param.u32 %r2, [n];\n"
                     "atom.global.add.u32 %r1, [%rd1], 1; red.shared.add.u32 [%r1], %r2; prefetch.global.L2 [%rd1]; unheard.of "
                     "%r1, [%rd1], {%r2, %r3};"),
              ElementsAre("%0 = ld.param.u64 \"p\", 8 !read !readonly !remat", "%1 = ld.param.u32 %0 !read !readonly",
                          "%1 = ld.const.u32 \"c\" !read !readonly !remat", "%1 = ld.const.u32 %0, 4 !read !readonly",
                          "%2 = ld.global.nc.f32 %0 !read !readonly", "%1 = ld.volatile.global.u32 %0, -16 !read",
                          "st.shared.u32 %1, 4, %3 !write", "st.local.u32 \"depot\", 4, 5 !write",
                          "@%4 %3 = ld.param.u32 \"n\" !read !readonly", "%1 = atom.global.add.u32 %0, 1 !read !write",
                          "red.shared.add.u32 %1, %3 !read !write", "prefetch.global.L2 %0 !read", "%6 = pack %3, %5",
                          "%1 = unheard.of %0, %6 !read !write", "ret"));
}

TEST(Ptx, VectorAccessesAreTuples) {
  const Module m = read(std::string(kHead) + ".entry k {" + std::string(kRegisters) +
                        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]; st.shared.v2.f64 [%r1], {%fd1, %fd2}; ld.global.v2.u16 "
                        "{%rs1, _}, [%rd1];\n"
                        "st.global.v2.u32 [%rd1], {%r1, 5}; }");
  ASSERT_EQ(m.functions.size(), 1u);
  const Function& f = m.functions[0];
  EXPECT_THAT(lines(f), ElementsAre("%1 = ld.global.v4.f32 %0, 16 !read", "%2, %3, %4, %5 = unpack %1", "%9 = pack %7, %8",
                                    "st.shared.v2.f64 %6, %9 !write", "%10 = ld.global.v2.u16 %0 !read", "%11, %12 = unpack %10",
                                    "%13 = const 5 !remat", "%14 = pack %6, %13", "st.global.v2.u32 %0, %14 !write", "ret"));
  EXPECT_EQ(f.vregs[1].width, 128);
  EXPECT_EQ(f.vregs[1].alignment(), 4);
  EXPECT_EQ(f.vregs[9].width, 128);
  EXPECT_EQ(f.vregs[10].width, 32);
}

TEST(Ptx, NarrowElementsAreWidenedAndNarrowed) {
  EXPECT_THAT(kernel("ld.global.v4.s8 {%rs1, %rs2, %rs3, %rs4}, [%rd1]; st.global.v2.u8 [%rd1], {%rs1, 3};"),
              ElementsAre("%1 = ld.global.v4.s8 %0 !read", "%2, %3, %4, %5 = unpack %1", "%6 = cvt.s16.s8 %2", "%7 = cvt.s16.s8 %3",
                          "%8 = cvt.s16.s8 %4", "%9 = cvt.s16.s8 %5", "%10 = cvt.u8.u16 %6", "%11 = const 3 !remat",
                          "%12 = pack %10, %11", "st.global.v2.u8 %0, %12 !write", "ret"));
}

TEST(Ptx, AGuardedVectorLoadKeepsWhatWasThere) {
  EXPECT_THAT(kernel("@%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1];"),
              ElementsAre("%2 = pack %3, %4", "@%0 %2 = ld.global.v2.u32 %1 !read", "%3, %4 = unpack %2", "ret"));
}

TEST(Ptx, OddVectorsStaySeparateOperands) {
  EXPECT_THAT(kernel("tex.2d.v3.f32.f32 {%f1, %f2, %f3}, [p, {%f4, %f5, %f6}]; mma.foo {%p1, %p2}, {%r1, %rd1};"),
              ElementsAre("%0, %1, %2 = tex.2d.v3.f32.f32 \"p\", %3, %4, %5 !read", "%6, %7 = mma.foo %8, %9 !convergent", "ret"));
}

TEST(Ptx, MatrixFragmentsAreTuplesAndTheAccumulatorIsTied) {
  EXPECT_THAT(
      kernel("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];\n"
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r6, %r7}, {%f1, %f2, "
             "%f3, %f4};\n"
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4}, {%r6, %r7}, {%f1, %f2, "
             "%f3, %f4};"),
      ElementsAre("%0 = ldmatrix.sync.aligned.m8n8.x4.shared.b16 %5 !read !convergent", "%1, %2, %3, %4 = unpack %0",
                  "%11 = pack %1, %2, %3, %4", "%14 = pack %12, %13", "%15 = pack %7, %8, %9, %10",
                  "%6{tied 3} = mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %11, %14, %15 !convergent",
                  "%7, %8, %9, %10 = unpack %6", "%21 = pack %1, %2, %3, %4", "%22 = pack %12, %13", "%23 = pack %7, %8, %9, %10",
                  "%16 = mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %21, %22, %23 !convergent",
                  "%17, %18, %19, %20 = unpack %16", "ret"));
}

TEST(Ptx, TwoDestinationsAndNegatedPredicates) {
  EXPECT_THAT(kernel("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3; shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; elect.sync _|%p1, -1; "
                     "selp.b32 %r1, 1, 2, %p1;"),
              ElementsAre("%0, %1 = setp.lt.and.s32 %2, 5, !%3", "%2, %0 = shfl.sync.bfly.b32 %4, 1, 31, -1 !convergent",
                          "%0 = elect.sync -1 !convergent", "%2 = selp.b32 1, 2, %0", "ret"));
}

// What is made step by step from a parameter may be repeated, as long as each register on the way has one def.
TEST(Ptx, ChainsMayBeRepeated) {
  EXPECT_THAT(
      kernel("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 16; add.s64 %rd4, %rd5, 16;\n"
             "add.s64 %rd6, %rd2, %rd3; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r1, 7; ld.param.u32 %r3, [%rd1];"),
      ElementsAre("%0 = ld.param.u64 \"p\" !read !readonly !remat", "%1 = cvta.to.global.u64 %0 !remat",
                  "%2 = add.s64 %1, 16 !remat !commutative", "%3 = add.s64 %4, 16 !commutative", "%5 = add.s64 %1, %2 !commutative",
                  "%6 = mov.u32 \"%tid.x\" !remat", "%7 = and.b32 %6, 31 !commutative", "%6 = const<mov.u32> 7 !remat",
                  "%8 = ld.param.u32 %0 !read !readonly", "ret"));
}

TEST(Ptx, TheCarryFlagIsAPredicate) {
  EXPECT_THAT(kernel("add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, 0; madc.hi.u32 %r6, %r1, %r2, %r3; subc.u32 %r1, %r2, %r3;"),
              ElementsAre("%0, %1 = add.cc.u32 %2, %3 !commutative", "%4, %1 = addc.cc.u32 %5, 0, %1 !commutative",
                          "%6 = madc.hi.u32 %0, %2, %3, %1 !commutative", "%0 = subc.u32 %2, %3, %1", "ret"));
}

TEST(Ptx, BarriersAndConvergentOperations) {
  EXPECT_THAT(
      kernel("bar.sync 0; barrier.cluster.arrive; fence.acq_rel.gpu; membar.gl; bar.red.popc.u32 %r1, 0, %p1; activemask.b32 %r1;\n"
             "vote.sync.any.pred %p1, !%p2, -1; cp.async.wait_group 0; nanosleep.u32 %r1; trap;"),
      ElementsAre("bar<bar.sync> 0 !barrier !convergent", "bar<barrier.cluster.arrive> !barrier !convergent",
                  "bar<fence.acq_rel.gpu> !barrier !convergent", "bar<membar.gl> !barrier !convergent",
                  "%0 = bar.red.popc.u32 0, %1 !barrier !convergent", "%0 = activemask.b32 !convergent",
                  "%1 = vote.sync.any.pred !%2, -1 !convergent", "cp.async.wait_group 0 !read !write", "nanosleep.u32 %0",
                  "trap !write", "ret"));
}

TEST(Ptx, AnAccumulatorOfWgmmaIsReadAndWritten) {
  EXPECT_THAT(
      kernel("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1, %rd2, 1;"),
      ElementsAre("%0{inout}, %1{inout} = wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 %2, %3, 1 !read !write !convergent",
                  "ret"));
}

TEST(Ptx, VectorRegistersHaveParts) {
  const Module m = read(
      ".entry k { .reg .v4 .f32 %v; .reg .f32 %f; .reg .b64 %a; ld.v4.f32 %v, [%a]; add.f32 %f, %v.x, %v.w; mov.f32 %v.y, %f; "
      "mov.f32 %v.z, 5; }");
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_THAT(lines(m.functions[0]), ElementsAre("%0 = ld.v4.f32 %1 !read", "%2 = add.f32 %0.w0, %0.w3 !commutative",
                                                 "%0.w1 = copy<mov.f32> %2", "%0.w2 = const<mov.f32> 5", "ret"));
}

TEST(Ptx, PureOperationsOnNumbersMayBeRepeated) {
  EXPECT_THAT(kernel("cvt.f32.s32 %f1, 5; unknown %f1, 5; @%p1 add.s32 %r1, 1, 2; atom.add.u32 %r1, [n], 1;"),
              ElementsAre("%0 = cvt.f32.s32 5 !remat", "%0 = unknown 5", "@%1 %2 = add.s32 1, 2 !commutative",
                          "%2 = atom.add.u32 \"n\", 1 !read !write", "ret"));
}

// --- control flow ---------------------------------------------------------------------------------------------------

TEST(Ptx, FallThroughIsExplicitAndTheEntryIsNoTarget) {
  EXPECT_THAT(kernel("top: mov.u32 %r1, 0; next: other: @%p1 bra top; @!%p2 bra.uni other; bra end; mov.u32 %r1, 1; end:"),
              ElementsAre("b0:", "bra -> b1", "b1:", "%0 = const<mov.u32> 0 !remat", "bra -> b2", "b2:", "cbra<bra> %1 -> b1, b3",
                          "b3:", "cbra<bra.uni> !%2 -> b2, b4", "b4:", "bra<bra> -> b6", "b5:", "%0 = const<mov.u32> 1 !remat",
                          "bra -> b6", "b6:", "ret"));
}

TEST(Ptx, BlocksAreNamedAfterTheirFirstLabel) {
  const Module m = read(".entry k { a: b: ret; c: }");
  ASSERT_EQ(m.functions.size(), 1u);
  const Function& f = m.functions[0];
  ASSERT_EQ(f.blocks.size(), 3u);
  EXPECT_EQ(f.symbols[f.blocks[1].name], "a");
  EXPECT_EQ(f.symbols[f.blocks[2].name], "c");
}

TEST(Ptx, GuardedExitsAndReturnsBecomeBranches) {
  EXPECT_THAT(kernel("@%p1 ret; @!%p1 exit;"), ElementsAre("b0:", "cbra %0 -> b1, b2", "b1:", "ret<ret>",
                                                           "b2:", "cbra !%0 -> b3, b4", "b3:", "exit<exit>", "b4:", "ret"));
}

TEST(Ptx, IndexedBranches) {
  EXPECT_THAT(kernel("{ table: .branchtargets one, two, one; brx.idx %r1, table; one: trap; two: }"),
              ElementsAre("b0:", "mbra<brx.idx> %0 -> b1, b2, b1", "b1:", "trap !write", "bra -> b2", "b2:", "ret"));
  EXPECT_THAT(kernel("t: .branchtargets a; @%p1 brx.idx.uni %r1, t; a: ret;"),
              ElementsAre("b0:", "cbra %0 -> b1, b2", "b1:", "mbra<brx.idx.uni> %1 -> b2", "b2:", "ret<ret>"));
}

TEST(Ptx, ScopesShadowRegistersAndLabels) {
  EXPECT_THAT(
      kernel("{ .reg .pred %p; .reg .b32 %r1, %t; { .reg .b64 %r1; mov.u64 %r1, 1; bra L; L: } mov.u32 %r1, 2; bra L; L: }\n"
             "mov.u32 %r1, 3; { .reg .pred %p; setp.eq.u32 %p, %r1, 0; @%p bra L; } L:"),
      ElementsAre("b0:", "%0 = const<mov.u64> 1 !remat", "bra<bra> -> b1", "b1:", "%1 = const<mov.u32> 2 !remat", "bra<bra> -> b2",
                  "b2:", "%2 = const<mov.u32> 3 !remat", "%3 = setp.eq.u32 %2, 0 !remat", "cbra<bra> %3 -> b3, b3", "b3:", "ret"));
}

// --- calls ----------------------------------------------------------------------------------------------------------

constexpr std::string_view kClobbers = " clobbers R0:R23, R32:R254, P0:P6, UR0:UR62, UP0:UP6 !convergent";
std::string with_clobbers(std::string_view line) { return std::string(line) + std::string(kClobbers); }
constexpr std::string_view kCallee = ".extern .func (.param .b32 r) f(.param .b32 a, .param .b64 b);\n";
std::vector<std::string> caller(std::string_view statements) {
  const Module m =
      read(std::string(kHead) + std::string(kCallee) + ".entry k {" + std::string(kRegisters) + std::string(statements) + "}");
  return m.functions.size() == 1 ? lines(m.functions[0]) : std::vector<std::string>{};
}

TEST(Ptx, ACallSequenceIsOneCall) {
  EXPECT_THAT(caller("{ .reg .b32 temp_param_reg; .param .b32 param0; st.param.f32 [param0+0], %f1; .param .b64 param1; "
                     "st.param.b64 [param1], 5;\n"
                     ".param .b32 retval0; call.uni (retval0), \nf, \n(\nparam0, \nparam1\n); ld.param.b32 %r1, [retval0+0]; }"),
              ElementsAre("%1 = const 5 !remat", with_clobbers("%2{=R0} = call<call.uni> \"f\", %0{=R0}, %1{=R2:R3}"), "ret"));
}

TEST(Ptx, CallsThroughARegister) {
  EXPECT_THAT(
      caller("{ .param .b32 a; st.param.b32 [a], %r1; proto : .callprototype (.param .b32 _) _ (.param .b32 _); .param .b32 r;\n"
             "call (r), %rd1, (a)\n, proto; ld.param.b32 %r1, [r]; } call f; call.uni %rd2, ();"),
      ElementsAre(with_clobbers("%0{=R0} = call<call> \"proto\", %1, %0{=R0}"), with_clobbers("call<call> \"f\""),
                  with_clobbers("call<call.uni> %2"), "ret"));
}

TEST(Ptx, StructuresTakeOneRegisterAPiece) {
  EXPECT_THAT(caller("{ .param .align 8 .b8 a[16]; st.param.b64 [a], %rd1; st.param.v2.f32 [a+8], {%f1, %f2}; .param .b32 b; "
                     "st.param.b32 [b], %r1;\n"
                     ".param .align 8 .b8 r[16]; call (r), f, (a, b); ld.param.f64 %fd1, [r]; ld.param.b32 %r2, [r+8]; }"),
              ElementsAre(with_clobbers("%4{=R0:R1}, %5{=R2} = call<call> \"f\", %0{=R0:R1}, %1{=R2}, %2{=R3}, %3{=R4}"), "ret"));
}

TEST(Ptx, WhatDoesNotFitStaysInMemory) {
  EXPECT_THAT(caller("{ .param .align 8 .b8 a[40]; st.param.b64 [a+8], %rd1; .param .b32 b; st.param.b32 [b], %r1; .param .align 4 "
                     ".b8 c[4]; st.param.b8 [c+1], %rs1;\n"
                     ".param .align 8 .b8 r[24]; call (r), f, (a, b, c); ld.param.f64 %fd1, [r+16]; }"),
              ElementsAre("st.param.b64 \"a\", 8, %0 !write", "st.param.b8 \"c\", 1, %2 !write",
                          with_clobbers("call<call> \"f\", \"a\", %1{=R0}, \"c\""), "%3 = ld.param.f64 \"r\", 16 !read", "ret"));
}

TEST(Ptx, AnArgumentIsWhatItWasWhenItWasStored) {
  EXPECT_THAT(caller("{ .param .b32 a; st.param.b32 [a], %r1; add.s32 %r1, %r1, 1; call f, (a); }"),
              ElementsAre("%1 = copy<st.param.b32> %0", "%0 = add.s32 %0, 1 !commutative",
                          with_clobbers("call<call> \"f\", %1{=R0}"), "ret"));
  EXPECT_THAT(caller("{ .param .b32 a; st.param.b32 [a], %r1; @%p1 st.param.b32 [a], %r2; call f, (a); }"),
              ElementsAre("%2 = copy<st.param.b32> %0", "@%1 %2 = copy<st.param.b32> %3",
                          with_clobbers("call<call> \"f\", %2{=R0}"), "ret"));
}

TEST(Ptx, ResultsThatAreReadLaterAreCopied) {
  EXPECT_THAT(caller("{ .param .b32 r; call (r), f; add.s32 %r1, %r1, 1; ld.param.b32 %r1, [r]; ld.param.b32 %r2, [r]; }"),
              ElementsAre(with_clobbers("%0{=R0} = call<call> \"f\""), "%1 = add.s32 %1, 1 !commutative",
                          "%1 = copy<ld.param.b32> %0", "%2 = copy<ld.param.b32> %0", "ret"));
}

TEST(Ptx, ParameterCopiesAreKeptWhereTheyAreAskedFor) {
  const auto kept = [](std::string_view signature, std::string_view statements) {
    const std::string text = std::string(kHead) + std::string(kCallee) + ".func " + std::string(signature) + "{" +
                             std::string(kRegisters) + std::string(statements) + "}";
    const auto m = parse_ptx(text, "t.ptx", AbiName::Seed, ParamCopies::Kept);
    return m ? lines(m->functions[0]) : std::vector<std::string>{to_string(m.error())};
  };
  EXPECT_THAT(
      kept("h()",
           "{ .param .b32 a; st.param.f32 [a], %f1; .param .b64 b; st.param.b64 [b], 5; .param .b32 r;\n"
           "call.uni (r), f, (a, b); ld.param.b32 %r1, [r]; }"),
      ElementsAre("%1 = copy<st.param.f32> %0", "%2 = const 5 !remat", "%3 = copy<st.param.b64> %2",
                  with_clobbers("%4{=R0} = call<call.uni> \"f\", %1{=R0}, %3{=R2:R3}"), "%5 = copy<ld.param.b32> %4", "ret"));
  EXPECT_THAT(
      kept("(.param .b32 r) h(.param .b32 a)", "ld.param.u32 %r1, [a]; @%p1 st.param.b32 [r], %r1; ret;"),
      ElementsAre("%0{=R0} = abi.entry", "%1 = copy<ld.param.u32> %0", "@%2 %3 = copy<st.param.b32> %1", "ret<ret> %3{=R0}"));
}

// Sub-register extract and insert (source 004): to and from the halves of a pair, and the components of a vector register.
TEST(Ptx, ExtractAndInsert) {
  EXPECT_THAT(kernel("mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r1, %r2};\n"
                     ".reg .v2 .b32 %v; mov.b32 %r1, %v.y; mov.b32 %v.x, %r2;"),
              ElementsAre("%0, %1 = unpack<mov.b64> %2", "%3 = pack<mov.b64> %0, %1", "%0 = copy<mov.b32> %4.hi",
                          "%4.lo = copy<mov.b32> %1", "ret"));
}

TEST(Ptx, AGuardedCallIsABranchAroundIt) {
  EXPECT_THAT(caller("{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; @%p1 call (r), f, (a); ld.param.b32 %r1, [r]; }"),
              ElementsAre("b0:", "cbra %1 -> b1, b2", "b1:", with_clobbers("%0{=R0} = call<call> \"f\", %0{=R0}"), "bra -> b2",
                          "b2:", "ret"));
}

TEST(Ptx, DeviceFunctionsTakeArgumentsAndReturnResultsInRegisters) {
  EXPECT_THAT(device("(.param .b64 r) f(.param .b32 a, .param .b64 b)",
                     "ld.param.u64 %rd1, [b]; ld.param.f32 %f1, [a]; bar.sync 0; st.param.b64 [r+0], %rd1; ret;"),
              ElementsAre("%1{=R0}, %0{=R2:R3} = abi.entry", "bar<bar.sync> 0 !barrier !convergent", "ret<ret> %0{=R0:R1}"));
  EXPECT_THAT(device("f(.param .b32 a)", "mov.u32 %r1, 0; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [a];"),
              ElementsAre("%0{=R0} = abi.entry", "%1 = const<mov.u32> 0 !remat", "%1 = copy<ld.param.u32> %0",
                          "%2 = copy<ld.param.u32> %0", "ret"));
  EXPECT_THAT(device("(.param .b32 r) f()", "st.param.b32 [r], %r1; @%p1 ret; st.param.b32 [r], 5;"),
              ElementsAre("b0:", "%2 = copy<st.param.b32> %0", "cbra %1 -> b1, b2", "b1:", "ret<ret> %2{=R0}",
                          "b2:", "%3 = const 5 !remat", "%2 = copy<st.param.b32> %3", "ret %2{=R0}"));
}

TEST(Ptx, CallsOfAbiCuda) {
  const auto functions = [](std::string_view text) {
    return read(std::string(kHead) + std::string(text), AbiName::Cuda).functions;
  };
  const auto all = functions(
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".func (.param .b64 r) f(.param .b32 a, .param .b64 b, .param .b32 c, .param .b32 d) {\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.b32 %r1, [a]; ld.param.b64 %rd1, [b]; ld.param.b32 %r2, [c]; ld.param.b32 %r3, [d];\n"
      "{ .param .b64 p; .param .b64 q; .param .b32 x; st.param.b64 [p], %rd1; st.param.b64 [q], %rd1;\n"
      "call (x), vprintf, (p, q); ld.param.b32 %r4, [x]; }\n"
      "{ .param .b32 p; .param .b64 q; .param .b32 s; .param .b32 t; .param .b64 x; st.param.b32 [p], %r1; st.param.b64 [q], "
      "%rd1;\n"
      "st.param.b32 [s], %r2; st.param.b32 [t], %r4; call (x), f, (p, q, s, t); ld.param.b64 %rd2, [x]; }\n"
      "st.param.b64 [r], %rd2; ret; }\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].abi, AbiName::Cuda);
  const auto text = lines(all[0]);
  ASSERT_EQ(text.size(), 4u);
  // The third argument takes the register that the alignment of the second has left.
  EXPECT_EQ(text[0], "%0{=R4}, %1{=R6:R7}, %2{=R5}, %3{=R8} = abi.entry");
  EXPECT_EQ(text[1],
            "%4{=R4} = call<call> \"vprintf\", %1{=R4:R5}, %1{=R6:R7} clobbers R0:R1, R3:R15, R20:R21, P0:P6, UR0:UR35, "
            "UP0:UP6 !convergent");
  EXPECT_THAT(text[2], testing::StartsWith("%5{=R4:R5} = call<call> \"f\", %0{=R4}, %1{=R6:R7}, %2{=R5}, %4{=R8} clobbers R0:R1, "
                                           "R3:R15, R20:R21, R32:R35, R40:R43, R48:R51, "));
  EXPECT_EQ(text[3], "ret<ret> %5{=R4:R5}");
  EXPECT_THAT(print(all[0]), testing::StartsWith("func @f device target sm_90 threads 256 abi cuda\n"));
}

TEST(Ptx, TwelveArgumentsOfAbiCudaAreInRegisters) {
  std::string declared, loads;
  for (int k = 0; k < 14; ++k) {
    declared += fmt::format("{}.param .b32 a{}", k == 0 ? "" : ", ", k);
    loads += fmt::format("ld.param.b32 %r{}, [a{}];\n", k, k);
  }
  const Module m = read(fmt::format("{}.func f({}) {{ .reg .b32 %r<14>;\n{} ret; }}", kHead, declared, loads), AbiName::Cuda);
  ASSERT_EQ(m.functions.size(), 1u);
  const auto text = lines(m.functions[0]);
  EXPECT_THAT(text[0], testing::StartsWith("%0{=R4}, %1{=R5}, "));
  EXPECT_THAT(text[0], testing::HasSubstr("%11{=R15} = abi.entry"));
  EXPECT_THAT(text, testing::Contains("%12 = ld.param.b32 \"a12\" !read"));
}

TEST(Ptx, ParametersWithAnAddressAreMemory) {
  EXPECT_THAT(
      device("f(.param .align 4 .b8 a[8], .param .b32 b)", "mov.u64 %rd1, a; ld.param.u32 %r1, [a+4]; ld.param.u32 %r2, [b];"),
      ElementsAre("%0{=R2} = abi.entry", "%1 = const<mov.u64> \"a\" !remat", "%2 = ld.param.u32 \"a\", 4 !read", "ret"));
}

TEST(Ptx, RegisterParameters) {
  EXPECT_THAT(device("(.reg .b32 %x) f(.reg .b64 %y)", "cvt.u32.u64 %x, %y; call (%r1), f, (%r2, 5, %rd1); ret;"),
              ElementsAre("%0{=R0:R1} = abi.entry", "%1 = cvt.u32.u64 %0",
                          with_clobbers("%4{=R0} = call<call> \"f\", %2{=R0}, 5, %3{=R2:R3}"), "ret<ret> %1{=R0}"));
}

TEST(Ptx, KnowsWeakFunctions) {
  const auto module = parse_ptx(R"(
.weak .func first() { }
.visible .func second() { }
.weak .global .u32 third;
.weak .func (.param .b32 result) fourth(.param .b32 a) { }
)");
  ASSERT_TRUE(module.has_value());
  std::vector<bool> are_weak;
  for (const PtxDeclarations& d : module->declarations) are_weak.push_back(d.is_weak);
  EXPECT_EQ(are_weak, (std::vector<bool>{true, false, true}));
}

TEST(Ptx, KnowsFunctionsThatOthersMayCall) {
  const auto module = parse_ptx(R"(
.visible .func declared();
.func declared() { }
.func in_a_table() { }
.func alone() { }
.weak .func replaced() { }
.global .u64 table[2] = {0, in_a_table};
)");
  ASSERT_TRUE(module.has_value());
  std::vector<bool> are_visible;
  for (const PtxDeclarations& d : module->declarations) are_visible.push_back(d.is_visible);
  EXPECT_EQ(are_visible, (std::vector<bool>{true, true, false, true}));
}

}  // namespace
}  // namespace regduel::ir
