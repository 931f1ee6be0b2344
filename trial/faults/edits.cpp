// See edits.h.
#include "trial/faults/edits.h"

#include <algorithm>

namespace regduel::trial {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

namespace {

PReg at_unit(PReg like, int first) { return {like.file, like.count, static_cast<std::uint16_t>(first)}; }

// The position of the next instruction of the block behind `from` of which `test` holds; nothing where that is the terminator.
template <class Test>
std::optional<std::uint32_t> next_of(const std::vector<EditInst>& insts, std::uint32_t from, Test test) {
  for (std::uint32_t k = from + 1; k + 1 < insts.size(); ++k)
    if (test(insts[k])) return k;
  return std::nullopt;
}
// The position of the last one in front of `from`, phis excluded.
template <class Test>
std::optional<std::uint32_t> last_of(const std::vector<EditInst>& insts, std::uint32_t from, Test test) {
  for (std::uint32_t k = from; k-- > 0;)
    if (test(insts[k])) return insts[k].inst.is_phi() ? std::nullopt : std::optional(k);
  return std::nullopt;
}
// The last read of `r` behind `from` before it is written again; `from` where there is none.
std::uint32_t last_read(const std::vector<EditInst>& insts, std::uint32_t from, PReg r) {
  std::uint32_t last = from;
  for (std::uint32_t k = from + 1; k < insts.size(); ++k) {
    if (reads(insts[k], r)) last = k;
    if (writes(insts[k], r)) break;
  }
  return last;
}

}  // namespace

// --- registers ------------------------------------------------------------------------------------------------------

Home another(bool used_only) {
  return [=](Trial& t, const Place&, PReg home) { return t.site.another_home(home, used_only, t.random); };
}

std::optional<PReg> in_other_file(Trial& t, const Place&, PReg home) {
  constexpr ir::PerFile<RegFile> kOther = {RegFile::UR, RegFile::UP, RegFile::UB, RegFile::R, RegFile::P, RegFile::B, RegFile::R};
  const bool acc = home.file == RegFile::R && t.random.chance(50);
  home.file = acc ? RegFile::Acc : kOther[ir::index(home.file)];
  return home;
}

Home from_unit(int (*first)(const Site&, PReg)) {
  return [=](Trial& t, const Place&, PReg home) {
    const PReg to = at_unit(home, (first(t.site, home) + home.count - 1) / home.count * home.count);
    return to.end() <= ir::kMaxUnits ? std::optional(to) : std::nullopt;
  };
}

std::optional<PReg> in_reserved(Trial& t, const Place&, PReg home) {
  std::vector<PReg> homes;
  const Subject& s = t.site.subject;
  const int limit = std::min(s.limits.of(home.file), s.target.units[ir::index(home.file)]);
  for (int u = 0; u < limit; ++u)
    if (const PReg to = at_unit(home, u / home.count * home.count);
        to.end() <= limit && s.target.is_reserved(s.before.abi, home.file, u))
      homes.push_back(to);
  return pick(homes, t.random);
}

std::optional<PReg> off_alignment(Trial& t, const Place& at, PReg home) {
  if (t.site.root_of(t.site.original_ops(t.inst(at))[at.operand]).alignment() < 2) return std::nullopt;
  const bool down = home.first > 0 && home.end() >= t.site.subject.limits.of(home.file);
  return at_unit(home, down ? home.first - 1 : home.first + 1);
}

std::optional<PReg> of_other_size(Trial& t, const Place&, PReg home) {
  home.count = static_cast<std::uint8_t>(home.count > 1 && t.random.chance(50) ? home.count - 1 : home.count + 1);
  return home.end() <= t.site.subject.limits.of(home.file) ? std::optional(home) : std::nullopt;
}

std::optional<PReg> with_other(Trial& t, const Place& at, PReg) { return t.inst(at).ops[at.other].preg(); }

Home in_pack_read_later(Op by) {
  return [=](Trial& t, const Place& at, PReg home) -> std::optional<PReg> {
    const auto& all = t.insts(at);
    const auto read = next_of(all, at.inst, [&](const EditInst& i) { return i.inst.op == by; });
    if (!read) return std::nullopt;
    const auto pack = std::find_if(all[*read].ops.begin(), all[*read].ops.end(),
                                   [&](const Operand& op) { return op.is_preg() && op.role == Role::Use; });
    if (pack->preg().file != home.file || pack->preg().count != home.count) return std::nullopt;
    for (std::uint32_t k = at.inst; k < *read; ++k)
      if (mentions(all[k], pack->preg())) return std::nullopt;
    return pack->preg();
  };
}

std::optional<PReg> in_clobbered_later(Trial& t, const Place& at, PReg home) {
  const auto& all = t.insts(at);
  const std::uint32_t last = last_read(all, at.inst, home);
  std::vector<PReg> homes;
  for (std::uint32_t k = at.inst + 1; k < last; ++k)
    for (const Operand& op : all[k].ops)
      for (int u = op.preg().begin(); op.role == Role::Clobber && u + home.count <= op.preg().end(); ++u)
        if (const PReg to = at_unit(home, u);
            op.preg().file == home.file && u % home.count == 0 && !to.overlaps(home) && t.site.is_allocatable(to) &&
            std::none_of(all.begin() + at.inst, all.begin() + last + 1, [&](const EditInst& i) {
              return std::any_of(i.ops.begin(), i.ops.end(),
                                 [&](const Operand& o) { return o.is_preg() && o.role != Role::Clobber && o.preg().overlaps(to); });
            }))
          homes.push_back(to);
  return pick(homes, t.random);
}

std::optional<PReg> in_unsaved(Trial& t, const Place&, PReg home) {
  std::vector<PReg> homes;
  for (const PReg r : t.site.preserved) {
    const bool used = std::any_of(t.site.subject.after.operands.begin(), t.site.subject.after.operands.end(),
                                  [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(r); });
    if (!used && r.file == home.file && t.site.is_allocatable(r)) homes.push_back(r);
  }
  return pick(homes, t.random);
}

Edit give(Home home) {
  return [=](Trial& t, const Place& at) {
    const auto to = home(t, at, t.op(at).preg());
    if (to) t.op(at).set_preg(*to);
    return to.has_value();
  };
}

// Between the def and the last reader nothing may touch a part of the register alone, and nothing mention both registers.
Edit give_stretch(Home home) {
  return [=](Trial& t, const Place& at) {
    auto& all = t.insts(at);
    const PReg from = t.op(at).preg();
    const std::uint32_t last = last_read(all, at.inst, from);
    const auto to = last > at.inst ? home(t, at, from) : std::nullopt;
    if (!to) return false;
    for (std::uint32_t k = at.inst; k <= last; ++k)
      for (const Operand& op : all[k].ops)
        if (op.is_preg() && op.role != Role::Clobber &&
            ((op.preg().overlaps(from) && op.preg() != from) || (op.preg().overlaps(*to) && mentions(all[k], from))))
          return false;
    for (std::uint32_t k = at.inst; k <= last; ++k)
      for (Operand& op : all[k].ops)
        if (op.is_preg() && op.role != Role::Clobber && op.preg() == from && (k != at.inst || op.role == Role::Def) &&
            (k != last || op.reads()))
          op.set_preg(*to);
    return true;
  };
}

Edit copy_to(Home home) {
  return [=](Trial& t, const Place& at) {
    const PReg from = t.op(at).preg();
    const auto to = t.insts(at)[at.inst + 1].inst.is_phi() ? std::nullopt : home(t, at, from);
    if (to) insert_at(t.program, at.block, at.inst + 1, make_copy(*to, from));
    return to.has_value();
  };
}

Edit add_predicate(Role role) {
  return [=](Trial& t, const Place& at) {
    const auto other = t.site.another_home(t.op(at).preg(), true, t.random);
    if (!other || mentions(t.inst(at), *other)) return false;
    auto& ops = t.inst(at).ops;
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at.operand), Operand::of_preg(role, *other));
    return true;
  };
}

Edit overwrite(Extent extent, bool close) {
  return [=](Trial& t, const Place& at) {
    const Operand op = t.op(at);
    Operand to = Operand::of_preg(Role::Def, op.preg());
    if (extent == Extent::Unit) {
      const int unit = op.preg().first + static_cast<int>(t.random.below(op.preg().count));
      to.set_preg({op.preg().file, 1, static_cast<std::uint16_t>(unit)});
    } else if (extent == Extent::Half) {
      const int byte = op.part.offset_bytes();
      to.set_preg({op.preg().file, 1, static_cast<std::uint16_t>(op.preg().first + byte / 4)});
      to.part = ir::Part::of(1, byte % 4 / 2);
    } else if (extent == Extent::Bit) {
      int bit = 0;
      for (const Operand& o : t.inst(at).ops) {
        if (o.is_preg() && o.role == Role::Def) bit = o.preg().first;
        if (o.kind == ir::OperandKind::Imm) bit = static_cast<int>(o.imm());
      }
      to.part = ir::Part::of(1, bit / 16);
    }
    const auto from = t.site.another_home(to.preg(), true, t.random);
    if (!from) return false;
    const auto& all = t.insts(at);
    std::uint32_t where = at.inst;
    while (!close && where > 0 && at.inst - where < 6 && !all[where - 1].inst.is_phi() && !writes(all[where - 1], to.preg()) &&
           t.random.chance(70))
      --where;
    insert_at(t.program, at.block, where, inserted(Op::Copy, {to, Operand::of_preg(Role::Use, *from, to.part)}));
    return true;
  };
}

bool swap_operands(Trial& t, const Place& at) {
  auto& ops = t.inst(at).ops;
  swap_places(ops[at.operand], ops[at.other]);
  return true;
}

// --- instructions ---------------------------------------------------------------------------------------------------

bool drop(Trial& t, const Place& at) {
  t.insts(at).erase(t.insts(at).begin() + at.inst);
  return true;
}

bool drop_operand(Trial& t, const Place& at) {
  auto& ops = t.inst(at).ops;
  const auto alike = std::count_if(ops.begin(), ops.end(), [&](const Operand& op) {
    return op.is_preg() && op.role == ops[at.operand].role && op.preg().file == ops[at.operand].preg().file;
  });
  if (alike == 1) return drop(t, at);
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at.operand));
  return true;
}

bool delete_original(Trial& t, const Place& at) {
  mark_deleted(t.inst(at));
  return true;
}

Edit down_to(Stop stop) {
  return [=](Trial& t, const Place& at) {
    const EditInst mine = t.inst(at);
    const auto to = next_of(t.insts(at), at.inst, [&](const EditInst& i) { return stop(i, mine); });
    if (to) move_inst(t.insts(at), at.inst, *to);
    return to.has_value();
  };
}

Edit up_to(Stop stop) {
  return [=](Trial& t, const Place& at) {
    const EditInst mine = t.inst(at);
    const auto to = last_of(t.insts(at), at.inst, [&](const EditInst& i) { return stop(i, mine); });
    if (to) move_inst(t.insts(at), at.inst, *to);
    return to.has_value();
  };
}

bool to_other(Trial& t, const Place& at) {
  move_inst(t.insts(at), at.inst, at.other);
  return true;
}

bool again_behind_writer(Trial& t, const Place& at) {
  const EditInst again = inserted(t.inst(at).inst.op, t.inst(at).ops);
  const auto to = next_of(t.insts(at), at.inst, [&](const EditInst& i) { return writes(i, again.ops[0].preg()); });
  if (to) insert_at(t.program, at.block, *to + 1, again);
  return to.has_value();
}

Edit repeat(bool as_inserted) {
  return [=](Trial& t, const Place& at) {
    EditInst again = t.inst(at);
    again.inst.id = t.program.next_id();
    if (as_inserted) again.inst.flags |= ir::kInserted;
    insert_at(t.program, at.block, at.inst + 1, std::move(again));
    return true;
  };
}

bool to_other_block(Trial& t, const Place& at) {
  const std::uint32_t to = t.random.below(static_cast<std::uint32_t>(t.site.subject.before.blocks.size()));
  if (to == at.block) return false;
  auto& there = t.program.blocks[to].insts;
  there.insert(there.end() - 1, t.inst(at));
  return drop(t, at);
}

bool repeat_carelessly(Trial& t, const Place& at) {
  EditInst remat = inserted(Op::Remat, t.inst(at).ops);
  remat.inst.ref = t.inst(at).inst.id;
  const PReg def = remat.ops[0].preg();
  const std::uint32_t last = last_read(t.insts(at), at.inst, def);
  const std::uint32_t where = last > at.inst + 1 ? at.inst + 1 + t.random.below(last - at.inst) : last;
  if (where == at.inst || !reads(t.insts(at)[where], def)) return false;
  insert_at(t.program, at.block, where, std::move(remat));
  return true;
}

namespace {

// Original instructions that a remat of this shape could name instead: reachable, repeatable, not fixed, without register sources.
std::vector<const ir::Inst*> others_to_repeat(const Trial& t, const EditInst& remat) {
  const ir::Function& before = t.site.subject.before;
  std::vector<const ir::Inst*> others;
  for (const ir::Inst& i : before.insts) {
    const auto ops = before.operands_of(i);
    if (!is_repeatable(before, i) || i.id == remat.inst.ref || before.fixed_of(ops[0]).is_valid()) continue;
    const ir::VReg& root = t.site.root_of(ops[0]);
    const PReg home = remat.ops[0].preg();
    if (root.file() == home.file && root.units() == home.count && home.first % root.alignment() == 0 &&
        root.bytes() == static_cast<int>(bytes_of(remat.ops[0])) &&
        std::none_of(ops.begin() + 1, ops.end(), [](const Operand& op) { return op.is_vreg(); }))
      others.push_back(&i);
  }
  return others;
}

}  // namespace

bool repeat_another(Trial& t, const Place& at) {
  const ir::Function& before = t.site.subject.before;
  EditInst& remat = t.inst(at);
  const auto other = pick(others_to_repeat(t, remat), t.random);
  if (!other) return false;
  remat.inst.ref = (*other)->id;
  remat.ops.resize(1);
  for (const Operand& op : before.operands_of(**other).subspan(1)) {
    remat.ops.push_back(op);
    if (op.kind == ir::OperandKind::Symbol)
      remat.ops.back().set_symbol(t.program.header.symbols.intern(before.symbols[op.symbol()]));
  }
  return true;
}

bool claim_another(Trial& t, const Place& at) {
  EditInst& remat = t.inst(at);
  auto others = others_to_repeat(t, remat);
  // Another number of operands, or another immediate.
  std::erase_if(others, [&](const ir::Inst* i) {
    const auto ops = t.site.subject.before.operands_of(*i);
    if (ops.size() != remat.ops.size()) return false;
    for (std::size_t k = 1; k < ops.size(); ++k)
      if (ops[k].kind == ir::OperandKind::Imm && remat.ops[k].kind == ir::OperandKind::Imm && ops[k].imm() != remat.ops[k].imm())
        return false;
    return true;
  });
  const auto other = pick(others, t.random);
  if (other) remat.inst.ref = (*other)->id;
  return other.has_value();
}

// --- copies and edges -----------------------------------------------------------------------------------------------

bool reverse_copy(Trial& t, const Place& at) {
  auto& ops = t.inst(at).ops;
  const std::size_t n = pairs_of(t.inst(at));
  for (std::size_t k = 0; k < n; ++k) {
    swap_places(ops[k], ops[n + k]);
    std::swap(ops[k].part, ops[n + k].part);
  }
  return true;
}

bool do_pair_first(Trial& t, const Place& at) {
  const EditInst whole = t.inst(at);
  const std::size_t n = pairs_of(whole);
  t.inst(at).ops.clear();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t pair = k == 0 ? at.operand : k <= at.operand ? k - 1 : k;
    EditInst one = inserted(Op::Copy, {whole.ops[pair], whole.ops[n + pair]});
    if (has_guard(whole)) one.ops.push_back(whole.ops.back());
    if (k == 0) t.inst(at).ops = one.ops;
    else insert_at(t.program, at.block, at.inst + k, std::move(one));
  }
  return true;
}

bool empty_edge(Trial& t, const Place& at) {
  t.insts(at).erase(t.insts(at).begin(), t.insts(at).end() - 1);
  return true;
}

bool do_on_all_edges(Trial& t, const Place& at) {
  auto& from = t.program.blocks[t.program.blocks[at.block].attributes.edge_from.index()].insts;
  from.insert(from.end() - 1, t.insts(at).begin(), t.insts(at).end() - 1);
  return empty_edge(t, at);
}

namespace {

// The last inserted instruction of the block's tail that writes all of `home` and nothing else.
std::optional<std::uint32_t> tail_write(const EditProgram& p, BlockId b, PReg home) {
  const auto& all = p.blocks[b.index()].insts;
  for (auto k = static_cast<std::uint32_t>(all.size() - 1); k-- > 0 && all[k].inst.is_inserted();)
    if (!all[k].ops.empty() && all[k].ops[0].is_preg() && all[k].ops[0].writes() && all[k].ops[0].preg() == home)
      return all[k].inst.is_copy() && pairs_of(all[k]) > 1 ? std::nullopt : std::optional(k);
  return std::nullopt;
}

}  // namespace

std::vector<Place> joins(const Site& s) {
  std::vector<Place> places;
  for (std::uint32_t b = 0; b < s.program.blocks.size(); ++b) {
    const auto& all = s.program.blocks[b].insts;
    if (!s.cfg.is_reachable(BlockId(b)) ||
        std::none_of(all.begin(), all.end(), [](const EditInst& i) { return i.inst.is_phi() && i.inst.is_deleted(); }))
      continue;
    const auto from = s.cfg.predecessors(BlockId(b));
    for (std::size_t f = 0; f < from.size(); ++f)
      for (const EditInst& i : s.program.blocks[from[f].index()].insts)
        if (i.inst.is_inserted() && !i.ops.empty() && i.ops[0].is_preg() && i.ops[0].writes())
          places.push_back({b, 0, i.ops[0].raw().value, f});
  }
  return places;
}

bool drop_phi_copies(Trial& t, const Place& at) {
  bool dropped = false;
  for (const BlockId from : t.site.cfg.predecessors(BlockId(at.block)))
    if (const auto k = tail_write(t.program, from, Operand::unpack(static_cast<std::uint32_t>(at.operand))))
      dropped = drop(t, {from.value, *k});
  return dropped;
}

bool swap_phi_sides(Trial& t, const Place& at) {
  const PReg home = Operand::unpack(static_cast<std::uint32_t>(at.operand));
  const auto from = t.site.cfg.predecessors(BlockId(at.block));
  const auto mine = tail_write(t.program, from[at.other], home);
  for (std::size_t f = 0; f < from.size() && mine; ++f) {
    const auto its = f == at.other ? std::nullopt : tail_write(t.program, from[f], home);
    if (!its) continue;
    EditInst &a = t.program.blocks[from[at.other].index()].insts[*mine], &b = t.program.blocks[from[f].index()].insts[*its];
    std::swap(a, b);
    std::swap(a.inst.id, b.inst.id);
    return true;
  }
  return false;
}

bool keep_phi(Trial& t, const Place& at) {
  EditInst& i = t.inst(at);
  const ir::Function& before = t.site.subject.before;
  const ir::Inst& old = *t.site.expected.find(i.inst.id);
  const auto ops = before.operands_of(old);
  const ir::VReg& root = t.site.root_of(ops[0]);
  if (root.fixed.is_valid()) return false;
  const auto one = t.site.another_home({root.file(), static_cast<std::uint8_t>(root.units()), 0}, false, t.random);
  const auto other = one ? t.site.another_home(*one, false, t.random) : std::nullopt;
  if (!other) return false;
  i.inst.flags &= static_cast<std::uint16_t>(~ir::kDeleted);
  const auto targets = before.targets_of(old);
  i.targets.assign(targets.begin(), targets.end());
  i.ops.clear();
  for (std::size_t k = 0; k < ops.size(); ++k) i.ops.push_back(Operand::of_preg(ops[k].role, k == 0 ? *one : *other));
  return true;
}

// --- memory ---------------------------------------------------------------------------------------------------------

namespace {

std::uint32_t& frame_of(EditProgram& p, const ir::Slot& s) {
  return s.space == ir::MemSpace::Local ? p.header.local_frame : p.header.shared_frame;
}

// Calls change(slot operand) for each.
template <class Change>
void each_slot_operand(EditProgram& p, Change change) {
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      for (Operand& op : i.ops)
        if (op.is_slot()) change(op);
}

}  // namespace

Edit use_slot(SlotTest of) {
  return [=](Trial& t, const Place& at) {
    auto& ops = t.inst(at).ops;
    const auto& all = t.program.header.slots;
    std::vector<std::uint32_t> others;
    for (std::uint32_t k = 0; k < all.size(); ++k)
      if (k != ops[1].slot().value && ops[1].slot_offset() + bytes_of(ops[0]) <= all[k].size &&
          of(all[ops[1].slot().index()], all[k]))
        others.push_back(k);
    const auto other = pick(others, t.random);
    if (other) ops[1].set_slot(ir::SlotId(*other));
    return other.has_value();
  };
}

bool swap_slots(Trial& t, const Place& at) {
  std::swap(t.inst(at).ops[1], t.insts(at)[at.other].ops[1]);
  return true;
}

bool swap_slots_anywhere(Trial& t, const Place& at) {
  std::vector<Operand*> others;
  Operand& mine = t.inst(at).ops[1];
  for (EditBlock& b : t.program.blocks)
    for (EditInst& i : b.insts)
      if (is_refill(i) && i.ops[1].slot() != mine.slot() &&
          t.program.header.slots[i.ops[1].slot().index()].size == t.program.header.slots[mine.slot().index()].size)
        others.push_back(&i.ops[1]);
  const auto other = pick(others, t.random);
  if (other) swap_places(mine, **other);
  return other.has_value();
}

bool store_half(Trial& t, const Place& at) {
  Operand& reg = t.inst(at).ops[0];
  PReg half = reg.preg();
  if (half.count < 2 || !reg.part.is_whole()) return false;
  half.count = static_cast<std::uint8_t>(half.count / 2);
  reg.set_preg(half);
  return true;
}

bool add_guard(Trial& t, const Place& at) {
  const auto guard = t.site.another_home({RegFile::P, 1, 511}, true, t.random);
  if (!guard || has_guard(t.inst(at))) return false;
  Operand op = Operand::of_preg(Role::Guard, *guard);
  op.flags = t.random.chance(50) ? ir::kNegated : 0;
  t.inst(at).ops.push_back(op);
  return true;
}

bool merge_slots(Trial& t, const Place& at) {
  if (t.program.header.slots[at.operand].size > t.program.header.slots[at.other].size) return false;
  each_slot_operand(t.program, [&](Operand& op) {
    if (op.slot().index() == at.operand) op.set_slot(ir::SlotId(at.other));
  });
  return true;
}

bool overlap_in_slot(Trial& t, const Place& at) {
  const ir::Slot first = t.program.header.slots[at.operand], second = t.program.header.slots[at.other];
  if (first.size < 8 || second.size < 4) return false;
  const ir::SlotId both = add_slot(t.program, first.space, first.size - 4 + second.size);
  each_slot_operand(t.program, [&](Operand& op) {
    if (op.slot().index() == at.other) op.set_slot(both, op.slot_offset() + first.size - 4);
    else if (op.slot().index() == at.operand) op.set_slot(both);
  });
  return true;
}

bool overlap_in_frame(Trial& t, const Place& at) {
  const ir::Slot& wide = t.program.header.slots[at.operand];
  ir::Slot& other = t.program.header.slots[at.other];
  if (wide.size < 8) return false;
  other.offset = wide.offset + 4;
  other.align = std::min(other.align, 4u);
  return other.offset + other.size <= frame_of(t.program, other);
}

}  // namespace regduel::trial
