// See file_allocator.h.

#include "allocator/assign/file_allocator.h"

#include <algorithm>
#include <iterator>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

Occupancy fixed_moments(const Function& f, const Liveness& live, std::span<const std::uint32_t> bound, const PointLimits& limits,
                        RegFile file, const UnitSet& callee_saved) {
  Occupancy moments(live.num_numbered());
  for (const std::uint32_t n : bound) {
    const Inst& inst = f.insts[live.inst_at(n)];
    UnitSet clobbered = clobbered_units(f, inst, file), restored;
    const UnitSet closed = limits.closed(file, live.inst_at(n));
    if (inst.op == Op::Ret) restored = callee_saved;
    if (REGDUEL_PLANTED("fatpoint-clobber-missed")) clobbered = {};
    if (REGDUEL_PLANTED("fatpoint-ret-takes-callee-saved")) restored = {};
    if (clobbered.any() || closed.any()) moments.add_clobber(n, clobbered | closed);
    if (inst.op == Op::Ret || closed.any()) moments.block_reads(n, restored | closed);
    if (closed.any()) moments.block_writes(n, closed);
  }
  return moments;
}

FileAllocator::FileAllocator(const Round& round, RegFile file)
    : round_(round), file_(file), vregs_(round.index.vregs[ir::index(file)]),
      classes_(round.lowered.f, round.live, round.constraints, round.coalesces ? vregs_ : std::span<const VRegId>(), round.fuel),
      limit_(round.budget.allocatable[ir::index(file)].end()),
      base_(fixed_moments(round.lowered.f, round.live, round.index.bound, round.index.limits, file,
                          round.budget.callee_saved[ir::index(file)])),
      not_allocatable_(UnitSet::range(0, ir::kMaxUnits) - round.budget.allocatable[ir::index(file)]),
      callee_saved_(round.budget.callee_saved[ir::index(file)]), has_callee_saved_(callee_saved_.any()),
      first_unit_(std::min(round.budget.allocatable[ir::index(file)].first_or(limit_), limit_)) {
  if (REGDUEL_PLANTED("fatpoint-limit-off-by-one")) not_allocatable_.clear_range(limit_, limit_ + 1), ++limit_;
  count_choices();
}

FileAllocator FileAllocator::without(const UnitSet& units) const {
  FileAllocator fewer = *this;
  fewer.not_allocatable_ |= units;
  const UnitSet left = UnitSet::range(0, limit_) - fewer.not_allocatable_;
  fewer.limit_ = left.end();
  fewer.first_unit_ = std::min(left.first_or(fewer.limit_), fewer.limit_);
  fewer.count_choices();
  return fewer;
}

// A vreg with little choice comes first in every order. A vreg to which clobbers leave at least MaxLive units counts as unrestricted.
void FileAllocator::count_choices() {
  if (!base_.has_clobbers()) return;
  choice_.assign(round_.lowered.f.vregs.size(), ir::kMaxUnits);
  for (const VRegId v : vregs_) {
    const UnitSet clobbered = base_.clobbers(round_.live.range(v.index()));
    if ((clobbered - not_allocatable_).none()) continue;
    const int left = ir::kMaxUnits - (clobbered | not_allocatable_).count();
    if (left < max_live()) choice_[v.index()] = left;
  }
}

std::vector<VRegId> FileAllocator::vregs_without(std::span<const VRegId> absent) const {
  std::vector<VRegId> present;
  present.reserve(vregs_.size());
  std::set_difference(vregs_.begin(), vregs_.end(), absent.begin(), absent.end(), std::back_inserter(present));
  return present;
}

}  // namespace regduel::allocator
