// Forms of PTX that are rare, and each of which some compiler or person writes: prototypes without a semicolon, constant expressions, elements
// of arrays, bytes of registers, vectors that are moved; parameters of kernels as constants; launch bounds and local variables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/io.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/ptx.h"
#include "ir/ptx/testing.h"

namespace regduel::ir {
namespace {

using namespace ptx::testing;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const Module& m) {
  std::vector<std::string> names;
  for (const Function& f : m.functions) names.push_back(f.name);
  return names;
}

// --- modules --------------------------------------------------------------------------------------------------------

TEST(PtxForms, APrototypeNeedsNoSemicolonWhereAnotherItemFollows) {
  const std::string head(kHead);
  EXPECT_THAT(names_of(read(head + ".func f (.param .b32 a)\n.visible .entry k { ret; }")), ElementsAre("k"));
  EXPECT_THAT(names_of(read(head + ".func (.reg .b32 r) f\n.global .u32 x;\n.entry k { ret; }\n.func g")), ElementsAre("k"));
  EXPECT_THAT(names_of(read(head + ".func f () .noreturn\n.file 1 \"a.cu\"\n.entry k { ret; }")), ElementsAre("k"));
  EXPECT_THAT(error_of(".entry k (.param .u64 p)\n.global .u32 x;"),
              "t.ptx:2:1: error: expected '{' or ';' after the signature, found '.global'");
}

TEST(PtxForms, WhatStandsBehindASignatureIsKnown) {
  EXPECT_THAT(error_of(".entry k () junk { ret; }"), "t.ptx:1:13: error: expected '{' or ';' after the signature, found 'junk'");
  EXPECT_THAT(error_of(".func f () 5;"), HasSubstr("found '5'"));
  EXPECT_THAT(error_of(".func f () .noreturn junk { ret; }"), HasSubstr("found 'junk'"));
  const PtxModule m =
      read(std::string(kHead) +
           ".entry k () .maxntid 64, 2 .minnctapersm 3 .maxnreg 40 .reqnctapercluster 2, 1 .explicitcluster "
           ".maxclusterrank 4 .pragma \"nounroll\"; { ret; }\n.func .attribute(.unified(1, 2)) f .abi_preserve 4 { ret; }");
  EXPECT_EQ(m.declarations.at(0).bounds, (LaunchBounds{.threads = 128, .blocks = 3, .registers = 40}));
  EXPECT_EQ(m.functions.at(0).threads, 128U);
  EXPECT_EQ(m.declarations.at(1).bounds, LaunchBounds{});
  EXPECT_EQ(m.functions.at(1).threads, 256U);
}

TEST(PtxForms, AFunctionHasOneBody) {
  EXPECT_EQ(error_of(".func f { ret; }\n.func f { ret; }"), "t.ptx:2:7: error: the function 'f' has a body already");
  EXPECT_EQ(error_of(".func f;\n.func f { ret; }\n.func f;"), "no error");
}

TEST(PtxForms, ModuleRegistersBelongToEachFunction) {
  const Module m =
      read(std::string(kHead) + ".reg .b32 %m<3>, one;\n.func f { mov.b32 %m1, one; ret; }\n.func g { mov.b32 one, %m2; ret; }");
  EXPECT_THAT(lines(m.functions.at(0)), ElementsAre("%0 = copy<mov.b32> %1", "ret<ret>"));
  EXPECT_EQ(m.functions.at(1).vregs.size(), 2U);
}

TEST(PtxForms, LocalVariablesAreCountedWithTheirAlignment) {
  const PtxModule m =
      read(std::string(kHead) + ".entry k { .local .b8 a[3]; .local .align 8 .b8 depot[2][8]; { .local .v4 .f32 v; } ret; }");
  EXPECT_EQ(m.functions.at(0).local_frame, 48U);
}

// --- operands -------------------------------------------------------------------------------------------------------

TEST(PtxForms, ConstantExpressions) {
  EXPECT_THAT(
      kernel(
          "mov.u32 %r1, (3+4)*2-1; mov.u32 %r1, 1<<4|1; mov.u32 %r1, 7>3?1:2; mov.u32 %r1, -(3); mov.u32 %r1, !0; mov.u32 %r1, 6 % "
          "4;\n"
          "mov.u64 %rd1, (.s64)-8/3; mov.u64 %rd1, ~0U>>60; mov.u64 %rd1, -8>>1; mov.u32 %r1, WARP_SZ*2; mov.u32 %r1, 1==1&&0!=3;\n"
          "mov.f64 %fd1, .5; mov.f64 %fd1, 5.; mov.f64 %fd1, .5e+1;"
          "mov.f32 %f1, -0f3F800000; ld.global.u32 %r2, [%rd2+(1<<3)-4*2+WARP_SZ]; ret;"),
      ElementsAre("%0 = const<mov.u32> 13 !remat", "%0 = const<mov.u32> 17 !remat", "%0 = const<mov.u32> 1 !remat",
                  "%0 = const<mov.u32> -3 !remat", "%0 = const<mov.u32> 1 !remat", "%0 = const<mov.u32> 2 !remat",
                  "%1 = const<mov.u64> -2 !remat", "%1 = const<mov.u64> 15 !remat", "%1 = const<mov.u64> -4 !remat",
                  "%0 = const<mov.u32> 64 !remat", "%0 = const<mov.u32> 1 !remat", "%2 = const<mov.f64> 4602678819172646912 !remat",
                  "%2 = const<mov.f64> 4617315517961601024 !remat", "%2 = const<mov.f64> 4617315517961601024 !remat",
                  "%3 = const<mov.f32> 3212836864 !remat", "%4 = ld.global.u32 %5, 32 !read", "ret<ret>"));
  EXPECT_THAT(error_in_kernel("mov.u32 %r1, 5/0;"), "t.ptx:2:15: error: a division by zero");
  EXPECT_THAT(error_in_kernel("mov.u32 %r1, (3;"), HasSubstr("expected ')', found ';'"));
  EXPECT_THAT(error_in_kernel("mov.u32 %r1, " + std::string(1000, '(') + "1;"), HasSubstr("nested deeper"));
}

TEST(PtxForms, ElementsOfArraysAndRegistersWithANumber) {
  EXPECT_THAT(
      kernel(".local .b32 l[4]; .shared .v2 .f64 s[3];\n"
             "mov.u64 %rd1, l[2]; ld.local.u32 %r1, l[1]; ld.local.u32 %r1, l[%r2]; mov.u64 %rd1, s[1]; mov.u32 %r1, %r2+1; "
             "add.u32 %r1, %r2+4, "
             "%r1; ret;"),
      ElementsAre("%0 = mov.u64 \"l\", 8 !remat", "%1 = ld.local.u32 \"l\", 4 !read", "%1 = ld.local.u32 \"l\", %2 !read",
                  "%0 = mov.u64 \"s\", 16 !remat", "%1 = mov.u32 %2, 1", "%1 = add.u32 %2, 4, %1 !commutative", "ret<ret>"));
}

TEST(PtxForms, BytesOfVideoInstructions) {
  EXPECT_THAT(kernel("vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1; vadd.s32.s32.s32 %r1.h0, %r2, %r3.b3, %r4;\n"
                     "vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3, %r4; vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4; ret;"),
              ElementsAre("%0 = vadd.s32.u32.s32.sat %1.b0, %2.hi", "%0 = vadd.s32.s32.s32 \".h0\", %1, %2.b3, %3",
                          "%0 = vadd4.u32.u32.u32 \".b3210\", %1, \".b7654\", %2, %3",
                          "%0 = vmad.s32.s32.s32 \"-\", %1, %2, \"-\", %3", "ret<ret>"));
}

TEST(PtxForms, VectorsThatAreMoved) {
  EXPECT_THAT(kernel("mov.v2.b32 {%r1,%r2}, {%r2,%r1}; mov.v2.b32 {%r1,_}, {7,%r2}; mov.v4.u32 {%r1,%r2,_,%r3}, %tid;\n ret;"),
              ElementsAre("%0, %1 = copy<mov.v2.b32> %1, %0", "%2 = const 7 !remat", "%0 = copy<mov.v2.b32> %2",
                          "%0 = mov.u32 \"%tid.x\" !remat", "%1 = mov.u32 \"%tid.y\" !remat", "%3 = mov.u32 \"%tid.w\" !remat",
                          "ret<ret>"));
  EXPECT_THAT(error_in_kernel("mov.v2.b32 {%r1,%r2}, {%r2,%r1,%r1};"), HasSubstr("both vectors have as many elements"));
  EXPECT_THAT(error_in_kernel("mov.v2.b32 {%r1,%r2}, {%r2,%rd1};"), HasSubstr("an element is as wide as the one that it becomes"));
}

TEST(PtxForms, NamesWithAPercentSign) {
  const Module m =
      read(std::string(kHead) +
           ".global .b32 %g;\n.func %f (.param .b32 %a) { .reg .b64 %rd1; .reg .b32 %0;\n%L1: mov.u64 %rd1, %g; ld.param.b32 "
           "%0, [%a]; bra %L1; }");
  EXPECT_THAT(names_of(m), ElementsAre("%f"));
  EXPECT_THAT(error_in_kernel("mov.u32 %r1, %x;"), "t.ptx:2:14: error: the register '%x' is not declared");
}

// Families by number, near and far, and one whose name ends with a digit.
TEST(PtxForms, MembersOfFamilies) {
  EXPECT_THAT(
      kernel(".reg .b32 %x<4000000000>, %y1<20>;\n"
             "mov.u32 %x3999999999, %x5; mov.u32 %x2000, %x3999999999; mov.u32 %x5, %x2000; mov.u32 %y10, %y119; ret;"),
      ElementsAre("%0 = copy<mov.u32> %1", "%2 = copy<mov.u32> %0", "%1 = copy<mov.u32> %2", "%3 = copy<mov.u32> %4", "ret<ret>"));
  EXPECT_THAT(error_in_kernel("mov.u32 %r3, 1;"), HasSubstr("the register '%r3' is not declared"));
  EXPECT_THAT(error_in_kernel("mov.u32 %r01, 1;"), HasSubstr("the register '%r01' is not declared"));
}

TEST(PtxForms, AnOpcodeOfSeveralWords) {
  EXPECT_THAT(kernel("mov .u32 %r1, %r2; ld .global .L2::cache_hint .u32 %r1, [%rd1], %rd2; ret;"),
              ElementsAre("%0 = copy<mov.u32> %1", "%0 = ld.global.L2::cache_hint.u32 %2, %3 !read", "ret<ret>"));
}

TEST(PtxForms, OpcodesAndTheirPartsAreKnown) {
  ptx::OpcodeTable opcodes;
  for (const char* known :
       {"add.s32", "ld.global.L1::no_allocate.v4.f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "tex.a2d.v4.f32.f32",
        "tcgen05.ld.sync.aligned.16x32bx2.x4.pack::16b.b32", "cvt.rn.satfinite.e4m3x2.f32", "vadd4.u32.s32.u32.add", "prmt.b32.f4e",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group", "ld.param::func.b128"})
    EXPECT_TRUE(opcodes.find(known).info.is_known) << known;
  for (const char* unknown : {"add.s33", "ld.glboal.f32", "foo.s32", "mul.wider.u16", "cvt.rnn.f32.f64"})
    EXPECT_FALSE(opcodes.find(unknown).info.is_known) << unknown;
}

// --- parameters of kernels ------------------------------------------------------------------------------------------

TEST(PtxForms, ParametersOfAKernelMayBeLoadedAgainThroughARegister) {
  EXPECT_THAT(
      kernel("mov.b64 %rd1, p; ld.param.u32 %r1, [%rd1+4]; add.s64 %rd2, %rd1, 8; mov.u64 %rd3, %rd2; ld.param.v2.f32 {%f1,%f2}, "
             "[%rd3+4];\n"
             "@%p1 ld.param.v4.u16 {%rs1,_,%rs2,%rs3}, [p]; ret;"),
      ElementsAre("%0 = const<mov.b64> \"p\" !remat", "%1 = ld.param.u32 \"p\", 4 !read !readonly !remat",
                  "%2 = add.s64 %0, 8 !remat !commutative", "%3 = copy<mov.u64> %2",
                  "%4 = ld.param.f32 \"p\", 12 !read !readonly !remat", "%5 = ld.param.f32 \"p\", 16 !read !readonly !remat",
                  "@%6 %7 = ld.param.u16 \"p\" !read !readonly", "@%6 %8 = ld.param.u16 \"p\", 4 !read !readonly",
                  "@%6 %9 = ld.param.u16 \"p\", 6 !read !readonly", "ret<ret>"));
}

// A register with another def may point elsewhere; the parameters of a function can be written.
TEST(PtxForms, ARegisterWithTwoDefsIsNoAddressOfAParameter) {
  EXPECT_THAT(kernel("mov.b64 %rd1, p; add.s64 %rd1, %rd1, 8; ld.param.u32 %r1, [%rd1+4]; ret;"),
              ElementsAre("%0 = const<mov.b64> \"p\" !remat", "%0 = add.s64 %0, 8 !commutative",
                          "%1 = ld.param.u32 %0, 4 !read !readonly", "ret<ret>"));
  EXPECT_THAT(device("f(.param .b64 a)", "mov.b64 %rd1, a; ld.param.u32 %r1, [%rd1+4]; ret;"),
              ElementsAre("%0 = const<mov.b64> \"a\" !remat", "%1 = ld.param.u32 %0, 4 !read", "ret<ret>"));
}

// --- corpus ---------------------------------------------------------------------------------------------------------

TEST(Ptx, SetmaxnregGivesRegistersUp) {
  EXPECT_THAT(
      kernel("setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.inc.sync.aligned.u32 256;"),
      testing::AllOf(testing::Contains(HasSubstr("setmaxnreg.dec.sync.aligned.u32 40 clobbers R40:R254")),
                     testing::Contains(HasSubstr("setmaxnreg.inc.sync.aligned.u32 232 clobbers R232:R254")),
                     testing::Contains(HasSubstr("setmaxnreg.inc.sync.aligned.u32 256 !convergent"))));
}

// Files after public reports, each with what it has to get: functions, or an error.
TEST(PtxCorpus, FilesThatWereReadWrongly) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"const_expr", {"k"}},
      {"hidden_param", {"k"}},
      {"maxnreg", {"k"}},
      {"mov_v2", {"k"}},
      {"percent_label", {"k"}},
      {"proto_without_semicolon_silent", {"work", "other", "helper"}},
      {"proto_without_semicolon_var", {"pick"}},
      {"setmaxnreg", {"k"}},
      {"unlaunchable", {"k"}},
      {"video_subword", {"k"}},
  };
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/reader")) {
    const std::string text = read_file(entry.path().string()).value(), stem = entry.path().stem().string();
    ++files;
    if (stem == "dup") {
      EXPECT_EQ(error_of(text), "t.ptx:8:17: error: the function 'k' has a body already");
      continue;
    }
    ASSERT_TRUE(expected.contains(stem)) << stem;
    EXPECT_EQ(names_of(read(text)), expected.at(stem)) << stem;
  }
  EXPECT_EQ(files, expected.size() + 1);
}

}  // namespace
}  // namespace regduel::ir
