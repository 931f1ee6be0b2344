// The program as its users run it: exit statuses, one clear line for bad input, nothing half-written, stable JSON keys.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/io.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "duel/heap_use.h"
#include "results/measure.h"
#include "results/results.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string source(const std::string& name) { return std::string(REGDUEL_SOURCE_DIR) + "/" + name; }

TEST_F(Cli, HelpTeaches) {
  const Outcome r = run("--help");
  EXPECT_EQ(r.status, 0);
  for (const char* command : {"gen", "import", "alloc", "pass", "verify", "duel", "fuzz", "reduce", "bisect", "merge", "export",
                              "zoo", "bench", "faults", "knobs", "explain", "llvm"}) {
    EXPECT_THAT(r.out, HasSubstr(command));
    const Outcome help = run(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("xample"));
  }
}

TEST_F(Cli, BadUsageIsOneLine) {
  expect_complaint("", "subcommand");
  expect_complaint("dual", "dual");
  expect_complaint("gen --profile nonsense", "--profile: no profile \"nonsense\"");
  expect_complaint("gen --seed x", "--seed");
  expect_complaint("gen --sm 33", "no target sm_33");
  expect_complaint("alloc missing.rir", "missing.rir: No such file");
  expect_complaint("duel", "files or directories");
  expect_complaint("fuzz", "--time");
  expect_complaint("fuzz --time 3parsecs", "3parsecs");
  expect_complaint("faults --runs 0", "--runs: expected 1 to");
  expect_complaint("faults --run -2", "--run: expected 0 to");
}

TEST_F(Cli, BadInputNamesThePlace) {
  ASSERT_EQ(run("gen --seed 3 --profile loops -o a.rir").status, 0);
  expect_complaint("alloc --regs 0 a.rir", "--regs: expected 1 to 255, found 0");
  expect_complaint("alloc --regs 010 a.rir", "--regs: 010 is no decimal number");
  expect_complaint("alloc --regs 10000 a.rir", "--regs: expected 1 to 255, found 10000");
  expect_complaint("alloc --with nobody a.rir",
                   "no allocator \"nobody\" (there are fatpoint, briggs, cicc, exact, exact-spill, copyprop+ALLOCATOR, ");
  expect_complaint("alloc --knob no-such-knob=1 a.rir", "no-such-knob");
  expect_complaint("alloc --knob nothing a.rir", "expected NAME=VALUE");
  expect_complaint("alloc --limit X=3 a.rir", "--limit X=3");
  expect_complaint("duel --regs 24,foo a.rir", "\"foo\"");
  expect_complaint("duel --knob no-such-knob=1 a.rir", "no-such-knob");
  expect_complaint("alloc --with nobody+fatpoint a.rir", "no allocator \"nobody+fatpoint\"");
  expect_complaint("pass nothing a.rir", "no pass \"nothing\" (there are copyprop");
  expect_complaint("verify --judge nobody a.rir a.rir", "no judge \"nobody\"");
  write("bad.rir", "rir 1\nfunc @f kernel target sm_90 threads 1\n  block b0\n    #0 op %7\n    #1 exit\n");
  expect_complaint("alloc bad.rir", "bad.rir:4:11: error: %7 is not declared");
  write("bad.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f() {\n  add.s32 %r1, %r2\n}\n");
  expect_complaint("import bad.ptx", "bad.ptx:5:");
  write("bytes.rir", std::string("RIRB\x01\xff\xff\xff", 8));
  expect_complaint("alloc bytes.rir", "bytes.rir: error:");
  write("zeros.rir", std::string(100, '\0'));
  expect_complaint("alloc zeros.rir", "zeros.rir:1:1: error:");
  fs::create_directory(path("empty"));
  expect_complaint("duel empty", "no .rir or .ptx file");
  write("toy.json", "{\"name\": \"toy\", \"units\": {\"R\": 8},\n \"nonsense\": 1}");
  expect_complaint("alloc --target toy.json a.rir", "toy.json:2:2: error: unknown key \"nonsense\"");
}

// Random programs for a target of one's own: there two predicates share a register, and every judge knows their names.
TEST_F(Cli, PredicateHalves) {
  write("halves.json", R"({"name": "halves", "units": {"R": 64, "P": 14, "UR": 16, "UP": 6, "B": 16}, "predicate_halves": true,
    "abi": {"arguments": ["R4:R7"], "results": ["R4:R5"], "callee_saved": ["R16:R23", "P5.hi"], "clobbered": ["R0:R15", "P0:P3"]}})");
  const Outcome duel = run("duel --target halves.json --random 30 --profile predicates --regs 16 --limit P=5 --json");
  ASSERT_EQ(duel.status, 0) << duel.err;
  ASSERT_EQ(run("gen --target halves.json --profile calls --seed 3 -o a.rir").status, 0);
  ASSERT_EQ(run("alloc --target halves.json a.rir -o b.rir").status, 0);
  EXPECT_THAT(read_file(path("a.rir")).value(), AllOf(HasSubstr("predicate_halves"), HasSubstr(", P0:P3")));
  EXPECT_THAT(read_file(path("b.rir")).value(), AllOf(HasSubstr(" P0.lo"), HasSubstr(" P0.hi")));
  EXPECT_EQ(run("verify --target halves.json a.rir b.rir").status, 0);
  expect_complaint("alloc a.rir --sm 90", "predicate_halves: sm_90 has one predicate to a register");
  // A file that names no predicate register is for any target.
  write("plain.rir",
        "rir 1\nfunc @f kernel target halves threads 32\n  vreg %0 P pred\n  block b0\n    #0 %0 = p\n    #1 st %0 !write\n"
        "    #2 exit\n");
  EXPECT_THAT(run("alloc --target halves.json plain.rir").out, HasSubstr("#0 P0.lo = p"));
  write("named.rir", "rir 1\nfunc @f kernel target halves threads 32\n  block b0\n    #0 nop clobbers P1\n    #1 exit\n");
  expect_complaint("alloc --target halves.json named.rir", "halves has two predicates to a register");
  write("small.json", R"({"name": "small", "units": {"R": 16, "P": 4}})");
  expect_complaint("gen --target small.json", "random programs need 32 units in R");
}

// A row a program, allocator and limit; a run is added to what is there.
TEST_F(Cli, DuelsAreKeptInADatabase) {
  ASSERT_EQ(run("duel --random 5 --seed 3 --db r.sqlite").status, 0);
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  ASSERT_EQ(run("duel a.rir --regs 24,32 --db r.sqlite").status, 0);
  const auto random = results::read_results(path("r.sqlite"), 1), file = results::read_results(path("r.sqlite"));
  EXPECT_EQ(random.size(), 10u);
  ASSERT_EQ(file.size(), 4u);
  EXPECT_EQ(file[0].source, "a.rir");
  EXPECT_EQ(file[0].verdict, "pass");
  EXPECT_THAT(file[0].configuration.limits, StartsWith("R=24 "));
  const auto heap = file[0].figures[static_cast<std::size_t>(results::find_measure("heap_bytes") - results::measures().data())];
  ASSERT_EQ(heap.has_value(), duel::heap_is_counted);  // this test has the same operator new as the program
  if (heap) {
    EXPECT_GT(*heap, 1000);  // at least the allocated program
  }
  write("text.sqlite", "no database");
  expect_complaint("duel a.rir --db text.sqlite", "text.sqlite: file is not a database");
}

TEST_F(Cli, ComparesRuns) {
  ASSERT_EQ(run("duel --random 40 --seed 3 --with fatpoint,briggs --db r.sqlite").status, 0);
  ASSERT_EQ(run("duel --random 40 --seed 3 --with fatpoint,briggs --db r.sqlite --knob RegAllocSpillBitLowRegScale=1000").status,
            0);
  const auto json = [&](const std::string& options) {
    return nlohmann::json::parse(run("compare r.sqlite --json " + options).out);
  };
  ASSERT_EQ(run("duel --random 40 --seed 3 --with fatpoint,briggs --db r.sqlite").status, 0);
  const auto same = json("--runs 1,3 --allocators fatpoint");
  EXPECT_EQ(same["comparisons"][0]["pairs"], 40);
  EXPECT_TRUE(same["comparisons"][0]["worst"].empty());
  const auto apart = json("--runs 1,2");
  EXPECT_EQ(apart["comparisons"][0]["new"], "briggs");
  EXPECT_EQ(apart["comparisons"][0]["pairs"], 40);
  EXPECT_EQ(apart["comparisons"][1]["pairs"], 0);
  EXPECT_EQ(apart["comparisons"][1]["changed_knobs"], 40);
  const auto knobs = json("--runs 1,2 --across-knobs");
  EXPECT_EQ(knobs["comparisons"][1]["pairs"], 40);
  ASSERT_FALSE(knobs["comparisons"][1]["worst"].empty());

  // A case is looked at by the command that is shown.
  std::string command = knobs["comparisons"][1]["worst"][0]["reproduce"];
  const std::string figure = std::to_string(knobs["comparisons"][1]["worst"][0]["new"].get<std::int64_t>());
  const std::size_t both = command.find(" && regduel ");
  ASSERT_NE(both, std::string::npos);
  ASSERT_EQ(run(command.substr(8, both - 8)).status, 0) << command;
  const auto again = nlohmann::json::parse(run(command.substr(both + 12) + " --json").out);
  EXPECT_EQ(std::to_string(again["results"][0]["weighted_spill_bytes"].get<std::int64_t>()), figure) << command;

  const Outcome gate = run("compare r.sqlite --allocators briggs,fatpoint --gate 'weighted_spill_bytes<1%,registers>50%'");
  EXPECT_EQ(gate.status, 1);
  EXPECT_THAT(gate.out,
              AllOf(HasSubstr("BEYOND ITS GATE: briggs -> fatpoint: weighted_spill_bytes<1%"), Not(HasSubstr("registers>50%\n"))));
  const Outcome unjudged = run("compare r.sqlite --runs 1,2 --allocators fatpoint --gate 'registers>1%'");
  EXPECT_EQ(unjudged.status, 1);
  EXPECT_THAT(unjudged.out,
              AllOf(HasSubstr("NO GATE IS JUDGED: fatpoint: in no pair did both pass"), Not(HasSubstr("no gate is exceeded"))));
  EXPECT_THAT(run("compare r.sqlite --allocators briggs,fatpoint --markdown").out, HasSubstr("| measure | old | new |"));
  expect_complaint("compare r.sqlite", "two runs of one (--runs 1,2)");
  expect_complaint("compare r.sqlite r.sqlite", "of one run two allocators are compared");
  expect_complaint("compare r.sqlite --runs 1,7", "there is no run 7 in it (there are 1, 2, 3)");
  expect_complaint("compare r.sqlite --runs 1,2 --gate nothing", "expected MEASURE>PERCENT%");
  expect_complaint("compare r.sqlite --runs 1,2 --gate 'nothing>1%'", "no measure \"nothing\" (there are registers, ");
  expect_complaint("compare r.sqlite --allocators briggs,nobody", "no results of nobody");
  expect_complaint("compare none.sqlite r.sqlite", "none.sqlite: no such file");
  expect_complaint("export r.sqlite --program 0000000000000000 -o x.rir", "no program 0000000000000000");
  expect_complaint("export r.sqlite --program 0", "go together");
}

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
  const auto all = nlohmann::json::parse(run("diff f.rir b.rir --all --json").out);
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
  ASSERT_EQ(run("alloc --regs 16 c.rir -o g.rir").status, 0);
  expect_complaint("diff f.rir g.rir", "not two allocations of one program");
  expect_complaint("diff a.rir f.rir", "a.rir");
}

// A thousand names that no file system takes: each function has a file of its own, and the index says which.
TEST_F(Cli, LongNamesImportIntoFiles) {
  std::string text = "rir 1\n";
  std::set<std::string> names;
  for (int n = 0; n < 1000; ++n) {
    const std::string name = fmt::format("_Z{}{}{}", 3 * n + 1, std::string(static_cast<std::size_t>(3 * n), 'k'), n % 10) +
                             (n % 2 == 0 ? "/ \\\"" : "") + fmt::format("{}", n);
    names.insert(name);
    text += "func @\"";
    for (const char c : name) text += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
    text += "\" kernel target sm_90 threads 32\n  block b0\n    #0 exit\n";
  }
  ASSERT_EQ(names.size(), 1000u);
  write("long.rir", text);
  const Outcome r = run("import long.rir -o out");
  ASSERT_EQ(r.status, 0) << r.err;
  const nlohmann::json index = nlohmann::json::parse(read_file(path("out/index.json")).value());
  ASSERT_EQ(index["files"].size(), 1000u);
  std::set<std::string> files;
  for (const auto& f : index["files"]) {
    EXPECT_TRUE(files.insert(f["file"].get<std::string>()).second);
    EXPECT_EQ(names.erase(f["function"].get<std::string>()), 1u);
    EXPECT_TRUE(fs::exists(path("out/" + f["file"].get<std::string>())));
  }
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(run("duel --with briggs out/" + *files.begin()).status, 0);
}

TEST_F(Cli, NothingIsHalfWritten) {
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  if (fs::exists("/dev/full")) {
    expect_complaint("gen --seed 3 -o /dev/full", "/dev/full: No space left on device");
    expect_complaint("alloc a.rir -o /dev/full", "/dev/full: No space left on device");
    for (const char* help : {"--help", "alloc --help", "--version"})
      EXPECT_EQ(std::system(fmt::format("'{}' {} > /dev/full 2>&1", REGDUEL_PROGRAM, help).c_str()) >> 8, 2) << help;
  }
  expect_complaint("gen -o no/such/directory/a.rir", "no/such/directory/a.rir");
  write("kept.rir", "old");
  expect_complaint("alloc --regs 0 a.rir -o kept.rir", "--regs");
  EXPECT_EQ(read_file(path("kept.rir")).value(), "old");
}

TEST_F(Cli, GenerateAllocateVerify) {
  ASSERT_EQ(run("gen --seed 7 --profile loops -o a.rir").status, 0);
  ASSERT_EQ(run("gen --seed 7 --profile loops -o again.rir").status, 0);
  EXPECT_EQ(read_file(path("a.rir")).value(), read_file(path("again.rir")).value());
  for (const char* allocator : {"fatpoint", "briggs"}) {
    const Outcome alloc = run(fmt::format("alloc --with {} --regs 16 a.rir -o b.rir --stats", allocator));
    ASSERT_EQ(alloc.status, 0) << alloc.err;
    EXPECT_THAT(alloc.out, HasSubstr("MaxLive"));
    const Outcome good = run("verify --regs 16 a.rir b.rir");
    EXPECT_EQ(good.status, 0) << good.out << good.err;
    EXPECT_THAT(good.out, HasSubstr("pass"));

    // The slot number of one refill, edited by hand.
    const std::string text = read_file(path("b.rir")).value();
    std::smatch match;
    ASSERT_TRUE(std::regex_search(text, match, std::regex("([+#])([0-9]+) ([^\\n]*refill slot )([0-9]+)")));
    const int slot = std::stoi(match[4]);
    write("c.rir", match.prefix().str() + match[1].str() + match[2].str() + " " + match[3].str() +
                       std::to_string(slot == 0 ? 1 : slot - 1) + match.suffix().str());
    const Outcome bad = run("verify --regs 16 a.rir c.rir");
    EXPECT_EQ(bad.status, 1) << bad.out << bad.err;
    EXPECT_THAT(bad.out, HasSubstr(": error: "));
    EXPECT_THAT(bad.out, HasSubstr("refill slot"));
    const Outcome memcheck = run("verify --format memcheck --regs 16 a.rir c.rir");
    EXPECT_EQ(memcheck.status, 1);
    EXPECT_THAT(memcheck.out, HasSubstr("TOTAL MISMATCH"));
    EXPECT_THAT(run("verify --format memcheck --regs 16 a.rir b.rir").out, HasSubstr("TOTAL MISMATCH 0   MISMATCH ON OLD 0"));
    const Outcome json = run("verify --json --regs 16 a.rir c.rir");
    EXPECT_EQ(json.status, 1);
    const auto doc = nlohmann::json::parse(json.out);
    EXPECT_EQ(doc["results"][0]["verdict"], "fail");
    for (const char* key : {"function", "limit", "registers", "max_live", "spill_store_bytes", "spill_load_bytes", "judges"})
      EXPECT_TRUE(doc["results"][0].contains(key)) << key;
  }
}

TEST_F(Cli, SpillStatisticsInTheLinesOfPtxas) {
  write("spill.rir", read_file(source("corpus/explain/spill.rir")).value());
  const Outcome r = run("alloc --regs 4 spill.rir -o out.rir --stats -v --warn-on-spills");
  ASSERT_EQ(r.status, 0);
  const auto s = nlohmann::json::parse(run("alloc --regs 4 spill.rir -o out.rir --json").out)["results"][0];
  const int stores = s["spill_store_bytes"], loads = s["spill_load_bytes"], frame = s["stack_frame_bytes"];
  EXPECT_GT(stores, 0);
  EXPECT_EQ(s["statistics"]["LSpillB"], stores);
  EXPECT_THAT(r.out, HasSubstr(fmt::format("] [LSpillB={}] [LRefillB={}], [SSpillB=0], ", stores, loads)));
  EXPECT_THAT(r.out,
              EndsWith(fmt::format("\nregduel info    : Function properties for spill\n    {} bytes stack frame, {} bytes spill "
                                   "stores, {} bytes spill loads\n",
                                   frame, stores, loads)));
  EXPECT_EQ(r.err,
            fmt::format("regduel warning : Registers are spilled to local memory in function 'spill', {} bytes spill stores, "
                        "{} bytes spill loads\n",
                        stores, loads));
  EXPECT_EQ(run("alloc --regs 255 spill.rir -o out.rir --warn-on-spills").err, "");
}

TEST_F(Cli, CallsOfPtxFollowAnAbi) {
  const std::string ptx = REGDUEL_SOURCE_DIR "/corpus/ptx/calls.ptx";
  EXPECT_THAT(run("import " + ptx).out, HasSubstr("device target sm_90 threads 256 abi cuda\n"));
  EXPECT_THAT(run("import --abi seed " + ptx).out, Not(HasSubstr("abi cuda")));
  expect_complaint("import --abi arm " + ptx, "--abi");
  ASSERT_EQ(run("alloc --abi seed --regs 32 -o a.rir " + ptx).status, 0);
  EXPECT_EQ(run("verify --abi seed --regs 32 " + ptx + " a.rir").status, 0);
  EXPECT_THAT(run("verify --regs 32 " + ptx + " a.rir").out, HasSubstr("abi cuda has become seed"));
}

// Kernels spill less where their calls list what their callees write; the judges then expect these lists too.
TEST_F(Cli, InterProceduralAllocation) {
  const std::string ptx = REGDUEL_SOURCE_DIR "/corpus/ptx/calls.ptx";
  for (const char* name : {"fatpoint", "briggs"}) {
    const std::string alloc = std::string("alloc --regs 40 --with ") + name + " " + ptx;
    ASSERT_EQ(run(alloc + " -o alone.rir").status, 0);
    ASSERT_EQ(run(alloc + " --ipra -o together.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 " + ptx + " alone.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 --ipra " + ptx + " together.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 " + ptx + " together.rir").status, 1);
    const auto stores = [&](const std::string& options) {
      std::int64_t bytes = 0;
      const auto figures = nlohmann::json::parse(run(alloc + options + " --json -o x.rir").out);
      for (const auto& f : figures["results"]) bytes += f["spill_store_bytes"].get<std::int64_t>();
      return bytes;
    };
    EXPECT_LT(stores(" --ipra"), stores("")) << name;
  }
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
  const auto doc = nlohmann::json::parse(run("verify --json --knob memcheck=0 before.rir after.rir").out);
  EXPECT_EQ(doc["results"][0]["verdict"], "fail");  // the others still see it

  expect_complaint(verify + " --knob nonsense=1", "memcheck has no knob \"nonsense\" (regduel knobs --with memcheck)");
  expect_complaint(verify + " --knob DUMPIR=Scheduling", "AllocateRegisters");
  expect_complaint(verify + " --knob memcheck=2", "knob memcheck: expected bool, found \"2\"");
}

TEST_F(Cli, KnobsListsThemAll) {
  const auto doc = nlohmann::json::parse(run("knobs --json").out);
  std::set<std::string> types;
  std::set<int> ids;
  std::set<std::pair<std::string, std::string>> names;
  int last = 0;
  for (const auto& knob : doc["knobs"]) {
    for (const char* key : {"owner", "name", "id", "type", "default", "low", "high", "source", "help"})
      EXPECT_TRUE(knob.contains(key)) << key;
    EXPECT_FALSE(knob["help"].get<std::string>().empty()) << knob["name"];
    const int id = knob["id"].is_null() ? 100000 : knob["id"].get<int>();
    EXPECT_GE(id, last) << knob["name"];
    last = id;
    ids.insert(id);
    types.insert(knob["type"]);
    EXPECT_TRUE(names.emplace(knob["owner"].get<std::string>(), knob["name"].get<std::string>()).second) << knob["name"];
  }
  for (const int id : {266, 618, 622, 623, 628, 629, 638, 639, 641, 642, 643, 646, 660, 661, 663, 664, 665, 684})
    EXPECT_TRUE(ids.contains(id)) << id;
  for (const char* name : {"RegisterUsageLevel", "FastCompile", "FatPointPoolLimit"})
    EXPECT_TRUE(names.contains({"fatpoint", name})) << name;
  for (const char* name : {"IgnorePotentialMixedSizeProblems", "memcheck"}) EXPECT_TRUE(names.contains({"memcheck", name})) << name;
  for (const char* type : {"bool", "int", "dbl"}) EXPECT_TRUE(types.contains(type)) << type;
  EXPECT_LT(nlohmann::json::parse(run("knobs --with briggs,memcheck --json").out)["knobs"].size(), doc["knobs"].size());

  // Fits a terminal, and says the same.
  std::istringstream lines(run("knobs").out);
  std::string all;
  for (std::string line; std::getline(lines, line); all += line + '\n') EXPECT_LE(line.size(), 80u) << line;
  for (const auto& [owner, name] : names) EXPECT_THAT(all, HasSubstr(name));
  EXPECT_THAT(all, testing::ContainsRegex("RegAllocSpillBitLowRegScale +fatpoint +dbl 0\\.0 to 1000\\.0 \\[0\\.2\\]"));
  expect_complaint("knobs --with nobody", "(there are fatpoint, briggs, cicc, exact, exact-spill, copyprop");
}

TEST_F(Cli, AllocWritesProofs) {
  write("a.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\nvreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld 0\n"
        "#1 %1 = ld 1\n#2 %2 = ld 2\n#3 st %0 !write\n#4 st %1 !write\n#5 st %2 !write\n#6 exit\n");
  const Outcome fewest = run("alloc a.rir --with exact --proof p -o b.rir");
  EXPECT_EQ(fewest.status, 0) << fewest.err;
  EXPECT_FALSE(read_file(path("p.R.drat")).value_or("").empty());
  const Outcome least = run("alloc a.rir --with exact-spill --regs 2 --proof q -o b.rir");
  EXPECT_EQ(least.status, 0) << least.err;
  EXPECT_THAT(least.err, HasSubstr("weighted spill bytes: 8, the least with each value in a register or in memory throughout"));
  EXPECT_THAT(read_file(path("q.cnf")).value_or(""), StartsWith("p cnf "));
  EXPECT_FALSE(read_file(path("q.drat")).value_or("").empty());
  expect_complaint("alloc a.rir --proof p", "--proof: fatpoint proves nothing, exact does");
}

TEST_F(Cli, KnobsGolden) { expect_golden("cli/golden/knobs_memcheck.txt", run("knobs --with memcheck").out); }

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
  expect_complaint(copy + "2 --knob nonsense=1", "--knob: fatpoint has no knob \"nonsense\"");
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
  expect_golden("cli/golden/explain_evicted.txt", run("explain evict.rir --vreg 0 --regs 4 --knob FatPointUnspill=0").out);
  expect_golden("cli/golden/explain_unspilled.txt", run("explain evict.rir --vreg 0 --regs 4").out);
  expect_golden("cli/golden/explain_makes_room.txt", run("explain evict.rir --vreg 2 --regs 4 --all").out);
  expect_golden("cli/golden/explain_live.txt", run("explain evict.rir --vreg 2 --regs 4 --live").out);
}

// Whatever the vreg, the text fits a terminal of 100 columns, and the JSON has both arrays slot by slot.
TEST_F(Cli, ExplainFitsATerminal) {
  for (const char* options : {"ptx/flash_attention.ptx --regs 40", "ptx/calls.ptx --function NAME --regs 24 --knob 622=1",
                              "ptx/dgemm_8x8.ptx --knob 641=1 --knob 628=1"}) {
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
      const auto doc = nlohmann::json::parse(run(command + " --json").out);
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

TEST_F(Cli, FlagsOfTheRealToolSetLimitAndKnobs) {
  write("three.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  block b0\n    #0 %0 = "
        "ld 0\n"
        "    #1 %1 = ld 1\n    #2 %2 = ld 2\n    #3 st %0, %1 !write\n    #4 st %2 !write\n    #5 exit\n");
  const auto trace = [&](const std::string& options) {
    return run("alloc three.rir --trace -o out.rir --maxrregcount 2 " + options).err;
  };
  const std::string first = "NOSPILL REGALLOC: attemp 0, used 3, target 2", second = "NOSPILL REGALLOC: attemp 1, used 3, target 2";
  EXPECT_EQ(run("alloc three.rir --maxrregcount 2").out, run("alloc three.rir --regs 2").out);
  EXPECT_EQ(run("duel three.rir --maxrregcount 2,3 --json").status, 0);
  EXPECT_THAT(trace(""), Not(HasSubstr("NOSPILL")));
  EXPECT_THAT(trace("--fast-compile=off"), Not(HasSubstr("NOSPILL")));
  EXPECT_THAT(trace("--fast-compile=min"), AllOf(HasSubstr(first), HasSubstr(second)));
  for (const char* options : {"--fast-compile=mid", "--fast-compile", "--fast-compile=min --knob 639=1", "--knob FastCompile=2"})
    EXPECT_THAT(trace(options), AllOf(HasSubstr(first), Not(HasSubstr(second)))) << options;
  EXPECT_THAT(trace("--fast-compile=min --knob 638=0"), Not(HasSubstr("NOSPILL")));
  EXPECT_EQ(run("duel three.rir --fast-compile=max --register-usage-level 10 --knob 684=7 --regs 2,3").status, 0);
  EXPECT_THAT(run("alloc --help").out, HasSubstr("the other way round"));

  expect_complaint("alloc three.rir --register-usage-level 11", "--register-usage-level");
  expect_complaint("alloc three.rir --fast-compile=warp", "--fast-compile");
  expect_complaint("alloc three.rir --with briggs --fast-compile", "--fast-compile: no allocator here knows it");
  expect_complaint("duel three.rir --with briggs --register-usage-level 3", "--register-usage-level: no allocator here knows it");
  expect_complaint("alloc three.rir --knob 664=0.1234567", "expected dbl 0.0 to 1000.0");
}

// Shared memory: whether it is used, where it is, why not.
TEST_F(Cli, SharedMemoryIsReservedUnlessForbidden) {
  const std::string head =
      "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 UR b32\n  vreg %1 UR b32\n  vreg %2 R b32\n  block b0\n";
  const std::string defs = "    #0 %0 = uld 0\n    #1 %1 = uld 1\n",
                    uses = "    #3 st %0 !write\n    #4 st %1 !write\n    #5 exit\n";
  write("plain.rir", head + defs + uses);
  write("call.rir", head + defs + "    #2 call \"g\" clobbers R0\n" + uses);
  const std::string options = " --limit UR=1 --stats -o out.rir ";
  const std::string symbols =
      "shared frame 8 bytes a thread, at __nv_reservedSMEM_allocation_phase, within __nv_reservedSMEM_allocation_mask";
  const std::string refusal = "@f: Smem spilling should not be enabled when functions use abi.";
  const Outcome plain = run("alloc plain.rir" + options), disabled = run("alloc plain.rir --disable-smem-reservation" + options);
  EXPECT_THAT(plain.out, AllOf(HasSubstr(symbols), HasSubstr("stack frame 0 bytes")));
  EXPECT_THAT(disabled.out, AllOf(Not(HasSubstr("shared frame")), Not(HasSubstr("stack frame 0 bytes"))));
  const Outcome call = run("alloc call.rir" + options), silent = run("alloc call.rir --disable-smem-reservation" + options);
  EXPECT_EQ(call.status, 0);
  EXPECT_THAT(call.err, HasSubstr("call.rir: note: " + refusal));
  EXPECT_THAT(call.out, AllOf(Not(HasSubstr("shared frame")), Not(HasSubstr("stack frame 0 bytes"))));
  EXPECT_EQ(plain.err + disabled.err + silent.err, "");
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

// Bytes of local memory: what the instructions move is what the statistics, the line of -v and the warning say.
TEST_F(Cli, LoweredSpillsAreCountedAsWhatTheyStandFor) {
  ASSERT_EQ(run("gen --seed 5 --profile pressure --size 300 -o a.rir").status, 0);
  const std::string options = " --regs 16 --stats -v --warn-on-spills -o b.rir";
  const Outcome plain = run("alloc a.rir" + options), lowered = run("alloc a.rir --lower-spills" + options);
  for (const Outcome& o : {plain, lowered}) {
    std::smatch moved, in_use;
    ASSERT_TRUE(std::regex_search(o.out, moved, std::regex(R"(spill stores \d+ \((\d+) bytes\), refills \d+ \((\d+) bytes\))")));
    EXPECT_NE(moved[1], "0");
    EXPECT_THAT(o.out, HasSubstr(fmt::format("[LSpillB={}] [LRefillB={}]", moved[1].str(), moved[2].str())));
    EXPECT_THAT(o.out, HasSubstr(fmt::format("{} bytes spill stores, {} bytes spill loads", moved[1].str(), moved[2].str())));
    ASSERT_TRUE(std::regex_search(o.out, in_use, std::regex(R"(\((\d+) in use at a time\))")));
    EXPECT_NE(in_use[1], "0");
    EXPECT_THAT(o.err, HasSubstr("Registers are spilled to local memory in function"));
  }
}

TEST_F(Cli, AnImpossibleLimit) {
  write("wide.rir",
        "rir 1\nfunc @wide kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b64\n  block b0\n    #0 %0, %1 = op\n    "
        "#1 exit\n");
  const Outcome alloc = run("alloc --regs 3 wide.rir -o out.rir");
  EXPECT_EQ(alloc.status, 1);
  EXPECT_THAT(
      alloc.err,
      HasSubstr("Register allocation failed with register count of '3'. Compile the program with a higher register target"));
  EXPECT_FALSE(fs::exists(path("out.rir")));
  // Both paths of the report, for both allocators: with the line of the source and without.
  write("line.rir",
        "rir 1\nfunc @wide kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b64\n  block b0\n    #0 %0, %1 = op "
        "!line \"a.cu\" 12:3\n    #1 exit\n");
  for (const char* with : {"fatpoint", "briggs"}) {
    const std::string text =
        "Register allocation failed with register count of '3'. Compile the program with a higher register target\n";
    EXPECT_EQ(run(fmt::format("alloc --regs 3 --with {} wide.rir", with)).err, "wide.rir: @wide: #0: " + text);
    EXPECT_EQ(run(fmt::format("alloc --regs 3 --with {} line.rir", with)).err, "line.rir: @wide: #0 at a.cu:12:3: " + text);
  }
  const Outcome duel = run("duel --regs 3,4 wide.rir --json");
  EXPECT_EQ(duel.status, 0) << duel.out;
  const auto doc = nlohmann::json::parse(duel.out);
  EXPECT_EQ(doc["results"][0]["verdict"], "skipped");
  EXPECT_EQ(doc["results"][0]["reason"], "impossible");
  EXPECT_EQ(doc["results"][2]["verdict"], "pass");
}

// What duel says of limits given one by one, at every limit from the demand on.
TEST_F(Cli, DuelAtAShareOfMaxLive) {
  const auto whole = nlohmann::json::parse(run("duel --json --regs 100% --random 20 --profile straight --size 60").out)["results"];
  const auto half = nlohmann::json::parse(run("duel --json --regs 50% --random 20 --profile straight --size 60").out)["results"];
  ASSERT_EQ(whole.size(), half.size());
  int halved = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_EQ(whole[k]["limit"], whole[k]["max_live"]);
    EXPECT_GE(2 * half[k]["limit"].get<int>(), half[k]["max_live"].get<int>());
    halved += 2 * half[k]["limit"].get<int>() <= half[k]["max_live"].get<int>() + 1;
  }
  EXPECT_GT(halved, 20) << "the others are at their demand";
}

TEST_F(Cli, DuelSweepsFromDemandToUnspilledNeed) {
  const std::string kernel = source("corpus/ptx/scan.ptx") + " ";
  const auto swept = nlohmann::json::parse(run("duel --json --regs sweep " + kernel).out)["results"];
  ASSERT_GT(swept.size(), 8u);
  std::map<std::string, std::vector<int>> limits;
  std::map<std::string, int> need;
  for (const auto& row : swept) {
    EXPECT_EQ(row["verdict"], "pass");
    if (row["allocator"] == "fatpoint") limits[row["function"].get<std::string>()].push_back(row["limit"].get<int>());
  }
  const auto unlimited = nlohmann::json::parse(run("duel --json " + kernel).out)["results"];
  for (const auto& row : unlimited) {
    int& most = need[row["function"].get<std::string>()];
    most = std::max(most, row["registers"].get<int>());
  }
  for (const auto& [function, of] : limits) {
    EXPECT_EQ(of.back(), need[function]) << function;
    EXPECT_EQ(of.back() - of.front() + 1, std::ssize(of)) << function;
    const auto below = nlohmann::json::parse(run(fmt::format("duel --json --regs {} {}", of.front() - 1, kernel)).out)["results"];
    for (const auto& row : below)
      if (row["function"] == function) {
        EXPECT_EQ(row["reason"], "impossible");
      }
  }
  const int least = limits["scan_add"].front();
  const auto alone = nlohmann::json::parse(run(fmt::format("duel --json --regs {} {}", least, kernel)).out)["results"];
  for (const auto& row : alone)
    if (row["function"] == "scan_add") {
      const auto same = std::find_if(swept.begin(), swept.end(), [&](const auto& s) {
        return s["function"] == "scan_add" && s["allocator"] == row["allocator"] && s["limit"] == row["limit"];
      });
      ASSERT_NE(same, swept.end());
      EXPECT_EQ((*same)["spill_load_bytes"], row["spill_load_bytes"]);
    }
  // Random programs are numbered, so that each can be made again.
  const auto random = nlohmann::json::parse(run("duel --json --regs sweep --random 2 --profile straight --size 40").out)["results"];
  EXPECT_EQ(random.front()["case"], 0);
  EXPECT_EQ(random.back()["case"], 1);
  expect_complaint("duel a.rir --regs 0%", "--regs: expected 1% to 100%, found \"0%\"");
  expect_complaint("duel a.rir --regs 75%,24", "--regs: expected numbers like 24,32,64, found \"75%\"");
  expect_complaint("duel a.rir --regs sweep,24", "--regs: expected numbers like 24,32,64, found \"sweep\"");
}

TEST_F(Cli, DuelOnAKernelHasTheContractsKeys) {
  const Outcome r = run("duel --regs 24,255 --json " + source("corpus/ptx/saxpy.ptx"));
  ASSERT_EQ(r.status, 0) << r.out << r.err;
  const auto doc = nlohmann::json::parse(r.out);
  ASSERT_EQ(doc["results"].size(), 4u);
  for (const auto& row : doc["results"]) {
    for (const char* key :
         {"function", "allocator", "limit", "registers", "spill_store_bytes", "spill_load_bytes", "verdict", "seconds"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_EQ(row["verdict"], "pass");
  }
  const Outcome text = run("duel --regs 24,255 " + source("corpus/ptx/saxpy.ptx"));
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("saxpy"));
}

// One preparation of the program for all limits changes nothing that is said of each.
TEST_F(Cli, ADuelAtSeveralLimitsIsTheDuelAtEach) {
  ASSERT_EQ(run("gen --seed 4 --size 150 -o a.rir").status, 0);
  const auto rows = [&](const std::string& regs) {
    auto list = nlohmann::json::parse(run("duel --json --regs " + regs + " a.rir").out)["results"];
    for (auto& row : list) row.erase("seconds");
    return list;
  };
  nlohmann::json each = nlohmann::json::array();
  for (const char* regs : {"24", "40", "255"})
    for (const auto& row : rows(regs)) each.push_back(row);
  ASSERT_EQ(each.size(), 6u);
  EXPECT_EQ(rows("24,40,255"), each);
  EXPECT_EQ(nlohmann::json::parse(run("fuzz --json --mix --runs 4 --regs 24,40 --jobs 1").out)["summary"]["duels"], 8);
  expect_complaint("fuzz --runs 1 --regs 24,0", "--regs: expected 1 to 255, found 0");
}

TEST_F(Cli, RandomDuelsAreTheSameForAnyNumberOfThreads) {
  const auto without_seconds = [](std::string json) { return std::regex_replace(json, std::regex("\"seconds\": [^\\n]*"), ""); };
  const Outcome one = run("duel --random 24 --seed 5 --jobs 1 --json");
  const Outcome two = run("duel --random 24 --seed 5 --jobs 3 --json");
  EXPECT_EQ(one.status, 0) << one.out;
  EXPECT_EQ(without_seconds(one.out), without_seconds(two.out));
  EXPECT_EQ(run("duel --random 6 --profile loops --regs 24 --seed 2").status, 0);
}

TEST_F(Cli, ZooCountsTheBucketsOfABug) {
  const Outcome r = run("zoo --buckets --only fatpoint-tie-dropped --time 5 --empty --json");
  if (r.status == 2) {
    EXPECT_THAT(r.err, HasSubstr("this build has no planted bugs"));
    return;
  }
  // Interrupted, it says what it has, and leaves nothing running.
  std::system(fmt::format("timeout -s INT 2 '{}' zoo --time 3600 --empty --only fatpoint-tie-dropped --seed 4711 --buckets --json "
                          "> '{}' 2> /dev/null",
                          REGDUEL_PROGRAM, path("interrupted"))
                  .c_str());
  EXPECT_EQ(nlohmann::json::parse(read_file(path("interrupted")).value_or(""))["of"], 0);
  EXPECT_NE(std::system("pgrep -f '^[^ ]*regduel fuzz .*--seed 4711' > /dev/null"), 0);
  const auto j = nlohmann::json::parse(r.out);
  ASSERT_EQ(j["bugs"].size(), 1u);
  EXPECT_EQ(j["bugs"][0]["bug"], "fatpoint-tie-dropped");
  std::size_t cases = 0;
  std::set<std::string> buckets;
  for (const auto& b : j["bugs"][0]["buckets"]) {
    cases += b["cases"].get<std::size_t>();
    buckets.insert(b["bucket"].get<std::string>());
  }
  EXPECT_TRUE(buckets.contains("fatpoint: structure/tied-operand")) << r.out;
  EXPECT_EQ(j["most_buckets"], buckets.size());
  EXPECT_EQ(j["cases"], cases);
  EXPECT_EQ(j["purity_percent"], 100.0) << "there is one bug";
}

TEST_F(Cli, FaultsAreTheSameForAnyNumberOfThreads) {
  const auto without_seconds = [](std::string json) { return std::regex_replace(json, std::regex("\"seconds\": [^\\n]*"), ""); };
  const Outcome one = run("faults --runs 21 --seed 2 --jobs 1 --json");
  const Outcome two = run("faults --runs 21 --seed 2 --jobs 3 --json");
  EXPECT_EQ(one.status, 0) << one.out << one.err;
  EXPECT_EQ(without_seconds(one.out), without_seconds(two.out));
  const auto doc = nlohmann::json::parse(one.out);
  EXPECT_EQ(doc["runs"], 21);
  EXPECT_EQ(doc["escaped"], 0);
  EXPECT_EQ(doc["false_alarms"], 0);
  EXPECT_GT(doc["total"]["injected"], 60);
  EXPECT_EQ(doc["total"]["caught_by_static"], doc["total"]["trace_changing"]);
  EXPECT_EQ(doc["relaxed"].size(), 7u);
  for (const auto& row : doc["operators"])
    for (const char* key :
         {"operator", "what", "memcheck_codes", "structure_categories", "injected", "trace_changing", "caught", "memcheck_right"})
      EXPECT_TRUE(row.contains(key)) << key;
  const auto alone = nlohmann::json::parse(run("faults --run 19 --seed 2 --json").out);
  EXPECT_EQ(alone["runs"], 1);
  EXPECT_GT(alone["total"]["injected"], 8) << "all that find a place";
  const Outcome text = run("faults --runs 7 --seed 2");
  EXPECT_EQ(text.status, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("trace-changing faults caught by a static judge"));
  EXPECT_THAT(text.out, HasSubstr("no miss"));
}

TEST_F(Cli, MetamorphicDuels) {
  const Outcome duel = run("duel --random 4 --profile loops --regs 16 --seed 2 --metamorphic --json");
  ASSERT_EQ(duel.status, 0) << duel.out << duel.err;
  const auto doc = nlohmann::json::parse(duel.out);
  EXPECT_EQ(doc["results"][0]["metamorphic"]["verdict"], "pass");
  EXPECT_TRUE(doc["results"][0]["metamorphic"]["observations"].is_array());
  EXPECT_EQ(doc["summary"]["metamorphic"]["allocations"], 8);
  EXPECT_EQ(doc["summary"]["disagreements"], 0);
  EXPECT_THAT(run("duel --random 4 --profile loops --regs 16 --seed 2 --metamorphic").out, HasSubstr("metamorphic: 8 allocations"));
  EXPECT_THAT(run("duel --random 4 --profile loops --regs 16 --seed 2").out, Not(HasSubstr("metamorphic")));
  const auto some = nlohmann::json::parse(run("fuzz --runs 24 --metamorphic 25 --seed 3 --json").out);
  EXPECT_GT(some["summary"]["metamorphic"]["allocations"], 0);
  EXPECT_LT(some["summary"]["metamorphic"]["allocations"], 48);
  expect_complaint("fuzz --runs 1 --metamorphic 101", "--metamorphic: expected 0 to 100");
}

TEST_F(Cli, ImportWritesOneFileAFunction) {
  const Outcome r = run("import " + source("corpus/ptx/calls.ptx") + " -o out");
  ASSERT_EQ(r.status, 0) << r.err;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(path("out"))) {
    if (entry.path().extension() != ".rir") continue;
    ++files;
    EXPECT_EQ(run(fmt::format("duel --regs 40 '{}'", entry.path().string())).status, 0) << entry.path();
  }
  EXPECT_GT(files, 1);
}

TEST_F(Cli, EmitsBinaryAndGraphviz) {
  ASSERT_EQ(run("gen --seed 4 --emit bin -o a.bin").status, 0);
  ASSERT_EQ(run("gen --seed 4 -o a.rir").status, 0);
  EXPECT_EQ(run("alloc a.bin").out, run("alloc a.rir").out);
  EXPECT_THAT(run("gen --seed 4 --emit dot").out, StartsWith("digraph"));
}

TEST_F(Cli, BenchMeasuresEveryJudgeAndAllocator) {
  const Outcome r = run("bench --json --sizes 40,80 --instructions 80 --repetitions 1 --duels 2");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto doc = nlohmann::json::parse(r.out);
  ASSERT_EQ(doc["programs"].size(), 2u);
  EXPECT_GT(doc["programs"][0]["programs"], doc["programs"][1]["programs"]);
  for (const auto& corpus : doc["programs"])
    EXPECT_TRUE(corpus["spilling_allocations"] > 0 && corpus["allocated_instructions"] > corpus["instructions"]);
  std::set<std::string> names;
  for (const auto& row : doc["results"]) {
    names.insert(row["name"]);
    ASSERT_EQ(row["sizes"].size(), 2u);
    for (const auto& cell : row["sizes"])
      for (const char* key : {"ns_per_instruction", "median_ns_per_instruction", "times_fatpoint"})
        EXPECT_TRUE(cell[key].is_number()) << key;
    EXPECT_TRUE(row["growth"].is_number());
    EXPECT_EQ(row["growth_per_instruction_read"].is_number(), row["kind"] == "judge");
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"fatpoint", "briggs", "structure", "memcheck", "execution", "quality", "all judges"}));
  EXPECT_TRUE(doc["duels_per_second"].is_number());
  EXPECT_GT(doc["bred"]["duels_per_second"], 0);
  EXPECT_TRUE(doc["gate_failures"].is_array());
  std::set<std::string> layers;
  for (const auto& layer : doc["duel_target"]["layers"]) layers.insert(layer["layer"]);
  EXPECT_THAT(layers, testing::IsSupersetOf({"breed", "fatpoint", "briggs", "memcheck", "symbolic", "features"}));
  EXPECT_GT(doc["duel_target"]["duels_per_second"], 0);

  const Outcome text = run("bench --sizes 40 --instructions 40 --repetitions 1 --filter 'structure|fatpoint'");
  EXPECT_THAT(text.out, AllOf(HasSubstr("ns/inst"), HasSubstr("structure"), HasSubstr("fatpoint"), Not(HasSubstr("memcheck"))));
  EXPECT_THAT(run("bench --sizes 40,400 --instructions 40 --repetitions 1 --filter '^structure/40$'").out,
              AllOf(testing::ContainsRegex("structure +[0-9]+ +-"), Not(HasSubstr("memcheck"))));
  expect_complaint("bench --sizes 40 --instructions 40 --filter nothing", "nothing is called");
  expect_complaint("bench --sizes 80,40", "--sizes");
  expect_complaint("bench --filter '('", "--filter");
}

TEST_F(Cli, LongWorkKeepsWhatItHasWhereItIsInterrupted) {
  EXPECT_THAT(run("fuzz --runs 20 --seed 9").out, HasSubstr("0 findings"));
  const std::vector<std::string> commands[] = {{"fuzz", "--time", "600s", "--jobs", "1", "--corpus", path("found")},
                                               {"faults", "--runs", "1000000", "--jobs", "1"},
                                               {"faults", "--rewritings", "1000000", "--jobs", "1"}};
  for (const std::vector<std::string>& command : commands) {
    std::vector<char*> argv = {const_cast<char*>(REGDUEL_PROGRAM)};
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string out = path("said");
      if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(99);
      ::execv(REGDUEL_PROGRAM, argv.data());
      ::_exit(98);
    }
    ::usleep(700'000);
    ASSERT_EQ(::kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command[1];
    EXPECT_THAT(read_file(path("said")).value(), HasSubstr("(interrupted)")) << command[1];
  }
}

TEST_F(Cli, ReduceKeepsWhatItIsAskedToKeep) {
  ASSERT_EQ(run("gen --seed 3 --size 300 -o g.rir").status, 0);
  // A script decides: a program that still has a guard.
  const Outcome r = run("reduce g.rir --test 'grep -q \"  #.* @\"' -o small.rir --json");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto doc = nlohmann::json::parse(r.out);
  EXPECT_EQ(doc["instructions"], 3) << read_file(path("small.rir")).value();  // the guard's def, the guarded instruction, the end
  EXPECT_TRUE(doc["minimal"]);
  EXPECT_EQ(run("reduce g.rir --test 'grep -q \"  #.* @\"' -o again.rir").status, 0);
  EXPECT_EQ(read_file(path("small.rir")).value().substr(60), read_file(path("again.rir")).value().substr(60));
  EXPECT_EQ(run("duel small.rir").status, 0);
  expect_complaint("reduce g.rir -o x.rir", "nothing to reduce");
  expect_complaint("reduce g.rir --test false -o x.rir", "does not show");
  expect_complaint("reduce g.rir --gap briggs/fatpoint:registers -o x.rir", "expected WORSE/BETTER:FIGURE>=RATIO");
  expect_complaint("reduce g.rir --signature a/b@c -o x.rir", "does not show a/b@c");
  EXPECT_FALSE(std::filesystem::exists(path("x.rir")));
}

TEST_F(Cli, ACampaignGoesOnWhereItStopped) {
  ASSERT_EQ(run("fuzz --runs 7 --seed 3 --db c.sqlite").status, 0);
  const auto doc = nlohmann::json::parse(run("fuzz --runs 5 --seed 3 --db c.sqlite --json").out);
  EXPECT_EQ(doc["first"], 7);
  EXPECT_EQ(doc["runs"], 5);
  EXPECT_EQ(nlohmann::json::parse(run("fuzz --runs 1 --seed 3 --db c.sqlite --json").out)["first"], 12);
  EXPECT_EQ(nlohmann::json::parse(run("fuzz --runs 1 --seed 4 --db c.sqlite --json").out)["first"], 0);
  EXPECT_THAT(run("fuzz --runs 2 --seed 4 --db c.sqlite").out, HasSubstr("5 sessions over 2 seeds: 16 programs, "));
  write("not.sqlite", "this is no database, whatever its name says; it is rather a text, and a long enough one");
  expect_complaint("fuzz --runs 1 --db not.sqlite", "not.sqlite");
}

TEST_F(Cli, FuelLimitsWhatAnAllocatorDecides) {
  write("c.rir", R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %1 = copy %0
    #2 %1 = add %1, 1
    #3 st %0, %1 !write
    #4 exit
)");
  for (const std::string with : {"fatpoint", "briggs"}) {
    EXPECT_THAT(run("alloc c.rir --with " + with + " --fuel 0 -o plain.rir").status, 0);
    EXPECT_THAT(read_file(path("plain.rir")).value(), HasSubstr("refill slot")) << with;  // everything in memory
    EXPECT_EQ(run("verify c.rir plain.rir").status, 0) << with;
    EXPECT_EQ(run("alloc c.rir --with " + with + " --fuel 1000000").out, run("alloc c.rir --with " + with).out);
  }
  expect_complaint("alloc c.rir --fuel -1", "--fuel");
  expect_complaint("bisect c.rir", "nothing to look for");
  expect_complaint("bisect c.rir --signature a/b@c", "does not show a/b@c");
  expect_complaint("bisect c.rir --plant nothing", "no planted bug");
}

// Nothing that is there is lost, and what cannot be done is said before the work.
TEST_F(Cli, OutputsThatCannotBeOrAreInUse) {
  ASSERT_EQ(run("duel --random 3 --db r.sqlite").status, 0);
  const std::string results = read_file(path("r.sqlite")).value();
  expect_complaint("report r.sqlite -o r.sqlite", "is what is read");
  expect_complaint("report r.sqlite -o none/r.html", "none/r.html: no such directory");
  expect_complaint("duel --random 1 --save r.sqlite/x", "r.sqlite is no directory");
  expect_complaint("fuzz --runs 1 --corpus r.sqlite/x", "r.sqlite is no directory");
  EXPECT_EQ(read_file(path("r.sqlite")).value(), results);
  write("foreign.sqlite", "");
  ASSERT_EQ(std::system(fmt::format("cp '{}' '{}' && '{}' merge '{}' -o '{}'", path("r.sqlite"), path("b.sqlite.tmp"),
                                    REGDUEL_PROGRAM, path("b.sqlite.tmp"), path("b.sqlite"))
                            .c_str()),
            0);
  EXPECT_TRUE(fs::exists(path("b.sqlite.tmp")));
  expect_complaint("export foreign.sqlite --inputs x", "no database of regduel");
  // What a killed writer left beside the file goes with the file that is replaced.
  write("b.sqlite-wal", "something");
  EXPECT_EQ(run("merge r.sqlite -o b.sqlite").status, 0);
  EXPECT_EQ(run("report b.sqlite --json").status, 0);
  write("c.sqlite-wal", "of a file that is gone");
  EXPECT_EQ(run("merge r.sqlite -o c.sqlite").status, 0);
  EXPECT_EQ(run("report c.sqlite --json").status, 0);
  fs::create_symlink("target.rir", path("link.rir"));
  write("target.rir", "old");
  fs::permissions(path("target.rir"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(run("gen --size 20 -o link.rir").status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.rir")));
  EXPECT_THAT(read_file(path("target.rir")).value(), StartsWith("rir 1"));
  EXPECT_EQ(fs::status(path("target.rir")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(run("gen --size 20 -o /dev/stdout").out, StartsWith("rir 1"));
}

TEST_F(Cli, OddValues) {
  ASSERT_EQ(run("gen --size 20 -o a.rir").status, 0);
  for (const char* seed : {"-1", "18446744073709551616", "1x", "''"})
    expect_complaint(fmt::format("gen --seed {}", seed), "--seed");
  expect_complaint("duel --random 1 --jobs -1", "--jobs");
  expect_complaint("alloc a.rir --with exec:true --exec-timeout nan", "expected a number");
  expect_complaint("duel a.rir --knob briggs-max-rounds=abc", "briggs-max-rounds: expected int 1 to 1000");
  const int nowhere_to_say_it =
      std::system(fmt::format("'{}' alloc '{}' 2>&- >/dev/null", REGDUEL_PROGRAM, path("none.rir")).c_str());
  EXPECT_TRUE(WIFEXITED(nowhere_to_say_it) && WEXITSTATUS(nowhere_to_say_it) == 2) << nowhere_to_say_it;
  const std::string function = "func @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n";
  write("twice.rir", "rir 1\n" + function + function);
  expect_complaint("alloc twice.rir", "twice.rir: error: @f is there twice");
  write("twice.ptx", ".version 8.0\n.target sm_90\n.entry f() { ret; }\n.entry f() { ret; }\n");
  expect_complaint("alloc twice.ptx", "twice.ptx: error: @f is there twice");
  write("knob.rir", "// knob: briggs-max-rounds=x\n" + read_file(path("a.rir")).value());
  for (const char* command : {"reduce knob.rir -o x.rir", "bisect knob.rir", "fuzz --runs 1 --seeds knob.rir"})
    expect_complaint(command, "knob.rir: error: ");
  write("id.rir", "rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #1073741824 exit\n");
  expect_complaint("alloc id.rir", "id.rir:4:5: error: instruction 1073741824");
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
  std::istringstream lines(
      run("alloc d.rir --regs 2 --knob FatPointSplitLiveRanges=0 --knob FatPointUnspill=0 --passes -o e.rir").out);
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
  const std::string dump =
      run("alloc d.rir --regs 2 --passes=dump --knob FatPointSplitLiveRanges=0 --knob FatPointUnspill=0 -o e.rir").out;
  EXPECT_THAT(dump, HasSubstr("// before emit\n"));
  EXPECT_THAT(dump, HasSubstr("// after emit\n" + read_file(path("e.rir")).value().substr(std::string_view("rir 1\n").size())));
  expect_complaint("alloc d.rir --passes=all", "--passes");
  EXPECT_THAT(run("alloc d.rir --with llvm+fatpoint --regs 2 --passes -o e.rir").out, HasSubstr("\nllvm "));
  EXPECT_THAT(run("pass series d.rir --knob series-order=ssa+llvm --passes -o e.rir").out,
              testing::AllOf(HasSubstr("\nseries "), HasSubstr("\n  ssa "), HasSubstr("\n  llvm ")));
  EXPECT_THAT(run("pass ssa d.rir --passes=dump").err, HasSubstr("// after ssa\n"));
}

TEST_F(Cli, ShardsMergeAndAreExported) {
  for (const int seed : {1, 2})
    ASSERT_EQ(run(fmt::format("fuzz --runs 60 --jobs 1 --seed {} --db {}.sqlite", seed, seed)).status, 0);
  EXPECT_EQ(read_file(path("1.sqlite")).value_or("").substr(18, 2), "\1\1")
      << "a file by itself, without a log to be written beside it";
  const auto merged = nlohmann::json::parse(run("merge 1.sqlite 2.sqlite -o all.sqlite --json").out);
  EXPECT_GT(merged["inputs_before"], merged["inputs"]);
  EXPECT_THAT(merged["totals"].get<std::string>(), StartsWith("2 sessions over 2 seeds: 120 programs, "));
  const auto exported = nlohmann::json::parse(run("export all.sqlite --inputs all --json").out);
  EXPECT_EQ(exported["inputs"], merged["inputs"]);
  EXPECT_EQ(nlohmann::json::parse(run("export all.sqlite --inputs some --most 5 --json").out)["inputs"], 5);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("some")), fs::directory_iterator()), 5);
  const auto again = nlohmann::json::parse(run("fuzz --runs 8 --jobs 1 --seeds some --db again.sqlite --json").out);
  EXPECT_GE(again["inputs"], 5);
  expect_complaint("merge 1.sqlite none.sqlite -o all.sqlite", "none.sqlite: no such file");
  expect_complaint("export all.sqlite", "--inputs DIR, --findings DIR");
  expect_complaint("export all.sqlite --findings f --state new", "--state: expected crashing");
  expect_complaint("fuzz --runs 1 --mix --seeds some", "exclude each other");
  write("s.txt", "briggs a/b until tomorrow\n");
  expect_complaint("fuzz --runs 1 --suppress s.txt", "s.txt:1:18: error: expected a date");
}

TEST_F(Cli, ReportsAreOneFileAndTheSameBytes) {
  EXPECT_EQ(run("duel --random 6 --seed 3 --db r.sqlite").status, 0);
  const Outcome made = run("report r.sqlite -o report.html --details 2");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, testing::HasSubstr("1 runs, 6 cases, 0 findings, 2 functions in detail"));
  const std::string page = read_file(path("report.html")).value_or("");
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, testing::Not(testing::ContainsRegex("(src|href)=\"[^#d]")));  // all that it needs is in it
  EXPECT_EQ(run("report r.sqlite -o again.html --details 2").status, 0);
  EXPECT_EQ(read_file(path("again.html")).value_or(""), page);
  EXPECT_EQ(nlohmann::json::parse(run("report r.sqlite --json --details 0").out)["cases"]["run"].size(), 6U);
  expect_complaint("report none.sqlite -o x.html", "none.sqlite: no such file");
  write("bad.sqlite", "this is no database, however long it may be, and however much it says of itself\n");
  expect_complaint("report bad.sqlite -o x.html", "bad.sqlite");
  EXPECT_FALSE(std::filesystem::exists(path("x.html")));
  expect_complaint("report r.sqlite", "say where to write the page");
  expect_complaint("report r.sqlite -o no/such/folder/x.html", "no/such/folder");
  expect_complaint("report r.sqlite -o x.html --details 1001", "--details: expected 0 to 1000");
}

}  // namespace
}  // namespace regduel::cli
