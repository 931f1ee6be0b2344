#include "duel/ptxas/ptxas.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/io.h"
#include "base/isolate.h"

namespace regduel::duel {
namespace {

bool is_program(const std::string& path) {
  return !path.empty() && ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
}

// The text between two others, "" where they are not there.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t from = line.find(before);
  if (from == std::string_view::npos) return {};
  const std::size_t begin = from + before.size(), end = line.find(after, begin);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin);
}

template <class T>
T number_in(std::string_view text, T otherwise) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && !text.empty() ? value : otherwise;
}

PtxasFigures& figures_named(std::vector<PtxasFigures>& all, std::string_view function) {
  for (PtxasFigures& f : all)
    if (f.function == function) return f;
  all.emplace_back().function = std::string(function);
  return all.back();
}

// In the child, which another thread's lock may have come along to: nothing is allocated here. Does not return.
[[noreturn]] void execute(char* const* arguments, const char* output, rlim_t seconds) {
  // The signal at the first limit says that it was the time; the one at the second cannot be ignored.
  const rlimit limit{seconds, seconds + 5};
  ::setrlimit(RLIMIT_CPU, &limit);
  const int file = ::open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

// The first line that is more than news; else the first. A file of its own in a folder of its own has no name worth saying.
std::string complaint_in(std::string_view text) {
  std::string first;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, newline - at);
    if (first.empty()) first = line;
    if (line.find("error ") != std::string_view::npos || line.find("fatal ") != std::string_view::npos) return std::string(line);
    at = newline + 1;
  }
  return first;
}

}  // namespace

std::string ptxas_program() {
  if (const char* const named = std::getenv("PTXAS"); named != nullptr) return is_program(named) ? named : "";
  if (const char* const path = std::getenv("PATH"); path != nullptr) {
    const std::string_view folders = path;
    for (std::size_t at = 0; at <= folders.size();) {
      const std::size_t colon = std::min(folders.find(':', at), folders.size());
      if (std::string candidate = std::string(folders.substr(at, colon - at)) + "/ptxas"; is_program(candidate)) return candidate;
      at = colon + 1;
    }
  }
  const std::string usual = "/usr/local/cuda/bin/ptxas";
  return is_program(usual) ? usual : "";
}

std::vector<PtxasFigures> figures_of_ptxas(std::string_view output) {
  std::vector<PtxasFigures> all;
  std::string kernel, function;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t newline = std::min(output.find('\n', at), output.size());
    const std::string line(output.substr(at, newline - at));
    at = newline + 1;
    if (const auto name = between(line, "Compiling entry function '", "'"); !name.empty()) {
      kernel = std::string(name);
    } else if (line.find("Function properties for ") != std::string::npos) {
      function = line.substr(line.find("Function properties for ") + 24);
    } else if (line.find(" bytes stack frame, ") != std::string::npos && !function.empty()) {
      PtxasFigures& f = figures_named(all, function);
      f.stack_bytes = number_in<std::int64_t>(line.substr(line.find_first_not_of(' ')), 0);
      f.store_bytes = number_in<std::int64_t>(between(line, "stack frame, ", " bytes spill stores"), 0);
      f.load_bytes = number_in<std::int64_t>(between(line, "spill stores, ", " bytes spill loads"), 0);
    } else if (const auto registers = between(line, "Used ", " registers"); !registers.empty() && !kernel.empty()) {
      figures_named(all, kernel).registers = number_in(registers, -1);
    } else if (const auto time = between(line, "Compile time = ", " ms"); !time.empty() && !kernel.empty()) {
      figures_named(all, kernel).milliseconds = number_in(time, -1.0);
    }
  }
  return all;
}

PtxasRun run_ptxas(const std::string& program, const std::string& file, const std::string& target, const PtxasOptions& options) {
  PtxasRun run;
  char folder[] = "/tmp/regduel-ptxas-XXXXXX";
  if (::mkdtemp(folder) == nullptr) return run.error = "no temporary directory", run;
  const std::string output = std::string(folder) + "/output";
  std::vector<std::string> words = {
      program, "-v", "-arch=" + target, fmt::format("-O{}", options.level), "-o", std::string(folder) + "/cubin", file};
  if (options.limit > 0) words.push_back(fmt::format("--maxrregcount={}", options.limit));
  if (!options.is_whole) words.emplace_back("--compile-only");
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) execute(arguments.data(), output.c_str(), static_cast<rlim_t>(options.seconds));
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) run.error = "could not be started";
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string text = read_file(output).value_or("");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!run.error.empty()) return run;
  if (status != 0) {
    if (WIFSIGNALED(status)) run.signal = how_it_ended(status);
    run.error = complaint_in(text);
    if (run.error.empty()) run.error = how_it_ended(status);
    return run;
  }
  run.functions = figures_of_ptxas(text);
  return run;
}

}  // namespace regduel::duel
