// What the faults of the patterns share, and the list of them.
#include "fuzz/faults/pattern_faults.h"

#include <algorithm>

namespace regduel::fuzz {
namespace {

using ir::Operand;
using ir::PReg;
using ir::Role;

}  // namespace

std::uint32_t bytes_of(const Operand& op) {
  const ir::FileBytes b = ir::Function::file_bytes(op);
  return b.end - b.begin;
}

bool is_free_def(const ir::Function& before, const ir::Inst& i, std::size_t operand) {
  const auto ops = before.operands_of(i);
  if (operand >= ops.size() || ops[operand].role != Role::Def || !ops[operand].is_vreg() || ops[operand].is_tied() ||
      ops[operand].is_early_clobber())
    return false;
  const ir::Storage s = before.storage(ops[operand]);
  return s.offset == 0 && s.size == before.vreg(s.root).bytes() && !before.fixed_of(ops[operand]).is_valid() &&
         (before.vreg(s.root).flags & ir::kVRegArchitectural) == 0;
}

bool is_full(const BeforeFacts& facts, const EditInst& i) {
  const ir::Inst* old = facts.original(i);
  if (old == nullptr || old->num_operands == 0 || !facts.before.operands_of(*old)[0].is_vreg() || !i.ops[0].is_preg()) return false;
  return static_cast<std::uint32_t>(facts.before.operand_bytes(facts.before.operands_of(*old)[0])) == bytes_of(i.ops[0]);
}

std::optional<OperandRead> plain_reader(const BeforeFacts& facts, const EditProgram& p, Spot s, PReg reg) {
  UnitSet held = units_of(reg);
  const auto& insts = p.blocks[s.block].insts;
  for (std::size_t k = s.inst + 1; k < insts.size() && held.any(); ++k) {
    const EditInst& i = insts[k];
    if (i.inst.is_deleted() || i.inst.is_phi()) continue;
    const bool is_move = i.inst.is_copy() || is_spill_or_refill(i);
    const ir::Inst* old = i.inst.is_inserted() || is_move ? nullptr : facts.find(i.inst.id);
    for (std::size_t u = 0; old != nullptr && old->num_operands == i.ops.size() && u < i.ops.size(); ++u)
      if (i.ops[u].is_preg() && i.ops[u].reads() && (touched_units(i.ops[u]) & held).any() &&
          (i.ops[u].role == Role::Guard || !has_guard(i)) && facts.is_defined_read(*old, u))
        return OperandRead{old->id, u};
    UnitSet more;
    for (std::size_t d = 0; i.inst.is_copy() && !has_guard(i) && d < i.ops.size() / 2; ++d)
      if ((touched_units(i.ops[i.ops.size() / 2 + d]) & held).any()) more |= covered_units(i.ops[d]);
    held = (held & ~written_units(i)) | more;
  }
  return std::nullopt;
}

std::optional<Spot> plain_writer(const EditProgram& p, Spot s, PReg reg) {
  constexpr int kMaxBlocks = 8;
  UnitSet units = units_of(reg);
  for (int hops = 0; hops < kMaxBlocks; ++hops) {
    const auto& insts = p.blocks[s.block].insts;
    for (std::size_t k = s.inst; k-- > 0;) {
      const EditInst& i = insts[k];
      if ((written_units(i) & units).none()) continue;
      if (i.inst.is_deleted() || i.inst.is_phi() || has_guard(i)) return std::nullopt;
      const Operand* def = nullptr;
      for (const Operand& op : i.ops)
        if (op.writes() && (covered_units(op) & units) == units) def = &op;
      if (def == nullptr) return std::nullopt;
      const bool is_move = i.inst.is_copy() || is_spill_or_refill(i);
      if (!i.inst.is_inserted() && !is_move && def->role == Role::Def) return Spot{s.block, k};
      if (!i.inst.is_inserted() || !i.inst.is_copy() || i.ops.size() != 2 || covered_units(i.ops[0]) != units ||
          covered_units(i.ops[1]).count() != units.count())
        return std::nullopt;
      units = covered_units(i.ops[1]);
    }
    std::optional<std::size_t> only;
    for (std::size_t b = 0; b < p.blocks.size(); ++b)
      for (const ir::BlockId to : p.blocks[b].insts.back().targets) {
        if (to.index() != s.block || only == b) continue;
        if (only) return std::nullopt;
        only = b;
      }
    if (!only || s.block == 0) return std::nullopt;
    s = {*only, p.blocks[*only].insts.size()};
  }
  return std::nullopt;
}

std::optional<PReg> another_register(const EditProgram& p, const Subject& s, PReg r, Random& random) {
  std::vector<PReg> list;
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops) {
        if (!op.is_preg() || op.role == Role::Clobber || op.preg().file != r.file || op.preg().count != r.count ||
            op.preg().overlaps(r))
          continue;
        bool inside = true;
        for (int u = op.preg().begin(); u < op.preg().end(); ++u)
          inside = inside && ir::is_allocatable(s.target, s.limits, r.file, u);
        if (inside) list.push_back(op.preg());
      }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return pick(list, random);
}

std::vector<bool> plain_slots(const EditProgram& p) {
  const auto uses = slot_uses(p);
  std::vector<bool> plain(uses.size());
  for (std::size_t k = 0; k < uses.size(); ++k)
    plain[k] = uses[k].spills > 0 && std::all_of(uses[k].accesses.begin(), uses[k].accesses.end(), [&](Spot spot) {
                 return !is_spill(at(p, spot)) || plain_writer(p, spot, at(p, spot).ops[0].preg()).has_value();
               });
  return plain;
}

std::vector<FaultOperator> pattern_faults() {
  std::vector<FaultOperator> all;
  for (const auto& part : {pack_faults(), remat_faults(), memory_faults(), move_faults(), save_faults()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace regduel::fuzz
