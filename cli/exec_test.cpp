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
  EXPECT_THAT(r.out, HasSubstr("unsupported: 20 of 20 cases (100.0%) by exec:"));
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
    EXPECT_THAT(r.out, HasSubstr("finding: harness/broken-crash-exit-3 in exec:"));
    const auto found = files_in("findings");
    ASSERT_EQ(found.size(), 1u) << options;
    EXPECT_THAT(replay_of(found[0]), HasSubstr(options));
    const Outcome again = run(replay_of(found[0]) + " --save again");
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
  EXPECT_EQ(run(replay_of(found[0])).status, 1) << replay_of(found[0]);
}

}  // namespace
}  // namespace regduel::cli
