// Faults of slots in shared memory, of accesses in pieces, and of stores under a guard.
//
// Codes: what comes through a refill from a place that never holds the value is 1, that holds it on some paths only (on the next
// round of a loop, say) 2. A may-store that always happens loses the old value and adds nothing, 10. Source: seed 000 "Error
// Categories". Tested by pattern_faults_test.cpp.
#include <algorithm>
#include <set>
#include <utility>

#include "fuzz/faults/pattern_faults.h"

namespace regduel::fuzz {
namespace {

using ir::Operand;
using ir::Role;

std::vector<Spot> live_refills(const EditProgram& p, const Subject& s) {
  return read_spots(p, s, [](const EditInst& i) { return i.inst.is_inserted() && is_spill_or_refill(i) && is_refill(i); });
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
      if (!other.inst.is_inserted() || !is_refill(other) || has_guard(other) || has_guard(first)) break;
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
  erase(p, *chosen);
  return true;
}

// An original guarded copy that stores under its guard, between the store and the refill of the old value.
std::vector<Spot> may_stores(const EditProgram& p, const Subject& s) {
  const FactsOf facts(s);
  std::vector<Spot> list;
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 1; k + 1 < p.blocks[b].insts.size(); ++k) {
      const EditInst &old = p.blocks[b].insts[k - 1], &i = p.blocks[b].insts[k], &back = p.blocks[b].insts[k + 1];
      if (i.inst.is_inserted() || !is_spill(i) || !has_guard(i) || !old.inst.is_inserted() || !is_spill(old) || !is_refill(back))
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
  erase(p, {chosen->block, chosen->inst - 1});
  return true;
}

}  // namespace

std::vector<FaultOperator> memory_faults() {
  return {
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
       shown_as<slot_loses_space, 1, 2>},
      {"halves-swapped", "two pieces of a spilled value change places", {1}, {}, shown_as<halves_swapped, 1>},
      {"half-not-stored", "one piece of a value is not stored", {1}, {}, shown_as<half_not_stored, 1>},
      {"may-store-always", "the store of a guarded copy lost its guard", {10}, {"copy-to-memory"}, shown_as<may_store_always, 10>},
      {"old-value-not-stored",
       "the old value is not stored in front of a guarded store",
       {2},
       {},
       shown_as<old_value_not_stored, 2>},
  };
}

}  // namespace regduel::fuzz
