// See isolate.h.
#include "base/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/check_macro.h"

namespace regduel {
namespace {

[[noreturn]] void work_and_end(const std::function<std::string()>& work, int out, int seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core = {0, 0}, processor = {static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &processor);
  if (const int null = ::open("/dev/null", O_RDWR); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGXCPU})
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);  // as this process ignores it
  const std::string result = work();
  for (std::size_t at = 0; at < result.size();) {
    const ssize_t n = ::write(out, result.data() + at, result.size() - at);
    if (n <= 0) ::_exit(1);
    at += static_cast<std::size_t>(n);
  }
  ::_exit(0);
}

}  // namespace

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit-{}", WEXITSTATUS(status));
  const char* const name = ::sigabbrev_np(WTERMSIG(status));
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal-{}", WTERMSIG(status));
}

Isolated isolated(const std::function<std::string()>& work, int seconds) {
  std::array<int, 2> pipe = {};
  REGDUEL_CHECK(::pipe2(pipe.data(), O_CLOEXEC) == 0, fmt::format("no pipe: {}", std::strerror(errno)));
  const pid_t child = ::fork();
  REGDUEL_CHECK(child >= 0, fmt::format("no process: {}", std::strerror(errno)));
  if (child == 0) work_and_end(work, pipe[1], seconds);
  ::close(pipe[1]);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds * kSleep);
  Isolated result;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd p = {pipe[0], POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&p, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.end = Isolated::End::Hung;
      ::kill(child, SIGKILL);
      break;
    }
    std::array<char, 4096> buffer{};
    const ssize_t n = ::read(pipe[0], buffer.data(), buffer.size());
    if (n <= 0) break;
    result.result.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (result.end == Isolated::End::Hung) return result;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    result.end = Isolated::End::Hung;
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    result.end = Isolated::End::Crashed;
    result.how = how_it_ended(status);
    result.result.clear();
  }
  return result;
}

}  // namespace regduel
