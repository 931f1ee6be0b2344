// See cli_args.h.
#include "cli/cli_args.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "cli/command.h"

namespace regduel::cli {

std::optional<std::string> try_cli_args(std::span<const std::uint8_t> bytes) {
  std::vector<std::string> arguments = {"regduel"};
  for (auto at = bytes.begin(); at != bytes.end();) {
    const auto end = std::find(at, bytes.end(), std::uint8_t{'\n'});
    // An argument of a process ends at the first zero byte.
    arguments.emplace_back(at, std::find(at, end, std::uint8_t{0}));
    at = end == bytes.end() ? end : end + 1;
  }
  std::vector<const char*> argv;
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  try {
    static_cast<void>(is_command_line(static_cast<int>(argv.size()), argv.data()));
  } catch (const std::exception& e) {
    return std::string("the command line ends in an exception: ") + e.what();
  }
  return std::nullopt;
}

}  // namespace regduel::cli
