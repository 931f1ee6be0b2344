// The knobs of memcheck by name (source 000 "Knob Interactions"). See memcheck.h; tested by memcheck_test.cpp and cli/cli_test.cpp.

#include "oracles/memcheck/memcheck.h"

namespace regduel::oracles {
namespace {

constexpr std::string_view kDump = "DUMPIR", kPhase = "AllocateRegisters";

bool read_phase(MemcheckOptions& options, std::string_view phase) {
  options.dump_ir = options.dump_ir || phase == kPhase;
  return phase == kPhase;
}

const ir::KnobTable<MemcheckOptions>& table() {
  static const ir::KnobTable<MemcheckOptions> knobs(
      "memcheck",
      {
          {{.name = std::string(kDump),
            .id = 266,
            .type = "phase",
            .source = "source 000 \"Knob Interactions\"",
            .help = "DUMPIR=AllocateRegisters: the producers and the problem of each mismatch, instead of the counters alone",
            .samples = {std::string(kPhase)}},
           std::string(kPhase),
           read_phase},
          {ir::knob("IgnorePotentialMixedSizeProblems", "source 000 \"Knob Interactions\"",
                    "no hint at mixed sizes with extra defs", {"0", "1"}),
           &MemcheckOptions::ignore_potential_mixed_size_problems},
          {ir::knob("memcheck", "source 000 \"Knob Interactions\", function+1384", "0: memcheck is not run at all", {"0", "1"}),
           &MemcheckOptions::is_on},
      });
  return knobs;
}

}  // namespace

std::span<const ir::KnobInfo> memcheck_knobs() { return table().infos(); }

std::expected<void, std::string> set_knob(MemcheckOptions& options, std::string_view name, std::optional<std::string_view> value) {
  return table().set(options, name, value.value_or(name == kDump ? "" : "1"));  // a flag stands alone or with a value
}

}  // namespace regduel::oracles
