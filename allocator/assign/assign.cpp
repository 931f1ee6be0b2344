// See assign.h.

#include "allocator/assign/assign.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "allocator/assign/bank_moves.h"
#include "allocator/assign/candidates.h"
#include "allocator/assign/placement.h"
#include "allocator/assign/scan.h"
#include "allocator/explain/observer.h"
#include "base/planted.h"

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

RoundIndex::RoundIndex(const Function& f, const Liveness& live) {
  vregs.build(ir::kNumFiles, [&](auto add) {
    for (std::size_t v = 0; v < f.vregs.size(); ++v)
      if (!live.range(v).empty()) add(ir::index(f.vregs[v].file()), VRegId(v));
  });
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    const auto ops = f.operands_of(inst);
    if (inst.op == Op::Ret || (!ops.empty() && ops.back().role == Role::Clobber)) bound.push_back(n);
  }
  // By row: how many more units live from there on, and in one bit whether it is so. All zero again after each file.
  std::vector<std::int32_t> rows(2 * static_cast<std::size_t>(live.num_numbered()) + 1, 0);
  std::vector<std::uint64_t> changes(rows.size() / 64 + 1, 0);
  const auto change = [&](std::uint32_t row, std::int32_t units) {
    rows[row] += units;
    changes[row / 64] |= std::uint64_t{1} << (row % 64);
  };
  for (std::size_t file = 0; file < ir::kNumFiles; ++file) {
    for (const VRegId v : vregs[file])
      for (const Interval& i : live.range(v.index())) {
        change(first_row(i), f.vreg(v).units());
        change(end_row(i), -f.vreg(v).units());
      }
    if (vregs[file].empty()) continue;
    std::int32_t sum = 0;
    for (std::size_t w = 0; w < changes.size(); ++w)
      for (std::uint64_t rest = std::exchange(changes[w], 0); rest != 0; rest &= rest - 1) {
        const std::size_t row = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        max_live[file] = std::max(max_live[file], sum += std::exchange(rows[row], 0));
      }
  }
}

TemporaryLists::TemporaryLists(const Function& f, const Liveness& live) {
  at_.build(f.vregs.size(), [&](auto add) {
    std::vector<std::uint32_t> last(f.vregs.size(), Liveness::kUnnumbered);
    for (std::uint32_t k = 0; k < live.num_numbered(); ++k) {
      const Inst& inst = f.insts[live.inst_at(k)];
      if (inst.is_copy() || inst.op == Op::Refill || inst.op == Op::Spill) continue;
      const auto ops = f.operands_of(inst);
      const bool is_guarded = ir::is_guarded(ops);
      for (const ir::Operand& first : ops) {
        if (!first.is_vreg() || std::exchange(last[first.vreg().index()], k) == k) continue;
        At at{k, is_guarded, false, inst.has(ir::kRematerialisable)};
        for (const ir::Operand& op : ops) {
          if (!op.is_vreg() || op.vreg() != first.vreg()) continue;
          at.while_reading = at.while_reading || op.reads() || op.is_early_clobber() || !op.part.is_whole();
          at.after = at.after || op.writes();
        }
        add(first.vreg().index(), at);
      }
    }
  });
}

FileAllocator::FileAllocator(const Round& round, RegFile file)
    : round_(round), file_(file), vregs_(round.index.vregs[ir::index(file)]),
      classes_(round.lowered.f, round.live, round.constraints, round.has_chains ? vregs_ : std::span<const VRegId>(), round.fuel),
      limit_(round.budget.allocatable[ir::index(file)].end()), base_(round.live.num_numbered()),
      not_allocatable_(UnitSet::range(0, ir::kMaxUnits) - round.budget.allocatable[ir::index(file)]),
      callee_saved_(round.budget.callee_saved[ir::index(file)]), has_callee_saved_(callee_saved_.any()),
      first_unit_(std::min(round.budget.allocatable[ir::index(file)].first_or(limit_), limit_)) {
  if (REGDUEL_PLANTED("fatpoint-limit-off-by-one")) not_allocatable_.clear_range(limit_, limit_ + 1), ++limit_;
  block_fixed_moments();
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

void FileAllocator::block_fixed_moments() {
  const Function& f = round_.lowered.f;
  for (const std::uint32_t n : round_.index.bound) {
    const Inst& inst = f.insts[round_.live.inst_at(n)];
    UnitSet clobbered, restored;
    if (inst.op == Op::Ret) restored = callee_saved_;
    const auto ops = f.operands_of(inst);
    for (std::size_t k = ops.size(); k-- > 0 && ops[k].role == Role::Clobber;)
      if (ops[k].preg().file == file_) clobbered |= units_of(ops[k].preg());
    if (REGDUEL_PLANTED("fatpoint-clobber-missed")) clobbered = {};
    if (REGDUEL_PLANTED("fatpoint-ret-takes-callee-saved")) restored = {};
    if (clobbered.any()) base_.add_clobber(n, clobbered);
    if (inst.op == Op::Ret) base_.block_reads(n, restored);
  }
}

// A vreg with little choice comes first in every order. One that is left at least as many units as are ever live at once counts as
// having all the choice there is.
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

// One attempt: the vregs in an order, each to the fat point of what the others have left.
class AttemptRun {
 public:
  AttemptRun(const FileAllocator& a, const AttemptOptions& options)
      : a_(a), round_(a.round()), f_(a.round().lowered.f), options_(options),
        placement_(a, options, {.array_width = scan_width(a.limit())}), is_class_tried_(a.classes().all().size(), 0) {}

  Attempt run() {
    const std::vector<VRegId> order = sorted();
    placement_.place_precoloured(order);
    if (options_.coalesces)
      for (std::size_t c = 0; c < is_class_tried_.size(); ++c)
        if (a_.classes().all()[c].fixed.is_valid()) {
          join_precoloured(a_.classes().all()[c]);
          is_class_tried_[c] = 1;
        }
    placement_.keep_homes(order);
    for (const VRegId v : order) {
      if (placement_.is_fixed(v) || placement_.home(v) >= 0) continue;
      const std::uint32_t c = options_.coalesces ? a_.classes().of(v) : CoalescedClasses::kNone;
      if (c == CoalescedClasses::kNone || is_class_tried_[c] != 0 || !place_class(a_.classes().all()[c])) place(v);
      if (c != CoalescedClasses::kNone) is_class_tried_[c] = 1;
      if (is_hopeless()) return placement_.abandon();
    }
    if (options_.may_spill) placement_.bring_back();
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
      const bool is_bound_first = options_.order == Order::BoundFirst || options_.order == Order::DearestFirst;
      const std::uint64_t later = is_bound_first && placement_.is_spillable(v) ? 1 : 0;
      const bool is_dearest = options_.order == Order::DearestFirst && later != 0;
      const int shape = is_dearest ? dearness(v) : options_.order == Order::ByStart ? 0 : shape_of(v);
      Point when = placement_.range(v)[0].begin;
      if (options_.order == Order::LongestFirst) {
        when = ~Point{0};
        for (const Interval& i : placement_.range(v)) when -= i.end - i.begin;
      }
      const auto choice = static_cast<std::uint64_t>(a_.choice(v));
      keys.push_back({((later << 10 | choice) * kMaxShape + (kMaxShape - 1 - static_cast<std::uint64_t>(shape))) << 32 | when, v});
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t k = 0; k < keys.size(); ++k) order[k] = keys[k].second;
    return order;
  }
  // What it costs to spill v for each unit and moment, in steps of a sixteenth: below 2^10.
  [[nodiscard]] int dearness(VRegId v) const {
    std::uint64_t moments = 0;
    for (const Interval& i : placement_.range(v)) moments += i.end - i.begin;
    const std::uint64_t units = static_cast<std::uint64_t>(f_.vreg(v).units());
    const std::uint64_t each = (static_cast<std::uint64_t>(placement_.cost(v)) << 12) / (moments * units + 1);
    const int log2 = static_cast<int>(std::bit_width(each));
    return 16 * log2 + static_cast<int>((log2 > 4 ? each >> (log2 - 5) : each << (5 - log2)) & 15);
  }
  // Greater for what is wider and more aligned.
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

  bool place_class(const CoalescedClass& together) {
    Geometry geometry = placement_.shape(together.members[0]);
    geometry.align = 1 << together.align_log2;
    std::span<const Interval> range = together.range;
    if (REGDUEL_PLANTED("fatpoint-chain-placed-by-its-first-member")) range = placement_.range(together.members[0]);
    placement_.weigh(together.members, geometry);
    int unit = placement_.candidate(together.members, range, geometry);
    if (unit < 0) unit = placement_.select_counted(geometry, placement_.taken_during(range));
    placement_.show(StepKind::Class, together.members, together.range, geometry, unit);
    if (unit >= 0) placement_.settle(together.members, unit, geometry);
    return unit >= 0;
  }

  void place(VRegId v) {
    const Geometry geometry = placement_.shape(v);
    placement_.weigh({&v, 1}, geometry);
    int unit = placement_.candidate({&v, 1}, placement_.range(v), geometry);
    if (unit < 0) unit = placement_.select_counted(geometry, placement_.taken_during(placement_.range(v)));
    if (unit >= 0) {
      placement_.show(StepKind::Alone, v, unit);
      placement_.settle({&v, 1}, unit, geometry);
    } else if (options_.may_spill) {
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
    const int unit = select_fatpoint(
        {placement_.arrays(), forbidden, geometry, width, options_.first_pass, options_.threshold, a_.first_unit()});
    placement_.show(StepKind::AboveLimit, v, unit);
    if (unit >= 0) placement_.put(v, unit);
    else placement_.use(width - 1);
  }

  // Spills v, or empties a position for it, whichever costs less.
  void place_or_spill(VRegId v, const Geometry& geometry) {
    const Room room = options_.evicts ? find_room(placement_.range(v), geometry) : Room();
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
  // The position that costs least to empty during a range, the lowest among equals. What stands in it is placement_.leaving().
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

  // The next round will bring temporaries at the instructions that name v. They find the other vregs where they are now, so room is
  // reserved for them.
  void make_room_for_temporaries(VRegId v) {
    const Geometry geometry = placement_.shape(v);
    for (const TemporaryLists::At& at : (*options_.temporaries)[v]) {
      if (at.may_vanish) continue;
      const std::uint32_t k = at.number;
      const Interval range[] = {
          {at.while_reading ? read_point(k) : write_point(k), (at.after ? write_point(k) : read_point(k)) + 1}};
      placement_.weigh({}, geometry);
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

Attempt FileAllocator::run(const AttemptOptions& options) const { return AttemptRun(*this, options).run(); }

}  // namespace regduel::allocator
