// See pattern_analysis.h.
#include "fuzz/faults/pattern_analysis.h"

#include <algorithm>

#include "oracles/pair/preserved.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::RegFile;
using ir::Role;

constexpr Token kTop = 0xFFFFFFFFu;

}  // namespace

UnitSet preserved_units_of(const Subject& s) {
  UnitSet set;
  for (const ir::PReg r : oracles::preserved_units(s.before, s.target)) set |= units_of(r);
  return set;
}

// --- liveness -------------------------------------------------------------------------------------------------------

UnitLiveness::UnitLiveness(const EditProgram& p, const UnitSet& preserved)
    : p_(p), preserved_(preserved), live_in_(p.blocks.size()), reachable_(p.blocks.size(), false) {
  std::vector<std::size_t> order, work = {0};
  reachable_[0] = true;
  while (!work.empty()) {
    const std::size_t b = work.back();
    work.pop_back();
    order.push_back(b);
    for (const ir::BlockId s : p.blocks[b].insts.back().targets) {
      if (reachable_[s.index()]) continue;
      reachable_[s.index()] = true;
      work.push_back(s.index());
    }
  }
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    if (!reachable_[b]) order.push_back(b);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = order.rbegin(); b != order.rend(); ++b) {
      UnitSet live;
      for (const ir::BlockId s : p.blocks[*b].insts.back().targets) live |= live_in_[s.index()];
      for (auto i = p.blocks[*b].insts.rbegin(); i != p.blocks[*b].insts.rend(); ++i) step_back(*i, live);
      changed = changed || live != live_in_[*b];
      live_in_[*b] = live;
    }
  }
}

void UnitLiveness::step_back(const EditInst& inst, UnitSet& live) const {
  if (inst.inst.is_deleted()) return;
  // A phi that was kept has one home: it changes nothing.
  if (!inst.inst.is_phi() && !has_guard(inst))
    for (const Operand& op : inst.ops)
      if (op.role == Role::Def || op.role == Role::Clobber) live &= ~covered_units(op);
  live |= read_units(inst);
  if (inst.inst.op == Op::Ret) live |= preserved_;
}

std::vector<UnitSet> UnitLiveness::points(std::size_t block) const {
  const auto& insts = p_.blocks[block].insts;
  std::vector<UnitSet> sets(insts.size() + 1);
  for (const ir::BlockId s : insts.back().targets) sets.back() |= live_in_[s.index()];
  for (std::size_t k = insts.size(); k-- > 0;) {
    sets[k] = sets[k + 1];
    step_back(insts[k], sets[k]);
  }
  return sets;
}

// --- holdings -------------------------------------------------------------------------------------------------------

Holdings::Holdings(const ir::Function& before, const EditProgram& p)
    : before_(before), p_(p), unit_location_(UnitSet().size(), 0), origins_(1), first_token_(before.operands.size(), 0),
      tokens_of_(before.insts.size()), in_(p.blocks.size()) {
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) {
    const ir::Inst& inst = before.insts[i];
    index_of_.emplace(inst.id.value, i);
    tokens_of_[i].first = static_cast<Token>(origins_.size());
    const auto ops = before.operands_of(inst);
    for (std::uint32_t k = 0; k < ops.size() && !inst.is_copy() && !inst.is_phi(); ++k) {
      if (!ops[k].is_vreg() || !ops[k].writes()) continue;
      const ir::Storage s = before.storage(ops[k]);
      const ir::VReg& root = before.vreg(s.root);
      if (s.offset != 0 || s.size != root.bytes()) continue;
      first_token_[inst.first_operand + k] = static_cast<Token>(origins_.size());
      for (int w = 0; w < root.units(); ++w) origins_.push_back({i, k, static_cast<std::uint32_t>(w)});
    }
    tokens_of_[i].second = static_cast<Token>(origins_.size());
  }
  // Location 0 is of whatever is never mentioned.
  UnitSet used;
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts) used |= mentioned_units(i);
  num_locations_ = 1;
  for (std::size_t u = 0; u < used.size(); ++u)
    if (used.test(u)) unit_location_[u] = static_cast<std::uint32_t>(num_locations_++);
  for (const ir::Slot& s : p.header.slots) {
    slot_location_.push_back(static_cast<std::uint32_t>(num_locations_));
    num_locations_ += (s.size + 3) / 4;
  }
  in_[0].assign(num_locations_, 0);
  std::vector<bool> waits(p.blocks.size(), false);
  waits[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      if (!waits[b]) continue;
      waits[b] = false;
      State state = in_[b];
      for (const EditInst& i : p.blocks[b].insts) step(state, i);
      for (const ir::BlockId to : p.blocks[b].insts.back().targets) {
        State& in = in_[to.index()];
        bool news = in.empty();
        if (news) in.assign(num_locations_, kTop);
        for (std::size_t l = 0; l < num_locations_; ++l) {
          const Token met = in[l] == kTop || in[l] == state[l] ? state[l] : state[l] == kTop ? in[l] : 0;
          news = news || met != in[l];
          in[l] = met;
        }
        if (!news) continue;
        waits[to.index()] = true;
        changed = true;
      }
    }
  }
}

std::optional<std::uint32_t> Holdings::index_before(ir::InstId id) const {
  const auto it = index_of_.find(id.value);
  if (it == index_of_.end()) return std::nullopt;
  return it->second;
}

// The locations of a register operand, or of so many words of a slot. `whole`: they are moved as whole words.
std::vector<std::size_t> Holdings::words_of(const Operand& op, std::size_t words, bool& whole) const {
  std::vector<std::size_t> list;
  if (op.is_preg()) {
    const ir::FileBytes b = ir::Function::file_bytes(op);
    const auto unit = static_cast<std::uint32_t>(ir::unit_bytes(b.file));
    whole = whole && b.begin % unit == 0 && b.end % unit == 0;
    for (std::uint32_t u = b.begin / unit; u * unit < b.end; ++u) list.push_back(location(b.file, static_cast<int>(u)));
  } else if (op.is_slot()) {
    whole = whole && op.extra % 4 == 0;
    const ir::Slot& s = p_.header.slots[op.slot().index()];
    for (std::size_t w = op.extra / 4; w < op.extra / 4 + words + (op.extra % 4 != 0 ? 1 : 0) && w < (s.size + 3) / 4; ++w)
      list.push_back(slot_location_[op.slot().index()] + w);
  }
  return list;
}

void Holdings::move(State& state, std::span<const std::pair<const Operand*, const Operand*>> pairs, bool guarded) const {
  std::vector<std::pair<std::size_t, Token>> writes;
  for (const auto& [to, from] : pairs) {
    bool whole = true;
    std::size_t words = 1;
    if (to->is_preg() || from->is_preg()) {
      const ir::FileBytes b = ir::Function::file_bytes(to->is_preg() ? *to : *from);
      words = (b.end - b.begin + 3) / 4;
      if (b.end - b.begin < 4 && !ir::is_predicate(b.file)) whole = false;
    }
    const auto target = words_of(*to, words, whole), source = words_of(*from, words, whole);
    for (std::size_t k = 0; k < target.size(); ++k)
      writes.emplace_back(target[k], whole && target.size() == source.size() ? state[source[k]] : 0);
  }
  for (const auto& [l, token] : writes) state[l] = guarded && state[l] != token ? 0 : token;
}

void Holdings::step(State& state, const EditInst& i) const {
  const auto index = i.inst.is_inserted() ? std::nullopt : index_before(i.inst.id);
  const bool is_move = i.inst.is_copy() || i.inst.is_phi() || i.inst.op == Op::Spill || i.inst.op == Op::Refill;
  const bool guarded = has_guard(i);
  if (index && !is_move) {
    // Older results of it are no longer the latest.
    const auto [begin, end] = tokens_of_[*index];
    if (begin != end)
      for (Token& t : state)
        if (t >= begin && t < end) t = 0;
  }
  if (i.inst.is_deleted()) return;
  std::vector<std::pair<const Operand*, const Operand*>> pairs;
  if (is_move) {
    if (i.inst.op == Op::Spill && i.ops.size() >= 2) pairs.emplace_back(&i.ops[1], &i.ops[0]);
    if (i.inst.op == Op::Refill && i.ops.size() >= 2) pairs.emplace_back(&i.ops[0], &i.ops[1]);
    std::size_t defs = 0;
    while (i.inst.is_copy() && defs < i.ops.size() && i.ops[defs].writes()) ++defs;
    for (std::size_t k = 0; k < defs && defs + k < i.ops.size(); ++k) pairs.emplace_back(&i.ops[k], &i.ops[defs + k]);
    if (i.inst.is_phi())
      for (const Operand& op : i.ops)
        if (!i.ops[0].is_preg() || !op.is_preg() || op.preg() != i.ops[0].preg()) pairs.emplace_back(&i.ops[0], &op);
    move(state, pairs, guarded || i.inst.is_phi());
  }
  for (const Operand& op : i.ops)
    if (op.role == Role::Clobber)
      for (int u = op.preg().begin(); u < op.preg().end(); ++u) state[location(op.preg().file, u)] = 0;
  if (is_move) return;
  for (std::size_t k = 0; k < i.ops.size(); ++k) {
    if (!i.ops[k].is_preg() || !i.ops[k].writes()) continue;
    bool whole = i.ops[k].part.is_whole() && !guarded;
    const auto target = words_of(i.ops[k], 0, whole);
    Token token = 0;
    std::size_t units = 0;
    const auto source = i.inst.op == Op::Remat ? index_before(i.inst.ref) : index;
    if (source && k < before_.insts[*source].num_operands) {
      const ir::Inst& b = before_.insts[*source];
      token = first_token_[b.first_operand + k];
      if (token != 0) units = static_cast<std::size_t>(before_.vreg(before_.storage(before_.operands_of(b)[k]).root).units());
    }
    for (std::size_t w = 0; w < target.size(); ++w)
      state[target[w]] = whole && token != 0 && units == target.size() ? token + static_cast<Token>(w) : 0;
  }
  state[0] = 0;
}

Token Holdings::held(const State& state, RegFile file, int unit) const {
  const std::size_t l = location(file, unit);
  return l == 0 || state[l] == kTop ? 0 : state[l];
}

std::vector<Token> Holdings::held_by(const State& state, const Operand& reg) const {
  std::vector<Token> tokens;
  if (!reg.is_preg()) return tokens;
  bool whole = true;
  for (const std::size_t l : words_of(reg, 0, whole)) tokens.push_back(l == 0 || state[l] == kTop ? 0 : state[l]);
  if (std::find(tokens.begin(), tokens.end(), 0u) != tokens.end()) tokens.clear();
  return tokens;
}

std::vector<Token> Holdings::held_by_slot(const State& state, const Operand& slot, std::size_t words) const {
  std::vector<Token> tokens;
  bool whole = true;
  for (const std::size_t l : words_of(slot, words, whole)) tokens.push_back(state[l] == kTop ? 0 : state[l]);
  if (!whole || tokens.size() != words || std::find(tokens.begin(), tokens.end(), 0u) != tokens.end()) tokens.clear();
  return tokens;
}

// --- slots ----------------------------------------------------------------------------------------------------------

std::vector<SlotUse> slot_uses(const EditProgram& p) {
  std::vector<SlotUse> uses(p.header.slots.size());
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k) {
      const EditInst& i = p.blocks[b].insts[k];
      if (!is_spill_or_refill(i)) continue;
      SlotUse& use = uses[i.ops[1].slot().index()];
      use.accesses.push_back({b, k});
      (is_spill(i) ? use.spills : use.refills) += 1;
      const bool predicate = ir::is_predicate(i.ops[0].preg().file);
      use.is_predicate = use.is_predicate && predicate && i.ops[1].extra == 0;
      const ir::FileBytes bytes = ir::Function::file_bytes(i.ops[0]);
      use.is_words = use.is_words && !predicate && i.ops[1].extra % 4 == 0 && bytes.begin % 4 == 0 && bytes.end % 4 == 0;
    }
  return uses;
}

}  // namespace regduel::fuzz
