// External allocators as the command line has them: what is said of them, and what is found. Children that misbehave in every way
// are those of duel/exec/exec_allocator_test.cpp; here are the Python example and some of them.
#include <regex>

#include "base/testing.h"
#include "cli/testing.h"
#include "duel/exec/protocol.h"

namespace regduel::cli {
namespace {

class Exec : public Cli {
 protected:
  // Written in the shell's quotes: an argument.
  static std::string child(const std::string& behaviour, const std::string& behind = "") {
    return fmt::format("--with \"exec:'{} {}'{}\"", REGDUEL_TESTING_CHILD, behaviour, behind);
  }
  static std::string python(const std::string& options = "", const std::string& behind = "") {
    return fmt::format("--with \"exec:'python3 {}{}'{}\"", source("example/linear_scan.py"), options, behind);
  }
  static bool has_python() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }
  std::vector<std::string> files_in(const std::string& directory) const {
    std::vector<std::string> files;
    if (fs::exists(path(directory)))
      for (const auto& entry : fs::directory_iterator(path(directory))) files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
  }
  // The arguments in the head of a reproducer.
  static std::string replay_of(const std::string& file) {
    const std::string text = read_file(file).value_or("");
    const std::size_t at = text.find("\n// regduel ");
    return at == std::string::npos ? "" : text.substr(at + 12, text.find('\n', at + 1) - at - 12);
  }
};

TEST_F(Exec, WhatDoesNotStartIsOneLine) {
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  expect_complaint("duel a.rir --with exec:/no/such/allocator",
                   "--with exec:/no/such/allocator: it cannot be run: No such file or directory");
  expect_complaint("alloc a.rir --with exec:", "--with exec:: there is no command");
  expect_complaint("alloc a.rir " + child("exits-before-hello"),
                   "it ended with exit-5 before its hello; its standard error: no licence");
  expect_complaint("fuzz --runs 1 " + child("garbage-hello"), "expected a frame, found \"usage: ...\"");
  expect_complaint("duel a.rir --with \"exec:it's\"", "a quote in the command is not closed");
  expect_complaint("duel a.rir --exec-protocol carrier-pigeon", "carrier-pigeon");
  expect_complaint("duel a.rir --exec-timeout 0", "--exec-timeout");
}

TEST_F(Exec, WhatIsNotSupportedIsCounted) {
  const Outcome r = run("duel --random 20 " + child("unsupported", ",briggs"));
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("unsupported: 20 of 20 cases (100.0%) by testing-child\n"));
  EXPECT_THAT(r.out, HasSubstr("20  unsupported: nothing is\n"));
  const Outcome j = run("duel --json --random 20 " + child("unsupported", ",briggs"));
  const auto summary = nlohmann::json::parse(j.out)["summary"]["allocators"];
  EXPECT_EQ(summary[0]["unsupported"]["cases"], 20);
  EXPECT_EQ(summary[0]["impossible"], 0);
  EXPECT_EQ(summary[1]["pass"], 20);
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  const Outcome a = run("alloc a.rir " + child("unsupported"));
  EXPECT_EQ(a.status, 1);
  EXPECT_EQ(a.err, "a.rir: @generated: unsupported: nothing is\n");
  EXPECT_EQ(a.out, "");
}

TEST_F(Exec, AFindingIsPlayedAgainByItsHead) {
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  for (const std::string options : {"", "--exec-timeout 5 --exec-memory 512 ", "--exec-protocol files "}) {
    const Outcome r = run("duel a.rir --regs 32 " + options + child("exit 1,2"));
    EXPECT_EQ(r.status, 1) << r.err;
    EXPECT_THAT(r.out, HasSubstr("finding: harness/broken-crash-exit-3 in "));
    const auto found = files_in("findings");
    ASSERT_EQ(found.size(), 1u) << options;
    EXPECT_THAT(replay_of(found[0]), HasSubstr(options));
    const Outcome again = run(replay_of(found[0]) + " --findings again");
    EXPECT_EQ(again.status, 1) << replay_of(found[0]) << again.err;
    EXPECT_THAT(again.out, AllOf(HasSubstr("harness/broken-crash-exit-3"), HasSubstr(" 32 ")));
    fs::remove_all(path("findings"));
  }
}

TEST_F(Exec, KnobsAndFuelAreTold) {
  const Outcome listed = run("knobs " + child("tells-knobs"));
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("depth"), HasSubstr("How deep it looks")));
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  EXPECT_THAT(run("alloc a.rir --knob depth=7 --fuel 12 " + child("tells-knobs")).err,
              HasSubstr("unsupported: knob=depth=7;fuel=12;"));
  EXPECT_THAT(run("duel a.rir --knob depth=7 " + child("tells-knobs", ",briggs")).out,
              HasSubstr("unsupported: knob=depth=7;fuel=;"));
  expect_complaint("duel a.rir --knob width=7 " + child("tells-knobs", ",briggs"), "no allocator here has such a knob");
  EXPECT_THAT(run("duel a.rir --metamorphic " + child("unsupported")).out, HasSubstr("nothing is"));
}

TEST_F(Exec, ACampaignMeetsEachFault) {
  struct {
    const char *behaviour, *signature;
  } constexpr kCases[] = {{"crash", "harness/broken-crash-SIGSEGV"},
                          {"garbage", "harness/broken-garbage"},
                          {"wrong-word", "harness/broken-frame"},
                          {"no-rir", "harness/broken-text"},
                          {"hang", "harness/broken-hang"}};
  for (const auto& [behaviour, signature] : kCases) {
    const Outcome r =
        run(fmt::format("fuzz --runs 3 --mix --jobs 2 --reduce-budget 100 --exec-timeout 0.1 --json {}", child(behaviour)));
    EXPECT_EQ(r.status, 1) << r.err;
    const auto doc = nlohmann::json::parse(r.out);
    EXPECT_EQ(doc["findings"].size(), 1u) << behaviour << r.out;
    EXPECT_THAT(r.out, HasSubstr(signature)) << behaviour;
    EXPECT_EQ(doc["summary"]["allocators"][0]["fail"], 3);
  }
}

// An allocator that dies of a signal is a finding; one that dies while the whole campaign is ended is none.
TEST_F(Exec, WhatDiesWithTheCampaignIsNoFinding) {
  const std::string fuzz =
      "fuzz --time 60s --jobs 1 --mix --seed 4 --reduce-budget 1 --db {} --with \"exec:'" REGDUEL_TESTING_CHILD " terminated'\"";
  const auto stopped_after = [&](double seconds, const std::string& db) {
    const std::string command = fmt::format("cd '{}' && timeout --preserve-status -s TERM {} '{}' {} > out 2> err", dir_.string(),
                                            seconds, REGDUEL_PROGRAM, fmt::format(fmt::runtime(fuzz), db));
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  };
  EXPECT_EQ(stopped_after(0.7, "short.sqlite"), 0) << read_file(path("out")).value() << read_file(path("err")).value();
  EXPECT_THAT(read_file(path("out")).value(), AllOf(HasSubstr("0 findings (interrupted)"), Not(HasSubstr("not reduced"))));
  EXPECT_EQ(stopped_after(5, "long.sqlite"), 1) << read_file(path("err")).value();
  EXPECT_THAT(read_file(path("out")).value(), HasSubstr("harness/broken-crash-SIGTERM in testing-child"));
}

// SIGTERM to all of the group, as timeout, systemd and batch systems send it, is Ctrl-C.
TEST_F(Exec, SigtermToTheGroupInventsNothing) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  for (const char* signal : {"TERM", "HUP", "INT"}) {
    const std::string command =
        fmt::format("cd '{}' && timeout --preserve-status -s {} 2 '{}' fuzz --time 60s --jobs 2 --db t.sqlite {} > out 2> err",
                    dir_.string(), signal, REGDUEL_PROGRAM, python());
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << signal << read_file(path("err")).value();
    EXPECT_THAT(read_file(path("out")).value(), AllOf(HasSubstr("findings (interrupted)"), HasSubstr(", 0 findings, "))) << signal;
    EXPECT_THAT(read_file(path("err")).value(), Not(HasSubstr("SIGTERM")));
  }
}

// A second night tells what is new, and no more.
TEST_F(Exec, ASecondSessionTellsWhatIsNew) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  const std::string fuzz = "fuzz --runs 200 --seed 2 --jobs 1 --reduce-budget 2000 --db c.sqlite ";
  ASSERT_EQ(run(fuzz + python(" --bug early-clobber")).status, 1);
  const auto again = json(fuzz + "--json " + python(" --bug early-clobber"));
  EXPECT_EQ(again["earlier"]["sessions"], 1);
  EXPECT_GE(again["known_findings"].size(), 1u);
  for (const auto& f : again["known_findings"]) EXPECT_NE(f["message"], "");
  const Outcome other = run(fuzz + "--with briggs");
  EXPECT_EQ(other.status, 0) << other.out;
  EXPECT_THAT(other.err, AllOf(StartsWith("resumed: session 3, 400 programs, 0 findings, 0 cases not understood yet; "),
                               HasSubstr("not in this session, left alone"), Not(HasSubstr("finding: "))));
  EXPECT_THAT(other.out, HasSubstr("0 new findings in "));
}

// What a wrong allocator has answered is kept: beside the case, in the database, and on the page.
TEST_F(Exec, TheWrongAnswerIsKept) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  write("a.rir", R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0{early} = extract %1
    #1 exit
)");
  const Outcome r = run("duel a.rir --regs 1 --db r.sqlite --findings found " + python(" --bug early-clobber"));
  ASSERT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr(" in linear-scan-py (seen once)\n"), HasSubstr("r.sqlite: run 1\n")));
  std::string program, answer;
  for (const std::string& file : files_in("found")) {
    (file.ends_with(".after.rir") ? answer : program) = file;
    EXPECT_LE(fs::path(file).filename().string().size(), 100u);
  }
  ASSERT_NE(answer, "");
  EXPECT_EQ(answer, program.substr(0, program.size() - 4) + ".after.rir");
  EXPECT_EQ(run(fmt::format("verify '{}' '{}'", program, answer)).status, 1);
  const auto page = json("report r.sqlite --json");
  ASSERT_EQ(page["details"].size(), 1u);
  const auto& shown = page["details"][0]["allocations"][0];
  EXPECT_THAT(shown["allocator"].get<std::string>(), HasSubstr("linear_scan.py"));
  EXPECT_EQ(shown["verdict"], "fail");
  EXPECT_FALSE(shown["program"].is_null());

  // Of a campaign, whose cases are reduced; and in a copy of its database.
  ASSERT_EQ(run("fuzz --runs 200 --seed 2 --jobs 1 --reduce-budget 20000 --db c.sqlite " + python(" --bug early-clobber")).status,
            1);
  ASSERT_EQ(run("merge c.sqlite -o copy.sqlite").status, 0);
  const auto campaign = json("report copy.sqlite --json");
  ASSERT_FALSE(campaign["findings"].empty());
  const auto& finding = campaign["details"][campaign["findings"][0]["detail"].get<std::size_t>()]["allocations"][0];
  EXPECT_THAT(finding["allocator"].get<std::string>(), HasSubstr("linear_scan.py"));
  EXPECT_EQ(finding["verdict"], "fail");
  EXPECT_EQ(run("export copy.sqlite --findings out").status, 0);
  bool is_there = false;
  for (const std::string& file : files_in("out")) is_there = is_there || file.ends_with(".after.rir");
  EXPECT_TRUE(is_there);
}

// A file starts no program: what its head says has to be said again.
TEST_F(Exec, ReduceAndBisectSayWhatTheHeadSays) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  write("a.rir",
        "// regduel duel --with 'exec:python3 my/ls.py' --sm 90 a.rir\nrir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n"
        "    #0 exit\n");
  for (const char* command : {"reduce a.rir -o small.rir", "bisect a.rir"})
    expect_complaint(command,
                     "its head says --with 'exec:python3 my/ls.py', and a file may not start a program: give that on the command "
                     "line");
  write("b.rir", R"(// limit: R=1
rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0{early} = extract %1
    #1 exit
)");
  expect_complaint("bisect b.rir " + python(" --bug early-clobber"), "its hello has no \"fuel: yes\"");
}

TEST_F(Exec, TheProtocolIsAsItsPageSays) {
  const std::string page = read_file(source("docs/own-allocator.md")).value_or("");
  const auto payload = [&](const std::string& head) {
    const std::size_t at = page.find("\n" + head + " ");
    duel::Frame frame;
    if (at == std::string::npos || duel::look_at_frame(std::string_view(page).substr(at + 1), frame) != duel::FrameState::Complete)
      return "no frame " + head;
    const std::string_view next = std::string_view(page).substr(at + 1 + frame.size);
    return next.starts_with("```\n") || next.starts_with("unsupported 1 ") ? std::string(frame.payload)
                                                                           : "another length of " + head;
  };
  EXPECT_TRUE(duel::parse_hello(payload("hello 1")).has_value()) << payload("hello 1");
  write("before.rir", payload("allocate 1"));
  write("after.rir", payload("allocated 1"));
  const Outcome r = run("verify --regs 2 before.rir after.rir");
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_EQ(payload("impossible 1"), "#2 needs three registers, there are two\n");
  EXPECT_EQ(payload("unsupported 1"), "calls\n");
}

TEST_F(Exec, ThePythonExampleIsRight) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  const Outcome r = run("duel --random 30 --seed 5 --json --jobs 2 " + python("", ",briggs"));
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  const auto mine = nlohmann::json::parse(r.out)["summary"]["allocators"][0];
  EXPECT_GE(mine["pass"].get<int>(), 25);
  EXPECT_GE(mine["spilling"].get<int>(), 10);
  ASSERT_EQ(run("gen --seed 4 --profile pressure -o a.rir").status, 0);
  const Outcome a = run("alloc a.rir --regs 16 -o b.rir " + python());
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(run("verify --regs 16 a.rir b.rir").status, 0);
  const Outcome all = run("alloc a.rir --regs 255 --knob spill-all=1 " + python());
  EXPECT_THAT(all.out, HasSubstr(" = refill slot ")) << all.err;
}

TEST_F(Exec, ACampaignFindsABugInPythonAndReducesIt) {
  if (!has_python()) GTEST_SKIP() << "there is no python3";
  const Outcome r =
      run("fuzz --runs 400 --stop-after 1 --seed 2 --jobs 1 --reduce-budget 20000 --json " + python(" --bug early-clobber"));
  EXPECT_EQ(r.status, 1) << r.err;
  const auto findings = nlohmann::json::parse(r.out)["findings"];
  ASSERT_GE(findings.size(), 1u) << r.out;
  EXPECT_LE(findings[0]["instructions"].get<int>(), 12) << r.out;
  const auto found = files_in("findings");
  ASSERT_GE(found.size(), 1u);
  EXPECT_EQ(run(replay_of(found.back())).status, 1) << replay_of(found.back());  // before it stands the answer, NAME.after.rir
}

}  // namespace
}  // namespace regduel::cli
