// See workshop.h.
#include "trial/faults/workshop.h"

#include <algorithm>

#include "oracles/pair/preserved.h"

namespace regduel::trial {

using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

Workshop::Workshop(const Subject& s, Random& r) : subject(s), random(r), program(s.after), limits(s.limits) {
  for (const ir::Function* f : {&s.before, &s.after})
    for (const Operand& op : f->operands) {
      if (op.is_preg()) mention(op.preg());
      mention(op.fixed());
    }
  for (const ir::VReg& v : s.before.vregs) {
    mention(v.fixed);
    std::uint8_t& least = least_align_log2_.try_emplace(v.units(), v.align_log2).first->second;
    least = std::min(least, v.align_log2);
  }
  for (const ir::Inst& i : s.before.insts) originals_.emplace(i.id.value, &i);
  for (const PReg r1 : oracles::preserved_units(s.before, s.target)) preserved.insert(r1);
}

// --- registers ------------------------------------------------------------------------------------------------------

void Workshop::mention(PReg r) {
  for (int u = r.begin(); u < r.end(); ++u) mentioned.insert(one_unit(r.file, u));
}
bool Workshop::is_allocatable(PReg r) const {
  for (int u = r.begin(); u < r.end(); ++u)
    if (!ir::is_allocatable(subject.target, subject.before.abi, limits, r.file, u)) return false;
  return true;
}
bool Workshop::is_architectural(PReg r) const {
  return std::any_of(subject.before.vregs.begin(), subject.before.vregs.end(),
                     [&](const ir::VReg& v) { return v.is_architectural() && v.fixed.overlaps(r); });
}
bool Workshop::is_preserved(PReg r) const {
  for (int u = r.begin(); u < r.end(); ++u)
    if (preserved.contains(one_unit(r.file, u))) return true;
  return false;
}
bool Workshop::can_save() const {
  return program.header.kind == ir::FunctionKind::Device &&
         std::none_of(program.blocks.begin(), program.blocks.end(), [](const EditBlock& b) {
           const auto& to = b.insts.back().targets;
           return std::find(to.begin(), to.end(), ir::BlockId(0)) != to.end();
         });
}
std::optional<PReg> Workshop::take(RegFile file, int count, int alignment, Kind kind) {
  std::vector<PReg> free, above;
  for (int first = 0; first + count <= subject.target.units[ir::index(file)]; first += alignment) {
    bool fits = true;
    for (int u = first; u < first + count; ++u)
      fits = fits && !mentioned.contains(one_unit(file, u)) &&
             preserved.contains(one_unit(file, u)) == (kind == Kind::CalleeSaved) &&
             !subject.target.is_reserved(subject.before.abi, file, u);
    if (!fits) continue;
    free.push_back({file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)});
    const auto next = mentioned.lower_bound(one_unit(file, first));
    if (next == mentioned.end() || next->file != file) above.push_back(free.back());
  }
  const auto chosen = !above.empty() && random.chance(80) ? std::optional(above[0]) : pick(free, random);
  if (chosen) use(*chosen);
  return chosen;
}
void Workshop::use(PReg r) {
  mention(r);
  limits.units[ir::index(r.file)] = std::max(limits.units[ir::index(r.file)], r.end());
}
int Workshop::widest_alignment() const {
  int most = 1;
  for (const ir::VReg& v : subject.before.vregs) most = std::max(most, v.alignment());
  for (const ir::Inst& i : subject.after.insts)
    if (ir::is_slot_move(i.op))
      for (const ir::Operand& op : subject.after.operands_of(i))
        if (op.is_preg()) most = std::max(most, 1 << ir::natural_align_log2(32 * op.preg().count));
  return most;
}

bool Workshop::fits_memory(PReg r) const {
  if (subject.target.abi(subject.before.abi).memory_through_r && r.file != RegFile::R) return false;
  int least = ir::natural_align_log2(32 * r.count);
  if (const auto of_vregs = least_align_log2_.find(r.count); of_vregs != least_align_log2_.end())
    least = std::min(least, static_cast<int>(of_vregs->second));
  return r.first % (1 << least) == 0;
}

// --- operands -------------------------------------------------------------------------------------------------------

const ir::Inst* Workshop::original(const EditInst& i) const {
  if (i.inst.is_deleted() || (i.inst.is_inserted() && i.inst.op != Op::Remat)) return nullptr;
  const ir::InstId id = i.inst.is_inserted() ? i.inst.ref : i.inst.id;
  const auto it = originals_.find(id.value);
  return it == originals_.end() ? nullptr : it->second;
}
bool Workshop::is_pinned(const EditInst& i, std::size_t k) const {
  if (i.inst.op == Op::P2R || i.inst.op == Op::R2P) return true;
  const ir::Inst* inst = original(i);
  if (inst == nullptr) return false;
  const auto ops = subject.before.operands_of(*inst);
  // An original copy that became a spill or a refill: one of its two operands is left.
  if (inst->op != i.inst.op && i.inst.op != Op::Remat)
    return std::any_of(ops.begin(), ops.end(),
                       [&](const Operand& op) { return op.is_vreg() && subject.before.fixed_of(op).is_valid(); });
  return k >= ops.size() || (ops[k].is_vreg() && subject.before.fixed_of(ops[k]).is_valid());
}

// --- changes --------------------------------------------------------------------------------------------------------

MemSpace Workshop::shared_if_room(std::uint32_t bytes) const {
  const std::uint64_t frame = std::uint64_t{program.header.shared_frame} + bytes + 15;
  const auto room = static_cast<std::uint64_t>(std::max(0, subject.target.shared_bytes_per_sm));
  return frame * std::max(1u, subject.before.threads) <= room ? MemSpace::Shared : MemSpace::Local;
}

void Workshop::retire(EditInst i, std::vector<EditInst>& out) {
  if (i.inst.is_inserted()) return;
  i.inst.op = Op::Copy;
  mark_deleted(i);
  out.push_back(std::move(i));
}

bool Workshop::spill_stretches(bool predicates, int count) {
  struct Stretch {
    std::size_t block, after, before;
    PReg reg;
    ir::SlotId slot = {};
    std::uint32_t offset = 0;
  };
  std::vector<Stretch> found;
  std::vector<PReg> registers;
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const auto& all = program.blocks[b].insts;
    for (std::size_t k = 0; k + 1 < all.size(); ++k)
      for (const Operand& op : all[k].ops) {
        if (!op.is_preg() || op.role == Role::Clobber || ir::is_predicate(op.preg().file) != predicates) continue;
        if (is_architectural(op.preg()) || !fits_memory(op.preg())) continue;
        registers.push_back(op.preg());
        std::size_t next = k + 1;
        while (next + 1 < all.size() && !mentions(all[next], op.preg())) ++next;
        if (reads(all[next], op.preg()) && !all[k].inst.is_phi() && !all[k + 1].inst.is_phi())
          found.push_back({b, k, next, op.preg()});
      }
  }
  shuffle(random, found);
  std::vector<Stretch> chosen;
  for (const Stretch& s : found)
    if (static_cast<int>(chosen.size()) < count && std::none_of(chosen.begin(), chosen.end(), [&](const Stretch& o) {
          return o.block == s.block && o.after == s.after && o.reg.overlaps(s.reg);
        }))
      chosen.push_back(s);
  constexpr std::uint32_t kShared = 16;  // bytes of a slot that several stretches use
  std::vector<ir::SlotId> shared_slots;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    Stretch& s = chosen[n];
    const std::uint32_t bytes = bytes_of(Operand::of_preg(Role::Use, s.reg));
    const auto is_free = [&](ir::SlotId slot) {
      return std::none_of(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(n), [&](const Stretch& o) {
        return o.slot == slot && o.block == s.block && o.after < s.before && s.after < o.before;
      });
    };
    if (bytes > kShared || random.chance(50)) {
      s.slot = add_slot(program, MemSpace::Local, bytes);
      continue;
    }
    auto known = std::find_if(shared_slots.begin(), shared_slots.end(), is_free);
    if (known == shared_slots.end()) known = shared_slots.insert(known, add_slot(program, MemSpace::Local, kShared));
    s.slot = *known;
    const std::uint32_t align = bytes & (~bytes + 1);
    s.offset = align * random.below((kShared - bytes) / align + 1);
  }
  rewrite([&](std::size_t b, std::size_t k, EditInst i, std::vector<EditInst>& out) {
    for (const Stretch& s : chosen)
      if (s.block == b && s.before == k) out.push_back(make_refill(Operand::of_preg(Role::Def, s.reg), s.slot, s.offset));
    out.push_back(std::move(i));
    for (const Stretch& s : chosen) {
      if (s.block != b || s.after != k) continue;
      const PReg other = *pick(registers, random);
      out.push_back(make_spill(Operand::of_preg(Role::Use, s.reg), s.slot, s.offset));
      if (other.file == s.reg.file && other.count == s.reg.count && !other.overlaps(s.reg)) out.push_back(make_copy(s.reg, other));
    }
  });
  return !chosen.empty();
}

Patterned Workshop::finish() {
  number_inserted(program);
  return {program.build(), limits};
}

EditInst guarded_like(EditInst i, const EditInst& access) {
  if (const Operand* guard = ir::guard_of(access.ops)) i.ops.push_back(*guard);
  return i;
}

}  // namespace regduel::trial
