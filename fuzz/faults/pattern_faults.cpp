// Faults of the patterns, but for predicate packs (pattern_faults_packs.cpp): remats, slots in shared memory, split and doubled
// accesses, callee-saved registers, values kept in other files. They are found in the allocation by their instructions, so that
// they apply to whatever an allocator makes of this kind by itself, too.
//
// Codes: a remat that is not what it repeats is 7. What comes through a refill from a place that never holds the value is 1, that
// holds it on some paths only (on the next round of a loop, say) 2. A register that keeps an original def is 6, that nobody
// wrote 5. A may-store that always happens loses the old value and adds nothing, 10. Source: seed 000 "Error Categories". Tested by
// pattern_faults_test.cpp.
#include "fuzz/faults/pattern_faults.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

// Spots of reachable blocks where `take(instruction, units live behind it)` is true.
template <class Take>
std::vector<Spot> spots(const EditProgram& p, const Subject& s, Take take) {
  const AfterFactsOf facts(s);
  const UnitLiveness& live = facts->liveness();
  std::vector<Spot> list;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    if (!live.is_reachable(b)) continue;
    const auto points = live.points(b);
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k)
      if (take(p.blocks[b].insts[k], points[k + 1])) list.push_back({b, k});
  }
  return list;
}
bool is_live(const Operand& op, const UnitSet& live) { return (touched_units(op) & live).any(); }

std::uint32_t bytes_of(const Operand& op) {
  const ir::FileBytes b = ir::Function::file_bytes(op);
  return b.end - b.begin;
}

// --- remats --------------------------------------------------------------------------------------------------------

std::vector<Spot> live_remats(const EditProgram& p, const Subject& s) {
  auto list = spots(p, s, [](const EditInst& i, const UnitSet& live) {
    return i.inst.op == Op::Remat && !i.ops.empty() && is_live(i.ops[0], live);
  });
  const FactsOf facts(s);
  std::erase_if(list, [&](Spot spot) { return !has_plain_reader(*facts, p, spot, at(p, spot).ops[0].preg()); });
  return list;
}

bool remat_wrong_instruction(EditProgram& p, const Subject& s, Random& random) {
  const BeforeIndex before(s.before);
  const auto chosen = pick(live_remats(p, s), random);
  if (!chosen) return false;
  EditInst& remat = at(p, *chosen);
  std::vector<const ir::Inst*> others;
  const ir::Cfg cfg(s.before);
  std::size_t block = 0;
  for (const ir::Inst& i : s.before.insts) {
    const auto ops = s.before.operands_of(i);
    const ir::BlockId home(block);
    block += i.is_terminator() ? 1 : 0;
    if (!cfg.is_reachable(home)) continue;
    if (!before.is_repeatable(i) || i.id == remat.inst.ref || s.before.fixed_of(ops[0]).is_valid()) continue;
    const ir::VReg& root = s.before.vreg(s.before.storage(ops[0]).root);
    if (root.file() != remat.ops[0].preg().file || root.units() != remat.ops[0].preg().count ||
        remat.ops[0].preg().first % root.alignment() != 0)
      continue;
    if (root.bytes() == static_cast<int>(bytes_of(remat.ops[0])) &&
        std::none_of(ops.begin() + 1, ops.end(), [](const Operand& op) { return op.is_vreg(); }))
      others.push_back(&i);
  }
  const auto other = pick(others, random);
  if (!other) return false;
  std::vector<Operand> ops = {remat.ops[0]};
  for (const Operand& op : s.before.operands_of(**other).subspan(1)) {
    ops.push_back(op);
    if (op.kind == ir::OperandKind::Symbol) ops.back().value = p.header.symbols.intern(s.before.symbols[op.symbol()]).value;
  }
  remat.inst.ref = (*other)->id;
  remat.ops = std::move(ops);
  return true;
}

// Only the number: the operands are still those of the right one.
bool remat_wrong_number(EditProgram& p, const Subject& s, Random& random) {
  const BeforeIndex before(s.before);
  const auto chosen = pick(live_remats(p, s), random);
  if (!chosen) return false;
  EditInst& remat = at(p, *chosen);
  std::vector<ir::InstId> others;
  for (const ir::Inst& i : s.before.insts) {
    const auto ops = s.before.operands_of(i);
    if (!before.is_repeatable(i) || s.before.fixed_of(ops[0]).is_valid()) continue;
    // Another number of operands, or the same but for an immediate.
    bool differs = ops.size() != remat.ops.size(), same_kinds = true;
    for (std::size_t k = 1; !differs && k < ops.size(); ++k) {
      same_kinds = same_kinds && ops[k].kind == ir::OperandKind::Imm && remat.ops[k].kind == ir::OperandKind::Imm;
      differs = same_kinds && ops[k].imm() != remat.ops[k].imm();
    }
    if (differs && same_kinds) others.push_back(i.id);
  }
  const auto other = pick(others, random);
  if (!other) return false;
  remat.inst.ref = *other;
  return true;
}

bool remat_wrong_immediate(EditProgram& p, const Subject& s, Random& random) {
  auto list = live_remats(p, s);
  const auto immediate = [](const EditInst& i) {
    return std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& op) { return op.kind == ir::OperandKind::Imm; });
  };
  std::erase_if(list, [&](Spot at_remat) { return immediate(at(p, at_remat)) == at(p, at_remat).ops.end(); });
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  EditInst& i = at(p, *chosen);
  Operand& op = i.ops[static_cast<std::size_t>(immediate(i) - i.ops.begin())];
  op = Operand::of_imm(op.imm() ^ (std::int64_t{1} << random.below(8)));
  return true;
}

std::vector<std::pair<Spot, std::size_t>> remat_sources(const EditProgram& p, const Subject& s) {
  std::vector<std::pair<Spot, std::size_t>> list;
  for (const Spot at_remat : live_remats(p, s))
    for (std::size_t k = 1; k < at(p, at_remat).ops.size(); ++k)
      if (at(p, at_remat).ops[k].is_preg()) list.emplace_back(at_remat, k);
  return list;
}

bool remat_wrong_source(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(remat_sources(p, s), random);
  if (!chosen) return false;
  const auto other = another_register(p, s, at(p, chosen->first).ops[chosen->second].preg(), random);
  if (!other) return false;
  at(p, chosen->first).ops[chosen->second].value = Operand::pack(*other);
  return true;
}

// A source is overwritten right in front of a remat.
bool remat_source_overwritten(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(remat_sources(p, s), random);
  if (!chosen) return false;
  const PReg source = at(p, chosen->first).ops[chosen->second].preg();
  const auto other = another_register(p, s, source, random);
  if (!other || !ir::is_allocatable(s.target, s.limits, source.file, source.end() - 1)) return false;
  auto& insts = p.blocks[chosen->first.block].insts;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(chosen->first.inst), make_copy(source, *other));
  number_inserted(p);
  return true;
}

// What an operation reads, if one unguarded def made it, is "rematerialised" in front of it, with the registers that the def read.
// Either the def may not be repeated, or one of these registers holds something else by now.
template <bool kRepeatable>
bool remat_carelessly(EditProgram& p, const Subject& s, Random& random) {
  const BeforeIndex before(s.before);
  const AfterFactsOf facts(s);
  const Holdings& holdings = facts->holdings();
  const auto walk = [&](auto visit) {
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      Holdings::State state = holdings.at_begin(b);
      for (std::size_t k = 0; !state.empty() && k < p.blocks[b].insts.size(); ++k) {
        const EditInst& i = p.blocks[b].insts[k];
        const ir::Inst* old = before.find(i);
        if (old != nullptr && !old->is_copy() && !old->is_phi()) visit(Spot{b, k}, i, *old, state);
        holdings.step(state, i);
      }
    }
  };
  // What the register operands of each candidate hold where it stands.
  struct Source {
    Spot spot;
    std::vector<std::vector<Token>> held;
  };
  std::unordered_map<std::uint32_t, Source> sources;
  walk([&](Spot spot, const EditInst& i, const ir::Inst& old, const Holdings::State& state) {
    if (old.op != Op::Named || before.is_repeatable(old) != kRepeatable || old.has(ir::kMemWrite) || !before.is_free_def(old, 0))
      return;
    if (std::any_of(i.ops.begin() + 1, i.ops.end(), [](const Operand& op) { return op.role != Role::Use; })) return;
    Source source{spot, {}};
    for (const Operand& op : i.ops)
      source.held.push_back(op.is_preg() && op.role == Role::Use ? holdings.held_by(state, op) : std::vector<Token>());
    sources.emplace(static_cast<std::uint32_t>(&old - s.before.insts.data()), std::move(source));
  });
  std::vector<std::pair<Spot, EditInst>> list;
  walk([&](Spot spot, const EditInst& i, const ir::Inst&, const Holdings::State& state) {
    for (const Operand& op : i.ops) {
      if (!op.is_preg() || op.role != Role::Use) continue;
      const auto held = holdings.held_by(state, Operand::of_preg(Role::Use, op.preg()));
      const auto source = held.empty() ? sources.end() : sources.find(holdings.origin(held[0]).inst);
      if (source == sources.end() || holdings.origin(held[0]).word != 0 || held.size() != op.preg().count ||
          held.back() - held[0] + 1 != held.size())
        continue;
      const EditInst& there = at(p, source->second.spot);
      const ir::VReg& root = s.before.vreg(s.before.storage(s.before.operands_of(s.before.insts[source->first])[0]).root);
      if (root.units() != op.preg().count || op.preg().first % root.alignment() != 0) continue;
      bool is_stale = !kRepeatable;
      for (std::size_t k = 1; k < there.ops.size(); ++k)
        is_stale = is_stale ||
                   (there.ops[k].is_preg() && !source->second.held[k].empty() && !holdings.held_by(state, there.ops[k]).empty() &&
                    holdings.held_by(state, there.ops[k]) != source->second.held[k]);
      if (!is_stale) continue;
      EditInst remat = inserted(Op::Remat, there.ops);
      remat.inst.ref = there.inst.id;
      remat.ops[0] = Operand::of_preg(Role::Def, op.preg());
      list.emplace_back(spot, std::move(remat));
    }
  });
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  auto& insts = p.blocks[chosen->first.block].insts;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(chosen->first.inst), chosen->second);
  number_inserted(p);
  return true;
}

// A def that is still read goes as if remats served all its uses; its register keeps what another def left there.
bool live_def_deleted(EditProgram& p, const Subject& s, Random& random) {
  const BeforeIndex before(s.before);
  auto list = spots(p, s, [&](const EditInst& i, const UnitSet& live) {
    const ir::Inst* old = before.find(i);
    return old != nullptr && before.is_repeatable(*old) && !i.ops.empty() && is_live(i.ops[0], live);
  });
  const FactsOf facts(s);
  std::erase_if(list, [&](Spot spot) {
    const PReg reg = at(p, spot).ops[0].preg();
    const auto stale = plain_writer(p, spot, reg);
    return !stale || !before.is_full(at(p, *stale)) || !has_plain_reader(*facts, p, spot, reg);
  });
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  at(p, *chosen).inst.flags |= ir::kDeleted;
  at(p, *chosen).ops.clear();
  return true;
}

// --- slots ---------------------------------------------------------------------------------------------------------

std::vector<Spot> live_refills(const EditProgram& p, const Subject& s) {
  auto list = spots(p, s, [](const EditInst& i, const UnitSet& live) {
    return i.inst.is_inserted() && is_spill_or_refill(i) && is_refill(i) && is_live(i.ops[0], live);
  });
  const FactsOf facts(s);
  std::erase_if(list, [&](Spot spot) { return !has_plain_reader(*facts, p, spot, at(p, spot).ops[0].preg()); });
  return list;
}

// Slots that hold nothing but what original instructions made and what was stored from their registers at once.
std::vector<bool> plain_slots(const EditProgram& p) {
  const auto uses = slot_uses(p);
  std::vector<bool> plain(uses.size());
  for (std::size_t k = 0; k < uses.size(); ++k)
    plain[k] = uses[k].spills > 0 && std::all_of(uses[k].accesses.begin(), uses[k].accesses.end(), [&](Spot spot) {
                 return !is_spill(at(p, spot)) || plain_writer(p, spot, at(p, spot).ops[0].preg()).has_value();
               });
  return plain;
}

// A refill takes its value from a slot of the other space, or of the same one.
template <bool kOtherSpace>
bool refill_from_elsewhere(EditProgram& p, const Subject& s, Random& random) {
  std::vector<std::pair<Spot, Operand>> list;
  const auto plain = plain_slots(p);
  for (const Spot spot : live_refills(p, s)) {
    const EditInst& i = at(p, spot);
    const ir::Slot& slot = p.header.slots[i.ops[1].slot().index()];
    for (std::size_t k = 0; k < p.header.slots.size(); ++k) {
      const ir::Slot& other = p.header.slots[k];
      if (k == i.ops[1].slot().index() || (!kOtherSpace && slot.space != ir::MemSpace::Shared) ||
          (slot.space != other.space) != kOtherSpace)
        continue;
      if (i.ops[1].extra + bytes_of(i.ops[0]) > other.size || !plain[k]) continue;
      list.emplace_back(spot, Operand::of_slot(ir::SlotId(k), i.ops[1].extra));
      // The same offset in the other frame: what a lost address space does.
      if (kOtherSpace && slot.offset == other.offset) list.insert(list.end(), 3, list.back());
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  at(p, chosen->first).ops[1] = chosen->second;
  return true;
}

// A shared slot is taken for a local one, where another slot lies already, or none.
bool slot_loses_space(EditProgram& p, const Subject& s, Random& random) {
  std::vector<std::size_t> list;
  std::set<std::size_t> used;
  for (const Spot spot : live_refills(p, s)) used.insert(at(p, spot).ops[1].slot().index());
  for (const std::size_t k : used) {
    const ir::Slot& slot = p.header.slots[k];
    if (slot.space != ir::MemSpace::Shared) continue;
    bool shows = slot.offset + slot.size > p.header.local_frame;
    for (const ir::Slot& other : p.header.slots)
      shows = shows || (other.space == ir::MemSpace::Local && other.offset < slot.offset + slot.size &&
                        slot.offset < other.offset + other.size);
    if (shows) list.push_back(k);
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  p.header.slots[*chosen].space = ir::MemSpace::Local;
  return true;
}

// Two pieces of one value change places on their way back.
bool halves_swapped(EditProgram& p, const Subject& s, Random& random) {
  std::vector<std::pair<Spot, Spot>> list;
  const auto refills = live_refills(p, s);
  for (const Spot a : refills) {
    const EditInst& first = at(p, a);
    for (std::size_t k = a.inst + 1; k < p.blocks[a.block].insts.size(); ++k) {
      const EditInst& other = p.blocks[a.block].insts[k];
      if (!other.inst.is_inserted() || !is_refill(other) || guard_of(other) != nullptr || guard_of(first) != nullptr) break;
      if (other.ops[1].slot() == first.ops[1].slot() && other.ops[1].extra != first.ops[1].extra &&
          bytes_of(other.ops[0]) == bytes_of(first.ops[0]))
        list.emplace_back(a, Spot{a.block, k});
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  std::swap(at(p, chosen->first).ops[1], at(p, chosen->second).ops[1]);
  return true;
}

// One piece of a value is not stored: no other store covers it.
bool half_not_stored(EditProgram& p, const Subject& s, Random& random) {
  std::vector<Spot> list;
  const auto uses = slot_uses(p);
  std::set<std::size_t> live;
  for (const Spot spot : live_refills(p, s)) live.insert(at(p, spot).ops[1].slot().index());
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!live.contains(k)) continue;
    for (const Spot a : uses[k].accesses) {
      const EditInst& i = at(p, a);
      const std::uint32_t begin = i.ops[1].extra, end = begin + bytes_of(i.ops[0]);
      if (!is_spill(i) || !i.inst.is_inserted() || end - begin == p.header.slots[k].size) continue;
      if (std::none_of(uses[k].accesses.begin(), uses[k].accesses.end(), [&](Spot b) {
            const EditInst& other = at(p, b);
            return b != a && is_spill(other) && other.ops[1].extra < end && begin < other.ops[1].extra + bytes_of(other.ops[0]);
          }))
        list.push_back(a);
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  auto& insts = p.blocks[chosen->block].insts;
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(chosen->inst));
  return true;
}

// An original guarded copy that stores under its guard, between the store and the refill of the old value.
std::vector<Spot> may_stores(const EditProgram& p, const Subject& s) {
  const FactsOf facts(s);
  std::vector<Spot> list;
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 1; k + 1 < p.blocks[b].insts.size(); ++k) {
      const EditInst &old = p.blocks[b].insts[k - 1], &i = p.blocks[b].insts[k], &back = p.blocks[b].insts[k + 1];
      if (i.inst.is_inserted() || !is_spill(i) || guard_of(i) == nullptr || !old.inst.is_inserted() || !is_spill(old) ||
          !is_refill(back))
        continue;
      if (old.ops[1] == i.ops[1] && back.ops[1] == i.ops[1] && old.ops[0].preg() == back.ops[0].preg() &&
          has_plain_reader(*facts, p, {b, k + 1}, back.ops[0].preg()))
        list.push_back({b, k});
    }
  return list;
}

bool may_store_always(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(may_stores(p, s), random);
  if (!chosen) return false;
  std::erase_if(at(p, *chosen).ops, [](const Operand& op) { return op.role == Role::Guard; });
  return true;
}

bool old_value_not_stored(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(may_stores(p, s), random);
  if (!chosen) return false;
  auto& insts = p.blocks[chosen->block].insts;
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(chosen->inst) - 1);
  return true;
}

// --- other files ---------------------------------------------------------------------------------------------------

// A copy that alone writes a register which is read elsewhere.
bool detour_dropped(EditProgram& p, const Subject& s, Random& random) {
  std::vector<int> writers(UnitSet().size(), 0);
  UnitSet entry = preserved_units_of(s);
  for (const ir::VReg& v : s.before.vregs)
    if ((v.flags & ir::kVRegArchitectural) != 0 && v.fixed.is_valid()) entry |= units_of(v.fixed);
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts) {
      const UnitSet written = written_units(i);
      for (std::size_t u = 0; u < written.size(); ++u) writers[u] += written.test(u) ? 1 : 0;
    }
  // Registers that a copy reads whose own result goes straight to an operation.
  UnitSet shown;
  const FactsOf facts(s);
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k) {
      const EditInst& i = p.blocks[b].insts[k];
      if (i.inst.is_inserted() && i.inst.is_copy() && i.ops.size() == 2 && has_plain_reader(*facts, p, {b, k}, i.ops[0].preg()))
        shown |= read_units(i);
    }
  const auto chosen =
      pick(spots(p, s,
                 [&](const EditInst& i, const UnitSet& live) {
                   if (!i.inst.is_inserted() || !i.inst.is_copy() || i.ops.size() != 2 || !is_live(i.ops[0], live)) return false;
                   const UnitSet written = written_units(i);
                   if ((written & entry).any() || ir::is_predicate(i.ops[0].preg().file) != ir::is_predicate(i.ops[1].preg().file))
                     return false;
                   for (std::size_t u = 0; u < written.size(); ++u)
                     if (written.test(u) && writers[u] != 1) return false;
                   return (written & shown).any();
                 }),
           random);
  if (!chosen) return false;
  auto& insts = p.blocks[chosen->block].insts;
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(chosen->inst));
  return true;
}

// --- callee-saved registers ----------------------------------------------------------------------------------------

struct Saved {
  Spot save;
  std::vector<Spot> restores;
};
std::vector<Saved> saved_registers(const EditProgram& p, const Subject& s) {
  const UnitSet preserved = preserved_units_of(s);
  std::vector<Saved> list;
  if (preserved.none()) return list;
  const auto& entry = p.blocks[0].insts;
  for (std::size_t k = 0; k < entry.size() && entry[k].inst.is_inserted(); ++k) {
    if (!is_spill(entry[k]) || (units_of(entry[k].ops[0].preg()) & ~preserved).any()) continue;
    Saved saved;
    saved.save = {0, k};
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      const auto& insts = p.blocks[b].insts;
      if (insts.back().inst.op != Op::Ret) continue;
      for (std::size_t j = insts.size() - 1; j-- > 0 && insts[j].inst.is_inserted();)
        if (is_refill(insts[j]) && insts[j].ops[0].preg() == entry[k].ops[0].preg() && insts[j].ops[1] == entry[k].ops[1])
          saved.restores.push_back({b, j});
    }
    if (!saved.restores.empty()) list.push_back(saved);
  }
  return list;
}
std::vector<Spot> restores(const EditProgram& p, const Subject& s) {
  std::vector<Spot> list;
  const AfterFactsOf facts(s);
  const UnitLiveness& live = facts->liveness();
  for (const Saved& saved : saved_registers(p, s))
    for (const Spot r : saved.restores)
      if (live.is_reachable(r.block)) list.push_back(r);
  return list;
}

bool save_dropped(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(saved_registers(p, s), random);
  if (!chosen) return false;
  p.blocks[0].insts.erase(p.blocks[0].insts.begin() + static_cast<std::ptrdiff_t>(chosen->save.inst));
  return true;
}

bool restore_dropped(EditProgram& p, const Subject& s, Random& random) {
  auto list = restores(p, s);
  std::erase_if(list, [&](Spot r) { return !plain_writer(p, r, at(p, r).ops[0].preg()); });
  const FactsOf facts(s);
  shuffle(list, random);
  for (const Spot r : list) {
    EditProgram trial = p;
    auto& insts = trial.blocks[r.block].insts;
    insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(r.inst));
    if (!holds_definitions(*facts, trial.build(), ir::BlockId(r.block), at(p, r).ops[0].preg())) continue;
    p = std::move(trial);
    return true;
  }
  return false;
}

bool restore_from_wrong_slot(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(restores(p, s), random);
  if (!chosen) return false;
  EditInst& i = at(p, *chosen);
  const auto plain = plain_slots(p);
  std::vector<ir::SlotId> others;
  for (std::size_t k = 0; k < p.header.slots.size(); ++k)
    if (k != i.ops[1].slot().index() && plain[k] && p.header.slots[k].size >= bytes_of(i.ops[0])) others.emplace_back(k);
  const auto other = pick(others, random);
  if (!other) return false;
  i.ops[1] = Operand::of_slot(*other);
  return true;
}

// In front of the last instruction that reads it, in the same block.
bool restore_early(EditProgram& p, const Subject& s, Random& random) {
  std::vector<std::pair<Spot, std::size_t>> list;
  const BeforeIndex before(s.before);
  for (const Spot r : restores(p, s)) {
    const auto& insts = p.blocks[r.block].insts;
    const UnitSet units = units_of(insts[r.inst].ops[0].preg());
    for (std::size_t k = r.inst; k-- > 0;) {
      if ((written_units(insts[k]) & units).any()) break;
      if ((read_units(insts[k]) & units).none()) continue;
      const ir::Inst* old = before.find(insts[k]);
      if (old != nullptr && !old->is_copy() && !old->is_phi()) list.emplace_back(r, k);
      break;
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  const auto begin = p.blocks[chosen->first.block].insts.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(chosen->second), begin + static_cast<std::ptrdiff_t>(chosen->first.inst),
              begin + static_cast<std::ptrdiff_t>(chosen->first.inst) + 1);
  return true;
}

// A copy behind an original def puts it into a callee-saved register that nobody saves.
bool not_saved(EditProgram& p, const Subject& s, Random& random) {
  const UnitSet preserved = preserved_units_of(s);
  UnitSet mentioned;
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts) mentioned |= mentioned_units(i);
  std::vector<PReg> victims;
  for (int u = 0; u < s.target.units[ir::index(RegFile::R)]; ++u)
    if (preserved.test(unit_number(RegFile::R, u)) && !mentioned.test(unit_number(RegFile::R, u)) &&
        ir::is_allocatable(s.target, s.limits, RegFile::R, u))
      victims.push_back({RegFile::R, 1, static_cast<std::uint16_t>(u)});
  const BeforeIndex before(s.before);
  std::vector<std::pair<Spot, PReg>> list;
  const AfterFactsOf facts(s);
  const UnitLiveness& live = facts->liveness();
  for (const PReg victim : victims)
    for (std::size_t b = 0; b < p.blocks.size(); ++b)
      for (std::size_t k = 0; live.is_reachable(b) && k + 1 < p.blocks[b].insts.size(); ++k) {
        const EditInst& i = p.blocks[b].insts[k];
        const ir::Inst* old = before.find(i);
        if (old == nullptr || old->is_copy() || old->is_phi() || guard_of(i) != nullptr || i.ops.empty() ||
            p.blocks[b].insts[k + 1].inst.is_phi())
          continue;
        if (before.is_full(i) && i.ops[0].role == Role::Def && i.ops[0].part.is_whole() && i.ops[0].preg().file == RegFile::R &&
            i.ops[0].preg().count == 1)
          list.emplace_back(Spot{b, k}, victim);
      }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  auto& insts = p.blocks[chosen->first.block].insts;
  EditInst copy = make_copy(chosen->second, insts[chosen->first.inst].ops[0].preg());
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(chosen->first.inst) + 1, std::move(copy));
  number_inserted(p);
  return true;
}

}  // namespace

// --- what both files share -----------------------------------------------------------------------------------------

BeforeIndex::BeforeIndex(const ir::Function& before) : before_(before) {
  for (const ir::Inst& i : before.insts) by_id_.emplace(i.id.value, &i);
}

const ir::Inst* BeforeIndex::find(const EditInst& i) const {
  if (i.inst.is_inserted() || i.inst.is_deleted()) return nullptr;
  const auto it = by_id_.find(i.inst.id.value);
  return it == by_id_.end() ? nullptr : it->second;
}

bool BeforeIndex::is_free_def(const ir::Inst& i, std::size_t operand) const {
  const auto ops = before_.operands_of(i);
  if (operand >= ops.size() || ops[operand].role != Role::Def || !ops[operand].is_vreg() || ops[operand].is_tied() ||
      ops[operand].is_early_clobber())
    return false;
  const ir::Storage s = before_.storage(ops[operand]);
  return s.offset == 0 && s.size == before_.vreg(s.root).bytes() && !before_.fixed_of(ops[operand]).is_valid() &&
         (before_.vreg(s.root).flags & ir::kVRegArchitectural) == 0;
}

bool BeforeIndex::is_repeatable(const ir::Inst& i) const {
  return i.has(ir::kRematerialisable) && (!i.has(ir::kMemRead) || i.has(ir::kReadOnly)) && !i.has(ir::kMemWrite) &&
         !i.has(ir::kBarrier) && i.num_operands > 0 && before_.operands_of(i)[0].is_vreg();
}

bool BeforeIndex::is_full(const EditInst& i) const {
  const ir::Inst* old = find(i);
  if (old == nullptr || old->num_operands == 0 || !before_.operands_of(*old)[0].is_vreg() || !i.ops[0].is_preg()) return false;
  return static_cast<std::uint32_t>(before_.operand_bytes(before_.operands_of(*old)[0])) == bytes_of(i.ops[0]);
}

bool has_plain_reader(const BeforeFacts& facts, const EditProgram& p, Spot s, PReg reg) {
  UnitSet held = units_of(reg);
  const auto& insts = p.blocks[s.block].insts;
  for (std::size_t k = s.inst + 1; k < insts.size() && held.any(); ++k) {
    const EditInst& i = insts[k];
    if (i.inst.is_deleted() || i.inst.is_phi()) continue;
    const bool is_move = i.inst.is_copy() || is_spill_or_refill(i);
    const ir::Inst* old = i.inst.is_inserted() || is_move ? nullptr : facts.find(i.inst.id);
    for (std::size_t u = 0; old != nullptr && old->num_operands == i.ops.size() && u < i.ops.size(); ++u)
      if (i.ops[u].is_preg() && i.ops[u].reads() && (touched_units(i.ops[u]) & held).any() &&
          (i.ops[u].role == Role::Guard || guard_of(i) == nullptr) && facts.is_defined_read(*old, u))
        return true;
    UnitSet more;
    for (std::size_t d = 0; i.inst.is_copy() && guard_of(i) == nullptr && d < i.ops.size() / 2; ++d)
      if ((touched_units(i.ops[i.ops.size() / 2 + d]) & held).any()) more |= covered_units(i.ops[d]);
    held = (held & ~written_units(i)) | more;
  }
  return false;
}

std::optional<Spot> plain_writer(const EditProgram& p, Spot s, PReg reg) {
  constexpr int kMaxBlocks = 8;
  UnitSet units = units_of(reg);
  for (int hops = 0; hops < kMaxBlocks; ++hops) {
    const auto& insts = p.blocks[s.block].insts;
    for (std::size_t k = s.inst; k-- > 0;) {
      const EditInst& i = insts[k];
      if ((written_units(i) & units).none()) continue;
      if (i.inst.is_deleted() || i.inst.is_phi() || guard_of(i) != nullptr) return std::nullopt;
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

std::vector<FaultOperator> pattern_faults() {
  std::vector<FaultOperator> all = pack_faults();
  const std::vector<FaultOperator> others = {
      {"remat-wrong-instruction", "another instruction is repeated, correctly in itself", {6}, {}, shown_as<remat_wrong_instruction, 6>},
      {"remat-wrong-number",
       "a remat claims to repeat another instruction than its operands are of",
       {7},
       {"remat-shape", "immediate"},
       remat_wrong_number},
      {"remat-wrong-immediate", "a remat has another immediate than what it repeats", {7}, {"immediate"}, remat_wrong_immediate},
      {"remat-wrong-source", "a remat reads another register than its source's", {7}, {}, remat_wrong_source},
      {"remat-late", "a remat comes after a source's register was overwritten", {7}, {}, remat_carelessly<true>},
      {"remat-source-overwritten", "a source is overwritten in front of a remat", {7}, {}, remat_source_overwritten},
      {"remat-of-unrepeatable",
       "a remat of an instruction that may not be repeated",
       {7},
       {"remat-target"},
       remat_carelessly<false>},
      {"live-def-deleted", "a def that is still read is deleted as if remats served all its uses", {6}, {}, shown_as<live_def_deleted, 6>},
      {"refill-from-other-space",
       "a refill of a shared slot reads a local one, or the other way round",
       {1, 2},
       {},
       shown_as<refill_from_elsewhere<true>, 1, 2>},
      {"shared-slots-confused", "a refill reads another shared slot", {1, 2}, {}, shown_as<refill_from_elsewhere<false>, 1, 2>},
      {"slot-loses-space",
       "a shared slot is taken for a local one at the same offset",
       {1, 2},
       {"slot-overlap", "slot-outside-frame"},
       slot_loses_space},
      {"halves-swapped", "two pieces of a spilled value change places", {1}, {}, shown_as<halves_swapped, 1>},
      {"half-not-stored", "one piece of a value is not stored", {1}, {}, shown_as<half_not_stored, 1>},
      {"may-store-always", "the store of a guarded copy lost its guard", {10}, {"copy-to-memory"}, shown_as<may_store_always, 10>},
      {"old-value-not-stored", "the old value is not stored in front of a guarded store", {2}, {}, shown_as<old_value_not_stored, 2>},
      {"detour-dropped", "a value is never copied into the register that it is to be found in", {5}, {}, shown_as<detour_dropped, 5>},
      {"save-dropped", "a callee-saved register is restored but was not saved", {1}, {}, save_dropped},
      {"restore-dropped", "a callee-saved register is not restored", {6}, {}, restore_dropped},
      {"restore-from-wrong-slot", "a callee-saved register is restored from another slot", {1}, {}, restore_from_wrong_slot},
      {"restore-early", "a callee-saved register is restored while it still holds a value", {1}, {}, shown_as<restore_early, 1>},
      {"not-saved", "a callee-saved register is used without being saved", {6}, {}, not_saved},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace regduel::fuzz
