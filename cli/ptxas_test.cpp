#include <cstdlib>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, ImportPrintsPtx) {
  const std::string kernel = source("corpus/reader/mov_v2.ptx");
  const auto once = run("import --emit ptx " + kernel);
  EXPECT_EQ(once.status, 0);
  EXPECT_THAT(once.out, HasSubstr(".visible .entry k "));
  write("once.ptx", once.out);
  EXPECT_EQ(json("import --json once.ptx")["results"].size(), json("import --json " + kernel)["results"].size());
  EXPECT_EQ(run("import --emit ptx once.ptx -o out").status, 0);
  EXPECT_TRUE(fs::exists(path("out/k.ptx")));
}

// A program that prints the lines of ptxas stands for it; one that ends with an error; none.
TEST_F(Cli, PtxasStandsBesideTheDuelistsWithItsFigures) {
  write("ptxas",
        "#!/bin/sh\ncase \"$*\" in *-O1*) r=40;; *) r=24;; esac\ncase \"$*\" in *maxrregcount=25*) echo 'ptxas fatal : too few'; "
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
  EXPECT_THAT(run("duel --with fatpoint,ptxas --regs 25 " + kernel).out,
              HasSubstr("ptxas: " + kernel + " at 25 registers, -O3: ptxas fatal : too few"));
  const auto duels = json("duel --json --with fatpoint,ptxas --random 3 --regs 32");
  ASSERT_EQ(duels["results"].size(), 6u);
  EXPECT_EQ(duels["results"][1]["allocator"], "ptxas");
  EXPECT_EQ(duels["results"][1]["registers"], 24);
  EXPECT_EQ(duels["results"][1]["spill_load_bytes"], 12);
  EXPECT_EQ(duels["results"][1]["verdict"], "pass");
  ::setenv("PTXAS", path("none").c_str(), 1);
  EXPECT_THAT(run("duel --with fatpoint,ptxas " + kernel).err, HasSubstr("skipped: no ptxas"));
  ::unsetenv("PTXAS");
}

}  // namespace
}  // namespace regduel::cli
