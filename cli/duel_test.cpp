// Duels and their figures: duel, compare, report, bench.
#include <map>
#include <regex>
#include <set>

#include "base/testing.h"
#include "cli/testing.h"
#include "duel/heap_use.h"
#include "results/measure.h"
#include "results/results.h"

namespace regduel::cli {
namespace {

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
  const auto compared = [&](const std::string& options) { return json("compare r.sqlite --json " + options); };
  ASSERT_EQ(run("duel --random 40 --seed 3 --with fatpoint,briggs --db r.sqlite").status, 0);
  const auto same = compared("--runs 1,3 --allocators fatpoint");
  EXPECT_EQ(same["comparisons"][0]["pairs"], 40);
  EXPECT_TRUE(same["comparisons"][0]["worst"].empty());
  const auto apart = compared("--runs 1,2");
  EXPECT_EQ(apart["comparisons"][0]["new"], "briggs");
  EXPECT_EQ(apart["comparisons"][0]["pairs"], 40);
  EXPECT_EQ(apart["comparisons"][1]["pairs"], 0);
  EXPECT_EQ(apart["comparisons"][1]["changed_knobs"], 40);
  const auto knobs = compared("--runs 1,2 --across-knobs");
  EXPECT_EQ(knobs["comparisons"][1]["pairs"], 40);
  ASSERT_FALSE(knobs["comparisons"][1]["worst"].empty());

  // A case is looked at by the command that is shown.
  std::string command = knobs["comparisons"][1]["worst"][0]["reproduce"];
  const std::string figure = std::to_string(knobs["comparisons"][1]["worst"][0]["new"].get<std::int64_t>());
  const std::size_t both = command.find(" && regduel ");
  ASSERT_NE(both, std::string::npos);
  ASSERT_EQ(run(command.substr(8, both - 8)).status, 0) << command;
  const auto again = json(command.substr(both + 12) + " --json");
  EXPECT_EQ(std::to_string(again["results"][0]["weighted_spill_bytes"].get<std::int64_t>()), figure) << command;

  const Outcome gate = run("compare r.sqlite --allocators briggs,fatpoint --gate 'weighted_spill_bytes<1%,registers>50%'");
  EXPECT_EQ(gate.status, 1);
  EXPECT_THAT(gate.out,
              AllOf(HasSubstr("BEYOND ITS GATE: briggs -> fatpoint: weighted_spill_bytes<1%"), Not(HasSubstr("registers>50%\n"))));
  const Outcome unjudged = run("compare r.sqlite --runs 1,2 --allocators fatpoint --gate 'registers>1%'");
  EXPECT_EQ(unjudged.status, 1);
  EXPECT_THAT(unjudged.out, AllOf(HasSubstr("NO GATE IS JUDGED: fatpoint: 0 of 40 programs have a partner, fewer than 90% "
                                            "(--pairs-at-least); 40 of 40 differ in their knobs alone: --across-knobs pairs those"),
                                  Not(HasSubstr("no gate is exceeded"))));
  EXPECT_THAT(run("compare r.sqlite --allocators briggs,fatpoint --markdown").out, HasSubstr("| measure | old | new |"));
  expect_complaint("compare r.sqlite", "two runs of one (--runs 1,2)");
  expect_complaint("compare r.sqlite r.sqlite", "of one run two allocators are compared");
  expect_complaint("compare r.sqlite --runs 1,7", "there is no run 7 in it (there are 1, 2, 3)");
  expect_complaint("compare r.sqlite --runs 1,2 --gate nothing", "expected MEASURE>PERCENT%");
  expect_complaint("compare r.sqlite --runs 1,2 --gate 'nothing>1%'", "no measure \"nothing\" (there are registers, ");
  expect_complaint("compare r.sqlite --allocators briggs,nobody", "no results of nobody");
  expect_complaint("compare none.sqlite r.sqlite", "none.sqlite: No such file or directory");
  expect_complaint("export r.sqlite --program 0000000000000000 -o x.rir", "no program 0000000000000000");
  expect_complaint("export r.sqlite --program 0", "go together");
}

// Ctrl-C keeps what has been played; a run without a row is none.
TEST_F(Cli, AnInterruptedDuelKeepsItsRows) {
  const std::string command =
      fmt::format("cd '{}' && timeout --preserve-status -s INT 2 '{}' duel --random 300000 --jobs 1 --db r.sqlite > out",
                  dir_.string(), REGDUEL_PROGRAM);
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_THAT(read_file(path("out")).value(),
              AllOf(HasSubstr(" duels; instructions: "), HasSubstr("(interrupted)\n"), HasSubstr("r.sqlite: run 1\n")));
  EXPECT_GT(results::read_results(path("r.sqlite")).size(), 10u);
  {
    results::ResultFile empty(path("r.sqlite"), {"a run without rows", "", ""});
    EXPECT_EQ(empty.finish(), 0);
  }
  EXPECT_GT(results::read_results(path("r.sqlite")).size(), 10u);
  EXPECT_EQ(results::read_runs(path("r.sqlite")).size(), 1u);
}

// Rows fit the terminal: each allocator has one of its own where there is no room for all beside each other.
TEST_F(Cli, TablesFitTheTerminal) {
  const auto widest = [&](int columns, const std::string& arguments) {
    const std::string out = path("table");
    EXPECT_EQ(
        std::system(
            fmt::format("cd '{}' && COLUMNS={} '{}' {} > '{}'", dir_.string(), columns, REGDUEL_PROGRAM, arguments, out).c_str()),
        0);
    std::size_t most = 0;
    const std::string text = read_file(out).value();
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      most = std::max(most, end - at);
    return most;
  };
  const std::string kernels = "duel --regs 24 --with fatpoint,briggs,cicc " + source("corpus/ptx/softmax.ptx");
  EXPECT_GT(widest(200, kernels), 100u);
  EXPECT_LE(widest(80, kernels), 80u);
  EXPECT_THAT(read_file(path("table")).value(), testing::ContainsRegex("softmax +24 +45 +fatpoint +24 "));
  EXPECT_LE(widest(80, "duel --random 20 --seed 3 --with fatpoint,briggs,cicc"), 80u);
  for (const char* help : {"--help", "duel --help", "fuzz --help", "verify --help"}) {
    EXPECT_LE(widest(80, help), 80u) << help;
    EXPECT_LE(widest(200, help), 100u) << help;
  }
}

// In a folder that may not be written to, what finds nothing writes nothing.
TEST_F(Cli, ADuelNeedsNoFolderForFindings) {
  write("findings", "a file is in the way");
  EXPECT_EQ(run("duel --random 3").status, 0);
  expect_complaint("duel --random 3 --findings findings/x", "findings is no directory");
}

// A public directory has files that nobody can read: they are told, counted, and passed over.
TEST_F(Cli, ADirectoryIsPlayedPastWhatCannotBeRead) {
  fs::create_directory(path("all"));
  ASSERT_EQ(run("gen --seed 3 --size 40 -o all/a.rir").status, 0);
  ASSERT_EQ(run("gen --seed 4 --size 40 -o all/c.rir").status, 0);
  write("all/b.ptx", "this is no ptx");
  write("all/d.after.rir", "an answer, which is no case");
  const Outcome r = run("duel all --regs 32");
  EXPECT_EQ(r.status, 2) << r.out;
  EXPECT_THAT(r.out, HasSubstr("2 duels; "));
  EXPECT_THAT(r.err, AllOf(HasSubstr("all/b.ptx:1:1: error: "), HasSubstr("1 file could not be read and was left out"),
                           Not(HasSubstr("after.rir"))));
  expect_complaint("duel all/b.ptx", "all/b.ptx:1:1: error: ");
  const Outcome imported = run("import all -o out");
  EXPECT_EQ(imported.status, 2);
  EXPECT_TRUE(fs::exists(path("out/index.json")));
}

// A gate fails wherever the truth is worse, also where there are too few programs for a test, or few with a partner.
TEST_F(Cli, AGateDecides) {
  const std::vector<std::string> kernels = {"sha256", "bigint_modexp", "mixed_sizes", "philox_pi", "black_scholes", "switch_vm"};
  const std::string worse = " --knob FatPointRematerialise=0 --knob FatPointSplitLiveRanges=0 --knob FatPointChains=0";
  for (const std::size_t programs : {4u, 6u}) {
    const std::string db = fmt::format("n{}.sqlite", programs);
    std::string files;
    for (std::size_t k = 0; k < programs; ++k) files += " " + source("corpus/ptx/" + kernels[k] + ".ptx");
    ASSERT_EQ(run("duel" + files + " --regs 16 --with fatpoint --db " + db).status, 0);
    ASSERT_EQ(run("duel" + files + " --regs 16 --with fatpoint --db " + db + worse).status, 0);
    const std::string compare = "compare " + db + " --runs 1,2 --across-knobs --most 0 ";
    const Outcome gate = run(compare + "--gate 'weighted_spill_bytes>1%'");
    EXPECT_EQ(gate.status, 1) << gate.out;
    EXPECT_THAT(gate.out, programs < 5
                              ? HasSubstr("NO GATE IS JUDGED: fatpoint: weighted_spill_bytes>1%: 4 pairs are too few for p "
                                          "< 0.05: 5 would do; give more programs, or --gate-worst")
                              : HasSubstr("BEYOND ITS GATE: fatpoint: weighted_spill_bytes>1% (+"));
    const Outcome worst = run(compare + "--gate-worst 'weighted_spill_bytes>20%'");
    EXPECT_EQ(worst.status, 1) << worst.out;
    EXPECT_THAT(worst.out,
                AllOf(HasSubstr("BEYOND ITS GATE: fatpoint: any program's weighted_spill_bytes>20% ("), HasSubstr("sha256")));
    EXPECT_EQ(run("compare " + db + " --runs 2,1 --across-knobs --gate-worst 'weighted_spill_bytes>20%'").status, 0);
    EXPECT_EQ(run(compare + "--gate 'weighted_spill_bytes>1%' --alpha 0.001").status, 1);
  }
  const Outcome few = run("compare n4.sqlite n6.sqlite --runs 1 --gate 'weighted_spill_bytes>1%' --alpha 0.2");
  EXPECT_EQ(few.status, 1);
  EXPECT_THAT(few.out, HasSubstr("NO GATE IS JUDGED: fatpoint: 4 of 6 programs have a partner, fewer than 90% (--pairs-at-least)"));
  EXPECT_EQ(run("compare n4.sqlite n6.sqlite --runs 1 --gate 'weighted_spill_bytes>1%' --alpha 0.2 --pairs-at-least 60%").status,
            0);
  expect_complaint("compare n4.sqlite n6.sqlite --gate 'registers>1%' --pairs-at-least 90",
                   "expected a percentage from 0% to 100%");
}

// What duel says of limits given one by one, at every limit from the demand on.
TEST_F(Cli, DuelAtAShareOfMaxLive) {
  const auto whole = json("duel --json --regs 100% --random 20 --profile straight --size 60")["results"];
  const auto half = json("duel --json --regs 50% --random 20 --profile straight --size 60")["results"];
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
  const auto swept = json("duel --json --regs sweep " + kernel)["results"];
  ASSERT_GT(swept.size(), 8u);
  std::map<std::string, std::vector<int>> limits;
  std::map<std::string, int> need;
  for (const auto& row : swept) {
    EXPECT_EQ(row["verdict"], "pass");
    if (row["allocator"] == "fatpoint") limits[row["function"].get<std::string>()].push_back(row["limit"].get<int>());
  }
  const auto unlimited = json("duel --json " + kernel)["results"];
  for (const auto& row : unlimited) {
    int& most = need[row["function"].get<std::string>()];
    most = std::max(most, row["registers"].get<int>());
  }
  for (const auto& [function, of] : limits) {
    EXPECT_EQ(of.back(), need[function]) << function;
    EXPECT_EQ(of.back() - of.front() + 1, std::ssize(of)) << function;
    const auto below = json(fmt::format("duel --json --regs {} {}", of.front() - 1, kernel))["results"];
    for (const auto& row : below)
      if (row["function"] == function) {
        EXPECT_EQ(row["reason"], "impossible");
      }
  }
  const int least = limits["scan_add"].front();
  const auto alone = json(fmt::format("duel --json --regs {} {}", least, kernel))["results"];
  for (const auto& row : alone)
    if (row["function"] == "scan_add") {
      const auto same = std::find_if(swept.begin(), swept.end(), [&](const auto& s) {
        return s["function"] == "scan_add" && s["allocator"] == row["allocator"] && s["limit"] == row["limit"];
      });
      ASSERT_NE(same, swept.end());
      EXPECT_EQ((*same)["spill_load_bytes"], row["spill_load_bytes"]);
    }
  // Random programs are numbered, so that each can be made again.
  const auto random = json("duel --json --regs sweep --random 2 --profile straight --size 40")["results"];
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
    auto list = json("duel --json --regs " + regs + " a.rir")["results"];
    for (auto& row : list) row.erase("seconds");
    return list;
  };
  nlohmann::json each = nlohmann::json::array();
  for (const char* regs : {"24", "40", "255"})
    for (const auto& row : rows(regs)) each.push_back(row);
  ASSERT_EQ(each.size(), 6u);
  EXPECT_EQ(rows("24,40,255"), each);
  EXPECT_EQ(json("fuzz --json --mix --runs 4 --regs 24,40 --jobs 1")["summary"]["duels"], 8);
  expect_complaint("fuzz --runs 1 --regs 24,0", "--regs: expected 1 to 255, found 0");
}

// A duelist alone plays the programs that alloc --ipra allocates; with others, lists that hold what any of them writes.
TEST_F(Cli, CallsOfADuelDestroyWhatTheDuelistsWrite) {
  const std::string files = source("corpus/ptx/saxpy.ptx") + " " + source("corpus/ptx/calls.ptx");
  const auto rows = [&](const std::string& command) {
    std::vector<std::string> all;
    for (const auto& row : json(command)["results"])
      if (row["function"] != "saxpy")
        all.push_back(row["function"].dump() + row["limit"].dump() + row["registers"].dump() + row["spill_store_bytes"].dump());
    return all;
  };
  const std::vector<std::string> together = rows("duel --ipra --json --with fatpoint --regs 40 " + files);
  EXPECT_EQ(together, rows("alloc --ipra --json --with fatpoint --regs 40 -o x.rir " + source("corpus/ptx/calls.ptx")));
  EXPECT_NE(together, rows("duel --json --with fatpoint --regs 40 " + files));
  const std::vector<std::string> several = rows("duel --ipra --json --jobs 1 --with fatpoint,briggs --regs 40,64 " + files);
  EXPECT_EQ(several, rows("duel --ipra --json --jobs 3 --with fatpoint,briggs --regs 40,64 " + files));
  EXPECT_EQ(several.size(), 4 * together.size());
  expect_complaint("duel --ipra --random 3", "--ipra: of files");
}

TEST_F(Cli, RandomDuelsAreTheSameForAnyNumberOfThreads) {
  const auto without_seconds = [](std::string json) { return std::regex_replace(json, std::regex("\"seconds\": [^\\n]*"), ""); };
  const Outcome one = run("duel --random 24 --seed 5 --jobs 1 --json");
  const Outcome two = run("duel --random 24 --seed 5 --jobs 3 --json");
  EXPECT_EQ(one.status, 0) << one.out;
  EXPECT_EQ(without_seconds(one.out), without_seconds(two.out));
  EXPECT_EQ(run("duel --random 6 --profile loops --regs 24 --seed 2").status, 0);
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
  const auto some = json("fuzz --runs 24 --metamorphic 25 --seed 3 --json");
  EXPECT_GT(some["summary"]["metamorphic"]["allocations"], 0);
  EXPECT_LT(some["summary"]["metamorphic"]["allocations"], 48);
  expect_complaint("fuzz --runs 1 --metamorphic 101", "--metamorphic: expected 0 to 100");
}

TEST_F(Cli, ReportsAreOneFileAndTheSameBytes) {
  EXPECT_EQ(run("duel --random 6 --seed 3 --db r.sqlite").status, 0);
  const Outcome made = run("report r.sqlite -o report.html --details 2");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("1 run, 6 cases, 0 findings, 2 functions in detail"));
  const std::string page = read_file(path("report.html")).value_or("");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(testing::ContainsRegex("(src|href)=\"[^#d]")));  // all that it needs is in it
  EXPECT_EQ(run("report r.sqlite -o again.html --details 2").status, 0);
  EXPECT_EQ(read_file(path("again.html")).value_or(""), page);
  EXPECT_EQ(json("report r.sqlite --json --details 0")["cases"]["run"].size(), 6U);
  expect_complaint("report none.sqlite -o x.html", "none.sqlite: No such file or directory");
  write("bad.sqlite", "this is no database, however long it may be, and however much it says of itself\n");
  expect_complaint("report bad.sqlite -o x.html", "bad.sqlite");
  EXPECT_FALSE(fs::exists(path("x.html")));
  expect_complaint("report r.sqlite", "say where to write the page");
  expect_complaint("report r.sqlite -o no/such/folder/x.html", "no/such/folder");
  expect_complaint("report r.sqlite -o x.html --details 1001", "--details: expected 0 to 1000");
}

TEST_F(Cli, AReportOfTwoDatabasesComparesThem) {
  EXPECT_EQ(run("duel --random 6 --seed 3 --db old.sqlite").status, 0);
  EXPECT_EQ(run("duel --random 6 --seed 3 --db new.sqlite --knob FatPointRematerialise=0").status, 0);
  const Outcome made = run("report old.sqlite new.sqlite --across-knobs -o change.html --details 2");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("2 runs, 6 cases, 0 findings, 2 functions in detail"));
  EXPECT_EQ(run("report old.sqlite new.sqlite --across-knobs -o again.html --details 2").status, 0);
  EXPECT_EQ(read_file(path("again.html")).value_or("?"), read_file(path("change.html")).value_or(""));
  // It says what compare says.
  const auto page = json("report old.sqlite new.sqlite --across-knobs --allocators fatpoint --json --details 0")["comparison"];
  const auto said = json("compare old.sqlite new.sqlite --across-knobs --allocators fatpoint --json")["comparisons"];
  for (const char* const field : {"pairs", "passed", "only_old", "changed_knobs"})
    EXPECT_EQ(page["sections"][0][field], said[0][field]) << field;
  EXPECT_EQ(page["sections"][0]["measures"][0]["p_adjusted"], said[0]["measures"][0]["p_adjusted"]);
  EXPECT_EQ(page["new"]["database"], "new.sqlite");
  expect_complaint("report old.sqlite new.sqlite -o new.sqlite", "is what is read");
  expect_complaint("report old.sqlite --runs 1 -o x.html", "give two databases");
  expect_complaint("report old.sqlite new.sqlite --allocators cicc -o x.html", "there are no results of cicc");
}

}  // namespace
}  // namespace regduel::cli
