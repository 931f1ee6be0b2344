#include "base/isolate.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace regduel {
namespace {

TEST(Isolate, BringsTheResultBack) {
  const std::string large(300'000, 'x');
  const Isolated r = isolated([&] { return large; }, 60);
  EXPECT_EQ(r.end, Isolated::End::Returned);
  EXPECT_EQ(r.result, large);
}

TEST(Isolate, ACrashIsNamedAndStaysThere) {
  const Isolated aborted = isolated(
      []() -> std::string {
        ::raise(SIGKILL);
        return "no";
      },
      60);
  EXPECT_EQ(aborted.end, Isolated::End::Crashed);
  EXPECT_EQ(aborted.how, "SIGKILL");
  const Isolated ended = isolated([]() -> std::string { ::_exit(7); }, 60);
  EXPECT_EQ(ended.end, Isolated::End::Crashed);
  EXPECT_EQ(ended.how, "exit-7");
}

TEST(Isolate, AHangIsEnded) {
  const Isolated r = isolated(
      []() -> std::string {
        std::atomic<int> k = 0;
        for (;;) ++k;
      },
      1);
  EXPECT_EQ(r.end, Isolated::End::Hung);
}

}  // namespace
}  // namespace regduel
