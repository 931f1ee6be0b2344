// Children that are in order, and children that are not (testing_child.cpp): what each is called, what is left of it.
#include "duel/exec/exec_allocator.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/isolate.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "duel/exec/process.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kProgram = R"(rir 1
func @f kernel target sm_90 threads 32
  block b0
    #0 bar !convergent
    #1 exit
)";

std::string name_of(const std::string& arguments) { return fmt::format("exec:'{}' {}", REGDUEL_TESTING_CHILD, arguments); }

Case input() {
  const ir::Target* target = ir::find_target("sm_90");
  return {target, ir::Limits::of(*target), {}, ir::parse(kProgram)->functions[0]};
}

using Answer = std::expected<ir::Allocation, ir::AllocFailure>;

Answer ask(const ExecAllocator& allocator, const Case& i = input(), ir::Fuel* fuel = nullptr) {
  ir::AllocOptions options;
  options.limits = i.limits;
  options.knobs = i.knobs;
  options.fuel = fuel;
  return allocator.allocate(i.program, *i.target, options);
}

// "Broken hang: no answer within ..."; "allocated" for a program.
std::string told(const Answer& answer) {
  if (answer) return "allocated";
  constexpr const char* kKinds[] = {"Impossible", "BadKnob", "Unsupported", "Broken"};
  const ir::AllocFailure& f = answer.error();
  return fmt::format("{} {}: {}", kKinds[static_cast<int>(f.kind)], f.category, f.message);
}

// What one that behaves so says to one program. It is limited to a second.
std::string answer_of(const std::string& behaviour, ExecOptions options = {.timeout = 1}) {
  ExecAllocator allocator(name_of(behaviour), options);
  const auto started = allocator.start();
  return started ? told(ask(allocator)) : "not started: " + started.error();
}

// The processes that run the testing child, supervisors not counted, among the descendants of this one and those that lost theirs.
std::vector<std::string> children_left(const std::string& behaviour) {
  std::vector<std::string> left;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string command = read_file(entry.path().string() + "/cmdline").value_or("");
    if (command.starts_with(REGDUEL_TESTING_CHILD) && command.find('\0' + behaviour) != std::string::npos)
      left.push_back(entry.path().filename().string());
  }
  return left;
}
// A look at /proc may miss a process that is between fork and exec, so that three looks in a row have to find none.
bool are_gone(const std::string& behaviour) {
  int looks_that_found_none = 0;
  for (int k = 0; k < 100 && looks_that_found_none < 3; ++k) {
    looks_that_found_none = children_left(behaviour).empty() ? looks_that_found_none + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return looks_that_found_none == 3;
}

TEST(ExecAllocator, AnswersWithAProgram) {
  ExecAllocator allocator(name_of("plain"), {});
  ASSERT_TRUE(allocator.start().has_value());
  EXPECT_EQ(allocator.hello().name, "testing-child");
  for (int k = 0; k < 3; ++k) {
    const Answer answer = ask(allocator);
    ASSERT_TRUE(answer.has_value()) << told(answer);
    EXPECT_EQ(answer->program.insts.size(), 2u);
    EXPECT_FALSE(answer->has_claims);
  }
}

TEST(ExecAllocator, MayRefuseAndMayFail) {
  EXPECT_EQ(answer_of("unsupported"), "Unsupported : nothing is");
  EXPECT_EQ(answer_of("impossible"), "Impossible : it does not fit");
}

TEST(ExecAllocator, EachFaultHasItsName) {
  EXPECT_EQ(answer_of("crash"),
            "Broken crash-SIGSEGV: it ended with SIGSEGV instead of answering; its standard error: about to | crash");
  EXPECT_THAT(answer_of("exit"), StartsWith("Broken crash-exit-3: "));
  EXPECT_THAT(answer_of("exit-0"), StartsWith("Broken crash-exit-0: "));
  EXPECT_THAT(answer_of("half-and-exit"),
              StartsWith("Broken crash-exit-0: it ended with exit-0 instead of answering (it began with"));
  EXPECT_EQ(answer_of("hang"), "Broken hang: no answer within 1 seconds");
  EXPECT_EQ(answer_of("spin"), "Broken hang: no answer within 1 seconds");
  EXPECT_THAT(answer_of("stops"), StartsWith("Broken hang: "));
  EXPECT_THAT(answer_of("half"), StartsWith("Broken hang: no answer within 1 seconds (it began with \"allocated 1 100 | rir 1\")"));
  EXPECT_THAT(answer_of("closed"),
              StartsWith("Broken closed: it closed its standard output instead of answering (it began with \"allo\")"));
  EXPECT_THAT(answer_of("too-large"), StartsWith("Broken flood: "));
  EXPECT_THAT(answer_of("flood"), StartsWith("Broken flood: "));
  EXPECT_EQ(answer_of("garbage"), "Broken garbage: expected a frame, found \"Hello world!\"");
  EXPECT_EQ(answer_of("binary"), "Broken garbage: expected a frame, found \"\\x00\\xFF\\x80 | \\x1B[2J\"");
  EXPECT_EQ(answer_of("wrong-number"), "Broken frame: asked to allocate 1, it answers \"allocated 2\"");
  EXPECT_EQ(answer_of("wrong-word"), "Broken frame: asked to allocate 1, it answers \"done 1\"");
  EXPECT_THAT(answer_of("twice"), StartsWith("Broken unasked: it says \"hello 1 1 | x\" without being asked"));
  EXPECT_EQ(answer_of("no-program"), "Broken program: expected one function, found 0");
  EXPECT_EQ(answer_of("not-allocated"), "Broken program: the func line of its answer does not say \"allocated\"");
  EXPECT_THAT(answer_of("no-rir"), StartsWith("Broken text: answer:1:"));
  EXPECT_THAT(answer_of("kills-group"), StartsWith("Broken crash-SIGKILL: "));
  EXPECT_THAT(answer_of("kills-parent"), StartsWith("Broken c")) << "it is killed with its supervisor";
  EXPECT_THAT(answer_of("overspends"), "allocated") << "nobody asked about fuel";
}

TEST(ExecAllocator, WordsAfterTheAnswerAreSeenWithTheNextProgram) {
  ExecAllocator allocator(name_of("late-words"), {});
  ASSERT_TRUE(allocator.start().has_value());
  EXPECT_EQ(told(ask(allocator)), "Unsupported : one");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(told(ask(allocator)), "Broken unasked: it says \"two\" without being asked");
  EXPECT_EQ(told(ask(allocator)), "Unsupported : one") << "another child";
}

TEST(ExecAllocator, OneThatDoesNotListenEndsNothingOfOurs) {
  ExecAllocator allocator(name_of("closes-stdin"), {.timeout = 1});
  ASSERT_TRUE(allocator.start().has_value());
  EXPECT_EQ(told(ask(allocator)), "Unsupported : deaf");
  EXPECT_THAT(told(ask(allocator)), StartsWith("Broken ")) << "and no SIGPIPE";
}

TEST(ExecAllocator, TheLastWordsAreKept) {
  const std::string answer = answer_of("floods-stderr", {.timeout = 20});
  EXPECT_THAT(answer, StartsWith("Broken crash-SIGABRT: "));
  EXPECT_TRUE(answer.ends_with("e9 | the end")) << answer.substr(answer.size() - 40);
  EXPECT_LT(answer.size(), Process::kLastWords + 200);
}

TEST(ExecAllocator, MemoryIsLimited) {
  EXPECT_THAT(answer_of("memory", {.timeout = 20, .memory_mib = 256}),
              StartsWith("Broken crash-exit-4: it ended with exit-4 instead of answering; its standard error: no memory"));
}

TEST(ExecAllocator, IsStartedAgain) {
  ExecAllocator allocator(name_of("every-second-crashes"), {});
  ASSERT_TRUE(allocator.start().has_value());
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(told(ask(allocator)), "Unsupported : for once");
    EXPECT_THAT(told(ask(allocator)), StartsWith("Broken crash-SIGABRT: "));
  }
}

TEST(ExecAllocator, WhatCannotBeStartedAgainSaysSo) {
  const std::string once = (fs::temp_directory_path() / fmt::format("regduel_once_{}", ::getpid())).string();
  ExecAllocator allocator(name_of("second-hello-fails '" + once + "'"), {});
  ASSERT_TRUE(allocator.start().has_value());
  EXPECT_THAT(told(ask(allocator)), StartsWith("Broken crash-SIGSEGV: "));
  EXPECT_EQ(told(ask(allocator)), "Broken hello: it ended with exit-6 before its hello");
  fs::remove(once);
}

TEST(ExecAllocator, WhatIsNoAllocatorIsNotStarted) {
  EXPECT_EQ(answer_of("exits-before-hello"), "not started: it ended with exit-5 before its hello; its standard error: no licence");
  EXPECT_EQ(answer_of("garbage-hello"), "not started: expected a frame, found \"usage: ...\"");
  EXPECT_EQ(answer_of("other-version"), "not started: it speaks version 2 of the protocol, and this is version 1");
  EXPECT_EQ(answer_of("nameless-hello"), "not started: no name: in its hello");
  EXPECT_THAT(answer_of("bad-knob-hello"), StartsWith("not started: \"knob: x\" in its hello: expected "));
  const auto start = [](const char* name) { return ExecAllocator(name, {}).start().error(); };
  EXPECT_EQ(start("exec:/no/such/program"), "it cannot be run: No such file or directory");
  EXPECT_EQ(start("exec:/etc/passwd"), "it cannot be run: Permission denied");
  EXPECT_EQ(start("exec:"), "there is no command");
  EXPECT_EQ(start("exec:it's"), "a quote in the command is not closed");
  EXPECT_EQ(ExecAllocator("exec:/no/such", {.is_files = true}).start().error(), "it cannot be run: No such command");
}

TEST(ExecAllocator, NothingOutlivesIt) {
  for (const char* behaviour : {"ignores-end", "daemon", "ignores-signals", "stops"}) {
    static_cast<void>(answer_of(behaviour, {.timeout = 0.3}));
    EXPECT_TRUE(are_gone(behaviour)) << behaviour;
  }
}

TEST(ExecAllocator, NothingOutlivesUs) {
  // A process that uses one and is killed, as a worker of a campaign may be; one that ends without a word.
  for (const bool is_killed : {true, false}) {
    const std::string behaviour = is_killed ? "ignores-signals" : "daemon";
    const pid_t user = ::fork();
    if (user == 0) {
      ExecAllocator allocator(name_of(behaviour), {.timeout = 100});
      if (allocator.start()) static_cast<void>(told(ask(allocator)));
      ::_exit(0);
    }
    if (is_killed) {
      for (int k = 0; k < 100 && children_left(behaviour).empty(); ++k) ::usleep(20'000);
      EXPECT_FALSE(children_left(behaviour).empty());
      ::kill(user, SIGKILL);
    }
    ::waitpid(user, nullptr, 0);
    EXPECT_TRUE(are_gone(behaviour)) << behaviour;
  }
}

TEST(ExecAllocator, AForkAndAThreadHaveChildrenOfTheirOwn) {
  ExecAllocator allocator(name_of("plain"), {});
  ASSERT_TRUE(allocator.start().has_value());
  EXPECT_EQ(told(ask(allocator)), "allocated");
  EXPECT_EQ(isolated([&] { return told(ask(allocator)); }, 10).result, "allocated");
  std::string of_thread;
  std::thread([&] { of_thread = told(ask(allocator)); }).join();
  EXPECT_EQ(of_thread, "allocated");
  EXPECT_EQ(told(ask(allocator)), "allocated") << "what the others did has not reached ours";
}

TEST(ExecAllocator, KnobsAndFuelArePassedOn) {
  ExecAllocator allocator(name_of("tells-knobs"), {});
  ASSERT_TRUE(allocator.start().has_value());
  ASSERT_EQ(allocator.knobs().size(), 1u);
  EXPECT_THAT(allocator.knobs()[0].samples, ElementsAre("1", "2", "7"));
  Case i = input();
  i.knobs = {{"depth", "7"}};
  ir::Fuel fuel{.limit = 5};
  EXPECT_EQ(told(ask(allocator, i, &fuel)), "Unsupported : knob=depth=7;fuel=5;");
  EXPECT_EQ(told(ask(allocator)), "Unsupported : knob=;fuel=;");
  i.knobs = {{"width", "1"}};
  EXPECT_THAT(told(ask(allocator, i)), StartsWith("BadKnob"));
}

TEST(ExecAllocator, SpendsNoMoreThanItsFuel) {
  ExecAllocator overspends(name_of("overspends"), {});
  ASSERT_TRUE(overspends.start().has_value());
  ir::Fuel fuel{.limit = 5};
  EXPECT_EQ(told(ask(overspends, input(), &fuel)), "Broken fuel: of 5 decisions it may take it says to have taken 1000000");
}

TEST(ExecAllocator, AFileIsAnAnswerToo) {
  const auto files = [](const char* behaviour) { return answer_of(behaviour, {.timeout = 1, .is_files = true}); };
  EXPECT_EQ(files("plain"), "allocated");
  EXPECT_EQ(files("impossible"), "Impossible : it does not fit");
  EXPECT_EQ(files("unsupported"), "Unsupported : nothing is");
  EXPECT_THAT(files("exit"), StartsWith("Broken crash-exit-3: "));
  EXPECT_EQ(files("no-output"), "Broken crash-exit-0: it ended without an output file");
  EXPECT_EQ(files("fifo"), "Broken crash-exit-0: it ended without an output file");
  EXPECT_EQ(files("link"), "Broken crash-exit-0: it ended without an output file");
  EXPECT_EQ(files("hang"), "Broken hang: no end within 1 seconds");
  EXPECT_THAT(files("as-it-is"), StartsWith("Broken program: "));
}

TEST(ExecAllocator, TakesPartInADuel) {
  const Case i = input();
  const auto bout_of = [&](const std::string& name) {
    EXPECT_TRUE(enter_external(name, {.timeout = 1}).has_value());
    const std::array one = {find_allocator(name)};
    EXPECT_NE(one[0], nullptr);
    return duel::duel(i, {.duelists = one}).bouts.at(0);
  };
  const Bout plain = bout_of(name_of("plain"));
  EXPECT_EQ(plain.verdict(), oracles::Verdict::Pass);
  EXPECT_TRUE(plain.findings().empty());
  EXPECT_EQ(bout_of("copyprop+" + name_of("plain")).verdict(), oracles::Verdict::Pass);
  const Bout refused = bout_of(name_of("unsupported"));
  EXPECT_EQ(refused.verdict(), oracles::Verdict::Skipped);
  EXPECT_EQ(refused.unsupported, "nothing is");
  EXPECT_EQ(refused.reason(), "unsupported: nothing is");
  EXPECT_THAT(bout_of(name_of("hang")).signatures(), ElementsAre("harness/broken-hang"));
  EXPECT_THAT(bout_of(name_of("crash")).signatures(), ElementsAre("harness/broken-crash-SIGSEGV"));
  EXPECT_THAT(bout_of(name_of("impossible")).signatures(), ElementsAre(StartsWith("completeness/")));
  EXPECT_EQ(bout_of(name_of("other-program")).verdict(), oracles::Verdict::Fail);
  EXPECT_EQ(bout_of("copyprop+" + name_of("other-program")).verdict(), oracles::Verdict::Fail);
  EXPECT_EQ(find_allocator(name_of("never-entered")), nullptr) << "a name alone starts no program";
}

}  // namespace
}  // namespace regduel::duel
