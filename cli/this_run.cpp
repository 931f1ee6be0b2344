#include "cli/this_run.h"

#include <thread>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "cli/command.h"

namespace regduel::cli {

results::RunInfo this_run() {
  utsname names{};
  const bool is_known = uname(&names) == 0;
  return {std::string(program_version()), std::string(command_line()),
          is_known
              ? fmt::format("{} {} {}, {} cores", names.sysname, names.release, names.machine, std::thread::hardware_concurrency())
              : "unknown"};
}

}  // namespace regduel::cli
