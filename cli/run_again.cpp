#include "cli/run_again.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "duel/exec/process.h"

namespace regduel::cli {
namespace {

using duel::Process;
using Outcome = Process::Outcome;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;     // of its output
constexpr std::chrono::milliseconds kBetweenQuestions{200};  // whether there was an interrupt
constexpr double kGrace = 10;                                // seconds to end after the last word

}  // namespace

std::string run_again(const std::vector<std::string>& arguments, int seconds, const Interrupt& interrupt,
                      const std::function<void(std::string_view line)>& take) {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Process process(words, 0);
  const auto end = Process::Clock::now() + std::chrono::seconds(seconds);
  std::string said;
  for (Outcome outcome = Outcome::Complete; outcome != Outcome::Closed && outcome != Outcome::TooMuch;) {
    const auto now = Process::Clock::now();
    if (now >= end || interrupt.is_asked_for()) return process.end(0).how;
    const auto has_line = [](std::string_view text) { return text.contains('\n'); };
    outcome = process.exchange("", said, has_line, kMostBytes, std::min(end, now + kBetweenQuestions));
    std::size_t taken = 0;
    for (std::size_t next = 0; (next = said.find('\n', taken)) != std::string::npos; taken = next + 1)
      take(std::string_view(said).substr(taken, next + 1 - taken));
    said.erase(0, taken);
  }
  return process.end(kGrace).how;
}

}  // namespace regduel::cli
