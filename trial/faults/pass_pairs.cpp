// Programs over vregs and what a careless pass makes of them. See pairs.h.
#include <algorithm>
#include <functional>
#include <ranges>

#include "ir/check.h"
#include "oracles/pair/constraints.h"
#include "oracles/pair/preserved.h"
#include "trial/faults/instructions.h"
#include "trial/faults/pairs.h"

namespace regduel::trial {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

// Where an operand stands in a program taken apart.
struct At {
  std::size_t block = 0, inst = 0, operand = 0;
};
EditInst& inst_at(EditProgram& p, const At& at) { return p.blocks[at.block].insts[at.inst]; }

using Test = std::function<bool(const EditProgram&, const EditInst&, const Operand&)>;
std::optional<At> pick_operand(const EditProgram& p, const Test& test, Random& random) {
  std::vector<At> places;
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t i = 0; i < p.blocks[b].insts.size(); ++i)
      for (std::size_t k = 0; k < p.blocks[b].insts[i].ops.size(); ++k)
        if (test(p, p.blocks[b].insts[i], p.blocks[b].insts[i].ops[k])) places.push_back({b, i, k});
  return pick(places, random);
}

std::optional<PairVerdicts> judged(const DrawnSubject& subject, const ir::Function& before, ir::Function after) {
  if (!ir::check(before, subject.target, 1).empty() || !ir::check(after, subject.target, 1).empty()) return std::nullopt;
  PairVerdicts v;
  v.right = oracles::judge_constraints(before, before, subject.target);
  v.damaged = oracles::judge_constraints(before, after, subject.target);
  v.before = before;
  v.after = std::move(after);
  return v;
}

// The program with one operand changed; edit(program, instruction, operand) may declare vregs.
template <class Change>
std::optional<PairVerdicts> with_operand(const DrawnSubject& subject, Random& random, const Test& test, Change change) {
  EditProgram p(subject.c.program);
  const auto at = pick_operand(p, test, random);
  if (!at) return std::nullopt;
  change(p, *at);
  return judged(subject, subject.c.program, p.build());
}

std::optional<PairVerdicts> drops_tie(const DrawnSubject& s, Random& random) {
  return with_operand(
      s, random, [](const EditProgram&, const EditInst&, const Operand& op) { return op.is_tied(); },
      [](EditProgram& p, const At& at) { inst_at(p, at).ops[at.operand].tied = ir::kNotTied; });
}

std::optional<PairVerdicts> drops_early_clobber(const DrawnSubject& s, Random& random) {
  return with_operand(
      s, random, [](const EditProgram&, const EditInst&, const Operand& op) { return op.is_early_clobber(); },
      [](EditProgram& p, const At& at) { inst_at(p, at).ops[at.operand].flags &= static_cast<std::uint8_t>(~ir::kEarlyClobber); });
}

std::optional<PairVerdicts> drops_fixed(const DrawnSubject& s, Random& random) {
  return with_operand(
      s, random, [](const EditProgram&, const EditInst&, const Operand& op) { return op.is_vreg() && op.fixed().is_valid(); },
      [](EditProgram& p, const At& at) { inst_at(p, at).ops[at.operand].set_fixed({}); });
}

// A use of an operation whose register nothing but its class and size binds.
bool is_plain_use(const EditProgram& p, const EditInst& i, const Operand& op) {
  if (i.inst.op != Op::Named || op.role != Role::Use || !op.is_vreg() || op.fixed().is_valid() || !op.part.is_whole()) return false;
  const ir::VReg& v = p.header.vregs[op.vreg().index()];
  const bool is_tied_to = std::ranges::any_of(
      i.ops, [&](const Operand& def) { return def.is_tied() && i.ops[def.tied].is_vreg() && i.ops[def.tied].vreg() == op.vreg(); });
  return !is_tied_to && !v.alias.is_valid() && !v.fixed.is_valid() && !v.is_architectural();
}

// Another vreg takes the place of a use: like it, but for `change`.
template <class Change>
std::optional<PairVerdicts> with_other_vreg(const DrawnSubject& s, Random& random, const Test& test, Change change) {
  return with_operand(s, random, test, [&](EditProgram& p, const At& at) {
    Operand& op = inst_at(p, at).ops[at.operand];
    ir::VReg v = p.header.vregs[op.vreg().index()];
    v.hint = {}, v.name = {};
    change(v);
    op.set_raw({static_cast<std::uint32_t>(p.header.vregs.size()), op.raw().extra});
    p.header.vregs.push_back(v);
  });
}

std::optional<PairVerdicts> less_aligned(const DrawnSubject& s, Random& random) {
  return with_other_vreg(
      s, random,
      [](const EditProgram& p, const EditInst& i, const Operand& op) {
        return is_plain_use(p, i, op) && p.header.vregs[op.vreg().index()].align_log2 > 0;
      },
      [](ir::VReg& v) { --v.align_log2; });
}

std::optional<PairVerdicts> other_width(const DrawnSubject& s, Random& random) {
  return with_other_vreg(
      s, random,
      [](const EditProgram& p, const EditInst& i, const Operand& op) {
        if (!is_plain_use(p, i, op)) return false;
        const int width = p.header.vregs[op.vreg().index()].width;
        return width >= 8 && width <= 128 && width != 96;
      },
      [](ir::VReg& v) {
        v.width = static_cast<std::uint16_t>(v.width * 2);
        v.align_log2 = std::max(v.align_log2, static_cast<std::uint8_t>(ir::natural_align_log2(v.width)));
      });
}

std::optional<PairVerdicts> other_alignment_declared(const DrawnSubject& s, Random& random) {
  EditProgram p(s.c.program);
  std::vector<ir::VReg*> vregs;
  for (ir::VReg& v : p.header.vregs)
    if (!ir::is_predicate(v.file()) && !ir::is_barrier(v.file()) && !v.fixed.is_valid() && !v.alias.is_valid()) vregs.push_back(&v);
  const auto v = pick(vregs, random);
  if (!v) return std::nullopt;
  (*v)->align_log2 ^= 1;
  return judged(s, s.c.program, p.build());
}

// An operation that reads one register twice, and writes nothing, reads a copy of it once instead. It needs more units, since tuples
// whose sizes are powers of two leave no gaps, but round a reserved register.
std::optional<PairVerdicts> more_demand(const DrawnSubject& s, Random& random) {
  EditProgram p(s.c.program);
  if (s.c.program.predicate_halves) return std::nullopt;
  const auto is_even = [&](const Operand& op) {
    return !op.is_register() ||
           (op.is_vreg() && op.role == Role::Use && op.part.is_whole() && !op.fixed().is_valid() &&
            p.header.vregs[op.vreg().index()].width != 96 && !p.header.vregs[op.vreg().index()].fixed.is_valid() &&
            !p.header.vregs[op.vreg().index()].alias.is_valid());
  };
  const auto has_reserved = [&](ir::RegFile file) {
    const auto is_reserved = [&](int unit) { return s.target.is_reserved(s.c.program.abi, file, unit); };
    return std::ranges::any_of(std::views::iota(0, s.target.units[ir::index(file)]), is_reserved);
  };
  const auto at = pick_operand(
      p,
      [&](const EditProgram& in, const EditInst& i, const Operand& op) {
        return is_plain_use(in, i, op) && !has_reserved(p.header.vregs[op.vreg().index()].file()) &&
               std::ranges::all_of(i.ops, is_even) &&
               std::ranges::count_if(i.ops, [&](const Operand& o) { return o.is_vreg() && o.vreg() == op.vreg(); }) > 1;
      },
      random);
  if (!at) return std::nullopt;
  Operand& op = inst_at(p, *at).ops[at->operand];
  const ir::VRegId old = op.vreg(), copied(p.header.vregs.size());
  ir::VReg v = p.header.vregs[old.index()];
  v.hint = {}, v.name = {};
  op.set_raw({copied.value, op.raw().extra});
  EditInst copy;
  copy.inst.op = Op::Copy;
  copy.inst.id = p.next_id();
  copy.ops = {Operand::of_vreg(Role::Def, copied), Operand::of_vreg(Role::Use, old)};
  p.header.vregs.push_back(v);
  auto& insts = p.blocks[at->block].insts;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(at->inst), std::move(copy));
  return judged(s, s.c.program, p.build());
}

// The program gives a callee-saved register up by a copy, which the pass leaves out.
std::optional<PairVerdicts> keeps_registers(const DrawnSubject& s, Random& random) {
  const auto preserved = pick(oracles::preserved_units(s.c.program, s.target), random);
  if (!preserved) return std::nullopt;
  EditProgram p(s.c.program);
  const ir::VRegId from(p.header.vregs.size()), to(from.index() + 1);
  p.header.vregs.resize(p.header.vregs.size() + 2);
  EditInst constant, copy;
  constant.inst.op = Op::Const;
  constant.inst.id = p.next_id();
  constant.ops = {Operand::of_vreg(Role::Def, from), Operand::of_imm(7)};
  copy.inst.op = Op::Copy;
  copy.inst.id = ir::InstId(constant.inst.id.value + 1);
  copy.ops = {Operand::of_vreg(Role::Def, to), Operand::of_vreg(Role::Use, from), Operand::of_preg(Role::Clobber, *preserved)};
  auto& insts = p.blocks[0].insts;
  const auto first = std::ranges::find_if(insts, [](const EditInst& i) { return !i.inst.is_phi(); });
  const auto at = insts.insert(first, std::move(constant)) + 1;
  const auto without = static_cast<std::size_t>(at - insts.begin());
  insts.insert(at, std::move(copy));
  const ir::Function before = p.build();
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(without));
  return judged(s, before, p.build());
}

}  // namespace

std::span<const PairFault> pass_faults() {
  static constexpr PairFault kFaults[] = {
      {"pass-drops-tie", "a pass drops the tie of a def", "operand-constraint", drops_tie},
      {"pass-drops-early-clobber", "a pass drops the mark of an early-clobber def", "operand-constraint", drops_early_clobber},
      {"pass-drops-fixed", "a pass drops the fixed register of an operand", "operand-constraint", drops_fixed},
      {"pass-less-aligned", "a pass puts a vreg in the place of one that is aligned more", "operand-constraint", less_aligned},
      {"pass-other-width", "a pass puts a vreg in the place of one of half the width", "operand-constraint", other_width},
      {"pass-other-declaration", "a pass declares a vreg with another alignment", "vreg-declaration", other_alignment_declared},
      {"pass-more-demand", "a pass puts a copy in the place of a register that the instruction reads anyhow", "operand-demand",
       more_demand},
      {"pass-keeps-registers", "a pass leaves out a copy by which the function gives up a register", "given-up-register",
       keeps_registers},
  };
  return kFaults;
}

}  // namespace regduel::trial
