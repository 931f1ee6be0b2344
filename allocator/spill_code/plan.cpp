// See plan.h.

#include "allocator/spill_code/plan.h"

#include <algorithm>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

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

bool defines_one_vreg(const Inst& inst, std::span<const Operand> ops) {
  return inst.is_repeatable() && ops[0].is_vreg() && ops[0].role == Role::Def && ops[0].part.is_whole() &&
         !ops[0].fixed().is_valid() && !ops[0].is_early_clobber();
}

// The only register operand besides the first, if it is whole, not fixed, of the file of the first, and as wide or half as wide, in
// whole units; else null.
const Operand* only_source(const ir::Function& f, std::span<const Operand> ops) {
  const Operand* source = nullptr;
  for (const Operand& op : ops.subspan(1)) {
    if (!op.is_register()) continue;
    if (source != nullptr || !op.is_vreg() || op.role != Role::Use || !op.part.is_whole() || op.fixed().is_valid() ||
        op.is_negated())
      return nullptr;
    source = &op;
  }
  if (source == nullptr) return nullptr;
  const ir::VReg &s = f.vreg(source->vreg()), &d = f.vreg(ops[0].vreg());
  const bool is_half = 2 * s.width == d.width && s.bytes() == s.units() * ir::unit_bytes(s.file());
  const bool fits_below = s.file() == d.file() && (s.width == d.width || is_half) && s.alignment() <= d.alignment();
  return fits_below && !s.is_architectural() ? source : nullptr;
}

}  // namespace

void rematerialise(Plan& plan, const ir::Function& f, const ir::Cfg& cfg, std::span<const VRegId> first_of) {
  const auto owner_of = [&](VRegId v) { return first_of.empty() ? v : first_of[v.index()]; };
  // Defs by vreg; and original defs of all pieces of a vreg, at its owner.
  std::vector<std::uint32_t> defs(f.vregs.size(), 0), defs_of_all(f.vregs.size(), 0);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const Inst& inst : f.insts_of(b)) {
      if (REGDUEL_PLANTED("fatpoint-remat-despite-other-defs") && !inst.has(ir::kRematerialisable)) continue;
      for (const Operand& op : f.operands_of(inst))
        if (op.is_vreg() && op.writes()) {
          ++defs[op.vreg().index()];
          defs_of_all[owner_of(op.vreg()).index()] += inst.is_inserted() ? 0 : 1;
        }
    }
  plan.only_def.assign(f.vregs.size(), Plan::kNoDef);
  if (REGDUEL_PLANTED("fatpoint-loss-nothing-is-recomputed")) return;
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const Inst& inst : f.insts_of(b)) {
      const auto ops = f.operands_of(inst);
      if (!defines_one_vreg(inst, ops) || defs[ops[0].vreg().index()] != 1) continue;
      int steps = 1;
      if (std::any_of(ops.begin() + 1, ops.end(), [](const Operand& op) { return op.is_register(); })) {
        const Operand* source = only_source(f, ops);
        if (source == nullptr || inst.has(ir::kMemRead)) continue;
        const VRegId owner = owner_of(source->vreg());
        steps += plan.if_spilled[owner.index()].steps();
        if (steps == 1 || steps > kMostRepeated || defs_of_all[owner.index()] != 1) continue;
      }
      const auto index = static_cast<std::uint32_t>(&inst - f.insts.data());
      plan.if_spilled[ops[0].vreg().index()] = Location::recomputed_by(index, steps);
      plan.only_def[ops[0].vreg().index()] = index;
    }
}

void rematerialise_unread(Plan& plan, const ir::Function& f) {
  std::vector<std::uint32_t> replaced;  // defs that remats have taken the place of
  for (const Location& l : plan.location)
    if (l.is_recomputed()) replaced.push_back(l.inst());
  if (replaced.empty()) return;
  std::vector<char> is_replaced(f.insts.size(), 0);
  for (const std::uint32_t k : replaced) is_replaced[k] = 1;
  std::vector<std::uint32_t> readers(f.vregs.size(), 0);  // by vreg: operands of other instructions
  for (std::size_t k = 0; k < f.insts.size(); ++k)
    for (const Operand& op : f.operands_of(f.insts[k]))
      if (op.is_vreg() && op.reads() && is_replaced[k] == 0) ++readers[op.vreg().index()];
  while (!replaced.empty()) {
    const Inst& inst = f.insts[replaced.back()];
    replaced.pop_back();
    for (const Operand& op : f.operands_of(inst)) {
      if (!op.is_vreg() || !op.reads() || readers[op.vreg().index()] != 0) continue;
      const std::size_t v = op.vreg().index();
      if (plan.location[v] != Location() || !plan.if_spilled[v].is_recomputed()) continue;
      plan.spill(op.vreg());
      const std::uint32_t def = plan.location[v].inst();
      for (const Operand& source : f.operands_of(f.insts[def]))
        if (source.is_vreg() && source.reads()) --readers[source.vreg().index()];
      replaced.push_back(def);
    }
  }
}

}  // namespace regduel::allocator
