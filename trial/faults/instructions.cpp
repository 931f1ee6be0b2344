// See instructions.h.
#include "trial/faults/instructions.h"

#include <algorithm>
#include <bit>

namespace regduel::trial {

using ir::Op;
using ir::Operand;
using ir::Role;

bool mentions(const EditInst& i, ir::PReg r) {
  return std::any_of(i.ops.begin(), i.ops.end(), [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(r); });
}
bool writes(const EditInst& i, ir::PReg r) {
  return std::any_of(i.ops.begin(), i.ops.end(), [&](const Operand& op) {
    return op.is_preg() && (op.writes() || op.role == Role::Clobber) && op.preg().overlaps(r);
  });
}
bool reads(const EditInst& i, ir::PReg r) {
  return std::any_of(i.ops.begin(), i.ops.end(),
                     [&](const Operand& op) { return op.is_preg() && op.reads() && op.preg().overlaps(r); });
}

std::uint32_t bytes_of(const Operand& op) {
  const ir::FileBytes b = ir::Function::file_bytes(op);
  return b.end - b.begin;
}

std::size_t pairs_of(const EditInst& copy) {
  return static_cast<std::size_t>(std::count_if(copy.ops.begin(), copy.ops.end(), [](const Operand& op) { return op.writes(); }));
}

bool is_repeatable(const ir::Function& before, const ir::Inst& i) {
  return i.is_repeatable() && i.num_operands > 0 && before.operands_of(i)[0].is_vreg();
}

void move_inst(std::vector<EditInst>& insts, std::size_t from, std::size_t to) {
  const auto at = [&](std::size_t k) { return insts.begin() + static_cast<std::ptrdiff_t>(k); };
  if (from < to) std::rotate(at(from), at(from + 1), at(to + 1));
  else std::rotate(at(to), at(from), at(from + 1));
}

void mark_deleted(EditInst& i) {
  i.inst.flags |= ir::kDeleted;
  i.ops.clear();
}

void insert_at(EditProgram& p, std::uint32_t block, std::size_t at, EditInst inst) {
  auto& insts = p.blocks[block].insts;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(at), std::move(inst));
  number_inserted(p);
}

void number_inserted(EditProgram& p) {
  std::uint32_t next = p.next_id().value;
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      if (!i.inst.id.is_valid()) i.inst.id = ir::InstId(next++);
}

ir::SlotId add_slot(EditProgram& p, ir::MemSpace space, std::uint32_t size) {
  const std::uint32_t align = std::min(16u, std::bit_ceil(std::max(1u, size)));
  std::uint32_t& frame = space == ir::MemSpace::Local ? p.header.local_frame : p.header.shared_frame;
  const std::uint32_t offset = (frame + align - 1) / align * align;
  frame = offset + size;
  return p.header.add_slot({space, size, align, offset});
}

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

}  // namespace regduel::trial
