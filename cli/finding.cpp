#include "cli/finding.h"

#include <filesystem>

#include <fmt/format.h>
#include <xxhash.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "fuzz/duel/allocators.h"
#include "fuzz/generate/standard_mix.h"
#include "ir/text/text.h"

namespace regduel::cli {
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

fuzz::FuzzInput standard_case(std::uint64_t seed, std::uint64_t index, std::span<const ir::Allocator* const> duelists) {
  fuzz::StandardCase s = fuzz::standard_mix(seed, index);
  return {ir::find_target(s.target), s.limits, fuzz::draw_knobs(duelists, s.knob_seed), std::move(s.program)};
}

std::string replay_arguments(const fuzz::FuzzInput& input, const std::string& allocator) {
  std::string out = fmt::format("--with {} --sm {}", allocator, input.target->sm);
  for (const ir::RegFile file : ir::kAllFiles)
    if (input.limits.of(file) != input.target->units[ir::index(file)])
      out += fmt::format(" --limit {}={}", ir::name(file), input.limits.of(file));
  const ir::Allocator* known = fuzz::find_allocator(allocator);
  for (const auto& [name, value] : known != nullptr ? fuzz::known_to(*known, input.knobs) : input.knobs)
    out += fmt::format(" --knob {}={}", name, value);
  return out;
}

fuzz::Failure failure_shown(const FailureQuery& q, const fuzz::FuzzInput& input) {
  std::vector<const ir::Allocator*> duelists;
  if (!q.with.empty()) duelists.push_back(&allocator_named(q.with));
  std::vector<fuzz::Failure> all = fuzz::failures_of(input, duelists, q.metamorphic);
  if (!q.signature.empty()) std::erase_if(all, [&](const fuzz::Failure& f) { return f.signature != q.signature; });
  if (all.empty())
    throw BadInput(q.signature.empty() ? fmt::format("{}: error: no judge objects to it: {}", q.file, q.otherwise)
                                       : fmt::format("{}: error: it does not show {}", q.file, q.signature));
  return all.front();
}

std::string write_reproducer(const std::string& directory, const fuzz::Failure& failure, const std::string& message,
                             const std::string& key, const fuzz::FuzzInput& input) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw BadInput(fmt::format("error: {}: {}", directory, error.message()));
  std::string path = (std::filesystem::path(directory) / fmt::format("{}-{}-{:08x}.rir", failure.allocator, slug(failure.signature),
                                                                     XXH3_64bits(key.data(), key.size()) >> 32))
                         .string();
  const std::string_view asked = failure.signature.starts_with("metamorphic/") ? "--metamorphic " : "";
  save(path, fmt::format("// {}: {}\n// regduel duel {}{} {}\nrir {}\n{}", failure.signature, message, asked,
                         replay_arguments(input, failure.allocator), path, ir::kTextVersion, ir::print(input.program)));
  return path;
}

void Findings::add(const fuzz::FuzzInput& input, const fuzz::Bout& bout) {
  const std::vector<std::string> signatures = bout.signatures();
  for (std::size_t k = 0; k < signatures.size(); ++k) {
    // One bout may find the same thing at many places.
    bool again = false;
    for (std::size_t m = 0; m < k; ++m) again = again || signatures[m] == signatures[k];
    if (again) continue;
    Entry& entry = by_signature_[bout.allocator + " " + signatures[k]];
    if (entry.count++ > 0) continue;
    entry.signature = signatures[k];
    entry.allocator = bout.allocator;
    entry.message = bout.findings[k].message;
    if (!directory_.empty())
      entry.path = write_reproducer(directory_, {bout.allocator, entry.signature}, entry.message, entry.signature, input);
  }
}

std::string Findings::text() const {
  std::string out;
  for (const auto& [key, e] : by_signature_) {
    out += fmt::format("finding: {} in {} (seen {} times)\n  {}\n", e.signature, e.allocator, e.count, e.message);
    if (!e.path.empty()) out += fmt::format("  replay: see the head of {}\n", e.path);
  }
  return out;
}

nlohmann::ordered_json Findings::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [key, e] : by_signature_)
    list.push_back({{"signature", e.signature},
                    {"allocator", e.allocator},
                    {"count", e.count},
                    {"message", e.message},
                    {"reproducer", e.path}});
  return list;
}

}  // namespace regduel::cli
