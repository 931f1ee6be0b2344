// See proof.h.

#include "oracles/proof/proof.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "oracles/proof/by_point.h"
#include "oracles/proof/one_home.h"
#include "oracles/quality/quality.h"

namespace regduel::oracles {

std::string_view beaten(ir::Bound::Kind kind) {
  switch (kind) {
    case ir::Bound::Kind::Registers: return "beats-registers";
    case ir::Bound::Kind::SpillBytes: return "beats-spill-bytes";
    case ir::Bound::Kind::SpillBytesByPoint: return "beats-spill-bytes-by-point";
  }
  return "";
}

JudgeResult judge_proof(const Before& before, const ir::Function& after, const Measures& measures,
                        std::span<const ClaimedBound> bounds) {
  JudgeResult result;
  result.judge = "proof";
  std::optional<bool> in_one_home, by_point;
  for (const auto& [by, bound] : bounds) {
    std::string message;
    switch (bound.kind) {
      case ir::Bound::Kind::Registers:
        if (const std::int64_t has = measures.registers[ir::index(bound.file)]; has < bound.at_least) {
          message =
              fmt::format("takes {} registers of file {} with each value in one home, where {} proves that at least {} are needed",
                          has, ir::name(bound.file), by, bound.at_least);
        }
        break;
      case ir::Bound::Kind::SpillBytes:
        // One home a value means that nothing is spilled.
        if (bound.at_least > 0) {
          message =
              fmt::format("spills nothing with each value in one home, where {} proves that at least {} weighted bytes are needed",
                          by, bound.at_least);
        }
        break;
      case ir::Bound::Kind::SpillBytesByPoint:
        if (measures.weighted_spill_bytes && *measures.weighted_spill_bytes < bound.at_least) {
          message = fmt::format(
              "moves {} weighted bytes, each value in registers or in memory, where {} proves that at least {} are needed",
              *measures.weighted_spill_bytes, by, bound.at_least);
        }
        break;
    }
    if (message.empty()) continue;
    const bool is_by_point = bound.kind == ir::Bound::Kind::SpillBytesByPoint;
    std::optional<bool>& is_in_class = is_by_point ? by_point : in_one_home;
    if (!is_in_class) is_in_class = (is_by_point ? why_not_by_point : why_not_in_one_home)(before, after).empty();
    if (!*is_in_class) continue;
    Finding f;
    f.judge = result.judge;
    f.category = beaten(bound.kind);
    f.message = std::move(message);
    result.findings.push_back(std::move(f));
  }
  if (!result.findings.empty()) result.verdict = Verdict::Fail;
  return result;
}

}  // namespace regduel::oracles
