// See proof.h.

#include "oracles/proof/proof.h"

#include <optional>

#include <fmt/format.h>

#include "oracles/proof/one_home.h"
#include "oracles/quality/quality.h"

namespace regduel::oracles {

JudgeResult judge_proof(const Before& before, const ir::Function& after, const Measures& measures,
                        std::span<const ClaimedBound> bounds) {
  JudgeResult result;
  result.judge = "proof";
  std::optional<bool> is_in_class;
  for (const auto& [by, bound] : bounds) {
    const bool is_registers = bound.kind == ir::Bound::Kind::Registers;
    const std::int64_t has = is_registers ? measures.registers[ir::index(bound.file)] : 0;
    // One home a value means that nothing is spilled.
    if (has >= bound.at_least) continue;
    if (!is_in_class) is_in_class = why_not_in_one_home(before, after).empty();
    if (!*is_in_class) break;
    Finding f;
    f.judge = result.judge;
    f.category = is_registers ? "beats-registers" : "beats-spill-bytes";
    f.message =
        is_registers
            ? fmt::format("takes {} registers of file {} with each value in one home, where {} proves that at least {} are needed",
                          has, ir::name(bound.file), by, bound.at_least)
            : fmt::format("spills nothing with each value in one home, where {} proves that at least {} weighted bytes are needed",
                          by, bound.at_least);
    result.findings.push_back(std::move(f));
  }
  if (!result.findings.empty()) result.verdict = Verdict::Fail;
  return result;
}

}  // namespace regduel::oracles
