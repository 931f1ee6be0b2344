// See predicate_packs.h.

#include "allocator/spill/predicate_packs.h"

#include <algorithm>
#include <cstring>

#include "allocator/program/names.h"

namespace regduel::allocator {

namespace {

ir::VReg pack_register() {
  ir::VReg v;
  v.cls = ir::RegClass::R;
  v.type = ir::TypeKind::B;
  v.width = 32;
  return v;
}

}  // namespace

void PredicatePacks::find_room(const Plan& plan) {
  has_room_ = true;
  const std::uint32_t n = live_.num_numbered();
  room_.assign(4 * static_cast<std::size_t>(n) + 5, 0);
  const UnitSet& allocatable = budget_.allocatable[ir::index(RegFile::R)];
  // Differences of the units in use first.
  const auto add = [&](const Interval& during, int units) {
    room_[during.begin.value] += units;
    room_[during.end.value] -= units;
  };
  for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
    const ir::VReg& vreg = f_.vregs[v];
    if (vreg.file() != RegFile::R || vreg.is_architectural() || plan.is_spilled(VRegId(v))) continue;
    for (const Interval& i : live_.range(v)) add(i, vreg.units());
  }
  for (const Pack& pack : packs_)
    for (const Interval& i : pack.range) add(i, 1);
  const PointLimits limits = budget_.points_of(f_);
  std::vector<VRegId> named;
  for (std::uint32_t number = 0; number < n; ++number) {
    const ir::Inst& inst = f_.insts[live_.inst_at(number)];
    if (limits.is_lower(live_.inst_at(number)))
      add({read_point(number), read_point(number + 1)}, (limits.closed(RegFile::R, live_.inst_at(number)) & allocatable).count());
    named.clear();
    for (const ir::Operand& op : f_.operands_of(inst)) {
      if (op.role == ir::Role::Clobber && op.preg().file == RegFile::R) {
        add({clobber_point(number), write_point(number)}, (units_of(op.preg()) & allocatable).count());
      } else if (op.is_vreg() && f_.vreg(op.vreg()).file() == RegFile::R && plan.is_spilled(op.vreg()) &&
                 std::find(named.begin(), named.end(), op.vreg()) == named.end()) {
        named.push_back(op.vreg());
        add({read_point(number), read_point(number + 1)}, f_.vreg(op.vreg()).units());
      }
    }
  }
  const std::int32_t all = allocatable.count();
  std::int32_t units = 0;
  is_full_.resize(room_.size());
  for (std::size_t p = 0; p < room_.size(); ++p) {
    room_[p] = all - (units += room_[p]);
    is_full_[p] = room_[p] <= 0 ? 1 : 0;
  }
}

bool PredicatePacks::has_room(std::span<const Interval> range) const {
  return std::none_of(range.begin(), range.end(), [&](const Interval& i) {
    return std::memchr(is_full_.data() + i.begin.value, 1, i.end - i.begin) != nullptr;
  });
}

bool PredicatePacks::take(Plan& plan, VRegId v) {
  if (live_.range(v.index()).empty()) return false;
  if (!has_room_) find_room(plan);
  return take(plan, v, false) || take(plan, v, true);
}

bool PredicatePacks::take(Plan& plan, VRegId v, bool presses) {
  const auto range = live_.range(v.index());
  const std::uint64_t length = num_points(range);
  struct Place {
    std::size_t pack = 0, bit = 0;
    std::uint64_t shared = 0;
  };
  Place best{packs_.size(), 0, 0};
  LiveRange added(range);
  for (std::size_t k = 0; k < packs_.size() && best.shared < length; ++k) {
    const Pack& pack = packs_[k];
    const std::uint64_t shared = pack.presses == presses ? num_shared_points(range, pack.range) : 0;
    if (shared <= best.shared) continue;
    const auto is_free = [&](const LiveRange& bit) { return !overlap(range, bit); };
    const auto bit = static_cast<std::size_t>(std::find_if(pack.bits.begin(), pack.bits.end(), is_free) - pack.bits.begin());
    if (bit == Location::kPackBits) continue;
    LiveRange rest(range);
    rest.subtract(pack.range);
    if (!presses && !has_room(rest)) continue;
    best = {k, bit, shared};
    added = std::move(rest);
  }
  if (best.pack == packs_.size()) {
    if (!presses && !has_room(added)) return false;
    plan.packs.push_back({VRegId(static_cast<std::uint32_t>(plan.num_long_lived())), {}});
    plan.added.push_back(pack_register());
    packs_.emplace_back().presses = presses;
  }
  Pack& pack = packs_[best.pack];
  std::vector<std::vector<VRegId>>& members = plan.packs[best.pack].members;
  if (best.bit == pack.bits.size()) {
    pack.bits.emplace_back();
    members.emplace_back();
  }
  for (const Interval& i : added)
    for (std::uint32_t p = i.begin.value; p < i.end.value; ++p) is_full_[p] = --room_[p] <= 0 ? 1 : 0;
  pack.range.merge(range);
  pack.bits[best.bit].merge(range);
  members[best.bit].push_back(v);
  plan.location[v.index()] = Location::bit_of(static_cast<std::uint32_t>(best.pack), static_cast<int>(best.bit));
  return true;
}

bool PredicatePacks::empty(Plan& plan, VRegId pack) {
  const auto at = std::find_if(plan.packs.begin(), plan.packs.end(), [&](const PredicatePack& p) { return p.vreg == pack; });
  if (at == plan.packs.end()) return false;
  bool changed = false;
  for (std::vector<VRegId>& bit : at->members) {
    for (const VRegId v : bit) changed = plan.unpack(v) || changed;
    bit.clear();
  }
  packs_[static_cast<std::size_t>(at - plan.packs.begin())] = {};
  forget_room();
  return changed;
}

void PredicatePacks::empty_all(Plan& plan) {
  for (std::size_t k = 0; k < plan.packs.size(); ++k) empty(plan, plan.packs[k].vreg);
}

}  // namespace regduel::allocator
