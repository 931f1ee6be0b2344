#include "cli/ptxas.h"

#include <cstdlib>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

constexpr const char* kOutput = R"(ptxas info    : Overriding maximum register limit 256 for 'calls' with  32 of maxrregcount option
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'calls' for 'sm_90'
ptxas info    : Function properties for calls
    56 bytes stack frame, 156 bytes spill stores, 152 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 56 bytes cumulative stack size
ptxas info    : Compile time = 434.883 ms
ptxas info    : Function properties for better
    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
)";

TEST(Ptxas, FiguresOfItsLines) {
  const auto all = figures_of_ptxas(kOutput);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].function, "calls");
  EXPECT_EQ(all[0].registers, 32);
  EXPECT_EQ(all[0].stack_bytes, 56);
  EXPECT_EQ(all[0].store_bytes, 156);
  EXPECT_EQ(all[0].load_bytes, 152);
  EXPECT_DOUBLE_EQ(all[0].milliseconds, 434.883);
  EXPECT_EQ(all[1].function, "better");
  EXPECT_EQ(all[1].registers, -1);
  EXPECT_EQ(all[1].load_bytes, 12);
  EXPECT_TRUE(figures_of_ptxas("").empty());
}

// A program that prints the lines of ptxas stands for it; one that ends with an error; none.
TEST_F(Cli, PtxasStandsBesideTheDuelistsWithItsFigures) {
  write("ptxas",
        "#!/bin/sh\ncase \"$*\" in *-O1*) r=40;; *) r=24;; esac\ncase \"$*\" in *maxrregcount=16*) echo 'ptxas fatal : too few'; "
        "exit 1;; esac\n"
        "echo \"ptxas info    : Compiling entry function 'k' for 'sm_90'\"\necho 'ptxas info    : Function properties for k'\n"
        "echo '    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads'\necho \"ptxas info    : Used $r registers, "
        "used 0 barriers\"\n"
        "echo 'ptxas info    : Compile time = 2.500 ms'\n");
  fs::permissions(path("ptxas"), fs::perms::owner_all);
  ::setenv("PTXAS", path("ptxas").c_str(), 1);
  const std::string kernel = source("corpus/reader/mov_v2.ptx");
  const auto rows = json("duel --json --with fatpoint,ptxas --regs 32 " + kernel)["ptxas"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["function"], "k");
  EXPECT_EQ(rows[0]["level"], 3);
  EXPECT_EQ(rows[0]["limit"], 32);
  EXPECT_EQ(rows[0]["registers"], 24);
  EXPECT_EQ(rows[0]["stack_frame_bytes"], 8);
  EXPECT_EQ(rows[0]["spill_store_bytes"], 4);
  EXPECT_EQ(rows[0]["spill_load_bytes"], 12);
  EXPECT_EQ(rows[1]["level"], 1);
  EXPECT_EQ(rows[1]["registers"], 40);
  EXPECT_THAT(run("duel --with ptxas " + kernel).out, ::testing::ContainsRegex("k +- +-O3 +24 +8 +4 +12 +2.5"));
  EXPECT_THAT(run("duel --with fatpoint,ptxas --regs 16 " + kernel).out,
              HasSubstr("ptxas: " + kernel + " at 16 registers, -O3: ptxas fatal : too few"));
  ::unsetenv("PTXAS");
  write("a.rir", "rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  expect_complaint("duel --with fatpoint,ptxas a.rir", "--with ptxas: plays PTX files alone");
  expect_complaint("duel --with fatpoint,ptxas --random 3", "--with ptxas: plays PTX files alone");
}

}  // namespace
}  // namespace regduel::cli
