// See plan.h.

#include "allocator/spill/plan.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::allocator {

using ir::Inst;
using ir::Operand;

Plan plan_without_spills(const ir::Function& f, const std::vector<char>& keeps_own, const ir::PerFile<Location>& slots) {
  Plan plan;
  plan.location.resize(f.vregs.size());
  for (std::size_t v = 0; v < f.vregs.size(); ++v)
    if (keeps_own[v] != 0) plan.location[v] = Location::own_register();
  plan.if_spilled.reserve(f.vregs.size());
  for (const ir::VReg& v : f.vregs) plan.if_spilled.push_back(slots[ir::index(v.file())]);
  plan.pinned.resize(f.insts.size());
  plan.reuse.barred_insts.assign(f.insts.size(), 0);
  plan.reuse.barred_vregs.assign(f.vregs.size(), 0);
  return plan;
}

namespace {

// Whether the instruction gives the same value wherever it stands, as no register but that of its first operand has a part in it.
bool makes_the_same_anywhere(const ir::Function& f, const Inst& inst) {
  const auto ops = f.operands_of(inst);
  return inst.is_repeatable() && std::all_of(ops.begin() + 1, ops.end(), [](const Operand& op) { return !op.is_register(); }) &&
         ops[0].part.is_whole() && !ops[0].fixed().is_valid() && !ops[0].is_early_clobber();
}

}  // namespace

void rematerialise(Plan& plan, const ir::Function& f, const ir::Cfg& cfg) {
  std::vector<std::uint32_t> defs(f.vregs.size(), 0);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const Inst& inst : f.insts_of(b)) {
      if (REGDUEL_PLANTED("fatpoint-remat-despite-other-defs") && !inst.has(ir::kRematerialisable)) continue;
      for (const Operand& op : f.operands_of(inst))
        if (op.is_vreg() && op.writes()) ++defs[op.vreg().index()];
    }
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const Inst& inst : f.insts_of(b)) {
      if (!makes_the_same_anywhere(f, inst)) continue;
      const Operand& def = f.operands_of(inst)[0];
      if (def.is_vreg() && def.writes() && defs[def.vreg().index()] == 1)
        plan.if_spilled[def.vreg().index()] = Location::recomputed_by(static_cast<std::uint32_t>(&inst - f.insts.data()));
    }
}

}  // namespace regduel::allocator
