// See assign.h.

#include "allocator/assign/assign.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "allocator/assign/bank_moves.h"
#include "allocator/assign/placement.h"
#include "allocator/assign/scan.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

// One attempt: places the vregs in an order, each in its fat point among the units that the earlier ones leave.
class AttemptRun {
 public:
  AttemptRun(const FileAllocator& a, const AttemptOptions& options)
      : a_(a), round_(a.round()), f_(a.round().lowered.f), options_(options),
        placement_(a, options, {.array_width = scan_width(a.limit())}), is_class_tried_(a.classes().all().size(), 0) {}

  Attempt run() {
    const std::vector<VRegId> order = sorted();
    placement_.place_precoloured(order);
    if (options_.coalesces())
      for (std::size_t c = 0; c < is_class_tried_.size(); ++c)
        if (a_.classes().all()[c].fixed.is_valid() && may_place_as_one(a_.classes().all()[c])) {
          join_precoloured(a_.classes().all()[c]);
          is_class_tried_[c] = 1;
        }
    placement_.keep_homes(order);
    for (const VRegId v : order) {
      if (placement_.is_fixed(v) || placement_.home(v) >= 0) continue;
      const std::uint32_t c = options_.coalesces() ? a_.classes().of(v) : CoalescedClasses::kNone;
      if (c == CoalescedClasses::kNone || is_class_tried_[c] != 0 || !place_class(a_.classes().all()[c])) place(v);
      if (c != CoalescedClasses::kNone) is_class_tried_[c] = 1;
      if (is_hopeless()) return placement_.abandon();
    }
    if (options_.may_spill()) placement_.bring_back();
    if (options_.temporaries != nullptr) {
      for (const VRegId v : options_.absent) make_room_for_temporaries(v);
      for (std::size_t k = 0; k < placement_.to_spill().size(); ++k) make_room_for_temporaries(placement_.to_spill()[k]);
    }
    if (placement_.banks() != nullptr && !placement_.is_over_limit() && placement_.to_spill().empty()) move_apart(a_, placement_);
    return placement_.conclude();
  }

 private:
  // By a rank of at most 63 bits, from the highest: spillable and bound first (1), choice (10), shape (20), start or length (32).
  // Vregs of one rank stand in the order of their numbers.
  [[nodiscard]] std::vector<VRegId> sorted() const {
    constexpr std::uint64_t kMaxShape = 1u << 20;
    std::vector<VRegId> order = a_.vregs_without(options_.absent);
    std::vector<std::pair<std::uint64_t, VRegId>> keys;
    keys.reserve(order.size());
    for (const VRegId v : order) {
      const bool is_bound_first = options_.order == Order::BoundFirst || options_.order == Order::HeaviestFirst;
      const std::uint64_t later = is_bound_first && placement_.is_spillable(v) ? 1 : 0;
      const bool is_by_weight = options_.order == Order::HeaviestFirst && later != 0;
      const int shape = is_by_weight ? spill_weight(v) : options_.order == Order::ByStart ? 0 : shape_of(v);
      const auto range = placement_.range(v);
      const std::uint64_t when =
          options_.order == Order::LongestFirst ? ~std::uint32_t{0} - num_points(range) : range[0].begin.value;
      const auto choice = static_cast<std::uint64_t>(a_.choice(v));
      keys.push_back({((later << 10 | choice) * kMaxShape + (kMaxShape - 1 - static_cast<std::uint64_t>(shape))) << 32 | when, v});
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t k = 0; k < keys.size(); ++k) order[k] = keys[k].second;
    return order;
  }
  // The spill weight of v: the logarithm of its spill cost for each unit and moment, in sixteenths, below 2^10.
  [[nodiscard]] int spill_weight(VRegId v) const {
    const std::uint64_t moments = num_points(placement_.range(v));
    const std::uint64_t units = static_cast<std::uint64_t>(f_.vreg(v).units());
    const std::uint64_t each = (static_cast<std::uint64_t>(placement_.cost(v)) << 12) / (moments * units + 1);
    const int log2 = static_cast<int>(std::bit_width(each));
    return 16 * log2 + static_cast<int>((log2 > 4 ? each >> (log2 - 5) : each << (5 - log2)) & 15);
  }
  // Greater for wider and more aligned vregs.
  [[nodiscard]] int shape_of(VRegId v) const {
    const Geometry g = geometry_of(f_.vreg(v));
    return std::max(g.units, g.align) * ir::kMaxUnits + g.units;
  }
  [[nodiscard]] bool is_hopeless() const {
    return placement_.is_over_limit() ? options_.ceiling <= a_.limit() : placement_.highest() > options_.ceiling;
  }

  // The precoloured members of a class have their register; the others join them if it is free while they live.
  void join_precoloured(const CoalescedClass& together) {
    const int unit = together.fixed.begin();
    const Geometry geometry = placement_.shape(together.members[0]);
    const auto has_register = [&](VRegId v) { return placement_.is_fixed(v) && placement_.home(v) >= 0; };
    for (const VRegId v : together.members)
      if (has_register(v)) placement_.release(placement_.range(v), unit, geometry);
    bool is_free = !placement_.occupancy().conflicts(together.range).has_any(unit, together.fixed.end());
    if (REGDUEL_PLANTED("fatpoint-chain-joins-fixed-unasked")) is_free = true;
    placement_.show(StepKind::JoinsPrecoloured, together.members, together.range, geometry, is_free ? unit : -1);
    for (const VRegId v : together.members) {
      if (has_register(v)) placement_.reserve(placement_.range(v), unit, geometry);
      else if (!placement_.is_fixed(v) && is_free) placement_.put(v, unit);
    }
  }

  // Members that live at one time with one value could not leave their register one by one.
  [[nodiscard]] bool may_place_as_one(const CoalescedClass& together) const {
    if (!options_.may_spill()) return true;
    std::uint64_t points = 0;
    for (const VRegId v : together.members) points += num_points(placement_.range(v));
    return points == num_points(together.range);
  }
  bool place_class(const CoalescedClass& together) {
    if (!may_place_as_one(together)) return false;
    Geometry geometry = placement_.shape(together.members[0]);
    geometry.align = 1 << together.align_log2;
    std::span<const Interval> range = together.range;
    if (REGDUEL_PLANTED("fatpoint-chain-placed-by-its-first-member")) range = placement_.range(together.members[0]);
    placement_.weigh(together.members);
    const int unit = placement_.select_counted(geometry, placement_.taken_during(range));
    placement_.show(StepKind::Class, together.members, together.range, geometry, unit);
    if (unit >= 0) placement_.settle(together.members, unit);
    return unit >= 0;
  }

  void place(VRegId v) {
    const Geometry geometry = placement_.shape(v);
    placement_.weigh({&v, 1});
    const int unit = placement_.select_counted(geometry, placement_.taken_during(placement_.range(v)));
    if (unit >= 0) {
      placement_.show(StepKind::Alone, v, unit);
      placement_.settle({&v, 1}, unit);
    } else if (options_.may_spill()) {
      place_or_spill(v, geometry);
    } else {
      place_above_limit(v, geometry);
    }
  }
  void place_above_limit(VRegId v, const Geometry& geometry) {
    placement_.set_over_limit();
    UnitSet forbidden = a_.not_allocatable();
    forbidden.clear_range(a_.limit(), ir::kMaxUnits);
    forbidden |= placement_.occupancy().conflicts(placement_.range(v));
    const int width = placement_.width();
    const int unit = select_position({placement_.arrays(), forbidden, geometry, width, a_.first_unit()});
    placement_.show(StepKind::AboveLimit, v, unit);
    if (unit >= 0) placement_.put(v, unit);
    else placement_.use(width - 1);
  }

  // Spills v, or empties a position for it, whichever costs less.
  void place_or_spill(VRegId v, const Geometry& geometry) {
    const Room room = round_.evicts ? find_room(placement_.range(v), geometry) : Room();
    const bool is_spilled = placement_.is_spillable(v) && placement_.cost(v) <= room.cost;
    const StepKind kind = is_spilled ? StepKind::ToMemory : room.unit >= 0 ? StepKind::MakesRoom : StepKind::GivesUp;
    placement_.show_room(kind, v, is_spilled ? -1 : room.unit, room.cost);
    if (is_spilled) {
      placement_.spill(v);
    } else if (room.unit < 0 || !ir::may(round_.fuel, "evict")) {
      placement_.give_up(v);
    } else {
      placement_.take_off_leaving();
      placement_.put(v, room.unit);
      placement_.resettle_leaving(v);
    }
  }

  struct Room {
    int unit = -1;
    std::int64_t cost = kUnspillable;
  };
  // The position that costs least to empty during a range, the lowest among equals. placement_.leaving() lists its vregs.
  Room find_room(std::span<const Interval> range, const Geometry& geometry) {
    const UnitSet taken = placement_.taken_during(range), bound = placement_.look_around(range);
    Room best;
    for (int unit = 0; unit + geometry.units <= a_.limit(); unit += geometry.step()) {
      if (bound.has_any(unit, unit + geometry.units)) continue;
      const std::int64_t cost =
          placement_.leaving_cost(unit, geometry, taken, [&](VRegId, std::int64_t, std::int64_t sum) { return sum < best.cost; });
      if (cost < best.cost) best = {unit, cost};
    }
    if (best.unit >= 0) placement_.list_leaving(best.unit, geometry, taken);
    return best;
  }

  // The next round will have temporaries at the instructions that name v, while the other vregs keep their homes. So room is reserved
  // for these temporaries now.
  void make_room_for_temporaries(VRegId v) {
    const Geometry geometry = placement_.shape(v);
    for (const TemporaryLists::At& at : (*options_.temporaries)[v]) {
      if (at.may_vanish) continue;
      const std::uint32_t k = at.number;
      const Interval range[] = {
          {at.while_reading ? read_point(k) : write_point(k), (at.after ? write_point(k) : read_point(k)).next()}};
      placement_.weigh({});
      if (const int unit = placement_.select(geometry, placement_.taken_during(range)); unit >= 0) {
        placement_.reserve(range, unit, geometry);
      } else if (const Room room = find_room(range, geometry); room.unit >= 0 && ir::may(round_.fuel, "evict")) {
        placement_.take_off_leaving();
        placement_.reserve(range, room.unit, geometry);
        placement_.resettle_leaving(v);
      }
    }
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const AttemptOptions& options_;
  Placement placement_;
  std::vector<char> is_class_tried_;  // by coalesced class
};

}  // namespace

Attempt assign(const FileAllocator& allocator, const AttemptOptions& options) { return AttemptRun(allocator, options).run(); }

}  // namespace regduel::allocator
