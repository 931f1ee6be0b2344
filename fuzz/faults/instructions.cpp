// See instructions.h.
#include "fuzz/faults/instructions.h"

#include <algorithm>
#include <tuple>

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

UnitSet units_between(ir::RegFile file, std::uint32_t begin, std::uint32_t end) {
  UnitSet set;
  for (std::uint32_t u = begin; u < end; ++u) set.set(unit_number(file, static_cast<int>(u)));
  return set;
}

}  // namespace

// --- units ----------------------------------------------------------------------------------------------------------

UnitSet units_of(ir::PReg r) {
  return units_between(r.file, static_cast<std::uint32_t>(r.begin()), static_cast<std::uint32_t>(r.end()));
}

UnitSet touched_units(const Operand& op) {
  if (!op.is_preg()) return {};
  const ir::FileBytes b = ir::Function::file_bytes(op);
  const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(b.file));
  return units_between(b.file, b.begin / unit, (b.end + unit - 1) / unit);
}

UnitSet covered_units(const Operand& op) {
  if (!op.is_preg()) return {};
  const ir::FileBytes b = ir::Function::file_bytes(op);
  const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(b.file));
  return units_between(b.file, (b.begin + unit - 1) / unit, b.end / unit);
}

UnitSet mentioned_units(const EditInst& inst) {
  UnitSet set;
  for (const Operand& op : inst.ops)
    if (op.is_preg()) set |= units_of(op.preg());
  return set;
}

UnitSet written_units(const EditInst& inst) {
  UnitSet set;
  for (const Operand& op : inst.ops)
    if (op.writes() || op.role == Role::Clobber) set |= touched_units(op);
  return set;
}

UnitSet read_units(const EditInst& inst) {
  UnitSet set;
  for (const Operand& op : inst.ops)
    if (op.reads()) set |= touched_units(op);
  return set;
}

const Operand* guard_of(const EditInst& inst) {
  for (const Operand& op : inst.ops)
    if (op.role == Role::Guard) return &op;
  return nullptr;
}

// --- places ---------------------------------------------------------------------------------------------------------

void erase(EditProgram& p, Spot s) {
  auto& insts = p.blocks[s.block].insts;
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(s.inst));
}

void insert_before(EditProgram& p, Spot s, EditInst inst) {
  auto& insts = p.blocks[s.block].insts;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(s.inst), std::move(inst));
  number_inserted(p);
}

void Changes::apply(EditProgram& p) {
  std::sort(list_.begin(), list_.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.spot, a.kind, a.order) < std::tuple(b.spot, b.kind, b.order);
  });
  for (std::size_t begin = 0, end = 0; begin < list_.size(); begin = end) {
    EditBlock& block = p.blocks[list_[begin].spot.block];
    while (end < list_.size() && list_[end].spot.block == list_[begin].spot.block) ++end;
    std::vector<EditInst> insts;
    std::size_t next = begin;
    for (std::size_t k = 0; k < block.insts.size(); ++k) {
      const auto here = [&](int kind) { return next < end && list_[next].spot.inst == k && list_[next].kind == kind; };
      for (; here(0); ++next) insts.push_back(std::move(list_[next].inst));
      bool removed = false;
      for (; here(1); ++next) removed = true;
      if (!removed) insts.push_back(std::move(block.insts[k]));
      for (; here(2); ++next) insts.push_back(std::move(list_[next].inst));
    }
    block.insts = std::move(insts);
  }
  list_.clear();
}

// --- kinds ----------------------------------------------------------------------------------------------------------

bool is_repeatable(const ir::Function& before, const ir::Inst& i) {
  return i.has(ir::kRematerialisable) && (!i.has(ir::kMemRead) || i.has(ir::kReadOnly)) && !i.has(ir::kMemWrite) &&
         !i.has(ir::kBarrier) && i.num_operands > 0 && before.operands_of(i)[0].is_vreg();
}

bool is_spill_or_refill(const EditInst& i) {
  return (is_spill(i) || is_refill(i)) && i.ops.size() >= 2 && i.ops[0].is_preg() && i.ops[1].is_slot();
}

void mark_deleted(EditInst& i) {
  i.inst.flags |= ir::kDeleted;
  i.ops.clear();
}

// --- new instructions -----------------------------------------------------------------------------------------------

EditInst inserted(Op op, std::vector<Operand> ops) {
  EditInst i;
  i.inst.op = op;
  i.inst.flags = ir::kInserted;
  i.ops = std::move(ops);
  return i;
}

EditInst make_copy(ir::PReg to, ir::PReg from) {
  return inserted(Op::Copy, {Operand::of_preg(Role::Def, to), Operand::of_preg(Role::Use, from)});
}

EditInst make_swap(ir::PReg a, ir::PReg b) {
  return inserted(Op::Copy, {Operand::of_preg(Role::Def, a), Operand::of_preg(Role::Def, b), Operand::of_preg(Role::Use, b),
                             Operand::of_preg(Role::Use, a)});
}

EditInst make_spill(const Operand& reg, ir::SlotId slot, std::uint32_t offset) {
  return inserted(Op::Spill, {Operand::of_preg(Role::Use, reg.preg(), reg.part), Operand::of_slot(slot, offset)});
}

EditInst make_refill(const Operand& reg, ir::SlotId slot, std::uint32_t offset) {
  return inserted(Op::Refill, {Operand::of_preg(Role::Def, reg.preg(), reg.part), Operand::of_slot(slot, offset)});
}

void number_inserted(EditProgram& p) {
  std::uint32_t next = p.next_id().value;
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      if (!i.inst.id.is_valid()) i.inst.id = ir::InstId(next++);
}

}  // namespace regduel::fuzz
