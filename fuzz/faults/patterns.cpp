// See patterns.h.
#include "fuzz/faults/patterns.h"

#include <algorithm>
#include <functional>
#include <set>

#include "oracles/pair/preserved.h"

namespace regduel::fuzz {
namespace {

using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

PReg one_unit(RegFile file, int unit) { return {file, 1, static_cast<std::uint16_t>(unit)}; }

// --- the workshop ---------------------------------------------------------------------------------------------------

class Workshop {
 public:
  Workshop(const Subject& s, Random& r) : subject(s), random(r), program(s.after), limits(s.limits) {
    for (const ir::Function* f : {&s.before, &s.after})
      for (const Operand& op : f->operands) {
        if (op.is_preg()) mention(op.preg());
        mention(op.fixed());
      }
    for (const ir::VReg& v : s.before.vregs) mention(v.fixed);
    for (const PReg r1 : oracles::preserved_units(s.before, s.target)) preserved.insert(r1);
  }

  // Shared memory, where a slot of so many bytes still fits a block's.
  [[nodiscard]] MemSpace shared_if_room(std::uint32_t bytes) const {
    const std::uint64_t frame = std::uint64_t{program.header.shared_frame} + bytes + 15;
    const auto room = static_cast<std::uint64_t>(std::max(0, subject.target.shared_bytes_per_sm));
    return frame * std::max(1u, subject.before.threads) <= room ? MemSpace::Shared : MemSpace::Local;
  }

  const Subject& subject;
  Random& random;
  EditProgram program;
  ir::Limits limits;
  std::set<PReg> mentioned, preserved;  // units; by either program, in whatever role; callee-saved ones

  void mention(PReg r) {
    for (int u = r.begin(); u < r.end(); ++u) mentioned.insert(one_unit(r.file, u));
  }
  [[nodiscard]] bool is_allocatable(PReg r) const {
    for (int u = r.begin(); u < r.end(); ++u)
      if (!ir::is_allocatable(subject.target, limits, r.file, u)) return false;
    return true;
  }
  // A device function whose entry has no predecessors can save callee-saved registers.
  [[nodiscard]] bool can_save() const {
    return program.header.kind == ir::FunctionKind::Device &&
           std::none_of(program.blocks.begin(), program.blocks.end(), [](const EditBlock& b) {
             const auto& to = b.insts.back().targets;
             return std::find(to.begin(), to.end(), ir::BlockId(0)) != to.end();
           });
  }
  // Units that nothing mentions, callee-saved ones excepted, mostly the lowest ones above all registers in use; the limit is
  // raised.
  [[nodiscard]] std::optional<PReg> take(RegFile file, int count) {
    std::vector<PReg> free, above;
    for (int first = 0; first + count <= subject.target.units[ir::index(file)]; ++first) {
      bool fits = true;
      for (int u = first; u < first + count; ++u)
        fits = fits && !mentioned.contains(one_unit(file, u)) && !preserved.contains(one_unit(file, u)) &&
               !subject.target.is_reserved(file, u);
      if (!fits) continue;
      free.push_back({file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)});
      const auto next = mentioned.lower_bound(one_unit(file, first));
      if (next == mentioned.end() || next->file != file) above.push_back(free.back());
    }
    const auto chosen = !above.empty() && random.chance(80) ? std::optional(above[0]) : pick(free, random);
    if (chosen) use(*chosen);
    return chosen;
  }
  void use(PReg r) {
    mention(r);
    limits.units[ir::index(r.file)] = std::max(limits.units[ir::index(r.file)], r.end());
  }
  // Calls put(block, position, instruction, what takes its place) for each instruction.
  template <class Put>
  void rewrite(Put put) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      std::vector<EditInst> out;
      for (std::size_t k = 0; k < program.blocks[b].insts.size(); ++k) put(b, k, std::move(program.blocks[b].insts[k]), out);
      program.blocks[b].insts = std::move(out);
    }
  }
  // What took the place of `i` is there: an original copy stays as a deleted one.
  static void retire(EditInst i, std::vector<EditInst>& out) {
    if (i.inst.is_inserted()) return;
    i.inst.op = Op::Copy;
    mark_deleted(i);
    out.push_back(std::move(i));
  }
  // Spills up to `count` registers from one instruction that mentions them to the next in the block, and destroys them meanwhile.
  bool spill_stretches(bool predicates, int count) {
    struct Stretch {
      std::size_t block, after, before;
      PReg reg;
    };
    std::vector<Stretch> found;
    std::vector<PReg> registers;
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      const auto& all = program.blocks[b].insts;
      for (std::size_t k = 0; k + 1 < all.size(); ++k)
        for (const Operand& op : all[k].ops) {
          if (!op.is_preg() || op.role == Role::Clobber || ir::is_predicate(op.preg().file) != predicates) continue;
          registers.push_back(op.preg());
          std::size_t next = k + 1;
          while (next + 1 < all.size() && !mentions(all[next], op.preg())) ++next;
          if (reads(all[next], op.preg()) && !all[k].inst.is_phi() && !all[k + 1].inst.is_phi())
            found.push_back({b, k, next, op.preg()});
        }
    }
    shuffle(found, random);
    std::vector<Stretch> chosen;
    for (const Stretch& s : found)
      if (static_cast<int>(chosen.size()) < count && std::none_of(chosen.begin(), chosen.end(), [&](const Stretch& o) {
            return o.block == s.block && o.after == s.after && o.reg.overlaps(s.reg);
          }))
        chosen.push_back(s);
    std::vector<ir::SlotId> slots;
    for (const Stretch& s : chosen)
      slots.push_back(add_slot(program, MemSpace::Local, bytes_of(Operand::of_preg(Role::Use, s.reg))));
    rewrite([&](std::size_t b, std::size_t k, EditInst i, std::vector<EditInst>& out) {
      for (std::size_t n = 0; n < chosen.size(); ++n)
        if (chosen[n].block == b && chosen[n].before == k)
          out.push_back(make_refill(Operand::of_preg(Role::Def, chosen[n].reg), slots[n]));
      out.push_back(std::move(i));
      for (std::size_t n = 0; n < chosen.size(); ++n) {
        if (chosen[n].block != b || chosen[n].after != k) continue;
        const PReg reg = chosen[n].reg, other = *pick(registers, random);
        out.push_back(make_spill(Operand::of_preg(Role::Use, reg), slots[n]));
        if (other.file == reg.file && other.count == reg.count && !other.overlaps(reg)) out.push_back(make_copy(reg, other));
      }
    });
    return !chosen.empty();
  }
  [[nodiscard]] Patterned finish() {
    number_inserted(program);
    return {program.build(), limits};
  }
};

// --- slots that become something else -------------------------------------------------------------------------------

bool is_access(const EditInst& i) { return is_spill(i) || is_refill(i); }

// What is refilled somewhere: predicates alone, or whole words alone; at least as many as wanted, where stretches can be spilled.
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
  shuffle(list, w.random);
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
EditInst guarded_like(EditInst i, const EditInst& access) {
  if (const Operand* guard = ir::guard_of(access.ops)) i.ops.push_back(*guard);
  return i;
}

std::optional<Patterned> stretches(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const bool some = w.spill_stretches(false, random.between(1, 6)), others = w.spill_stretches(true, random.between(1, 3));
  return some || others ? std::optional(w.finish()) : std::nullopt;
}

// Local slots move into shared memory, some of them to the very offsets that they had.
std::optional<Patterned> shared(const Subject& subject, Random& random) {
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

// Bytes [begin, end) of a register tuple as an operand: a smaller tuple, or a part.
Operand piece(const Operand& reg, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t at = ir::Function::file_bytes(reg).begin + begin;
  if (at % 4 == 0 && (end - begin) % 4 == 0)
    return Operand::of_preg(reg.role,
                            {reg.preg().file, static_cast<std::uint8_t>((end - begin) / 4), static_cast<std::uint16_t>(at / 4)});
  const auto offset = static_cast<int>(at) - reg.preg().first * 4;
  return Operand::of_preg(reg.role, reg.preg(), *ir::Part::from_bytes(offset, static_cast<int>(end - begin)));
}
// Spills and refills of words in pieces, down to single bytes.
std::optional<Patterned> split(const Subject& subject, Random& random) {
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
      while (step > 4 && (address % std::min(16u, step & (~step + 1)) != 0 || (step > 16 && step != 32))) step -= 4;
      const Operand reg = piece(i.ops[0], begin, begin + step);
      pieces.push_back(guarded_like(is_spill(i) ? make_spill(reg, i.ops[1].slot(), i.ops[1].slot_offset() + begin)
                                                : make_refill(reg, i.ops[1].slot(), i.ops[1].slot_offset() + begin),
                                    i));
    }
    any = any || pieces.size() > 1;
    shuffle(pieces, random);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
  };
  auto result = replace_slots(w, slots, in_pieces);
  return any ? std::optional(std::move(result)) : std::nullopt;
}

// A slot becomes registers of another file, or spare ones of the same: its spills and refills become copies.
std::optional<Patterned> detour(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const bool predicates = random.chance(30);
  std::vector<std::size_t> slots;
  std::vector<PReg> home;
  for (const std::size_t s : variables(w, predicates, 3)) {
    auto files = predicates ? std::vector{RegFile::P, RegFile::UP}
                            : std::vector{RegFile::UR, RegFile::Acc, RegFile::B, RegFile::UB, RegFile::R};
    shuffle(files, random);
    std::optional<PReg> taken;
    for (const RegFile file : files)
      if (!taken) taken = w.take(file, predicates ? 1 : static_cast<int>((w.program.header.slots[s].size + 3) / 4));
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

// A spill of a predicate becomes a write of one bit of a pack, and a refill a read of it. p2r knows only the bit that is numbered
// like the predicate's register: where the access has another register, the two predicates change places around it. A pack in
// memory comes into a register around each access.
struct PackStyle {
  bool numbered = true;  // p2r and r2p, else bit_spill and bit_refill
  bool several = false;  // p2r and r2p take a bystander with them
  bool in_memory = false;
};

std::optional<Patterned> pack(const Subject& subject, Random& random, PackStyle style) {
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
    const PReg number = forced.empty() ? *pick(registers, random) : forced[0];
    const int bit = style.numbered ? number.first : static_cast<int>(random.below(32));
    if ((used >> bit & 1) != 0) continue;
    used |= 1u << bit;
    home[s] = {bit, number};
    chosen.push_back(s);
  }
  const auto bystander = [&](PReg like, PReg but) {
    std::vector<PReg> list;
    for (int u = 0; u < 32; ++u)
      if (const PReg r = one_unit(like.file, u); (used >> u & 1) == 0 && r != but && w.mentioned.contains(r) && w.is_allocatable(r))
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
template <bool kNumbered, bool kSeveral, bool kInMemory>
std::optional<Patterned> packed(const Subject& s, Random& random) {
  return pack(s, random, {.numbered = kNumbered, .several = kSeveral, .in_memory = kInMemory});
}

// --- moves ----------------------------------------------------------------------------------------------------------

// Copies go through memory: the original one becomes the spill or the refill, another is inserted for the other way. A guarded one
// is a may-def in memory: the old value, then the new one under the guard, then back.
std::optional<Patterned> copies_through_memory(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  int done = 0;
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    const std::size_t operands = has_guard(i) ? 3 : 2;
    if (!i.inst.is_copy() || i.inst.is_deleted() || done >= 12 || random.chance(40) || i.ops.size() != operands ||
        bytes_of(i.ops[0]) != bytes_of(i.ops[1])) {
      out.push_back(std::move(i));
      return;
    }
    ++done;
    const Operand to = i.ops[0], from = i.ops[1];
    const std::uint32_t bytes = bytes_of(to);
    const ir::SlotId slot = add_slot(w.program, random.chance(20) ? w.shared_if_room(bytes) : MemSpace::Local, bytes);
    EditInst spill = make_spill(from, slot), refill = make_refill(to, slot);
    const bool guarded = has_guard(i), spills = guarded || random.chance(50);
    if (guarded) out.push_back(make_spill(to, slot));
    else if (!spills) out.push_back(spill);
    EditInst own = guarded_like(spills ? spill : refill, i);
    i.inst.op = own.inst.op;
    i.ops = std::move(own.ops);
    out.push_back(std::move(i));
    if (spills) out.push_back(refill);
  });
  return done > 0 ? std::optional(w.finish()) : std::nullopt;
}

// In front of its readers in the block a repeatable def is repeated, in place, while nothing has written what it reads; before that
// its register is destroyed, sometimes.
std::optional<Patterned> remat(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  bool any = false;
  std::vector<EditInst> known;  // defs whose register and sources are as the def left them
  std::size_t block = 0;
  std::vector<PReg> seen;
  const auto in_before = [&](const EditInst& i) {
    const auto it = std::find_if(subject.before.insts.begin(), subject.before.insts.end(),
                                 [&](const ir::Inst& o) { return o.id == i.inst.id; });
    return it != subject.before.insts.end() && is_repeatable(subject.before, *it) &&
           !subject.before.fixed_of(subject.before.operands_of(*it)[0]).is_valid();
  };
  w.rewrite([&](std::size_t b, std::size_t, EditInst i, std::vector<EditInst>& out) {
    if (b != block) known.clear();
    block = b;
    for (const EditInst& def : known) {
      if (!reads(i, def.ops[0].preg()) || i.inst.is_phi() || !random.chance(40)) continue;
      EditInst remat = inserted(Op::Remat, def.ops);
      remat.inst.ref = def.inst.id;
      const auto other = pick(seen, random);
      if (other && random.chance(50) && other->file == def.ops[0].preg().file && other->count == def.ops[0].preg().count &&
          !other->overlaps(def.ops[0].preg()))
        out.push_back(make_copy(def.ops[0].preg(), *other));
      out.push_back(std::move(remat));
      any = true;
    }
    std::erase_if(known, [&](const EditInst& def) {
      return std::any_of(def.ops.begin(), def.ops.end(), [&](const Operand& op) { return op.is_preg() && writes(i, op.preg()); });
    });
    for (const Operand& op : i.ops)
      if (op.is_preg() && op.role != Role::Clobber && seen.size() < 64) seen.push_back(op.preg());
    const bool is_plain =
        !i.inst.is_inserted() && !i.inst.is_deleted() && i.inst.has(ir::kRematerialisable) && !has_guard(i) && !i.inst.is_copy();
    if (is_plain && in_before(i) && i.ops[0].part.is_whole() &&
        std::none_of(i.ops.begin() + 1, i.ops.end(),
                     [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(i.ops[0].preg()); }))
      known.push_back(i);
    out.push_back(std::move(i));
  });
  return any ? std::optional(w.finish()) : std::nullopt;
}

// A tuple that no other one reaches beyond becomes a callee-saved one, which is saved at the entry, in memory or in another
// register, and restored before each ret.
std::optional<Patterned> callee_saved(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  if (!w.can_save()) return std::nullopt;
  const auto is_pinned = [&](PReg r) {
    return std::any_of(subject.before.operands.begin(), subject.before.operands.end(),
                       [&](const Operand& op) { return op.is_vreg() && subject.before.fixed_of(op).overlaps(r); });
  };
  std::vector<PReg> tuples;
  int align = 1;
  for (const ir::VReg& v : subject.before.vregs) align = std::max(align, v.alignment());
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && op.preg().file == RegFile::R) tuples.push_back(op.preg());
  struct Move {
    PReg from, to;
  };
  std::vector<Move> moves;
  for (const PReg t : std::set<PReg>(tuples.begin(), tuples.end())) {
    bool fits = !is_pinned(t);
    for (const PReg o : tuples) fits = fits && (!o.overlaps(t) || (t.begin() <= o.begin() && o.end() <= t.end()));
    for (const EditBlock& b : w.program.blocks) fits = fits && !(b.insts.back().inst.op == Op::Ret && mentions(b.insts.back(), t));
    for (int u = t.begin(); u < t.end(); ++u) fits = fits && !w.preserved.contains(one_unit(t.file, u));
    for (int first = t.first % align; fits && first + t.count <= subject.target.units[ir::index(t.file)]; first += align) {
      bool spare = true;
      for (int u = first; u < first + t.count; ++u)
        spare = spare && w.preserved.contains(one_unit(t.file, u)) && !w.mentioned.contains(one_unit(t.file, u)) &&
                !subject.target.is_reserved(t.file, u);
      if (spare) moves.push_back({t, {t.file, t.count, static_cast<std::uint16_t>(first)}});
    }
  }
  const auto m = pick(moves, random);
  if (!m) return std::nullopt;
  w.use(m->to);
  const auto keeper = random.chance(30) ? w.take(RegFile::R, m->to.count) : std::nullopt;
  const Operand reg = Operand::of_preg(Role::Use, m->to);
  const ir::SlotId slot = keeper ? ir::SlotId() : add_slot(w.program, MemSpace::Local, bytes_of(reg));
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    for (Operand& op : i.ops)
      if (op.is_preg() && op.role != Role::Clobber && op.preg().overlaps(m->from))
        op.set_preg({op.preg().file, op.preg().count, static_cast<std::uint16_t>(op.preg().first - m->from.first + m->to.first)});
    if (i.inst.op == Op::Ret) out.push_back(keeper ? make_copy(m->to, *keeper) : make_refill(reg, slot));
    out.push_back(std::move(i));
  });
  auto& entry = w.program.blocks[0].insts;
  entry.insert(entry.begin(), keeper ? make_copy(*keeper, m->to) : make_spill(reg, slot));
  return w.finish();
}

}  // namespace

std::span<const Pattern> patterns() {
  static constexpr Pattern kPatterns[] = {
      {"p2r", "predicate spill slots become bits of a pack register, by p2r and r2p", packed<true, false, false>},
      {"p2r-several", "the same, with several predicates in one p2r or r2p", packed<true, true, false>},
      {"bit-spill", "predicate spill slots become bits of a pack register, by bit_spill and bit_refill",
       packed<false, false, false>},
      {"spilled-pack", "the same by p2r and r2p, on a pack that is spilled and refilled around each of them",
       packed<true, false, true>},
      {"spilled-bits", "the same by bit_spill and bit_refill, on a pack in memory", packed<false, false, true>},
      {"stretches", "registers are spilled where nothing mentions them, and destroyed meanwhile", stretches},
      {"shared", "local spill slots move into shared memory", shared},
      {"split", "spills and refills in pieces down to single bytes", split},
      {"detour", "spill slots become registers of another file", detour},
      {"copy-by-memory", "copies, guarded ones too, become a spill and a refill", copies_through_memory},
      {"remat", "repeatable defs are repeated in front of their readers, with their sources, in chains", remat},
      {"callee-saved", "registers become callee-saved ones, saved at the entry and restored before each ret", callee_saved},
  };
  return kPatterns;
}

}  // namespace regduel::fuzz
