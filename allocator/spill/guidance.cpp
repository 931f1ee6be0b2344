// See guidance.h.

#include "allocator/spill/guidance.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>

#include "allocator/program/names.h"
#include "allocator/spill/cost.h"

namespace regduel::allocator {

namespace {

std::int64_t slot_bytes_of(const Function& f, VRegId v, std::span<const Location> if_spilled) {
  if (v.index() >= if_spilled.size()) return 0;  // a pack: its members have slots
  return if_spilled[v.index()].is_recomputed() || if_spilled[v.index()].is_packed() ? 0 : slot_bytes(f.vreg(v));
}

}  // namespace

Spilled Spilled::of(const Function& f, const Plan& plan) {
  Spilled s;
  for (std::size_t v = 0; v < plan.location.size(); ++v) {
    if (!plan.is_spilled(VRegId(v))) continue;
    ++s.vregs[ir::index(f.vregs[v].file())];
    s.slot_bytes += slot_bytes_of(f, VRegId(v), plan.location);
  }
  return s;
}

// The queue of one file.
class SpillGuidance::Queue {
 public:
  Queue(const Pressed& program, RegFile file)
      : program_(program), f_(program.f), file_(file), vregs_(program.index.vregs[ir::index(file)]) {
    measure();
  }
  [[nodiscard]] bool is_over() const { return is_over_; }

  //   slot_bytes   the slots of the victims are added
  std::vector<VRegId> run(const TemporaryLists& temporaries, std::int64_t& slot_bytes, VictimRank* asked) {
    temporaries_ = &temporaries;
    struct Entry {
      std::int64_t cost, relief;
      VRegId vreg;
      // The top of the queue has the least cost for each unit of relief; among equals, the lowest number.
      bool operator<(const Entry& o) const {
        const std::int64_t a = cost * o.relief, b = o.cost * relief;
        return a != b ? a > b : vreg > o.vreg;
      }
    };
    std::vector<Entry> entries;
    entries.reserve(vregs_.size());
    // Products stay within 63 bits: costs are below 2^48, so what is beyond 2^43 counts as 2^43.
    const auto entry = [&](VRegId v, std::int64_t relief) {
      return Entry{std::min(program_.spill_cost[v.index()], std::int64_t{1} << 43), std::min(relief, (std::int64_t{1} << 20) - 1),
                   v};
    };
    for (const VRegId v : vregs_)
      if (program_.spill_cost[v.index()] < kUnspillable)
        if (const std::int64_t r = relief(v); r > 0) entries.push_back(entry(v, r));
    std::priority_queue<Entry> queue(std::less<Entry>(), std::move(entries));
    std::vector<VRegId> victims;
    while (!queue.empty() && num_over_ > 0) {
      const Entry top = queue.top();
      queue.pop();
      const std::int64_t now = relief(top.vreg);
      if (now == 0) continue;
      const Entry again = entry(top.vreg, now);
      if (now != top.relief && !queue.empty() && again < queue.top()) {
        queue.push(again);
        continue;
      }
      const std::int64_t bytes = slot_bytes + slot_bytes_of(f_, top.vreg, program_.if_spilled);
      if (program_.slots.pool_bytes(bytes) > program_.slots.max_pool_bytes && bytes > slot_bytes) continue;
      slot_bytes = bytes;
      if (asked != nullptr && asked->vreg == top.vreg) {
        const Entry next = queue.empty() ? Entry{} : queue.top();
        *asked = {top.vreg, top.cost, now, victims.size(), next.vreg, next.cost, next.relief};
      }
      spill(top.vreg);
      victims.push_back(top.vreg);
    }
    if (num_over_ == 0) drop_redundant(victims, slot_bytes);
    std::sort(victims.begin(), victims.end());
    return victims;
  }

 private:
  // Finds the points over budget that are worth a spill, and by how many units they are over. Clobbers are points of their own.
  void measure() {
    const UnitSet& allocatable = program_.budget.allocatable[ir::index(file_)];
    const std::int32_t budget = allocatable.count();
    const bool is_paired =
        std::all_of(vregs_.begin(), vregs_.end(), [&](VRegId v) { return f_.vreg(v).units() == 2 && f_.vreg(v).alignment() == 2; });
    const bool always = program_.model.always_triggers(is_paired);
    const auto is_worth = [&](std::int32_t count, std::int32_t room) {
      return always ||
             program_.model.triggers(program_.spilled.vregs[ir::index(file_)], count - room, count, {.budget = room}, is_paired);
    };
    const PointLimits& limits = program_.index.limits;
    const bool varies = file_ == RegFile::R && limits.vary();
    std::vector<std::int32_t> room;
    for (const std::uint32_t k : program_.index.bound) {
      const std::uint32_t inst = program_.live.inst_at(k);
      const UnitSet clobbered = clobbered_units(f_, f_.insts[inst], file_) | limits.closed(file_, inst);
      if (clobbered.none()) continue;
      clobbers_.add(clobber_point(k));
      room.push_back((allocatable - clobbered).count());
    }
    const int max_live = program_.index.max_live[ir::index(file_)];
    if (max_live <= budget && std::all_of(room.begin(), room.end(), [&](std::int32_t r) { return max_live <= r; })) return;
    // By row: the change of live units there; turned into its final meaning below.
    hot_before_.assign(2 * static_cast<std::size_t>(program_.live.num_numbered()) + 1, 0);
    over_clobber_.assign(clobbers_.size() + 1, 0);
    for (const VRegId v : vregs_) {
      const int units = f_.vreg(v).units();
      for (const Interval& i : program_.live.range(v.index())) {
        hot_before_[first_row(i)] += units;
        hot_before_[end_row(i)] -= units;
        if (clobbers_.empty()) continue;
        over_clobber_[clobber(i.begin)] += units;
        over_clobber_[clobber(i.end)] -= units;
      }
    }
    std::int32_t sum = 0;
    for (std::size_t c = 0; c < clobbers_.size(); ++c) {
      over_clobber_[c] = (sum += over_clobber_[c]) - room[c];
      if (over_clobber_[c] <= 0) continue;
      is_over_ = true;
      if (!is_worth(sum, room[c])) over_clobber_[c] = 0;
      else ++num_over_;
    }
    if (!is_over_ && max_live <= budget && !varies) return;
    std::int32_t units = 0;
    for (std::size_t row = 0; row < hot_before_.size(); ++row) {
      units += hot_before_[row];
      hot_before_[row] = static_cast<std::int32_t>(hot_.size());
      std::int32_t there = budget;
      if (varies && row / 2 < program_.live.num_numbered())
        there = (allocatable - limits.closed(file_, program_.live.inst_at(static_cast<std::uint32_t>(row / 2)))).count();
      if (units <= there) continue;
      is_over_ = true;
      if (is_worth(units, there)) hot_.push_back(units - there);
    }
    num_over_ += static_cast<std::int64_t>(hot_.size());
  }
  [[nodiscard]] std::size_t clobber(Point p) const { return clobbers_.count_before(p); }

  // Calls each(pieces of hot_ that v would relieve but for its temporaries, true), except_for(rows where one stands in there), and
  // each(pieces of over_clobber_, false).
  template <class Each, class ExceptFor>
  void for_each_relieved(VRegId v, Each each, ExceptFor except_for) {
    const std::span<const TemporaryLists::At> temporaries = (*temporaries_)[v];
    const bool is_recomputed = v.index() < program_.if_spilled.size() && program_.if_spilled[v.index()].is_recomputed();
    auto next = temporaries.begin();
    for (const Interval& i : program_.live.range(v.index())) {
      const std::size_t begin = first_row(i), end = end_row(i);
      if (const std::int32_t first = hot_before_[begin], last = hot_before_[end]; first < last) {
        each(hot_.data() + first, hot_.data() + last, true);
        while (next != temporaries.end() && next->number < begin / 2) ++next;
        for (auto at = next; at != temporaries.end() && 2 * std::size_t{at->number} < end; ++at) {
          // The def of a rematerialised vreg is deleted.
          if (is_recomputed && at->after) continue;
          const std::size_t reading = 2 * std::size_t{at->number}, after = reading + 1;
          for (const std::size_t r : {reading, after})
            if (r >= begin && r < end && (r == reading ? at->while_reading : at->after) && hot_before_[r + 1] > hot_before_[r])
              except_for(hot_[static_cast<std::size_t>(hot_before_[r])]);
        }
      }
      if (clobbers_.empty()) continue;
      if (const std::size_t first = clobber(i.begin), last = clobber(i.end); first < last)
        each(over_clobber_.data() + first, over_clobber_.data() + last, false);
    }
  }
  std::int64_t relief(VRegId v) {
    std::int64_t moments = 0;
    for_each_relieved(
        v,
        [&](const std::int32_t* begin, const std::int32_t* end, bool is_hot) {
          // Before the first spill, all hot rows are over budget.
          if (is_hot && !is_any_spilled_) {
            moments += end - begin;
            return;
          }
          moments += count_above(0, begin, end);
        },
        [&](std::int32_t over) { moments -= over > 0 ? 1 : 0; });
    return moments * f_.vreg(v).units();
  }
  //   sign   -1 = the vreg is spilled no longer
  void spill(VRegId v, int sign = 1) {
    is_any_spilled_ = true;
    const int units = sign * f_.vreg(v).units();
    for_each_relieved(
        v, [&](std::int32_t* begin, const std::int32_t* end, bool) { change(begin, end, -units); },
        [&](std::int32_t& over) { change(&over, &over + 1, units); });
  }

  // Later victims may relieve all points of an earlier one, which then stays in its register. The costliest are tried first.
  void drop_redundant(std::vector<VRegId>& victims, std::int64_t& slot_bytes) {
    if (victims.size() < 2 || num_over_ != 0) return;
    std::vector<VRegId> order = victims;
    std::stable_sort(order.begin(), order.end(),
                     [&](VRegId a, VRegId b) { return program_.spill_cost[a.index()] > program_.spill_cost[b.index()]; });
    for (const VRegId v : order) {
      if (!is_redundant(v)) continue;
      spill(v, -1);
      slot_bytes -= slot_bytes_of(f_, v, program_.if_spilled);
      std::erase(victims, v);
    }
  }
  // No point is over budget with this victim in its register.
  bool is_redundant(VRegId v) {
    const int units = f_.vreg(v).units();
    std::int64_t num_over = 0;
    for_each_relieved(
        v, [&](const std::int32_t* begin, const std::int32_t* end, bool) { num_over += count_above(-units, begin, end); },
        [&](std::int32_t over) { num_over -= over > -units ? 1 : 0; });
    return num_over == 0;
  }

  [[nodiscard]] static std::int32_t count_above(std::int32_t least, const std::int32_t* begin, const std::int32_t* end) {
    std::int32_t count = 0;
    for (const std::int32_t* o = begin; o != end; ++o) count += *o > least ? 1 : 0;
    return count;
  }
  void change(std::int32_t* begin, const std::int32_t* end, std::int32_t by) {
    std::int32_t num_more = 0;
    for (std::int32_t* o = begin; o != end; ++o) {
      num_more += (*o + by > 0 ? 1 : 0) - (*o > 0 ? 1 : 0);
      *o += by;
    }
    num_over_ += num_more;
  }

  const Pressed& program_;
  const Function& f_;
  RegFile file_;
  std::span<const VRegId> vregs_;
  const TemporaryLists* temporaries_ = nullptr;
  // Rows (two an instruction: R and W) that are over budget at first, and by how many units they are now. A spill only takes away.
  std::vector<std::int32_t> hot_;
  std::vector<std::int32_t> hot_before_;  // by row: how many of these come before; empty where nothing is over budget
  std::vector<std::int32_t> over_clobber_;
  PointIndex clobbers_;
  std::int64_t num_over_ = 0;  // pieces of hot_ and over_clobber_ above zero: with none of them, no vreg brings relief
  bool is_any_spilled_ = false;
  bool is_over_ = false;
};

SpillGuidance::SpillGuidance(const Pressed& program) : program_(program), slot_bytes_(program.spilled.slot_bytes) {}
SpillGuidance::~SpillGuidance() = default;

SpillGuidance::Queue& SpillGuidance::queue(RegFile file) {
  std::unique_ptr<Queue>& q = queues_[ir::index(file)];
  if (q == nullptr) q = std::make_unique<Queue>(program_, file);
  return *q;
}

const TemporaryLists& SpillGuidance::temporaries() {
  if (temporaries_ == nullptr) temporaries_ = std::make_unique<TemporaryLists>(program_.f, program_.live);
  return *temporaries_;
}

bool SpillGuidance::is_over(RegFile file) { return !program_.index.vregs[ir::index(file)].empty() && queue(file).is_over(); }

std::vector<VRegId> SpillGuidance::victims(RegFile file, VictimRank* asked) {
  if (!is_over(file)) return {};
  return queue(file).run(temporaries(), slot_bytes_, asked);
}

}  // namespace regduel::allocator
