// Patterns of predicate packs. A spill slot of a predicate is a variable of its own, and so is one bit of a pack: each spill of the
// slot becomes a write of the bit and each refill a read of it, under the same guards, and nothing else touches the pack. So no
// dataflow is needed, and a pack that is undefined at first is fine: only its other bits are.
//
// p2r knows only the bit that is numbered like the predicate's register. Where an access has another register, the two predicates
// change places around it.
//
// Source: seed 001 (predicate spilling through P2R / R2P, bit-spills); DESIGN "P2R / R2P". Tested by patterns_test.cpp.
#include <algorithm>
#include <map>

#include "fuzz/faults/workshop.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

constexpr int kWantedSlots = 3;

enum class Style { P2R, Bits };

struct Options {
  Style style = Style::P2R;
  bool several = false;    // p2r and r2p of several predicates
  bool in_memory = false;  // the pack lives in a slot, and comes into a register around each access
};

// A pack: its register, or its slot.
struct Pack {
  PReg reg;
  ir::SlotId slot;
  std::uint32_t used = 0;  // bits
};
struct Home {
  std::size_t pack = 0;
  int bit = 0;
  PReg numbered;  // p2r: the predicate register of that number
};

class PackWriter {
 public:
  PackWriter(const Subject& subject, Random& random, Options options) : w_(subject, random), options_(options) {}

  std::optional<Patterned> run() {
    int known = 0;
    for (const SlotUse& use : slot_uses(w_.program)) known += use.is_predicate && use.refills > 0 ? 1 : 0;
    if (known < kWantedSlots) (void)w_.spill_stretches(true, kWantedSlots - known);
    if (options_.in_memory) {
      spare_ = w_.take(RegFile::R);
      if (!spare_) return std::nullopt;
    }
    find_predicates();
    choose_slots();
    if (homes_.empty()) return std::nullopt;
    rewrite();
    if (options_.several) merge();
    return w_.finish();
  }

 private:
  // Predicate registers that the program uses: what an extra bit may be taken from.
  void find_predicates() {
    for (const RegFile file : {RegFile::P, RegFile::UP})
      for (int u = 0; u < 32; ++u)
        if (w_.mentioned.test(unit_number(file, u)) && w_.is_allocatable(file, u))
          predicates_.push_back({file, 1, static_cast<std::uint16_t>(u)});
  }

  void choose_slots() {
    const auto uses = slot_uses(w_.program);
    std::vector<std::size_t> slots;
    for (std::size_t s = 0; s < uses.size(); ++s)
      if (uses[s].is_predicate && !uses[s].accesses.empty()) slots.push_back(s);
    shuffle(slots, w_.random);
    // Where its bit is to be. Under a guard no predicates change places. All of it first: a pack's register may need to be saved.
    std::vector<std::pair<std::size_t, PReg>> wishes;
    for (const std::size_t s : slots) {
      std::vector<PReg> numbered;
      PReg forced;
      bool possible = true;
      for (const Spot access : uses[s].accesses) {
        const EditInst& i = at(w_.program, access);
        const PReg reg = i.ops[0].preg();
        numbered.push_back(reg);
        if (!has_guard(i)) continue;
        possible = possible && (!forced.is_valid() || forced == reg);
        forced = reg;
      }
      if (options_.style == Style::Bits) wishes.emplace_back(s, PReg{});
      else if (possible)
        wishes.emplace_back(s, forced.is_valid() ? forced : numbered[w_.random.below(static_cast<std::uint32_t>(numbered.size()))]);
    }
    for (const auto& [slot, numbered] : wishes)
      if (homes_.empty() || !w_.random.chance(20)) place(slot, numbered);
  }

  void place(std::size_t slot, PReg numbered) {
    const bool by_number = options_.style == Style::P2R;
    for (std::size_t p = 0;; ++p) {
      if (p == packs_.size()) {
        Pack pack;
        if (!options_.in_memory) {
          const auto reg = w_.take(RegFile::R);
          if (!reg) return;
          pack.reg = *reg;
        } else {
          const bool shared = w_.random.chance(30);
          pack.slot = w_.new_slot(shared ? ir::MemSpace::Shared : ir::MemSpace::Local, 4, 4);
        }
        packs_.push_back(pack);
      }
      int bit = numbered.first;
      if (!by_number)
        for (bit = static_cast<int>(w_.random.below(32)); (packs_[p].used >> bit & 1) != 0;) bit = (bit + 1) % 32;
      // A pack of bit-spills takes at most ten, so that there is always a free one.
      if (!by_number && std::bitset<32>(packs_[p].used).count() >= 10) continue;
      if ((packs_[p].used >> bit & 1) != 0) continue;
      packs_[p].used |= 1u << bit;
      homes_[slot] = {p, bit, numbered};
      return;
    }
  }

  void rewrite() {
    const UnitLiveness live = w_.liveness();
    Changes changes;
    for (std::size_t b = 0; b < w_.program.blocks.size(); ++b) {
      std::vector<UnitSet> points;
      for (std::size_t k = 0; k < w_.program.blocks[b].insts.size(); ++k) {
        const EditInst i = w_.program.blocks[b].insts[k];
        if (!is_spill_or_refill(i)) continue;
        const auto home = homes_.find(i.ops[1].slot().index());
        if (home == homes_.end()) continue;
        const Pack& pack = packs_[home->second.pack];
        PReg reg = pack.reg;
        if (options_.in_memory) {
          if (points.empty()) points = live.points(b);
          reg = scratch(points[k]);
          changes.before({b, k}, make_refill(Operand::of_preg(Role::Def, reg), pack.slot));
        }
        std::vector<EditInst> code = is_spill(i) ? write(i, home->second, reg) : read(i, home->second, reg);
        for (EditInst& c : code) changes.before({b, k}, std::move(c));
        if (options_.in_memory && is_spill(i)) changes.before({b, k}, make_spill(Operand::of_preg(Role::Use, reg), pack.slot));
        w_.drop(changes, {b, k});
      }
    }
    changes.apply(w_.program);
  }

  // A register of file R whose content nobody needs: one of the program's, or the spare one.
  PReg scratch(const UnitSet& live) {
    std::vector<PReg> free;
    for (int u = 0; u < w_.limits.of(RegFile::R); ++u)
      if (!live.test(unit_number(RegFile::R, u)) && w_.is_allocatable(RegFile::R, u) &&
          w_.mentioned.test(unit_number(RegFile::R, u)) && !w_.preserved.test(unit_number(RegFile::R, u)))
        free.push_back({RegFile::R, 1, static_cast<std::uint16_t>(u)});
    if (free.empty() || w_.random.chance(20)) return *spare_;
    return free[w_.random.below(static_cast<std::uint32_t>(free.size()))];
  }

  static void guard_like(EditInst& i, const EditInst& of) {
    if (const Operand* guard = guard_of(of)) i.ops.push_back(*guard);
  }
  // A predicate whose bit nothing uses in this pack.
  PReg bystander(const Home& home, std::initializer_list<PReg> others) {
    std::vector<PReg> list;
    for (const PReg p : predicates_)
      if ((packs_[home.pack].used >> p.first & 1) == 0 && p.file == home.numbered.file &&
          std::find(others.begin(), others.end(), p) == others.end())
        list.push_back(p);
    return list.empty() ? PReg{} : list[w_.random.below(static_cast<std::uint32_t>(list.size()))];
  }

  std::vector<EditInst> write(const EditInst& spill, const Home& home, PReg pack) {
    std::vector<EditInst> code;
    const PReg reg = spill.ops[0].preg();
    const Operand target = Operand::of_preg(Role::DefUse, pack);
    if (options_.style == Style::Bits) {
      code.push_back(inserted(Op::BitSpill, {target, Operand::of_preg(Role::Use, reg), Operand::of_imm(home.bit)}));
      guard_like(code.back(), spill);
      return code;
    }
    const bool changes_places = reg != home.numbered;
    if (changes_places) code.push_back(make_swap(reg, home.numbered));
    std::vector<Operand> ops = {target, Operand::of_preg(Role::Use, home.numbered)};
    if (options_.several && w_.random.chance(40))
      if (const PReg other = bystander(home, {reg, home.numbered}); other.is_valid())
        ops.insert(ops.begin() + (w_.random.chance(50) ? 1 : 2), Operand::of_preg(Role::Use, other));
    code.push_back(inserted(Op::P2R, std::move(ops)));
    guard_like(code.back(), spill);
    if (changes_places) code.push_back(make_swap(reg, home.numbered));
    return code;
  }

  std::vector<EditInst> read(const EditInst& refill, const Home& home, PReg pack) {
    std::vector<EditInst> code;
    const PReg reg = refill.ops[0].preg();
    const Operand source = Operand::of_preg(Role::Use, pack);
    if (options_.style == Style::Bits) {
      code.push_back(inserted(Op::BitRefill, {Operand::of_preg(Role::Def, reg), source, Operand::of_imm(home.bit)}));
      guard_like(code.back(), refill);
      return code;
    }
    const bool changes_places = reg != home.numbered;
    if (changes_places) code.push_back(make_copy(reg, home.numbered));
    std::vector<Operand> ops = {Operand::of_preg(Role::Def, home.numbered), source};
    // Another predicate goes through the pack and comes back as it was.
    if (options_.several && !has_guard(refill) && w_.random.chance(30))
      if (const PReg other = bystander(home, {reg, home.numbered}); other.is_valid()) {
        code.push_back(inserted(Op::P2R, {Operand::of_preg(Role::DefUse, pack), Operand::of_preg(Role::Use, other)}));
        ops.insert(ops.begin() + (w_.random.chance(50) ? 0 : 1), Operand::of_preg(Role::Def, other));
      }
    code.push_back(inserted(Op::R2P, std::move(ops)));
    guard_like(code.back(), refill);
    if (changes_places) code.push_back(make_swap(reg, home.numbered));
    return code;
  }

  // Neighbours of one kind and one pack become one.
  void merge() {
    for (EditBlock& block : w_.program.blocks) {
      std::vector<EditInst> insts;
      for (EditInst& i : block.insts) {
        if (!insts.empty() && can_join(insts.back(), i)) {
          EditInst& last = insts.back();
          const std::size_t from = i.inst.op == Op::P2R ? 1 : 0;
          const std::size_t to = i.inst.op == Op::P2R ? i.ops.size() : i.ops.size() - 1;
          last.ops.insert(last.ops.begin() + static_cast<std::ptrdiff_t>(from), i.ops.begin() + static_cast<std::ptrdiff_t>(from),
                          i.ops.begin() + static_cast<std::ptrdiff_t>(to));
        } else {
          insts.push_back(std::move(i));
        }
      }
      block.insts = std::move(insts);
    }
  }
  static bool can_join(const EditInst& a, const EditInst& b) {
    if (a.inst.op != b.inst.op || (a.inst.op != Op::P2R && a.inst.op != Op::R2P) || has_guard(a) || has_guard(b)) return false;
    const bool to_pack = a.inst.op == Op::P2R;
    if ((to_pack ? a.ops.front() : a.ops.back()).preg() != (to_pack ? b.ops.front() : b.ops.back()).preg()) return false;
    for (const Operand& x : a.ops)
      for (const Operand& y : b.ops)
        if (ir::is_predicate(x.preg().file) && ir::is_predicate(y.preg().file) && x.preg().first == y.preg().first) return false;
    return true;
  }

  Workshop w_;
  Options options_;
  std::vector<PReg> predicates_;
  std::vector<Pack> packs_;
  std::map<std::size_t, Home> homes_;  // by slot
  std::optional<PReg> spare_;
};

std::optional<Patterned> to_p2r(const Subject& s, Random& random) { return PackWriter(s, random, {}).run(); }
std::optional<Patterned> to_wide_p2r(const Subject& s, Random& random) { return PackWriter(s, random, {.several = true}).run(); }
std::optional<Patterned> to_bits(const Subject& s, Random& random) { return PackWriter(s, random, {.style = Style::Bits}).run(); }
std::optional<Patterned> to_spilled_p2r(const Subject& s, Random& random) {
  return PackWriter(s, random, {.in_memory = true}).run();
}
std::optional<Patterned> to_spilled_bits(const Subject& s, Random& random) {
  return PackWriter(s, random, {.style = Style::Bits, .in_memory = true}).run();
}

}  // namespace

std::vector<Pattern> pack_patterns() {
  return {
      {"p2r", "predicate spill slots become bits of pack registers, by p2r and r2p", to_p2r},
      {"p2r-several", "the same, with several predicates in one p2r or r2p", to_wide_p2r},
      {"bit-spill", "predicate spill slots become bits of pack registers, by bit_spill and bit_refill", to_bits},
      {"spilled-pack", "the same by p2r and r2p, on packs that are spilled and refilled around each of them", to_spilled_p2r},
      {"spilled-bits", "the same by bit_spill and bit_refill, on packs in memory", to_spilled_bits},
  };
}

}  // namespace regduel::fuzz
