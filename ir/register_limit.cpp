#include "ir/register_limit.h"

#include <algorithm>
#include <string_view>

namespace regduel::ir {
namespace {

constexpr std::string_view kName = "setmaxnreg.";

}  // namespace

std::optional<int> new_register_limit(const Function& f, const Inst& inst) {
  if (inst.op != Op::Named || inst.num_operands == 0 || !f.symbols[inst.mnemonic].starts_with(kName)) return std::nullopt;
  const Operand& number = f.operands_of(inst)[0];
  if (number.kind != OperandKind::Imm || number.imm() < 1 || number.imm() > kMaxUnits) return std::nullopt;
  return static_cast<int>(number.imm());
}

bool changes_register_limit(const Function& f) {
  bool is_named = false;
  for (std::size_t s = 0; s < f.symbols.size() && !is_named; ++s)
    is_named = f.symbols[SymbolId(static_cast<std::uint32_t>(s))].starts_with(kName);
  return is_named && std::ranges::any_of(f.insts, [&](const Inst& i) { return new_register_limit(f, i).has_value(); });
}

}  // namespace regduel::ir
