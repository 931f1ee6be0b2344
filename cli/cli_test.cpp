// The program as its users run it: exit statuses, one clear line for bad input, nothing half-written. alloc_test.cpp, verify_test.cpp,
// explain_test.cpp, duel_test.cpp and fuzz_test.cpp have the commands.
#include <regex>
#include <set>

#include "base/testing.h"
#include "cli/command.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, HelpTeaches) {
  const Outcome r = run("--help");
  EXPECT_EQ(r.status, 0);
  for (const Command& c : commands()) {
    EXPECT_THAT(r.out, testing::ContainsRegex(fmt::format("\n  {} +", c.name)));
    const Outcome help = run(std::string(c.name) + " --help");
    EXPECT_EQ(help.status, 0);
    std::string unwrapped = help.out;
    std::ranges::replace(unwrapped, '\n', ' ');
    EXPECT_THAT(unwrapped, AllOf(StartsWith(std::string(c.what)), HasSubstr("xample")));
  }
}

// The page of the commands has a row of each, and of nothing else.
TEST_F(Cli, ThePageOfTheCommandsHasThemAll) {
  std::set<std::string> shown, known;
  for (const Command& c : commands()) known.emplace(c.name);
  const std::string page = read_file(source("docs/cli.md")).value();
  const std::regex row("\\| `regduel ([a-z]+)");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) shown.insert((*it)[1]);
  EXPECT_EQ(shown, known);
}

TEST_F(Cli, BadUsageIsOneLine) {
  const Outcome nothing = run("");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, AllOf(HasSubstr("\n  duel "), EndsWith("regduel: error: no command is given (see above)\n")));
  expect_complaint("dual", "no command \"dual\" (did you mean \"duel\"?)");
  expect_complaint("duel --rges 24", "duel: no option \"--rges\" (did you mean \"--regs\"?) (see regduel duel --help)");
  expect_complaint("verify a.rir", "verify: after is required (see regduel verify --help)");
  expect_complaint("duel --with fatpiont --random 1", "no allocator \"fatpiont\" (did you mean \"fatpoint\"?)");
  expect_complaint("duel --knob FatPointChain=1 --random 1", "(did you mean \"FatPointChains\"?)");
  expect_complaint("duel --with '' --random 1", "--with: expected an allocator, found nothing");
  expect_complaint("duel --random 0", "--random: expected 1 to 1000000000, found 0");
  expect_complaint("duel --random -3", "--random: expected 1 to 1000000000, found -3");
  expect_complaint("gen --profile nonsense", "--profile: no profile \"nonsense\"");
  expect_complaint("gen --seed x", "--seed");
  expect_complaint("gen --sm 33", "no target sm_33");
  expect_complaint("alloc missing.rir", "missing.rir: No such file or directory");
  expect_complaint("duel", "files or directories");
  expect_complaint("fuzz", "--time");
  expect_complaint("fuzz --time 3parsecs", "3parsecs");
  expect_complaint("faults --runs 0", "--runs: expected 1 to");
  expect_complaint("faults --run -2", "--run: expected 0 to");
}

TEST_F(Cli, HelpHasItsUsualNames) {
  EXPECT_EQ(run("-V").out, run("--version").out);
  EXPECT_EQ(run("help duel").out, run("duel --help").out);
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_THAT(run("--help-all").out, AllOf(HasSubstr("--metamorphic"), HasSubstr("--reduce-budget")));
}

// A place stands first, so that editors find it; the line and a caret follow. With --json it is a document as well.
TEST_F(Cli, ErrorsHaveOneForm) {
  write("bad.rir", "rir 1\nfunc @f kernel target sm_90 threads 1\n  block b0\n    #0 op %7\n    #1 exit %\n");
  const Outcome r = run("alloc bad.rir");
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, StartsWith("bad.rir:4:11: error: %7 is not declared\n    4 |     #0 op %7\n      |           ^\nbad.rir:5:"));
  EXPECT_THAT(r.err, Not(HasSubstr("terminator"))) << "that follows from the two";
  const Outcome j = run("duel bad.rir --json");
  const auto error = nlohmann::json::parse(j.out)["error"];
  EXPECT_EQ(error["file"], "bad.rir");
  EXPECT_EQ(error["line"], 4);
  EXPECT_EQ(error["column"], 11);
  EXPECT_EQ(error["message"], "%7 is not declared");
  EXPECT_EQ(nlohmann::json::parse(run("duel --rges --json").out)["error"]["status"], 2);
  write("bom.rir", "\xEF\xBB\xBFrir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  EXPECT_EQ(run("alloc bom.rir").status, 0);
  write("empty.rir", "rir 1\n");
  expect_complaint("verify empty.rir empty.rir", "empty.rir: error: there is no function in it");
}

TEST_F(Cli, BadInputNamesThePlace) {
  ASSERT_EQ(run("gen --seed 3 --profile loops -o a.rir").status, 0);
  expect_complaint("alloc --regs 0 a.rir", "--regs: expected 1 to 255, found 0");
  expect_complaint("alloc --regs 010 a.rir", "--regs: 010 is no decimal number");
  expect_complaint("alloc --regs 10000 a.rir", "--regs: expected 1 to 255, found 10000");
  expect_complaint("alloc --with nobody a.rir",
                   "no allocator \"nobody\" (there are fatpoint, briggs, classic, cicc, exact, exact-spill, exact-split, "
                   "chaitin-briggs, irc, pbqp, "
                   "linear-scan, chordal, copyprop+ALLOCATOR, ");
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

// A misspelt opcode is an operation like another to the reader: it is told.
TEST_F(Cli, UnknownOpcodesAreTold) {
  write("a.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.parm.u32 %r1, [%rd1];
  frob.u32 %r2, %r1;
  ld.global.nc.v2.u32 {%r1, %r2}, [%rd1];
  st.global.u32 [%rd1], %r2;
  ret;
}
)");
  const Outcome r = run("import a.ptx -o out");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(
      r.err,
      "regduel: warning: a.ptx: unknown opcodes, taken for operations: frob.u32 (1), ld.parm.u32 (1) (--strict refuses them)\n");
  expect_complaint("import a.ptx --strict", "a.ptx: error: unknown opcodes: frob.u32 (1), ld.parm.u32 (1)");
  for (const auto& entry : fs::directory_iterator(source("corpus/ptx")))
    EXPECT_EQ(run("import --strict --json " + entry.path().string()).status, 0) << entry.path();
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
  write("edge.col", "p edge 2 1\ne 1 2\n");
  EXPECT_EQ(run("color --with exact edge.col").status, 0) << "a list takes one word";
  expect_complaint("alloc a.rir --with exec:true --exec-timeout nan", "expected a number");
  expect_complaint("duel a.rir --knob briggs-max-rounds=abc", "briggs-max-rounds: expected int 1 to 1000");
  const int nowhere_to_say_it =
      std::system(fmt::format("'{}' alloc '{}' 2>&- >/dev/null", REGDUEL_PROGRAM, path("none.rir")).c_str());
  EXPECT_TRUE(WIFEXITED(nowhere_to_say_it) && WEXITSTATUS(nowhere_to_say_it) == 2) << nowhere_to_say_it;
  const std::string function = "func @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n";
  write("twice.rir", "rir 1\n" + function + function);
  expect_complaint("alloc twice.rir", "twice.rir: error: @f is there twice");
  write("twice.ptx", ".version 8.0\n.target sm_90\n.entry f() { ret; }\n.entry f() { ret; }\n");
  expect_complaint("alloc twice.ptx", "twice.ptx:4:8: error: the function 'f' has a body already");
  write("knob.rir", "// knob: briggs-max-rounds=x\n" + read_file(path("a.rir")).value());
  for (const char* command : {"reduce knob.rir -o x.rir", "bisect knob.rir", "fuzz --runs 1 --seeds knob.rir"})
    expect_complaint(command, "knob.rir: error: ");
  write("id.rir", "rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #1073741824 exit\n");
  expect_complaint("alloc id.rir", "id.rir:4:5: error: instruction 1073741824");
}

}  // namespace
}  // namespace regduel::cli
