// See slot_patterns.h.
#include "trial/faults/slot_patterns.h"

#include <algorithm>
#include <functional>

#include "trial/faults/workshop.h"

namespace regduel::trial {

using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

namespace {

// --- slots that become something else -------------------------------------------------------------------------------

bool is_access(const EditInst& i) { return is_spill(i) || is_refill(i); }

// The slots that are refilled somewhere and hold predicates alone, or whole words alone; at least `wanted` where stretches can be
// spilled.
std::vector<std::size_t> variables(Workshop& w, bool predicates, int wanted) {
  std::vector<std::size_t> list;
  for (int round = 0; round < 2; ++round) {
    const std::size_t n = w.program.header.slots.size();
    std::vector<bool> refilled(n), fits(n, true);
    for (const EditBlock& b : w.program.blocks)
      for (const EditInst& i : b.insts) {
        if (!is_access(i)) continue;
        const std::size_t s = i.ops[1].slot().index();
        refilled[s] = refilled[s] || is_refill(i);
        const ir::FileBytes bytes = ir::Function::file_bytes(i.ops[0]);
        fits[s] = fits[s] && ir::is_predicate(bytes.file) == predicates &&
                  (predicates ? i.ops[1].slot_offset() == 0 : (i.ops[1].slot_offset() | bytes.begin | bytes.end) % 4 == 0);
      }
    list.clear();
    for (std::size_t s = 0; s < n; ++s)
      if (refilled[s] && fits[s]) list.push_back(s);
    if (static_cast<int>(list.size()) >= wanted || round == 1 ||
        !w.spill_stretches(predicates, wanted - static_cast<int>(list.size())))
      break;
  }
  shuffle(w.random, list);
  return list;
}

// Each access of slot s becomes what `instead` puts there, with the access's guard where `guarded`.
using Instead = std::function<void(const EditInst& access, std::size_t slot, std::vector<EditInst>& out)>;
Patterned replace_slots(Workshop& w, const std::vector<std::size_t>& slots, const Instead& instead) {
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    if (!is_access(i) || std::find(slots.begin(), slots.end(), i.ops[1].slot().index()) == slots.end()) {
      out.push_back(std::move(i));
      return;
    }
    instead(i, i.ops[1].slot().index(), out);
    Workshop::retire(std::move(i), out);
  });
  return w.finish();
}

// Bytes [begin, end) of a register tuple as an operand: a smaller tuple, or a part.
Operand piece(const Operand& reg, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t at = ir::Function::file_bytes(reg).begin + begin;
  if (at % 4 == 0 && (end - begin) % 4 == 0)
    return Operand::of_preg(reg.role,
                            {reg.preg().file, static_cast<std::uint8_t>((end - begin) / 4), static_cast<std::uint16_t>(at / 4)});
  const auto offset = static_cast<int>(at) - reg.preg().first * 4;
  return Operand::of_preg(reg.role, reg.preg(), *ir::Part::from_bytes(offset, static_cast<int>(end - begin)));
}

}  // namespace

std::optional<Patterned> spill_stretches(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const bool some = w.spill_stretches(false, random.between(1, 6)), others = w.spill_stretches(true, random.between(1, 3));
  return some || others ? std::optional(w.finish()) : std::nullopt;
}

std::optional<Patterned> move_to_shared(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const std::uint32_t room = static_cast<std::uint32_t>(subject.target.shared_bytes_per_sm) / std::max(1u, subject.before.threads);
  bool any = false;
  for (const std::size_t s : variables(w, false, 3)) {
    ir::Slot& slot = w.program.header.slots[s];
    if (slot.space != MemSpace::Local || (any && random.chance(40))) continue;
    const std::uint32_t next = (w.program.header.shared_frame + slot.align - 1) / slot.align * slot.align;
    const std::uint32_t offset = random.chance(50) && slot.offset >= next ? slot.offset : next;
    if (offset + slot.size > room) continue;
    slot.space = MemSpace::Shared;
    slot.offset = offset;
    w.program.header.shared_frame = offset + slot.size;
    any = true;
  }
  return any ? std::optional(w.finish()) : std::nullopt;
}

std::optional<Patterned> split_accesses(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  auto slots = variables(w, false, 3);
  if (slots.empty()) return std::nullopt;
  bool any = false;
  const Instead in_pieces = [&](const EditInst& i, std::size_t, std::vector<EditInst>& out) {
    std::vector<EditInst> pieces;
    for (std::uint32_t begin = 0, size = bytes_of(i.ops[0]), step = 0; begin < size; begin += step) {
      const auto words = static_cast<int>((size - begin) / 4);
      step = begin % 4 == 0 ? 4u * static_cast<std::uint32_t>(random.between(1, words)) : begin % 2 == 0 ? 2 : 1;
      if (begin % 4 == 0 && random.chance(50)) step = random.chance(60) ? 2 : 1;
      // Pieces that one spill can move.
      const std::uint64_t address =
          std::uint64_t{w.program.header.slots[i.ops[1].slot().index()].offset} + i.ops[1].slot_offset() + begin;
      const std::uint32_t unit = (ir::Function::file_bytes(i.ops[0]).begin + begin) / 4;
      while (step > 4 && (address % std::min(16u, step & (~step + 1)) != 0 || (step > 16 && step != 32) ||
                          unit % (1u << ir::natural_align_log2(static_cast<int>(8 * step))) != 0))
        step -= 4;
      const Operand reg = piece(i.ops[0], begin, begin + step);
      pieces.push_back(guarded_like(is_spill(i) ? make_spill(reg, i.ops[1].slot(), i.ops[1].slot_offset() + begin)
                                                : make_refill(reg, i.ops[1].slot(), i.ops[1].slot_offset() + begin),
                                    i));
    }
    any = any || pieces.size() > 1;
    shuffle(random, pieces);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
  };
  auto result = replace_slots(w, slots, in_pieces);
  return any ? std::optional(std::move(result)) : std::nullopt;
}

// Whether each spill and refill of the slot has a register of a uniform file.
bool is_of_uniform_files(const Workshop& w, std::size_t slot) {
  bool all = true;
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      if (is_spill(i) || is_refill(i)) all = all && (i.ops[1].slot().index() != slot || ir::is_uniform(i.ops[0].preg().file));
  return all;
}

std::optional<Patterned> detour(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const bool predicates = random.chance(30);
  std::vector<std::size_t> slots;
  std::vector<PReg> home;
  for (const std::size_t s : variables(w, predicates, 3)) {
    // Only a value of a uniform file may live in one.
    auto files = predicates ? std::vector{RegFile::P} : std::vector{RegFile::Acc, RegFile::B, RegFile::R};
    if (is_of_uniform_files(w, s)) {
      if (predicates) files.push_back(RegFile::UP);
      else files.insert(files.end(), {RegFile::UR, RegFile::UB});
    }
    shuffle(random, files);
    std::optional<PReg> taken;
    const int units = predicates ? 1 : static_cast<int>((w.program.header.slots[s].size + 3) / 4);
    for (const RegFile file : files)
      if (!taken) taken = w.take(file, units, 1 << ir::natural_align_log2(32 * units));
    if (!taken) continue;
    slots.push_back(s);
    home.push_back(*taken);
  }
  if (slots.empty()) return std::nullopt;
  return replace_slots(w, slots, [&](const EditInst& i, std::size_t s, std::vector<EditInst>& out) {
    const PReg all = home[static_cast<std::size_t>(std::find(slots.begin(), slots.end(), s) - slots.begin())];
    Operand own = i.ops[0];
    const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(own.preg().file));
    Operand there = Operand::of_preg(Role::Use, {all.file, static_cast<std::uint8_t>(bytes_of(own) / unit),
                                                 static_cast<std::uint16_t>(all.first + i.ops[1].slot_offset() / 4)});
    if (is_spill(i)) std::swap(own, there);
    own.role = Role::Def;
    there.role = Role::Use;
    out.push_back(guarded_like(inserted(Op::Copy, {own, there}), i));
  });
}

// --- predicate packs ------------------------------------------------------------------------------------------------

std::optional<Patterned> pack_predicates(const Subject& subject, Random& random, PackStyle style) {
  Workshop w(subject, random);
  const auto slots = variables(w, true, 3);
  const auto reg = slots.empty() ? std::nullopt : w.take(RegFile::R, 1);
  if (!reg) return std::nullopt;
  const ir::SlotId memory =
      style.in_memory ? add_slot(w.program, random.chance(30) ? w.shared_if_room(4) : MemSpace::Local, 4) : ir::SlotId();
  struct Variable {
    int bit = -1;
    PReg numbered;
  };
  // The bit of each slot; with numbers that of a register that an access has. Under a guard no predicates change places.
  std::vector<Variable> home(w.program.header.slots.size());
  std::vector<std::size_t> chosen;
  std::uint32_t used = 0;
  for (const std::size_t s : slots) {
    std::vector<PReg> registers, forced;
    for (const EditBlock& b : w.program.blocks)
      for (const EditInst& i : b.insts)
        if (is_access(i) && i.ops[1].slot().index() == s) (has_guard(i) ? forced : registers).push_back(i.ops[0].preg());
    if (std::any_of(forced.begin(), forced.end(), [&](PReg r) { return r != forced[0]; })) continue;
    const auto is_architectural = [&](PReg r) { return w.is_architectural(r); };
    if (std::ranges::any_of(registers, is_architectural) || std::ranges::any_of(forced, is_architectural)) continue;
    const PReg number = forced.empty() ? *pick(registers, random) : forced[0];
    // A value that changes places with a uniform register would be in that register for all threads.
    const auto is_elsewhere = [&](PReg r) { return r.file != number.file; };
    if (style.numbered && std::ranges::any_of(registers, is_elsewhere)) continue;
    const int bit = style.numbered ? number.first : static_cast<int>(random.below(32));
    if ((used >> bit & 1) != 0) continue;
    used |= 1u << bit;
    home[s] = {bit, number};
    chosen.push_back(s);
  }
  const auto bystander = [&](PReg like, PReg but) {
    std::vector<PReg> list;
    for (int u = 0; u < 32; ++u)
      if (const PReg r = one_unit(like.file, u);
          (used >> u & 1) == 0 && r != but && w.mentioned.contains(r) && w.is_allocatable(r) && !w.is_architectural(r))
        list.push_back(r);
    return style.several && random.chance(40) ? pick(list, random) : std::nullopt;
  };
  return replace_slots(w, chosen, [&](const EditInst& i, std::size_t s, std::vector<EditInst>& out) {
    const auto [bit, numbered] = home[s];
    const PReg own = i.ops[0].preg();
    const Operand in = Operand::of_preg(Role::DefUse, *reg), from = Operand::of_preg(Role::Use, *reg);
    const bool apart = style.numbered && own != numbered;
    const auto def = [](PReg r) { return Operand::of_preg(Role::Def, r); };
    const auto use = [](PReg r) { return Operand::of_preg(Role::Use, r); };
    if (style.in_memory) out.push_back(make_refill(in, memory));
    const auto other = style.numbered && !has_guard(i) ? bystander(numbered, own) : std::nullopt;
    if (is_spill(i)) {
      if (apart) out.push_back(make_swap(own, numbered));
      EditInst write =
          style.numbered ? inserted(Op::P2R, {in, use(numbered)}) : inserted(Op::BitSpill, {in, use(own), Operand::of_imm(bit)});
      if (other) write.ops.push_back(use(*other));
      out.push_back(guarded_like(std::move(write), i));
      if (apart) out.push_back(make_swap(own, numbered));
    } else {
      if (apart) out.push_back(make_copy(own, numbered));
      if (other) out.push_back(inserted(Op::P2R, {in, use(*other)}));
      EditInst read = style.numbered ? inserted(Op::R2P, {def(numbered), from})
                                     : inserted(Op::BitRefill, {def(own), from, Operand::of_imm(bit)});
      if (other) read.ops.insert(read.ops.begin(), def(*other));
      out.push_back(guarded_like(std::move(read), i));
      if (apart) out.push_back(make_swap(own, numbered));
    }
    if (style.in_memory && (is_spill(i) || other)) out.push_back(make_spill(from, memory));
  });
}
}  // namespace regduel::trial
