// What judges and people see of an allocation: verify, pass, diff.
#include <regex>
#include <sstream>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, ShowsTwoAllocationsSideBySide) {
  ASSERT_EQ(run("gen --seed 7 --profile loops -o a.rir").status, 0);
  ASSERT_EQ(run("alloc --regs 16 --with fatpoint a.rir -o f.rir").status, 0);
  ASSERT_EQ(run("alloc --regs 16 --with briggs a.rir -o b.rir").status, 0);
  const Outcome same = run("diff f.rir f.rir");
  EXPECT_EQ(same.status, 0);
  EXPECT_THAT(same.out, HasSubstr("no difference"));
  const Outcome other = run("diff f.rir b.rir");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.out, AllOf(HasSubstr(" | #"), HasSubstr("lines differ")));
  // Each side is whole: its lines, in their order.
  const auto all = json("diff f.rir b.rir --all --json");
  for (const auto& [side, file] : {std::pair("left", "f.rir"), std::pair("right", "b.rir")}) {
    std::vector<std::string> lines;
    for (const auto& row : all["rows"])
      if (const std::string line = row[side]; !line.empty()) lines.push_back(line.substr(std::min(line.find(' '), line.size())));
    std::vector<std::string> expected;
    std::istringstream text(read_file(path(file)).value());
    for (std::string line; std::getline(text, line);)
      if (line.starts_with("    #") || line.starts_with("    +")) expected.push_back(line.substr(line.find(' ', 4)));
    EXPECT_EQ(lines, expected) << side;
  }
  ASSERT_EQ(run("gen --seed 8 --profile loops -o c.rir").status, 0);
  ASSERT_EQ(run("alloc --regs 24 c.rir -o g.rir").status, 0);
  expect_complaint("diff f.rir g.rir", "not two allocations of one program");
  expect_complaint("diff a.rir f.rir", "a.rir");
}

// What is decided beside the judges of one function: corpus/judges/files/.
TEST_F(Cli, FilesOfTheCorpusGetTheirVerdict) {
  int played = 0;
  for (const auto& entry : fs::directory_iterator(source("corpus/judges/files"))) {
    const std::string after = entry.path().string();
    if (!after.ends_with(".after.rir")) continue;
    ++played;
    const std::string before = after.substr(0, after.size() - std::string_view("after.rir").size()) + "before.rir";
    const std::string text = read_file(after).value();
    const std::regex head("// verify: exit ([0-9]), (.*)\n");
    std::smatch wanted;
    const std::string first = text.substr(0, text.find('\n') + 1);
    ASSERT_TRUE(std::regex_match(first, wanted, head)) << after;
    const Outcome r = run(fmt::format("verify --regs 255 '{}' '{}'", before, after));
    EXPECT_EQ(std::to_string(r.status), wanted[1].str()) << after << '\n' << r.out << r.err;
    EXPECT_THAT(r.out + r.err, HasSubstr(wanted[2].str())) << after;
  }
  EXPECT_GE(played, 4);
  const std::string ptx = source("corpus/judges/files/ipra_prototype_shadows_a_function.ptx");
  ASSERT_EQ(run("alloc --ipra '" + ptx + "' -o a.rir").status, 0);
  EXPECT_EQ(run("verify --ipra '" + ptx + "' a.rir").status, 0);
  // The call goes through a register, whatever the name of its prototype, so it destroys what the ABI says.
  EXPECT_THAT(read_file(path("a.rir")).value(), HasSubstr("clobbers R0:R1, R3:R15"));
}

TEST_F(Cli, APassIsJudgedAloneAndBeforeAnAllocator) {
  ASSERT_EQ(run("gen --seed 7 --profile copies -o a.rir").status, 0);
  ASSERT_EQ(run("pass copyprop a.rir -o b.rir").status, 0);
  EXPECT_LT(read_file(path("b.rir")).value().size(), read_file(path("a.rir")).value().size());
  EXPECT_EQ(run("verify a.rir a.rir").status, 0);
  const Outcome good = run("verify a.rir b.rir");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr(": pass (structure pass"));
  // Another program: what the pass would have to answer for.
  const std::string plain =
      "rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n"
      "    #0 %0 = ld 0\n    #1 %1 = ld 1\n    #2 st %0 !write\n    #3 exit\n";
  write("c.rir", plain);
  write("d.rir", std::regex_replace(plain, std::regex("st %0"), "st %1"));
  write("e.rir", std::regex_replace(plain, std::regex(" *#1.*\n"), ""));
  const Outcome bad = run("verify c.rir d.rir");
  EXPECT_EQ(bad.status, 1) << bad.out << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("symbolic fail"));
  EXPECT_EQ(run("verify c.rir e.rir").status, 1) << "an operation that is not there";
  const Outcome duel = run("duel --with copyprop+fatpoint,fatpoint --regs 24 --json a.rir");
  EXPECT_EQ(duel.status, 0) << duel.out << duel.err;
  EXPECT_THAT(duel.out, HasSubstr("copyprop+fatpoint"));
  EXPECT_EQ(run("alloc --with copyprop+briggs --regs 24 a.rir -o f.rir").status, 0);
  EXPECT_EQ(run("verify --regs 24 a.rir f.rir").status, 0);
}

TEST_F(Cli, MemcheckSaysWhichFunctionAndWhoElseObjects) {
  const auto functions = [](std::string_view attribute, std::string_view use) {
    std::string text = "rir 1\n";
    for (const char name : {'f', 'g'})
      text += fmt::format(
          "func @{} kernel target sm_90 threads 32{}\n  vreg %0 R b64\n  block b0\n    #0 {} = ld 0 !read\n"
          "    #1 st {} !write\n    #2 exit\n",
          name, attribute, use, use);
    return text;
  };
  write("before.rir", functions("", "%0"));
  write("after.rir", functions(" allocated", "R1:R2"));
  const Outcome verify = run("verify --format memcheck before.rir after.rir");
  EXPECT_EQ(verify.status, 1);
  EXPECT_EQ(verify.out,
            "FUNCTION: f\nTOTAL MISMATCH 0   MISMATCH ON OLD 0\nOTHER JUDGES: structure fail x2\n"
            "FUNCTION: g\nTOTAL MISMATCH 0   MISMATCH ON OLD 0\nOTHER JUDGES: structure fail x2\n");
}

TEST_F(Cli, MemcheckHasItsKnobs) {
  // A halfword in the register of a value that is still needed: the mixed-size hint.
  const std::string vregs = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b16 alias %1.h0\n";
  write("before.rir", "rir 1\nfunc @f kernel target sm_90 threads 32\n" + vregs +
                          "  block b0\n    #0 %0 = ld 0 !read\n    #1 %2 = ld.u16 4 !read\n    #2 st %2, %0 !write\n    #3 exit\n");
  write("after.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32 allocated\n" + vregs +
            "  block b0\n    #0 R0 = ld 0 !read\n    #1 R0.h0 = ld.u16 4 !read\n    #2 st R0.h0, R0 !write\n    #3 exit\n");
  const std::string verify = "verify --format memcheck before.rir after.rir";
  const Outcome brief = run(verify);
  EXPECT_EQ(brief.status, 1);
  EXPECT_EQ(brief.out, "Please use -knob DUMPIR=AllocateRegisters for debugging\nTOTAL MISMATCH 1   MISMATCH ON OLD 0\n");
  const Outcome dump = run(verify + " --knob DUMPIR=AllocateRegisters");
  EXPECT_EQ(dump.status, 1);
  EXPECT_THAT(dump.out, StartsWith(std::string(110, '=') + "\nINSTRUCTION: [2]\n"));
  EXPECT_THAT(dump.out, HasSubstr("Producers for operand # 1 of instruction [2] after register allocation:\n"));
  EXPECT_THAT(dump.out, HasSubstr("please use -knob IgnorePotentialMixedSizeProblems\n"));
  EXPECT_THAT(dump.out, Not(HasSubstr("Please use -knob DUMPIR")));
  const Outcome unhinted = run(verify + " --knob DUMPIR=AllocateRegisters --knob IgnorePotentialMixedSizeProblems");
  EXPECT_THAT(unhinted.out, HasSubstr("INSTRUCTION: [2]"));
  EXPECT_THAT(unhinted.out, Not(HasSubstr("IgnorePotentialMixedSizeProblems")));
  EXPECT_THAT(run("verify before.rir after.rir --knob DUMPIR=AllocateRegisters").out, HasSubstr("INSTRUCTION: [2]"));

  // Switched off, it is not asked at all.
  EXPECT_EQ(run(verify + " --knob memcheck=0").out,
            "memcheck is switched off (knob memcheck=0)\nOTHER JUDGES: symbolic fail x1, execution fail x1\n");
  const Outcome alone = run("verify --judge memcheck --knob memcheck=0 before.rir after.rir");
  EXPECT_EQ(alone.status, 0) << alone.out;
  EXPECT_THAT(alone.out, HasSubstr("memcheck skipped: memcheck is switched off (knob memcheck=0)"));
  const auto doc = json("verify --json --knob memcheck=0 before.rir after.rir");
  EXPECT_EQ(doc["results"][0]["verdict"], "fail");  // the others still see it

  expect_complaint(verify + " --knob nonsense=1", "memcheck has no knob \"nonsense\" (regduel knobs --with memcheck)");
  expect_complaint(verify + " --knob DUMPIR=Scheduling", "AllocateRegisters");
  expect_complaint(verify + " --knob memcheck=2", "knob memcheck: expected bool, found \"2\"");
}

TEST_F(Cli, LoweredSpillsAreJudgedAsWhatTheyStandFor) {
  for (const char* with : {"fatpoint", "briggs", "copyprop+fatpoint"}) {
    ASSERT_EQ(run("gen --seed 5 --profile pressure --size 300 -o a.rir").status, 0);
    const Outcome alloc = run(fmt::format("alloc a.rir --with {} --regs 16 --lower-spills --stats -o b.rir", with));
    ASSERT_EQ(alloc.status, 0) << alloc.err;
    const std::string lowered = read_file(path("b.rir")).value_or("");
    EXPECT_THAT(lowered, AllOf(HasSubstr("getlmembase 4"), HasSubstr("spill_ldl"), Not(HasSubstr(" refill "))));
    const Outcome verdict = run("verify a.rir b.rir --regs 16");
    EXPECT_EQ(verdict.status, 0) << verdict.out;
    EXPECT_EQ(run("verify a.rir b.rir --regs 16 --format memcheck").status, 0);
    std::string damaged = lowered;
    damaged.replace(damaged.find("getlmembase 4"), 13, "getlmembase 2");
    write("c.rir", damaged);
    const Outcome bad = run("verify a.rir c.rir --regs 16");
    EXPECT_EQ(bad.status, 1);
    EXPECT_THAT(bad.out, HasSubstr("lowered-address"));
  }
}

// More inserted lines than are searched for the longest common part.
TEST_F(Cli, ALongAllocationIsNoDifferentFromItself) {
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32 allocated\n  block b0\n";
  for (int k = 0; k < 2001; ++k) text += fmt::format("    +{} R{} = copy R{}\n", 10 + k, k % 7, k % 5);
  write("a.rir", text + "    #0 exit\n");
  write("b.rir", text + "    +5000 R1 = copy R9\n    #0 exit\n");
  EXPECT_EQ(run("diff a.rir a.rir").status, 0);
  EXPECT_THAT(run("diff a.rir b.rir").out, HasSubstr("1 line"));
}

TEST_F(Cli, APassSaysItsSizesAsJson) {
  write("a.rir",
        "rir 1\nfunc @k kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n    #0 %0 = op\n"
        "    #1 %1 = copy %0\n    #2 st %1 !write\n    #3 exit\n");
  const Outcome alone = run("pass copyprop a.rir --json");
  ASSERT_EQ(alone.status, 0) << alone.err;
  const auto row = nlohmann::json::parse(alone.out)["results"][0];
  EXPECT_EQ(row["function"], "k");
  EXPECT_EQ(row["before"]["copies"], 1);
  EXPECT_EQ(row["after"]["copies"], 0);
  EXPECT_EQ(row["before"]["instructions"].get<int>() - row["after"]["instructions"].get<int>(), 1);
  const Outcome beside = run("pass copyprop a.rir --json -o b.rir");
  EXPECT_EQ(nlohmann::json::parse(beside.out)["results"][0], row);
  EXPECT_EQ(read_file(path("b.rir")).value_or(""), run("pass copyprop a.rir").out);
}

TEST_F(Cli, PassesShowTheirSizesAndDumps) {
  write("d.rir", R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b64
  block b0
    #0 %0 = ld 0 !read
    #1 %1 = ld 1 !read
    #2 st %1 !write
    #3 st %0 !write
    #4 exit
)");
  // Without the times, which are the second column.
  std::istringstream lines(run("alloc d.rir --regs 2 --knob FatPointSplitLiveRanges=0 --passes -o e.rir").out);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, time, rest;
    words >> name >> time;
    std::getline(words, rest);
    if (!time.empty() && time.find_first_not_of("0123456789") == std::string::npos)
      rows.push_back(name + std::regex_replace(rest, std::regex(" +"), " "));
  }
  EXPECT_THAT(rows, testing::ElementsAre("out_of_ssa 1 1 5 5 2 2", "merge_copies 1 1 5 5 2 2", "drop_dead_copies 1 1 5 5 2 2",
                                         "insert_spill_code 1 1 5 5 2 2", "nospill 1 1 5 5 2 2", "spill_round 1 1 5 7 2 4",
                                         "insert_spill_code 1 1 5 7 2 4", "spill_round 1 1 5 5 2 2", "emit 1 1 7 7 4 2"));
  EXPECT_THAT(run("alloc d.rir --regs 2 --passes -o e.rir").out, HasSubstr("\nsplit_live_ranges "));
  const std::string dump = run("alloc d.rir --regs 2 --passes=dump --knob FatPointSplitLiveRanges=0 -o e.rir").out;
  EXPECT_THAT(dump, HasSubstr("// before emit\n"));
  EXPECT_THAT(dump, HasSubstr("// after emit\n" + read_file(path("e.rir")).value().substr(std::string_view("rir 1\n").size())));
  expect_complaint("alloc d.rir --passes=all", "--passes");
  EXPECT_THAT(run("alloc d.rir --with llvm+fatpoint --regs 2 --passes -o e.rir").out, HasSubstr("\nllvm "));
  EXPECT_THAT(run("pass series d.rir --knob series-order=ssa+llvm --passes -o e.rir").out,
              AllOf(HasSubstr("\nseries "), HasSubstr("\n  ssa "), HasSubstr("\n  llvm ")));
  EXPECT_THAT(run("pass ssa d.rir --passes=dump").err, HasSubstr("// after ssa\n"));
}

}  // namespace
}  // namespace regduel::cli
