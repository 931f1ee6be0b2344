// A piece of work in a process of its own: what crashes or hangs there takes nothing with it. Tested by isolate_test.cpp.
//
// Why fork and not a library for processes (Boost.Process starts programs): the work is a function with all that it refers to,
// among it allocators that only this process has.
#pragma once

#include <functional>
#include <string>

namespace regduel {

inline constexpr int kSleep = 30;  // what takes so many times its time without the processor hangs as well

struct Isolated {
  enum class End { Returned, Crashed, Hung };
  End end = End::Returned;
  std::string how;     // where it crashed: "SIGSEGV", "exit-1"
  std::string result;  // of the work, where it returned
};

// Cost: a fork of this process. What the work prints is dropped.
//   seconds   of the processor, in whole seconds, at least 1: work that takes more has hung (so has work that sleeps thirty times
//   as long)
[[nodiscard]] Isolated isolated(const std::function<std::string()>& work, int seconds);

// "SIGSEGV" or "exit-1": the name of how a process ended, from its wait status.
[[nodiscard]] std::string how_it_ended(int wait_status);

}  // namespace regduel
