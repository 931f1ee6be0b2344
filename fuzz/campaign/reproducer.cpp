// See reproducer.h. Tested by campaign_test.cpp and cli_test.cpp, which play such files.
#include "fuzz/campaign/reproducer.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "base/bad_input.h"
#include "base/io.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/duel.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

// A name or a signature as a piece of a file name.
constexpr std::size_t kMostOfAllocator = 24, kMostOfSignature = 48;  // characters of a file name
std::string slug(std::string_view s, std::size_t most) {
  std::string out;
  for (const char c : s) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (keep) out += c;
    else if (!out.empty() && out.back() != '-') out += '-';
    if (out.size() >= most) break;
  }
  return out;
}

// The options of a command line that say how an external allocator is run, without those that have their default.
std::string options_of(const duel::ExecAllocator& program) {
  const duel::ExecOptions &o = program.options(), usual;
  std::string out;
  if (o.timeout != usual.timeout) out += fmt::format(" --exec-timeout {}", o.timeout);
  if (o.memory_mib != usual.memory_mib) out += fmt::format(" --exec-memory {}", o.memory_mib);
  if (o.is_files) out += " --exec-protocol files";
  return out;
}

}  // namespace

std::string replay_arguments(const duel::Case& input, const std::vector<std::string>& allocators) {
  std::vector<std::string> items;
  for (const std::string& name : allocators) items.push_back(duel::item_of_name(name));
  std::string out = fmt::format("--with {} --sm {}", duel::shell_word(fmt::format("{}", fmt::join(items, ","))), input.target->sm);
  for (const std::string& name : allocators)
    if (const duel::ExecAllocator* program = duel::find_external(name)) {
      out += options_of(*program);
      break;  // those of a command line are one for all
    }
  for (const ir::RegFile file : ir::kAllFiles)
    if (input.limits.of(file) != input.target->units[ir::index(file)])
      out += fmt::format(" --limit {}={}", ir::name(file), input.limits.of(file));
  const auto is_known = [&](const auto& knob) {
    return std::any_of(allocators.begin(), allocators.end(), [&](const std::string& name) {
      const ir::Allocator* known = duel::find_allocator(name);
      return known == nullptr || !duel::known_to(*known, {knob}).empty();
    });
  };
  for (const auto& knob : input.knobs)
    if (is_known(knob)) out += " --knob " + duel::shell_word(fmt::format("{}={}", knob.first, knob.second));
  return out;
}

std::vector<std::string> players_of(const Failure& failure) {
  const std::optional<Gap> gap = is_gap(failure) ? gap_of(failure) : std::nullopt;
  if (gap && !gap->is_cliff()) return {gap->worse, gap->better};
  std::vector<std::string> players = {failure.allocator};
  for (const ir::Allocator* prover : provers_beaten(failure)) players.emplace_back(prover->name());
  return players;
}

std::string answer_path(const std::string& path) {
  return (path.ends_with(".rir") ? path.substr(0, path.size() - 4) : path) + ".after.rir";
}

std::string write_reproducer(const std::string& directory, const Failure& failure, const std::string& message,
                             const std::string& key, const duel::Case& input, const std::string& answer) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw BadInput(fmt::format("error: {}: {}", directory, error.message()));
  const bool is_external = failure.allocator.find(':') != std::string::npos;
  const std::string allocator = is_external ? slug(duel::shown_name(failure.allocator), kMostOfAllocator) : failure.allocator;
  const std::string hashed = is_external ? failure.allocator + " " + key : key;  // two commands may begin alike
  const std::string name = fmt::format("{}-{}-{:08x}.rir", allocator, slug(failure.signature, kMostOfSignature),
                                       XXH3_64bits(hashed.data(), hashed.size()) >> 32);
  const std::string path = (std::filesystem::path(directory) / name).string();
  const std::string_view asked = failure.signature.starts_with("metamorphic/") ? "--metamorphic " : "";
  const auto written = write_file(
      path, fmt::format("// {}: {}\n// regduel duel {}{} {}\n{}", failure.signature, message, asked,
                        replay_arguments(input, players_of(failure)), duel::shell_word(path), duel::print_functions(input)));
  if (!written) throw BadInput(fmt::format("error: {}", written.error()));
  // To print the program may be what ended the process.
  const ir::Allocator* const known = ends_the_process(failure) ? nullptr : duel::find_allocator(failure.allocator);
  if (known != nullptr) {
    ir::AllocOptions options;
    options.limits = input.limits;
    options.knobs = duel::known_to(*known, input.knobs);
    const std::string base = path.substr(0, path.size() - std::string_view(".rir").size());
    for (const ir::OwnFile& file :
         known->own_files(input.program, *input.target, options, base, fmt::format("{}: {}", failure.signature, message)))
      if (const auto own = write_file(base + file.suffix, file.text); !own) throw BadInput(fmt::format("error: {}", own.error()));
  }
  const std::string after = answer_path(path);
  std::filesystem::remove(after, error);
  if (answer.empty()) return path;
  if (const auto kept = write_file(after, answer); !kept) throw BadInput(fmt::format("error: {}", kept.error()));
  return path;
}

}  // namespace regduel::fuzz
