// See placement.h.

#include "allocator/assign/placement.h"

#include <utility>

#include "allocator/assign/banks.h"
#include "allocator/assign/scan.h"
#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

void Neighbours::find(std::span<const Interval> range, std::span<const int> home) {
  found_.clear();
  begin_list();
  for_each_stretch(range, [&](const std::vector<VRegId>& list) {
    for (const VRegId other : list)
      if (is_new(other) && overlap(range, live_.range(other.index()))) found_.push_back(other);
  });
  std::sort(found_.begin(), found_.end(), [&](VRegId a, VRegId b) { return turn_[a.index()] < turn_[b.index()]; });
  at_unit_.build(num_units_, [&](auto add) {
    for (const VRegId other : found_)
      for (int u = home[other.index()]; u < home[other.index()] + f_.vreg(other).units(); ++u)
        add(static_cast<std::size_t>(u), other);
  });
}

Placement::Placement(const FileAllocator& allocator, const AttemptOptions& options, const PlacementRules& rules)
    : a_(allocator), round_(allocator.round()), f_(round_.lowered.f), options_(options), rules_(rules),
      banks_(options.bank_aware && allocator.file() == ir::RegFile::R ? round_.banks : nullptr),
      width_(options.may_spill() ? std::max(a_.limit(), 1) : scan_units(a_.limit())), occupancy_(a_.base()) {
  result_.home.assign(f_.vregs.size(), -1);
  if (options.may_spill() || banks_ != nullptr) neighbours_.emplace(f_, round_.live, width_);
  if (!options.may_spill()) return;
  lost_.assign(f_.vregs.size(), 0);
  moved_at_.assign(f_.vregs.size(), 0);
  move_cost_.assign(f_.vregs.size(), 0);
}

// --- homes

void Placement::put(VRegId v, int unit) {
  const int end = unit + f_.vreg(v).units();
  int marked_end = end;
  if (REGDUEL_PLANTED("fatpoint-wide-marks-first-unit")) marked_end = unit + 1;
  result_.home[v.index()] = unit;
  occupancy_.mark(range(v), unit, marked_end);
  used_.set_range(unit, end);
  highest_ = std::max(highest_, end);
  if (neighbours_) neighbours_->add(v);
}

void Placement::take_off(VRegId v) {
  const int unit = home(v);
  occupancy_.unmark(range(v), unit, unit + f_.vreg(v).units());
  neighbours_->remove(v);
  result_.home[v.index()] = -1;
}

void Placement::settle(std::span<const VRegId> members, int unit) {
  result_.pressure += arrays_.primary(unit);
  for (const VRegId v : members) put(v, unit);
}

void Placement::reserve(std::span<const Interval> range, int unit, const Geometry& geometry) {
  occupancy_.mark(range, unit, unit + geometry.units);
}
void Placement::release(std::span<const Interval> range, int unit, const Geometry& geometry) {
  occupancy_.unmark(range, unit, unit + geometry.units);
}

void Placement::spill(VRegId v) {
  result_.to_spill.push_back(v);
  lost_[v.index()] = 1;
}

void Placement::bring_back() {
  if (over_limit_ && result_.to_pin.empty()) return;  // something has to change
  std::vector<VRegId> order = result_.to_spill;
  std::stable_sort(order.begin(), order.end(), [&](VRegId a, VRegId b) { return cost(a) > cost(b); });
  for (const VRegId v : order) {
    const int unit = is_fixed(v) ? -1 : select_for(v);
    if (unit < 0) continue;
    show(StepKind::Alone, v, unit);
    put(v, unit);
    std::erase(result_.to_spill, v);
    lost_[v.index()] = 0;
  }
}

void Placement::give_up(VRegId v) {
  over_limit_ = true;
  if (!lost_.empty()) lost_[v.index()] = 1;
  if (is_spillable(v)) result_.to_spill.push_back(v);
  else if (round_.lowered.temp_of[v.index()] != kNoInst) result_.to_pin.push_back(round_.lowered.temp_of[v.index()]);
}

void Placement::place_precoloured(std::span<const VRegId> vregs) {
  for (const bool is_spillable_now : {false, true})
    for (const VRegId v : vregs)
      if (is_fixed(v) && is_spillable(v) == is_spillable_now) place_precoloured(v);
}
void Placement::place_precoloured(VRegId v) {
  const PReg r = f_.vreg(v).fixed;
  if (f_.vreg(v).is_architectural()) {  // no other vreg may use its units, and no limit binds it
    result_.home[v.index()] = r.begin();
    return;
  }
  const bool is_free = !taken_during(range(v)).has_any(r.begin(), r.end());
  show(StepKind::Precoloured, v, is_free ? r.begin() : -1);
  if (is_free) put(v, r.begin());
  else give_up(v);
}

void Placement::keep_homes(std::span<const VRegId> vregs) {
  if (options_.kept.empty()) return;
  for (const VRegId v : vregs)
    if (v.index() < options_.kept.size() && options_.kept[v.index()] >= 0 && !is_fixed(v) && ir::may(round_.fuel, "keep-home"))
      keep_home(v);
}
void Placement::keep_home(VRegId v) {
  const int kept = options_.kept[v.index()];
  bool is_free = !occupancy_.conflicts(range(v)).has_any(kept, kept + f_.vreg(v).units());
  if (REGDUEL_PLANTED("fatpoint-kept-home-unchecked")) is_free = true;
  show(StepKind::KeepsHome, v, is_free ? kept : -1);
  if (is_free) put(v, kept);
}

// --- the scan

std::optional<int> Placement::target_of(const Constraint& c) const {
  if (!c.partner.is_valid()) return c.unit;
  const int home = home_or_fixed(c.partner);
  return home < 0 ? std::nullopt : std::optional(home + c.unit);
}

void Placement::weigh(std::span<const VRegId> members) {
  arrays_.reset();
  taken_banks_ = 0;
  if (!options_.has_weights()) return;
  if (banks_ != nullptr)
    for (const VRegId v : members) taken_banks_ |= banks_->taken_banks(v, result_.home);
  for (const VRegId v : members)
    for (const Constraint& c : round_.constraints.of(v)) {
      const bool is_range = c.type == ConstraintType::Range;
      if (is_range && !round_.has_affinity) continue;
      if (const auto target = target_of(c)) arrays_.add(c, *target, is_range ? width_ : rules_.array_width, round_.target);
    }
}

UnitSet Placement::taken_during(std::span<const Interval> range) const {
  return occupancy_.conflicts(range) | a_.not_allocatable();
}

int Placement::select(const Geometry& geometry, const UnitSet& taken) const { return select(geometry, taken, a_.limit()); }
int Placement::select(const Geometry& geometry, const UnitSet& taken, int ceiling) const {
  if (!a_.has_callee_saved() && taken_banks_ == 0) return select_in(taken, geometry, ceiling);
  const UnitSet unsaved = taken | (a_.callee_saved() - used_);
  if (taken_banks_ != 0)
    if (const int unit = select_in(unsaved | filtered_by_bank(geometry), geometry, std::min(ceiling, needed_anyhow())); unit >= 0)
      return unit;
  const int unit = select_in(unsaved, geometry, ceiling);
  return unit >= 0 || unsaved == taken ? unit : select_in(taken, geometry, ceiling);
}
UnitSet Placement::filtered_by_bank(const Geometry& geometry) const {
  UnitSet filtered;
  for (int unit = 0; unit < width_; unit += geometry.step())
    if ((taken_banks_ >> round_.target.bank(unit) & 1) != 0) filtered.set(unit);
  for (const int unit : arrays_.wanted()) filtered.clear_range(unit, unit + 1);
  return filtered;
}
int Placement::select_counted(const Geometry& geometry, const UnitSet& taken) {
  const int unit = select(geometry, taken);
  if (!options_.counts_choices || unit < 0) return unit;
  int lowest = lowest_free(taken | (a_.callee_saved() - used_), geometry, a_.limit(), a_.first_unit());
  if (lowest < 0) lowest = lowest_free(taken, geometry, a_.limit(), a_.first_unit());
  PlacedBy& by = result_.placed_by;
  const bool is_nearer = arrays_.secondary(unit) < arrays_.secondary(lowest);
  const bool is_lighter = arrays_.primary(unit) < arrays_.primary(lowest);
  if (unit == lowest) ++by.first_fit;
  else if (is_nearer && !is_lighter) ++by.secondary;
  else ++by.primary;
  return unit;
}
int Placement::select_in(const UnitSet& forbidden, const Geometry& geometry, int ceiling) const {
  return select_position({arrays_, forbidden, geometry, ceiling, a_.first_unit()});
}
int Placement::select_for(VRegId v) {
  const Geometry geometry = shape(v);
  weigh({&v, 1});
  return select(geometry, taken_during(range(v)));
}

// --- room for another vreg

UnitSet Placement::look_around(std::span<const Interval> range) {
  ++search_;
  neighbours_->find(range, result_.home);
  bool with_reads = a_.base().has_blocked_moments();
  if (REGDUEL_PLANTED("fatpoint-evicts-into-a-restored-register")) with_reads = false;
  return (with_reads ? a_.base().conflicts(range) : a_.base().clobbers(range)) | a_.not_allocatable();
}

std::int64_t Placement::cost_to_move(VRegId v) {
  if (is_fixed(v)) return cost(v);
  if (moved_at_[v.index()] != search_) {
    moved_at_[v.index()] = search_;
    const UnitSet taken = taken_during(range(v));
    move_cost_[v.index()] = has_free(taken, shape(v), a_.limit()) ? 0 : cost(v);
  }
  return move_cost_[v.index()];
}

void Placement::take_off_leaving() {
  for (const VRegId v : leaving_) take_off(v);
}

int Placement::resettle_leaving(VRegId by) {
  if (REGDUEL_PLANTED("fatpoint-evicted-not-spilled")) leaving_.resize(std::min<std::size_t>(leaving_.size(), 1));
  int moved = 0;
  for (const VRegId v : leaving_) {
    const int unit = is_fixed(v) ? -1 : select_for(v);
    show(StepKind::Displaced, v, unit, {.own_cost = is_spillable(v) ? cost(v) : -1, .by = by, .is_for_temporary = home(by) < 0});
    if (unit >= 0) {
      put(v, unit);
      ++moved;
    } else if (is_spillable(v)) {
      spill(v);
    } else {
      give_up(v);
    }
  }
  return moved;
}

// --- the end

Attempt Placement::conclude() {
  const auto sort_unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(result_.to_spill);
  sort_unique(result_.to_pin);
  result_.fits = !over_limit_ && result_.to_spill.empty() && result_.to_pin.empty();
  for (const VRegId v : a_.vregs()) {
    const int unit = home(v);
    if (unit < 0 || f_.vreg(v).is_architectural()) continue;
    const int end = unit + f_.vreg(v).units();
    result_.used = std::max(result_.used, end);
    result_.units.set_range(unit, end);
    for (const Constraint& c : round_.constraints.of(v)) {
      if (c.type != ConstraintType::Range || !(c.partner < v)) continue;
      const int partner = home(c.partner);
      if (partner >= 0 && partner + c.unit != unit) result_.copy_weight += c.weight;
    }
  }
  if (over_limit_) result_.used = std::max(result_.used, a_.limit() + 1);
  for (const VRegId v : result_.to_spill) result_.spill_cost += cost(v);
  return std::move(result_);
}

// --- for regduel explain

void Placement::show_step(StepKind kind, std::span<const VRegId> members, std::span<const Interval> range, const Geometry& geometry,
                          int unit, const StepDetails& details) {
  if (!options_.listener->is_about(members)) return;
  weigh(members);
  options_.listener->step(kind,
                          {.allocator = a_,
                           .occupancy = occupancy_,
                           .arrays = arrays_,
                           .home = result_.home,
                           .members = members,
                           .range = range,
                           .geometry = geometry,
                           .used = used_,
                           .ceiling = kind == StepKind::AboveLimit ? width_ : a_.limit(),
                           .weights = options_.has_weights(),
                           .bank_aware = options_.bank_aware,
                           .by_bank = taken_banks_ != 0 ? filtered_by_bank(geometry) : UnitSet(),
                           .bank_ceiling = std::min(kind == StepKind::AboveLimit ? width_ : a_.limit(), needed_anyhow()),
                           .primary_at = [&](int u) { return u < rules_.array_width ? arrays_.primary(u) : 0; },
                           .target_of = [&](const Constraint& c) { return target_of(c); }},
                          unit, details);
}

void Placement::show_room(StepKind kind, VRegId v, int unit, std::int64_t room_cost) {
  StepDetails details{.own_cost = is_spillable(v) ? cost(v) : -1, .room_cost = room_cost < kUnspillable ? room_cost : -1};
  if (kind == StepKind::MakesRoom) details.leave = leaving_;
  show(kind, v, unit, details);
}

}  // namespace regduel::allocator
