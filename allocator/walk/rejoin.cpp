// See rejoin.h.

#include "allocator/walk/rejoin.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "allocator/assign/file_allocator.h"
#include "allocator/assign/geometry.h"
#include "allocator/assign/occupancy.h"
#include "allocator/program/names.h"
#include "base/grouped.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// Vregs that step aside for one copy. Weighted copies of all profiles of 200 and of 2,000 instructions at 75% of MaxLive and of corpus/ptx, as
// geometric means, against those without a rejoin: 0.90, 0.83, 0.98 with none, 0.85, 0.76, 0.93 with four, 0.84, 0.75, 0.93 with ten.
constexpr std::size_t kMostOthers = 4;
constexpr std::uint32_t kStretch = 64;  // instructions

class Rejoin {
 public:
  Rejoin(MovedProgram& program, const Liveness& live, RegFile file, const Budget& budget, const ir::Target& target)
      : f_(program.code.f), live_(live), file_(file), target_(target), homes_(program.homes),
        occupancy_(occupancy_of(f_, live, file, budget)), allocatable_(budget.allocatable[ir::index(file)]),
        next_in_group_(f_.vregs.size()), stays_(f_.vregs.size(), 0) {
    for (std::size_t k = 0; k < f_.vregs.size(); ++k) {
      next_in_group_[k] = VRegId(k);
      if (is_placed(VRegId(k))) vregs_.emplace_back(k);
    }
    near_.build(live.num_numbered() / kStretch + 1, [&](auto add) {
      for (const VRegId v : vregs_) for_each_stretch(v, [&](std::size_t stretch) { return add(stretch, v), true; });
    });
    find_copies(program.frequency);
  }

  void run() {
    if (std::all_of(copies_.begin(), copies_.end(), [&](const Copy& c) { return is_met(c); })) return;
    for (const VRegId v : vregs_) begin(v);
    used_ = used_ & allocatable_;
    for (const Copy& c : copies_)
      if (is_met(c)) unite(c.def, c.use);
    for (const Copy& c : copies_) {
      if (is_met(c) || !meet(c) || !is_met(c)) continue;
      unite(c.def, c.use);
    }
  }

 private:
  using List = std::vector<VRegId>;  // of vregs that stand in one home
  static Occupancy occupancy_of(const Function& f, const Liveness& live, RegFile file, const Budget& budget) {
    const PointLimits limits = budget.points_of(f);
    return fixed_moments(f, live, RoundIndex::find_bound(f, live, limits), limits, file, budget.callee_saved[ir::index(file)]);
  }
  struct Copy {
    VRegId def, use;
    std::int64_t times;
  };

  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return live_.range(v.index()); }
  [[nodiscard]] int home(VRegId v) const { return homes_[v.index()]; }
  [[nodiscard]] int units(VRegId v) const { return f_.vreg(v).units(); }
  [[nodiscard]] bool is_placed(VRegId v) const {
    return f_.vreg(v).file() == file_ && !f_.vreg(v).is_architectural() && home(v) >= 0 && !range(v).empty();
  }

  // --- what is known at the beginning
  void begin(VRegId v) {
    stays_[v.index()] = f_.vreg(v).fixed.is_valid() ? 1 : 0;
    used_.set_range(home(v), home(v) + units(v));
    // A read of a vreg that is not defined there makes a range that may overlap others in its home. None of them moves.
    if (occupancy_.conflicts(range(v)).has_any(home(v), home(v) + units(v))) {
      stays_[v.index()] = 1;
      for_each_in(v, home(v), [&](VRegId o) { return stays_[o.index()] = 1, true; });
    }
    mark(v);
  }
  void find_copies(std::span<const std::int64_t> frequency) {
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n) {
      const Inst& inst = f_.insts[live_.inst_at(n)];
      if (inst.op != Op::Copy) continue;
      const auto ops = f_.operands_of(inst);
      for (const auto [def, use] : ir::copy_pairs(ops)) {
        if (!def.is_vreg() || !use.is_vreg() || !def.part.is_whole() || !use.part.is_whole()) continue;
        const VRegId d = def.vreg(), u = use.vreg();
        if (d != u && is_placed(d) && is_placed(u) && units(d) == units(u))
          copies_.push_back({d, u, frequency[live_.block_at(n).index()]});
      }
    }
    std::stable_sort(copies_.begin(), copies_.end(), [](const Copy& x, const Copy& y) { return x.times > y.times; });
    joined_.build(f_.vregs.size(), [&](auto add) {
      for (const Copy& c : copies_) {
        add(c.def.index(), std::pair(c.use, c.times));
        add(c.use.index(), std::pair(c.def, c.times));
      }
    });
  }
  [[nodiscard]] bool is_met(const Copy& c) const { return home(c.def) == home(c.use); }

  // --- groups: vregs that copies join and that stand in one home, in a ring
  [[nodiscard]] List group(VRegId v) const {
    List list = {v};
    for (VRegId o = next_in_group_[v.index()]; o != v; o = next_in_group_[o.index()]) list.push_back(o);
    return list;
  }
  void unite(VRegId x, VRegId y) {
    for (VRegId o = next_in_group_[x.index()]; o != x; o = next_in_group_[o.index()])
      if (o == y) return;
    std::swap(next_in_group_[x.index()], next_in_group_[y.index()]);
  }
  void leave_group(VRegId v) {
    VRegId before = v;
    while (next_in_group_[before.index()] != v) before = next_in_group_[before.index()];
    next_in_group_[before.index()] = std::exchange(next_in_group_[v.index()], v);
  }

  // --- homes
  void mark(VRegId v) { occupancy_.mark(range(v), home(v), home(v) + units(v)); }
  void unmark(VRegId v) { occupancy_.unmark(range(v), home(v), home(v) + units(v)); }
  void take_off(const List& list) {
    for (const VRegId v : list) unmark(v);
  }
  void set(const List& list, int unit) {
    for (const VRegId v : list) homes_[v.index()] = unit;
  }
  void mark_all(const List& list) {
    for (const VRegId v : list) mark(v);
  }
  void put(const List& list, int unit) {
    set(list, unit);
    mark_all(list);
  }
  // Visits those that stand in the way of a vreg in a position, until `visit` returns false; one may come several times.
  template <class Visit>
  void for_each_in(VRegId v, int unit, Visit visit) const {
    const int end = unit + units(v);
    for_each_stretch(v, [&](std::size_t stretch) {
      return std::ranges::all_of(near_[stretch], [&](VRegId o) {
        const bool is_there = o != v && home(o) < end && unit < home(o) + units(o);
        return !is_there || !overlap(range(v), range(o)) || visit(o);
      });
    });
  }
  // Visits the stretches of instructions in which a vreg lives, until `visit` returns false.
  template <class Visit>
  void for_each_stretch(VRegId v, Visit visit) const {
    std::size_t next = 0;
    for (const Interval& i : range(v))
      for (next = std::max<std::size_t>(next, i.begin.inst() / kStretch); next <= i.last().inst() / kStretch; ++next)
        if (!visit(next)) return;
  }
  [[nodiscard]] UnitSet conflicts(const List& list) const {
    UnitSet taken;
    for (const VRegId v : list) taken |= occupancy_.conflicts(range(v));
    return taken;
  }
  // The positions in `free` that are aligned for all of them.
  [[nodiscard]] UnitSet positions(const UnitSet& free, const List& list) const {
    int align = 1;
    for (const VRegId v : list) align = std::max(align, geometry_of(f_.vreg(v), target_.predicate_halves).align);
    return free.positions(units(list[0]), std::countr_zero(static_cast<unsigned>(align)));
  }
  [[nodiscard]] bool may_move(const List& list) const {
    return std::none_of(list.begin(), list.end(), [&](VRegId v) { return stays_[v.index()] != 0; });
  }
  // How often copies between them and vregs in other homes are executed.
  [[nodiscard]] std::int64_t cost(const List& list) const {
    std::int64_t sum = 0;
    for (const VRegId v : list)
      for (const auto& [other, times] : joined_[v.index()])
        if (home(other) != home(v)) sum += times;
    return sum;
  }

  // --- moves
  bool meet(const Copy& c) {
    const List of_def = group(c.def), of_use = group(c.use);
    return bring(of_def, home(c.use)) || bring(of_use, home(c.def)) || meet_elsewhere(of_def, of_use);
  }

  // False, and nothing has changed, if they cannot go there or if that saves nothing.
  bool bring(const List& list, int unit) {
    if (!may_move(list) || !positions(used_, list).has(unit)) return false;
    const int now = home(list[0]), size = units(list[0]);
    if (std::abs(unit - now) < size) return false;
    const std::int64_t before = cost(list);
    set(list, unit);
    const std::int64_t saved = before - cost(list);
    set(list, now);
    if (saved <= 0) return false;
    if (conflicts(list).has_any(unit, unit + size) && !REGDUEL_PLANTED("fatpoint-rejoin-among-others"))
      return find_others(list, unit) && make_room(list, unit, saved);
    go(list, unit);
    return true;
  }
  void go(const List& list, int unit) {
    take_off(list);
    put(list, unit);
  }
  // Puts them there, and each of others_ where that costs the fewest copies, all together fewer than `saved`.
  bool make_room(const List& list, int unit, std::int64_t saved) {
    const List others = others_;
    const int now = home(list[0]);
    take_off(list);
    take_off(others);
    if (conflicts(list).has_any(unit, unit + units(list[0]))) {  // registers are destroyed there
      mark_all(list);
      mark_all(others);
      return false;
    }
    put(list, unit);
    std::vector<int> left;
    while (left.size() < others.size()) {
      const VRegId o = others[left.size()];
      left.push_back(home(o));
      if (step_aside(o, saved)) continue;
      left.pop_back();
      for (std::size_t k = 0; k < left.size(); ++k) {
        unmark(others[k]);
        homes_[others[k].index()] = left[k];
      }
      take_off(list);
      put(list, now);
      mark_all(others);
      return false;
    }
    for (const VRegId o : others) leave_group(o);
    for (const VRegId o : others)
      for (const auto& [other, times] : joined_[o.index()])
        if (home(other) == home(o)) unite(o, other);
    return true;
  }
  // False if one may not move, or there are too many.
  bool find_others(const List& list, int unit) {
    others_.clear();
    bool fits = true;
    for (const VRegId v : list) {
      if (!fits) break;
      for_each_in(v, unit, [&](VRegId o) {
        if (std::find(others_.begin(), others_.end(), o) != others_.end()) return true;
        fits = stays_[o.index()] == 0 && others_.size() < kMostOthers;
        others_.push_back(o);
        return fits;
      });
    }
    return fits && !others_.empty();
  }
  // Puts a vreg where that costs fewest copies, and less than `saved`, which becomes what is left of it.
  bool step_aside(VRegId v, std::int64_t& saved) {
    const List alone = {v};
    const int now = home(v);
    const std::int64_t before = cost(alone);
    const UnitSet free = positions(used_ - conflicts(alone), alone);
    std::int64_t most = 0;
    int best = -1;
    for (int u = free.first(); u >= 0; u = free.next(u + 1)) {
      homes_[v.index()] = u;
      if (const std::int64_t rest = saved + before - cost(alone); rest > most) most = rest, best = u;
    }
    homes_[v.index()] = now;
    if (best < 0) return false;
    saved = most;
    put(alone, best);
    return true;
  }

  bool meet_elsewhere(const List& a, const List& b) {
    if (!may_move(a) || !may_move(b)) return false;
    const UnitSet free = used_ - conflicts(a) - conflicts(b), fit_a = positions(free, a), fit_b = positions(free, b);
    if (!fit_a.intersects(fit_b)) return false;
    for (const VRegId v : a)
      for (const VRegId o : b)
        if (overlap(range(v), range(o))) return false;
    const int at_a = home(a[0]), at_b = home(b[0]);
    std::int64_t least = cost(a) + cost(b);
    int best = -1;
    for (int u = fit_a.first(); u >= 0; u = fit_a.next(u + 1)) {
      if (!fit_b.has(u)) continue;
      set(a, u);
      set(b, u);
      if (const std::int64_t now = cost(a) + cost(b); now < least) least = now, best = u;
    }
    set(a, at_a);
    set(b, at_b);
    if (best < 0) return false;
    go(a, best);
    go(b, best);
    return true;
  }

  const Function& f_;
  const Liveness& live_;
  const RegFile file_;
  const ir::Target& target_;
  std::vector<int>& homes_;
  Occupancy occupancy_;
  UnitSet allocatable_, used_;
  List vregs_;                                       // of the file
  Grouped<VRegId> near_;                             // by stretch of instructions: those that live there
  std::vector<Copy> copies_;                         // those executed most often first
  Grouped<std::pair<VRegId, std::int64_t>> joined_;  // by vreg: those that copies join to it, and how often each is executed
  std::vector<VRegId> next_in_group_;                // by vreg
  std::vector<char> stays_;                          // by vreg: 1 = it does not move
  List others_;
};

}  // namespace

void rejoin(MovedProgram& program, const Liveness& live, RegFile file, const Budget& budget, const ir::Target& target) {
  Rejoin(program, live, file, budget, target).run();
}

}  // namespace regduel::allocator
