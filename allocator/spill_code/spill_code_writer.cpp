// See spill_code_writer.h.

#include "allocator/spill_code/spill_code_writer.h"

#include <algorithm>
#include <bit>

#include "allocator/program/names.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {

SpillCodeWriter::SpillCodeWriter(const Function& in, const Liveness& live, const Plan& plan, bool through_r)
    : in_(in), live_(live), plan_(plan), through_r_(through_r) {
  out_.f = in.clone_header();
  out_.f.reserve(in.insts.size() + in.insts.size() / 2, in.operands.size() + in.operands.size() / 2);
  out_.f.blocks.reserve(in.blocks.size());
  out_.f.targets.reserve(in.targets.size());
  out_.source.reserve(in.insts.size() + in.insts.size() / 2);
  for (std::size_t v = 0; v < in.vregs.size(); ++v)
    if (plan.location[v].kind() != Location::Kind::OwnRegister) out_.f.vregs[v].fixed = {};
  for (const ir::VReg& v : plan.added) out_.f.add_vreg(v);
  out_.temp_of.assign(plan.num_long_lived(), kNoInst);
  out_.now_at.assign(in.insts.size(), kNoInst);
  out_.is_changed.assign(plan.num_long_lived(), 1);
  for (std::size_t v = 0; v < in.vregs.size(); ++v) out_.is_changed[v] = is_spilled(VRegId(v)) ? 1 : 0;
  out_.shared_bytes = plan.shared_bytes;
  for (const PredicatePack& pack : plan.packs) out_.pack_of.emplace_back(pack.vreg, pack.vreg);
}

void SpillCodeWriter::append(const Inst& inst, std::span<const Operand> ops, std::span<const BlockId> targets) {
  if (!inst.is_inserted()) out_.now_at[current_] = static_cast<std::uint32_t>(out_.f.insts.size());
  out_.f.append(inst, ops, targets);
  out_.source.push_back(current_);
}

void SpillCodeWriter::insert(Op op, std::span<const Operand> ops) {
  Inst inst;
  inst.op = op;
  inst.flags = ir::kInserted;
  append(inst, ops);
}

VRegId SpillCodeWriter::new_temp(VRegId like, int align_log2, PReg fixed) {
  ir::VReg v = out_.f.vreg(like);
  v.align_log2 = static_cast<std::uint8_t>(align_log2);
  v.flags = 0;
  v.fixed = fixed;
  v.alias = {};
  v.alias_part = {};
  v.hint = {};
  v.name = {};
  out_.temp_of.push_back(current_);
  return out_.f.add_vreg(v);
}

Operand SpillCodeWriter::reg(Role role, VRegId v, ByteMask bytes) const {
  Operand op = Operand::of_vreg(role, v);
  if (bytes == all_bytes(v)) return op;
  const int offset = std::countr_zero(bytes);
  op.part = *ir::Part::from_bytes(offset, std::popcount(bytes));
  return op;
}

ByteMask SpillCodeWriter::cover(VRegId v, ByteMask bytes) const {
  const int size = out_.f.vreg(v).bytes();
  if (size > 4)
    for (int piece = 4; piece < size; piece *= 2)
      for (int offset = 0; offset + piece <= size; offset += piece)
        if (piece <= 16 && (bytes & ~byte_mask(offset, piece)) == 0) return byte_mask(offset, piece);
  return all_bytes(v);
}

bool SpillCodeWriter::is_piece(VRegId v, ByteMask bytes) const {
  return bytes == all_bytes(v) || (byte_mask(std::countr_zero(bytes), std::popcount(bytes)) == bytes &&
                                   ir::Part::from_bytes(std::countr_zero(bytes), std::popcount(bytes)).has_value());
}

SlotId SpillCodeWriter::slot_in(std::vector<SlotId>& table, VRegId root) {
  if (table.empty()) table.resize(in_.vregs.size());
  SlotId& slot = table[plan_.slot_owner(root).index()];
  if (slot.is_valid()) return slot;
  const ir::VReg& v = in_.vreg(root);
  ir::Slot s;
  s.size = static_cast<std::uint32_t>(ir::is_predicate(v.file()) && through_r_ ? 4 : slot_bytes(v));
  s.align = s.size;
  while ((s.align & (s.align - 1)) != 0) s.align &= s.align - 1;
  s.align = std::min(s.align, 16u);
  if (plan_.location[root.index()].kind() == Location::Kind::SharedSlot) s.space = ir::MemSpace::Shared;
  slot = out_.f.add_slot(s);
  out_.slot_root.resize(out_.f.slots.size());
  out_.slot_root[slot.index()] = plan_.slot_owner(root);
  return slot;
}

void SpillCodeWriter::refill(VRegId t, ByteMask bytes, VRegId root) {
  const Location location = plan_.location[root.index()];
  switch (location.kind()) {
    case Location::Kind::Register:
    case Location::Kind::OwnRegister: break;
    case Location::Kind::LocalSlot:
    case Location::Kind::SharedSlot:
      return from_slot(reg(Role::Def, t, bytes), slot_of(root), static_cast<std::uint32_t>(std::countr_zero(bytes)));
    case Location::Kind::PackBit: return take_out_of_pack(t, pack_of(root), root);
    case Location::Kind::Recomputed: return remat(t, all_bytes(t), location.inst());
  }
  REGDUEL_CHECK(false, "a refill of what is in a register");
}

void SpillCodeWriter::remat(VRegId t, ByteMask bytes, std::uint32_t repeated) {
  const Inst& def = in_.insts[repeated];
  std::vector<Operand> ops(in_.operands_of(def).begin(), in_.operands_of(def).end());
  // The source is recomputed first, in the same register or its lower half.
  for (Operand& op : std::span(ops).subspan(1)) {
    if (!op.is_vreg()) continue;
    const ByteMask of_source = byte_mask(0, in_.vreg(op.vreg()).bytes());
    if (!REGDUEL_PLANTED("fatpoint-chain-without-its-start"))
      remat(t, of_source, plan_.only_def[plan_.slot_owner(op.vreg()).index()]);
    op = reg(Role::Use, t, of_source);
  }
  Inst inst;
  inst.op = Op::Remat;
  inst.flags = ir::kInserted;
  inst.ref = def.id;
  ops[0] = reg(Role::Def, t, bytes);
  append(inst, ops);
}

void SpillCodeWriter::store(VRegId t, ByteMask bytes, VRegId root) {
  if (is_packed(root)) return put_into_pack(t, root, write_point(live_.number_of(current_)));
  to_slot(reg(Role::Use, t, bytes), slot_of(root), static_cast<std::uint32_t>(std::countr_zero(bytes)));
}

VRegId SpillCodeWriter::word(int bytes) {
  ir::VReg v;
  v.width = static_cast<std::uint16_t>(8 * bytes);
  out_.temp_of.push_back(current_);
  return out_.f.add_vreg(v);
}

// A piece of less than a word is as much of the word; all of a narrow vreg is all of one.
Operand SpillCodeWriter::word_of(const Operand& piece) {
  const int bytes = out_.f.operand_bytes(piece);
  Operand op = Operand::of_vreg(Role::Use, word(bytes));
  if (!piece.part.is_whole() && bytes < 4) op.part = *ir::Part::from_bytes(0, bytes);
  return op;
}

VRegId SpillCodeWriter::pack_of_one() {
  const VRegId pack = word(4);
  if (!first_of_one_.is_valid()) first_of_one_ = pack;
  out_.pack_of.emplace_back(pack, first_of_one_);
  return pack;
}

template <class Visit>
void SpillCodeWriter::each_word(Operand op, std::uint32_t at, Visit visit) const {
  const ir::Storage s = out_.f.storage(op);
  if (s.size <= 4) return visit(op, at);
  for (int k = 0; k < s.size; k += 4) {
    op.part = *ir::Part::from_bytes(s.offset + k, 4);
    visit(op, at + static_cast<std::uint32_t>(k));
  }
}

void SpillCodeWriter::from_slot(Operand def, SlotId slot, std::uint32_t at) {
  const RegFile file = out_.f.vreg(def.vreg()).file();
  const auto refill = [&](Operand to, std::uint32_t from) {
    const Operand ops[] = {to, Operand::of_slot(slot, from)};
    insert(Op::Refill, ops);
  };
  if (is_stored(file)) return refill(def, at);
  if (ir::is_predicate(file)) {
    const VRegId pack = pack_of_one();
    refill(Operand::of_vreg(Role::Def, pack), at);
    const Operand ops[] = {def, Operand::of_vreg(Role::Use, pack), Operand::of_imm(0)};
    return insert(Op::BitRefill, ops);
  }
  each_word(def, at, [&](Operand piece, std::uint32_t from) {
    Operand t = word_of(piece);
    t.role = Role::Def;
    refill(t, from);
    t.role = Role::Use;
    const Pair pair[] = {{piece, t}};
    copy(pair);
  });
}

void SpillCodeWriter::to_slot(Operand use, SlotId slot, std::uint32_t at) {
  const RegFile file = out_.f.vreg(use.vreg()).file();
  const auto spill = [&](Operand from, std::uint32_t to) {
    const Operand ops[] = {from, Operand::of_slot(slot, to)};
    insert(Op::Spill, ops);
  };
  if (is_stored(file)) return spill(use, at);
  if (ir::is_predicate(file)) {
    const VRegId pack = pack_of_one();
    const Operand ops[] = {Operand::of_vreg(Role::Def, pack), use, Operand::of_imm(0)};
    insert(Op::BitSpill, ops);
    return spill(Operand::of_vreg(Role::Use, pack), at);
  }
  each_word(use, at, [&](Operand piece, std::uint32_t to) {
    Operand t = word_of(piece);
    t.role = Role::Def;
    const Pair pair[] = {{t, piece}};
    copy(pair);
    t.role = Role::Use;
    spill(t, to);
  });
}

// The pack is an input only if another predicate of it lives then. Otherwise the pack would live on from its last write.
void SpillCodeWriter::put_into_pack(VRegId t, VRegId root, Point from) {
  const Location location = plan_.location[root.index()];
  const PredicatePack& pack = plan_.packs[location.pack()];
  const Interval now[] = {{from, write_point(live_.number_of(current_)).next()}};
  bool has_others = false;
  for (const std::vector<VRegId>& members : pack.members)
    for (const VRegId other : members)
      if (other != root && is_packed(other)) has_others = has_others || overlap(live_.range(other.index()), now);
  int bit = location.bit();
  if (REGDUEL_PLANTED("fatpoint-bit-of-another-predicate")) bit &= ~1;
  const Operand ops[] = {reg(has_others ? Role::DefUse : Role::Def, pack.vreg, all_bytes(pack.vreg)),
                         reg(Role::Use, t, all_bytes(t)), Operand::of_imm(bit)};
  insert(Op::BitSpill, ops);
}

void SpillCodeWriter::take_out_of_pack(VRegId t, VRegId pack, VRegId root) {
  const Operand ops[] = {reg(Role::Def, t, all_bytes(t)), reg(Role::Use, pack, all_bytes(pack)),
                         Operand::of_imm(plan_.location[root.index()].bit())};
  insert(Op::BitRefill, ops);
}

void SpillCodeWriter::copy(std::span<const Pair> pairs) {
  if (pairs.empty()) return;
  ops_.clear();
  for (const Pair& p : pairs) ops_.push_back(p.def);
  for (const Pair& p : pairs) ops_.push_back(p.use);
  insert(Op::Copy, ops_);
}

}  // namespace regduel::allocator
