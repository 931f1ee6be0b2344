// This program in a process of its own, with other arguments: planted bugs are switched on for a whole process, and kill it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace regduel::cli {

// Runs it, tells each line of its standard output, with its end, and returns its wait status. It is killed after so many seconds.
//   arguments   as a shell reads them
// Throws BadInput where no process can be started. May be called by several threads at once.
//
// Why a shell and timeout(1): Boost.Process 1.74 waits with a time limit by replacing the SIGCHLD handler of the whole process,
// which several threads cannot do at once; without a limit it does what popen() does.
int run_again(const std::string& arguments, int seconds, const std::function<void(std::string_view line)>& take);

}  // namespace regduel::cli
