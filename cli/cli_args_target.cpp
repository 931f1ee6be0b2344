// The fuzz target cli_args: the lines of the input are arguments. Whatever they are, the program ends in good order; nothing is run.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Help and complaints go nowhere: they would be most of the time.
  static_cast<void>(std::freopen("/dev/null", "w", stdout));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments = {"regduel"};
  const std::uint8_t* const end = data + size;
  while (data < end) {
    const std::uint8_t* const line = std::find(data, end, std::uint8_t{'\n'});
    arguments.emplace_back(data, line);
    data = line == end ? end : line + 1;
    // An argument of a process ends at the first zero byte.
    arguments.back() = arguments.back().c_str();
  }
  std::vector<const char*> argv;
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  static_cast<void>(regduel::cli::is_command_line(static_cast<int>(argv.size()), argv.data()));
  return 0;
}
