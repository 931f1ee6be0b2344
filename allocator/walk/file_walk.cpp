// See file_walk.h.

#include "allocator/walk/file_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "allocator/assign/banks.h"
#include "allocator/instruction/items.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"
#include "allocator/walk/arrangement.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// Weighted copies of all profiles at 75% of MaxLive, against those with one walk: 0.78 with two, 0.76 with three.
constexpr int kMostWalks = 2;
constexpr int kMostHalvings = 6;
// Units by which the room of a walk grows, and the factor of that from walk to walk. Registers and copies of 304 programs at 255 registers, and
// instructions of 19 duels, against those without bounds: 0.984, 1.030 and 1.000 with 1 and 2; 0.986, 1.026 and 0.989 with 4 and 4.
constexpr int kMoreUnits = 4, kFactor = 4;

// By block: the vregs that live there, each with its unit.
class Places {
 public:
  using Place = std::pair<VRegId, std::int16_t>;
  explicit Places(std::size_t blocks = 0) : of_block_(blocks) {}
  [[nodiscard]] bool empty() const { return of_block_.empty(); }
  [[nodiscard]] std::span<const Place> of(BlockId b) const {
    const auto [begin, end] = of_block_[b.index()];
    return std::span(all_).subspan(begin, end - begin);
  }
  void begin(BlockId b) { of_block_[b.index()].first = of_block_[b.index()].second = all_.size(); }
  void add(BlockId b, VRegId v, std::int16_t unit) {
    all_.emplace_back(v, unit);
    of_block_[b.index()].second = all_.size();
  }

 private:
  std::vector<Place> all_;
  std::vector<std::pair<std::size_t, std::size_t>> of_block_;
};

// What all walks through one file share.
struct Intervals {
  struct Start {
    std::uint32_t row, end_row;
    Point end;
    VRegId vreg;
  };

  Intervals(const FileAllocator& a, const Function& f, const Liveness& live, std::span<const int> preferred_homes)
      : preferred(preferred_homes), promised(live.num_numbered()), bound(a.base()) {
    room.usable = UnitSet::range(0, a.limit()) - a.not_allocatable();
    room.needed = std::min(a.first_unit() + a.max_live(), a.limit());
    has_bound = a.base().has_clobbers() || a.base().has_blocked_moments();
    for (const VRegId v : a.vregs()) {
      if (f.vreg(v).is_architectural()) continue;
      for (const Interval& i : live.range(v.index())) starts.push_back({first_row(i), end_row(i), i.end, v});
      room.has_tuples = room.has_tuples || f.vreg(v).units() > 1;
      if (const int home = preferred_of(v); home >= 0) promised.mark(live.range(v.index()), home, home + f.vreg(v).units());
      const PReg fixed = f.vreg(v).fixed;
      if (!fixed.is_valid()) continue;
      bound.mark(live.range(v.index()), fixed.begin(), fixed.end());
      has_bound = true;
    }
    std::sort(starts.begin(), starts.end(),
              [](const Start& x, const Start& y) { return std::pair(x.row, x.vreg) < std::pair(y.row, y.vreg); });
  }

  [[nodiscard]] int preferred_of(VRegId v) const { return preferred.empty() ? kNowhere : preferred[v.index()]; }

  std::span<const int> preferred;  // by vreg; empty = none
  std::vector<Start> starts;       // ascending by row
  Occupancy promised;              // preferred homes
  Occupancy bound;                 // clobbers, restored registers, and vregs with a fixed register
  bool has_bound = false;
  Room room;
  bool has_more_room = false;  // there are more units than `room` has: a walk that does not fit ends early
};

class FileWalk {
 public:
  //   ends   of the walk before: where values stand at the ends of blocks; empty = there is none
  FileWalk(const FileAllocator& a, const Intervals& intervals, const ir::Cfg& cfg, std::span<const std::int64_t> frequency,
           std::span<std::int16_t> unit_of, Places ends)
      : a_(a), round_(a.round()), f_(a.round().lowered.f), live_(a.round().live), intervals_(intervals), cfg_(cfg),
        frequency_(frequency), unit_of_(unit_of), arrangement_(intervals.room), unit_(f_.vregs.size(), kNowhere), last_(unit_),
        wanted_(unit_), end_(f_.vregs.size()), lost_(f_.vregs.size(), 0), ending_(2 * std::size_t{live_.num_numbered()} + 3),
        then_ending_(f_.vregs.size()), ends_before_(std::move(ends)), heads_(f_.blocks.size()), ends_(f_.blocks.size()),
        banks_(a.file() == ir::RegFile::R ? round_.banks : nullptr) {
    if (banks_ != nullptr) homes_.assign(f_.vregs.size(), kNowhere);
  }

  Walk run() {
    for (const BlockId b : cfg_.reverse_postorder()) {
      if (has_misfit_ && intervals_.has_more_room) return {};
      block_ = b;
      std::optional<std::uint32_t> last;
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        const std::uint32_t n = live_.number_of(block.first_inst + k);
        if (n == Liveness::kUnnumbered) continue;
        if (!last) enter(n);
        step(n);
        last = n;
      }
      if (last) leave(*last);
    }
    std::sort(result_.to_spill.begin(), result_.to_spill.end());
    std::sort(result_.to_pin.begin(), result_.to_pin.end());
    result_.fits = !has_misfit_;
    if (result_.fits) find_edge_moves();
    return std::move(result_);
  }
  // After run().
  [[nodiscard]] bool moves_at_ends_of_loops() const { return moves_at_ends_of_loops_; }
  [[nodiscard]] Places take_ends() { return std::move(ends_); }

 private:
  using Start = Intervals::Start;

  [[nodiscard]] Geometry shape(VRegId v) const { return geometry_of(f_.vreg(v), round_.target.predicate_halves); }
  [[nodiscard]] int bound_to(VRegId v) const { return f_.vreg(v).fixed.is_valid() ? f_.vreg(v).fixed.begin() : kNowhere; }
  [[nodiscard]] bool is_here(VRegId v) const { return unit_[v.index()] != kNowhere; }

  // --- units in use
  void put(VRegId v, int unit) {
    const int end = unit + f_.vreg(v).units();
    unit_[v.index()] = last_[v.index()] = static_cast<std::int16_t>(unit);
    if (banks_ != nullptr) homes_[v.index()] = unit;
    for (int u = unit; u < end; ++u) occupant_[static_cast<std::size_t>(u)] = v;
    taken_.set_range(unit, end);
    used_.set_range(unit, end);
  }
  void take_off(VRegId v) {
    const int unit = std::exchange(unit_[v.index()], std::int16_t{kNowhere});
    taken_.clear_range(unit, unit + f_.vreg(v).units());
  }
  template <class Visit>
  void for_each_here(Visit visit) const {
    for (int u = taken_.first(); u >= 0;) {
      const VRegId v = occupant_[static_cast<std::size_t>(u)];
      visit(v);
      u = taken_.next(u + f_.vreg(v).units());
    }
  }
  // Notes where the interval of a vreg that begins now ends.
  void begin(VRegId v, std::uint32_t end_row, Point end) {
    end_[v.index()] = {end_row, end};
    then_ending_[v.index()] = std::exchange(ending_[end_row], v);
  }
  template <class Visit>
  void for_each_ending(std::uint32_t row, Visit visit) {
    for (VRegId v = ending_[row]; v.is_valid(); v = then_ending_[v.index()])
      if (is_here(v) && end_[v.index()].row == row) visit(v);
  }
  void release_until(std::uint32_t row) {
    for (; released_ <= row; ++released_) for_each_ending(released_, [&](VRegId v) { take_off(v); });
  }

  // --- choices
  [[nodiscard]] int place_of(VRegId v) const {
    const int bound = bound_to(v);
    return bound != kNowhere ? bound : last_[v.index()];
  }
  // Of `good`, the units below those needed anyhow that no preferred home takes for as long as a vreg finds a position in them: the whole
  // interval, half of it, and so on. `good` if that is too short.
  [[nodiscard]] UnitSet free_longest(const UnitSet& good, const Geometry& g, Interval part) const {
    UnitSet low = good;
    low.clear_range(intervals_.room.needed, ir::kMaxUnits);
    for (int n = 0; n < kMostHalvings; ++n) {
      const UnitSet left = low - intervals_.promised.conflicts({&part, 1});
      if (left.positions(g.units, std::countr_zero(static_cast<unsigned>(g.align))).any()) return left;
      part.end = Point(part.begin.value + std::max(1u, (part.end - part.begin) / 2));
    }
    return good;
  }
  // A position for a vreg during an interval: its preferred home if that is free. Else one that no preferred home takes soon. Positions
  // come last that it would have to leave before it ends, those that it would have to leave soon behind the others. The first of the
  // rest: the one that it had before; that of a partner of a copy; with banks, one in use before and in no bank of a source that is read
  // with it; one that leaves tuples whole.
  [[nodiscard]] int choose(VRegId v, const UnitSet& taken, const Interval& interval) const {
    const Geometry g = shape(v);
    const UnitSet free = intervals_.room.usable - taken;
    UnitSet good = free;
    const int align_log2 = std::countr_zero(static_cast<unsigned>(g.align));
    if (intervals_.has_bound) good -= intervals_.bound.conflicts({&interval, 1});
    UnitSet positions = good.positions(g.units, align_log2);
    if (const int home = intervals_.preferred_of(v); home >= 0 && positions.has(home)) return home;
    if (!intervals_.preferred.empty() && positions.any()) {
      good = free_longest(good, g, interval);
      positions = good.positions(g.units, align_log2);
    }
    if (positions.none()) {
      const Interval soon{interval.begin, std::min(interval.end, end_of_next_bound())};
      good = free - intervals_.bound.conflicts({&soon, 1});
      positions = good.positions(g.units, align_log2);
    }
    if (const int at = last_[v.index()]; at != kNowhere && positions.has(at)) return at;
    if (round_.has_affinity) {
      int best = kNowhere, most = 0;
      for (const Constraint& c : round_.constraints.of(v)) {
        if (c.type != ConstraintType::Range || c.weight <= most || place_of(c.partner) == kNowhere) continue;
        const int at = place_of(c.partner) + c.unit;
        if (at >= 0 && at < ir::kMaxUnits && positions.has(at)) most = c.weight, best = at;
      }
      if (best != kNowhere) return best;
    }
    if (banks_ != nullptr && banks_->concerns(v)) {
      const std::uint64_t taken_banks = banks_->taken_banks(v, homes_);
      for (int u = positions.first(); u >= 0; u = positions.next(u + 1))
        if ((taken_banks >> round_.target.bank(u) & 1) == 0 && used_.has_any(u, ir::kMaxUnits)) return u;
    }
    if (a_.has_callee_saved())
      if (const int u = tightest(good - (a_.callee_saved() - used_), g, intervals_.room); u >= 0) return u;
    if (const int u = tightest(good, g, intervals_.room); u >= 0) return u;
    return tightest(free, g, intervals_.room);
  }
  // Behind the next instruction that destroys registers.
  [[nodiscard]] Point end_of_next_bound() const {
    const auto& bound = round_.index.bound;
    const std::size_t next = next_bound_ + (is_bound_ ? 1 : 0);
    return next < bound.size() ? write_point(bound[next]) : Point(~std::uint32_t{0});
  }
  [[nodiscard]] int choose_or_bound(VRegId v, const UnitSet& taken, const Interval& interval) const {
    const int bound = bound_to(v);
    if (bound == kNowhere) return choose(v, taken, interval);
    return taken.has_any(bound, bound + f_.vreg(v).units()) ? kNowhere : bound;
  }

  // --- heads and ends of blocks
  void enter(std::uint32_t n) {
    const std::uint32_t row = 2 * n;
    release_until(row);
    closed_ = round_.index.limits.closed(a_.file(), live_.inst_at(n));
    here_.clear();
    for_each_here([&](VRegId v) { here_.push_back(v); });
    const std::size_t num_going_on = here_.size();
    for (; next_ < intervals_.starts.size() && intervals_.starts[next_].row <= row; ++next_) {
      const Start& s = intervals_.starts[next_];
      if (lost_[s.vreg.index()] != 0 || s.end_row <= row) continue;
      begin(s.vreg, s.end_row, s.end);
      here_.push_back(s.vreg);
    }
    stand_as_left(num_going_on);
    std::erase_if(here_, [&](VRegId v) { return is_here(v); });
    std::stable_sort(here_.begin(), here_.end(), [&](VRegId x, VRegId y) { return rank(x) < rank(y); });
    const bool all_stand = std::all_of(here_.begin(), here_.end(), [&](VRegId v) {
      const int unit = choose_or_bound(v, taken_ | closed_, {read_point(n), end_[v.index()].point});
      if (unit >= 0) put(v, unit);
      return unit >= 0;
    });
    if (!all_stand) arrange_head();
    heads_.begin(block_);
    for_each_here([&](VRegId v) { heads_.add(block_, v, unit_[v.index()]); });
  }
  [[nodiscard]] std::pair<bool, int> rank(VRegId v) const { return {bound_to(v) == kNowhere, -f_.vreg(v).units()}; }
  // The first of here_ stand where the block before in this order leaves them; all stand where the likeliest predecessor does.
  void stand_as_left(std::size_t num_going_on) {
    const BlockId from = likeliest_predecessor();
    if (from.is_valid() && from == walked_last_ && !goes_back(from)) {
      for (std::size_t k = 0; k < num_going_on; ++k)
        if (is_closed(here_[k], unit_[here_[k].index()])) take_off(here_[k]);
      return stand_as(ends_.of(from));
    }
    for (std::size_t k = 0; k < num_going_on; ++k) take_off(here_[k]);
    if (from.is_valid()) stand_as((goes_back(from) ? ends_before_ : ends_).of(from));
  }
  void stand_as(std::span<const Places::Place> places) {
    for (const auto& [v, unit] : places) wanted_[v.index()] = unit;
    for (const VRegId v : here_)
      if (!is_here(v) && wanted_[v.index()] != kNowhere && !is_closed(v, wanted_[v.index()])) put(v, wanted_[v.index()]);
    for (const auto& [v, unit] : places) wanted_[v.index()] = kNowhere;
  }
  // Where the limit is lower than before.
  [[nodiscard]] bool is_closed(VRegId v, int unit) const { return closed_.has_any(unit, unit + f_.vreg(v).units()); }
  // The edges move whatever has to, so that all may stand anywhere.
  void arrange_head() {
    std::vector<Stand>& stands = arrangement_.stands;
    stands.clear();
    for_each_here([&](VRegId v) {
      stands.push_back({.vreg = v,
                        .shape = shape(v),
                        .at_reads = true,
                        .bound = bound_to(v),
                        .before = unit_[v.index()],
                        .preferred = intervals_.preferred_of(v),
                        .forbidden = closed_});
    });
    for (const VRegId v : here_)
      if (!is_here(v))
        stands.push_back({.vreg = v,
                          .shape = shape(v),
                          .at_reads = true,
                          .bound = bound_to(v),
                          .preferred = intervals_.preferred_of(v),
                          .forbidden = closed_});
    while (!arrangement_.place_anew()) drop_one();
    for (const Stand& s : stands)
      if (is_here(s.vreg)) take_off(s.vreg);
    for (const Stand& s : stands) put(s.vreg, s.now);
  }
  [[nodiscard]] bool goes_back(BlockId p) const { return cfg_.rpo_index(p) >= cfg_.rpo_index(block_); }
  [[nodiscard]] BlockId likeliest_predecessor() const {
    BlockId best;
    for (const BlockId p : cfg_.predecessors(block_)) {
      if (!cfg_.is_reachable(p) || (goes_back(p) && ends_before_.empty())) continue;
      const std::int64_t more = best.is_valid() ? frequency_[p.index()] - frequency_[best.index()] : 1;
      if (more > 0 || (more == 0 && p == walked_last_)) best = p;
    }
    return best;
  }

  void leave(std::uint32_t n) {
    walked_last_ = block_;
    ends_.begin(block_);
    for_each_here([&](VRegId v) {
      if (end_[v.index()].row >= 2 * n + 2) ends_.add(block_, v, unit_[v.index()]);
    });
  }

  void find_edge_moves() {
    for (const HomeMove& m : result_.moves) result_.num_executed += frequency_[live_.block_at(live_.number_of(m.inst)).index()];
    for (const BlockId b : cfg_.reverse_postorder()) {
      for (const auto& [v, unit] : ends_.of(b)) wanted_[v.index()] = unit;
      const auto all = cfg_.successors(b);
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all[k]) !=
            all.begin() + static_cast<std::ptrdiff_t>(k))
          continue;
        for (const auto& [v, unit] : heads_.of(all[k])) {
          if (wanted_[v.index()] == kNowhere || wanted_[v.index()] == unit) continue;
          if (REGDUEL_PLANTED("fatpoint-edge-keeps-old-homes")) continue;
          result_.edge_moves.push_back({b, all[k], v, wanted_[v.index()], unit});
          result_.num_executed += std::min(frequency_[b.index()], frequency_[all[k].index()]);
          moves_at_ends_of_loops_ = moves_at_ends_of_loops_ || cfg_.rpo_index(b) >= cfg_.rpo_index(all[k]);
        }
      }
      for (const auto& [v, unit] : ends_.of(b)) wanted_[v.index()] = kNowhere;
    }
  }

  // --- instructions
  void step(std::uint32_t n) {
    const Inst& inst = f_.insts[live_.inst_at(n)];
    release_until(2 * n);
    const auto& bound = round_.index.bound;
    while (next_bound_ < bound.size() && bound[next_bound_] < n) ++next_bound_;
    is_bound_ = next_bound_ < bound.size() && bound[next_bound_] == n;
    clobbered_ = is_bound_ ? clobbered_units(f_, inst, a_.file()) : UnitSet();
    restored_ = is_bound_ && inst.op == Op::Ret ? a_.callee_saved() : UnitSet();
    closed_ = is_bound_ ? round_.index.limits.closed(a_.file(), live_.inst_at(n)) : UnitSet();
    begins_.clear();
    for (; next_ < intervals_.starts.size() && intervals_.starts[next_].row <= 2 * n + 1; ++next_)
      add_begin(intervals_.starts[next_]);
    coming_.clear();
    if (is_someone_driven_away(n) || !place_begins(n)) arrange(n);
    // What is read stands where it is now; what is only written, where it comes.
    const auto ops = f_.operands_of(inst);
    for (std::size_t o = 0; o < ops.size(); ++o) {
      if (!ops[o].is_vreg() || f_.vreg(ops[o].vreg()).file() != a_.file()) continue;
      unit_of_[inst.first_operand + o] = unit_at(ops[o].vreg());
    }
    release_until(2 * n + 1);
    for (const Coming& c : coming_) {
      if (c.start.end_row <= 2 * n + 1) continue;
      begin(c.start.vreg, c.start.end_row, c.start.end);
      put(c.start.vreg, c.unit);
    }
  }
  // A vreg that begins at both rows has one home.
  void add_begin(const Start& s) {
    if (lost_[s.vreg.index()] != 0) return;
    const auto same = std::find_if(begins_.begin(), begins_.end(), [&](const Start& b) { return b.vreg == s.vreg; });
    if (same == begins_.end()) return begins_.push_back(s);
    same->end_row = s.end_row;
    same->end = s.end;
  }
  [[nodiscard]] std::int16_t unit_at(VRegId v) const {
    if (is_here(v)) return unit_[v.index()];
    const auto it = std::find_if(coming_.begin(), coming_.end(), [&](const Coming& c) { return c.start.vreg == v; });
    return static_cast<std::int16_t>(it == coming_.end() ? kNowhere : it->unit);
  }
  // Units that a value that ends at `end` may not have where the instruction reads.
  [[nodiscard]] UnitSet forbidden_until(Point end, std::uint32_t n) const {
    return (end > clobber_point(n) ? restored_ | clobbered_ : restored_) | closed_;
  }
  [[nodiscard]] bool is_someone_driven_away(std::uint32_t n) const {
    if (!is_bound_ || (taken_ & (clobbered_ | restored_ | closed_)).none()) return false;
    bool is_away = false;
    for_each_here([&](VRegId v) {
      const int unit = unit_[v.index()];
      is_away = is_away || forbidden_until(end_[v.index()].point, n).has_any(unit, unit + f_.vreg(v).units());
    });
    return is_away;
  }

  // Homes for those that begin here, if no other value has to move for them.
  bool place_begins(std::uint32_t n) {
    if (begins_.empty()) return true;
    UnitSet at_reads = taken_, at_writes = taken_;
    for_each_ending(2 * n + 1, [&](VRegId v) { at_writes.clear_range(unit_[v.index()], unit_[v.index()] + f_.vreg(v).units()); });
    if (begins_.size() > 1)
      std::stable_sort(begins_.begin(), begins_.end(), [&](const Start& x, const Start& y) {
        return std::pair(!is_here(x.vreg), rank(x.vreg)) < std::pair(!is_here(y.vreg), rank(y.vreg));
      });
    return std::all_of(begins_.begin(), begins_.end(), [&](const Start& s) {
      const bool reads = s.row == 2 * n, writes = s.end_row > 2 * n + 1;
      const int units = f_.vreg(s.vreg).units();
      UnitSet taken = writes ? at_writes | closed_ : UnitSet();
      if (reads) taken |= at_reads | forbidden_until(s.end, n);
      int unit = kNowhere;
      if (!is_here(s.vreg)) unit = choose_or_bound(s.vreg, taken, {reads ? read_point(n) : write_point(n), s.end});
      else if (!taken.has_any(unit_[s.vreg.index()], unit_[s.vreg.index()] + units)) unit = unit_[s.vreg.index()];
      if (unit < 0) return false;
      coming_.push_back({s, unit});
      if (reads) at_reads.set_range(unit, unit + units);
      if (writes) at_writes.set_range(unit, unit + units);
      return true;
    });
  }

  // Homes for all values of the instruction. Those that live before it move there.
  void arrange(std::uint32_t n) {
    std::vector<Stand>& stands = arrangement_.stands;
    stands.clear();
    for_each_here([&](VRegId v) {
      stands.push_back({.vreg = v,
                        .shape = shape(v),
                        .at_reads = true,
                        .at_writes = end_[v.index()].row > 2 * n + 1,
                        .bound = bound_to(v),
                        .before = unit_[v.index()],
                        .preferred = intervals_.preferred_of(v),
                        .forbidden = forbidden_until(end_[v.index()].point, n)});
    });
    for (const Start& s : begins_) {
      if (is_here(s.vreg)) {  // it is read here, too
        std::find_if(stands.begin(), stands.end(), [&](const Stand& t) { return t.vreg == s.vreg; })->at_writes = true;
        continue;
      }
      const bool reads = s.row == 2 * n;
      stands.push_back({.vreg = s.vreg,
                        .shape = shape(s.vreg),
                        .at_reads = reads,
                        .at_writes = !reads || s.end_row > 2 * n + 1,
                        .bound = bound_to(s.vreg),
                        .preferred = intervals_.preferred_of(s.vreg),
                        .forbidden = reads ? forbidden_until(s.end, n) : closed_});
    }
    while (!arrangement_.arrange()) drop_one();
    const std::size_t first = result_.moves.size();
    for (const Stand& s : stands) {
      if (s.before == kNowhere || s.before == s.now) continue;
      result_.moves.push_back({live_.inst_at(n), s.vreg, s.before, s.now});
      take_off(s.vreg);
    }
    for (std::size_t k = first; k < result_.moves.size(); ++k) put(result_.moves[k].vreg, result_.moves[k].to);
    coming_.clear();
    for (const Start& s : begins_) {
      const auto stand = std::find_if(stands.begin(), stands.end(), [&](const Stand& t) { return t.vreg == s.vreg; });
      if (stand != stands.end()) coming_.push_back({s, stand->now});
    }
  }

  // Takes one of the stands away: the one that costs least to spill for its units; without one that can be spilled, a temporary.
  void drop_one() {
    has_misfit_ = true;
    std::vector<Stand>& stands = arrangement_.stands;
    const auto cost = [&](const Stand& s) {
      const std::int64_t all = round_.spill_cost[s.vreg.index()];
      if (all < kUnspillable) return all / s.shape.units;
      return round_.lowered.temp_of[s.vreg.index()] != kNoInst ? kUnspillable : kUnspillable + 1;
    };
    const auto it =
        std::min_element(stands.begin(), stands.end(), [&](const Stand& x, const Stand& y) { return cost(x) < cost(y); });
    const VRegId v = it->vreg;
    if (cost(*it) < kUnspillable) {
      result_.to_spill.push_back(v);
    } else if (const std::uint32_t inst = round_.lowered.temp_of[v.index()]; inst != kNoInst) {
      if (std::ranges::find(result_.to_pin, inst) == result_.to_pin.end()) result_.to_pin.push_back(inst);
    }
    lost_[v.index()] = 1;
    if (is_here(v)) take_off(v);
    stands.erase(it);
  }

  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const Liveness& live_;
  const Intervals& intervals_;
  const ir::Cfg& cfg_;
  std::span<const std::int64_t> frequency_;
  std::span<std::int16_t> unit_of_;
  Arrangement arrangement_;
  std::vector<std::int16_t> unit_, last_, wanted_;  // by vreg: its unit now; the last that it had; scratch
  struct End {
    std::uint32_t row = 0;
    Point point;
  };
  std::vector<End> end_;             // by vreg: where its interval ends
  std::vector<char> lost_;           // by vreg: 1 = it has no home any more
  std::vector<VRegId> ending_;       // by row: the first vreg whose interval ends there
  std::vector<VRegId> then_ending_;  // by vreg: the next one that ends where it does
  std::uint32_t released_ = 0;       // rows at which ending vregs have left
  Places ends_before_, heads_, ends_;
  std::size_t next_ = 0, next_bound_ = 0;            // in Intervals::starts, in RoundIndex::bound
  std::array<VRegId, ir::kMaxUnits> occupant_ = {};  // by unit in taken_
  UnitSet taken_, used_;
  // Of the instruction at hand.
  bool is_bound_ = false;  // it has clobbers, or is a ret
  UnitSet clobbered_, restored_;
  UnitSet closed_;  // above its limit
  std::vector<Start> begins_;
  struct Coming {
    Start start;
    int unit;
  };
  std::vector<Coming> coming_;  // those that begin, with their homes
  BlockId block_, walked_last_;
  std::vector<VRegId> here_;
  bool moves_at_ends_of_loops_ = false, has_misfit_ = false;
  const BankPairs* const banks_;  // null where banks do not count
  std::vector<int> homes_;        // by vreg, with banks: where it stood last
  Walk result_;
};

Walk best_walk(const FileAllocator& allocator, const Intervals& intervals, const ir::Cfg& cfg,
               std::span<const std::int64_t> frequency, std::span<std::int16_t> unit_of) {
  FileWalk first(allocator, intervals, cfg, frequency, unit_of, Places());
  Walk best = first.run();
  bool may_improve = best.fits && first.moves_at_ends_of_loops();
  Places ends = first.take_ends();
  std::vector<std::int16_t> units(may_improve ? unit_of.size() : 0);
  for (int n = 1; n < kMostWalks && may_improve; ++n) {
    std::copy(unit_of.begin(), unit_of.end(), units.begin());
    FileWalk next(allocator, intervals, cfg, frequency, units, std::move(ends));
    Walk other = next.run();
    may_improve = other.fits && next.moves_at_ends_of_loops();
    ends = next.take_ends();
    if (!other.fits || other.num_executed >= best.num_executed) continue;
    best = std::move(other);
    std::copy(units.begin(), units.end(), unit_of.begin());
  }
  return best;
}

}  // namespace

Walk walk(const FileAllocator& allocator, const ir::Cfg& cfg, std::span<const std::int64_t> frequency,
          std::span<const int> preferred, int enough, std::span<std::int16_t> unit_of) {
  Intervals intervals(allocator, allocator.round().lowered.f, allocator.round().live, preferred);
  const UnitSet usable = intervals.room.usable;
  int units = std::max(enough, intervals.room.needed);
  for (int more = kMoreUnits;; units += more, more *= kFactor) {
    intervals.room.usable = usable & UnitSet::range(0, std::min(units, ir::kMaxUnits));
    intervals.has_more_room = units < usable.end();
    Walk w = best_walk(allocator, intervals, cfg, frequency, unit_of);
    if (w.fits || !intervals.has_more_room) return w;
  }
}

}  // namespace regduel::allocator
