// See instruction_walk.h.

#include "allocator/assign/instruction_walk.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>

#include "allocator/assign/banks.h"
#include "allocator/assign/neighbours.h"
#include "allocator/explain/observer.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

namespace {

// The rows of an interval: row 2i is the R moment of instruction i, 2i + 1 its W moment.
std::uint32_t first_row(const Interval& i) { return (i.begin + 1) / 2; }
std::uint32_t end_row(const Interval& i) { return (i.end + 1) / 2; }

// What the levels of the fallback change.
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
        if (op.writes() && !is_load) otherwise_[op.value] |= kComputed;
        if (op.reads() && !is_store) otherwise_[op.value] |= kConsumed;
      }
    }
  }
  [[nodiscard]] bool of(VRegId v) const { return otherwise_[v.index()] != (kComputed | kConsumed); }

 private:
  static constexpr char kComputed = 1, kConsumed = 2;
  std::vector<char> otherwise_;
};

}  // namespace

// What all levels share.
class WalkTables {
 public:
  struct Event {
    std::uint32_t row;
    VRegId vreg;
  };

  WalkTables(const FileAllocator& allocator, const WalkOptions& options) : round(allocator.round()) {
    const Round& r = round;
    const std::span<const VRegId> vregs = allocator.vregs();
    present.reserve(vregs.size());
    auto absent = options.absent.begin();
    for (const VRegId v : vregs) {
      while (absent != options.absent.end() && *absent < v) ++absent;
      if (absent == options.absent.end() || *absent != v) present.push_back(v);
    }
    for (const VRegId v : present)
      for (const Interval& i : r.live.range(v.index())) {
        if (first_row(i) == end_row(i)) continue;
        begins.push_back({first_row(i), v});
        ends.push_back({end_row(i), v});
      }
    const auto by_row = [](const Event& a, const Event& b) { return a.row < b.row; };
    std::stable_sort(begins.begin(), begins.end(), by_row);
    std::stable_sort(ends.begin(), ends.end(), by_row);
    // Among those that begin at one moment, who has least choice is first.
    struct Newcomer {
      std::tuple<std::uint32_t, bool, int, int, int> rank;
      VRegId vreg;
      bool operator<(const Newcomer& o) const { return std::tie(rank, vreg) < std::tie(o.rank, o.vreg); }
    };
    std::vector<Newcomer> order;
    order.reserve(present.size());
    for (const VRegId v : present) {
      const ir::VReg& vreg = r.lowered.f.vreg(v);
      const auto range = r.live.range(v.index());
      order.push_back({{first_row(range[0]), r.spill_cost[v.index()] < kUnspillable, choice(allocator, range), -vreg.alignment(),
                        -vreg.units()},
                       v});
    }
    std::sort(order.begin(), order.end());
    newcomers.reserve(order.size());
    for (const Newcomer& n : order) newcomers.push_back(n.vreg);
    if (options.bank_aware && allocator.file() == RegFile::R && r.target.register_banks > 1)
      banks.emplace(r.lowered.f, r.live, r.target.register_banks);
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
  std::vector<VRegId> present, newcomers;
  std::vector<Event> begins, ends;
  std::optional<BankPairs> banks;

 private:
  // Units that clobbers leave to a range.
  static int choice(const FileAllocator& allocator, std::span<const Interval> range) {
    if (!allocator.base().has_clobbers()) return ir::kMaxUnits;
    UnitSet taken = allocator.base().clobbers(range);
    taken |= allocator.not_allocatable();
    int left = 0;
    for (const std::uint64_t word : taken.words) left += std::popcount(~word);
    return left;
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

// The state of one level.
class InstructionWalk {
 public:
  InstructionWalk(const FileAllocator& a, const WalkOptions& options, WalkTables& tables, int level)
      : a_(a), round_(a.round()), f_(a.round().lowered.f), options_(options), tables_(tables), level_(kLevels[level]),
        width_(std::max(a.limit(), 1)), occupancy_(a.base()), neighbours_(f_, round_.live, width_) {
    result_.home.assign(f_.vregs.size(), -1);
    facts_.level = level;
    gone_.assign(f_.vregs.size(), 0);
    moved_at_.assign(f_.vregs.size(), 0);
    move_cost_.assign(f_.vregs.size(), 0);
  }

  // Recursive: level after level, as long as something has to be pinned.
  static Attempt best_of_levels(const FileAllocator& a, const WalkOptions& options, WalkTables& tables, int level,
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
    for (const bool is_bound : {true, false})
      for (const VRegId v : tables_.present)
        if (f_.vreg(v).fixed.is_valid() && (cost(v) >= kUnspillable) == is_bound) place_fixed(v);
    for (const VRegId v : tables_.newcomers)
      if (v.index() < options_.kept.size() && options_.kept[v.index()] >= 0 && !f_.vreg(v).fixed.is_valid() &&
          ir::may(round_.fuel, "keep-home"))
        place_again(v);
    // Each moment: ranges end, ranges begin, newcomers are placed.
    auto begin = tables_.begins.begin(), end = tables_.ends.begin();
    auto newcomer = tables_.newcomers.begin();
    while (begin != tables_.begins.end()) {
      now_ = begin->row;
      for (; end != tables_.ends.end() && end->row <= now_; ++end) leave(end->vreg);
      for (; begin != tables_.begins.end() && begin->row == now_; ++begin) enter(begin->vreg);
      facts_.peak_pressure = std::max(facts_.peak_pressure, pressure_);
      for (; newcomer != tables_.newcomers.end() && first_row(range(*newcomer)[0]) <= now_; ++newcomer)
        if (!f_.vreg(*newcomer).fixed.is_valid() && result_.home[newcomer->index()] < 0 && gone_[newcomer->index()] == 0)
          place(*newcomer);
    }
    if (tables_.banks) move_apart();
    facts_.epochs = tables_.epoch_at(round_.live.num_numbered());
    a_.conclude(result_, over_limit_);
    return std::move(result_);
  }

  [[nodiscard]] std::int64_t cost(VRegId v) const { return round_.spill_cost[v.index()]; }
  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return round_.live.range(v.index()); }
  [[nodiscard]] Geometry shape(VRegId v) const { return geometry_of(f_.vreg(v), round_.target.predicate_halves); }
  [[nodiscard]] std::uint32_t instruction() const { return now_ / 2; }
  [[nodiscard]] bool is_remat(VRegId v) const {
    return v.index() < options_.if_spilled.size() && options_.if_spilled[v.index()].is_recomputed();
  }
  [[nodiscard]] bool is_live_now(VRegId v) const {
    const auto r = range(v);
    const auto i =
        std::upper_bound(r.begin(), r.end(), now_, [](std::uint32_t row, const Interval& x) { return row < end_row(x); });
    return i != r.end() && first_row(*i) <= now_;
  }

  // --- the masks
  static void clear_range(UnitSet& set, int lo, int hi) {
    for (int u = lo; u < hi; ++u) set.words[u / 64] &= ~(std::uint64_t{1} << (u % 64));
  }
  void hold(VRegId v) {
    const int home = result_.home[v.index()], end = home + f_.vreg(v).units();
    assigned_.set_range(home, end);
    if (cost(v) >= kUnspillable) unspillable_.set_range(home, end);
  }
  void release(VRegId v) {
    const int home = result_.home[v.index()], end = home + f_.vreg(v).units();
    clear_range(assigned_, home, end);
    clear_range(unspillable_, home, end);
  }
  void enter(VRegId v) {
    pressure_ += f_.vreg(v).units();
    if (result_.home[v.index()] >= 0) hold(v);
  }
  void leave(VRegId v) {
    pressure_ -= f_.vreg(v).units();
    if (result_.home[v.index()] >= 0) release(v);
  }
  // Units of the operands that are in their places: at this moment only, where it goes by unit. Whoever is read here and lives on
  // could be in memory by the time defs are written.
  [[nodiscard]] UnitSet used() const {
    UnitSet set;
    const auto ops = f_.operands_of(f_.insts[round_.live.inst_at(instruction())]);
    const bool is_guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
    for (const Operand& op : ops) {
      if (!op.is_vreg() || f_.vreg(op.vreg()).file() != a_.file() || result_.home[op.value] < 0) continue;
      const bool at_reads = !op.writes() || op.reads() || is_guarded || op.is_early_clobber() || !op.part.is_whole();
      if (level_.by_unit && !(now_ % 2 == 0 ? at_reads : op.writes())) continue;
      set.set_range(result_.home[op.value], result_.home[op.value] + f_.vreg(op.vreg()).units());
    }
    return set;
  }
  [[nodiscard]] UnitSet must_not_spill() const {
    UnitSet set = used();
    if (!level_.by_unit) set |= unspillable_;
    return set;
  }

  // --- homes
  void commit(VRegId v, int slot) {
    const int end = slot + f_.vreg(v).units();
    result_.home[v.index()] = slot;
    occupancy_.mark(range(v), slot, end);
    used_ever_.set_range(slot, end);
    highest_ = std::max(highest_, end);
    neighbours_.add(v);
    if (is_live_now(v)) hold(v);
  }
  void take_out(VRegId v) {
    const int home = result_.home[v.index()];
    if (is_live_now(v)) release(v);
    occupancy_.unmark(range(v), home, home + f_.vreg(v).units());
    neighbours_.remove(v);
    result_.home[v.index()] = -1;
  }
  void place_fixed(VRegId v) {
    const PReg r = f_.vreg(v).fixed;
    const bool is_free =
        !occupancy_.conflicts(range(v)).has_any(r.begin(), r.end()) && !a_.not_allocatable().has_any(r.begin(), r.end());
    if (options_.observer != nullptr) show(StepKind::Precoloured, v, is_free ? r.begin() : -1);
    if (is_free) commit(v, r.begin());
    else give_up(v);
  }
  void place_again(VRegId v) {
    const int home = options_.kept[v.index()];
    const bool is_free = !occupancy_.conflicts(range(v)).has_any(home, home + f_.vreg(v).units()) ||
                         REGDUEL_PLANTED("fatpoint-walk-kept-home-unchecked");
    if (options_.observer != nullptr) show(StepKind::KeepsHome, v, is_free ? home : -1);
    if (is_free) commit(v, home);
  }

  // Fills the arrays. What a neighbour without a home would like best (type 0) does not count: whoever comes later comes later.
  void weigh(VRegId v, const Geometry& geometry) {
    arrays_.reset();
    const auto all = round_.constraints.of(v);
    std::int64_t nth = 0;
    const auto is_soft = [](const Constraint& c) { return c.type != ConstraintType::Range && c.is_soft; };
    const std::int64_t soft = options_.relaxation.iteration == 0 ? 0 : std::count_if(all.begin(), all.end(), is_soft);
    for (const Constraint& c : all) {
      if (is_soft(c) && options_.relaxation.leaves_out(++nth, soft)) continue;
      if (const auto target = target_of(c)) arrays_.add(c, *target, width_, geometry, round_.target);
    }
  }
  // The unit that a constraint is about; nullopt where it does not count (yet).
  [[nodiscard]] std::optional<int> target_of(const Constraint& c) const {
    if (!c.partner.is_valid()) return c.unit;
    const PReg fixed = f_.vreg(c.partner).fixed;
    const int home = fixed.is_valid() ? fixed.begin() : result_.home[c.partner.index()];
    if (home < 0 || c.type == ConstraintType::PointInterference) return std::nullopt;
    return home + c.unit;
  }
  // The slot with the least weight among those that `taken` leaves, none of which ends above the ceiling; -1 where there is none.
  // Callee-saved registers that would have to be saved first come last.
  [[nodiscard]] int select(const Geometry& geometry, const UnitSet& taken, int ceiling) const {
    UnitSet unsaved = taken;
    for (std::size_t w = 0; w < std::size(unsaved.words); ++w)
      unsaved.words[w] |= a_.callee_saved().words[w] & ~used_ever_.words[w];
    for (const UnitSet* set : {static_cast<const UnitSet*>(&unsaved), &taken})
      if (const int slot = select_simple({arrays_, *set, geometry, ceiling, false, options_.threshold}); slot >= 0) return slot;
    return -1;
  }
  // Units that are taken at some moment of a range.
  [[nodiscard]] UnitSet taken_during(std::span<const Interval> live) const {
    UnitSet taken = occupancy_.conflicts(live);
    taken |= a_.not_allocatable();
    return taken;
  }
  [[nodiscard]] int select_for(VRegId v) {
    const Geometry geometry = shape(v);
    weigh(v, geometry);
    return select(geometry, taken_during(range(v)), a_.limit());
  }

  void place(VRegId v) {
    const Geometry geometry = shape(v);
    weigh(v, geometry);
    const std::span<const Interval> live =
        REGDUEL_PLANTED("fatpoint-walk-looks-no-further-than-a-hole") ? range(v).first(1) : range(v);
    const UnitSet taken = taken_during(live);
    int slot = select(geometry, taken, a_.limit());
    if (slot >= 0 && tables_.banks) slot = other_bank(v, geometry, taken, slot);
    if (options_.observer != nullptr && slot >= 0) show(StepKind::Alone, v, slot);
    if (slot >= 0) {
      result_.pressure += arrays_.primary(slot);
      commit(v, slot);
    } else {
      make_room(v, geometry, taken);
    }
  }

  // --- banks
  [[nodiscard]] int other_bank(VRegId v, const Geometry& geometry, const UnitSet& taken, int slot) {
    const std::uint64_t banks = tables_.banks->taken_banks(v, result_.home);
    const auto bank = [&](int unit) { return unit % tables_.banks->banks(); };
    if ((banks >> bank(slot) & 1) == 0) return slot;
    UnitSet avoided = taken;
    for (int u = 0; u < highest_; u += geometry.step())
      if ((banks >> bank(u) & 1) != 0) avoided.set(u);
    const int other = select(geometry, avoided, std::min(highest_, a_.limit()));
    if (other < 0) return slot;
    ++facts_.banks_avoided;
    return other;
  }
  // A vreg with conflicts moves where it has fewer.
  void move_apart() {
    for (const VRegId v : tables_.present) {
      const int home = result_.home[v.index()];
      if (home < 0 || f_.vreg(v).fixed.is_valid()) continue;
      int least = tables_.banks->conflicts(v, home, result_.home);
      if (least == 0) continue;
      const Geometry geometry = shape(v);
      take_out(v);
      const UnitSet taken = taken_during(range(v));
      int best = home;
      for (int slot = 0; slot + geometry.units <= highest_ && least > 0; slot += geometry.step()) {
        if (taken.has_any(slot, slot + geometry.units)) continue;
        if (a_.callee_saved().has_any(slot, slot + geometry.units) && !is_used_ever(slot, geometry.units)) continue;
        const int conflicts = tables_.banks->conflicts(v, slot, result_.home);
        if (conflicts >= least) continue;
        least = conflicts;
        best = slot;
      }
      if (options_.observer != nullptr && best != home) show(StepKind::MovesApart, v, best);
      commit(v, best);
      if (best != home) ++facts_.banks_moved;
    }
    facts_.bank_conflicts = tables_.banks->count(result_.home);
  }
  [[nodiscard]] bool is_used_ever(int slot, int units) const {
    for (int u = slot; u < slot + units; ++u)
      if (!used_ever_.has(u)) return false;
    return true;
  }

  // --- candidates
  // What it costs to take a vreg out of its place: nothing where there is another.
  std::int64_t cost_to_move(VRegId v) {
    if (f_.vreg(v).fixed.is_valid()) return cost(v);
    if (moved_at_[v.index()] != move_epoch_) {
      moved_at_[v.index()] = move_epoch_;
      move_cost_[v.index()] = select_for(v) >= 0 ? 0 : cost(v);
    }
    return move_cost_[v.index()];
  }
  // All that stand in [slot, slot + units), and what it costs that they go: kUnspillable where one of them may not, or where that
  // is more than `enough`.
  std::int64_t blockers(int slot, const Geometry& geometry, const UnitSet& taken, const UnitSet& spared, std::int64_t enough,
                        std::vector<VRegId>& list) {
    list.clear();
    neighbours_.begin_list();
    std::int64_t sum = 0;
    for (int u = slot; u < slot + geometry.units; ++u) {
      if (!taken.has(u)) continue;
      for (const VRegId other : neighbours_.at(u)) {
        if (!neighbours_.is_new(other)) continue;
        list.push_back(other);
        const std::int64_t its_cost = cost_to_move(other);
        if (its_cost >= kUnspillable || (its_cost > 0 && is_spared(other, spared))) return kUnspillable;
        sum += its_cost;
        if (list.size() > 1 && sum > enough) return kUnspillable;
      }
    }
    return list.empty() ? kUnspillable : sum;
  }
  [[nodiscard]] bool is_spared(VRegId v, const UnitSet& spared) const {
    const int home = result_.home[v.index()];
    return spared.has_any(home, home + f_.vreg(v).units()) && is_live_now(v);
  }
  // Whether a goes rather than b, at these costs.
  bool goes_before(VRegId a, std::int64_t cost_a, VRegId b, std::int64_t cost_b) {
    const std::int64_t by_unit_a = cost_a * f_.vreg(b).units(), by_unit_b = cost_b * f_.vreg(a).units();
    if (by_unit_a != by_unit_b) return by_unit_a < by_unit_b;
    if (is_remat(a) != is_remat(b)) return is_remat(a);
    const Point end_a = range(a).back().end, end_b = range(b).back().end;
    if (end_a != end_b) return end_a > end_b;
    if (const bool facing = tables_.is_memory_facing(a); facing != tables_.is_memory_facing(b)) return facing;
    const int epoch_a = tables_.epoch_at(range(a)[0].begin / 4), epoch_b = tables_.epoch_at(range(b)[0].begin / 4);
    if (epoch_a != epoch_b) return epoch_a < epoch_b;
    return a < b;
  }

  struct Candidate {
    int slot = -1;
    std::int64_t cost = kUnspillable;
    VRegId vreg;
    [[nodiscard]] bool is_valid() const { return slot >= 0; }
  };

  void make_room(VRegId v, const Geometry& geometry, const UnitSet& taken) {
    ++move_epoch_;
    neighbours_.find(range(v), result_.home);
    // What belongs to nobody gives way to nobody.
    UnitSet bound = a_.base().has_blocked_reads()                            ? a_.base().conflicts(range(v))
                    : REGDUEL_PLANTED("fatpoint-walk-evicts-into-a-clobber") ? UnitSet()
                                                                             : occupancy_.clobbers(range(v));
    bound |= a_.not_allocatable();
    const UnitSet spared = must_not_spill();
    Candidate first, fallback;
    for (int slot = 0; slot + geometry.units <= a_.limit(); slot += geometry.step()) {
      if (bound.has_any(slot, slot + geometry.units)) continue;
      if (!level_.by_unit && unspillable_.has_any(slot, slot + geometry.units)) continue;
      const std::int64_t sum = blockers(slot, geometry, taken, spared, fallback.cost, blocked_);
      if (sum >= kUnspillable) continue;
      if (blocked_.size() == 1 && is_candidate_now(blocked_[0]) &&
          (!first.is_valid() || (blocked_[0] != first.vreg && goes_before(blocked_[0], sum, first.vreg, first.cost))))
        first = {slot, sum, blocked_[0]};
      if (sum < fallback.cost) fallback = {slot, sum, {}};
    }
    const bool is_fallback = fallback.is_valid() && (!first.is_valid() || level_.fallback_first || fallback.cost < first.cost);
    const Candidate& candidate = is_fallback ? fallback : first;
    if (cost(v) < kUnspillable &&
        (!candidate.is_valid() ||
         (is_fallback ? cost(v) <= candidate.cost : goes_before(v, cost(v), candidate.vreg, candidate.cost)))) {
      ++facts_.newcomers;
      if (options_.observer != nullptr) show_room(StepKind::ToMemory, v, -1, candidate.cost);
      send_to_memory(v);
    } else if (!candidate.is_valid() || !ir::may(round_.fuel, "evict")) {
      if (options_.observer != nullptr) show_room(StepKind::GivesUp, v, -1, candidate.cost);
      give_up(v);
    } else {
      ++(is_fallback ? facts_.fallback_candidates : facts_.first_candidates);
      static_cast<void>(blockers(candidate.slot, geometry, taken, spared, kUnspillable, blocked_));
      if (options_.observer != nullptr) show_room(StepKind::MakesRoom, v, candidate.slot, candidate.cost);
      displace(v, candidate.slot);
    }
  }
  // Live now, in a unit that is assigned.
  [[nodiscard]] bool is_candidate_now(VRegId v) const {
    const int home = result_.home[v.index()];
    return assigned_.has_any(home, home + f_.vreg(v).units()) && is_live_now(v);
  }
  // blocked_ make room for v, and look for another place.
  void displace(VRegId v, int slot) {
    left_.clear();
    for (const VRegId other : blocked_) {
      left_.push_back(result_.home[other.index()]);
      take_out(other);
    }
    commit(v, slot);
    for (std::size_t k = 0; k < blocked_.size(); ++k) {
      const VRegId other = blocked_[k];
      if (REGDUEL_PLANTED("fatpoint-walk-second-victim-forgotten") && k > 0) {
        result_.home[other.index()] = left_[k];
        continue;
      }
      const int elsewhere = f_.vreg(other).fixed.is_valid() ? -1 : select_for(other);
      if (options_.observer != nullptr)
        if (Step* s = show(StepKind::Displaced, other, elsewhere); s != nullptr) {
          s->by = options_.observer->vreg_name(v);
          if (cost(other) < kUnspillable) s->own_cost = cost(other);
        }
      if (elsewhere >= 0) {
        commit(other, REGDUEL_PLANTED("fatpoint-walk-moves-back") ? left_[k] : elsewhere);
        ++facts_.moved;
      } else if (cost(other) < kUnspillable) {
        send_to_memory(other);
      } else {
        give_up(other);
      }
    }
  }
  // --- for regduel explain: what is about to happen to one vreg
  Step* show(StepKind kind, VRegId v, int slot) {
    if (v != options_.observer->vreg()) return nullptr;
    const Geometry geometry = shape(v);
    weigh(v, geometry);
    Step& s = options_.observer->step(kind,
                                      {.allocator = a_,
                                       .occupancy = occupancy_,
                                       .arrays = arrays_,
                                       .home = result_.home,
                                       .members = {&v, 1},
                                       .range = range(v),
                                       .geometry = geometry,
                                       .used = used_ever_,
                                       .ceiling = a_.limit(),
                                       .simple = true,
                                       .threshold = options_.threshold,
                                       .relaxation = {options_.relaxation.iteration, options_.relaxation.each,
                                                      options_.relaxation.ceiling_step, options_.relaxation.bank_aware},
                                       .primary_at = [&](int unit) { return unit < width_ ? arrays_.primary(unit) : 0; },
                                       .target_of = [&](const Constraint& c) { return target_of(c); }},
                                      -1, slot);
    s.level = facts_.level;
    return &s;
  }
  void show_room(StepKind kind, VRegId v, int slot, std::int64_t room_cost) {
    Step* s = show(kind, v, slot);
    if (s == nullptr) return;
    if (cost(v) < kUnspillable) s->own_cost = cost(v);
    if (room_cost < kUnspillable) s->room_cost = room_cost;
    if (slot >= 0)
      for (const VRegId other : blocked_) s->leave.push_back(options_.observer->vreg_name(other));
  }

  void send_to_memory(VRegId v) {
    result_.to_spill.push_back(v);
    gone_[v.index()] = 1;
    if (is_remat(v)) ++facts_.remat_victims;
  }
  // A vreg that must have a register and has none.
  void give_up(VRegId v) {
    over_limit_ = true;
    gone_[v.index()] = 1;
    if (cost(v) < kUnspillable) result_.to_spill.push_back(v);
    else if (round_.lowered.temp_of[v.index()] != kNoInst) result_.to_pin.push_back(round_.lowered.temp_of[v.index()]);
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const WalkOptions& options_;
  WalkTables& tables_;
  const Flags level_;
  int width_;
  Occupancy occupancy_;
  Neighbours neighbours_;
  PressureArrays arrays_;
  std::uint32_t now_ = 0;           // the row at hand
  int pressure_ = 0;                // units live at it
  UnitSet assigned_, unspillable_;  // units held at it; by those that cannot be spilled
  UnitSet used_ever_;
  int highest_ = 0;  // unit in use so far + 1
  std::vector<VRegId> blocked_;
  std::vector<char> gone_;               // by vreg: it gets no home any more, even if it has not begun yet
  std::vector<int> left_;                // where blocked_ were
  std::vector<std::uint32_t> moved_at_;  // by vreg: in which search for room move_cost_ was found
  std::vector<std::int64_t> move_cost_;
  std::uint32_t move_epoch_ = 0;
  bool over_limit_ = false;
  WalkFacts facts_;
  Attempt result_;
};

bool is_cheaper(const Attempt& a, const Attempt& b) {
  const auto rank = [](const Attempt& attempt) { return std::tuple(!attempt.fits, attempt.to_pin.size(), attempt.spill_cost); };
  return rank(a) < rank(b);
}

Attempt walk_instructions(const Round& round, const FileAllocator& allocator, RegFile file, const WalkOptions& options) {
  REGDUEL_CHECK(&round == &allocator.round() && file == allocator.file(), "the allocator is of another round or file");
  WalkTables tables(allocator, options);
  WalkFacts facts;
  Attempt result = InstructionWalk::best_of_levels(allocator, options, tables, 0, facts);
  if (options.facts != nullptr) *options.facts = facts;
  return result;
}

}  // namespace regduel::allocator
