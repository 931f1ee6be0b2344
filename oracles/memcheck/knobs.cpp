// The knobs of memcheck by name (source 000 "Knob Interactions"). See memcheck.h; tested by memcheck_test.cpp and cli/cli_test.cpp.

#include <array>

#include <fmt/format.h>

#include "oracles/memcheck/memcheck.h"

namespace regduel::oracles {
namespace {

constexpr std::string_view kDump = "DUMPIR", kIgnore = "IgnorePotentialMixedSizeProblems", kGate = "memcheck";

// A flag stands alone or with a value.
std::optional<bool> flag(std::optional<std::string_view> value) {
  if (!value || *value == "1" || *value == "true") return true;
  if (*value == "0" || *value == "false") return false;
  return std::nullopt;
}

}  // namespace

std::span<const ir::KnobInfo> memcheck_knobs() {
  static const std::array<ir::KnobInfo, 3> knobs = {{
      {std::string(kDump),
       266,
       "phase",
       "",
       "source 000 \"Knob Interactions\"",
       "DUMPIR=AllocateRegisters: the producers and the problem of each mismatch, instead of the counters alone",
       {"AllocateRegisters"}},
      {std::string(kIgnore),
       -1,
       "bool",
       "0",
       "source 000 \"Knob Interactions\"",
       "no hint at mixed sizes with extra defs",
       {"0", "1"}},
      {std::string(kGate),
       -1,
       "bool",
       "1",
       "source 000 \"Knob Interactions\", function+1384",
       "0: memcheck is not run at all",
       {"0", "1"}},
  }};
  return knobs;
}

std::expected<void, std::string> set_knob(MemcheckOptions& options, std::string_view name, std::optional<std::string_view> value) {
  if (name == kDump) {
    if (value != "AllocateRegisters")
      return std::unexpected(fmt::format("{}: the one phase that can be dumped is AllocateRegisters", name));
    options.dump_ir = true;
    return {};
  }
  if (name != kIgnore && name != kGate) {
    std::string known;
    for (const ir::KnobInfo& k : memcheck_knobs()) known += fmt::format("{}{}", known.empty() ? "" : ", ", k.name);
    return std::unexpected(fmt::format("no knob \"{}\" (there are {})", name, known));
  }
  const std::optional<bool> is_set = flag(value);
  if (!is_set) return std::unexpected(fmt::format("{}: expected 0 or 1, found \"{}\"", name, *value));
  (name == kIgnore ? options.ignore_potential_mixed_size_problems : options.is_on) = *is_set;
  return {};
}

}  // namespace regduel::oracles
