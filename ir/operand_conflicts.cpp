// See operand_conflicts.h.

#include "ir/operand_conflicts.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace regduel::ir {
namespace {

// FORMAT.md, "Demand": at which of the two moments an operand holds its home.
bool at_reads(const Function& f, const Operand& op, const Storage& s, bool guarded) {
  return op.reads() || op.is_early_clobber() || op.is_tied() || guarded || !f.is_whole(s);
}
bool at_writes(const Operand& op) { return op.writes(); }

}  // namespace

std::optional<OperandConflict> OperandConflicts::among(const Inst& i) {
  const auto ops = f_.operands_of(i);
  if (i.is_phi()) return {};  // one def, no constraints
  // Operands of one root stand together; only a def among them can be at odds with the others.
  find_homes(ops);
  by_root_.clear();
  fixed_.clear();
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!ops[k].is_vreg()) continue;
    by_root_.emplace_back(f_.root(ops[k].vreg()).value, k);
    if (homes_[k].is_valid()) fixed_.push_back(k);
  }
  std::sort(by_root_.begin(), by_root_.end());
  for (std::size_t begin = 0, end = 0; begin < by_root_.size(); begin = end) {
    while (end < by_root_.size() && by_root_[end].first == by_root_[begin].first) ++end;
    for (std::size_t a = begin; a < end && ops[by_root_[a].second].writes(); ++a)
      for (std::size_t b = a + 1; b < end; ++b)
        if (auto conflict = of_one_root(ops, by_root_[a].second, by_root_[b].second)) return conflict;
  }
  // Two operands that are fixed to overlapping registers. There are at most kMaxUnits distinct homes, so most of many repeat
  // others.
  const bool guarded = is_guarded(ops);
  const auto key = [&](std::size_t k) {
    const Storage s = f_.storage(ops[k]);
    return std::tuple(s.root.value, Operand::pack(homes_[k]), at_reads(f_, ops[k], s, guarded), at_writes(ops[k]));
  };
  std::sort(fixed_.begin(), fixed_.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  fixed_.erase(std::unique(fixed_.begin(), fixed_.end(), [&](std::size_t a, std::size_t b) { return key(a) == key(b); }),
               fixed_.end());
  for (std::size_t x = 0; x < fixed_.size(); ++x)
    for (std::size_t y = x + 1; y < fixed_.size(); ++y) {
      const std::size_t k = std::min(fixed_[x], fixed_[y]), m = std::max(fixed_[x], fixed_[y]);
      const PReg a = homes_[k], b = homes_[m];
      if (!a.overlaps(b)) continue;
      const Storage sa = f_.storage(ops[k]), sb = f_.storage(ops[m]);
      // A def and the use that it is tied to are one item, and so are the reads of one root in one register.
      if ((sa.root == sb.root || (ops[k].is_tied() && ops[k].tied == m)) && a == b) continue;
      if ((at_reads(f_, ops[k], sa, guarded) && at_reads(f_, ops[m], sb, guarded)) || (at_writes(ops[k]) && at_writes(ops[m])))
        return OperandConflict{static_cast<int>(m), fmt::format("two operands are fixed to {} at once", to_string(f_, b))};
    }
  for (const std::size_t k : fixed_)
    if (ops[k].writes() && !f_.is_whole(ops[k]))
      for (std::size_t m = k + 1; m < ops.size(); ++m)
        if (ops[m].role == Role::Clobber && ops[m].preg().overlaps(homes_[k]))
          return OperandConflict{static_cast<int>(m), "a def of a part is fixed to a register that is clobbered"};
  return {};
}

std::optional<OperandConflict> OperandConflicts::of_one_root(std::span<const Operand> ops, std::size_t k, std::size_t m) const {
  const int at = static_cast<int>(m);
  if (ops[m].writes() && f_.storage(ops[k]).overlaps(f_.storage(ops[m])))
    return OperandConflict{at, "two defs of one instruction write the same register"};
  if ((ops[k].is_early_clobber() && ops[m].reads()) || (ops[m].is_early_clobber() && ops[k].reads()))
    return OperandConflict{at, "an early-clobber def of a register that the instruction reads"};
  const PReg a = homes_[k], b = homes_[m];
  if (ops[m].writes() && a.is_valid() && b.is_valid() && a != b)
    return OperandConflict{at, "two defs of parts of one register are fixed to different places"};
  return {};
}

void OperandConflicts::find_homes(std::span<const Operand> ops) {
  homes_.clear();
  for (const Operand& op : ops) homes_.push_back(f_.fixed_of(op));
  for (std::size_t def = 0; def < ops.size(); ++def) {
    if (!ops[def].is_tied()) continue;
    PReg &written = homes_[def], &read = homes_[ops[def].tied];
    if (!written.is_valid()) written = read;
    else if (!read.is_valid()) read = written;
  }
}

std::optional<OperandConflict> OperandConflicts::with_architectural(const Inst& i) const {
  if (architectural_.empty()) return {};
  const auto ops = f_.operands_of(i);
  if (f_.phase == Phase::Virtual && i.is_phi() && f_.vreg(f_.root(ops[0].vreg())).is_architectural())
    return OperandConflict{0, "a phi does not define an architectural register: nothing that is inserted may write it"};
  for (std::size_t k = 0; k < ops.size(); ++k) {
    const bool is_clobber = ops[k].role == Role::Clobber;
    const PReg r = is_clobber ? ops[k].preg() : ops[k].is_vreg() ? f_.fixed_of(ops[k]) : PReg();
    for (const VRegId v : architectural_)
      if (r.is_valid() && r.overlaps(f_.vreg(v).fixed) && (is_clobber || f_.root(ops[k].vreg()) != v))
        return OperandConflict{static_cast<int>(k), fmt::format("{} is that of the architectural %{}", to_string(f_, r), v.value)};
    if (!ops[k].is_vreg() || !ops[k].is_tied()) continue;
    const VRegId def = f_.root(ops[k].vreg()), use = f_.root(ops[ops[k].tied].vreg());
    for (const VRegId v : architectural_)
      if (def != use && (def == v || use == v))
        return OperandConflict{static_cast<int>(k),
                               fmt::format("a tie to the architectural %{}, which has its register alone", v.value)};
  }
  return {};
}

}  // namespace regduel::ir
