// See assign.h.

#include "allocator/assign/assign.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "allocator/assign/candidates.h"
#include "allocator/assign/neighbours.h"
#include "allocator/assign/retry.h"
#include "allocator/explain/observer.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

RoundIndex::RoundIndex(const Function& f, const Liveness& live) {
  for (std::size_t v = 0; v < f.vregs.size(); ++v)
    if (!live.range(v).empty()) vregs[ir::index(f.vregs[v].file())].push_back(VRegId(v));
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    const auto ops = f.operands_of(inst);
    if (inst.op == Op::Ret || (!ops.empty() && ops.back().role == Role::Clobber)) bound.push_back(n);
  }
}

OperandLists::OperandLists(const Function& f, const Liveness& live) {
  const auto for_each = [&](auto visit) {
    std::vector<std::uint32_t> last(f.vregs.size(), Liveness::kUnnumbered);
    for (std::uint32_t k = 0; k < live.num_numbered(); ++k)
      for (const ir::Operand& op : f.operands_of(f.insts[live.inst_at(k)])) {
        if (!op.is_vreg() || last[op.value] == k) continue;
        last[op.value] = k;
        visit(op.value, k);
      }
  };
  begin_.assign(f.vregs.size() + 1, 0);
  for_each([&](std::uint32_t v, std::uint32_t) { ++begin_[v + 1]; });
  for (std::size_t v = 0; v < f.vregs.size(); ++v) begin_[v + 1] += begin_[v];
  at_.resize(begin_.back());
  std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
  for_each([&](std::uint32_t v, std::uint32_t k) { at_[at[v]++] = k; });
}

FileAllocator::FileAllocator(const Round& round, RegFile file)
    : round_(round), file_(file), vregs_(round.index.vregs[ir::index(file)]),
      chains_(round.lowered.f, round.live, round.constraints, vregs_, round.fuel),
      base_(round.live.num_numbered(), highest_unit()) {
  const Function& f = round.lowered.f;
  const std::size_t k =
      ir::index(file == RegFile::UR && REGDUEL_PLANTED("fatpoint-uniform-file-has-the-general-budget") ? RegFile::R : file);
  for (int u = 0; u < ir::kMaxUnits; ++u) {
    if (round.budget.allocatable[k].test(static_cast<std::size_t>(u))) limit_ = u + 1;
    else if (REGDUEL_PLANTED("fatpoint-limit-off-by-one") && u > 0 && limit_ == u &&
             round.budget.allocatable[k].test(static_cast<std::size_t>(u - 1)))
      limit_ = u + 1;
    else not_allocatable_.set(u);
    if (round.budget.callee_saved[k].test(static_cast<std::size_t>(u))) callee_saved_.set(u);
  }
  while (start_ < limit_ && not_allocatable_.has(start_)) ++start_;
  std::vector<std::int32_t> rows(2 * static_cast<std::size_t>(round.live.num_numbered()) + 1, 0);
  for (const VRegId v : vregs_)
    for (const Interval& i : round.live.range(v.index())) {
      rows[(i.begin + 1) / 2] += f.vreg(v).units();
      rows[(i.end + 1) / 2] -= f.vreg(v).units();
    }
  std::int32_t sum = 0;
  for (const std::int32_t d : rows) max_live_ = std::max(max_live_, sum += d);
  block_fixed_moments();
  count_choices();
}

// Room for the headroom of an attempt without spilling, and for fixed registers beyond what may be used: such an attempt
// cannot fit, but has to know where they are.
int FileAllocator::highest_unit() const {
  int highest = 0;
  for (int u = 0; u < ir::kMaxUnits; ++u)
    if (round_.budget.allocatable[ir::index(file_)].test(static_cast<std::size_t>(u))) highest = u + 1;
  highest += kHeadroom;
  for (const VRegId v : vregs_) highest = std::max(highest, round_.lowered.f.vreg(v).fixed.end());
  return std::min(highest, ir::kMaxUnits);
}

void FileAllocator::block_fixed_moments() {
  const Function& f = round_.lowered.f;
  for (const std::uint32_t n : round_.index.bound) {
    const Inst& inst = f.insts[round_.live.inst_at(n)];
    UnitSet clobbered;
    bool any = false;
    const auto ops = f.operands_of(inst);
    for (std::size_t k = ops.size(); k-- > 0 && ops[k].role == Role::Clobber;) {
      const PReg r = ops[k].preg();
      if (r.file != file_) continue;
      clobbered.set_range(r.begin(),
                          std::min(REGDUEL_PLANTED("fatpoint-clobber-range-short") ? r.end() - 1 : r.end(), ir::kMaxUnits));
      any = true;
    }
    if (any && !REGDUEL_PLANTED("fatpoint-clobber-missed")) base_.add_clobber(n, clobbered);
    if (inst.op == Op::Ret && !REGDUEL_PLANTED("fatpoint-ret-takes-callee-saved")) base_.block_reads(n, callee_saved_);
  }
}

// Who has little choice chooses first; whoever is left more than the program ever holds at once has enough.
void FileAllocator::count_choices() {
  choice_.assign(round_.lowered.f.vregs.size(), ir::kMaxUnits);
  if (!base_.has_clobbers()) return;
  for (const VRegId v : vregs_) {
    const UnitSet taken = base_.clobbers(round_.live.range(v.index()));
    int left = 0, lost = 0;
    for (std::size_t w = 0; w < std::size(taken.words); ++w) {
      left += std::popcount(~(taken.words[w] | not_allocatable_.words[w]));
      lost += std::popcount(taken.words[w] & ~not_allocatable_.words[w]);
    }
    if (lost > 0 && left < max_live_) choice_[v.index()] = left;
  }
}

namespace {

struct Key {
  std::uint64_t rank;
  VRegId vreg;
};

// Stable, in passes of 11 bits from the lowest; those in which all keys agree cost nothing.
void sort_by_rank(std::vector<Key>& keys) {
  if (keys.size() < 512) {
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.rank < b.rank; });
    return;
  }
  constexpr int kBits = 11;
  constexpr std::uint64_t kMask = (1u << kBits) - 1;
  std::uint64_t differ = 0;
  for (const Key& k : keys) differ |= k.rank ^ keys[0].rank;
  std::vector<Key> sorted(keys.size());
  for (int shift = 0; shift < 64; shift += kBits) {
    if ((differ >> shift & kMask) == 0) continue;
    std::array<std::uint32_t, kMask + 2> begin = {};
    for (const Key& k : keys) ++begin[(k.rank >> shift & kMask) + 1];
    for (std::size_t d = 0; d <= kMask; ++d) begin[d + 1] += begin[d];
    for (const Key& k : keys) sorted[begin[k.rank >> shift & kMask]++] = k;
    keys.swap(sorted);
  }
}

}  // namespace

// The state of one attempt.
class AttemptRun {
 public:
  AttemptRun(const FileAllocator& a, const AttemptOptions& options)
      : a_(a), round_(a.round_), f_(a.round_.lowered.f), options_(options),
        array_width_(scan_budget(a.limit_, options.mode).width()),
        width_(options.may_spill ? std::max(a.limit_, 1) : scan_budget(a.limit_, options.mode).units()), occupancy_(a.base_) {
    result_.home.assign(f_.vregs.size(), -1);
    if (options.may_spill) {
      neighbours_.emplace(f_, round_.live, width_);
      moved_at_.assign(f_.vregs.size(), 0);
      move_cost_.assign(f_.vregs.size(), 0);
    }
    tried_.assign(a.chains_.all().size(), 0);
  }

  Attempt run() {
    const std::vector<VRegId> order = sorted();
    // What has no other place first; a precoloured vreg that is in the way can still be spilled.
    for (const bool is_bound : {true, false})
      for (const VRegId v : order)
        if (f_.vreg(v).fixed.is_valid() && (cost(v) >= kUnspillable) == is_bound) place_fixed(v);
    if (options_.chains)
      for (std::size_t c = 0; c < tried_.size(); ++c)
        if (a_.chains_.all()[c].fixed.is_valid()) tried_[c] = place_fixed_chain(a_.chains_.all()[c]) ? 1 : 2;
    for (const VRegId v : order)
      if (v.index() < options_.kept.size() && options_.kept[v.index()] >= 0 && !f_.vreg(v).fixed.is_valid() &&
          ir::may(round_.fuel, "keep-home"))
        place_again(v);
    for (const VRegId v : order) {
      if (f_.vreg(v).fixed.is_valid() || result_.home[v.index()] >= 0) continue;
      const std::uint32_t chain = options_.chains ? a_.chains_.of(v) : Chains::kNone;
      if (chain == Chains::kNone || tried_[chain] != 0 || !place_chain(a_.chains_.all()[chain])) place(v);
      if (chain != Chains::kNone) tried_[chain] = 1;
      if (is_hopeless()) return std::move(result_);
    }
    if (options_.operands != nullptr) {
      for (const VRegId v : options_.absent) make_room_for_temporaries(v);
      for (std::size_t k = 0; k < result_.to_spill.size(); ++k) make_room_for_temporaries(VRegId(result_.to_spill[k]));
    }
    a_.conclude(result_, over_limit_);
    return std::move(result_);
  }

 private:
  // Narrow keys: at most 1 + 10 + 20 bits for who comes first, 32 for when. Equal ones keep their order.
  [[nodiscard]] std::vector<VRegId> sorted() const {
    constexpr std::uint64_t kMaxShape = 1u << 20;
    std::vector<Key> keys;
    keys.reserve(a_.vregs_.size());
    auto absent = options_.absent.begin();
    for (const VRegId v : a_.vregs_) {
      while (absent != options_.absent.end() && *absent < v) ++absent;
      if (absent != options_.absent.end() && *absent == v) continue;
      const Geometry g = geometry_of(f_.vreg(v));
      const std::uint64_t later = options_.order == Order::BoundFirst && cost(v) < kUnspillable ? 1 : 0;
      const int shape = options_.order == Order::ByStart ? 0 : std::max(g.units, g.align) * ir::kMaxUnits + g.units;
      Point when = range(v)[0].begin;
      if (options_.order == Order::LongestFirst) {
        when = ~Point{0};
        for (const Interval& i : range(v)) when -= i.end - i.begin;
      }
      const auto choice = static_cast<std::uint64_t>(a_.choice_[v.index()]);
      keys.push_back({((later << 10 | choice) * kMaxShape + (kMaxShape - 1 - static_cast<std::uint64_t>(shape))) << 32 | when, v});
    }
    sort_by_rank(keys);
    std::vector<VRegId> order;
    order.reserve(keys.size());
    for (const Key& k : keys) order.push_back(k.vreg);
    return order;
  }
  [[nodiscard]] bool is_hopeless() const { return over_limit_ ? options_.ceiling <= a_.limit_ : highest_ > options_.ceiling; }

  [[nodiscard]] std::int64_t cost(VRegId v) const { return round_.spill_cost[v.index()]; }
  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return round_.live.range(v.index()); }

  void commit(VRegId v, int slot) {
    const int end = slot + f_.vreg(v).units();
    result_.home[v.index()] = slot;
    previous_ = slot;
    occupancy_.mark(range(v), slot, REGDUEL_PLANTED("fatpoint-wide-marks-first-unit") ? slot + 1 : end);
    used_.set_range(slot, end);
    highest_ = std::max(highest_, end);
    if (options_.may_spill) neighbours_->add(v);
  }
  void take_out(VRegId v) {
    const int home = result_.home[v.index()];
    occupancy_.unmark(range(v), home, home + f_.vreg(v).units());
    neighbours_->remove(v);
    result_.home[v.index()] = -1;
  }

  void place_fixed(VRegId v) {
    const PReg r = f_.vreg(v).fixed;
    const UnitSet taken = occupancy_.conflicts(range(v));
    const bool is_free = !taken.has_any(r.begin(), r.end()) && !a_.not_allocatable_.has_any(r.begin(), r.end());
    if (options_.observer != nullptr) show(StepKind::Precoloured, {&v, 1}, range(v), shape(v), is_free ? r.begin() : -1);
    if (is_free) commit(v, r.begin());
    else give_up(v);
  }

  void place_again(VRegId v) {
    const int home = options_.kept[v.index()];
    const bool is_free =
        !occupancy_.conflicts(range(v)).has_any(home, home + f_.vreg(v).units()) || REGDUEL_PLANTED("fatpoint-kept-home-unchecked");
    if (options_.observer != nullptr) show(StepKind::KeepsHome, {&v, 1}, range(v), shape(v), is_free ? home : -1);
    if (is_free) commit(v, home);
  }

  // Its precoloured members have their place; the others join them if nothing else is there while they live.
  bool place_fixed_chain(const Chain& chain) {
    const int begin = chain.fixed.begin(), end = chain.fixed.end();
    for (const VRegId v : chain.members) {
      if (!f_.vreg(v).fixed.is_valid()) continue;
      if (result_.home[v.index()] >= 0) occupancy_.unmark(range(v), begin, end);
    }
    const bool free =
        !occupancy_.conflicts(chain.range).has_any(begin, end) || REGDUEL_PLANTED("fatpoint-chain-joins-fixed-unasked");
    if (options_.observer != nullptr)
      show(StepKind::JoinsPrecoloured, chain.members, chain.range, shape(chain.members[0]), free ? begin : -1);
    for (const VRegId v : chain.members) {
      if (f_.vreg(v).fixed.is_valid()) {
        if (result_.home[v.index()] >= 0) occupancy_.mark(range(v), begin, end);
      } else if (free) commit(v, begin);
    }
    return free;
  }

  [[nodiscard]] Geometry shape(VRegId v) const { return geometry_of(f_.vreg(v), round_.target.predicate_halves); }
  [[nodiscard]] int home_or_fixed(VRegId v) const {
    const PReg fixed = f_.vreg(v).fixed;
    return fixed.is_valid() ? fixed.begin() : result_.home[v.index()];
  }
  // The unit that a vreg without a home would like best: its heaviest affinity to a place that is known, -1 = none.
  [[nodiscard]] int wish(VRegId v) const {
    int best = -1, weight = 0;
    for (const Constraint& c : round_.constraints.of(v)) {
      if (c.type != ConstraintType::Range || c.weight <= weight) continue;
      const int home = home_or_fixed(c.partner);
      if (home < 0) continue;
      best = home + c.unit;
      weight = c.weight;
    }
    return best;
  }
  // The unit that a constraint is about at this moment; nullopt where it does not count (yet). What the occupancy forbids anyhow
  // does not count.
  [[nodiscard]] std::optional<int> target_of(const Constraint& c) const {
    if (!c.partner.is_valid()) return c.unit;
    const int home = home_or_fixed(c.partner);
    if (c.type != ConstraintType::PointInterference) return home < 0 ? std::nullopt : std::optional(home + c.unit);
    if (home >= 0) return std::nullopt;
    const int wished = wish(c.partner);
    return wished < 0 ? std::nullopt : std::optional(wished);
  }

  // Fills the arrays for `members`, one vreg or an alias chain, walked as one.
  void weigh(std::span<const VRegId> members, const Geometry& geometry) {
    arrays_.reset();
    primaries_.clear();
    if (!options_.weights) return;
    std::int64_t sum = 0, soft = 0;
    for (const VRegId v : members)
      for (const Constraint& c : round_.constraints.of(v)) {
        if (c.type != ConstraintType::Range) {
          primaries_.push_back(&c);
          sum += c.weight;
          soft += c.is_soft ? 1 : 0;
        } else if (const int home = home_or_fixed(c.partner); home >= 0) {
          arrays_.add(c, home + c.unit, width_, geometry, round_.target);
        }
      }
    if (primaries_.empty()) return;
    // On a first pass primary weights decide nothing unless they add up to more than the threshold.
    is_weighed_ = !options_.first_pass || sum > options_.threshold;
    std::int64_t nth = 0;
    std::size_t kept = 0;
    for (const Constraint* c : primaries_) {
      if (c->is_soft && options_.relaxation.leaves_out(++nth, soft)) continue;
      primaries_[kept++] = c;
      if (!is_weighed_) continue;
      if (const auto target = target_of(*c)) arrays_.add(*c, *target, array_width_, geometry, round_.target);
    }
    primaries_.resize(kept);
  }
  // The primary weight of a slot, after weigh().
  [[nodiscard]] std::int64_t primary_at(int slot, const Geometry& geometry) const {
    if (primaries_.empty()) return 0;
    if (is_weighed_) return arrays_.primary(slot);
    std::int64_t sum = 0;
    for (const Constraint* c : primaries_)
      if (const auto target = target_of(*c); target && weighs_on(*c, slot, *target, geometry, round_.target)) sum += c->weight;
    return sum;
  }

  // The home that the pre-allocation pass has for a vreg or a chain, if it is free; else -1.
  [[nodiscard]] int candidate(std::span<const VRegId> members, std::span<const Interval> live, const Geometry& geometry) const {
    if (options_.candidates == nullptr) return -1;
    const auto home = options_.candidates->home_of(members);
    return home && may_take(*home, geometry, occupancy_.conflicts(live), a_.not_allocatable_, a_.limit_) ? *home : -1;
  }

  // The fat point below the limit, -1 where there is none. `taken` becomes what is in the way.
  int select(std::span<const Interval> live, const Geometry& geometry, UnitSet& taken) const {
    taken = occupancy_.conflicts(live);
    taken |= a_.not_allocatable_;
    // Callee-saved registers that would have to be saved first come last.
    UnitSet unsaved = taken;
    for (std::size_t w = 0; w < std::size(unsaved.words); ++w) unsaved.words[w] |= a_.callee_saved_.words[w] & ~used_.words[w];
    if (options_.relaxation.bank_aware && previous_ >= 0) {
      UnitSet other_bank = REGDUEL_PLANTED("fatpoint-bank-filter-forgets-who-is-there") ? a_.not_allocatable_ : unsaved;
      other_bank |= units_around(previous_, geometry.pair_mode);
      if (const int slot = select_in(other_bank, geometry); slot >= 0) return slot;
    }
    for (const UnitSet* set : {&unsaved, &taken})
      if (const int slot = select_in(*set, geometry); slot >= 0) return slot;
    return -1;
  }
  [[nodiscard]] int select_in(const UnitSet& forbidden, const Geometry& geometry) const {
    const ScanRequest request{arrays_, forbidden, geometry, a_.limit_, options_.first_pass, options_.threshold, a_.start_};
    return options_.may_spill ? select_simple(request) : select_fatpoint(request);
  }

  bool place_chain(const Chain& chain) {
    Geometry geometry = shape(chain.members[0]);
    if (!REGDUEL_PLANTED("fatpoint-chain-alignment-lost")) geometry.align = 1 << chain.align_log2;
    weigh(chain.members, geometry);
    UnitSet taken;
    int slot = candidate(chain.members, REGDUEL_PLANTED("fatpoint-candidate-of-one-member") ? range(chain.members[0]) : chain.range,
                         geometry);
    if (slot < 0)
      slot = select(REGDUEL_PLANTED("fatpoint-chain-placed-by-its-first-member") ? range(chain.members[0]) : chain.range, geometry,
                    taken);
    if (options_.observer != nullptr) show(StepKind::Chain, chain.members, chain.range, geometry, slot);
    if (slot < 0) return false;
    result_.pressure += primary_at(slot, geometry);
    for (const VRegId v : chain.members) commit(v, slot);
    return true;
  }

  void place(VRegId v) {
    const Geometry geometry = shape(v);
    weigh({&v, 1}, geometry);
    UnitSet inside;
    int slot = candidate({&v, 1}, range(v), geometry);
    if (slot < 0) slot = select(range(v), geometry, inside);
    if (options_.observer != nullptr && slot >= 0) show(StepKind::Alone, {&v, 1}, range(v), geometry, slot);
    if (slot >= 0) {
      result_.pressure += primary_at(slot, geometry);
      commit(v, slot);
    } else if (options_.may_spill) {
      const int room = find_room(range(v), geometry, inside, cost(v));
      if (options_.observer != nullptr) show_room(v, geometry, room);
      switch (room) {
        case kSpillItself: result_.to_spill.push_back(v); break;
        case kNoRoom: give_up(v); break;
        default:
          if (ir::may(round_.fuel, "evict")) displace(v, [&] { commit(v, room); });
          else give_up(v);
      }
    } else {
      over_limit_ = !REGDUEL_PLANTED("fatpoint-headroom-is-within-the-limit");
      UnitSet forbidden = occupancy_.conflicts(range(v));
      for (int u = 0; u < a_.limit_; ++u)
        if (a_.not_allocatable_.has(u)) forbidden.set(u);
      slot = select_fatpoint({arrays_, forbidden, geometry, width_, options_.first_pass, options_.threshold, a_.start_});
      if (options_.observer != nullptr) show(StepKind::AboveLimit, {&v, 1}, range(v), geometry, slot);
      if (slot >= 0) commit(v, slot);
      else used_.set(width_ - 1);
    }
  }

  // What stands in [slot, slot + units) during the range that neighbours_ looked around, and what it would cost to spill all of it:
  // no more than `enough` is looked at.
  std::int64_t blockers(int slot, const Geometry& geometry, const UnitSet& taken, std::int64_t enough, std::vector<VRegId>& list) {
    list.clear();
    neighbours_->begin_list();
    std::int64_t sum = 0;
    for (int u = slot; u < slot + geometry.units; ++u) {
      if (a_.not_allocatable_.has(u)) return kUnspillable;
      if (!taken.has(u)) continue;
      if (neighbours_->at(u).empty()) return kUnspillable;  // a clobber, or a moment that belongs to nobody
      for (const VRegId other : neighbours_->at(u)) {
        if (!neighbours_->is_new(other)) continue;
        list.push_back(other);
        const std::int64_t its_cost = cost_to_move(other);
        if (its_cost >= kUnspillable) return kUnspillable;
        sum += its_cost;
        if (sum >= enough) return kUnspillable;
      }
    }
    return sum;
  }

  // Whatever is cheapest: to spill the one that needs room, or all that stands in one slot (blocked_ then says who; what can stand
  // elsewhere just moves).
  int find_room(std::span<const Interval> live, const Geometry& geometry, const UnitSet& taken, std::int64_t own_cost) {
    ++move_epoch_;
    neighbours_->find(live, result_.home);
    // What belongs to nobody gives way to nobody. It may lie in a unit that a vreg also holds, at another moment.
    const UnitSet bound = a_.base_.has_blocked_reads() && !REGDUEL_PLANTED("fatpoint-evicts-into-a-restored-register")
                              ? a_.base_.conflicts(live)
                              : occupancy_.clobbers(live);
    std::int64_t best = kUnspillable;
    int best_slot = kNoRoom;
    for (int slot = 0; slot + geometry.units <= a_.limit_; slot += geometry.step()) {
      if (bound.has_any(slot, slot + geometry.units)) continue;
      const std::int64_t sum = blockers(slot, geometry, taken, best, blocked_);
      if (sum < best) {
        best = sum;
        best_slot = slot;
      }
    }
    room_cost_ = best;
    if (own_cost < kUnspillable && own_cost <= best) return kSpillItself;
    if (best_slot >= 0) static_cast<void>(blockers(best_slot, geometry, taken, kUnspillable, blocked_));
    return best_slot;
  }
  // Lets `enter` take the place of blocked_, who look for another.
  //   by   for whom they leave: it, or a temporary of it
  template <class Enter>
  void displace(VRegId by, Enter enter) {
    for (const VRegId other : blocked_) take_out(other);
    if (REGDUEL_PLANTED("fatpoint-evicted-not-spilled")) blocked_.resize(std::min<std::size_t>(blocked_.size(), 1));
    enter();
    for (const VRegId other : blocked_) {
      const Geometry its = shape(other);
      weigh({&other, 1}, its);
      UnitSet inside;
      const int slot = f_.vreg(other).fixed.is_valid() ? -1 : select(range(other), its, inside);
      if (options_.observer != nullptr) show_displaced(other, its, by, slot);
      if (slot >= 0) commit(other, slot);
      else if (cost(other) < kUnspillable) result_.to_spill.push_back(other);
      else give_up(other);
    }
  }

  // The next round will bring temporaries at the instructions that name v. It finds the others where they are now, so there
  // had better be room. Copies need none: they become refills and spill stores themselves.
  void make_room_for_temporaries(VRegId v) {
    const Geometry geometry = shape(v);
    for (const std::uint32_t k : (*options_.operands)[v]) {
      const Inst& inst = f_.insts[round_.live.inst_at(k)];
      if (inst.is_copy() || inst.op == Op::Refill || inst.op == Op::Spill || inst.has(ir::kRematerialisable)) continue;
      bool before = false, after = false;
      for (const ir::Operand& op : f_.operands_of(inst)) {
        before = before || op.role == Role::Guard;
        if (!op.is_vreg() || op.vreg() != v) continue;
        before = before || op.reads() || op.is_early_clobber() || !op.part.is_whole();
        after = after || op.writes();
      }
      const Interval live[] = {{before ? read_point(k) : write_point(k), (after ? write_point(k) : read_point(k)) + 1}};
      const auto reserve = [&](int slot) { occupancy_.mark(live, slot, slot + geometry.units); };
      arrays_.reset();
      UnitSet inside;
      if (const int slot = select(live, geometry, inside); slot >= 0) reserve(slot);
      else if (const int room = find_room(live, geometry, inside, kUnspillable); room >= 0 && ir::may(round_.fuel, "evict"))
        displace(v, [&] { reserve(room); });
    }
  }
  // What it costs to take a vreg out of its place: nothing where there is another.
  std::int64_t cost_to_move(VRegId v) {
    if (f_.vreg(v).fixed.is_valid()) return cost(v);
    if (moved_at_[v.index()] != move_epoch_) {
      moved_at_[v.index()] = move_epoch_;
      UnitSet inside;
      arrays_.reset();
      move_cost_[v.index()] = select(range(v), shape(v), inside) >= 0 ? 0 : cost(v);
    }
    return move_cost_[v.index()];
  }

  // --- for regduel explain: what is about to happen to one vreg, or to the chain that it is in
  //   slot   the choice, -1 = none
  Step* show(StepKind kind, std::span<const VRegId> members, std::span<const Interval> live, const Geometry& geometry, int slot) {
    if (!options_.observer->is_about(members)) return nullptr;
    weigh(members, geometry);
    const int candidate = options_.candidates != nullptr ? options_.candidates->home_of(members).value_or(-1) : -1;
    return &options_.observer->step(
        kind,
        {.allocator = a_,
         .occupancy = occupancy_,
         .arrays = arrays_,
         .home = result_.home,
         .members = members,
         .range = live,
         .geometry = geometry,
         .used = used_,
         .ceiling = kind == StepKind::AboveLimit ? width_ : a_.limit_,
         .simple = options_.may_spill,
         .first_pass = options_.first_pass,
         .weights = options_.weights,
         .is_weighed = primaries_.empty() || is_weighed_,
         .threshold = options_.threshold,
         .relaxation = options_.relaxation,
         .previous = previous_,
         .primary_at = [&](int unit) { return unit < array_width_ || !is_weighed_ ? primary_at(unit, geometry) : 0; },
         .target_of = [&](const Constraint& c) { return target_of(c); }},
        candidate, slot);
  }
  void show_room(VRegId v, const Geometry& geometry, int room) {
    const StepKind kind = room >= 0 ? StepKind::MakesRoom : room == kSpillItself ? StepKind::ToMemory : StepKind::GivesUp;
    Step* s = show(kind, {&v, 1}, range(v), geometry, room);
    if (s == nullptr) return;
    if (cost(v) < kUnspillable) s->own_cost = cost(v);
    if (room_cost_ < kUnspillable) s->room_cost = room_cost_;
    if (room >= 0)
      for (const VRegId other : blocked_) s->leave.push_back(options_.observer->vreg_name(other));
  }
  void show_displaced(VRegId v, const Geometry& geometry, VRegId by, int slot) {
    Step* s = show(StepKind::Displaced, {&v, 1}, range(v), geometry, slot);
    if (s == nullptr) return;
    s->by = (result_.home[by.index()] < 0 ? "a temporary of " : "") + options_.observer->vreg_name(by);
    if (cost(v) < kUnspillable) s->own_cost = cost(v);
  }

  // A vreg that must have a register and has none.
  void give_up(VRegId v) {
    over_limit_ = true;
    if (cost(v) < kUnspillable) result_.to_spill.push_back(v);
    else if (round_.lowered.temp_of[v.index()] != kNoInst) result_.to_pin.push_back(round_.lowered.temp_of[v.index()]);
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const AttemptOptions& options_;
  int array_width_;  // entries of the pressure arrays that are written
  int width_;        // units that are looked at
  Occupancy occupancy_;
  PressureArrays arrays_;
  std::vector<const Constraint*> primaries_;  // of the members that were weighed last, without those left out
  bool is_weighed_ = true;                    // whether they are in the arrays
  int previous_ = -1;                         // the home that was taken last
  UnitSet used_;
  int highest_ = 0;                       // unit in use + 1
  std::vector<char> tried_;               // by chain
  std::optional<Neighbours> neighbours_;  // for the search for room
  static constexpr int kNoRoom = -1, kSpillItself = -2;
  std::vector<VRegId> blocked_;
  std::vector<std::uint32_t> moved_at_;  // by vreg: in which search for room move_cost_ was found
  std::vector<std::int64_t> move_cost_;
  std::uint32_t move_epoch_ = 0;
  std::int64_t room_cost_ = 0;  // of the last search
  bool over_limit_ = false;
  Attempt result_;
};

void FileAllocator::conclude(Attempt& result, bool over_limit) const {
  const auto sort_unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(result.to_spill);
  sort_unique(result.to_pin);
  result.fits = !over_limit && result.to_spill.empty() && result.to_pin.empty();
  for (const VRegId v : vregs_) {
    const int home = result.home[v.index()];
    if (home < 0) continue;
    const int end = home + round_.lowered.f.vreg(v).units();
    result.used = std::max(result.used, end);
    result.units.set_range(home, end);
    for (const Constraint& c : round_.constraints.of(v)) {
      if (c.type != ConstraintType::Range || !(c.partner < v)) continue;
      const int partner = result.home[c.partner.index()];
      if (partner >= 0 && partner + c.unit != home) result.copy_weight += c.weight;
    }
  }
  if (over_limit) result.used = std::max(result.used, limit_ + 1);
  REGDUEL_CHECK(result.used <= kSanePeak + 1, ir::failure_message(limit_));
  for (const VRegId v : result.to_spill) result.spill_cost += round_.spill_cost[v.index()];
}

Attempt FileAllocator::run(const AttemptOptions& options) const { return AttemptRun(*this, options).run(); }

}  // namespace regduel::allocator
