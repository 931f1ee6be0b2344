#include "cli/run_again.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/bad_input.h"

namespace regduel::cli {

int run_again(const std::string& arguments, int seconds, const std::function<void(std::string_view line)>& take) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::FILE* pipe = ::popen(fmt::format("timeout -s KILL {} '{}' {}", seconds, self, arguments).c_str(), "r");
  if (pipe == nullptr) throw BadInput("error: no process could be started");
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = ::getline(&line, &capacity, pipe)) > 0;) take({line, static_cast<std::size_t>(n)});
  std::free(line);
  return ::pclose(pipe);
}

}  // namespace regduel::cli
