// Launch bounds of PTX files: --regs file, the lines of ptxas about kernels, failures with the line of the file.
#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

using ::testing::ContainsRegex;

TEST_F(Cli, RegsFileTakesTheLimitFromLaunchBounds) {
  const auto limit_of = [&](std::string_view name) {
    return json("duel --json --regs file " + source(fmt::format("corpus/reader/{}.ptx", name)))["results"][0]["limit"].get<int>();
  };
  EXPECT_EQ(limit_of("maxnreg"), 24);
  EXPECT_EQ(limit_of("unlaunchable"), 64);
  EXPECT_EQ(limit_of("setmaxnreg"), 168);
  EXPECT_EQ(limit_of("mov_v2"), 255);
  expect_complaint("duel --regs file,24 " + source("corpus/reader/maxnreg.ptx"),
                   "--regs: expected numbers like 24,32,64, found \"file\"");
  expect_complaint("alloc --regs files " + source("corpus/reader/maxnreg.ptx"),
                   "--regs: expected numbers like 24,32,64, found \"files\"");
  expect_complaint("alloc --regs 24,32 " + source("corpus/reader/maxnreg.ptx"),
                   "--regs: expected 1 to 255 or file, found \"24,32\"");
}

// 384 threads of up to 232 registers: the kernel begins with 168.
TEST_F(Cli, WhereSetmaxnregChangesTheLimitAKernelBeginsWithThatOfItsBounds) {
  const Outcome r = run("alloc --regs file -v -o b.rir " + source("corpus/reader/setmaxnreg.ptx"));
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("Used 168 registers"));
  EXPECT_THAT(r.err, Not(HasSubstr("launched")));
}

TEST_F(Cli, LaunchBoundsThatCostSpillsAreNamed) {
  const Outcome r = run("alloc --regs file -v -o b.rir " + source("corpus/reader/maxnreg.ptx"));
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.err,
              ContainsRegex("note: @k: .maxnreg 24 leaves 24 registers, below MaxLive [0-9]+, which costs [0-9]+ bytes of spills"));
  EXPECT_THAT(r.out, HasSubstr("regduel info    : Overriding maximum register limit 256 for 'k' with  24 of .maxnreg 24\n"
                               "regduel info    : Function properties for k\n"));
  EXPECT_THAT(r.out, ContainsRegex("regduel info    : Used 24 registers, used 0 barriers, [0-9]+ bytes cumulative stack size\n"));
  EXPECT_THAT(run("duel --regs file " + source("corpus/reader/maxnreg.ptx")).out,
              HasSubstr("note: @k by fatpoint: .maxnreg 24 leaves 24 registers"));
}

TEST_F(Cli, AKernelThatCannotBeLaunchedIsNamed) {
  const Outcome r = run("alloc --regs 255 -o b.rir " + source("corpus/reader/unlaunchable.ptx"));
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(
      r.err,
      ContainsRegex(
          "note: @k: 1024 threads at [0-9]+ registers cannot be launched: an SM has 65536, so that a thread may have at most 64"));
  EXPECT_THAT(run("alloc --regs file -o b.rir " + source("corpus/reader/unlaunchable.ptx")).err,
              Not(HasSubstr("cannot be launched")));
}

TEST_F(Cli, TheStackHasTheLocalVariablesOfThePtxFile) {
  write("a.ptx", R"(.version 9.0
.target sm_90
.address_size 64
.func f (.param .b64 a) { .local .align 8 .b8 depot[24]; ret; }
.entry k (.param .u64 p) { .local .align 8 .b8 depot[12]; { .param .b64 q; call f, (q); } bar.sync 3; ret; }
)");
  EXPECT_EQ(run("alloc -v -o b.rir a.ptx").out,
            "regduel info    : Function properties for f\n    24 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "regduel info    : Function properties for k\n    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "regduel info    : Used 0 registers, used 4 barriers, 40 bytes cumulative stack size\n");
}

TEST_F(Cli, AFailureNamesTheLineOfThePtxFileAndTheLimitThatWouldDo) {
  write("a.ptx", R"(.version 9.0
.target sm_90
.address_size 64
.entry k (.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .f32 %f<9>;
  ld.param.u64 %rd1, [p];
  ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];
  st.global.v4.f32 [%rd1+16], {%f1,%f2,%f3,%f4};
  ret;
}
)");
  const Outcome r = run("alloc --regs 3 a.ptx");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, ContainsRegex("^a.ptx:[789]: @k: #[0-9]+: .*; 8 registers would do\n"));
  write("b.rir", R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b256
  vreg %1 R b256
  block b0
    #0 %0 = ld 0 !read
    #1 %1 = ld 32 !read
    #2 setmaxnreg.dec.sync.aligned.u32 8 !convergent
    #3 st %0, %1 !write
    #4 exit
)");
  EXPECT_THAT(run("alloc b.rir").err, HasSubstr("; setmaxnreg leaves 8 registers there, and 16 would do\n"));
}

}  // namespace
}  // namespace regduel::cli
