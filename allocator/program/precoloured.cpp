// See precoloured.h.

#include "allocator/program/precoloured.h"

#include <algorithm>

#include "allocator/instruction/items.h"
#include "allocator/program/names.h"

namespace regduel::allocator {

std::vector<char> find_precoloured(const ir::Function& f, const Liveness& live, const Budget& budget) {
  std::vector<char> keeps(f.vregs.size(), 0);
  if (std::none_of(f.vregs.begin(), f.vregs.end(), [](const ir::VReg& v) { return v.fixed.is_valid(); })) return keeps;
  struct Event {
    Point point;
    PReg units;
    VRegId root;  // invalid = a clobber
  };
  std::vector<Event> events;
  Items items;
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    const auto ops = f.operands_of(inst);
    if (std::none_of(ops.begin(), ops.end(),
                     [](const ir::Operand& op) { return op.role == Role::Clobber || op.fixed().is_valid(); }))
      continue;
    build_items(f, inst, items);
    for (const Item& item : items.items) {
      if (!item.fixed.is_valid()) continue;
      // An item of two roots (a tie) conflicts with both.
      const bool one_root = !item.reads.is_valid() || !item.writes.is_valid() || item.reads == item.writes;
      const VRegId root = one_root ? item.root() : VRegId();
      if (item.at_reads) events.push_back({read_point(n), item.fixed, root});
      if (item.at_writes) events.push_back({write_point(n), item.fixed, root});
    }
    for (const ir::Operand& op : ops)
      if (op.role == Role::Clobber) events.push_back({clobber_point(n), op.preg(), VRegId()});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.point < b.point; });

  const PointLimits limits = budget.points_of(f);
  const auto is_below_limits = [&](PReg r, const Interval& during) {
    if (r.file != RegFile::R || !limits.vary()) return true;
    for (std::uint32_t n = during.begin.inst(); n < live.num_numbered() && read_point(n) < during.end; ++n)
      if (r.end() > limits.at(live.inst_at(n))) return false;
    return true;
  };
  std::vector<VRegId> kept;
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    const PReg fixed = f.vregs[v].fixed;
    if (!fixed.is_valid() || f.vregs[v].alias.is_valid()) continue;
    if (f.vregs[v].is_architectural()) {
      keeps[v] = 1;
      continue;
    }
    if (live.range(v).empty()) continue;
    bool free = (units_of(fixed) - budget.allocatable[ir::index(fixed.file)]).none();
    for (const Interval& i : live.range(v)) {
      free = free && is_below_limits(fixed, i);
      auto e = std::lower_bound(events.begin(), events.end(), i.begin, [](const Event& a, Point p) { return a.point < p; });
      for (; free && e != events.end() && e->point < i.end; ++e)
        if (e->root != VRegId(v) && e->units.overlaps(fixed)) free = false;
    }
    for (const VRegId other : kept)
      if (free && f.vreg(other).fixed.overlaps(fixed) && overlap(live.range(v), live.range(other.index()))) free = false;
    if (!free) continue;
    keeps[v] = 1;
    kept.push_back(VRegId(v));
  }
  return keeps;
}

}  // namespace regduel::allocator
