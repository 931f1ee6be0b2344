#include "passes/nvptx/constrained_copies.h"

#include "passes/pass.h"

namespace regduel::passes::nvptx {

bool stays(const ir::Function& f, const ir::Inst& copy) {
  return ir::copy_pairs(f.operands_of(copy)).size() > 1 || gives_up_registers(f, copy);
}

bool is_constrained(const ir::Function& f, const Candidate& c) {
  if (c.kind == Kind::Phi) return false;
  const auto ops = f.operands_of(f.insts[c.inst]);
  const ir::CopyPairs pairs(ops);
  const ir::Operand &def = pairs[c.pair].def, &use = pairs[c.pair].use;
  if (def.is_tied() && def.tied != pairs.size() + c.pair) return true;
  if (!stays(f, f.insts[c.inst])) return false;
  const ir::PReg to = f.fixed_of(def), from = f.fixed_of(use);
  return def.is_early_clobber() || (to.is_valid() && from.is_valid() && to != from);
}

}  // namespace regduel::passes::nvptx
