// Faults against the contract for allocated programs (FORMAT.md): each breaks one rule that can be seen without following a value.
#include "fuzz/faults/injector.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::PReg;
using ir::Role;

// Register operands of original instructions (copies and kept phis too, but none that has become a spill or a refill).
template <class Want>
std::vector<Place> operands_where(const Injector& in, Want want) {
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (in.original(i) == nullptr || in.original(i)->op != i.inst.op || in.original_ops(i).size() != i.ops.size()) return;
    for (std::size_t o = 0; o < i.ops.size(); ++o)
      if (want(i, in.original_ops(i), o)) places.push_back({b, k, o, 0});
  });
  return places;
}
template <class Want>
std::vector<Place> originals_where(const Injector& in, Want want) {
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (in.original(i) != nullptr && in.original(i)->op == i.inst.op && want(i)) places.push_back({b, k, 0, 0});
  });
  return places;
}
bool is_allocated(const Injector& in, const Operand& before) {
  return before.is_vreg() && (in.facts().before.vreg(in.facts().before.root(before.vreg())).flags & ir::kVRegArchitectural) == 0;
}
const ir::VReg& root_of(const Injector& in, const Operand& before) {
  return in.facts().before.vreg(in.facts().before.root(before.vreg()));
}
EditInst& inst_at(EditProgram& p, const Place& at) { return p.blocks[at.block].insts[at.inst]; }

// --- registers -------------------------------------------------------------------------------------------------------
// Every allocated operand, its register changed by `change` (false = not this one).
template <class Change>
bool change_home(EditProgram& p, const Subject& s, Random& r, Change change) {
  Injector in(p, s, r);
  auto places = operands_where(
      in, [&](const EditInst&, std::span<const Operand> before, std::size_t o) { return is_allocated(in, before[o]); });
  return in.at_one_of(
      std::move(places), 0,
      [&](EditProgram& q, const Place& at) {
        EditInst& i = inst_at(q, at);
        PReg home = i.ops[at.operand].preg();
        if (!change(in, in.original_ops(i)[at.operand], home)) return false;
        set_preg(i.ops[at.operand], home);
        return true;
      },
      30);
}
bool wrong_file(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand&, PReg& home) {
    switch (home.file) {
      case ir::RegFile::R: home.file = in.random.chance(50) ? ir::RegFile::UR : ir::RegFile::Acc; return true;
      case ir::RegFile::UR:
      case ir::RegFile::Acc: home.file = ir::RegFile::R; return true;
      case ir::RegFile::P: home.file = ir::RegFile::UP; return true;
      case ir::RegFile::UP: home.file = ir::RegFile::P; return true;
      case ir::RegFile::B: home.file = ir::RegFile::UB; return true;
      case ir::RegFile::UB: home.file = ir::RegFile::B; return true;
    }
    return false;
  });
}
bool above_limit(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand&, PReg& home) {
    const int limit = in.subject.limits.of(home.file), units = in.subject.target.units[ir::index(home.file)];
    const int first = (limit + home.count - 1) / home.count * home.count;
    if (first + home.count > units) return false;
    home.first = static_cast<std::uint16_t>(first);
    return true;
  });
}
bool outside_file(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand&, PReg& home) {
    const int units = in.subject.target.units[ir::index(home.file)];
    home.first = static_cast<std::uint16_t>((units + home.count - 1) / home.count * home.count);
    return home.end() <= ir::kMaxUnits;
  });
}
bool reserved_register(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand&, PReg& home) {
    std::vector<PReg> homes;
    for (const PReg reserved : in.subject.target.reserved) {
      if (reserved.file != home.file) continue;
      for (int u = reserved.begin(); u < reserved.end(); ++u) {
        const PReg to{home.file, home.count, static_cast<std::uint16_t>(u / home.count * home.count)};
        if (to.end() <= in.subject.limits.of(home.file)) homes.push_back(to);
      }
    }
    if (homes.empty()) return false;
    home = homes[in.random.below(static_cast<std::uint32_t>(homes.size()))];
    return true;
  });
}
bool misaligned(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand& before, PReg& home) {
    if (root_of(in, before).alignment() < 2) return false;
    const bool down = home.first > 0 && home.end() >= in.subject.limits.of(home.file);
    home.first = static_cast<std::uint16_t>(down ? home.first - 1 : home.first + 1);
    return true;
  });
}
bool wrong_size(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand&, PReg& home) {
    if (home.count > 1 && in.random.chance(50)) home.count = static_cast<std::uint8_t>(home.count - 1);
    else home.count = static_cast<std::uint8_t>(home.count + 1);
    return home.end() <= in.subject.limits.of(home.file);
  });
}
bool not_in_fixed(EditProgram& p, const Subject& s, Random& r) {
  return change_home(p, s, r, [](Injector& in, const Operand& before, PReg& home) {
    const auto to = in.facts().before.fixed_of(before).is_valid() ? in.another_home(home, false) : std::nullopt;
    if (to) home = *to;
    return to.has_value();
  });
}

// --- constraints among the operands of one instruction -----------------------------------------------------------------
bool untied(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places =
      operands_where(in, [](const EditInst&, std::span<const Operand> before, std::size_t o) { return before[o].is_tied(); });
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    Operand& op = inst_at(q, at).ops[at.operand];
    const auto to = in.another_home(op.preg(), false);
    if (to) set_preg(op, *to);
    return to.has_value();
  });
}
// Operand pairs (x, y) of one instruction, x a def, for which y's register may be given to x.
template <class Want>
bool same_register(EditProgram& p, const Subject& s, Random& r, Want want) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!in.is_operation(i)) return;
    const auto before = in.original_ops(i);
    for (std::size_t x = 0; x < i.ops.size() && i.ops[x].writes(); ++x)
      for (std::size_t y = 0; y < i.ops.size(); ++y) {
        if (x == y || !i.ops[x].is_preg() || !i.ops[y].is_preg() || i.ops[y].role == Role::Clobber ||
            i.ops[x].part != i.ops[y].part)
          continue;
        const PReg a = i.ops[x].preg(), c = i.ops[y].preg();
        if (a.file == c.file && a.count == c.count && a != c && want(before[x], before[y])) places.push_back({b, k, x, y});
      }
  });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    auto& ops = inst_at(q, at).ops;
    set_preg(ops[at.operand], ops[at.other].preg());
    return true;
  });
}
bool early_in_use(EditProgram& p, const Subject& s, Random& r) {
  return same_register(p, s, r, [](const Operand& x, const Operand& y) { return x.is_early_clobber() && y.reads(); });
}
bool defs_together(EditProgram& p, const Subject& s, Random& r) {
  return same_register(p, s, r, [](const Operand&, const Operand& y) { return y.writes(); });
}
// A phi that the allocator has replaced is there again, and its operands are not in one register.
bool phi_homes(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    const ir::Inst* old = in.facts().find(i.inst.id);
    if (i.inst.is_phi() && !i.inst.is_inserted() && old != nullptr && old->num_operands > 1 &&
        !root_of(in, in.facts().before.operands_of(*old)[0]).fixed.is_valid())
      places.push_back({b, k, 0, 0});
  });
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    EditInst& i = inst_at(q, at);
    const ir::Inst& old = *in.facts().find(i.inst.id);
    const auto before = in.facts().before.operands_of(old);
    const ir::VReg& root = root_of(in, before[0]);
    const auto one = in.another_home({root.file(), static_cast<std::uint8_t>(root.units()), 0}, false);
    const auto other = one ? in.another_home(*one, false) : std::nullopt;
    if (!other) return false;
    i.inst.flags &= static_cast<std::uint16_t>(~ir::kDeleted);
    const auto targets = in.facts().before.targets_of(old);
    i.targets.assign(targets.begin(), targets.end());
    i.ops.clear();
    for (std::size_t k = 0; k < before.size(); ++k) i.ops.push_back(Operand::of_preg(before[k].role, k == 0 ? *one : *other));
    return true;
  });
}
bool other_part(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = operands_where(in, [](const EditInst& i, std::span<const Operand>, std::size_t o) {
    return i.ops[o].is_preg() && !i.ops[o].part.is_whole();
  });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    Operand& op = inst_at(q, at).ops[at.operand];
    op.part = ir::Part::of(op.part.size_log2(), op.part.element() ^ 1);
    return true;
  });
}
bool flipped_polarity(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = operands_where(in, [](const EditInst& i, std::span<const Operand>, std::size_t o) {
    return i.ops[o].is_preg() && i.ops[o].role == Role::Guard;
  });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    inst_at(q, at).ops[at.operand].flags ^= ir::kNegated;
    return true;
  });
}
bool dropped_guard(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places =
      operands_where(in, [](const EditInst& i, std::span<const Operand>, std::size_t o) { return i.ops[o].role == Role::Guard; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    auto& ops = inst_at(q, at).ops;
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at.operand));
    return true;
  });
}
bool shorter_clobber(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places =
      operands_where(in, [](const EditInst& i, std::span<const Operand>, std::size_t o) { return i.ops[o].role == Role::Clobber; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    auto& ops = inst_at(q, at).ops;
    PReg r1 = ops[at.operand].preg();
    if (r1.count == 1) {
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at.operand));
    } else {
      --r1.count;
      set_preg(ops[at.operand], r1);
    }
    return true;
  });
}

// --- the instructions of the program ------------------------------------------------------------------------------------
bool missing_instruction(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = originals_where(in, [](const EditInst& i) { return !i.inst.is_terminator(); });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    auto& insts = q.blocks[at.block].insts;
    insts.erase(insts.begin() + at.inst);
    return true;
  });
}
bool repeat(EditProgram& p, const Subject& s, Random& r, bool as_inserted) {
  Injector in(p, s, r);
  auto places =
      originals_where(in, [](const EditInst& i) { return !i.inst.is_terminator() && !i.inst.is_phi() && !i.inst.is_copy(); });
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    EditInst again = inst_at(q, at);
    again.inst.id = q.next_id();
    if (as_inserted) again.inst.flags |= ir::kInserted;
    auto& insts = q.blocks[at.block].insts;
    insts.insert(insts.begin() + at.inst + 1, std::move(again));
    return true;
  });
}
bool repeated_instruction(EditProgram& p, const Subject& s, Random& r) { return repeat(p, s, r, false); }
bool invented_instruction(EditProgram& p, const Subject& s, Random& r) { return repeat(p, s, r, true); }
bool reordered(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!in.is_operation(i) || i.inst.is_terminator()) return;
    const auto& insts = p.blocks[b].insts;
    for (std::uint32_t n = k + 1; n < insts.size() && n < k + 6; ++n)
      if (in.is_operation(insts[n]) && !insts[n].inst.is_terminator()) places.push_back({b, k, 0, n});
  });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    auto& insts = q.blocks[at.block].insts;
    std::rotate(insts.begin() + at.inst, insts.begin() + at.inst + 1, insts.begin() + static_cast<std::ptrdiff_t>(at.other) + 1);
    return true;
  });
}
bool other_block(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  const auto blocks = static_cast<std::uint32_t>(s.before.blocks.size());
  if (blocks < 2) return false;
  auto places = originals_where(in, [](const EditInst& i) { return !i.inst.is_terminator() && !i.inst.is_phi(); });
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    const std::uint32_t to = in.random.below(blocks);
    if (to == at.block) return false;
    EditInst i = inst_at(q, at);
    auto& insts = q.blocks[at.block].insts;
    insts.erase(insts.begin() + at.inst);
    q.blocks[to].insts.insert(q.blocks[to].insts.end() - 1, std::move(i));
    return true;
  });
}
bool deleted_operation(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = originals_where(in, [](const EditInst& i) {
    return !i.inst.is_terminator() && !i.inst.is_phi() && !i.inst.is_copy() && !i.inst.has(ir::kRematerialisable);
  });
  return in.at_one_of(std::move(places), 0, delete_at);
}
bool other_operation(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = originals_where(
      in, [](const EditInst& i) { return i.inst.op == Op::Const || i.inst.op == Op::Pack || i.inst.op == Op::Unpack; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    EditInst& i = inst_at(q, at);
    i.inst.mnemonic = q.header.symbols.intern("something");
    i.inst.op = Op::Named;
    return true;
  });
}
bool other_mnemonic(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = originals_where(in, [](const EditInst& i) { return i.inst.op == Op::Named; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    inst_at(q, at).inst.mnemonic = q.header.symbols.intern("something");
    return true;
  });
}
bool other_immediate(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = operands_where(
      in, [](const EditInst& i, std::span<const Operand>, std::size_t o) { return i.ops[o].kind == OperandKind::Imm; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    inst_at(q, at).ops[at.operand].value ^= 1;
    return true;
  });
}
bool other_symbol(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = operands_where(
      in, [](const EditInst& i, std::span<const Operand>, std::size_t o) { return i.ops[o].kind == OperandKind::Symbol; });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    inst_at(q, at).ops[at.operand].value = q.header.symbols.intern("something").value;
    return true;
  });
}
bool other_flags(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto places = originals_where(in, [](const EditInst& i) { return i.inst.op == Op::Named; });
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    constexpr ir::InstFlags kFlags[] = {ir::kConvergent, ir::kCommutative, ir::kMemRead, ir::kBarrier};
    inst_at(q, at).inst.flags ^= kFlags[in.random.below(4)];
    return true;
  });
}
bool other_targets(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  // Two targets that were one block before may stand in either order: one of them leads there through an edge block.
  auto places = originals_where(in, [&](const EditInst& i) {
    const auto before = in.facts().before.targets_of(*in.original(i));
    return i.inst.is_terminator() && before.size() > 1 && i.targets.size() == before.size() && before[0] != before[1];
  });
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    EditInst& i = inst_at(q, at);
    std::swap(i.targets[0], i.targets[1]);
    return true;
  });
}
bool edge_elsewhere(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  for (std::uint32_t b = 0; b < p.blocks.size(); ++b)
    if (p.blocks[b].attributes.is_edge_block())
      places.push_back({b, static_cast<std::uint32_t>(p.blocks[b].insts.size() - 1), 0, 0});
  return in.at_one_of(std::move(places), 0, [&](EditProgram& q, const Place& at) {
    EditInst& i = inst_at(q, at);
    const BlockId to(in.random.below(static_cast<std::uint32_t>(s.before.blocks.size())));
    if (i.targets.empty() || to == q.blocks[at.block].attributes.edge_to) return false;
    i.targets[0] = to;
    return true;
  });
}
bool not_allocated(EditProgram& p, const Subject& s, Random&) {
  p = EditProgram(s.before);
  return true;
}
bool other_declaration(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  for (std::size_t v = 0; v < p.header.vregs.size(); ++v) {
    const ir::VReg& vreg = p.header.vregs[v];
    if (!ir::is_predicate(vreg.file()) && !ir::is_barrier(vreg.file()) && !vreg.fixed.is_valid()) places.push_back({0, 0, v, 0});
  }
  return in.at_one_of(std::move(places), 0, [](EditProgram& q, const Place& at) {
    q.header.vregs[at.operand].align_log2 ^= 1;
    return true;
  });
}

}  // namespace

std::vector<FaultOperator> rule_faults() {
  return {
      {"wrong-file", "an operand stands in a register of another file", {}, {"register-file"}, wrong_file},
      {"above-limit", "an operand stands in a register above the limit", {}, {"register-limit"}, above_limit},
      {"outside-file", "an operand stands in a register that the file does not have", {}, {"register-limit"}, outside_file},
      {"reserved-register", "an operand stands in a reserved register", {}, {"reserved-register"}, reserved_register},
      {"misaligned-tuple", "a tuple begins at an odd register", {}, {"register-alignment"}, misaligned},
      {"wrong-tuple-size", "a tuple has a unit too many or too few", {}, {"register-units"}, wrong_size},
      {"not-in-fixed-register", "a fixed operand stands elsewhere", {}, {"fixed-register"}, not_in_fixed},
      {"untied-operand", "a tied def does not stand in the register of its use", {}, {"tied-operand"}, untied},
      {"early-clobber-in-use",
       "an early-clobber def stands in the register of a use of the same instruction",
       {},
       {"early-clobber"},
       early_in_use},
      {"two-defs-in-one", "two defs of one instruction stand in one register", {}, {"def-overlap"}, defs_together},
      {"phi-in-two-homes", "a phi was kept, though its operands are not in one register", {}, {"phi-home"}, phi_homes},
      {"other-part", "another part of the register: .lo for .hi", {}, {"operand-part"}, other_part},
      {"flipped-guard", "a guard has lost its negation, or has become negated", {}, {"negation"}, flipped_polarity},
      {"dropped-guard", "a guard is missing", {}, {"operand-count"}, dropped_guard},
      {"shorter-clobber", "the list of clobbers is shorter than it was", {}, {"clobber", "operand-count"}, shorter_clobber},
      {"missing-instruction", "an original instruction is missing", {}, {"original-missing"}, missing_instruction},
      {"repeated-instruction",
       "an original instruction is there again under another number",
       {},
       {"original-unknown"},
       repeated_instruction},
      {"invented-instruction",
       "an inserted instruction of a kind that no allocator inserts",
       {},
       {"inserted-kind"},
       invented_instruction},
      {"reordered-instructions", "an original instruction stands behind one that it preceded", {}, {"original-order"}, reordered},
      {"instruction-in-other-block", "an original instruction stands in another block", {}, {"original-moved"}, other_block},
      {"deleted-operation", "an operation is deleted that may not be", {}, {"deleted"}, deleted_operation},
      {"other-operation", "an instruction has become another operation", {}, {"opcode"}, other_operation},
      {"other-mnemonic", "a named operation has another name", {}, {"mnemonic"}, other_mnemonic},
      {"other-immediate", "an immediate has changed", {}, {"immediate"}, other_immediate},
      {"other-symbol", "a symbol has changed", {}, {"symbol"}, other_symbol},
      {"other-flags", "the flags of an instruction have changed", {}, {"flags"}, other_flags},
      {"other-targets", "a branch has exchanged its targets", {}, {"targets"}, other_targets},
      {"edge-block-elsewhere", "an edge block leads to another block than its edge", {}, {"edge-block-branch"}, edge_elsewhere},
      {"other-declaration", "the declaration of a vreg has changed", {}, {"vreg-declaration"}, other_declaration},
      {"nothing-allocated", "the result is the program before", {}, {"phase"}, not_allocated},
  };
}

}  // namespace regduel::fuzz
