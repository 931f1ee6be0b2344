#include "fuzz/duel_target.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "fuzz/case_file.h"
#include "ir/text.h"

namespace regduel::fuzz {

std::string describe(const FuzzInput& input, const Duel& duel) {
  std::string out;
  for (const Bout& bout : duel.bouts) {
    if (bout.verdict != oracles::Verdict::Fail) continue;
    const std::vector<std::string> signatures = bout.signatures();
    for (std::size_t k = 0; k < bout.findings.size(); ++k) {
      const oracles::Finding& f = bout.findings[k];
      out += fmt::format("FINDING {}: {}: {}", bout.allocator, signatures[k], f.message);
      if (f.inst.is_valid()) out += fmt::format(" (instruction {}, operand {})", f.inst.value, f.operand);
      if (f.other.is_valid()) out += fmt::format(" (see instruction {})", f.other.value);
      out += '\n';
    }
  }
  CaseFile c;
  c.program = input.program;
  c.target = input.target;
  c.limits = input.limits;
  c.knobs = input.knobs;
  return out + print_case(c);
}

std::optional<std::string> find_in(const FuzzInput& input) {
  const Duel result = duel(input.program, *input.target, input.limits, all_duelists(), input.knobs);
  if (result.verdict() != oracles::Verdict::Fail) return std::nullopt;
  return describe(input, result);
}

int duel_target(std::span<const std::uint8_t> bytes) {
  if (const auto report = find_in(decode_input(bytes))) {
    fmt::print(stderr, "{}", *report);
    std::fflush(stderr);
    std::abort();
  }
  return 0;
}

}  // namespace regduel::fuzz
