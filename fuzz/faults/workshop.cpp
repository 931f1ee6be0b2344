// See workshop.h.
#include "fuzz/faults/workshop.h"

#include <algorithm>
#include <tuple>

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::RegFile;
using ir::Role;

}  // namespace

Workshop::Workshop(const Subject& s, Random& r) : subject(s), random(r), program(s.after), limits(s.limits) {
  for (const EditBlock& b : program.blocks)
    for (const EditInst& i : b.insts) mentioned |= mentioned_units(i);
  for (const Operand& op : s.before.operands) {
    if (op.is_preg()) mentioned |= units_of(op.preg());
    if (op.fixed().is_valid()) mentioned |= units_of(op.fixed());
  }
  for (const ir::VReg& v : s.before.vregs)
    if (v.fixed.is_valid()) mentioned |= units_of(v.fixed);
  preserved = preserved_units_of(s);
}

bool Workshop::can_save() const {
  if (program.header.kind != ir::FunctionKind::Device) return false;
  for (const EditBlock& b : program.blocks)
    for (const ir::BlockId to : b.insts.back().targets)
      if (to.value == 0) return false;
  return true;
}

void Workshop::save(ir::PReg reg) {
  const Operand op = Operand::of_preg(Role::Use, reg);
  const ir::SlotId slot = new_slot(ir::MemSpace::Local, static_cast<std::uint32_t>(reg.count * ir::unit_bytes(reg.file)), 4);
  Changes changes;
  changes.before({0, 0}, make_spill(op, slot));
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    if (program.blocks[b].insts.back().inst.op == Op::Ret)
      changes.before({b, program.blocks[b].insts.size() - 1}, make_refill(op, slot));
  changes.apply(program);
}

std::optional<ir::PReg> Workshop::take(RegFile file, int count, bool may_save) {
  const int units = subject.target.units[ir::index(file)];
  int highest = 0;
  for (int u = 0; u < units; ++u)
    if (mentioned.test(unit_number(file, u))) highest = u + 1;
  const bool can_be_saved = may_save && can_save();
  std::vector<int> found, above;
  for (int first = 0; first + count <= units; ++first) {
    bool free = true;
    for (int u = first; u < first + count && free; ++u)
      free = !mentioned.test(unit_number(file, u)) && !subject.target.is_reserved(file, u) &&
             (!preserved.test(unit_number(file, u)) || can_be_saved);
    if (!free) continue;
    found.push_back(first);
    if (first >= highest) above.push_back(first);
  }
  if (found.empty()) return std::nullopt;
  const int first = !above.empty() && random.chance(80) ? above[0] : found[random.below(static_cast<std::uint32_t>(found.size()))];
  const ir::PReg reg{file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)};
  mentioned |= units_of(reg);
  limits.units[ir::index(file)] = std::max(limits.units[ir::index(file)], reg.end());
  if ((units_of(reg) & preserved).any()) save(reg);
  return reg;
}

ir::SlotId Workshop::new_slot(ir::MemSpace space, std::uint32_t size, std::uint32_t align) {
  std::uint32_t& frame = space == ir::MemSpace::Local ? program.header.local_frame : program.header.shared_frame;
  ir::Slot s;
  s.space = space;
  s.size = size;
  s.align = align;
  s.offset = (frame + align - 1) / align * align;
  frame = s.offset + size;
  return program.header.add_slot(s);
}

bool Workshop::spill_stretches(bool predicates, int count) {
  struct Stretch {
    std::size_t block, after, before;  // behind the one instruction, in front of the other
    ir::PReg reg;
  };
  const UnitLiveness live = liveness();
  std::vector<Stretch> found;
  std::vector<ir::PReg> registers;
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const auto& insts = program.blocks[b].insts;
    for (const EditInst& i : insts)
      for (const Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && ir::is_predicate(op.preg().file) == predicates)
          registers.push_back(op.preg());
    if (!live.is_reachable(b)) continue;
    const auto points = live.points(b);
    for (std::size_t k = 0; k + 1 < insts.size(); ++k) {
      if (insts[k + 1].inst.is_phi()) continue;
      for (const Operand& op : insts[k].ops) {
        if (!op.is_preg() || op.role == Role::Clobber || ir::is_predicate(op.preg().file) != predicates) continue;
        const UnitSet units = units_of(op.preg());
        if ((points[k + 1] & units) != units || insts[k].inst.is_phi()) continue;
        std::size_t next = k + 1;
        while (next + 1 < insts.size() && (mentioned_units(insts[next]) & units).none()) ++next;
        found.push_back({b, k, next, op.preg()});
      }
    }
  }
  shuffle(found, random);
  std::vector<std::tuple<std::size_t, std::size_t, UnitSet>> taken;
  Changes changes;
  for (const Stretch& s : found) {
    if (static_cast<int>(taken.size()) >= count) break;
    const UnitSet units = units_of(s.reg);
    if (std::any_of(taken.begin(), taken.end(), [&](const auto& t) {
          return std::get<0>(t) == s.block && std::get<1>(t) == s.after && (std::get<2>(t) & units).any();
        }))
      continue;
    taken.emplace_back(s.block, s.after, units);
    const Operand reg = Operand::of_preg(Role::Use, s.reg);
    const auto bytes = static_cast<std::uint32_t>(s.reg.count * ir::unit_bytes(s.reg.file));
    const ir::SlotId slot = new_slot(ir::MemSpace::Local, bytes, predicates ? 1 : 4);
    changes.after({s.block, s.after}, make_spill(reg, slot));
    const ir::PReg other = registers[random.below(static_cast<std::uint32_t>(registers.size()))];
    if (other.file == s.reg.file && other.count == s.reg.count && !other.overlaps(s.reg))
      changes.after({s.block, s.after}, make_copy(s.reg, other));
    changes.before({s.block, s.before}, make_refill(reg, slot));
  }
  if (changes.empty()) return false;
  changes.apply(program);
  return true;
}

void Workshop::drop(Changes& changes, Spot s) {
  EditInst& i = at(program, s);
  if (i.inst.is_inserted()) {
    changes.remove(s);
    return;
  }
  i.inst.op = Op::Copy;
  mark_deleted(i);
}

Patterned Workshop::finish() {
  number_inserted(program);
  return {program.build(), limits};
}

}  // namespace regduel::fuzz
