// Programs and their allocations: gen, import, alloc, knobs.
#include <regex>
#include <set>
#include <sstream>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

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
  const auto s = json("alloc --regs 4 spill.rir -o out.rir --json")["results"][0];
  const int stores = s["spill_store_bytes"], loads = s["spill_load_bytes"], frame = s["stack_frame_bytes"];
  EXPECT_GT(stores, 0);
  EXPECT_EQ(s["statistics"]["LSpillB"], stores);
  EXPECT_THAT(r.out, HasSubstr(fmt::format("] [LSpillB={}] [LRefillB={}], [SSpillB=0], ", stores, loads)));
  EXPECT_THAT(r.out, EndsWith(fmt::format(
                         "\nregduel info    : Overriding maximum register limit 256 for 'spill' with  4 of maxrregcount option\n"
                         "regduel info    : Function properties for spill\n    {} bytes stack frame, {} bytes spill "
                         "stores, {} bytes spill loads\n"
                         "regduel info    : Used 4 registers, used 0 barriers, {} bytes cumulative stack size\n",
                         frame, stores, loads, frame)));
  EXPECT_EQ(r.err,
            fmt::format("regduel warning : Registers are spilled to local memory in function 'spill', {} bytes spill stores, "
                        "{} bytes spill loads\n",
                        stores, loads));
  EXPECT_EQ(run("alloc --regs 255 spill.rir -o out.rir --warn-on-spills").err, "");
}

TEST_F(Cli, CallsOfPtxFollowAnAbi) {
  const std::string ptx = source("corpus/ptx/calls.ptx");
  EXPECT_THAT(run("import " + ptx).out, HasSubstr("device target sm_90 threads 256 abi cuda\n"));
  EXPECT_THAT(run("import --abi seed " + ptx).out, Not(HasSubstr("abi cuda")));
  expect_complaint("import --abi arm " + ptx, "--abi");
  ASSERT_EQ(run("alloc --abi seed --regs 32 -o a.rir " + ptx).status, 0);
  EXPECT_EQ(run("verify --abi seed --regs 32 " + ptx + " a.rir").status, 0);
  EXPECT_THAT(run("verify --regs 32 " + ptx + " a.rir").out, HasSubstr("abi cuda has become seed"));
}

// Kernels spill less where their calls list what their callees write; the judges then expect these lists too.
TEST_F(Cli, InterProceduralAllocation) {
  const std::string ptx = source("corpus/ptx/calls.ptx");
  for (const char* name : {"fatpoint", "briggs"}) {
    const std::string alloc = std::string("alloc --regs 40 --with ") + name + " " + ptx;
    ASSERT_EQ(run(alloc + " -o alone.rir").status, 0);
    ASSERT_EQ(run(alloc + " --ipra -o together.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 " + ptx + " alone.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 --ipra " + ptx + " together.rir").status, 0);
    EXPECT_EQ(run("verify --regs 40 " + ptx + " together.rir").status, 1);
    const auto stores = [&](const std::string& options) {
      std::int64_t bytes = 0;
      const auto figures = json(alloc + options + " --json -o x.rir");
      for (const auto& f : figures["results"]) bytes += f["spill_store_bytes"].get<std::int64_t>();
      return bytes;
    };
    EXPECT_LT(stores(" --ipra"), stores("")) << name;
  }
}

TEST_F(Cli, KnobsListsThemAll) {
  const auto doc = json("knobs --json");
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
  EXPECT_LT(json("knobs --with briggs,memcheck --json")["knobs"].size(), doc["knobs"].size());

  // Fits a terminal, and says the same.
  std::istringstream lines(run("knobs").out);
  std::string all;
  for (std::string line; std::getline(lines, line); all += line + '\n') EXPECT_LE(line.size(), 80u) << line;
  for (const auto& [owner, name] : names) EXPECT_THAT(all, HasSubstr(name));
  EXPECT_THAT(all, testing::ContainsRegex("RegAllocSpillBitLowRegScale +fatpoint +dbl 0\\.0 to 1000\\.0 \\[0\\.2\\]"));
  expect_complaint("knobs --with nobody",
                   "(there are fatpoint, briggs, classic, cicc, exact, exact-spill, exact-split, chaitin-briggs, ");
}

TEST_F(Cli, AllocWritesProofs) {
  write("a.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\nvreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld 0\n"
        "#1 %1 = ld 1\n#2 %2 = ld 2\n#3 st %0 !write\n#4 st %1 !write\n#5 st %2 !write\n#6 exit\n");
  const Outcome fewest = run("alloc a.rir --with exact --proof p -o b.rir");
  EXPECT_EQ(fewest.status, 0) << fewest.err;
  EXPECT_EQ(read_file(path("p.R.clique")).value_or(""), "k 3\nv 1\nv 2\nv 3\n");
  EXPECT_THAT(read_file(path("p.R.col")).value_or(""), HasSubstr("c vertex 1 %0\n"));
  const Outcome least = run("alloc a.rir --with exact-spill --regs 2 --proof q -o b.rir");
  EXPECT_EQ(least.status, 0) << least.err;
  EXPECT_THAT(least.err, HasSubstr("weighted spill bytes: 8, the least with each value in a register or in memory throughout"));
  EXPECT_THAT(read_file(path("q.cnf")).value_or(""), StartsWith("p cnf "));
  EXPECT_FALSE(read_file(path("q.drat")).value_or("").empty());
  expect_complaint("alloc a.rir --proof p", "--proof: fatpoint proves nothing, exact does");
}

TEST_F(Cli, KnobsGolden) { expect_golden("cli/golden/knobs_memcheck.txt", run("knobs --with memcheck").out); }

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
  EXPECT_EQ(run("duel three.rir --with classic,briggs --fast-compile=max --register-usage-level 10 --knob 684=7 --regs 2,3").status,
            0);
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
  // Each allocator says the line of the source where the instruction has one, and leaves it out where it has none.
  write("line.rir",
        "rir 1\nfunc @wide kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b64\n  block b0\n    #0 %0, %1 = op "
        "!line \"a.cu\" 12:3\n    #1 exit\n");
  for (const char* with : {"fatpoint", "briggs"}) {
    const std::string text =
        "Register allocation failed with register count of '3'. Compile the program with a higher register target; 4 registers "
        "would do\n";
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

}  // namespace
}  // namespace regduel::cli
