// See refill_reuse.h.

#include "allocator/spill_code/refill_reuse.h"

#include <algorithm>

#include "allocator/program/names.h"

namespace regduel::allocator {

RefillReuse::RefillReuse(const ir::Function& in, const Liveness& live, const Plan& plan, const Budget& budget)
    : in_(in), plan_(plan), distance_(plan.reuse.distance) {
  if (std::all_of(plan.location.begin(), plan.location.end(), [](Location l) { return l.is_in_register(); })) distance_ = 0;
  if (distance_ == 0) return;
  waiting_.resize(in.vregs.size());
  const std::uint32_t n = live.num_numbered();
  for (std::size_t v = 0; v < plan.location.size(); ++v)
    if (plan.is_spilled(VRegId(v))) room_[ir::index(in.vregs[v].file())].resize(n + 1, 0);
  // Units of vregs that live in registers, instruction by instruction, as differences first.
  for (std::size_t v = 0; v < in.vregs.size(); ++v) {
    if (plan.is_spilled(VRegId(v))) continue;
    auto& room = room_[ir::index(in.vregs[v].file())];
    if (room.empty()) continue;
    const int units = in.vregs[v].units();
    std::uint32_t done = 0;
    for (const Interval& i : live.range(v)) {
      const std::uint32_t first = std::max(i.begin.inst(), done), last = i.last().inst() + 1;
      if (first >= last) continue;
      room[first] -= units;
      room[last] += units;
      done = last;
    }
  }
  for (const ir::RegFile file : ir::kAllFiles) {
    auto& room = room_[ir::index(file)];
    std::int32_t sum = budget.allocatable[ir::index(file)].count();
    for (std::int32_t& r : room) r = sum += r;
  }
  const PointLimits limits = budget.points_of(in);
  auto& room_of_r = room_[ir::index(ir::RegFile::R)];
  for (std::uint32_t number = 0; number < n; ++number) {
    if (limits.is_lower(live.inst_at(number)) && !room_of_r.empty())
      room_of_r[number] -=
          (limits.closed(ir::RegFile::R, live.inst_at(number)) & budget.allocatable[ir::index(ir::RegFile::R)]).count();
    if (plan.reuse.barred_insts[live.inst_at(number)] != 0)
      for (auto& room : room_)
        if (!room.empty()) room[number] = 0;
    for (const ir::Operand& op : in.operands_of(in.insts[live.inst_at(number)])) {
      if (op.role == ir::Role::Clobber) {
        auto& room = room_[ir::index(op.preg().file)];
        if (!room.empty()) room[number] -= (units_of(op.preg()) & budget.allocatable[ir::index(op.preg().file)]).count();
      } else if (op.is_vreg() && plan.is_spilled(op.vreg())) {
        room_[ir::index(in.vreg(op.vreg()).file())][number] -= in.vreg(op.vreg()).units();
      }
    }
  }
}

void RefillReuse::forget(VRegId root) {
  if (root.index() < waiting_.size()) waiting_[root.index()].epoch = 0;
}

void RefillReuse::remember(VRegId root, VRegId temp, ByteMask bytes, bool is_before) {
  if (distance_ == 0 || (is_before && room_[ir::index(in_.vreg(root).file())][now_] < 0)) return;
  if (plan_.reuse.barred_vregs[root.index()] != 0) return;
  waiting_[root.index()] = {temp, bytes, now_, epoch_};
}

VRegId RefillReuse::waiting(VRegId root, ByteMask bytes, std::uint32_t number) {
  if (distance_ == 0) return {};
  Waiting& w = waiting_[root.index()];
  if (w.epoch != epoch_ || (bytes & ~w.bytes) != 0 || number - w.since > static_cast<std::uint32_t>(distance_)) return {};
  auto& room = room_[ir::index(in_.vreg(root).file())];
  const int units = in_.vreg(root).units();
  for (std::uint32_t k = w.since + 1; k < number; ++k)
    if (room[k] < units) return {};
  if (!ir::may(plan_.fuel, "reuse-refill")) return {};
  for (std::uint32_t k = w.since + 1; k < number; ++k) room[k] -= units;
  w.since = number;
  return w.temp;
}

}  // namespace regduel::allocator
