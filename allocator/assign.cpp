// See assign.h.

#include "allocator/assign.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

namespace {

std::vector<VRegId> vregs_of(const Round& round, RegFile file) {
  std::vector<VRegId> list;
  for (std::size_t v = 0; v < round.lowered.f.vregs.size(); ++v)
    if (round.lowered.f.vregs[v].file() == file && !round.live.range(v).empty()) list.push_back(VRegId(v));
  return list;
}

}  // namespace

FileAllocator::FileAllocator(const Round& round, RegFile file)
    : round_(round), file_(file), vregs_(vregs_of(round, file)), chains_(round.lowered.f, round.live, round.constraints, vregs_),
      base_(round.live.num_numbered(), highest_unit()) {
  const Function& f = round.lowered.f;
  const std::size_t k = ir::index(file);
  for (int u = 0; u < ir::kMaxUnits; ++u) {
    if (round.budget.allocatable[k].test(static_cast<std::size_t>(u))) limit_ = u + 1;
    else not_allocatable_.set(u);
    if (round.budget.callee_saved[k].test(static_cast<std::size_t>(u))) callee_saved_.set(u);
  }
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
  for (std::uint32_t n = 0; n < round_.live.num_numbered(); ++n) {
    const Inst& inst = f.insts[round_.live.inst_at(n)];
    UnitSet clobbered;
    bool any = false;
    const auto ops = f.operands_of(inst);
    for (std::size_t k = ops.size(); k-- > 0 && ops[k].role == Role::Clobber;) {
      const PReg r = ops[k].preg();
      if (r.file != file_) continue;
      clobbered.set_range(r.begin(), std::min(r.end(), ir::kMaxUnits));
      any = true;
    }
    if (any) base_.add_clobber(n, clobbered);
    if (inst.op == Op::Ret) base_.block_reads(n, callee_saved_);
  }
}

// Who has little choice chooses first.
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
    if (lost > 0) choice_[v.index()] = left;
  }
}

// The state of one attempt.
class AttemptRun {
 public:
  AttemptRun(const FileAllocator& a, const AttemptOptions& options)
      : a_(a), round_(a.round_), f_(a.round_.lowered.f), options_(options),
        width_(std::min(options.may_spill ? std::max(a.limit_, 1) : a.limit_ + kHeadroom, ir::kMaxUnits)),
        occupancy_(a.base_) {
    result_.home.assign(f_.vregs.size(), -1);
    in_unit_.resize(ir::kMaxUnits);
    stamp_.assign(f_.vregs.size(), 0);
    moved_at_.assign(f_.vregs.size(), 0);
    move_cost_.assign(f_.vregs.size(), 0);
    tried_.assign(a.chains_.all().size(), 0);
  }

  Attempt run() {
    std::vector<VRegId> order = a_.vregs_;
    sort(order);
    // What has no other place first; a precoloured vreg that is in the way can still be spilled.
    for (const bool is_bound : {true, false})
      for (const VRegId v : order)
        if (f_.vreg(v).fixed.is_valid() && (cost(v) >= kUnspillable) == is_bound) place_fixed(v);
    if (options_.chains)
      for (std::size_t c = 0; c < tried_.size(); ++c)
        if (a_.chains_.all()[c].fixed.is_valid()) tried_[c] = place_fixed_chain(a_.chains_.all()[c]) ? 1 : 2;
    for (const VRegId v : order) {
      if (f_.vreg(v).fixed.is_valid() || result_.home[v.index()] >= 0) continue;
      const std::uint32_t chain = options_.chains ? a_.chains_.of(v) : Chains::kNone;
      if (chain == Chains::kNone || tried_[chain] != 0 || !place_chain(a_.chains_.all()[chain])) place(v);
      if (chain != Chains::kNone) tried_[chain] = 1;
    }
    finish();
    return std::move(result_);
  }

 private:
  void sort(std::vector<VRegId>& order) const {
    using Key = std::tuple<bool, int, int, std::int64_t, VRegId>;
    std::vector<Key> keys;
    keys.reserve(order.size());
    for (const VRegId v : order) {
      const Geometry g = geometry_of(f_.vreg(v));
      const bool later = options_.order == Order::BoundFirst && cost(v) < kUnspillable;
      const int shape = options_.order == Order::ByStart ? 0 : -std::max(g.units, g.align) * ir::kMaxUnits - g.units;
      std::int64_t when = range(v)[0].begin;
      if (options_.order == Order::LongestFirst) {
        when = 0;
        for (const Interval& i : range(v)) when -= i.end - i.begin;
      }
      keys.emplace_back(later, a_.choice_[v.index()], shape, when, v);
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t k = 0; k < keys.size(); ++k) order[k] = std::get<VRegId>(keys[k]);
  }

  [[nodiscard]] std::int64_t cost(VRegId v) const { return round_.spill_cost[v.index()]; }
  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return round_.live.range(v.index()); }

  void commit(VRegId v, int slot) {
    const int end = slot + f_.vreg(v).units();
    result_.home[v.index()] = slot;
    occupancy_.mark(range(v), slot, end);
    used_.set_range(slot, end);
    for (int u = slot; u < end; ++u) in_unit_[static_cast<std::size_t>(u)].push_back(v);
  }

  void place_fixed(VRegId v) {
    const PReg r = f_.vreg(v).fixed;
    const UnitSet taken = occupancy_.conflicts(range(v));
    if (taken.has_any(r.begin(), r.end()) || a_.not_allocatable_.has_any(r.begin(), r.end())) give_up(v);
    else commit(v, r.begin());
  }

  // Its precoloured members have their place; the others join them if nothing else is there while they live.
  bool place_fixed_chain(const Chain& chain) {
    const int begin = chain.fixed.begin(), end = chain.fixed.end();
    for (const VRegId v : chain.members) {
      if (!f_.vreg(v).fixed.is_valid()) continue;
      if (result_.home[v.index()] >= 0) occupancy_.unmark(range(v), begin, end);
    }
    const bool free = !occupancy_.conflicts(chain.range).has_any(begin, end);
    for (const VRegId v : chain.members) {
      if (f_.vreg(v).fixed.is_valid()) {
        if (result_.home[v.index()] >= 0) occupancy_.mark(range(v), begin, end);
      } else if (free) commit(v, begin);
    }
    return free;
  }

  void weigh(VRegId v, const Geometry& geometry) {
    for (const Constraint& c : round_.constraints.of(v)) {
      int target = c.unit;
      if (c.partner.is_valid()) {
        const PReg fixed = f_.vreg(c.partner).fixed;
        const int home = fixed.is_valid() ? fixed.begin() : result_.home[c.partner.index()];
        if (home < 0) continue;
        target += home;
      }
      arrays_.add(c, target, width_, geometry, round_.target.register_banks);
    }
  }

  // The fat point below the limit, -1 where there is none. `taken` becomes what is in the way.
  int select(std::span<const Interval> live, const Geometry& geometry, UnitSet& taken) const {
    taken = occupancy_.conflicts(live);
    taken |= a_.not_allocatable_;
    // Callee-saved registers that would have to be saved first come last.
    UnitSet unsaved = taken;
    for (std::size_t w = 0; w < std::size(unsaved.words); ++w) unsaved.words[w] |= a_.callee_saved_.words[w] & ~used_.words[w];
    for (const UnitSet* set : {&unsaved, &taken}) {
      const ScanRequest request{arrays_, *set, geometry, a_.limit_, options_.first_pass, options_.threshold};
      const int slot = options_.may_spill ? select_simple(request) : select_fatpoint(request);
      if (slot >= 0) return slot;
    }
    return -1;
  }

  bool place_chain(const Chain& chain) {
    Geometry geometry = geometry_of(f_.vreg(chain.members[0]));
    geometry.align = 1 << chain.align_log2;
    arrays_.reset(width_);
    for (const VRegId v : chain.members) weigh(v, geometry);
    UnitSet taken;
    const int slot = select(chain.range, geometry, taken);
    if (slot < 0) return false;
    for (const VRegId v : chain.members) commit(v, slot);
    return true;
  }

  void place(VRegId v) {
    const Geometry geometry = geometry_of(f_.vreg(v));
    arrays_.reset(width_);
    weigh(v, geometry);
    UnitSet inside;
    int slot = select(range(v), geometry, inside);
    if (slot >= 0) {
      commit(v, slot);
    } else if (options_.may_spill) {
      make_room(v, geometry, inside);
    } else {
      over_limit_ = true;
      UnitSet forbidden = occupancy_.conflicts(range(v));
      for (int u = 0; u < a_.limit_; ++u)
        if (a_.not_allocatable_.has(u)) forbidden.set(u);
      slot = select_fatpoint({arrays_, forbidden, geometry, width_, options_.first_pass, options_.threshold});
      if (slot >= 0) commit(v, slot);
      else used_.set(width_ - 1);
    }
  }

  // What stands in [slot, slot + units) while v lives, and what it would cost to spill all of it.
  std::int64_t blockers(VRegId v, int slot, const Geometry& geometry, const UnitSet& taken, std::vector<VRegId>& list) {
    list.clear();
    ++epoch_;
    std::int64_t sum = 0;
    for (int u = slot; u < slot + geometry.units; ++u) {
      if (a_.not_allocatable_.has(u)) return kUnspillable;
      if (!taken.has(u)) continue;
      bool found = false;
      for (const VRegId other : in_unit_[static_cast<std::size_t>(u)]) {
        if (stamp_[other.index()] == epoch_) {
          found = true;
          continue;
        }
        if (!overlap(range(v), range(other))) continue;
        found = true;
        stamp_[other.index()] = epoch_;
        list.push_back(other);
        const std::int64_t its_cost = cost_to_move(other);
        if (its_cost >= kUnspillable) return kUnspillable;
        sum += its_cost;
      }
      if (!found) return kUnspillable;  // a clobber, or a moment that belongs to nobody
    }
    // A clobber may lie in a unit that a vreg also holds.
    return clobbered(v, slot, geometry) ? kUnspillable : sum;
  }
  [[nodiscard]] bool clobbered(VRegId v, int slot, const Geometry& geometry) const {
    return occupancy_.clobbers(range(v)).has_any(slot, slot + geometry.units);
  }

  // Spills whatever is cheapest: v itself, or what stands in one slot. What can stand elsewhere just moves.
  void make_room(VRegId v, const Geometry& geometry, const UnitSet& taken) {
    ++move_epoch_;
    std::int64_t best = kUnspillable;
    int best_slot = -1;
    std::vector<VRegId> list;
    for (int slot = 0; slot + geometry.units <= a_.limit_; slot += geometry.step()) {
      const std::int64_t sum = blockers(v, slot, geometry, taken, list);
      if (sum < best) {
        best = sum;
        best_slot = slot;
      }
    }
    if (cost(v) < kUnspillable && cost(v) <= best) {
      result_.to_spill.push_back(v);
      return;
    }
    if (best_slot < 0) {
      give_up(v);
      return;
    }
    static_cast<void>(blockers(v, best_slot, geometry, taken, list));
    for (const VRegId other : list) {
      const int home = result_.home[other.index()], end = home + f_.vreg(other).units();
      occupancy_.unmark(range(other), home, end);
      for (int u = home; u < end; ++u) std::erase(in_unit_[static_cast<std::size_t>(u)], other);
      result_.home[other.index()] = -1;
    }
    commit(v, best_slot);
    for (const VRegId other : list) {
      const Geometry its = geometry_of(f_.vreg(other));
      arrays_.reset(width_);
      weigh(other, its);
      UnitSet inside;
      const int slot = f_.vreg(other).fixed.is_valid() ? -1 : select(range(other), its, inside);
      if (slot >= 0) commit(other, slot);
      else if (cost(other) < kUnspillable) result_.to_spill.push_back(other);
      else give_up(other);
    }
  }
  // What it costs to take a vreg out of its place: nothing where there is another.
  std::int64_t cost_to_move(VRegId v) {
    if (f_.vreg(v).fixed.is_valid()) return cost(v);
    if (moved_at_[v.index()] != move_epoch_) {
      moved_at_[v.index()] = move_epoch_;
      UnitSet inside;
      arrays_.reset(width_);
      move_cost_[v.index()] = select(range(v), geometry_of(f_.vreg(v)), inside) >= 0 ? 0 : cost(v);
    }
    return move_cost_[v.index()];
  }

  // A vreg that must have a register and has none.
  void give_up(VRegId v) {
    over_limit_ = true;
    if (cost(v) < kUnspillable) result_.to_spill.push_back(v);
    else if (round_.lowered.temp_of[v.index()] != kNoInst) result_.to_pin.push_back(round_.lowered.temp_of[v.index()]);
  }

  void finish() {
    result_.fits = !over_limit_ && result_.to_spill.empty() && result_.to_pin.empty();
    for (const VRegId v : a_.vregs_) {
      const int home = result_.home[v.index()];
      if (home < 0) continue;
      result_.used = std::max(result_.used, home + f_.vreg(v).units());
      for (const Constraint& c : round_.constraints.of(v))
        if (c.partner.is_valid() && c.partner < v && result_.home[c.partner.index()] >= 0 &&
            result_.home[c.partner.index()] + c.unit != home)
          result_.copy_weight += c.weight;
    }
    if (over_limit_) result_.used = std::max(result_.used, a_.limit_ + 1);
    std::sort(result_.to_spill.begin(), result_.to_spill.end());
    result_.to_spill.erase(std::unique(result_.to_spill.begin(), result_.to_spill.end()), result_.to_spill.end());
    std::sort(result_.to_pin.begin(), result_.to_pin.end());
    result_.to_pin.erase(std::unique(result_.to_pin.begin(), result_.to_pin.end()), result_.to_pin.end());
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const AttemptOptions& options_;
  int width_;
  Occupancy occupancy_;
  PressureArrays arrays_;
  UnitSet used_;
  std::vector<std::vector<VRegId>> in_unit_;  // by unit: vregs that have it at some time
  std::vector<char> tried_;                   // by chain
  std::vector<std::uint32_t> stamp_;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> moved_at_;       // by vreg: in which search for room move_cost_ was found
  std::vector<std::int64_t> move_cost_;
  std::uint32_t move_epoch_ = 0;
  bool over_limit_ = false;
  Attempt result_;
};

Attempt FileAllocator::run(const AttemptOptions& options) const { return AttemptRun(*this, options).run(); }

}  // namespace regduel::allocator
