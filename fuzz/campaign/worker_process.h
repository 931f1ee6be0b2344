// A worker of a campaign as the coordinator sees it: a process, a channel to it, and memory that both see.
//
// Why fork and not a library for processes (Boost.Process starts programs): a worker goes on with a copy of what the coordinator
// knows, the corpus above all, and with allocators that only this process has (Entered); it begins without reading anything.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "fuzz/campaign/channel.h"

namespace regduel::fuzz {

// The input that a worker is trying. The worker writes it down before it tries the program, so that the coordinator knows the input that
// crashed or hung the worker.
struct CurrentInput {
  static constexpr std::size_t kCapacity = std::size_t{4} << 20;
  std::atomic<std::int64_t> since;            // steady_nanoseconds() when it was begun; 0 = none is tried
  std::atomic<std::int64_t> processor_since;  // nanoseconds of the processor that the worker had had by then
  std::atomic<std::uint64_t> index;           // the number of the program
  std::uint32_t size;                         // of the input; 0 = too large to be kept
  std::uint8_t input[kCapacity];

  void begin(std::uint64_t number, const std::vector<std::uint8_t>& bytes);
  void end() { since = 0; }
};

class WorkerProcess {
 public:
  WorkerProcess();
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts the process; the one before has been waited for. The result of `work` is its exit status. The process dies with the coordinator.
  void start(const std::function<int(Channel&, CurrentInput&)>& work);
  // Sends a signal that cannot be ignored; wait() follows.
  void kill();
  // Waits for its end, and closes the channel. Returns the wait status.
  int wait();
  // Kills the process and waits for its end, where it runs.
  void end();

  // Seconds of the processor that the worker has had since it began the current input.   Requires that it has not been waited for.
  [[nodiscard]] double processor_seconds() const;

  [[nodiscard]] Channel& channel() { return channel_; }
  [[nodiscard]] const CurrentInput& current() const { return *current_; }

 private:
  pid_t pid_ = -1;
  Channel channel_;
  CurrentInput* current_;  // shared memory
};

[[nodiscard]] std::int64_t steady_nanoseconds();

}  // namespace regduel::fuzz
