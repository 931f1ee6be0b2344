// Faults of remats: of what they repeat, of what they read, and of defs that were given up for them.
//
// Codes: a remat that is not what it repeats is 7; whatever else is found in a register instead of the right def is 6.
// Source: seed 000 "Error Categories". Tested by pattern_faults_test.cpp.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "fuzz/faults/pattern_faults.h"
#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

std::vector<Spot> live_remats(const EditProgram& p, const Subject& s) {
  return read_spots(p, s, [](const EditInst& i) { return i.inst.op == Op::Remat; });
}

bool remat_wrong_instruction(EditProgram& p, const Subject& s, Random& random) {
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
    if (!is_repeatable(s.before, i) || i.id == remat.inst.ref || s.before.fixed_of(ops[0]).is_valid()) continue;
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
  const auto chosen = pick(live_remats(p, s), random);
  if (!chosen) return false;
  EditInst& remat = at(p, *chosen);
  std::vector<ir::InstId> others;
  for (const ir::Inst& i : s.before.insts) {
    const auto ops = s.before.operands_of(i);
    if (!is_repeatable(s.before, i) || s.before.fixed_of(ops[0]).is_valid()) continue;
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

// A register that does not hold what the remat reads of this source.
std::optional<PReg> another_source(const EditProgram& p, const Subject& s, const std::pair<Spot, std::size_t>& source,
                                   Random& random) {
  const Operand& right = at(p, source.first).ops[source.second];
  const auto other = another_register(p, s, right.preg(), random);
  if (!other) return std::nullopt;
  Operand wrong = right;
  wrong.value = Operand::pack(*other);
  const auto index = s.after.blocks[source.first.block].first_inst + static_cast<std::uint32_t>(source.first.inst);
  if (!hold_different(*FactsOf(s), s.after, index, right, wrong)) return std::nullopt;
  return other;
}

bool remat_wrong_source(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(remat_sources(p, s), random);
  if (!chosen) return false;
  const auto other = another_source(p, s, *chosen, random);
  if (!other) return false;
  at(p, chosen->first).ops[chosen->second].value = Operand::pack(*other);
  return true;
}

// A source is overwritten right in front of a remat.
bool remat_source_overwritten(EditProgram& p, const Subject& s, Random& random) {
  const auto chosen = pick(remat_sources(p, s), random);
  if (!chosen) return false;
  const PReg source = at(p, chosen->first).ops[chosen->second].preg();
  const auto other = another_source(p, s, *chosen, random);
  if (!other || !ir::is_allocatable(s.target, s.limits, source.file, source.end() - 1)) return false;
  insert_before(p, chosen->first, make_copy(source, *other));
  return true;
}

// What an operation reads, if one unguarded def made it, is "rematerialised" in front of it, with the registers that the def read.
// Either the def may not be repeated, or one of these registers holds something else by now.
template <bool kRepeatable>
bool remat_carelessly(EditProgram& p, const Subject& s, Random& random) {
  const FactsOf facts(s);
  const AfterFactsOf after(s);
  const Holdings& holdings = after->holdings();
  const auto walk = [&](auto visit) {
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      Holdings::State state = holdings.at_begin(b);
      for (std::size_t k = 0; !state.empty() && k < p.blocks[b].insts.size(); ++k) {
        const EditInst& i = p.blocks[b].insts[k];
        const ir::Inst* old = facts->original(i);
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
    if (old.op != Op::Named || is_repeatable(s.before, old) != kRepeatable || old.has(ir::kMemWrite) ||
        !is_free_def(s.before, old, 0))
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
  insert_before(p, chosen->first, chosen->second);
  return true;
}

// A def that is still read goes as if remats served all its uses; its register keeps what another def left there.
bool live_def_deleted(EditProgram& p, const Subject& s, Random& random) {
  const FactsOf facts(s);
  auto list = read_spots(p, s, [&](const EditInst& i) {
    const ir::Inst* old = facts->original(i);
    return old != nullptr && is_repeatable(s.before, *old);
  });
  std::erase_if(list, [&](Spot spot) {
    const auto stale = plain_writer(p, spot, at(p, spot).ops[0].preg());
    return !stale || !is_full(*facts, at(p, *stale));
  });
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  mark_deleted(at(p, *chosen));
  return true;
}

}  // namespace

std::vector<FaultOperator> remat_faults() {
  return {
      {"remat-wrong-instruction",
       "another instruction is repeated, correctly in itself",
       {6},
       {},
       shown_as<remat_wrong_instruction, 6>},
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
      {"live-def-deleted",
       "a def that is still read is deleted as if remats served all its uses",
       {6},
       {},
       shown_as<live_def_deleted, 6>},
  };
}

}  // namespace regduel::fuzz
