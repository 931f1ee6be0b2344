#include "llvm/compile/compile.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/io.h"
#include "duel/exec/process.h"
#include "duel/exec/words.h"

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& p) { return ::access(p.c_str(), X_OK) == 0 && !fs::is_directory(p); }

std::string in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (const fs::path p = fs::path(rest.substr(0, end)) / name; is_program(p)) return p.string();
    rest.erase(0, end + 1);
  }
  return "";
}

// A directory of our own, removed with all that is in it.
class WorkDirectory {
 public:
  WorkDirectory() {
    std::string name = (fs::temp_directory_path() / "regduel-llvm-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& w : words) line += (line.empty() ? "" : " ") + duel::shell_word(w);
  return line;
}

std::string first_error(const std::string& words) {
  std::string line;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('\n', at), words.size());
    const std::string l = words.substr(at, end - at);
    if (line.empty() || (l.find("rror") != std::string::npos && line.find("rror") == std::string::npos)) line = l;
    at = end + 1;
  }
  return line;
}

std::optional<CompileFailure> run(const std::vector<std::string>& words, int seconds) {
  duel::Process process(words, 0);
  std::string output;
  const auto end = duel::Process::Clock::now() + std::chrono::seconds(seconds);
  const auto outcome = process.exchange("", output, [](std::string_view) { return false; }, 1 << 24, end);
  const duel::Process::End how = process.end(outcome == duel::Process::Outcome::Closed ? 5 : 0);
  if (!how.is_started) return CompileFailure{CompileError::Failed, how.how, joined(words)};
  if (outcome == duel::Process::Outcome::Late)
    return CompileFailure{CompileError::Hung, fmt::format("no end after {} s", seconds), joined(words)};
  if (how.how == "exit-0") return std::nullopt;
  const CompileError kind = how.how == "exit-1" ? CompileError::Failed : CompileError::Crashed;
  return CompileFailure{kind, fmt::format("{}: {}", how.how, first_error(how.last_words)), joined(words)};
}

bool is_amdgpu(const std::string& triple) { return triple.starts_with("amdgcn"); }

std::vector<std::string> clang_words(const Tools& tools, const std::string& file, const std::string& level, const CompileOptions& o,
                                     const std::string& output) {
  std::vector<std::string> words = {tools.clang, "-O" + level, "-S", "-emit-llvm", "-w", "-o", output};
  if (!o.triple.empty()) words.push_back("--target=" + o.triple);
  if (!o.cpu.empty())
    words.push_back((is_amdgpu(o.triple)                               ? "-mcpu="
                     : o.triple.empty() || o.triple.starts_with("x86") ? "-march="
                                                                       : "-mcpu=") +
                    o.cpu);
  if (is_amdgpu(o.triple)) words.insert(words.end(), {"-nogpulib", "-Xclang", "-finclude-default-header", "-cl-std=CL2.0"});
  words.insert(words.end(), o.clang_arguments.begin(), o.clang_arguments.end());
  words.push_back(file);
  return words;
}

// The triple that an IR file names; "" where it names none.
std::string triple_of(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return "";
  const std::size_t at = text->find("target triple = \"");
  return at == std::string::npos ? "" : text->substr(at + 17, text->find('"', at + 17) - at - 17);
}

std::expected<Compiled, CompileFailure> read_dump(const std::string& file, Compiled compiled) {
  auto json = read_file(file);
  if (!json) return std::unexpected(CompileFailure{CompileError::BadForm, json.error(), compiled.command});
  compiled.json = std::move(*json);
  auto dumps = read_dump_file(compiled.json, "dump.json");
  if (!dumps) return std::unexpected(CompileFailure{CompileError::BadForm, to_string(dumps.error()), compiled.command});
  compiled.file = std::move(*dumps);
  return compiled;
}

}  // namespace

Tools find_tools(const std::string& llvm_dir) {
  Tools tools;
  std::error_code ignored;
  if (const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "regduel-llc"; is_program(beside))
    tools.regduel_llc = beside.string();
  else tools.regduel_llc = in_path("regduel-llc");
  for (const char* name : {"clang-19", "clang"}) {
    if (!llvm_dir.empty() && is_program(fs::path(llvm_dir) / "bin" / name))
      tools.clang = (fs::path(llvm_dir) / "bin" / name).string();
    if (tools.clang.empty()) tools.clang = in_path(name);
  }
  return tools;
}

std::vector<std::string> llc_words(const Tools& tools, const std::string& triple, const std::string& allocator,
                                   const std::string& level, const CompileOptions& o) {
  std::vector<std::string> words = {tools.regduel_llc, "-O" + level};
  if (!o.cpu.empty()) words.push_back("-mcpu=" + o.cpu);
  if (!o.features.empty()) words.push_back("-mattr=" + o.features);
  if (is_amdgpu(triple)) words.insert(words.end(), {"-sgpr-regalloc=" + allocator, "-vgpr-regalloc=" + allocator});
  else words.push_back("-regalloc=" + allocator);
  if (allocator == "fast" && level != "0") words.push_back("-optimize-regalloc=false");
  if (allocator != "fast" && level == "0") words.push_back("-optimize-regalloc=true");
  if (o.stress > 0) words.push_back(fmt::format("-stress-regalloc={}", o.stress));
  words.insert(words.end(), o.llc_arguments.begin(), o.llc_arguments.end());
  return words;
}

std::expected<Compiled, CompileFailure> compile(const Tools& tools, const std::string& file, const std::string& allocator,
                                                const CompileOptions& options) {
  const WorkDirectory work;
  const std::string level = !options.level.empty() ? options.level : allocator == "fast" ? "0" : "2";
  std::string input = file;
  if (!file.ends_with(".ll") && !file.ends_with(".bc") && !file.ends_with(".mir")) {
    if (tools.clang.empty()) return std::unexpected(CompileFailure{CompileError::NotSupported, "no clang", ""});
    input = work.file("input.ll");
    if (auto failure = run(clang_words(tools, file, level, options, input), options.seconds)) return std::unexpected(*failure);
  }
  const std::string triple = options.triple.empty() ? triple_of(input) : options.triple;
  if (is_amdgpu(triple) && allocator == "pbqp")
    return std::unexpected(CompileFailure{CompileError::NotSupported, "AMDGPU has no pbqp", ""});
  std::vector<std::string> words = llc_words(tools, triple, allocator, level, options);
  if (!options.triple.empty() && !input.ends_with(".mir")) words.push_back("-mtriple=" + options.triple);
  words.push_back(input);
  Compiled compiled;
  compiled.command = joined(words);
  std::vector<std::string> dumping = words;
  dumping.insert(dumping.end(), {"-dump", work.file("dump.json")});
  if (options.compare_code) dumping.insert(dumping.end(), {"-o", work.file("with.s")});
  if (auto failure = run(dumping, options.seconds)) return std::unexpected(*failure);
  if (options.compare_code) {
    words.insert(words.end(), {"-o", work.file("without.s")});
    if (auto failure = run(words, options.seconds)) return std::unexpected(*failure);
    if (read_file(work.file("with.s")) != read_file(work.file("without.s")))
      return std::unexpected(CompileFailure{CompileError::OtherCode, "other code with the dump than without", compiled.command});
  }
  return read_dump(work.file("dump.json"), std::move(compiled));
}

std::expected<Compiled, CompileFailure> read_pair(const Tools& tools, const std::string& before, const std::string& after,
                                                  const CompileOptions& options) {
  const WorkDirectory work;
  std::vector<std::string> words = {tools.regduel_llc, "-before", before};
  if (!options.cpu.empty()) words.push_back("-mcpu=" + options.cpu);
  if (!options.features.empty()) words.push_back("-mattr=" + options.features);
  words.insert(words.end(), options.llc_arguments.begin(), options.llc_arguments.end());
  words.push_back(after);
  Compiled compiled;
  compiled.command = joined(words);
  words.insert(words.end(), {"-dump", work.file("dump.json")});
  if (auto failure = run(words, options.seconds)) return std::unexpected(*failure);
  return read_dump(work.file("dump.json"), std::move(compiled));
}

}  // namespace regduel::llvm
