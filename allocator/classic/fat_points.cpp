// See fat_points.h.

#include "allocator/classic/fat_points.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "allocator/assign/scan.h"
#include "allocator/classic/pressure.h"
#include "allocator/classic/select.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// A soft constraint that waits until all of them are counted, since relaxation leaves out the first ones.
struct Soft {
  const Constraint* constraint;  // null = interference with a vreg that has no home yet
  std::optional<int> target;     // nothing = it has none yet
  std::int32_t weight = 0;       // of interference, with the units that it would take
  int units = 0;
};

class FatPoints {
 public:
  FatPoints(const ClassicFile& file, const ClassicOptions& options)
      : file_(file), a_(file.allocator), round_(file.allocator.round()), f_(round_.lowered.f), options_(options),
        width_(scan_width(a_.limit())), is_bank_aware_(options.relaxation.bank_aware && a_.file() == RegFile::R),
        has_moments_(a_.base().has_clobbers() || a_.base().has_blocked_moments()), below_limit_(a_.not_allocatable()),
        hint_(f_.vregs.size()), stamp_(f_.vregs.size(), 0) {
    below_limit_.clear_range(a_.limit(), ir::kMaxUnits);
    result_.attempt.home.assign(f_.vregs.size(), -1);
    if (options.candidates != nullptr)
      for (const auto& entry : options.candidates->results().entries()) hint_[entry.key] = {entry.value, 1};
  }

  ClassicAttempt run() {
    place_precoloured();
    const std::span<const CoalescedClass> chains = a_.classes().all();
    std::vector<char> is_tried(chains.size(), 0);
    for (std::size_t c = 0; c < chains.size(); ++c)
      if (chains[c].fixed.is_valid()) {
        join_precoloured(chains[c]);
        is_tried[c] = 1;
      }
    for (const VRegId v : file_.order)
      if (v.index() < options_.kept.size() && options_.kept[v.index()] >= 0 && home(v) < 0 && !is_absent(v)) keep_home(v);
    for (const VRegId v : options_.absent) place_temporaries(v);
    for (const VRegId v : file_.order) {
      if (f_.vreg(v).fixed.is_valid() || home(v) >= 0 || is_absent(v)) continue;
      const std::uint32_t c = a_.classes().of(v);
      if (c != CoalescedClasses::kNone && std::exchange(is_tried[c], 1) == 0 && place_chain(chains[c])) continue;
      place(v);
      if (is_lost_ && !options_.may_spill && !options_.counts_on) return std::move(result_);
    }
    return conclude();
  }

 private:
  [[nodiscard]] int home(VRegId v) const { return result_.attempt.home[v.index()]; }
  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return round_.live.range(v.index()); }
  [[nodiscard]] Geometry geometry(VRegId v) const { return geometry_of(f_.vreg(v), round_.target.predicate_halves); }

  [[nodiscard]] bool is_absent(VRegId v) const {
    return !options_.absent.empty() && std::ranges::binary_search(options_.absent, v);
  }

  // --- steps 3 to 5
  void weigh(std::span<const VRegId> members, const Geometry& geometry) {
    pressure_.zero(width_);
    pressure_.occupied = below_limit_;
    soft_.clear();
    ++epoch_;
    for (const VRegId v : members) stamp_[v.index()] = epoch_;
    for (const VRegId v : members) {
      if (temporaries_) pressure_.occupied |= temporaries_->conflicts(range(v));
      else if (has_moments_) pressure_.occupied |= a_.base().conflicts(range(v));
      for (const VRegId other : file_.interference.of(v)) walk_point(other, geometry);
      for (const Constraint& c : round_.constraints.of(v)) walk(c, geometry);
      for (const Constraint& c : file_.constraints.of(v)) walk(c, geometry);
    }
    const auto soft = static_cast<std::int64_t>(soft_.size());
    for (std::int64_t n = 0; n < soft; ++n) {
      const Soft& s = soft_[static_cast<std::size_t>(n)];
      if (options_.relaxation.leaves_out(n + 1, soft) || !s.target) continue;
      if (s.constraint != nullptr) add(pressure_, *s.constraint, *s.target, width_, geometry, round_.target);
      else add_point(pressure_, s.weight, *s.target, s.units, width_, geometry);
    }
  }
  void walk_point(VRegId other, const Geometry& geometry) {
    const int at = home(other), units = file_.units[other.index()];
    if (at >= 0) {
      int occupied = units;
      if (REGDUEL_PLANTED("classic-wide-neighbour-occupies-one-unit")) occupied = 1;
      pressure_.occupied.set_range(at, at + occupied);
      if (options_.has_points) add_point(pressure_, kHardWeight, at, units, width_, geometry);
    } else if (const Hint& hint = hint_[other.index()]; options_.has_points && hint.weight > 0 && stamp_[other.index()] != epoch_) {
      soft_.push_back({nullptr, hint.unit, std::min<std::int32_t>(hint.weight, kHardWeight - 1), units});
    }
  }
  void walk(const Constraint& c, const Geometry& geometry) {
    const std::optional<int> target = target_of(c);
    if (c.type != ConstraintType::Range && c.is_soft) soft_.push_back({&c, target});
    else if (target && (c.type != ConstraintType::Range || round_.has_affinity))
      add(pressure_, c, *target, width_, geometry, round_.target);
  }
  [[nodiscard]] std::optional<int> target_of(const Constraint& c) const {
    if (!c.partner.is_valid()) return c.unit;
    const PReg fixed = f_.vreg(c.partner).fixed;
    const int at = fixed.is_valid() ? fixed.begin() : home(c.partner);
    return at < 0 ? std::nullopt : std::optional(at + c.unit);
  }

  // --- step 6
  [[nodiscard]] FatPoint select(std::span<const VRegId> members, const Geometry& geometry) const {
    if (options_.candidates != nullptr)
      if (const auto proposed = options_.candidates->home_of(members);
          proposed && may_take(*proposed, geometry, pressure_.occupied, a_.not_allocatable(), a_.limit()))
        return {*proposed, pressure_.primary[static_cast<std::size_t>(*proposed)], 0};
    const Scan scan{pressure_, geometry, a_.first_unit(), a_.limit(), options_.threshold};
    if (options_.may_spill) return select_simple(scan);
    return select_long(scan, options_.relaxation.iteration == 0, is_bank_aware_ ? last_ : -1);
  }

  // Why a position was preferred to the lowest free one.
  void count_choice(const FatPoint& point, const Geometry& geometry) {
    PlacedBy& by = result_.attempt.placed_by;
    const int lowest = lowest_free(pressure_.occupied, geometry, a_.limit(), a_.first_unit());
    if (point.unit == lowest || lowest < 0) ++by.first_fit;
    else if (point.primary < pressure_.primary[static_cast<std::size_t>(lowest)]) ++by.primary;
    else ++by.secondary;
  }

  // --- step 7
  void commit(std::span<const VRegId> members, const FatPoint& point) {
    result_.attempt.pressure += point.primary;
    last_ = point.unit;
    for (const VRegId v : members) put(v, point.unit);
  }
  void put(VRegId v, int unit) {
    result_.attempt.home[v.index()] = unit;
    // Vregs that a copy, a tie or a hint joins to v prefer the positions at which that copy vanishes.
    for (const Constraint& c : round_.constraints.of(v)) {
      if (c.type != ConstraintType::Range || !c.partner.is_valid()) continue;
      Hint& hint = hint_[c.partner.index()];
      if (c.weight > hint.weight && unit - c.unit >= 0) hint = {static_cast<std::int16_t>(unit - c.unit), c.weight};
    }
  }

  void place_precoloured() {
    for (const bool is_spillable_now : {false, true})
      for (const VRegId v : a_.vregs()) {
        const PReg r = f_.vreg(v).fixed;
        if (!r.is_valid() || (round_.spill_cost[v.index()] < kUnspillable) != is_spillable_now) continue;
        if (f_.vreg(v).is_architectural()) {
          result_.attempt.home[v.index()] = r.begin();  // no other vreg may use its units, and no limit binds it
          continue;
        }
        weigh({&v, 1}, geometry(v));
        pressure_.occupied |= a_.not_allocatable();
        if (pressure_.occupied.has_any(r.begin(), r.end())) misfit(v);
        else put(v, r.begin());
      }
  }
  void keep_home(VRegId v) {
    const int unit = options_.kept[v.index()];
    pressure_.occupied = below_limit_;
    if (has_moments_) pressure_.occupied |= a_.base().conflicts(range(v));
    for (const VRegId other : file_.interference.of(v))
      if (home(other) >= 0) pressure_.occupied.set_range(home(other), home(other) + file_.units[other.index()]);
    bool is_free = !pressure_.occupied.has_any(unit, unit + file_.units[v.index()]);
    if (REGDUEL_PLANTED("classic-kept-home-unchecked")) is_free = true;
    if (is_free && !f_.vreg(v).fixed.is_valid()) put(v, unit);
  }
  // The precoloured members of a chain have their register; the others join them if it is free while they live.
  void join_precoloured(const CoalescedClass& chain) {
    const Geometry shape = geometry(chain.members[0]);
    std::vector<std::pair<VRegId, int>> placed;
    for (const VRegId v : chain.members)
      if (f_.vreg(v).fixed.is_valid() && home(v) >= 0) placed.emplace_back(v, std::exchange(result_.attempt.home[v.index()], -1));
    weigh(chain.members, shape);
    for (const auto& [v, unit] : placed) result_.attempt.home[v.index()] = unit;
    pressure_.occupied |= a_.not_allocatable();
    if (pressure_.occupied.has_any(chain.fixed.begin(), chain.fixed.end())) return;
    for (const VRegId v : chain.members)
      if (!f_.vreg(v).fixed.is_valid()) put(v, chain.fixed.begin());
  }
  bool place_chain(const CoalescedClass& chain) {
    Geometry shape = geometry(chain.members[0]);
    shape.align = 1 << chain.align_log2;
    std::span<const VRegId> members = chain.members;
    weigh(REGDUEL_PLANTED("classic-chain-walked-for-its-first-member") ? members.first(1) : members, shape);
    const FatPoint point = select(members, shape);
    if (point.unit < 0) return false;
    if (options_.counts_on) count_choice(point, shape);
    commit(members, point);
    return true;
  }
  void place(VRegId v) {
    const Geometry shape = geometry(v);
    weigh({&v, 1}, shape);
    FatPoint point = select({&v, 1}, shape);
    if (point.unit >= 0) {
      if (options_.counts_on) count_choice(point, shape);
      return commit({&v, 1}, point);
    }
    misfit(v);
    if (options_.may_spill || !options_.counts_on) return;
    // Above the limit, to say how many registers this attempt takes.
    point = select_long({pressure_, shape, a_.first_unit(), scan_units(a_.limit()), options_.threshold}, false);
    if (point.unit >= 0) commit({&v, 1}, point);
  }

  // Assignment, case 3.
  void misfit(VRegId v) {
    const bool is_spillable_now = round_.spill_cost[v.index()] < kUnspillable;
    const std::uint32_t inst = round_.lowered.temp_of[v.index()];
    if (!options_.may_spill || (!is_spillable_now && inst == kNoInst)) is_lost_ = true;
    else if (!is_spillable_now) result_.attempt.to_pin.push_back(inst);
    else if (options_.may_leave.empty() || options_.may_leave[v.index()] != 0) spill(v);
    else result_.held_back.push_back(v);
  }
  void spill(VRegId v) {
    result_.attempt.to_spill.push_back(v);
    place_temporaries(v);
  }
  // The next round has temporaries at the instructions that name v. What is placed after v leaves them their room now.
  void place_temporaries(VRegId v) {
    if (options_.guidance == nullptr || v.index() >= f_.vregs.size()) return;
    const Geometry shape = geometry(v);
    if (!temporaries_) temporaries_.emplace(a_.base());
    moments_.clear();
    for (const TemporaryLists::At& at : options_.guidance->temporaries()[v]) {
      if (at.may_vanish) continue;
      const std::uint32_t n = at.number;
      moments_.push_back({at.while_reading ? read_point(n) : write_point(n), (at.after ? write_point(n) : read_point(n)).next()});
    }
    taken_.assign(moments_.size(), a_.not_allocatable());
    for (const VRegId other : file_.interference.of(v))
      if (home(other) >= 0) take(range(other), home(other), home(other) + file_.units[other.index()]);
    for (std::size_t k = 0; k < moments_.size(); ++k) {
      const auto moment = std::span(moments_).subspan(k, 1);
      const int unit = lowest_free(taken_[k] | temporaries_->conflicts(moment), shape, a_.limit(), a_.first_unit());
      if (unit >= 0) temporaries_->mark(moment, unit, unit + shape.units);
    }
  }
  // At the moments that the range overlaps: the units from `begin` up to `end`.
  void take(std::span<const Interval> range, int begin, int end) {
    auto moment = moments_.begin();
    for (const Interval& i : range) {
      const auto is_before = [](const Interval& m, Point p) { return m.end <= p; };
      moment = std::lower_bound(moment, moments_.end(), i.begin, is_before);
      for (auto at = moment; at != moments_.end() && at->begin < i.end; ++at)
        taken_[static_cast<std::size_t>(at - moments_.begin())].set_range(begin, end);
    }
  }

  ClassicAttempt conclude() {
    Attempt& all = result_.attempt;
    std::sort(all.to_spill.begin(), all.to_spill.end());
    std::sort(all.to_pin.begin(), all.to_pin.end());
    all.to_pin.erase(std::unique(all.to_pin.begin(), all.to_pin.end()), all.to_pin.end());
    for (const VRegId v : a_.vregs()) {
      const int unit = home(v);
      if (unit < 0 || f_.vreg(v).is_architectural()) continue;
      all.used = std::max(all.used, unit + f_.vreg(v).units());
      all.units.set_range(unit, unit + f_.vreg(v).units());
      for (const Constraint& c : round_.constraints.of(v))
        if (c.type == ConstraintType::Range && c.partner < v && home(c.partner) >= 0 && home(c.partner) + c.unit != unit)
          all.copy_weight += c.weight;
    }
    if (is_lost_) all.used = std::max(all.used, a_.limit() + 1);
    for (const VRegId v : all.to_spill) all.spill_cost += round_.spill_cost[v.index()];
    all.fits = !is_lost_ && all.to_spill.empty() && all.to_pin.empty() && result_.held_back.empty();
    return std::move(result_);
  }

  struct Hint {
    std::int16_t unit = 0, weight = 0;  // weight 0 = none
  };
  const ClassicFile& file_;
  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const ClassicOptions& options_;
  const int width_;
  const bool is_bank_aware_, has_moments_;
  ir::UnitSet below_limit_;  // units below the limit that may not be allocated
  Pressure pressure_;
  std::optional<Occupancy> temporaries_;  // clobbers, and the temporaries of vregs that are to be spilled; made when first needed
  std::vector<Interval> moments_;         // of the temporaries of the vreg at hand, ascending
  std::vector<ir::UnitSet> taken_;        // at each of these
  std::vector<Soft> soft_;
  std::vector<Hint> hint_;            // by vreg: the place that it would like best
  std::vector<std::uint32_t> stamp_;  // by vreg: the walk that it was a member of
  std::uint32_t epoch_ = 0;
  int last_ = -1;  // where the vreg before was placed
  bool is_lost_ = false;
  ClassicAttempt result_;
};

std::vector<VRegId> by_priority(const FileAllocator& a) {
  const Round& round = a.round();
  struct Entry {
    std::uint32_t rank;
    std::int64_t cost;
    VRegId vreg;
  };
  std::vector<Entry> entries;
  entries.reserve(a.vregs().size());
  for (const VRegId v : a.vregs()) {
    const ir::VReg& vreg = round.lowered.f.vreg(v);
    const bool is_spillable_now = round.spill_cost[v.index()] < kUnspillable;
    // Spillable (1 bit), choice (11), narrowness (20).
    const auto wide = static_cast<std::uint32_t>(std::max(vreg.units(), vreg.alignment()) * ir::kMaxUnits + vreg.units());
    const std::uint32_t rank = (is_spillable_now ? 1u : 0u) << 31 | static_cast<std::uint32_t>(a.choice(v)) << 20 |
                               ((1u << 20) - 1 - std::min(wide, (1u << 20) - 1));
    entries.push_back({rank, -round.spill_cost[v.index()], v});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return std::tie(x.rank, x.cost, x.vreg) < std::tie(y.rank, y.cost, y.vreg); });
  std::vector<VRegId> order;
  order.reserve(entries.size());
  for (const Entry& e : entries) order.push_back(e.vreg);
  return order;
}

}  // namespace

ClassicFile::ClassicFile(const Round& round, const SourceConstraints& of_types, RegFile file)
    : allocator(round, file), constraints(of_types), interference(round.lowered.f, round.live, allocator.vregs()),
      order(by_priority(allocator)), units(round.lowered.f.vregs.size()) {
  for (const VRegId v : allocator.vregs()) units[v.index()] = static_cast<std::uint8_t>(round.lowered.f.vreg(v).units());
}

ClassicAttempt place_all(const ClassicFile& file, const ClassicOptions& options) { return FatPoints(file, options).run(); }

}  // namespace regduel::allocator
