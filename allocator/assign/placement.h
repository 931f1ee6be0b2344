// A placement: the homes of the vregs of one register file during an attempt, and the operations on them: take a home, leave it,
// look for one, make room for another vreg.
//
// Both kinds of attempt (assign.h, classic/instruction_walk.h) are a loop over vregs around one Placement. They differ in the order
// of the vregs, and in the rule for which vreg is evicted.
//
//   occupancy = fixed moments of the file (FileAllocator::base), and for each vreg with a home its units over its whole range
//   used      = units that some vreg of this attempt has stood in, even if it has left since
//
// A search for room: look_around(range) finds the vregs that have homes during a range. For each position, leaving_cost() returns the
// cost of emptying it: a vreg that has another free home for its whole range moves there at no cost, any other costs its spill cost.
// After leaving_cost() of the position chosen, take_off_leaving() empties it, and resettle_leaving() finds the other homes or
// spills.
//
// Source: source 000 "Per-Instruction Assignment", "Assignment"; "Step 4: Constraint Walk" (weigh). Tested by placement_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allocator/assign/attempt.h"
#include "allocator/assign/attempt_listener.h"
#include "allocator/assign/file_allocator.h"
#include "allocator/assign/geometry.h"
#include "allocator/assign/occupancy.h"
#include "allocator/assign/pressure.h"
#include "allocator/spill/cost.h"
#include "base/grouped.h"

namespace regduel::allocator {

// Vregs with a home, listed by stretch of instructions: a search for room looks at the stretches of a range only.
class Neighbours {
 public:
  //   units   homes are in [0, units)
  // The function and the liveness must outlive it.
  Neighbours(const ir::Function& f, const Liveness& live, int units)
      : f_(f), live_(live), near_(live.num_numbered() / kStretch + 1), num_units_(static_cast<std::size_t>(units)),
        turn_(f.vregs.size(), 0), stamp_(f.vregs.size(), 0) {}

  // Called when a vreg gets its home, and when it leaves it.
  void add(ir::VRegId v) {
    turn_[v.index()] = ++turns_;
    for_each_stretch(live_.range(v.index()), [&](std::vector<ir::VRegId>& list) { list.push_back(v); });
  }
  void remove(ir::VRegId v) {
    for_each_stretch(live_.range(v.index()), [&](std::vector<ir::VRegId>& list) { std::erase(list, v); });
  }

  // Finds the vregs whose ranges overlap `range`. Cost: O(vregs listed in its stretches).
  //   home   by vreg: the first unit
  void find(std::span<const Interval> range, std::span<const int> home);
  // After find(): those vregs, in the order in which they got their homes; and those of them that stand in a unit.
  [[nodiscard]] std::span<const ir::VRegId> found() const { return found_; }
  [[nodiscard]] std::span<const ir::VRegId> at(int unit) const { return std::as_const(at_unit_)[static_cast<std::size_t>(unit)]; }

  // For lists of neighbours without repetition: true the first time that a vreg is asked about since begin_list().
  void begin_list() { ++epoch_; }
  [[nodiscard]] bool is_new(ir::VRegId v) {
    if (stamp_[v.index()] == epoch_) return false;
    stamp_[v.index()] = epoch_;
    return true;
  }

 private:
  static constexpr std::uint32_t kStretch = 128;  // instructions

  template <class Visit>
  void for_each_stretch(std::span<const Interval> range, Visit visit) {
    std::size_t next = 0;
    for (const Interval& i : range)
      for (next = std::max<std::size_t>(next, i.begin.inst() / kStretch); next <= i.last().inst() / kStretch; ++next)
        visit(near_[next]);
  }

  const ir::Function& f_;
  const Liveness& live_;
  std::vector<std::vector<ir::VRegId>> near_;  // by stretch
  std::size_t num_units_;
  Grouped<ir::VRegId> at_unit_;      // of those found last
  std::vector<std::uint32_t> turn_;  // by vreg: the number of its last add()
  std::uint32_t turns_ = 0;
  std::vector<ir::VRegId> found_;
  std::vector<std::uint32_t> stamp_;  // by vreg: the list that it was last new in
  std::uint32_t epoch_ = 0;
};

// Differences between the two kinds of attempt in weights and scans.
struct PlacementRules {
  int array_width = 0;  // entries of the primary array that are written
};

class Placement {
 public:
  // The allocator must outlive it, and all that the options point to.
  Placement(const FileAllocator& allocator, const AttemptOptions& options, const PlacementRules& rules);

  [[nodiscard]] std::int64_t cost(ir::VRegId v) const { return round_.spill_cost[v.index()]; }
  [[nodiscard]] bool is_spillable(ir::VRegId v) const { return cost(v) < kUnspillable; }
  [[nodiscard]] bool is_fixed(ir::VRegId v) const { return f_.vreg(v).fixed.is_valid(); }
  [[nodiscard]] std::span<const Interval> range(ir::VRegId v) const { return round_.live.range(v.index()); }
  [[nodiscard]] Geometry shape(ir::VRegId v) const { return geometry_of(f_.vreg(v), round_.target.predicate_halves); }
  [[nodiscard]] int home(ir::VRegId v) const { return result_.home[v.index()]; }
  [[nodiscard]] std::span<const int> homes() const { return result_.home; }
  // Null where banks do not count.
  [[nodiscard]] const BankPairs* banks() const { return banks_; }
  [[nodiscard]] const UnitSet& used() const { return used_; }
  [[nodiscard]] int highest() const { return highest_; }  // unit in use so far + 1
  [[nodiscard]] int width() const { return width_; }      // units that are looked at
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] const PressureArrays& arrays() const { return arrays_; }
  [[nodiscard]] bool is_over_limit() const { return over_limit_; }
  // True if the vreg has been spilled or given up. Kept only if the attempt may spill.
  [[nodiscard]] bool is_lost(ir::VRegId v) const { return lost_[v.index()] != 0; }
  [[nodiscard]] std::span<const ir::VRegId> to_spill() const { return result_.to_spill; }

  // --- homes
  // Requires that the units from `unit` on are free over the whole range.
  void put(ir::VRegId v, int unit);
  void take_off(ir::VRegId v);
  // Puts the members of one class in one home, and counts its weight. Requires weigh() of them.
  void settle(std::span<const ir::VRegId> members, int unit);
  // Marks units during a range that belong to no vreg.
  void reserve(std::span<const Interval> range, int unit, const Geometry& geometry);
  void release(std::span<const Interval> range, int unit, const Geometry& geometry);
  void spill(ir::VRegId v);
  // Puts spilled vregs, the costliest first, in places that have become free since. Cost: O(spilled x range).
  void bring_back();
  // Notes that a vreg must have a register and has none, so that the attempt does not fit.
  void give_up(ir::VRegId v);
  void set_over_limit() { over_limit_ = true; }
  void use(int unit) { used_.set(unit); }

  // Puts precoloured vregs in their own registers, those that cannot be spilled first.
  void place_precoloured(std::span<const ir::VRegId> vregs);
  // Puts vregs in their homes of an earlier round (AttemptOptions::kept) that are free.
  void keep_homes(std::span<const ir::VRegId> vregs);

  // --- the scan
  // Fills the arrays with the constraints of `members`, which are to share one home; all zero if there are none. With banks,
  // notes the banks of co-operands.
  void weigh(std::span<const ir::VRegId> members);
  // Units that are taken at some moment of a range, or may not be used.
  [[nodiscard]] UnitSet taken_during(std::span<const Interval> range) const;
  // The position with the least weight of those that `taken` leaves below the ceiling (without one: below the limit), -1 if there
  // is none. Callee-saved registers that are not saved yet come last. With banks, positions in a bank of a co-operand are left out,
  // unless an affinity leads there, or all others lie above needed_anyhow().
  [[nodiscard]] int select(const Geometry& geometry, const UnitSet& taken) const;
  [[nodiscard]] int select(const Geometry& geometry, const UnitSet& taken, int ceiling) const;
  // The same, and counts the reason of the choice (AttemptOptions::counts_choices).
  [[nodiscard]] int select_counted(const Geometry& geometry, const UnitSet& taken);
  // weigh() and select() for the whole range.
  [[nodiscard]] int select_for(ir::VRegId v);

  // --- room for another vreg; only if the attempt may spill, or with banks
  // Begins a search for room during a range. Returns units that no vreg can make free: clobbers, registers restored before a ret,
  // registers that may not be used.
  [[nodiscard]] UnitSet look_around(std::span<const Interval> range);
  // Vregs with a home whose ranges overlap that of the search; those of them that stand in a unit.
  [[nodiscard]] std::span<const ir::VRegId> around() const { return neighbours_->found(); }
  [[nodiscard]] std::span<const ir::VRegId> around(int unit) const { return neighbours_->at(unit); }
  // Lists in leaving() the vregs that stand in [unit, unit + units) during the range of the search, and returns the cost if
  // all of them leave; kUnspillable if they cannot.
  //   taken   during the range of the search
  //   goes_on(vreg, its cost, sum so far)   false ends the search with kUnspillable
  template <class GoesOn>
  [[nodiscard]] std::int64_t leaving_cost(int unit, const Geometry& geometry, const UnitSet& taken, GoesOn goes_on) {
    leaving_.clear();
    neighbours_->begin_list();
    std::int64_t sum = 0;
    for (int u = unit; u < unit + geometry.units; ++u) {
      if (!taken.has(u)) continue;
      if (neighbours_->at(u).empty()) return kUnspillable;  // reserved
      for (const ir::VRegId other : neighbours_->at(u)) {
        if (!neighbours_->is_new(other)) continue;
        leaving_.push_back(other);
        const std::int64_t its_cost = cost_to_move(other);
        sum += its_cost;
        if (its_cost >= kUnspillable || !goes_on(other, its_cost, sum)) return kUnspillable;
      }
    }
    return leaving_.empty() ? kUnspillable : sum;
  }
  void list_leaving(int unit, const Geometry& geometry, const UnitSet& taken) {
    static_cast<void>(leaving_cost(unit, geometry, taken, [](ir::VRegId, std::int64_t, std::int64_t) { return true; }));
  }
  [[nodiscard]] std::span<const ir::VRegId> leaving() const { return leaving_; }
  void take_off_leaving();
  // Moves each of leaving() to another home if there is one, else to memory. Returns how many moved to another home.
  //   by   the vreg for which, or for whose temporary, they left
  int resettle_leaving(ir::VRegId by);

  // The result, as the homes, the spilled and the given-up vregs determine it.
  [[nodiscard]] Attempt conclude();
  // The result of an attempt that ends early and does not fit.
  [[nodiscard]] Attempt abandon() { return std::move(result_); }

  // --- for the listener: the next step about a vreg, or its class
  //   unit   the choice, -1 = none
  void show(StepKind kind, std::span<const ir::VRegId> members, std::span<const Interval> range, const Geometry& geometry,
            int unit) {
    if (options_.listener != nullptr) show_step(kind, members, range, geometry, unit, {});
  }
  void show(StepKind kind, ir::VRegId v, int unit, const StepDetails& details = {}) {
    if (options_.listener != nullptr) show_step(kind, {&v, 1}, range(v), shape(v), unit, details);
  }
  // A step after a search for room; with MakesRoom, the vregs of leaving() leave.
  void show_room(StepKind kind, ir::VRegId v, int unit, std::int64_t room_cost);

 private:
  void show_step(StepKind kind, std::span<const ir::VRegId> members, std::span<const Interval> range, const Geometry& geometry,
                 int unit, const StepDetails& details);
  void place_precoloured(ir::VRegId v);
  void keep_home(ir::VRegId v);
  // The cost of taking a vreg out of its place: nothing if another is free.
  [[nodiscard]] std::int64_t cost_to_move(ir::VRegId v);
  [[nodiscard]] int select_in(const UnitSet& forbidden, const Geometry& geometry, int ceiling) const;
  // The bank filter, after weigh(): first units in the bank of a co-operand to which no affinity leads. For a footprint that is wider
  // than its alignment the filter leaves out more positions than it has to.
  [[nodiscard]] UnitSet filtered_by_bank(const Geometry& geometry) const;
  // The end of the units that are in use, or that the program needs at MaxLive. The bank filter prefers positions below it.
  [[nodiscard]] int needed_anyhow() const { return std::max(highest_, a_.first_unit() + a_.max_live()); }
  // The home of a vreg, known from the start if it is precoloured; -1 = none.
  [[nodiscard]] int home_or_fixed(ir::VRegId v) const {
    const ir::PReg fixed = f_.vreg(v).fixed;
    return fixed.is_valid() ? fixed.begin() : result_.home[v.index()];
  }
  // The unit that a constraint is about at this moment; nullopt if its partner has no home yet.
  [[nodiscard]] std::optional<int> target_of(const Constraint& c) const;

  const FileAllocator& a_;
  const Round& round_;
  const ir::Function& f_;
  const AttemptOptions& options_;
  const PlacementRules rules_;
  const BankPairs* const banks_;
  const int width_;
  Occupancy occupancy_;
  PressureArrays arrays_;
  std::uint64_t taken_banks_ = 0;  // banks of co-operands of the members weighed last
  UnitSet used_;
  int highest_ = 0;
  std::optional<Neighbours> neighbours_;  // if the attempt may spill, or with banks
  std::vector<ir::VRegId> leaving_;
  std::vector<char> lost_;               // by vreg
  std::vector<std::uint32_t> moved_at_;  // by vreg: the search in which move_cost_ was found
  std::vector<std::int64_t> move_cost_;
  std::uint32_t search_ = 0;
  bool over_limit_ = false;
  Attempt result_;
};

}  // namespace regduel::allocator
