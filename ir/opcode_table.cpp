#include "ir/opcode_table.h"

#include <algorithm>

namespace regduel::ir {
namespace {

constexpr auto kRowOfCode = detail::rows_by([](const Opcode& o) { return o.code; });

}  // namespace

std::optional<Op> op_of_keyword(std::string_view keyword) {
  if (keyword.empty()) return std::nullopt;
  const auto* row = std::find_if(kOpcodes.begin(), kOpcodes.end(), [&](const Opcode& o) { return o.keyword == keyword; });
  return row == kOpcodes.end() ? std::nullopt : std::optional(row->op);
}

std::optional<Op> op_of_code(std::size_t code) {
  if (code >= kRowOfCode.size() || kRowOfCode[code] == detail::kNoRow) return std::nullopt;
  return kOpcodes[kRowOfCode[code]].op;
}

}  // namespace regduel::ir
