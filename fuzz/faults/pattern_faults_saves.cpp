// Faults of callee-saved registers. Codes: a register that keeps an original def is 6; what a restore brings from a place that does
// not hold the saved value is 1. Source: seed 000 "Error Categories". Tested by pattern_faults_test.cpp.
#include <algorithm>
#include <utility>

#include "fuzz/faults/pattern_faults.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

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
  erase(p, chosen->save);
  return true;
}

bool restore_dropped(EditProgram& p, const Subject& s, Random& random) {
  auto list = restores(p, s);
  std::erase_if(list, [&](Spot r) { return !plain_writer(p, r, at(p, r).ops[0].preg()); });
  const FactsOf facts(s);
  shuffle(list, random);
  for (const Spot r : list) {
    EditProgram trial = p;
    erase(trial, r);
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
  const FactsOf facts(s);
  for (const Spot r : restores(p, s)) {
    const auto& insts = p.blocks[r.block].insts;
    const UnitSet units = units_of(insts[r.inst].ops[0].preg());
    for (std::size_t k = r.inst; k-- > 0;) {
      if ((written_units(insts[k]) & units).any()) break;
      if ((read_units(insts[k]) & units).none()) continue;
      const ir::Inst* old = facts->original(insts[k]);
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
  const FactsOf facts(s);
  std::vector<std::pair<Spot, PReg>> list;
  const AfterFactsOf after(s);
  const UnitLiveness& live = after->liveness();
  for (const PReg victim : victims)
    for (std::size_t b = 0; b < p.blocks.size(); ++b)
      for (std::size_t k = 0; live.is_reachable(b) && k + 1 < p.blocks[b].insts.size(); ++k) {
        const EditInst& i = p.blocks[b].insts[k];
        const ir::Inst* old = facts->original(i);
        if (old == nullptr || old->is_copy() || old->is_phi() || has_guard(i) || i.ops.empty() ||
            p.blocks[b].insts[k + 1].inst.is_phi())
          continue;
        if (is_full(*facts, i) && i.ops[0].role == Role::Def && i.ops[0].part.is_whole() && i.ops[0].preg().file == RegFile::R &&
            i.ops[0].preg().count == 1)
          list.emplace_back(Spot{b, k}, victim);
      }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  const auto& [def, victim] = *chosen;
  insert_before(p, {def.block, def.inst + 1}, make_copy(victim, at(p, def).ops[0].preg()));
  return true;
}

}  // namespace

std::vector<FaultOperator> save_faults() {
  return {
      {"save-dropped", "a callee-saved register is restored but was not saved", {1}, {}, save_dropped},
      {"restore-dropped", "a callee-saved register is not restored", {6}, {}, restore_dropped},
      {"restore-from-wrong-slot", "a callee-saved register is restored from another slot", {1}, {}, restore_from_wrong_slot},
      {"restore-early", "a callee-saved register is restored while it still holds a value", {1}, {}, shown_as<restore_early, 1>},
      {"not-saved", "a callee-saved register is used without being saved", {6}, {}, not_saved},
  };
}

}  // namespace regduel::fuzz
