// Patterns of spill slots: what is spilled, where the slot lies, and in which pieces it is reached. A slot is a variable that only
// its spills and refills see, so it may be moved as a whole; and a store or a load in pieces is the same store or load. Source:
// seed 001 (shared-memory slots, spilling between files); FORMAT.md "Spill, refill", "Copy". Tested by patterns_test.cpp.
#include <algorithm>

#include "fuzz/faults/workshop.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

constexpr int kWantedSlots = 3;

std::size_t slots_in_use(const EditProgram& p) {
  const auto uses = slot_uses(p);
  return static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), [](const SlotUse& u) { return u.refills > 0; }));
}

std::optional<Patterned> stretches(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const bool some = w.spill_stretches(false, random.between(1, 6));
  const bool others = w.spill_stretches(true, random.between(1, 3));
  if (!some && !others) return std::nullopt;
  return w.finish();
}

// Local slots move into shared memory, some of them to the very offsets that they had.
std::optional<Patterned> shared(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  if (slots_in_use(w.program) < kWantedSlots) (void)w.spill_stretches(false, kWantedSlots);
  const auto uses = slot_uses(w.program);
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < uses.size(); ++s)
    if (w.program.header.slots[s].space == ir::MemSpace::Local && uses[s].refills > 0) chosen.push_back(s);
  if (chosen.empty()) return std::nullopt;
  shuffle(chosen, random);
  const std::uint32_t room = static_cast<std::uint32_t>(subject.target.shared_bytes_per_sm) / std::max(1u, subject.before.threads);
  std::size_t moved = 0;
  for (const std::size_t s : chosen) {
    if (moved > 0 && random.chance(40)) continue;
    ir::Slot& slot = w.program.header.slots[s];
    const std::uint32_t next = (w.program.header.shared_frame + slot.align - 1) / slot.align * slot.align;
    const std::uint32_t offset = random.chance(50) && slot.offset >= next ? slot.offset : next;
    if (offset + slot.size > room) continue;
    slot.space = ir::MemSpace::Shared;
    slot.offset = offset;
    w.program.header.shared_frame = offset + slot.size;
    ++moved;
  }
  if (moved == 0) return std::nullopt;
  return w.finish();
}

// Bytes [begin, end) of a register tuple as an operand: a smaller tuple, or a part.
Operand piece(const Operand& reg, std::uint32_t begin, std::uint32_t end, Random& random) {
  const ir::FileBytes all = ir::Function::file_bytes(reg);
  const bool words = (all.begin + begin) % 4 == 0 && (all.begin + end) % 4 == 0;
  const PReg home = reg.preg();
  const int base = home.first * 4;
  const auto part = ir::Part::from_bytes(static_cast<int>(all.begin + begin) - base, static_cast<int>(end - begin));
  if (words && (!part || random.chance(60)))
    return Operand::of_preg(
        reg.role, {home.file, static_cast<std::uint8_t>((end - begin) / 4), static_cast<std::uint16_t>((all.begin + begin) / 4)});
  return Operand::of_preg(reg.role, home, *part);
}

// Spills and refills in pieces of words, or of less.
std::optional<Patterned> split_at(const Subject& subject, Random& random, bool below_words) {
  Workshop w(subject, random);
  const auto splits = [&](const EditInst& i) {
    if (!i.inst.is_inserted() || !is_spill_or_refill(i) || ir::is_predicate(i.ops[0].preg().file)) return false;
    const ir::FileBytes b = ir::Function::file_bytes(i.ops[0]);
    return b.begin % 4 == 0 && b.end % 4 == 0 && (below_words || b.end - b.begin > 4);
  };
  bool any = false;
  for (int round = 0; round < 2 && !any; ++round) {
    if (round == 1 && !w.spill_stretches(false, 6)) return std::nullopt;
    Changes changes;
    for (std::size_t b = 0; b < w.program.blocks.size(); ++b)
      for (std::size_t k = 0; k < w.program.blocks[b].insts.size(); ++k) {
        const EditInst i = w.program.blocks[b].insts[k];
        if (!splits(i) || random.chance(30)) continue;
        any = true;
        const ir::FileBytes bytes = ir::Function::file_bytes(i.ops[0]);
        const std::uint32_t size = bytes.end - bytes.begin;
        std::vector<EditInst> pieces;
        for (std::uint32_t begin = 0; begin < size;) {
          const std::uint32_t words = (size - begin) / 4;
          std::uint32_t step = begin % 4 == 0   ? 4u * static_cast<std::uint32_t>(random.between(1, static_cast<int>(words)))
                               : begin % 2 == 0 ? 2
                                                : 1;
          if (begin % 4 == 0 && below_words && random.chance(70)) step = random.chance(60) ? 2 : 1;
          if (step == size && size > 4) step = 4;
          const Operand reg = piece(i.ops[0], begin, begin + step, random);
          EditInst one = is_spill(i) ? make_spill(reg, i.ops[1].slot(), i.ops[1].extra + begin)
                                     : make_refill(reg, i.ops[1].slot(), i.ops[1].extra + begin);
          if (const Operand* guard = guard_of(i)) one.ops.push_back(*guard);
          pieces.push_back(std::move(one));
          begin += step;
        }
        if (random.chance(50)) shuffle(pieces, random);
        for (EditInst& one : pieces) changes.before({b, k}, std::move(one));
        changes.remove({b, k});
      }
    changes.apply(w.program);
  }
  if (!any) return std::nullopt;
  return w.finish();
}
std::optional<Patterned> split(const Subject& subject, Random& random) { return split_at(subject, random, false); }
std::optional<Patterned> split_bytes(const Subject& subject, Random& random) { return split_at(subject, random, true); }

// A slot becomes registers of another file, or spare ones of the same: its spills and refills become copies.
std::optional<Patterned> detour(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  if (slots_in_use(w.program) < kWantedSlots) {
    (void)w.spill_stretches(false, 2);
    (void)w.spill_stretches(true, 1);
  }
  const auto uses = slot_uses(w.program);
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < uses.size(); ++s)
    if (uses[s].refills > 0 && (uses[s].is_predicate || uses[s].is_words)) chosen.push_back(s);
  shuffle(chosen, random);
  std::vector<std::optional<PReg>> home(uses.size());
  std::size_t moved = 0;
  for (const std::size_t s : chosen) {
    if (moved >= 4) break;
    std::vector<RegFile> files = uses[s].is_predicate ? std::vector{RegFile::P, RegFile::UP}
                                                      : std::vector{RegFile::UR, RegFile::Acc, RegFile::B, RegFile::UB, RegFile::R};
    shuffle(files, random);
    const int units = uses[s].is_predicate ? 1 : static_cast<int>((w.program.header.slots[s].size + 3) / 4);
    for (const RegFile file : files)
      if (!home[s]) home[s] = w.take(file, units);
    moved += home[s] ? 1 : 0;
  }
  if (moved == 0) return std::nullopt;
  Changes changes;
  for (std::size_t b = 0; b < w.program.blocks.size(); ++b)
    for (std::size_t k = 0; k < w.program.blocks[b].insts.size(); ++k) {
      EditInst& i = w.program.blocks[b].insts[k];
      // What take() added has slots of its own.
      if (!is_spill_or_refill(i) || i.ops[1].slot().index() >= home.size() || !home[i.ops[1].slot().index()]) continue;
      const PReg all = *home[i.ops[1].slot().index()];
      const ir::FileBytes bytes = ir::Function::file_bytes(i.ops[0]);
      const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(bytes.file));
      const Operand own = i.ops[0];
      const PReg there{all.file, static_cast<std::uint8_t>((bytes.end - bytes.begin) / unit),
                       static_cast<std::uint16_t>(all.first + i.ops[1].extra / 4)};
      const Operand spare = Operand::of_preg(own.role, there);
      EditInst copy = inserted(Op::Copy, {is_spill(i) ? spare : own, is_spill(i) ? own : spare});
      copy.ops[0].role = Role::Def;
      copy.ops[1].role = Role::Use;
      if (const Operand* guard = guard_of(i)) copy.ops.push_back(*guard);
      changes.before({b, k}, std::move(copy));
      w.drop(changes, {b, k});
    }
  changes.apply(w.program);
  return w.finish();
}

// Copies go through memory: the original one becomes the spill or the refill, another is inserted for the other way.
std::optional<Patterned> copies_through_memory(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  Changes changes;
  std::size_t done = 0;
  for (std::size_t b = 0; b < w.program.blocks.size(); ++b)
    for (std::size_t k = 0; k < w.program.blocks[b].insts.size(); ++k) {
      EditInst& i = w.program.blocks[b].insts[k];
      if (!i.inst.is_copy() || i.inst.is_deleted() || done >= 12 || random.chance(40)) continue;
      const Operand* found = guard_of(i);
      if (i.ops.size() != (found == nullptr ? 2u : 3u) || !i.ops[0].is_preg() || !i.ops[1].is_preg()) continue;
      const Operand to = i.ops[0], from = i.ops[1];
      const ir::FileBytes size = ir::Function::file_bytes(to), from_size = ir::Function::file_bytes(from);
      if (size.end - size.begin != from_size.end - from_size.begin) continue;
      const std::uint32_t bytes = size.end - size.begin;
      const std::uint32_t align = bytes >= 4 ? 4 : bytes == 3 ? 1 : bytes;
      const ir::SlotId slot = w.new_slot(random.chance(20) ? ir::MemSpace::Shared : ir::MemSpace::Local, bytes, align);
      ++done;
      const std::optional<Operand> guard = found == nullptr ? std::nullopt : std::optional(*found);
      if (guard) {
        // A may-def in memory: the old value, then the new one under the guard, then back.
        changes.before({b, k}, make_spill(to, slot));
        changes.after({b, k}, make_refill(to, slot));
        EditInst spill = make_spill(from, slot);
        i.inst.op = Op::Spill;
        i.ops = spill.ops;
        i.ops.push_back(*guard);
        continue;
      }
      const bool original_spills = random.chance(50);
      EditInst spill = make_spill(from, slot), refill = make_refill(to, slot);
      if (original_spills) {
        changes.after({b, k}, std::move(refill));
        i.ops = spill.ops;
        i.inst.op = Op::Spill;
      } else {
        changes.before({b, k}, std::move(spill));
        i.ops = refill.ops;
        i.inst.op = Op::Refill;
      }
    }
  if (changes.empty()) return std::nullopt;
  changes.apply(w.program);
  return w.finish();
}

}  // namespace

std::vector<Pattern> slot_patterns() {
  return {
      {"stretches", "registers are spilled where nothing mentions them, and destroyed meanwhile", stretches},
      {"shared", "local spill slots move into shared memory", shared},
      {"split", "spills and refills of tuples in pieces of words", split},
      {"split-bytes", "spills and refills in pieces down to single bytes", split_bytes},
      {"detour", "spill slots become registers of another file", detour},
      {"copy-by-memory", "copies, guarded ones too, become a spill and a refill", copies_through_memory},
  };
}

}  // namespace regduel::fuzz
