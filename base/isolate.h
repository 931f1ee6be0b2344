// Runs a function in a child process, so that a crash or a hang of the function does not end this process. Tested by
// isolate_test.cpp.
//
// The child is a fork and no program of its own (Boost.Process), because the function refers to objects of this process, such as
// allocators.
#pragma once

#include <functional>
#include <string>

namespace regduel {

inline constexpr int kSleep = 30;  // work that takes so many times its seconds by the clock counts as hung, too

struct Isolated {
  enum class End { Returned, Crashed, Hung };
  End end = End::Returned;
  std::string how;     // of a crash: "SIGSEGV", "exit-1"
  std::string result;  // of the work, if it returned
};

// Cost: a fork of this process. The output of the work is dropped.
//   seconds   processor time, at least 1; work that takes longer counts as hung, as does work that sleeps kSleep times as long
[[nodiscard]] Isolated isolated(const std::function<std::string()>& work, int seconds);

// The end of a process by its wait status: "SIGSEGV" or "exit-1".
[[nodiscard]] std::string how_it_ended(int wait_status);

}  // namespace regduel
