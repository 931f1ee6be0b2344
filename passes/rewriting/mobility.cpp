#include "passes/rewriting/mobility.h"

#include <algorithm>
#include <string_view>

namespace regduel::passes {

using ir::Op;
using ir::Operand;

bool changes_memory(const ir::Inst& i) {
  return i.op == Op::Call || i.op == Op::Bar || i.has(ir::kMemWrite) || i.has(ir::kBarrier);
}

bool is_effect(const ir::Function& f, const ir::Inst& i, std::span<const Operand> ops) {
  const auto clobbers = [](const Operand& op) { return op.role == ir::Role::Clobber; };
  const auto is_fixed = [&](const Operand& op) { return op.is_vreg() && f.fixed_of(op).is_valid(); };
  if (i.is_terminator() || changes_memory(i) || i.has(ir::kConvergent) || std::ranges::any_of(ops, clobbers)) return true;
  if (i.is_copy() || i.is_phi()) return false;
  if (ir::defs_of(ops).empty() || std::ranges::any_of(ops, is_fixed)) return true;
  if (i.op != Op::Named || !i.has(ir::kMemRead)) return false;
  const std::string_view m = f.mnemonic(i);
  for (const std::string_view order : {".volatile", ".acquire", ".relaxed", ".mmio"})
    if (m.find(order) != std::string_view::npos) return true;
  return false;
}

}  // namespace regduel::passes
