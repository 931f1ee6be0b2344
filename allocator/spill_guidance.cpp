// See spill_guidance.h.

#include "allocator/spill_guidance.h"

#include <algorithm>
#include <queue>

namespace regduel::allocator {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

class Guidance {
 public:
  Guidance(const Round& round, RegFile file) : round_(round), f_(round.lowered.f), file_(file) {}

  std::vector<VRegId> run() {
    measure();
    if (!is_over()) return {};
    list_operands();
    struct Entry {
      std::int64_t cost, relief;
      VRegId vreg;
      // The queue's top is the least cost a unit of relief, the lower number among equals.
      bool operator<(const Entry& o) const {
        const std::int64_t a = cost * o.relief, b = o.cost * relief;
        return a != b ? a > b : vreg > o.vreg;
      }
    };
    std::priority_queue<Entry> queue;
    // Products stay within 63 bits: costs are below 2^48, so what is beyond 2^38 counts as 2^38.
    const auto entry = [&](VRegId v, std::int64_t relief) {
      return Entry{std::min(round_.spill_cost[v.index()], std::int64_t{1} << 38), std::min(relief, (std::int64_t{1} << 24) - 1), v};
    };
    for (const VRegId v : vregs_)
      if (round_.spill_cost[v.index()] < kUnspillable)
        if (const std::int64_t r = relief(v); r > 0) queue.push(entry(v, r));
    std::vector<VRegId> victims;
    while (!queue.empty()) {
      const Entry top = queue.top();
      queue.pop();
      const std::int64_t now = relief(top.vreg);
      if (now == 0) continue;
      const Entry again = entry(top.vreg, now);
      if (now != top.relief && !queue.empty() && again < queue.top()) {
        queue.push(again);
        continue;
      }
      spill(top.vreg);
      victims.push_back(top.vreg);
    }
    std::sort(victims.begin(), victims.end());
    return victims;
  }

 private:
  // over_[row] > 0: so many units too many at that moment; clobbers are rows of their own behind the others.
  void measure() {
    const std::uint32_t n = round_.live.num_numbered();
    const Units& allocatable = round_.budget.allocatable[ir::index(file_)];
    const auto budget = static_cast<std::int32_t>(allocatable.count());
    over_.assign(2 * static_cast<std::size_t>(n) + 1, 0);
    std::vector<std::int32_t> room;
    for (std::uint32_t k = 0; k < n; ++k) {
      const Inst& inst = f_.insts[round_.live.inst_at(k)];
      Units clobbered;
      const auto ops = f_.operands_of(inst);
      for (std::size_t o = ops.size(); o-- > 0 && ops[o].role == Role::Clobber;)
        if (ops[o].preg().file == file_) clobbered |= units_of(ops[o].preg());
      if (clobbered.none()) continue;
      clobbers_.push_back(clobber_point(k));
      room.push_back(static_cast<std::int32_t>((allocatable & ~clobbered).count()));
    }
    over_clobber_.assign(clobbers_.size() + 1, 0);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      if (f_.vregs[v].file() != file_ || round_.live.range(v).empty()) continue;
      vregs_.push_back(VRegId(v));
      const int units = f_.vregs[v].units();
      for (const Interval& i : round_.live.range(v)) {
        over_[row(i.begin)] += units;
        over_[row(i.end)] -= units;
        over_clobber_[clobber(i.begin)] += units;
        over_clobber_[clobber(i.end)] -= units;
      }
    }
    std::int32_t sum = 0;
    for (std::int32_t& o : over_) o = (sum += o) - budget;
    sum = 0;
    for (std::size_t c = 0; c < clobbers_.size(); ++c) over_clobber_[c] = (sum += over_clobber_[c]) - room[c];
    over_.back() = over_clobber_.back() = 0;
  }
  static std::size_t row(Point p) { return (static_cast<std::size_t>(p) + 1) / 2; }
  [[nodiscard]] std::size_t clobber(Point p) const {
    return static_cast<std::size_t>(std::lower_bound(clobbers_.begin(), clobbers_.end(), p) - clobbers_.begin());
  }
  [[nodiscard]] bool is_over() const {
    const auto positive = [](std::int32_t o) { return o > 0; };
    return std::any_of(over_.begin(), over_.end(), positive) || std::any_of(over_clobber_.begin(), over_clobber_.end(), positive);
  }

  // Instructions that have the vreg as an operand, ascending.
  void list_operands() {
    operand_begin_.assign(f_.vregs.size() + 1, 0);
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<std::uint32_t> at;
      if (pass == 1) {
        for (std::size_t v = 0; v < f_.vregs.size(); ++v) operand_begin_[v + 1] += operand_begin_[v];
        operand_at_.resize(operand_begin_.back());
        at.assign(operand_begin_.begin(), operand_begin_.end() - 1);
      }
      for (std::uint32_t k = 0; k < round_.live.num_numbered(); ++k)
        for (const Operand& op : f_.operands_of(f_.insts[round_.live.inst_at(k)])) {
          if (!op.is_vreg() || f_.vreg(op.vreg()).file() != file_) continue;
          if (pass == 0) ++operand_begin_[op.value + 1];
          else operand_at_[at[op.value]++] = k;
        }
    }
  }
  template <class Visit>
  void for_each_relieved(VRegId v, Visit visit) {
    std::size_t next = operand_begin_[v.index()];
    const std::size_t last = operand_begin_[v.index() + 1];
    for (const Interval& i : round_.live.range(v.index())) {
      for (std::size_t r = row(i.begin); r < row(i.end); ++r) {
        while (next < last && operand_at_[next] < r / 2) ++next;
        if (next < last && operand_at_[next] == r / 2) continue;
        visit(over_[r]);
      }
      for (std::size_t c = clobber(i.begin); c < clobber(i.end); ++c) visit(over_clobber_[c]);
    }
  }
  std::int64_t relief(VRegId v) {
    std::int64_t moments = 0;
    for_each_relieved(v, [&](std::int32_t over) { moments += over > 0 ? 1 : 0; });
    return moments * f_.vreg(v).units();
  }
  void spill(VRegId v) {
    const int units = f_.vreg(v).units();
    for_each_relieved(v, [&](std::int32_t& over) { over -= units; });
  }

  const Round& round_;
  const Function& f_;
  RegFile file_;
  std::vector<VRegId> vregs_;
  std::vector<std::int32_t> over_, over_clobber_;
  std::vector<Point> clobbers_;
  std::vector<std::uint32_t> operand_begin_, operand_at_;
};

}  // namespace

std::vector<VRegId> spill_guidance(const Round& round, RegFile file) { return Guidance(round, file).run(); }

}  // namespace regduel::allocator
