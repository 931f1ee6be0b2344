// See worker_process.h. Tested by campaign_test.cpp: workers that crash, hang, and are killed.
#include "fuzz/campaign/worker_process.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "base/check_macro.h"

namespace regduel::fuzz {

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

std::int64_t nanoseconds_of(clockid_t clock) {
  timespec now = {};
  return ::clock_gettime(clock, &now) == 0 ? now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec : 0;
}

}  // namespace

void CurrentInput::begin(std::uint64_t number, const std::vector<std::uint8_t>& bytes) {
  size = bytes.size() <= kCapacity ? static_cast<std::uint32_t>(bytes.size()) : 0;
  std::memcpy(input, bytes.data(), size);
  index = number;
  processor_since = nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  since = steady_nanoseconds();
}

WorkerProcess::WorkerProcess() {
  void* const memory = ::mmap(nullptr, sizeof(CurrentInput), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REGDUEL_CHECK(memory != MAP_FAILED, "no memory to share with a worker");
  current_ = new (memory) CurrentInput;
}

WorkerProcess::~WorkerProcess() {
  end();
  ::munmap(current_, sizeof(CurrentInput));
}

void WorkerProcess::start(const std::function<int(Channel&, CurrentInput&)>& work) {
  auto [mine, its] = make_channel();
  current_->since = 0;
  current_->size = 0;
  const pid_t coordinator = ::getpid();
  pid_ = ::fork();
  REGDUEL_CHECK(pid_ >= 0, fmt::format("no process for a worker: {}", std::strerror(errno)));
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != coordinator) ::_exit(0);
    static_cast<void>(!::nice(3));  // the coordinator goes first: what it writes late could be lost
    mine = Channel();
    // timeout, systemd and Ctrl-C signal the whole group: the coordinator ends it, by the channel or by its own death.
    for (const int asked : {SIGINT, SIGTERM, SIGHUP}) std::signal(asked, SIG_IGN);
    ::_exit(work(its, *current_));
  }
  channel_ = std::move(mine);
}

double WorkerProcess::processor_seconds() const {
  clockid_t clock = 0;
  if (::clock_getcpuclockid(pid_, &clock) != 0) return 0;
  return static_cast<double>(nanoseconds_of(clock) - current_->processor_since) * 1e-9;
}

void WorkerProcess::kill() { ::kill(pid_, SIGKILL); }

int WorkerProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  channel_ = Channel();
  return status;
}

void WorkerProcess::end() {
  if (pid_ < 0) return;
  kill();
  wait();
}

}  // namespace regduel::fuzz
