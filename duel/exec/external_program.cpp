// See external_program.h.
#include "duel/exec/external_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/io.h"
#include "duel/exec/process.h"

namespace regduel::duel {

std::unexpected<ir::AllocFailure> broken(std::string category, std::string message) {
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Broken, std::move(message), std::move(category)});
}

namespace {

using ir::AllocFailure;
using Clock = Process::Clock;

constexpr double kEndSeconds = 1;        // to end in, once it has closed its standard output
constexpr std::size_t kShownBytes = 80;  // of what is no frame

thread_local double longest_timeout = std::numeric_limits<double>::infinity();

Clock::time_point in_seconds(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e6)));
}

std::string with_last_words(std::string message, const Process::End& end) {
  const std::string words = one_line(end.last_words, Process::kLastWords);
  return words.empty() ? message : fmt::format("{}; its standard error: {}", message, words);
}

// The failure that `word` stands for, other than a program.
std::expected<std::string, AllocFailure> answered(std::string_view word, std::string_view payload) {
  if (word == "allocated") return std::string(payload);
  const auto kind = word == "impossible" ? AllocFailure::Kind::Impossible : AllocFailure::Kind::Unsupported;
  payload.remove_prefix(std::min(payload.find_first_not_of(" \n"), payload.size()));
  constexpr std::size_t kMost = ExternalProgram::kMostMessage;
  const std::string message = one_line(payload.substr(0, kMost), kMost);
  return std::unexpected(AllocFailure{kind, message.empty() ? std::string(word) : message, ""});
}
bool is_answer(std::string_view word) { return word == "allocated" || word == "impossible" || word == "unsupported"; }

// A directory of its own for the files of one run.
class Files {
 public:
  Files() : directory_((std::filesystem::temp_directory_path() / "regduel-XXXXXX").string()) {
    REGDUEL_CHECK(::mkdtemp(directory_.data()) != nullptr, fmt::format("{}: no directory for files", directory_));
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  [[nodiscard]] std::string input() const { return directory_ + "/in.rir"; }
  [[nodiscard]] std::string output() const { return directory_ + "/out.rir"; }

 private:
  std::string directory_;
};

}  // namespace

// A running child that has said hello.
class ExternalProgram::Child {
 public:
  explicit Child(const ExternalProgram& of) : process_(of.words_, of.options_.memory_mib << 20) {}

  [[nodiscard]] bool is_ours() const { return process_.is_ours(); }

  std::expected<Hello, AllocFailure> hear_hello(double seconds) {
    Frame frame;
    if (auto failure = exchange("", frame, seconds, "before its hello")) return std::unexpected(std::move(*failure));
    if (frame.word != "hello") return give_up("hello", fmt::format("it begins with \"{}\" instead of hello", frame.word));
    if (frame.number != kProtocolVersion)
      return give_up("hello",
                     fmt::format("it speaks version {} of the protocol, and this is version {}", frame.number, kProtocolVersion));
    auto hello = parse_hello(frame.payload);
    if (!hello) return give_up("hello", hello.error());
    if (frame.size < said_.size()) return give_up("unasked", unasked(said_.substr(frame.size)));
    return std::move(*hello);
  }

  // The payload of the answer, where that is a program; `word` is what the answer is.
  std::expected<std::string, AllocFailure> ask(const std::string& request, double seconds, std::string& word) {
    said_.clear();
    process_.take_rest(said_, kLargestFrame);
    if (!said_.empty()) return give_up("unasked", unasked(said_));
    Frame frame;
    ++number_;
    if (auto failure = exchange(frame_text("allocate", number_, request), frame, seconds, "instead of answering"))
      return std::unexpected(std::move(*failure));
    if (!is_answer(frame.word) || frame.number != number_)
      return give_up("frame", fmt::format("asked to allocate {}, it answers \"{} {}\"", number_, frame.word, frame.number));
    if (frame.size < said_.size()) return give_up("unasked", unasked(said_.substr(frame.size)));
    word = frame.word;
    return answered(frame.word, frame.payload);
  }

 private:
  // Until a frame is there; `frame` refers to said_.
  std::optional<AllocFailure> exchange(std::string_view request, Frame& frame, double seconds, std::string_view when) {
    said_.clear();
    FrameState state = FrameState::Begun;
    const auto is_complete = [&](std::string_view said) {
      state = look_at_frame(said, frame);
      return state != FrameState::Begun;
    };
    const auto outcome = process_.exchange(request, said_, is_complete, 2 * kLargestFrame, in_seconds(seconds));
    if (state == FrameState::Begun) static_cast<void>(is_complete(said_));
    if (state == FrameState::Garbage)
      return give_up("garbage", fmt::format("expected a frame, found \"{}\"", shown(said_))).error();
    if (state == FrameState::TooLarge || outcome == Process::Outcome::TooMuch)
      return give_up("flood", fmt::format("an answer of more than {} bytes", kLargestFrame)).error();
    if (outcome == Process::Outcome::Late)
      return give_up("hang", fmt::format("no answer within {} seconds{}", seconds, begun())).error();
    if (outcome != Process::Outcome::Closed) return std::nullopt;
    const Process::End end = process_.end(kEndSeconds);
    if (!end.is_started) return broken("hello", fmt::format("it cannot be run: {}", end.how)).error();
    if (!end.is_by_itself)
      return broken("closed", with_last_words(fmt::format("it closed its standard output {}{}, and ran on", when, begun()), end))
          .error();
    return broken("crash-" + end.how, with_last_words(fmt::format("it ended with {} {}{}", end.how, when, begun()), end)).error();
  }

  std::unexpected<AllocFailure> give_up(std::string category, std::string message) {
    return broken(std::move(category), with_last_words(std::move(message), process_.end(0)));
  }
  static std::string shown(std::string_view said) { return one_line(said.substr(0, kShownBytes), kShownBytes); }
  static std::string unasked(std::string_view said) { return fmt::format("it says \"{}\" without being asked", shown(said)); }
  [[nodiscard]] std::string begun() const { return said_.empty() ? "" : fmt::format(" (it began with \"{}\")", shown(said_)); }

  Process process_;
  std::string said_;
  std::uint64_t number_ = 0;
};

// The children of a thread. They end with the thread.
struct ExternalProgram::Children {
  std::map<std::uint64_t, std::unique_ptr<Child>> by_program;

  Children() { living = this; }
  ~Children() { living = nullptr; }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // Those of this thread where there are any; null again when the thread has ended them, before its programs' own end perhaps.
  static thread_local Children* living;
  static Children& of_this_thread() {
    static thread_local Children children;
    return children;
  }
};

thread_local ExternalProgram::Children* ExternalProgram::Children::living = nullptr;

ExternalProgram::ExternalProgram(std::vector<std::string> words, const ExecOptions& options)
    : words_(std::move(words)), options_(options) {
  static std::atomic<std::uint64_t> made = 0;
  id_ = ++made;
}

ExternalProgram::~ExternalProgram() {
  if (Children::living != nullptr) Children::living->by_program.erase(id_);
}

std::expected<Hello, std::string> ExternalProgram::start() {
  if (options_.is_files) {
    Process process({"/bin/sh", "-c", "command -v -- \"$0\" >/dev/null", words_[0]}, 0);
    std::string nothing;
    static_cast<void>(
        process.exchange("", nothing, [](std::string_view) { return false; }, kLargestFrame, in_seconds(kHelloSeconds)));
    if (process.end(kEndSeconds).how != "exit-0") return std::unexpected("it cannot be run: No such command");
    return Hello{};
  }
  auto child = std::make_unique<Child>(*this);
  auto hello = child->hear_hello(std::max(kHelloSeconds, options_.timeout));
  if (!hello) return std::unexpected(hello.error().message);
  Children::of_this_thread().by_program[id_] = std::move(child);
  return std::move(*hello);
}

std::expected<std::string, AllocFailure> ExternalProgram::ask(const std::string& request, std::string& word) const {
  return options_.is_files ? run_on_files(request, word) : ask_child(request, word);
}

std::expected<std::string, AllocFailure> ExternalProgram::ask_child(const std::string& request, std::string& word) const {
  std::unique_ptr<Child>& child = Children::of_this_thread().by_program[id_];
  if (child && !child->is_ours()) child.reset();  // of the process that this one is a fork of
  if (!child) {
    child = std::make_unique<Child>(*this);
    if (auto hello = child->hear_hello(std::max(kHelloSeconds, options_.timeout)); !hello) {
      child.reset();
      return broken("hello", hello.error().message);
    }
  }
  auto answer = child->ask(request, std::min(options_.timeout, longest_timeout), word);
  if (!answer && answer.error().kind == AllocFailure::Kind::Broken) child.reset();
  return answer;
}

std::expected<std::string, AllocFailure> ExternalProgram::run_on_files(const std::string& request, std::string& word) const {
  const Files files;
  if (const auto written = write_file(files.input(), request); !written) return broken("files", written.error());
  std::vector<std::string> words = words_;
  words.insert(words.end(), {files.input(), files.output()});
  const double seconds = std::min(options_.timeout, longest_timeout);
  const Clock::time_point until = in_seconds(seconds);
  Process process(words, options_.memory_mib << 20);
  std::string said;
  const auto never = [](std::string_view) { return false; };
  const Process::Outcome outcome = process.exchange("", said, never, kLargestFrame, until);
  const double left = std::chrono::duration<double>(until - Clock::now()).count();
  const Process::End end = process.end(outcome == Process::Outcome::Closed ? std::max(left, 0.0) : 0.0);
  if (!end.is_started) return broken("hello", fmt::format("it cannot be run: {}", end.how));
  if (outcome == Process::Outcome::TooMuch)
    return broken("flood", with_last_words(fmt::format("more than {} bytes on its standard output", kLargestFrame), end));
  if (!end.is_by_itself) return broken("hang", with_last_words(fmt::format("no end within {} seconds", seconds), end));
  if (end.how != "exit-0") return broken("crash-" + end.how, with_last_words(fmt::format("it ended with {}", end.how), end));
  struct stat status = {};
  if (::lstat(files.output().c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return broken("crash-exit-0", with_last_words("it ended without an output file", end));
  if (static_cast<std::size_t>(status.st_size) > kLargestFrame)
    return broken("flood", fmt::format("an output file of {} bytes", status.st_size));
  const auto text = read_file(files.output());
  if (!text) return broken("files", text.error());
  word = text->substr(0, text->find_first_of(" \n"));
  if (!is_answer(word)) word = "allocated";
  return word == "allocated" ? answered(word, *text) : answered(word, std::string_view(*text).substr(word.size()));
}

ShortTimeout::ShortTimeout(double seconds) : before_(longest_timeout) { longest_timeout = std::min(longest_timeout, seconds); }
ShortTimeout::~ShortTimeout() { longest_timeout = before_; }

}  // namespace regduel::duel
