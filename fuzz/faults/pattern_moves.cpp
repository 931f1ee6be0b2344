// Patterns of registers and places: callee-saved registers in use, two registers that change places for a while, copies in
// parallel, edge blocks.
//
//   callee-saved   units that some tuples of the program connect are renamed, all together, to callee-saved ones that nothing
//                  mentions; those are saved at the entry and restored before each ret
//   swap           between two places of a block, two registers change places; before and behind, a parallel copy exchanges them
//   edge-blocks    an edge leads through one or two new blocks; what was inserted at the end of its only source may move there
//
// Source: seeds 002, 003 (ABI); FORMAT.md "Allocated programs", 3, 5, 7. Tested by patterns_test.cpp.
#include <algorithm>

#include "fuzz/faults/workshop.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

// The largest alignment in the file that is more than the natural one.
int special_alignment(const Workshop& w, RegFile file) {
  int align = 1;
  for (const ir::VReg& v : w.subject.before.vregs)
    if (v.file() == file && v.alignment() > 1 << ir::natural_align_log2(v.width)) align = std::max(align, v.alignment());
  return align;
}

// Units of file R that stand in a fixed operand, a clobber, or an architectural register.
UnitSet pinned_units(const Workshop& w) {
  UnitSet pinned;
  for (const Operand& op : w.subject.before.operands) {
    if (op.is_preg()) pinned |= units_of(op.preg());
    if (const PReg fixed = op.is_vreg() ? w.subject.before.fixed_of(op) : PReg{}; fixed.is_valid()) pinned |= units_of(fixed);
  }
  return pinned;
}

std::optional<Patterned> callee_saved(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  if (!w.can_save()) return std::nullopt;
  UnitSet pinned;  // clobbered units may be renamed: nothing lives across the clobber
  for (const Operand& op : subject.before.operands)
    if (const PReg fixed = op.is_vreg() ? subject.before.fixed_of(op) : PReg{}; fixed.is_valid()) pinned |= units_of(fixed);
  UnitSet at_rets;
  std::vector<PReg> tuples;
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops) {
        if (!op.is_preg() || op.role == Role::Clobber || op.preg().file != RegFile::R) continue;
        tuples.push_back(op.preg());
        if (i.inst.op == Op::Ret) at_rets |= units_of(op.preg());
      }
  std::sort(tuples.begin(), tuples.end());
  tuples.erase(std::unique(tuples.begin(), tuples.end()), tuples.end());
  const auto is_spare = [&](int u) {
    return u >= 0 && u < subject.target.units[ir::index(RegFile::R)] && w.preserved.test(unit_number(RegFile::R, u)) &&
           !w.mentioned.test(unit_number(RegFile::R, u)) && !subject.target.is_reserved(RegFile::R, u);
  };
  // Groups of units that tuples connect, closed under overlap.
  struct Move {
    UnitSet units;
    int delta;
  };
  std::vector<Move> moves;
  for (const PReg& seed : tuples) {
    UnitSet group = units_of(seed);
    for (bool grown = true; grown;) {
      grown = false;
      for (const PReg& t : tuples) {
        const UnitSet units = units_of(t);
        if ((group & units).any() && (group & units) != units) {
          group |= units;
          grown = true;
        }
      }
    }
    if ((group & (pinned | w.preserved | at_rets)).any() || moves.size() > 200) continue;
    int align = special_alignment(w, RegFile::R), lowest = ir::kMaxUnits, highest = 0;
    for (const PReg& t : tuples)
      if ((units_of(t) & group).any()) align = std::max(align, t.count >= 8 ? 8 : t.count >= 3 ? 4 : static_cast<int>(t.count));
    for (int u = 0; u < ir::kMaxUnits; ++u)
      if (group.test(unit_number(RegFile::R, u))) {
        lowest = std::min(lowest, u);
        highest = u;
      }
    for (int delta = -lowest / align * align; highest + delta < subject.target.units[ir::index(RegFile::R)]; delta += align) {
      bool fits = delta != 0;
      for (int u = lowest; u <= highest && fits; ++u)
        if (group.test(unit_number(RegFile::R, u))) fits = is_spare(u + delta);
      if (fits) moves.push_back({group, delta});
    }
  }
  if (moves.empty()) return std::nullopt;
  const Move m = moves[random.below(static_cast<std::uint32_t>(moves.size()))];
  const auto renamed = [&](PReg r) { return PReg{r.file, r.count, static_cast<std::uint16_t>(r.first + m.delta)}; };
  for (EditBlock& b : w.program.blocks)
    for (EditInst& i : b.insts)
      for (Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && (units_of(op.preg()) & m.units).any())
          op.value = Operand::pack(renamed(op.preg()));
  const bool by_register = random.chance(30);
  for (int u = 0; u < ir::kMaxUnits; ++u) {
    if (!m.units.test(unit_number(RegFile::R, u))) continue;
    const PReg to{RegFile::R, 1, static_cast<std::uint16_t>(u + m.delta)};
    w.limits.units[ir::index(RegFile::R)] = std::max(w.limits.units[ir::index(RegFile::R)], to.end());
    w.mentioned |= units_of(to);
    // Some are saved in a register that nothing else touches.
    const std::optional<PReg> keeper = by_register ? w.take(RegFile::R, 1, false) : std::nullopt;
    if (!keeper) {
      w.save(to);
      continue;
    }
    Changes changes;
    changes.before({0, 0}, make_copy(*keeper, to));
    for (std::size_t b = 0; b < w.program.blocks.size(); ++b)
      if (w.program.blocks[b].insts.back().inst.op == Op::Ret)
        changes.before({b, w.program.blocks[b].insts.size() - 1}, make_copy(to, *keeper));
    changes.apply(w.program);
  }
  return w.finish();
}

std::optional<Patterned> swap_registers(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const UnitSet pinned = pinned_units(w);
  bool any = false;
  for (int round = 0; round < 4; ++round) {
    const std::size_t b = random.below(static_cast<std::uint32_t>(w.program.blocks.size()));
    auto& insts = w.program.blocks[b].insts;
    std::vector<PReg> singles;
    UnitSet wide;
    for (const EditInst& i : insts)
      for (const Operand& op : i.ops) {
        if (!op.is_preg()) continue;
        if (op.role == Role::Clobber || op.preg().count > 1) wide |= units_of(op.preg());
        else singles.push_back(op.preg());
      }
    std::erase_if(singles, [&](PReg r) { return (units_of(r) & (wide | pinned)).any() || !w.is_allocatable(r.file, r.first); });
    if (singles.size() < 2) continue;
    const PReg a = singles[random.below(static_cast<std::uint32_t>(singles.size()))];
    const int align = special_alignment(w, a.file);
    std::erase_if(singles, [&](PReg r) { return r.file != a.file || r == a || (r.first - a.first) % align != 0; });
    if (singles.empty()) continue;
    const PReg c = singles[random.below(static_cast<std::uint32_t>(singles.size()))];
    std::size_t first = 0;
    while (insts[first].inst.is_phi()) ++first;
    if (first + 1 >= insts.size()) continue;
    // Instructions [begin, end) see the two exchanged. A pack's bits are numbered by registers.
    const std::size_t begin = first + random.below(static_cast<std::uint32_t>(insts.size() - 1 - first));
    std::size_t end = begin;
    for (; end + 1 < insts.size() && !(end > begin + 3 && random.chance(15)); ++end) {
      const bool numbered = insts[end].inst.op == Op::P2R || insts[end].inst.op == Op::R2P;
      if (numbered && (mentioned_units(insts[end]) & (units_of(a) | units_of(c))).any() && ir::is_predicate(a.file)) break;
    }
    if (begin == end) continue;
    for (std::size_t k = begin; k < end; ++k)
      for (Operand& op : insts[k].ops) {
        if (!op.is_preg()) continue;
        if (op.preg() == a) op.value = Operand::pack(c);
        else if (op.preg() == c) op.value = Operand::pack(a);
      }
    Changes changes;
    changes.before({b, begin}, make_swap(a, c));
    changes.before({b, end}, make_swap(a, c));
    changes.apply(w.program);
    any = true;
  }
  if (!any) return std::nullopt;
  return w.finish();
}

// Inserted copies are joined where they are independent, taken apart, widened by an identity, or made exchanges where the source
// dies.
std::optional<Patterned> parallel_copies(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const UnitLiveness live = w.liveness();
  bool any = false;
  for (std::size_t b = 0; b < w.program.blocks.size(); ++b) {
    auto& insts = w.program.blocks[b].insts;
    if (std::none_of(insts.begin(), insts.end(), [](const EditInst& i) { return i.inst.is_copy() && i.inst.is_inserted(); }))
      continue;
    const auto points = live.points(b);
    std::vector<EditInst> out;
    std::vector<PReg> seen;
    for (std::size_t k = 0; k < insts.size(); ++k) {
      EditInst i = insts[k];
      for (const Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && seen.size() < 64) seen.push_back(op.preg());
      const bool plain = i.inst.is_copy() && i.inst.is_inserted() && !has_guard(i) && i.ops.size() % 2 == 0;
      if (!plain) {
        out.push_back(std::move(i));
        continue;
      }
      const std::size_t n = i.ops.size() / 2;
      if (n > 1) {
        bool apart = random.chance(60);
        for (std::size_t d = 0; d < n; ++d)
          for (std::size_t u = d + 1; u < n; ++u) apart = apart && (touched_units(i.ops[d]) & touched_units(i.ops[n + u])).none();
        if (apart) {
          for (std::size_t d = 0; d < n; ++d) {
            EditInst one = inserted(Op::Copy, {i.ops[d], i.ops[n + d]});
            if (d == 0) one.inst.id = i.inst.id;
            out.push_back(std::move(one));
          }
          any = true;
          continue;
        }
      } else if ((live.is_reachable(b) && random.chance(40) && (units_of(i.ops[1].preg()) & points[k + 1]).none() &&
                  (units_of(i.ops[0].preg()) & units_of(i.ops[1].preg())).none() && i.ops[0].part.is_whole() &&
                  i.ops[1].part.is_whole())) {
        EditInst both = make_swap(i.ops[0].preg(), i.ops[1].preg());
        both.inst.id = i.inst.id;
        i = std::move(both);
        any = true;
      } else if (random.chance(50)) {
        const PReg other = seen[random.below(static_cast<std::uint32_t>(seen.size()))];
        bool inside = (units_of(other) & touched_units(i.ops[0])).none() && !units_of(other).none();
        for (int u = other.begin(); u < other.end(); ++u) inside = inside && w.is_allocatable(other.file, u);
        if (inside) {
          i.ops.insert(i.ops.begin() + 1, Operand::of_preg(Role::Def, other));
          i.ops.push_back(Operand::of_preg(Role::Use, other));
          any = true;
        }
      }
      // Together with the copy before, if that neither feeds it nor shares a target.
      if (!out.empty() && out.back().inst.is_copy() && out.back().inst.is_inserted() && !has_guard(out.back()) &&
          random.chance(50)) {
        EditInst& last = out.back();
        const UnitSet written = written_units(last);
        if ((written & (read_units(i) | written_units(i))).none()) {
          const std::size_t defs = last.ops.size() / 2, more = i.ops.size() / 2;
          std::vector<Operand> ops(last.ops.begin(), last.ops.begin() + static_cast<std::ptrdiff_t>(defs));
          ops.insert(ops.end(), i.ops.begin(), i.ops.begin() + static_cast<std::ptrdiff_t>(more));
          ops.insert(ops.end(), last.ops.begin() + static_cast<std::ptrdiff_t>(defs), last.ops.end());
          ops.insert(ops.end(), i.ops.begin() + static_cast<std::ptrdiff_t>(more), i.ops.end());
          last.ops = std::move(ops);
          any = true;
          continue;
        }
      }
      out.push_back(std::move(i));
    }
    insts = std::move(out);
  }
  if (!any) return std::nullopt;
  return w.finish();
}

std::optional<Patterned> edge_blocks(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  const std::size_t originals = subject.before.blocks.size();
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // block, target
  for (std::size_t b = 0; b < originals; ++b)
    for (std::size_t t = 0; t < w.program.blocks[b].insts.back().targets.size(); ++t)
      if (w.program.blocks[b].insts.back().targets[t].index() < originals) edges.emplace_back(b, t);
  shuffle(edges, random);
  if (edges.empty()) return std::nullopt;
  if (edges.size() > 5) edges.resize(static_cast<std::size_t>(random.between(1, 5)));
  const UnitLiveness live = w.liveness();
  std::vector<PReg> registers;
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && w.is_allocatable(op.preg().file, op.preg().end() - 1) &&
            w.is_allocatable(op.preg().file, op.preg().begin()))
          registers.push_back(op.preg());
  for (const auto& [b, t] : edges) {
    const ir::BlockId to = w.program.blocks[b].insts.back().targets[t];
    const std::size_t count = random.chance(40) ? 2 : 1;
    const std::size_t first = w.program.blocks.size();
    for (std::size_t n = 0; n < count; ++n) {
      EditBlock& block = w.program.blocks.emplace_back();
      block.attributes.edge_from = ir::BlockId(b);
      block.attributes.edge_to = to;
      EditInst bra = inserted(Op::Bra, {});
      bra.targets = {n + 1 < count ? ir::BlockId(first + n + 1) : to};
      block.insts.push_back(std::move(bra));
    }
    EditBlock& from = w.program.blocks[b];
    from.insts.back().targets[t] = ir::BlockId(first);
    auto& head = w.program.blocks[first].insts;
    auto& tail = w.program.blocks[first + count - 1].insts;
    if (from.insts.back().inst.op == Op::Bra && random.chance(70)) {
      std::size_t begin = from.insts.size() - 1;
      while (begin > 0 && from.insts[begin - 1].inst.is_inserted()) --begin;
      const auto move_begin = from.insts.begin() + static_cast<std::ptrdiff_t>(begin), move_end = from.insts.end() - 1;
      head.insert(head.begin(), std::make_move_iterator(move_begin), std::make_move_iterator(move_end));
      from.insts.erase(move_begin, move_end);
    }
    // A value that lives on the edge goes through memory there, or two registers change places and back.
    if (registers.empty() || random.chance(30)) continue;
    const PReg reg = registers[random.below(static_cast<std::uint32_t>(registers.size()))];
    const PReg other = registers[random.below(static_cast<std::uint32_t>(registers.size()))];
    if (random.chance(50) && reg.file == other.file && reg.count == other.count && !reg.overlaps(other)) {
      head.insert(head.end() - 1, make_swap(reg, other));
      tail.insert(tail.end() - 1, make_swap(other, reg));
    } else if ((live.live_in(to.index()) & units_of(reg)) == units_of(reg)) {
      const Operand op = Operand::of_preg(Role::Use, reg);
      const auto bytes = static_cast<std::uint32_t>(reg.count * ir::unit_bytes(reg.file));
      const ir::SlotId slot = w.new_slot(ir::MemSpace::Local, bytes, ir::unit_bytes(reg.file) == 4 ? 4 : 1);
      head.insert(head.end() - 1, make_spill(op, slot));
      if (reg.file == other.file && reg.count == other.count && !reg.overlaps(other))
        head.insert(head.end() - 1, make_copy(reg, other));
      tail.insert(tail.end() - 1, make_refill(op, slot));
    }
  }
  return w.finish();
}

}  // namespace

std::vector<Pattern> move_patterns() {
  return {
      {"callee-saved", "registers become callee-saved ones, saved at the entry and restored before each ret", callee_saved},
      {"swap", "two registers change places for a stretch of a block", swap_registers},
      {"parallel-copy", "inserted copies are joined, taken apart, or made exchanges", parallel_copies},
      {"edge-block", "edges lead through new blocks, with inserted instructions on them", edge_blocks},
  };
}

}  // namespace regduel::fuzz
