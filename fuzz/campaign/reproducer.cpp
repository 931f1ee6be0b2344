// See reproducer.h. Tested by campaign_test.cpp and cli_test.cpp, which play such files.
#include "fuzz/campaign/reproducer.h"

#include <filesystem>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/bad_input.h"
#include "base/io.h"
#include "fuzz/duel/allocators.h"
#include "fuzz/duel/duel.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

// A signature as the beginning of a file name.
std::string slug(std::string_view s) {
  std::string out;
  for (const char c : s) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (keep) out += c;
    else if (!out.empty() && out.back() != '-') out += '-';
    if (out.size() >= 60) break;
  }
  return out;
}

}  // namespace

std::string replay_arguments(const FuzzInput& input, const std::string& allocator) {
  std::string out = fmt::format("--with {} --sm {}", allocator, input.target->sm);
  for (const ir::RegFile file : ir::kAllFiles)
    if (input.limits.of(file) != input.target->units[ir::index(file)])
      out += fmt::format(" --limit {}={}", ir::name(file), input.limits.of(file));
  const ir::Allocator* known = find_allocator(allocator);
  for (const auto& [name, value] : known != nullptr ? known_to(*known, input.knobs) : input.knobs)
    out += fmt::format(" --knob {}={}", name, value);
  return out;
}

std::string write_reproducer(const std::string& directory, const Failure& failure, const std::string& message,
                             const std::string& key, const FuzzInput& input) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw BadInput(fmt::format("error: {}: {}", directory, error.message()));
  const std::string name =
      fmt::format("{}-{}-{:08x}.rir", failure.allocator, slug(failure.signature), XXH3_64bits(key.data(), key.size()) >> 32);
  const std::string path = (std::filesystem::path(directory) / name).string();
  const std::string_view asked = failure.signature.starts_with("metamorphic/") ? "--metamorphic " : "";
  const auto written =
      write_file(path, fmt::format("// {}: {}\n// regduel duel {}{} {}\nrir {}\n{}", failure.signature, message, asked,
                                   replay_arguments(input, failure.allocator), path, ir::kTextVersion, ir::print(input.program)));
  if (!written) throw BadInput(fmt::format("error: {}", written.error()));
  return path;
}

}  // namespace regduel::fuzz
