// See single_edits.h.
#include "trial/faults/single_edits.h"

#include <algorithm>

namespace regduel::trial {

using ir::BlockId;
using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::Slot;

bool swap_with_other_source(Trial& t, const Place& at) {
  swap_places(t.inst(at).ops[1], t.insts(at)[at.other].ops[1]);
  return true;
}

bool other_comes_first(Trial& t, const Place& at) {
  move_inst(t.insts(at), at.other, at.inst);
  return true;
}

Edit other_opcode(bool mnemonic_alone) {
  return [=](Trial& t, const Place& at) {
    t.inst(at).inst.mnemonic = t.program.header.symbols.intern("something");
    if (!mnemonic_alone) t.inst(at).inst.op = Op::Named;
    return true;
  };
}

bool to_local(Trial& t, const Place& at) {
  // The slot must show where it comes to lie: outside the frame, or over another slot.
  Slot& slot = t.program.header.slots[at.operand];
  const bool is_shared = slot.space == MemSpace::Shared;
  bool shows = slot.offset + slot.size > t.program.header.local_frame;
  for (const Slot& o : t.program.header.slots)
    shows = shows || (o.space == MemSpace::Local && o.offset < slot.offset + slot.size && slot.offset < o.offset + o.size);
  slot.space = MemSpace::Local;
  return is_shared && shows;
}

bool out_of_frame(Trial& t, const Place& at) {
  Slot& slot = t.program.header.slots[at.operand];
  const std::uint32_t frame = slot.space == MemSpace::Local ? t.program.header.local_frame : t.program.header.shared_frame;
  slot.offset = (frame + slot.align - 1) / slot.align * slot.align;
  return true;
}

bool into_variables(Trial& t, const Place& at) {
  const std::uint32_t own = t.site.subject.before.local_frame;
  Slot& slot = t.program.header.slots[at.operand];
  slot.offset = (own - 1) / slot.align * slot.align;
  return own > 0 && slot.space == MemSpace::Local;
}

bool shrink_slot(Trial& t, const Place& at) {
  const auto& ops = t.inst(at).ops;
  const std::uint32_t end = ops[1].slot_offset() + bytes_of(ops[0]);
  t.program.header.slots[ops[1].slot().index()].size = end > 4 ? end - 4 : end - 1;
  return end > 1;
}

bool shorten_clobber(Trial& t, const Place& at) {
  PReg r = t.op(at).preg();
  if (r.count == 1) {
    t.inst(at).ops.erase(t.inst(at).ops.begin() + static_cast<std::ptrdiff_t>(at.operand));
  } else {
    --r.count;
    t.op(at).set_preg(r);
  }
  return true;
}

bool drop_guard(Trial&, EditInst& i) {
  return std::erase_if(i.ops, [](const Operand& op) { return op.role == Role::Guard; }) > 0;
}

bool lead_elsewhere(Trial& t, const Place& at) {
  const BlockId to(t.random.below(static_cast<std::uint32_t>(t.site.subject.before.blocks.size())));
  if (to == t.program.blocks[at.block].attributes.edge_to) return false;
  t.inst(at).targets[0] = to;
  return true;
}

bool other_alignment(Trial& t, const Place&) {
  std::vector<ir::VReg*> vregs;
  for (ir::VReg& v : t.program.header.vregs)
    if (!ir::is_predicate(v.file()) && !ir::is_barrier(v.file()) && !v.fixed.is_valid()) vregs.push_back(&v);
  const auto v = pick(vregs, t.random);
  if (v) (*v)->align_log2 ^= 1;
  return v.has_value();
}

Edit other_bit(bool used) {
  return [=](Trial& t, const Place& at) {
    std::vector<std::int64_t> bits;
    for (const EditBlock& b : t.program.blocks)
      for (const EditInst& i : b.insts)
        if (i.inst.op == Op::BitSpill && mentions(i, t.inst(at).ops[0].preg())) bits.push_back(i.ops[2].imm());
    if (!used) bits = {(t.inst(at).ops[2].imm() + t.random.between(1, 31)) % 32};
    std::erase(bits, t.inst(at).ops[2].imm());
    const auto bit = pick(bits, t.random);
    if (bit) t.inst(at).ops[2] = Operand::of_imm(*bit);
    return bit.has_value();
  };
}

}  // namespace regduel::trial
