// See insert_spill_code.h. The edge copies are in edge_copies.cpp.

#include "allocator/spill/insert_spill_code.h"

#include <algorithm>

#include "allocator/spill/spill_code_inserter.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;
using ir::SlotId;
using ir::VRegId;

SpillCodeInserter::SpillCodeInserter(const Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan,
                                     const Budget& budget)
    : in_(in), cfg_(cfg), live_(live), plan_(plan), reuse_(in, live, plan, budget) {
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

SpillCode SpillCodeInserter::run() {
  for (std::size_t b = 0; b < in_.blocks.size(); ++b) {
    const ir::Block& block = in_.blocks[b];
    out_.f.begin_block(block);
    const bool keeps_refills = REGDUEL_PLANTED("fatpoint-refill-kept-across-blocks");
    if (!keeps_refills) reuse_.begin_block();
    for (std::uint32_t k = 0; k < block.num_insts; ++k) {
      current_ = block.first_inst + k;
      const Inst& inst = in_.insts[current_];
      if (!cfg_.is_reachable(BlockId(b)) || inst.is_deleted()) append(inst, in_.operands_of(inst), in_.targets_of(inst));
      else if (inst.is_inserted() && is_between_pieces(inst)) copy_between_pieces(inst);
      else if (inst.is_inserted() && inst.is_copy()) edge_copy(inst);
      else instruction(inst);
    }
  }
  return std::move(out_);
}

// --- pieces ----------------------------------------------------------------------------------------------------------

void SpillCodeInserter::append(const Inst& inst, std::span<const Operand> ops, std::span<const BlockId> targets) {
  if (!inst.is_inserted()) out_.now_at[current_] = static_cast<std::uint32_t>(out_.f.insts.size());
  out_.f.append(inst, ops, targets);
  out_.source.push_back(current_);
}

void SpillCodeInserter::insert(Op op, std::span<const Operand> ops) {
  Inst inst;
  inst.op = op;
  inst.flags = ir::kInserted;
  append(inst, ops);
}

VRegId SpillCodeInserter::new_temp(VRegId like, int align_log2, PReg fixed) {
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

ByteMask SpillCodeInserter::all_bytes(VRegId v) const { return byte_mask(0, out_.f.vreg(v).bytes()); }

Operand SpillCodeInserter::reg(Role role, VRegId v, ByteMask bytes) const {
  Operand op = Operand::of_vreg(role, v);
  if (bytes == all_bytes(v)) return op;
  const int offset = std::countr_zero(bytes);
  op.part = *ir::Part::from_bytes(offset, std::popcount(bytes));
  return op;
}

// The least aligned piece of at least a word that covers `bytes`; everything where there is none.
ByteMask SpillCodeInserter::cover(VRegId v, ByteMask bytes) const {
  const int size = out_.f.vreg(v).bytes();
  if (size > 4)
    for (int piece = 4; piece < size; piece *= 2)
      for (int offset = 0; offset + piece <= size; offset += piece)
        if (piece <= 16 && (bytes & ~byte_mask(offset, piece)) == 0) return byte_mask(offset, piece);
  return all_bytes(v);
}

bool SpillCodeInserter::is_piece(VRegId v, ByteMask bytes) const {
  return bytes == all_bytes(v) || (byte_mask(std::countr_zero(bytes), std::popcount(bytes)) == bytes &&
                                   ir::Part::from_bytes(std::countr_zero(bytes), std::popcount(bytes)).has_value());
}

SlotId SpillCodeInserter::slot_in(std::vector<SlotId>& table, VRegId root) {
  if (table.empty()) table.resize(in_.vregs.size());
  SlotId& slot = table[plan_.slot_owner(root).index()];
  if (slot.is_valid()) return slot;
  const ir::VReg& v = in_.vreg(root);
  ir::Slot s;
  s.size = static_cast<std::uint32_t>(slot_bytes(v));
  s.align = s.size;
  while ((s.align & (s.align - 1)) != 0) s.align &= s.align - 1;
  s.align = std::min(s.align, 16u);
  if (plan_.location[root.index()].kind() == Location::Kind::SharedSlot) s.space = ir::MemSpace::Shared;
  slot = out_.f.add_slot(s);
  out_.slot_root.resize(out_.f.slots.size());
  out_.slot_root[slot.index()] = plan_.slot_owner(root);
  return slot;
}

void SpillCodeInserter::refill(VRegId t, ByteMask bytes, VRegId root) {
  const Location location = plan_.location[root.index()];
  switch (location.kind()) {
    case Location::Kind::Register:
    case Location::Kind::OwnRegister: break;
    case Location::Kind::LocalSlot:
    case Location::Kind::SharedSlot: {
      const Operand ops[] = {reg(Role::Def, t, bytes),
                             Operand::of_slot(slot_of(root), static_cast<std::uint32_t>(std::countr_zero(bytes)))};
      return insert(way(root).refill, ops);
    }
    case Location::Kind::PackBit: return take_out_of_pack(t, pack_of(root), root);
    case Location::Kind::Recomputed: return remat(t, location.inst());
  }
  REGDUEL_CHECK(false, "a refill of what is in a register");
}

void SpillCodeInserter::remat(VRegId t, std::uint32_t repeated) {
  const Inst& def = in_.insts[repeated];
  std::vector<Operand> ops(in_.operands_of(def).begin(), in_.operands_of(def).end());
  // What it reads is computed in the same register before.
  for (Operand& op : std::span(ops).subspan(1)) {
    if (!op.is_vreg()) continue;
    if (!REGDUEL_PLANTED("fatpoint-chain-without-its-start")) remat(t, plan_.only_def[plan_.slot_owner(op.vreg()).index()]);
    op = reg(Role::Use, t, all_bytes(t));
  }
  Inst inst;
  inst.op = Op::Remat;
  inst.flags = ir::kInserted;
  inst.ref = def.id;
  ops[0] = reg(Role::Def, t, all_bytes(t));
  append(inst, ops);
}

void SpillCodeInserter::store(VRegId t, ByteMask bytes, VRegId root) {
  if (is_packed(root)) return put_into_pack(t, root, write_point(live_.number_of(current_)));
  const Operand ops[] = {reg(Role::Use, t, bytes),
                         Operand::of_slot(slot_of(root), static_cast<std::uint32_t>(std::countr_zero(bytes)))};
  insert(way(root).store, ops);
}

// The old bits are read only where another predicate is in one of them: else the pack would live on from where they were written.
//   from   those that live from there to the end of the instruction count as others
void SpillCodeInserter::put_into_pack(VRegId t, VRegId root, Point from) {
  const Location location = plan_.location[root.index()];
  const PredicatePack& pack = plan_.packs[location.pack()];
  const Interval now[] = {{from, write_point(live_.number_of(current_)) + 1}};
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

//   pack   of the predicate, or a copy of that
void SpillCodeInserter::take_out_of_pack(VRegId t, VRegId pack, VRegId root) {
  const Operand ops[] = {reg(Role::Def, t, all_bytes(t)), reg(Role::Use, pack, all_bytes(pack)),
                         Operand::of_imm(plan_.location[root.index()].bit())};
  insert(Op::BitRefill, ops);
}

void SpillCodeInserter::copy(const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  ops_.clear();
  for (const Pair& p : pairs) ops_.push_back(p.def);
  for (const Pair& p : pairs) ops_.push_back(p.use);
  insert(Op::Copy, ops_);
}

// --- instructions ----------------------------------------------------------------------------------------------------

// Whether a vreg operand must stand in a register in which its vreg does not live.
bool SpillCodeInserter::is_bound(const Operand& op) const {
  return op.fixed().is_valid() && plan_.location[op.vreg().index()].kind() != Location::Kind::OwnRegister;
}

bool SpillCodeInserter::is_plain(const Inst& inst) const {
  if (is_pinned()) return false;
  const auto ops = in_.operands_of(inst);
  for (const Operand& op : ops) {
    if (!op.is_vreg()) continue;
    if (is_spilled(op.vreg())) return false;
    if (is_bound(op)) return false;
    if (op.is_tied() && ops[op.tied].vreg() != op.vreg()) return false;
  }
  return true;
}

void SpillCodeInserter::instruction(const Inst& inst) {
  const auto ops = in_.operands_of(inst);
  reuse_.at(live_.number_of(current_));
  if (is_plain(inst)) return rewritten(inst, ops);
  const bool is_served_by_remats = inst.has(ir::kRematerialisable) && ops[0].is_vreg() &&
                                   plan_.location[ops[0].vreg().index()].is_recomputed() &&
                                   plan_.location[ops[0].vreg().index()].inst() == current_;
  if (is_served_by_remats) {
    for (const Operand& op : ops.subspan(1))
      if (op.is_vreg()) out_.is_changed[op.vreg().index()] = 1;
    return deleted(inst);
  }
  if (inst.is_copy() && original_copy(inst)) return;

  build_items(in_, inst, items_);
  works_.assign(items_.items.size(), {});
  take_what_waits(inst);
  for (std::size_t k = 0; k < works_.size(); ++k) choose(inst, k);
  find_needed_before(inst);
  load_temporaries();
  rewritten_.assign(ops.begin(), ops.end());
  for (std::size_t o = 0; o < ops.size(); ++o)
    if (items_.of_operand[o] != kNoItem) rewritten_[o].set_vreg(works_[items_.of_operand[o]].vreg);
  rewritten(inst, rewritten_);
  post_copies_.clear();
  for (std::size_t k = 0; k < works_.size(); ++k) write_back(inst, k);
  copy(post_copies_);
}

// What waits may be copied to a bound place here, but waits no longer where something is bound or clobbered.
void SpillCodeInserter::take_what_waits(const Inst& inst) {
  const auto is_bound_item = [](const Item& i) { return i.fixed.is_valid(); };
  for (std::size_t k = 0; k < works_.size() && !is_pinned(); ++k) {
    const Item& item = items_.items[k];
    if ((!is_bound_item(item) && item.reads == item.writes) || !item.reads.is_valid() || !is_spilled(item.reads)) continue;
    if (!reuse_.may_have(item.reads)) continue;
    if (const ByteMask needed = needed_bytes(inst, k); needed != 0)
      works_[k].waiting = reuse_.waiting(item.reads, needed, live_.number_of(current_));
  }
  const auto ops = in_.operands_of(inst);
  if (is_pinned() || std::any_of(items_.items.begin(), items_.items.end(), is_bound_item) ||
      (!ops.empty() && ops.back().role == Role::Clobber))
    reuse_.forget_all();
}

// What each temporary must hold before: bytes that are read, and old bytes that a guarded def may leave.
void SpillCodeInserter::find_needed_before(const Inst& inst) {
  const auto ops = in_.operands_of(inst);
  const bool is_guarded = ir::is_guarded(ops);
  for (std::size_t o = 0; o < ops.size(); ++o) {
    if (items_.of_operand[o] == kNoItem) continue;
    const std::size_t at = inst.first_operand + o;
    ByteMask kept = is_guarded && ops[o].writes() ? bytes_of(in_, ops[o]) & live_.live_after(at) & live_.reached_before(at) : 0;
    if (REGDUEL_PLANTED("fatpoint-guarded-store-without-refill")) kept = 0;
    works_[works_[items_.of_operand[o]].leader].before |= ops[o].reads() ? live_.read_bytes(at) : kept;
  }
}

// Copies from registers first, all at once; then refills.
void SpillCodeInserter::load_temporaries() {
  pre_copies_.clear();
  refilled_.clear();
  for (std::size_t k = 0; k < works_.size(); ++k) {
    const Work& w = works_[k];
    const VRegId root = items_.items[k].reads;
    if (!w.is_temp || w.leader != k || w.before == 0 || w.is_loaded || !root.is_valid()) continue;
    const VRegId source = is_spilled(root) ? w.waiting : root;
    const ByteMask bytes = cover(w.vreg, w.before);
    if (source.is_valid()) pre_copies_.push_back({reg(Role::Def, w.vreg, bytes), reg(Role::Use, source, bytes)});
    else refilled_.push_back({root, w.vreg, bytes, w.may_wait});
  }
  copy(pre_copies_);
  for (const Refilled& r : refilled_) {
    refill(r.temp, r.bytes, r.root);
    if (r.may_wait && may_wait()) reuse_.remember(r.root, r.temp, is_recomputed(r.root) ? all_bytes(r.temp) : r.bytes, true);
  }
}

// Bytes that an item must hold before the instruction: what it reads, and all where it may keep old ones.
ByteMask SpillCodeInserter::needed_bytes(const Inst& inst, std::size_t k) const {
  const auto ops = in_.operands_of(inst);
  ByteMask needed = 0;
  for (std::size_t o = 0; o < ops.size(); ++o)
    if (items_.of_operand[o] == k)
      needed |= ops[o].reads()     ? live_.read_bytes(inst.first_operand + o)
                : ops[o].is_tied() ? 0
                                   : all_bytes(items_.items[k].root());
  return needed;
}

// The vreg in which an item stands: its own, or a temporary.
void SpillCodeInserter::choose(const Inst& inst, std::size_t k) {
  const Item& item = items_.items[k];
  Work& work = works_[k];
  work.leader = k;
  const VRegId root = item.root();
  if (item.architectural) {  // its register is its own, pinned or not
    work.vreg = root;
    return;
  }
  const bool tied_apart = item.reads.is_valid() && item.writes.is_valid() && item.reads != item.writes;
  const bool pinned = is_pinned();
  const PReg fixed = pinned ? plan_.pinned[current_][k] : item.fixed;
  const bool bound = fixed.is_valid() && (pinned || plan_.location[root.index()].kind() != Location::Kind::OwnRegister);
  if (!bound && !tied_apart && !is_spilled(root)) {
    work.vreg = root;
    return;
  }
  work.is_temp = true;
  for (const VRegId changed : {item.reads, item.writes})
    if (changed.is_valid()) out_.is_changed[changed.index()] = 1;
  if (pinned)
    for (std::size_t j = 0; j < k; ++j)
      if (plan_.pinned[current_][j] == fixed && items_.items[j].at_reads && item.at_reads && items_.items[j].reads == item.reads) {
        work.leader = works_[j].leader;
        work.vreg = works_[j].vreg;
        return;
      }
  const auto ops = in_.operands_of(inst);
  if (tied_apart && !bound && !is_spilled(root) && in_.vreg(root).alignment() >= item.align &&
      std::none_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.is_vreg() && op.reads() && op.vreg() == root; }) &&
      ir::may(plan_.fuel, "tied-in-place")) {
    work.vreg = root;  // copied into before, and there it stays
    work.is_home = true;
    return;
  }
  if (!bound && !tied_apart && item.reads.is_valid() && reuse_.may_have(root)) {
    if (const VRegId waiting = reuse_.waiting(root, needed_bytes(inst, k), live_.number_of(current_)); waiting.is_valid()) {
      work.vreg = waiting;
      work.is_loaded = true;
      work.may_wait = true;
      return;
    }
  }
  work.may_wait = !bound && !tied_apart;
  work.vreg = new_temp(root, std::countr_zero(static_cast<unsigned>(item.align)), bound ? fixed : PReg());
}

// What an item defined goes home: to the vreg's register or to its slot.
void SpillCodeInserter::write_back(const Inst& inst, std::size_t k) {
  const Item& item = items_.items[k];
  const Work& work = works_[k];
  if (!item.writes.is_valid()) return;
  reuse_.forget(item.writes);
  if (!work.is_temp || work.is_home) return;
  const auto ops = in_.operands_of(inst);
  std::vector<ByteMask>& pieces = pieces_;
  pieces.clear();
  ByteMask united = 0;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    if (items_.of_operand[o] != k || !ops[o].writes()) continue;
    const ByteMask bytes = bytes_of(in_, ops[o]);
    if ((bytes & live_.live_after(inst.first_operand + o)) == 0) continue;
    pieces.push_back(bytes);
    united |= bytes;
  }
  if (pieces.empty()) return;
  if (is_piece(work.vreg, united)) pieces.assign(1, united);
  for (const ByteMask bytes : pieces) {
    if (is_spilled(item.writes)) store(work.vreg, bytes, item.writes);
    else post_copies_.push_back({reg(Role::Def, item.writes, bytes), reg(Role::Use, work.vreg, bytes)});
  }
  if (is_spilled(item.writes) && work.may_wait && may_wait() && !item.keeps && !item.early && works_[work.leader].leader == k)
    reuse_.remember(item.writes, work.vreg, all_bytes(work.vreg), false);
}

// The instruction itself with these operands: what bound them is in the vregs now.
void SpillCodeInserter::rewritten(const Inst& inst, std::span<const Operand> ops) {
  append(inst, ops, in_.targets_of(inst));
  for (Operand& op : std::span(out_.f.operands).last(ops.size())) {
    if (!op.is_vreg()) continue;
    op.set_fixed({});
    op.tied = ir::kNotTied;
  }
}

void SpillCodeInserter::deleted(const Inst& inst) {
  append(inst, {});
  out_.f.insts.back().flags |= ir::kDeleted;
}

// A copy of one pair of whole vregs, of which one is spilled. False where the general way is taken.
bool SpillCodeInserter::original_copy(const Inst& inst) {
  const auto ops = in_.operands_of(inst);
  if (ops.size() != 2 || is_pinned()) return false;
  for (const Operand& op : ops)
    if (!op.part.is_whole() || op.fixed().is_valid() || op.is_tied() || op.is_early_clobber()) return false;
  const VRegId d = ops[0].vreg(), s = ops[1].vreg();
  if (!is_spilled(d) && !is_spilled(s)) return false;
  if (!ir::may(plan_.fuel, "copy-through-memory")) return false;
  if (is_spilled(d) && live_.live_after(inst.first_operand) == 0) {
    out_.is_changed[s.index()] = 1;
    deleted(inst);
    return true;
  }
  if (is_packed(d) && plan_.location[d.index()] == plan_.location[s.index()]) {
    deleted(inst);
    reuse_.forget(d);  // what waits is what d was before
    return true;
  }
  // A narrow value moves fewer bytes than the copy's register has: another instruction.
  const bool is_narrow = slot_bytes(in_.vreg(s)) < ir::unit_bytes(in_.vreg(s).file());
  const auto become = [&](Op op, std::span<const Operand> moved_ops) {
    Inst moved = inst;
    moved.op = op;
    if (!is_narrow) return append(moved, moved_ops);
    out_.is_changed[d.index()] = out_.is_changed[s.index()] = 1;
    deleted(inst);
    insert(op, moved_ops);
  };
  const auto as_store = [&](VRegId from) {
    if (is_packed(d)) {
      out_.is_changed[s.index()] = 1;
      deleted(inst);
      store(from, all_bytes(from), d);
      return reuse_.forget(d);
    }
    const Operand spill[] = {reg(Role::Use, from, all_bytes(from)), Operand::of_slot(slot_of(d))};
    become(way(d).store, spill);
    reuse_.forget(d);
  };
  if (!is_spilled(s)) {
    as_store(s);
    return true;
  }
  if (const VRegId waiting = reuse_.waiting(s, all_bytes(s), live_.number_of(current_)); waiting.is_valid()) {
    if (is_spilled(d)) {
      as_store(waiting);
    } else {
      rewritten_.assign(ops.begin(), ops.end());
      rewritten_[1].set_vreg(waiting);
      rewritten(inst, rewritten_);
    }
    return true;
  }
  if (is_recomputed(s)) {
    if (!is_spilled(d)) return false;
    const VRegId t = new_temp(s, in_.vreg(s).align_log2, {});
    refill(t, all_bytes(t), s);
    as_store(t);
    return true;
  }
  if (is_packed(s)) {
    const VRegId t = is_spilled(d) ? new_temp(s, 0, {}) : d;
    if (!is_spilled(d)) {
      out_.is_changed[d.index()] = 1;
      deleted(inst);
    }
    refill(t, all_bytes(t), s);
    if (is_spilled(d)) as_store(t);
    reuse_.forget(d);
    return true;
  }
  const VRegId t = is_spilled(d) ? new_temp(d, in_.vreg(d).align_log2, {}) : d;
  const Operand load[] = {reg(Role::Def, t, all_bytes(t)), Operand::of_slot(slot_of(s))};
  become(way(s).refill, load);
  reuse_.forget(d);
  if (is_spilled(d)) store(t, all_bytes(t), d);
  return true;
}

// --- pieces of a vreg that was split (split_program.h)

bool SpillCodeInserter::is_between_pieces(const Inst& inst) const {
  const auto ops = in_.operands_of(inst);
  // A phi may copy one part of a vreg to another part of it.
  return inst.is_copy() && !plan_.first_of.empty() && ops.size() == 2 &&
         plan_.slot_owner(ops[0].vreg()) == plan_.slot_owner(ops[1].vreg()) && bytes_of(in_, ops[0]) == bytes_of(in_, ops[1]);
}

// A store, a refill, or a copy of what the piece that is written needs; nothing where both are in memory, as that is one slot.
void SpillCodeInserter::copy_between_pieces(const Inst& inst) {
  const auto ops = in_.operands_of(inst);
  const VRegId d = ops[0].vreg(), s = ops[1].vreg();
  reuse_.at(live_.number_of(current_));
  const ByteMask bytes = bytes_of(in_, ops[0]), needed = bytes & live_.live_after(inst.first_operand);
  reuse_.forget(d);
  if (needed != 0 && !is_spilled(d) && !is_spilled(s)) {
    out_.now_at[current_] = static_cast<std::uint32_t>(out_.f.insts.size());
    return append(inst, ops);
  }
  out_.is_changed[d.index()] = out_.is_changed[s.index()] = 1;
  if (needed == 0 || (is_spilled(d) && is_spilled(s))) return;
  if (is_spilled(d)) {
    if (!is_recomputed(d)) store(s, bytes, d);
    return;
  }
  // Other bytes of d may be newer than those of s.
  const ByteMask covered = is_recomputed(s) ? all_bytes(d) : cover(d, needed);
  refill(d, (covered & ~bytes) == 0 ? covered : bytes, s);
}

SpillCode insert_spill_code(const Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan, const Budget& budget) {
  return SpillCodeInserter(in, cfg, live, plan, budget).run();
}

}  // namespace regduel::allocator
