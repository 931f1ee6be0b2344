// See injector.h.
#include "fuzz/faults/injector.h"

#include <bit>

namespace regduel::fuzz {

Injector::Injector(EditProgram& p, const Subject& s, Random& r) : program(p), subject(s), random(r), facts_(s), cfg_(s.after) {
  for (const ir::Operand& op : s.after.operands)
    if (op.is_preg() && op.role != ir::Role::Clobber) {
      int& used = used_[ir::index(op.preg().file)];
      used = std::max(used, op.preg().end());
    }
}

bool Injector::is_free(const EditInst& i, std::size_t k) const {
  if (original(i) == nullptr || k >= original_ops(i).size()) return false;
  const auto ops = original_ops(i);
  const ir::Operand& op = ops[k];
  if (!op.is_vreg() || facts_->before.fixed_of(op).is_valid() || op.is_tied() || op.is_early_clobber() ||
      op.role == ir::Role::DefUse)
    return false;
  return std::none_of(ops.begin(), ops.end(), [&](const ir::Operand& d) { return d.is_tied() && d.tied == k; });
}

std::optional<ir::PReg> Injector::another_home(ir::PReg home, bool used_only) {
  const int align = home.first % static_cast<int>(std::bit_ceil(home.count)) == 0 ? static_cast<int>(std::bit_ceil(home.count)) : 1;
  std::vector<ir::PReg> homes;
  const int end = used_only ? used_[ir::index(home.file)] : subject.limits.of(home.file);
  for (int first = 0; first + home.count <= end; first += align) {
    const ir::PReg r{home.file, home.count, static_cast<std::uint16_t>(first)};
    bool good = !r.overlaps(home);
    for (int u = r.begin(); u < r.end() && good; ++u) good = ir::is_allocatable(subject.target, subject.limits, r.file, u);
    if (good) homes.push_back(r);
  }
  return pick(homes, random);
}

bool Injector::shows(const EditProgram& trial, int code) const {
  const ir::Function f = trial.build();
  if (!ir::check(f, 1).empty()) return false;
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  const bool changed =
      f.insts.size() != subject.after.insts.size() || f.operands.size() != subject.after.operands.size() ||
      !std::equal(f.operands.begin(), f.operands.end(), subject.after.operands.begin(), same) ||
      f.targets != subject.after.targets || f.phase != subject.after.phase || f.local_frame != subject.after.local_frame ||
      f.shared_frame != subject.after.shared_frame || f.slots.size() != subject.after.slots.size() ||
      !std::equal(f.slots.begin(), f.slots.end(), subject.after.slots.begin(),
                  [](const ir::Slot& a, const ir::Slot& b) {
                    return a.space == b.space && a.size == b.size && a.align == b.align && a.offset == b.offset;
                  }) ||
      !std::equal(f.insts.begin(), f.insts.end(), subject.after.insts.begin(),
                  [](const ir::Inst& a, const ir::Inst& b) {
                    return a.id == b.id && a.op == b.op && a.flags == b.flags && a.mnemonic == b.mnemonic && a.ref == b.ref;
                  }) ||
      !std::equal(f.vregs.begin(), f.vregs.end(), subject.after.vregs.begin(), [](const ir::VReg& a, const ir::VReg& b) {
        return a.cls == b.cls && a.width == b.width && a.type == b.type && a.align_log2 == b.align_log2;
      });
  if (!changed) return false;
  const std::uint32_t wanted = 1u << code;
  return code == 0 || (expected_codes(*facts_, f, wanted) & wanted) != 0;
}

bool writes_any_of(const EditInst& i, ir::PReg r) {
  return std::any_of(i.ops.begin(), i.ops.end(), [&](const ir::Operand& op) {
    return op.is_preg() && (op.writes() || op.role == ir::Role::Clobber) && op.preg().overlaps(r);
  });
}

bool mentions(const EditInst& i, ir::PReg r) {
  return std::any_of(i.ops.begin(), i.ops.end(), [&](const ir::Operand& op) { return op.is_preg() && op.preg().overlaps(r); });
}

void set_preg(ir::Operand& op, ir::PReg r) { op.value = ir::Operand::pack(r); }

bool move_behind_reader(EditProgram& program, const Place& place) {
  auto& insts = program.blocks[place.block].insts;
  for (std::uint32_t k = place.inst + 1; k + 1 < insts.size(); ++k) {
    if (mentions(insts[k], insts[place.inst].ops[0].preg())) {
      std::rotate(insts.begin() + place.inst, insts.begin() + place.inst + 1, insts.begin() + k + 1);
      return true;
    }
  }
  return false;
}

bool erase_at(EditProgram& program, const Place& place) {
  erase(program, {place.block, place.inst});
  return true;
}

bool delete_at(EditProgram& program, const Place& place) {
  mark_deleted(program.blocks[place.block].insts[place.inst]);
  return true;
}

std::vector<FaultOperator> general_faults() {
  std::vector<FaultOperator> all;
  for (const auto& part : {value_faults(), copy_faults(), slot_faults(), rule_faults()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace regduel::fuzz
