// This program in a process of its own, with other arguments: planted bugs are switched on for a whole process, and kill it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"

namespace regduel::cli {

// Runs it, and tells each whole line of its standard output, with its end. It is killed, with all that it has started, after so
// many seconds, at an interrupt, and where this process ends. Returns how it ended: "exit-0", "SIGSEGV", "SIGKILL" where it was
// killed. Throws InternalError where no process can be started. May be called by several threads at once.
std::string run_again(const std::vector<std::string>& arguments, int seconds, const Interrupt& interrupt,
                      const std::function<void(std::string_view line)>& take);

}  // namespace regduel::cli
