// See process.h.
#include "duel/exec/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/isolate.h"

namespace regduel::duel {
namespace {

constexpr int kAboveStandard = 10;  // numbers of descriptors that dup2() to 0, 1, 2 does not meet
constexpr std::size_t kReadAtOnce = 65536;
constexpr int kReadsAtOnce = 16;  // of a child that says more than we can listen to

// A message through the status pipe.
struct Report {
  enum class What : int { NotStarted, Ended };
  What what;
  int value;  // errno, a wait status
};

void tell(int fd, Report report) { static_cast<void>(!::write(fd, &report, sizeof report)); }

// -- in the supervisor and in the child: after the fork of a process with threads, only system calls -----------------------------

struct Start {
  char* const* argv;
  rlim_t memory_bytes;  // 0 = no limit
  int in, out, err, status;
  pid_t parent;
};

[[noreturn]] void run_command(const Start& s, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(0);
  const rlimit no_core = {0, 0}, memory = {s.memory_bytes, s.memory_bytes};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (s.memory_bytes > 0) ::setrlimit(RLIMIT_AS, &memory);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(s.in, STDIN_FILENO);
  ::dup2(s.out, STDOUT_FILENO);
  ::dup2(s.err, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execvp(s.argv[0], s.argv);
  tell(s.status, {Report::What::NotStarted, errno});
  ::_exit(127);
}

// Sends SIGKILL to each child of this process. False where they cannot be listed.
bool kill_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  std::array<char, 4096> buffer;
  pid_t pid = 0;
  for (ssize_t n = 0; (n = ::read(list, buffer.data(), buffer.size())) > 0;)
    for (ssize_t k = 0; k < n; ++k) {
      const char c = buffer[static_cast<std::size_t>(k)];
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
      } else {
        if (pid > 0) ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  ::close(list);
  return true;
}

// Orphans of the child become children of the supervisor (a subreaper), so that in the end there is none that it does not see.
// Returns the wait status of `child` where it had not been waited for yet.
std::optional<int> end_everything(pid_t child) {
  std::optional<int> status;
  for (bool is_over = false; !is_over;) {
    ::kill(-child, SIGKILL);
    const bool can_see = kill_children();
    if (!can_see) ::kill(child, SIGKILL);
    int ended = 0;
    const pid_t pid = ::waitpid(-1, &ended, can_see || !status ? 0 : WNOHANG);
    if (pid == child) status = ended;
    is_over = (pid < 0 && errno == ECHILD) || pid == 0;
  }
  return status;
}

[[noreturn]] void supervise(Start s) {
  ::setsid();  // Ctrl-C is for us
  ::prctl(PR_SET_NAME, "regduel-guard");
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != s.parent) ::_exit(0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGCHLD, SIG_DFL);
  for (int* fd : {&s.in, &s.out, &s.err, &s.status}) *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, kAboveStandard);
  const pid_t self = ::getpid(), child = ::fork();
  if (child == 0) run_command(s, self);
  // The parent's descriptors are closed: a pipe that stayed open here would not end for its reader before this process does.
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  constexpr int kStatus = STDERR_FILENO + 1;
  ::dup2(s.status, kStatus);
  ::close_range(kStatus + 1, ~0u, 0);
  if (child < 0) {
    tell(kStatus, {Report::What::NotStarted, errno});
    ::_exit(0);
  }
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  ::sigaddset(&wanted, SIGTERM);
  std::optional<int> status;
  while (!status && ::sigwaitinfo(&wanted, nullptr) != SIGTERM) {
    int ended = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &ended, WNOHANG)) > 0;)
      if (pid == child) status = ended;
  }
  const std::optional<int> killed = end_everything(child);
  tell(kStatus, {Report::What::Ended, status ? *status : killed.value_or(SIGKILL)});
  ::_exit(0);
}

// -- in this process -------------------------------------------------------------------------------------------------------------

struct Pipe {
  int read = -1, write = -1;
};
Pipe make_pipe() {
  std::array<int, 2> fds = {};
  REGDUEL_CHECK(::pipe2(fds.data(), O_CLOEXEC) == 0, fmt::format("no pipe: {}", std::strerror(errno)));
  return {fds[0], fds[1]};
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

int milliseconds_to(Process::Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Process::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT32_MAX));
}

Process::Clock::time_point in_seconds(double seconds) {
  return Process::Clock::now() + std::chrono::duration_cast<Process::Clock::duration>(std::chrono::duration<double>(seconds));
}

// While it lives, writing to a pipe without a reader returns an error in this thread instead of raising SIGPIPE.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~PipeSignalBlocked() {
    const timespec at_once = {};
    if (::sigismember(&old_, SIGPIPE) == 0)
      while (::sigtimedwait(&pipe_, nullptr, &at_once) >= 0) {
      }
    ::pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_, old_;
};

}  // namespace

Process::Process(const std::vector<std::string>& words, std::uint64_t memory_bytes) : maker_(::getpid()) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe(), status = make_pipe();
  sigset_t all, old;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);  // the supervisor begins with all signals blocked, and keeps them so
  supervisor_ = ::fork();
  const int error = errno;
  if (supervisor_ == 0) supervise({argv.data(), memory_bytes, in.read, out.write, err.write, status.write, maker_});
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  for (int* theirs : {&in.read, &out.write, &err.write, &status.write}) close_fd(*theirs);
  in_ = in.write;
  out_ = out.read;
  err_ = err.read;
  status_ = status.read;
  for (const int fd : {in_, out_, err_}) set_nonblocking(fd);
  if (supervisor_ < 0) {
    for (int* fd : {&in_, &out_, &err_, &status_}) close_fd(*fd);
    REGDUEL_CHECK(false, fmt::format("no process: {}", std::strerror(error)));
  }
}

Process::~Process() {
  if (is_ours()) end(kGrace);
  for (int* fd : {&in_, &out_, &err_, &status_}) close_fd(*fd);
}

bool Process::is_ours() const { return ::getpid() == maker_; }

// Reads what is there, or a good part of it; at the end of it the descriptor is closed.
void Process::listen_to_errors() {
  std::array<char, kReadAtOnce> buffer;
  for (int k = 0; k < kReadsAtOnce && err_ >= 0; ++k) {
    const ssize_t n = ::read(err_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return close_fd(err_);
    last_words_.append(buffer.data(), static_cast<std::size_t>(n));
    if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
  }
}

Process::Outcome Process::exchange(std::string_view input, std::string& output,
                                   const std::function<bool(std::string_view)>& is_complete, std::size_t most,
                                   Clock::time_point end) {
  const PipeSignalBlocked blocked;
  std::array<char, kReadAtOnce> buffer;
  for (;;) {
    if (input.empty() && is_complete(output)) return Outcome::Complete;
    if (output.size() > most) return Outcome::TooMuch;
    const int left = milliseconds_to(end);
    if (left == 0) return Outcome::Late;
    std::array<pollfd, 3> fds = {{{input.empty() ? -1 : in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), left) < 0) continue;
    if (fds[2].revents != 0) listen_to_errors();
    if (fds[0].revents != 0) {
      const ssize_t n = ::write(in_, input.data(), input.size());
      if (n >= 0) input.remove_prefix(static_cast<std::size_t>(n));
      else if (errno != EINTR && errno != EAGAIN) input = {};  // it does not want to hear more: perhaps it has something to say
    }
    if (fds[1].revents != 0) {
      const ssize_t n = ::read(out_, buffer.data(), buffer.size());
      if (n > 0) output.append(buffer.data(), static_cast<std::size_t>(n));
      else if (n == 0) return Outcome::Closed;
      else if (errno != EINTR && errno != EAGAIN) return Outcome::Closed;
    }
  }
}

void Process::take_rest(std::string& output, std::size_t most) {
  std::array<char, kReadAtOnce> buffer;
  while (output.size() <= most) {
    const ssize_t n = ::read(out_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    output.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Process::End Process::end(double grace) {
  End result;
  if (supervisor_ < 0) return result;
  close_fd(in_);
  close_fd(out_);
  const Clock::time_point until = in_seconds(grace);
  const auto take_report = [&] {  // false where there is none any more
    Report report = {};
    const ssize_t n = ::read(status_, &report, sizeof report);
    if (n < 0 && errno == EINTR) return true;
    if (n != sizeof report) return false;
    if (report.what == Report::What::NotStarted) {
      result.is_started = false;
      result.how = std::strerror(report.value);
    } else if (result.is_started) {
      result.how = how_it_ended(report.value);
    }
    return true;
  };
  for (;;) {
    std::array<pollfd, 2> fds = {{{status_, POLLIN, 0}, {err_, POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), milliseconds_to(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    if (fds[1].revents != 0) listen_to_errors();
    result.is_by_itself = fds[0].revents != 0;
    if (result.is_by_itself || milliseconds_to(until) == 0) break;
  }
  if (!result.is_by_itself) ::kill(supervisor_, SIGTERM);
  while (take_report()) {
  }
  while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  supervisor_ = -1;
  if (result.how.empty()) result.how = "SIGKILL";  // the supervisor was killed, and the child with it
  listen_to_errors();
  result.last_words = last_words_;
  return result;
}

}  // namespace regduel::duel
