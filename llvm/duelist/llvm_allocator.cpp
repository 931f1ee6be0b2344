#include "llvm/duelist/llvm_allocator.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "duel/exec/words.h"
#include "llvm/judge/own_run.h"
#include "llvm/judge/width.h"
#include "llvm/mapping/map_pair.h"
#include "llvm/random/mir_program.h"

namespace regduel::llvm {
namespace {

using ir::AllocFailure;

constexpr std::string_view kStress = "stress-regalloc";

// The passes after which a run is judged: the last that came.
const std::vector<std::string> kPasses = {"virtregrewriter", "stack-slot-coloring", "machine-cp"};

CompileOptions compile_options(const Machine& m, const std::string& allocator) {
  CompileOptions c{.cpu = std::string(m.cpu), .features = std::string(m.features)};
  if (allocator == "fast") {
    c.llc_arguments.emplace_back("-start-before=regallocfast,0");
    c.llc_arguments.push_back(fmt::format("-stop-after=regallocfast,{}", m.runs_twice ? 1 : 0));
  } else {
    c.llc_arguments.emplace_back("-start-after=twoaddressinstruction");
    c.llc_arguments.emplace_back("-stop-after=machine-cp");
  }
  c.llc_arguments.emplace_back("-verify");
  return c;
}

// "Using an undefined physical register" as a piece of a category: lower case and hyphens, without numbers.
std::string slug(std::string_view words) {
  constexpr std::size_t kMost = 60;
  std::string out;
  for (const char c : words.substr(0, words.find(" in function"))) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (low >= 'a' && low <= 'z') out += low;
    else if (!out.empty() && out.back() != '-') out += '-';
    if (out.size() >= kMost) break;
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

// The text behind `mark` up to `end`; "" where there is none.
std::string_view behind(std::string_view text, std::string_view mark, std::string_view end) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find(end));
}

std::string comment(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("# {}\n", text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& w : words) quoted.push_back(duel::shell_word(w));
  return fmt::format("{}", fmt::join(quoted, " "));
}

}  // namespace

LlvmAllocator::LlvmAllocator(std::string name, std::string allocator, const Machine& machine, std::vector<std::string> words,
                             const duel::ExecOptions& options)
    : name_(std::move(name)), allocator_(std::move(allocator)), machine_(machine), words_(std::move(words)) {
  std::vector<std::string> serving = words_;
  serving.emplace_back("-serve");
  duel::ExecOptions pipe = options;
  pipe.is_files = false;
  program_ = std::make_unique<duel::ExternalProgram>(std::move(serving), pipe);
}

std::expected<void, std::string> LlvmAllocator::start() {
  auto hello = program_->start();
  if (!hello) return std::unexpected(hello.error());
  hello_ = std::move(*hello);
  return {};
}

std::expected<ir::Allocation, AllocFailure> LlvmAllocator::allocate(const ir::Function& program, const ir::Target& /*target*/,
                                                                    const ir::AllocOptions& options) const {
  std::string request;
  bool is_stressed = false;
  for (const auto& [knob, value] : options.knobs) {
    if (std::ranges::none_of(hello_.knobs, [&](const ir::KnobInfo& k) { return k.name == knob; }))
      return std::unexpected(AllocFailure{AllocFailure::Kind::BadKnob, fmt::format("{} has no knob {}", name_, knob)});
    request += fmt::format("{}={}\n", knob, value);
    is_stressed = is_stressed || (knob == kStress && value != "0");
  }
  const MirFunction function = mir_function(program, machine_);
  request += "\n" + mir_file(std::span(&function, 1), machine_);
  std::string word;
  const auto json = program_->ask(request, word);
  if (!json) return std::unexpected(in_llvms_words(json.error(), is_stressed));
  return read_answer(*json);
}

std::expected<ir::Allocation, AllocFailure> LlvmAllocator::read_answer(const std::string& json) const {
  auto file = read_dump_file(json, "answer");
  if (!file) return std::unexpected(AllocFailure{AllocFailure::Kind::Broken, to_string(file.error()), "text"});
  const auto tables = std::make_shared<const Tables>(std::move(file->tables));
  ir::Allocation allocation;
  allocation.has_claims = false;
  const std::vector<DumpPair> pairs = pair_dumps(*file, kPasses);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k + 1 < pairs.size() && pairs[k + 1].before == pairs[k].before) continue;  // there is a later pass
    auto mapped = map_pair(*tables, *pairs[k].before, *pairs[k].after);
    if (!mapped)
      return std::unexpected(AllocFailure{AllocFailure::Kind::Unsupported,
                                          fmt::format("the mapping: {}: {}", mapped.error().kind, mapped.error().message)});
    const auto pair = std::make_shared<const RirPair>(std::move(*mapped));
    if (const auto narrow = judge_width(*tables, pair->cut_before, pair->cut_after); !narrow.empty())
      return std::unexpected(AllocFailure{AllocFailure::Kind::Broken, narrow[0].message + ": " + narrow[0].after, "width"});
    auto run = own_run(pair, tables);
    if (!run) return std::unexpected(AllocFailure{AllocFailure::Kind::Broken, run.error().message, "mapping"});
    allocation.runs.push_back(std::move(*run));
  }
  if (allocation.runs.empty()) return std::unexpected(AllocFailure{AllocFailure::Kind::Unsupported, "nothing to allocate"});
  return allocation;
}

AllocFailure LlvmAllocator::in_llvms_words(AllocFailure failure, bool is_stressed) const {
  const auto broken = [&](std::string category) {
    return AllocFailure{AllocFailure::Kind::Broken, failure.message, std::move(category)};
  };
  if (failure.kind == AllocFailure::Kind::Unsupported) {  // an error of LLVM, after which it goes on
    const bool is_of_registers = failure.message.find("registers") != std::string::npos;
    if (is_of_registers && is_stressed) return {AllocFailure::Kind::Unsupported, "too few registers under stress-regalloc"};
    return broken(is_of_registers ? "out-of-registers" : "error-" + slug(failure.message));
  }
  if (!failure.category.starts_with("crash-")) return failure;
  const std::string_view words = behind(failure.message, "its standard error: ", "\n");
  if (const auto objection = behind(words, "*** Bad machine code: ", " ***"); !objection.empty())
    return broken("verifier-" + slug(objection));
  if (const auto fatal = behind(words, "LLVM ERROR: ", " | "); !fatal.empty()) return broken("fatal-" + slug(fatal));
  if (const auto pass = behind(words, "2.\\x09Running pass '", "'"); !pass.empty())
    return broken(failure.category + "-in-" + slug(pass));
  return failure;
}

std::vector<ir::OwnFile> LlvmAllocator::own_files(const ir::Function& program, const ir::Target& /*target*/,
                                                  const ir::AllocOptions& options, const std::string& path,
                                                  const std::string& words) const {
  std::vector<std::string> command = words_;
  for (const auto& [knob, value] : options.knobs) command.push_back(fmt::format("-{}={}", knob, value));
  const std::string line = shell_line(command);
  const MirFunction function = mir_function(program, machine_);
  const std::string head = fmt::format(
      "{}# {} {} -dump dump.json && regduel llvm dump.json\n# The machine verifier runs before and after allocation (-verify){}.\n",
      comment(words), line, duel::shell_word(path + ".mir"), words.find("broken-") == std::string::npos ? " and accepts both" : "");
  const std::string script = fmt::format(
      "#!/bin/sh\n# llvm-reduce --test={0}.reduce.sh {0}.mir\ndump=$(mktemp) || exit 1\ntrap 'rm -f \"$dump\"' EXIT\n", path);
  const std::string test = words.find("broken-") == std::string::npos
                               ? fmt::format("{} \"$1\" -dump \"$dump\" || exit 1\n! regduel llvm \"$dump\"\n", line)
                               : fmt::format("! {} \"$1\" -dump \"$dump\"\n", line);
  return {{".mir", head + mir_file(std::span(&function, 1), machine_)}, {".reduce.sh", script + test}};
}

std::expected<std::unique_ptr<LlvmAllocator>, std::string> make_llvm_allocator(std::string_view name,
                                                                               const duel::ExecOptions& options) {
  const std::string_view rest = name.substr(kLlvm.size());
  const std::size_t at = rest.find('@');
  const std::string allocator(rest.substr(0, at));
  if (std::ranges::find(kAllocators, allocator) == std::end(kAllocators))
    return std::unexpected(fmt::format("LLVM has no allocator \"{}\" (there are {})", allocator, fmt::join(kAllocators, ", ")));
  const Machine* machine = at == std::string_view::npos ? nullptr : find_machine(rest.substr(at + 1));
  if (machine == nullptr) {
    std::vector<std::string_view> names;
    for (const Machine& m : machines()) names.push_back(m.name);
    return std::unexpected(fmt::format("expected llvm:{}@MACHINE (there are {})", allocator, fmt::join(names, ", ")));
  }
  if (allocator == "pbqp" && machine->runs_twice) return std::unexpected("AMDGPU has no pbqp");
  const Tools tools = find_tools("");
  if (tools.regduel_llc.empty())
    return std::unexpected("no regduel-llc (build with LLVM 19; on Debian: apt-get install llvm-19-dev)");
  auto made = std::make_unique<LlvmAllocator>(std::string(name), allocator, *machine,
                                              llc_words(tools, std::string(machine->triple), allocator,
                                                        allocator == "fast" ? "0" : "2", compile_options(*machine, allocator)),
                                              options);
  if (auto started = made->start(); !started) return std::unexpected(started.error());
  return made;
}

}  // namespace regduel::llvm
