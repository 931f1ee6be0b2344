// See bank_moves.h.

#include "allocator/assign/bank_moves.h"

#include <algorithm>
#include <vector>

#include "allocator/assign/banks.h"
#include "allocator/program/names.h"

namespace regduel::allocator {

namespace {

class BankMoves {
 public:
  BankMoves(const FileAllocator& a, Placement& placement)
      : a_(a), round_(a.round()), banks_(*placement.banks()), placement_(placement),
        homes_(placement.homes().begin(), placement.homes().end()), group_of_(homes_.size(), kNone) {
    find_groups();
  }

  int run() {
    int moved = 0;
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
      if (!groups_[g].is_fixed && has_conflict(groups_[g])) moved += move(g);
    return moved;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  // A vreg or a coalesced class, which moves as one.
  struct Group {
    std::span<const VRegId> members;
    std::span<const Interval> range;
    Geometry geometry;
    bool is_fixed = false;
  };

  void find_groups() {
    for (const CoalescedClass& c : a_.classes().all()) {
      const int home = homes_[c.members[0].index()];
      const bool is_together =
          home >= 0 && std::all_of(c.members.begin(), c.members.end(), [&](VRegId v) { return homes_[v.index()] == home; });
      if (!is_together && !c.fixed.is_valid()) continue;
      Geometry geometry = placement_.shape(c.members[0]);
      geometry.align = 1 << c.align_log2;
      add({c.members, c.range, geometry, c.fixed.is_valid()});
    }
    for (const VRegId& v : a_.vregs())
      if (homes_[v.index()] >= 0 && group_of_[v.index()] == kNone)
        add({{&v, 1}, placement_.range(v), placement_.shape(v), placement_.is_fixed(v)});
  }
  void add(const Group& group) {
    for (const VRegId v : group.members) group_of_[v.index()] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(group);
  }

  [[nodiscard]] int home(const Group& g) const { return homes_[g.members[0].index()]; }
  void set_home(const Group& g, int unit) {
    for (const VRegId v : g.members) homes_[v.index()] = unit;
  }
  [[nodiscard]] bool has_conflict(const Group& g) const {
    return std::any_of(g.members.begin(), g.members.end(),
                       [&](VRegId v) { return banks_.weight(v, homes_[v.index()], homes_) > 0; });
  }
  // Its cost with the others where they are. Requires that the group stands at the unit.
  [[nodiscard]] std::int64_t cost(const Group& g) const {
    std::int64_t sum = 0;
    for (const VRegId v : g.members) {
      const int unit = homes_[v.index()];
      sum += banks_.weight(v, unit, homes_);
      for (const Constraint& c : round_.constraints.of(v)) {
        if (c.type != ConstraintType::Range) continue;
        if (const int its = homes_[c.partner.index()]; its >= 0 && its + c.unit != unit) sum += c.weight;
      }
    }
    return sum;
  }
  [[nodiscard]] std::int64_t cost_at(const Group& g, int unit) {
    const int now = home(g);
    set_home(g, unit);
    const std::int64_t sum = cost(g);
    set_home(g, now);
    return sum;
  }

  void take_off(const Group& g) {
    for (const VRegId v : g.members) placement_.take_off(v);
  }
  void put(const Group& g, int unit) {
    set_home(g, unit);
    for (const VRegId v : g.members) placement_.put(v, unit);
  }
  void put_elsewhere(const Group& g, int unit) {
    placement_.show(StepKind::MovesApart, g.members, g.range, g.geometry, unit);
    put(g, unit);
  }

  int move(std::uint32_t which) {
    const Group& g = groups_[which];
    const int now = home(g);
    take_off(g);
    const UnitSet taken = placement_.taken_during(g.range);
    std::int64_t least = cost(g);
    int best = now;
    for_each_position(g, [&](int unit) {
      if (taken.has_any(unit, unit + g.geometry.units)) return;
      if (const std::int64_t its = cost_at(g, unit); its < least) least = its, best = unit;
    });
    if (best != now) {
      put_elsewhere(g, best);
      return 1;
    }
    const int moved = change_places(which, taken);
    if (moved == 0) put(g, now);
    return moved;
  }

  // Positions of used units. Used callee-saved units are saved already.
  template <class Visit>
  void for_each_position(const Group& g, Visit visit) const {
    for (int unit = 0; unit + g.geometry.units <= placement_.highest(); unit += g.geometry.step())
      if (placement_.used().has_all(unit, unit + g.geometry.units)) visit(unit);
  }

  // Requires that the group has been taken off.
  int change_places(std::uint32_t which, const UnitSet& taken) {
    const Group& g = groups_[which];
    const int now = home(g);
    const UnitSet bound = placement_.look_around(g.range);
    std::int64_t most = 0;
    int best = -1;
    std::vector<std::uint32_t> chosen;
    for_each_position(g, [&](int unit) {
      const bool may_stand_here = unit != now && !bound.has_any(unit, unit + g.geometry.units) && taken.has(unit);
      if (!may_stand_here || !find_others(g, unit, now)) return;
      std::int64_t before = cost(g), after = 0;
      for (const std::uint32_t o : others_) before += cost(groups_[o]);
      set_home(g, unit);
      for (const std::uint32_t o : others_) set_home(groups_[o], now);
      after = cost(g);
      for (const std::uint32_t o : others_) after += cost(groups_[o]);
      set_home(g, now);
      for (const std::uint32_t o : others_) set_home(groups_[o], unit);
      if (before - after <= most) return;
      most = before - after;
      best = unit;
      chosen = others_;
    });
    if (best < 0) return 0;
    for (const std::uint32_t o : chosen) take_off(groups_[o]);
    for (const std::uint32_t o : chosen) put_elsewhere(groups_[o], now);
    put_elsewhere(g, best);
    return 1 + static_cast<int>(chosen.size());
  }

  // True if the groups that stand in a position during the range of g can stand at `now` instead; then others_ lists them.
  bool find_others(const Group& g, int unit, int now) {
    others_.clear();
    for (int u = unit; u < unit + g.geometry.units; ++u)
      for (const VRegId v : placement_.around(u)) {
        const std::uint32_t o = group_of_[v.index()];
        if (std::find(others_.begin(), others_.end(), o) != others_.end()) continue;
        const Group& other = groups_[o];
        const bool fits = !other.is_fixed && other.geometry.units == g.geometry.units && home(other) == unit &&
                          now % other.geometry.step() == 0 && others_.size() < kMostOthers &&
                          !placement_.taken_during(other.range).has_any(now, now + g.geometry.units);
        if (!fits) return false;
        others_.push_back(o);
      }
    return !others_.empty();
  }

  static constexpr std::size_t kMostOthers = 4;

  const FileAllocator& a_;
  const Round& round_;
  const BankPairs& banks_;
  Placement& placement_;
  std::vector<int> homes_;  // as in the placement, but for the move that is tried
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;  // by vreg
  std::vector<std::uint32_t> others_;    // of one position: groups
};

}  // namespace

int move_apart(const FileAllocator& allocator, Placement& placement) { return BankMoves(allocator, placement).run(); }

}  // namespace regduel::allocator
