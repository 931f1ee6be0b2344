// Patterns of rematerialisation. A refill, a copy or a use whose register is known to hold, on all paths, what the latest execution
// of one rematerialisable def made, can have that def repeated instead; with register sources, as long as each source's definition
// was not executed again since, and its value is still in some register. A def that nobody reads any more is deleted.
//
// Source: seed 001 (rematerialisation); FORMAT.md "Allocated programs", 4; DESIGN "Remat". Tested by patterns_test.cpp.
#include <algorithm>
#include <map>

#include "fuzz/faults/workshop.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

class Repeater {
 public:
  explicit Repeater(Workshop& w) : w_(w), before_(w.subject.before), holdings_(before_, w.program) { find_sources(); }

  // The remat that makes in `to` what it holds now, or is about to be moved there: `held`, its words. Nothing where there is none.
  std::optional<EditInst> repeat(const Holdings::State& state, const std::vector<bool>& fresh, const Operand& to,
                                 const std::vector<Token>& held) {
    if (held.empty() || !to.is_preg() || !to.part.is_whole()) return std::nullopt;
    const Holdings::Origin& origin = holdings_.origin(held[0]);
    const ir::Inst& def = before_.insts[origin.inst];
    if (!is_repeatable(before_, def) || origin.word != 0) return std::nullopt;
    const auto ops = before_.operands_of(def);
    const ir::VReg& root = before_.vreg(before_.storage(ops[0]).root);
    if (static_cast<std::size_t>(root.units()) != held.size() || root.file() != to.preg().file || root.units() != to.preg().count ||
        to.preg().first % root.alignment() != 0)
      return std::nullopt;
    for (std::size_t w = 0; w < held.size(); ++w)
      if (held[w] != held[0] + w) return std::nullopt;
    const PReg fixed = before_.fixed_of(ops[0]);
    if (fixed.is_valid() && fixed != to.preg()) return std::nullopt;
    for (int u = to.preg().begin(); u < to.preg().end(); ++u)
      if (!w_.is_allocatable(to.preg().file, u)) return std::nullopt;
    EditInst i = inserted(Op::Remat, {before_.placed_at(ops[0], to.preg())});
    i.inst.ref = def.id;
    std::map<std::uint32_t, PReg> homes;  // by root
    for (std::size_t k = 1; k < ops.size(); ++k) {
      if (!ops[k].is_vreg()) {
        i.ops.push_back(ops[k]);
        if (ops[k].kind == ir::OperandKind::Symbol)
          i.ops.back().value = w_.program.header.symbols.intern(before_.symbols[ops[k].symbol()]).value;
        continue;
      }
      const auto sources = sources_.find(origin.inst);
      if (sources == sources_.end() || !fresh[sources->second.number]) return std::nullopt;
      const PReg home = find_home(state, ops[k], sources->second.words.at(k), homes);
      if (!home.is_valid() || (ops[0].is_early_clobber() && home.overlaps(to.preg()))) return std::nullopt;
      i.ops.push_back(before_.placed_at(ops[k], home));
    }
    return i;
  }

  // Walks the program; visit(spot, state, fresh) before each instruction.
  template <class Visit>
  void walk(Visit visit) {
    for (std::size_t b = 0; b < w_.program.blocks.size(); ++b) {
      Holdings::State state = holdings_.at_begin(b);
      if (state.empty()) continue;
      std::vector<bool> fresh = fresh_in_[b];
      const auto& insts = w_.program.blocks[b].insts;
      for (std::size_t k = 0; k < insts.size(); ++k) {
        const EditInst as_it_was = insts[k];
        visit(Spot{b, k}, state, fresh);
        holdings_.step(state, as_it_was);
        step(fresh, as_it_was);
      }
    }
  }
  [[nodiscard]] const Holdings& holdings() const { return holdings_; }

 private:
  struct Sources {
    std::size_t number = 0;
    std::map<std::size_t, std::vector<Token>> words;  // by operand
  };

  // Repeatable instructions with register sources of which everything is known, and where these are still the latest.
  void find_sources() {
    fresh_in_.assign(w_.program.blocks.size(), {});
    for (std::size_t b = 0; b < w_.program.blocks.size(); ++b) {
      Holdings::State state = holdings_.at_begin(b);
      if (state.empty()) continue;
      for (const EditInst& i : w_.program.blocks[b].insts) {
        const auto index = i.inst.is_inserted() || i.inst.is_deleted() ? std::nullopt : holdings_.index_before(i.inst.id);
        if (index && is_repeatable(before_, before_.insts[*index])) {
          Sources s;
          s.number = sources_.size();
          bool known = true;
          for (std::size_t k = 1; k < i.ops.size() && known; ++k) {
            if (!i.ops[k].is_preg()) continue;
            s.words[k] = holdings_.held_by(state, i.ops[k]);
            known = !s.words[k].empty();
            for (const Token t : s.words[k]) {
              known = known && holdings_.origin(t).inst != *index;
              feeds_[holdings_.origin(t).inst].push_back(s.number);
            }
          }
          if (known && !s.words.empty()) {
            sources_.emplace(*index, std::move(s));
          } else {
            for (auto& [inst, list] : feeds_) std::erase(list, s.number);
          }
        }
        holdings_.step(state, i);
      }
    }
    fresh_in_[0].assign(sources_.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 0; b < w_.program.blocks.size(); ++b) {
        if (fresh_in_[b].empty() && !(sources_.empty() && b == 0)) continue;
        std::vector<bool> fresh = fresh_in_[b];
        for (const EditInst& i : w_.program.blocks[b].insts) step(fresh, i);
        for (const ir::BlockId to : w_.program.blocks[b].insts.back().targets) {
          std::vector<bool>& in = fresh_in_[to.index()];
          if (in.empty()) {
            in = fresh;
            changed = changed || !fresh.empty();
            continue;
          }
          for (std::size_t k = 0; k < in.size(); ++k)
            if (in[k] && !fresh[k]) {
              in[k] = false;
              changed = true;
            }
        }
      }
    }
  }

  void step(std::vector<bool>& fresh, const EditInst& i) const {
    const auto index = i.inst.is_inserted() ? std::nullopt : holdings_.index_before(i.inst.id);
    if (!index) return;
    if (const auto fed = feeds_.find(*index); fed != feeds_.end())
      for (const std::size_t number : fed->second) fresh[number] = false;
    if (const auto own = sources_.find(*index); own != sources_.end()) fresh[own->second.number] = true;
  }

  // A home of the source's root that holds the words that the operand reads.
  PReg find_home(const Holdings::State& state, const Operand& op, const std::vector<Token>& words,
                 std::map<std::uint32_t, PReg>& homes) {
    const ir::Storage s = before_.storage(op);
    const ir::VReg& root = before_.vreg(s.root);
    const PReg fixed = before_.fixed_of(op);
    const auto holds = [&](PReg home) {
      for (int u = home.begin(); u < home.end(); ++u)
        if ((root.flags & ir::kVRegArchitectural) == 0 && !w_.is_allocatable(home.file, u)) return false;
      return holdings_.held_by(state, before_.placed_at(op, home)) == words;
    };
    PReg& known = homes[s.root.value];
    if (fixed.is_valid()) return holds(fixed) ? fixed : PReg{};
    if (known.is_valid()) return holds(known) ? known : PReg{};
    std::vector<PReg> found;
    for (int first = 0; first + root.units() <= w_.limits.of(root.file()); first += root.alignment()) {
      const PReg home{root.file(), static_cast<std::uint8_t>(root.units()), static_cast<std::uint16_t>(first)};
      if (holds(home)) found.push_back(home);
    }
    if (found.empty()) return {};
    known = found[w_.random.below(static_cast<std::uint32_t>(found.size()))];
    return known;
  }

  Workshop& w_;
  const ir::Function& before_;
  Holdings holdings_;
  std::map<std::uint32_t, Sources> sources_;                 // by index of the instruction before
  std::map<std::uint32_t, std::vector<std::size_t>> feeds_;  // instruction before -> numbers of those that it feeds
  std::vector<std::vector<bool>> fresh_in_;                  // by block; empty where no path leads there
};

// Stores that no refill sees, then defs that nobody reads.
void sweep(Workshop& w) {
  Changes changes;
  const auto uses = slot_uses(w.program);
  for (const SlotUse& use : uses)
    if (use.refills == 0)
      for (const Spot s : use.accesses)
        if (at(w.program, s).inst.is_inserted()) changes.remove(s);
  changes.apply(w.program);
  const ir::Function& before = w.subject.before;
  std::map<std::uint32_t, std::uint32_t> index_of;
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) index_of[before.insts[i].id.value] = i;
  const UnitLiveness live = w.liveness();
  for (std::size_t b = 0; b < w.program.blocks.size(); ++b) {
    if (!live.is_reachable(b)) continue;
    const auto points = live.points(b);
    for (std::size_t k = 0; k < w.program.blocks[b].insts.size(); ++k) {
      EditInst& i = w.program.blocks[b].insts[k];
      if (i.inst.is_inserted() || i.inst.is_deleted() || !index_of.contains(i.inst.id.value)) continue;
      if (!is_repeatable(before, before.insts[index_of[i.inst.id.value]]) || (units_of(i.ops[0].preg()) & points[k + 1]).any())
        continue;
      mark_deleted(i);
    }
  }
}

bool moves_words(const Operand& to, const Operand& from) {
  const ir::FileBytes a = ir::Function::file_bytes(to), b = ir::Function::file_bytes(from);
  const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(b.file));
  return a.end - a.begin == b.end - b.begin && b.begin % unit == 0 && b.end % unit == 0;
}

std::optional<Patterned> remat_moves(Workshop& w, int percent) {
  Repeater repeater(w);
  Changes changes;
  Random& random = w.random;
  repeater.walk([&](Spot s, const Holdings::State& state, const std::vector<bool>& fresh) {
    const EditInst& i = at(w.program, s);
    if (has_guard(i) || !random.chance(percent)) return;
    std::optional<EditInst> remat;
    if (is_refill(i)) {
      const ir::FileBytes b = ir::Function::file_bytes(i.ops[0]);
      remat = repeater.repeat(state, fresh, i.ops[0], repeater.holdings().held_by_slot(state, i.ops[1], (b.end - b.begin + 3) / 4));
    } else if (i.inst.is_copy() && !i.inst.is_deleted() && i.ops.size() == 2 && moves_words(i.ops[0], i.ops[1])) {
      remat = repeater.repeat(state, fresh, i.ops[0], repeater.holdings().held_by(state, i.ops[1]));
    }
    if (!remat) return;
    changes.before(s, std::move(*remat));
    w.drop(changes, s);
  });
  if (changes.empty()) return std::nullopt;
  changes.apply(w.program);
  return w.finish();
}

std::optional<Patterned> remat(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  (void)w.spill_stretches(false, 6);
  auto result = remat_moves(w, 80);
  return result;
}

// Remats in front of the uses, into the very registers that they read; what is no longer needed goes.
std::optional<Patterned> remat_all(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  Repeater repeater(w);
  Changes changes;
  // All uses of about half of the defs.
  std::vector<bool> chosen(subject.before.insts.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = random.chance(50);
  repeater.walk([&](Spot s, const Holdings::State& state, const std::vector<bool>& fresh) {
    const EditInst& i = at(w.program, s);
    if (i.inst.is_phi() || i.inst.is_deleted()) return;
    std::vector<PReg> done;
    for (const Operand& op : i.ops) {
      if (!op.is_preg() || !op.reads()) continue;
      // The whole home, although a part of it may be read.
      const Operand home = Operand::of_preg(Role::Use, op.preg());
      const auto held = is_refill(i) ? std::vector<Token>() : repeater.holdings().held_by(state, home);
      if (held.empty() || !chosen[repeater.holdings().origin(held[0]).inst]) continue;
      if (std::any_of(done.begin(), done.end(), [&](PReg r) { return r.overlaps(op.preg()); })) continue;
      auto one = repeater.repeat(state, fresh, home, held);
      if (!one) continue;
      // Repeated in place, it may read no register that an earlier one has just written with the same value: that changes nothing.
      done.push_back(op.preg());
      changes.before(s, std::move(*one));
    }
    if (!is_refill(i) || has_guard(i)) return;
    const ir::FileBytes b = ir::Function::file_bytes(i.ops[0]);
    const auto held = repeater.holdings().held_by_slot(state, i.ops[1], (b.end - b.begin + 3) / 4);
    if (held.empty() || !chosen[repeater.holdings().origin(held[0]).inst]) return;
    if (auto one = repeater.repeat(state, fresh, i.ops[0], held)) {
      changes.before(s, std::move(*one));
      w.drop(changes, s);
    }
  });
  if (changes.empty()) return std::nullopt;
  changes.apply(w.program);
  sweep(w);
  return w.finish();
}

}  // namespace

std::vector<Pattern> remat_patterns() {
  return {
      {"remat", "refills and copies of a value that one rematerialisable def made become remats of it", remat},
      {"remat-all", "remats in front of the uses, in place; defs and spills that are no longer needed go", remat_all},
  };
}

}  // namespace regduel::fuzz
