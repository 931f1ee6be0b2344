// An external program as a child of this process: what it says is read within limits of time, bytes and memory, and
// nothing that it started outlives it, or us.
//
// Between us and the child stands a supervisor, a fork of this process that does nothing but wait. It ends the child, and whatever
// the child has started, in sessions of their own too, when we say so, when the child ends, and when we die, however that comes
// about. Tested by exec_allocator_test.cpp.
//
// Why not Boost.Process 1.74: it waits with a time limit by replacing the SIGCHLD handler of the whole process, which several
// threads cannot do at once, and it has no end for grandchildren.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::duel {

class Process {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kLastWords = 4096;  // bytes of its standard error that are kept

  // Starts it. Not to be handed on to another thread or process: it ends with the thread that has made it.
  //   words          the command, looked for in PATH; not empty
  //   memory_bytes   of address space; 0 = no limit
  // Cost: two forks of this process. Throws InternalError where there is no process or pipe to be had.
  Process(const std::vector<std::string>& words, std::uint64_t memory_bytes);
  // Closes its standard input, leaves it kGrace to end by itself, then ends it. In a fork of the process that made it: only forgets
  // it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Whether this process, not one that it is a fork of, has started it.
  [[nodiscard]] bool is_ours() const;

  enum class Outcome {
    Complete,  // as is_complete says, and all input is written
    Closed,    // its standard output is closed: it has ended, as a rule
    Late,      // the time is up
    TooMuch,   // it has said more than `most` bytes
  };
  // Writes `input` to it, and adds what it says to `output`, until that is complete.
  [[nodiscard]] Outcome exchange(std::string_view input, std::string& output,
                                 const std::function<bool(std::string_view)>& is_complete, std::size_t most, Clock::time_point end);
  // Adds to `output` all that the child has said unasked, without waiting.
  void take_rest(std::string& output, std::size_t most);

  struct End {
    bool is_started = true;     // else `how` says why it could not be: "No such file or directory"
    bool is_by_itself = false;  // it had ended, or did within the time that it was given
    std::string how;            // "exit-1", "SIGSEGV"
    std::string last_words;     // the last bytes of its standard error
  };
  // Ends it.
  //   grace   to end by itself, seconds
  End end(double grace);

 private:
  static constexpr double kGrace = 0.5;

  void listen_to_errors();

  pid_t maker_ = -1, supervisor_ = -1;
  int in_ = -1, out_ = -1, err_ = -1, status_ = -1;
  std::string last_words_;
};

}  // namespace regduel::duel
