// See instruction_walk.h.

#include "allocator/classic/instruction_walk.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "allocator/assign/bank_moves.h"
#include "allocator/assign/banks.h"
#include "allocator/assign/placement.h"
#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

// The flags of a level.
struct Flags {
  bool by_unit = false;  // must-not-spill: only units that operands of this instruction hold at this moment
  bool fallback_first = false;
};
constexpr Flags kLevels[] = {{}, {.by_unit = true}, {.by_unit = true, .fallback_first = true}};
constexpr int kNumLevels = 3;

// By vreg: all its defs are loads; all its reads are stores.
class MemoryFacing {
 public:
  MemoryFacing(const Function& f, const Liveness& live) : otherwise_(f.vregs.size(), 0) {
    for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
      const Inst& inst = f.insts[live.inst_at(n)];
      const bool reads = inst.has(ir::kMemRead), writes = inst.has(ir::kMemWrite);
      const bool is_load = inst.op == Op::Refill || (inst.op == Op::Named && reads && !writes);
      const bool is_store = inst.op == Op::Spill || (inst.op == Op::Named && writes && !reads);
      for (const Operand& op : f.operands_of(inst)) {
        if (!op.is_vreg()) continue;
        if (op.writes() && !is_load) otherwise_[op.vreg().index()] |= kComputed;
        if (op.reads() && !is_store) otherwise_[op.vreg().index()] |= kConsumed;
      }
    }
  }
  [[nodiscard]] bool of(VRegId v) const { return otherwise_[v.index()] != (kComputed | kConsumed); }

 private:
  static constexpr char kComputed = 1, kConsumed = 2;
  std::vector<char> otherwise_;
};

}  // namespace

// Tables that all levels share.
class WalkTables {
 public:
  WalkTables(const FileAllocator& allocator, std::span<const VRegId> absent, std::span<const Location> spilled_to)
      : round(allocator.round()), if_spilled(spilled_to), present(allocator.vregs_without(absent)) {
    // By start; of those that begin at one moment, the one with the least choice comes first.
    struct Newcomer {
      std::tuple<Point, bool, int, int, int> rank;
      VRegId vreg;
      bool operator<(const Newcomer& o) const { return std::tie(rank, vreg) < std::tie(o.rank, o.vreg); }
    };
    std::vector<Newcomer> order;
    order.reserve(present.size());
    for (const VRegId v : present) {
      const ir::VReg& vreg = round.lowered.f.vreg(v);
      const auto range = round.live.range(v.index());
      order.push_back({{range[0].begin, round.spill_cost[v.index()] < kUnspillable, units_left(allocator, range), -vreg.alignment(),
                        -vreg.units()},
                       v});
    }
    std::sort(order.begin(), order.end());
    newcomers.reserve(order.size());
    for (const Newcomer& n : order) newcomers.push_back(n.vreg);
  }

  [[nodiscard]] bool is_memory_facing(VRegId v) {
    if (!facing_) facing_.emplace(round.lowered.f, round.live);
    return facing_->of(v);
  }
  // Calls before an instruction in the order of numbers.
  [[nodiscard]] int epoch_at(std::uint32_t n) {
    if (!calls_) calls_ = all_calls();
    return static_cast<int>(std::lower_bound(calls_->begin(), calls_->end(), n) - calls_->begin());
  }

  const Round& round;
  std::span<const Location> if_spilled;
  std::vector<VRegId> present, newcomers;

 private:
  // Units that clobbers leave to a range; kMaxUnits where the program has none.
  static int units_left(const FileAllocator& allocator, std::span<const Interval> range) {
    if (!allocator.base().has_clobbers()) return ir::kMaxUnits;
    return ir::kMaxUnits - (allocator.base().clobbers(range) | allocator.not_allocatable()).count();
  }
  [[nodiscard]] std::vector<std::uint32_t> all_calls() const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t n = 0; n < round.live.num_numbered(); ++n)
      if (round.lowered.f.insts[round.live.inst_at(n)].op == Op::Call) list.push_back(n);
    return list;
  }

  std::optional<MemoryFacing> facing_;
  std::optional<std::vector<std::uint32_t>> calls_;
};

// One level.
class InstructionWalk {
 public:
  InstructionWalk(const FileAllocator& a, const AttemptOptions& options, WalkTables& tables, int level)
      : a_(a), round_(a.round()), f_(a.round().lowered.f), tables_(tables), level_(kLevels[level]),
        placement_(a, options, {.array_width = std::max(a.limit(), 1)}) {
    facts_.level = level;
  }

  // Recursive: level after level, as long as an instruction has to be pinned.
  static Attempt best_of_levels(const FileAllocator& a, const AttemptOptions& options, WalkTables& tables, int level,
                                WalkFacts& facts) {
    InstructionWalk walk(a, options, tables, level);
    Attempt result = walk.run();
    facts = walk.facts_;
    facts.runs = 1;
    if (result.to_pin.empty() || level + 1 == kNumLevels || !ir::may(a.round().fuel, "walk-again")) return result;
    WalkFacts its;
    Attempt again = best_of_levels(a, options, tables, level + 1, its);
    const int runs = facts.runs + its.runs;
    if (is_cheaper(again, result)) {
      result = std::move(again);
      facts = its;
    }
    facts.runs = runs;
    return result;
  }

 private:
  Attempt run() {
    placement_.place_precoloured(tables_.present);
    placement_.keep_homes(tables_.newcomers);
    for (const VRegId v : tables_.newcomers) {
      now_ = placement_.range(v)[0].begin;
      if (!placement_.is_fixed(v) && placement_.home(v) < 0 && !placement_.is_lost(v)) place(v);
    }
    if (const BankPairs* const banks = placement_.banks(); banks != nullptr) {
      facts_.banks_moved = move_apart(a_, placement_);
      facts_.bank_conflicts = banks->count(placement_.homes());
    }
    for (const VRegId v : placement_.to_spill()) facts_.remat_victims += is_remat(v) ? 1 : 0;
    facts_.epochs = tables_.epoch_at(round_.live.num_numbered());
    return placement_.conclude();
  }

  [[nodiscard]] bool is_remat(VRegId v) const {
    return v.index() < tables_.if_spilled.size() && tables_.if_spilled[v.index()].is_recomputed();
  }
  [[nodiscard]] bool is_live_now(VRegId v) const { return contains(placement_.range(v), now_); }
  [[nodiscard]] UnitSet units_of(VRegId v) const {
    const int home = placement_.home(v);
    return UnitSet::range(home, home + f_.vreg(v).units());
  }

  // --- the masks
  // Units of the operands of this instruction that have a home; on levels by unit, only of operands at this moment. A vreg that is
  // read here and lives on could be in memory by the time defs are written.
  [[nodiscard]] UnitSet used() const {
    UnitSet set;
    const auto ops = f_.operands_of(f_.insts[round_.live.inst_at(now_.inst())]);
    const bool is_guarded = ir::is_guarded(ops);
    for (const Operand& op : ops) {
      if (!op.is_vreg() || f_.vreg(op.vreg()).file() != a_.file() || placement_.home(op.vreg()) < 0) continue;
      const bool at_reads = !op.writes() || op.reads() || is_guarded || op.is_early_clobber() || !op.part.is_whole();
      if (level_.by_unit && !(now_ == read_point(now_.inst()) ? at_reads : op.writes())) continue;
      set |= units_of(op.vreg());
    }
    return set;
  }
  // Units that vregs which cannot be spilled hold now. After look_around() of a range that begins now.
  [[nodiscard]] UnitSet unspillable() const {
    UnitSet set;
    for (const VRegId v : placement_.around())
      if (!placement_.is_spillable(v) && is_live_now(v)) set |= units_of(v);
    return set;
  }

  void place(VRegId v) {
    const Geometry geometry = placement_.shape(v);
    std::span<const Interval> range = placement_.range(v);
    if (REGDUEL_PLANTED("classic-walk-looks-no-further-than-a-hole")) range = range.first(1);
    placement_.weigh({&v, 1});
    const UnitSet taken = placement_.taken_during(range);
    const int unit = placement_.select(geometry, taken);
    if (unit < 0) return make_room(v, geometry, taken);
    placement_.show(StepKind::Alone, v, unit);
    placement_.settle({&v, 1}, unit);
  }

  // --- candidates
  // True if a leaves rather than b, at these costs.
  bool goes_before(VRegId a, std::int64_t cost_a, VRegId b, std::int64_t cost_b) {
    const std::int64_t by_unit_a = cost_a * f_.vreg(b).units(), by_unit_b = cost_b * f_.vreg(a).units();
    if (by_unit_a != by_unit_b) return by_unit_a < by_unit_b;
    if (is_remat(a) != is_remat(b)) return is_remat(a);
    const auto range_a = placement_.range(a), range_b = placement_.range(b);
    if (range_a.back().end != range_b.back().end) return range_a.back().end > range_b.back().end;
    if (const bool facing = tables_.is_memory_facing(a); facing != tables_.is_memory_facing(b)) return facing;
    const int epoch_a = tables_.epoch_at(range_a[0].begin.inst()), epoch_b = tables_.epoch_at(range_b[0].begin.inst());
    if (epoch_a != epoch_b) return epoch_a < epoch_b;
    return a < b;
  }

  struct WayOut {
    int unit = -1;
    std::int64_t cost = kUnspillable;
    VRegId vreg;
    [[nodiscard]] bool is_valid() const { return unit >= 0; }
  };

  void make_room(VRegId v, const Geometry& geometry, const UnitSet& taken) {
    UnitSet bound = placement_.look_around(placement_.range(v));
    UnitSet spared = used();
    if (!level_.by_unit) {
      const UnitSet held = unspillable();
      bound |= held;
      spared |= held;
    }
    const auto may_leave = [&](VRegId other, std::int64_t its_cost) {
      return its_cost == 0 || !is_live_now(other) || (units_of(other) & spared).none();
    };
    WayOut first, fallback;
    for (int unit = 0; unit + geometry.units <= a_.limit(); unit += geometry.step()) {
      if (bound.has_any(unit, unit + geometry.units)) continue;
      const std::int64_t sum =
          placement_.leaving_cost(unit, geometry, taken, [&](VRegId other, std::int64_t its_cost, std::int64_t so_far) {
            return may_leave(other, its_cost) && (placement_.leaving().size() == 1 || so_far <= fallback.cost);
          });
      if (sum >= kUnspillable) continue;
      const std::span<const VRegId> leaving = placement_.leaving();
      if (leaving.size() == 1 && is_live_now(leaving[0]) &&
          (!first.is_valid() || (leaving[0] != first.vreg && goes_before(leaving[0], sum, first.vreg, first.cost))))
        first = {unit, sum, leaving[0]};
      if (sum < fallback.cost) fallback = {unit, sum, {}};
    }
    const bool is_fallback = fallback.is_valid() && (!first.is_valid() || level_.fallback_first || fallback.cost < first.cost);
    const WayOut& best = is_fallback ? fallback : first;
    const std::int64_t own_cost = placement_.cost(v);
    if (placement_.is_spillable(v) &&
        (!best.is_valid() || (is_fallback ? own_cost <= best.cost : goes_before(v, own_cost, best.vreg, best.cost)))) {
      ++facts_.newcomers;
      placement_.show_room(StepKind::ToMemory, v, -1, best.cost);
      placement_.spill(v);
    } else if (!best.is_valid() || !ir::may(round_.fuel, "evict")) {
      placement_.show_room(StepKind::GivesUp, v, -1, best.cost);
      placement_.give_up(v);
    } else {
      ++(is_fallback ? facts_.fallback_candidates : facts_.first_candidates);
      placement_.list_leaving(best.unit, geometry, taken);
      placement_.show_room(StepKind::MakesRoom, v, best.unit, best.cost);
      placement_.take_off_leaving();
      placement_.put(v, best.unit);
      facts_.moved += placement_.resettle_leaving(v);
    }
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  WalkTables& tables_;
  const Flags level_;
  Placement placement_;
  Point now_;  // the moment, R or W, at which the range of the vreg at hand begins
  WalkFacts facts_;
};

bool is_cheaper(const Attempt& a, const Attempt& b) {
  const auto rank = [](const Attempt& attempt) { return std::tuple(!attempt.fits, attempt.to_pin.size(), attempt.spill_cost); };
  return rank(a) < rank(b);
}

Attempt walk_instructions(const FileAllocator& allocator, const AttemptOptions& options, std::span<const Location> if_spilled,
                          WalkFacts* facts) {
  WalkTables tables(allocator, options.absent, if_spilled);
  WalkFacts counted;
  Attempt result = InstructionWalk::best_of_levels(allocator, options, tables, 0, counted);
  if (facts != nullptr) *facts = counted;
  return result;
}

}  // namespace regduel::allocator
