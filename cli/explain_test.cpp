// regduel explain: which vreg is meant, what is said of it, and that it fits a terminal.
#include <sstream>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, ExplainFindsTheVreg) {
  const std::string copy = "explain " + source("corpus/explain/copy.rir") + " --vreg ";
  const Outcome by_name = run(copy + "at");
  EXPECT_EQ(by_name.status, 0) << by_name.err;
  EXPECT_THAT(by_name.out, StartsWith("%2 R b32 name \"at\": in R1\n"));
  for (const char* asked : {"2", "%2", "%at"}) EXPECT_EQ(run(copy + asked).out, by_name.out) << asked;
  EXPECT_THAT(run(copy + "at --all").out, HasSubstr("round 0, attempt 0"));
  EXPECT_THAT(run(copy + "at --limit P=1 --regs 3 --sm 80 --knob 641=1").out, HasSubstr("in R"));

  expect_complaint(copy + "nobody", "--vreg nobody: @copy has 6 vregs, %0 to %5, and none of that name");
  expect_complaint(copy + "%6", "none of that name");
  expect_complaint(copy + "2 --with briggs", "--with briggs: only fatpoint explains itself");
  expect_complaint(copy + "2 --with nobody", "no allocator \"nobody\"");
  expect_complaint(copy + "2 --function f", "--function: no function \"f\" in");
  expect_complaint(copy + "2 --knob nonsense=1", "--knob nonsense=1: no allocator here has such a knob");
  expect_complaint("explain " + source("corpus/explain/copy.rir"), "--vreg");
  expect_complaint("explain " + source("corpus/ptx/calls.ptx") + " --vreg 0", "say which with --function (");
  write("twins.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32 name \"x\"\n  vreg %1 R b32 name \"x\"\n  block b0\n    #0 "
        "exit\n"
        "func @g kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b32 alias %0.w1\n  block b0\n    #0 %0 = ld 0\n    "
        "#1 st %1 !write\n    #2 exit\n");
  expect_complaint("explain twins.rir --function f --vreg x", "--vreg x: %0 and %1 of @f both have that name");
  EXPECT_THAT(run("explain twins.rir --function f --vreg 0").out, HasSubstr("never lives"));
  EXPECT_THAT(run("explain twins.rir --function g --vreg 1").out,
              StartsWith("%1 is an alias: its storage is %0's\n%0 R b64: in R0:R1\n"));
  const Outcome impossible = run("explain twins.rir --function g --vreg 0 --regs 1");
  EXPECT_EQ(impossible.status, 1);
  EXPECT_THAT(impossible.err, HasSubstr("Register allocation failed with register count of '1'"));
}

TEST_F(Cli, ExplainGolden) {
  write("spill.rir", read_file(source("corpus/explain/spill.rir")).value());
  write("evict.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32 fixed R1\n  vreg %1 R b32 fixed R3\n  vreg %2 R b64\n  "
        "block b0\n    #0 %0 = ld 0\n"
        "    #1 %1 = ld 1\n    #2 %2 = ld 2\n    #3 st %2 !write\n    #4 st %0, %1 !write\n    #5 exit\n");
  expect_golden("cli/golden/explain_predicate.json", run("explain spill.rir --vreg 6 --json").out);
  expect_golden("cli/golden/explain_spilled.txt",
                run("explain spill.rir --vreg cold --regs 4 --all --knob FatPointSplitLiveRanges=0").out);
  expect_golden("cli/golden/explain_split.txt", run("explain spill.rir --vreg cold --regs 4").out);
  expect_golden("cli/golden/explain_evicted.txt", run("explain evict.rir --vreg 0 --regs 4 --knob FatPointMovingHomes=0").out);
  const std::string still = "explain evict.rir --vreg 2 --regs 4 --knob FatPointMovingHomes=0";
  expect_golden("cli/golden/explain_makes_room.txt", run(still + " --all").out);
  expect_golden("cli/golden/explain_live.txt", run(still + " --live").out);
  write(
      "moves.rir",
      "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 %0 = ld 0\n    #1 st clobbers R0 !write\n"
      "    #2 st clobbers R1 !write\n    #3 st %0 !write\n    #4 exit\n");
  expect_golden("cli/golden/explain_moves.txt", run("explain moves.rir --vreg 0 --regs 2").out);
}

// Whatever the vreg, the text fits a terminal of 100 columns, and the JSON has both arrays slot by slot.
TEST_F(Cli, ExplainFitsATerminal) {
  for (const char* options :
       {"ptx/flash_attention.ptx --regs 40", "ptx/calls.ptx --function NAME --regs 24", "ptx/dgemm_8x8.ptx --knob 641=1"}) {
    std::string all = options;
    if (const std::size_t at = all.find("NAME"); at != std::string::npos) {
      const std::string names = run("explain " + source("corpus/ptx/calls.ptx") + " --vreg 0").err;
      const std::size_t first = names.rfind('(') + 1;
      all.replace(at, 4, names.substr(first, names.find_first_of(",)", first) - first));
    }
    for (const int vreg : {0, 3, 7, 10}) {
      const std::string command = "explain " + source("corpus/") + all + " --all --vreg " + std::to_string(vreg);
      const Outcome r = run(command);
      EXPECT_EQ(r.status, 0) << command << '\n' << r.err;
      std::istringstream lines(r.out);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << command << '\n' << line;
      EXPECT_THAT(r.out, Not(HasSubstr("\x1b")));
      const auto doc = json(command + " --json");
      for (const char* key : {"command", "file", "function", "allocator", "limit", "asked", "vreg", "declaration", "one_with",
                              "lives", "home", "spill", "pinned_at", "register_file", "operands", "shown", "attempts"})
        EXPECT_TRUE(doc.contains(key)) << key;
      for (const auto& a : doc["attempts"])
        for (const auto& s : a["steps"]) {
          EXPECT_EQ(s["primary"].size(), s["slots"].size());
          EXPECT_EQ(s["secondary"].size(), s["slots"].size());
          EXPECT_GE(s["slots"].size(), 7u);
        }
    }
  }
}

}  // namespace
}  // namespace regduel::cli
