// Faults in spill code: refills, spill stores, slots. Only what an allocator inserted is dropped or moved; an original copy that
// has become a spill or a refill takes part where a slot is exchanged.
#include "fuzz/faults/injector.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;
using ir::SlotId;

std::vector<Place> inserted_refills(const Injector& in) {
  return in.instructions([](const EditInst& i) { return is_refill(i) && i.inst.is_inserted(); });
}
std::vector<Place> inserted_spills(const Injector& in) {
  return in.instructions([](const EditInst& i) { return is_spill(i) && i.inst.is_inserted(); });
}

bool drop_refill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_refills(in), 6, erase_at);
}
bool drop_refill_uninitialised(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_refills(in), 5, erase_at, 16);
}

// A refill whose readers stand in another block, at a join.
bool drop_refill_one_path(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places = inserted_refills(in);
  std::erase_if(places, [&](const Place& at) {
    const auto& insts = p.blocks[at.block].insts;
    for (std::size_t k = at.inst + 1; k < insts.size(); ++k)
      if (mentions(insts[k], insts[at.inst].ops[0].preg())) return true;
    const auto succ = in.cfg().successors(BlockId(at.block));
    return std::none_of(succ.begin(), succ.end(), [&](BlockId b) { return in.cfg().predecessors(b).size() > 1; });
  });
  return in.at_one_of(std::move(places), 6, erase_at, 16);
}

bool refill_wrong_slot(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(in.instructions(is_refill), 1, [&](EditProgram& q, const Place& at) {
    Operand& slot = q.blocks[at.block].insts[at.inst].ops[1];
    const ir::Slot& old = q.header.slots[slot.slot().index()];
    std::vector<SlotId> others;
    for (std::size_t k = 0; k < q.header.slots.size(); ++k)
      if (SlotId(k) != slot.slot() && q.header.slots[k].size >= old.size && q.header.slots[k].space == old.space)
        others.emplace_back(k);
    if (others.empty()) return false;
    slot.value = others[in.random.below(static_cast<std::uint32_t>(others.size()))].value;
    return true;
  });
}

// The refill rises above the spill store that it needs.
bool hoisted_refill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      inserted_refills(in), 1,
      [](EditProgram& q, const Place& at) {
        auto& insts = q.blocks[at.block].insts;
        const SlotId slot = insts[at.inst].ops[1].slot();
        for (std::uint32_t k = at.inst; k-- > 0;)
          if (is_spill(insts[k]) && insts[k].ops[1].slot() == slot) {
            std::rotate(insts.begin() + k, insts.begin() + at.inst, insts.begin() + at.inst + 1);
            return true;
          }
        return false;
      },
      24);
}

bool late_refill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_refills(in), 6, move_behind_reader);
}

// The same refill once more, where its register holds another value by now.
bool duplicated_refill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      in.instructions(is_refill), 1,
      [](EditProgram& q, const Place& at) {
        auto& insts = q.blocks[at.block].insts;
        for (std::uint32_t k = at.inst + 1; k + 1 < insts.size(); ++k)
          if (writes_any_of(insts[k], insts[at.inst].ops[0].preg())) {
            insert_before(q, {at.block, k + 1}, inserted(Op::Refill, insts[at.inst].ops));
            return true;
          }
        return false;
      },
      16);
}

bool drop_spill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_spills(in), 1, erase_at);
}
bool drop_spill_one_path(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  // Only a slot with several stores can have one of them on each path.
  std::vector<int> stores(p.header.slots.size(), 0);
  in.each([&](std::uint32_t, std::uint32_t, const EditInst& i) {
    if (is_spill(i)) ++stores[i.ops[1].slot().index()];
  });
  std::vector<Place> places = inserted_spills(in);
  std::erase_if(places, [&](const Place& at) { return stores[p.blocks[at.block].insts[at.inst].ops[1].slot().index()] < 2; });
  if (places.empty()) return false;
  const Refilled correct = refilled(in.facts(), s.after);
  return in.at_one_of(
      std::move(places), 2,
      [&](EditProgram& q, const Place& at) { return erase_at(q, at) && keeps_some(correct, refilled(in.facts(), q.build())); }, 20);
}

// The store stands before the def that it should store.
bool move_spill_up(EditProgram& q, const Place& at) {
  auto& insts = q.blocks[at.block].insts;
  for (std::uint32_t k = at.inst; k-- > 0;)
    if (writes_any_of(insts[k], insts[at.inst].ops[0].preg())) {
      if (insts[k].inst.is_phi()) return false;
      std::rotate(insts.begin() + k, insts.begin() + at.inst, insts.begin() + at.inst + 1);
      return true;
    }
  return false;
}
bool early_spill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_spills(in), 1, move_spill_up);
}
// The same in a loop, where it stores the value of the visit before: the right definition, too old.
bool previous_visit(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      inserted_spills(in), 0,
      [&](EditProgram& q, const Place& at) {
        return move_spill_up(q, at) && (expected_codes(in.facts(), q.build(), 0) & ~kUndecidedReads) == 0;
      },
      24);
}
// The store stands behind the next def of its register.
bool late_spill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      inserted_spills(in), 1,
      [](EditProgram& q, const Place& at) {
        auto& insts = q.blocks[at.block].insts;
        for (std::uint32_t k = at.inst + 1; k + 1 < insts.size(); ++k)
          if (writes_any_of(insts[k], insts[at.inst].ops[0].preg())) {
            std::rotate(insts.begin() + at.inst, insts.begin() + at.inst + 1, insts.begin() + k + 1);
            return true;
          }
        return false;
      },
      20);
}
// Half of the value is stored, the whole is refilled.
bool half_spill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places = inserted_spills(in);
  std::erase_if(places, [&](const Place& at) {
    const Operand& op = p.blocks[at.block].insts[at.inst].ops[0];
    return op.preg().count < 2 || !op.part.is_whole();
  });
  return in.at_one_of(std::move(places), 1, [](EditProgram& q, const Place& at) {
    auto& ops = q.blocks[at.block].insts[at.inst].ops;
    PReg half = ops[0].preg();
    half.count = static_cast<std::uint8_t>(half.count / 2);
    set_preg(ops[0], half);
    return true;
  });
}
// The store depends on a predicate, though the def that it stores does not.
bool guarded_spill(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places = inserted_spills(in);
  std::erase_if(places, [&](const Place& at) { return has_guard(p.blocks[at.block].insts[at.inst]); });
  if (places.empty()) return false;
  const Refilled correct = refilled(in.facts(), s.after);
  return in.at_one_of(std::move(places), 2, [&](EditProgram& q, const Place& at) {
    const auto guard = in.another_home({ir::RegFile::P, 1, 511});
    if (!guard) return false;
    Operand op = Operand::of_preg(Role::Guard, *guard);
    op.flags = in.random.chance(50) ? ir::kNegated : 0;
    q.blocks[at.block].insts[at.inst].ops.push_back(op);
    return keeps_some(correct, refilled(in.facts(), q.build()));
  });
}

bool swapped_slots(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  const std::vector<Place> refills = in.instructions(is_refill);
  if (refills.size() < 2) return false;
  return in.at_one_of(
      refills, 1,
      [&](EditProgram& q, const Place& at) {
        const Place& other = refills[in.random.below(static_cast<std::uint32_t>(refills.size()))];
        EditInst &a = q.blocks[at.block].insts[at.inst], &b = q.blocks[other.block].insts[other.inst];
        const auto &x = q.header.slots[a.ops[1].slot().index()], &y = q.header.slots[b.ops[1].slot().index()];
        if (a.ops[1].slot() == b.ops[1].slot() || x.size != y.size) return false;
        std::swap(a.ops[1].value, b.ops[1].value);
        return true;
      },
      16);
}

std::vector<Place> slot_pairs(const EditProgram& p, Random& random) {
  std::vector<Place> places;
  const std::size_t n = p.header.slots.size();
  for (int k = 0; k < 24 && n > 1; ++k) {
    const std::size_t x = random.below(static_cast<std::uint32_t>(n)), y = random.below(static_cast<std::uint32_t>(n));
    if (x != y && p.header.slots[x].space == p.header.slots[y].space) places.push_back({0, 0, x, y});
  }
  return places;
}

template <class Change>
void each_slot_operand(EditProgram& p, Change change) {
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      for (Operand& op : i.ops)
        if (op.is_slot()) change(op);
}

// A slot is given to a second value while the first is still needed.
bool reused_slot(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      slot_pairs(p, r), 1,
      [](EditProgram& q, const Place& at) {
        if (q.header.slots[at.operand].size > q.header.slots[at.other].size) return false;
        each_slot_operand(q, [&](Operand& op) {
          if (op.slot() == SlotId(at.operand)) op.value = static_cast<std::uint32_t>(at.other);
        });
        return true;
      },
      16);
}

// Two values at offsets of one slot that overlap by 4 bytes.
bool overlapping_offsets(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      slot_pairs(p, r), 1,
      [](EditProgram& q, const Place& at) {
        const ir::Slot first = q.header.slots[at.operand], second = q.header.slots[at.other];
        if (first.size < 8 || second.size < 4) return false;
        std::uint32_t& frame = first.space == ir::MemSpace::Local ? q.header.local_frame : q.header.shared_frame;
        ir::Slot both;
        both.space = first.space;
        both.align = std::max(first.align, second.align);
        both.size = first.size - 4 + second.size;
        both.offset = (frame + both.align - 1) / both.align * both.align;
        frame = both.offset + both.size;
        const SlotId merged(q.header.slots.size());
        q.header.slots.push_back(both);
        each_slot_operand(q, [&](Operand& op) {
          if (op.slot() == SlotId(at.other)) op.extra += first.size - 4;
          else if (op.slot() != SlotId(at.operand)) return;
          op.value = merged.value;
        });
        return true;
      },
      16);
}

// Declarations alone: two slots that overlap, one that ends outside the frame, one that is too small for what is put there.
bool overlapping_slots(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      slot_pairs(p, r), 0,
      [](EditProgram& q, const Place& at) {
        const ir::Slot& wide = q.header.slots[at.operand];
        ir::Slot& other = q.header.slots[at.other];
        if (wide.size < 8) return false;
        other.offset = wide.offset + 4;
        other.align = std::min(other.align, 4u);
        return other.offset + other.size <= (other.space == ir::MemSpace::Local ? q.header.local_frame : q.header.shared_frame);
      },
      24);
}
std::vector<Place> slots(const EditProgram& p) {
  std::vector<Place> places;
  for (std::size_t k = 0; k < p.header.slots.size(); ++k) places.push_back({0, 0, k, 0});
  return places;
}
bool slot_outside_frame(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(slots(p), 0, [](EditProgram& q, const Place& at) {
    ir::Slot& slot = q.header.slots[at.operand];
    const std::uint32_t frame = slot.space == ir::MemSpace::Local ? q.header.local_frame : q.header.shared_frame;
    slot.offset = (frame + slot.align - 1) / slot.align * slot.align;
    return true;
  });
}
bool slot_too_small(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> accesses = in.instructions([](const EditInst& i) { return is_refill(i) || is_spill(i); });
  return in.at_one_of(std::move(accesses), 0, [](EditProgram& q, const Place& at) {
    const auto& ops = q.blocks[at.block].insts[at.inst].ops;
    const ir::FileBytes bytes = ir::Function::file_bytes(ops[0]);
    const std::uint32_t end = ops[1].extra + (bytes.end - bytes.begin);
    if (end < 2) return false;
    q.header.slots[ops[1].slot().index()].size = end > 4 ? end - 4 : end - 1;
    return true;
  });
}

}  // namespace

std::vector<FaultOperator> slot_faults() {
  return {
      {"dropped-refill", "a refill is missing, and its reader finds an older value", {6}, {}, drop_refill},
      {"dropped-refill-uninitialised", "a refill is missing, and its reader finds nothing", {5}, {}, drop_refill_uninitialised},
      {"dropped-refill-one-path", "a refill for a reader behind a join is missing on one path", {6}, {}, drop_refill_one_path},
      {"refill-wrong-slot", "a refill reads another slot", {1}, {}, refill_wrong_slot},
      {"hoisted-refill", "a refill stands above the spill store that it needs", {1}, {}, hoisted_refill},
      {"late-refill", "a refill stands behind its reader", {6}, {}, late_refill},
      {"duplicated-refill", "a refill is done again, over the value that its register holds by then", {1}, {}, duplicated_refill},
      {"dropped-spill", "a spill store is missing on all paths to a refill", {1}, {}, drop_spill},
      {"dropped-spill-one-path", "a spill store is missing on one path to a refill", {2}, {}, drop_spill_one_path},
      {"early-spill", "a spill store stands before the def that it should store", {1}, {}, early_spill},
      {"previous-visit-spill",
       "the same in a loop: the refill gets the right definition, of the visit before",
       {},
       {},
       previous_visit},
      {"late-spill", "a spill store stands behind the next def of its register", {1}, {}, late_spill},
      {"half-spill", "half of a tuple is stored, the whole is refilled", {1}, {}, half_spill},
      {"guarded-spill", "a spill store has a guard that its def has not", {2}, {}, guarded_spill},
      {"swapped-slots", "two refills have exchanged their slots", {1}, {}, swapped_slots},
      {"reused-slot", "a slot is given to a second value while the first is still needed", {1}, {}, reused_slot},
      {"overlapping-offsets", "a value of two units reaches into its neighbour's place in the slot", {1}, {}, overlapping_offsets},
      {"overlapping-slots", "two slots overlap in the frame", {}, {"slot-overlap"}, overlapping_slots},
      {"slot-outside-frame", "a slot ends outside the frame", {}, {"slot-outside-frame"}, slot_outside_frame},
      {"slot-too-small", "a slot is smaller than what is stored there", {}, {"slot-access"}, slot_too_small},
  };
}

}  // namespace regduel::fuzz
