// See coalesced_classes.h.

#include "allocator/assign/coalesced_classes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// No two classes with more pairs of members than this are compared member by member.
constexpr std::size_t kMaxPairs = 1024;

// Merges classes along affinities, the heaviest first.
class Coalescer {
 public:
  Coalescer(const Function& f, const Liveness& live, const ConstraintLists& constraints, ir::Fuel* fuel)
      : f_(f), live_(live), constraints_(constraints), fuel_(fuel) {}

  //   vregs   those that may be coalesced
  void run(std::span<const VRegId> vregs) {
    find_affinities(vregs);
    if (affinities_.empty()) return;
    class_of.assign(f_.vregs.size(), CoalescedClasses::kNone);
    turn_.assign(f_.vregs.size(), CoalescedClasses::kNone);
    for (const Affinity& a : affinities_)
      if (may_join(a.a, a.b)) join(a.a, a.b);
    number_classes();
  }

  std::vector<CoalescedClass> classes;
  std::vector<std::uint32_t> class_of;  // by vreg; empty if there are no classes

 private:
  struct Affinity {
    int weight;
    VRegId a, b;
  };
  // A vreg, or the class that it is in.
  struct Side {
    std::span<const VRegId> members;
    std::span<const Interval> range;
    int align_log2;
    ir::PReg fixed;
  };

  void find_affinities(std::span<const VRegId> vregs) {
    for (const VRegId v : vregs)
      for (const Constraint& c : constraints_.of(v))
        if (c.type == ConstraintType::Range && c.partner.is_valid() && c.unit == 0 && v < c.partner &&
            f_.vreg(v).units() == f_.vreg(c.partner).units() && !live_.range(c.partner.index()).empty())
          affinities_.push_back({c.weight, v, c.partner});
    std::sort(affinities_.begin(), affinities_.end(), [](const Affinity& x, const Affinity& y) {
      return std::tuple(-x.weight, x.a, x.b) < std::tuple(-y.weight, y.a, y.b);
    });
  }

  [[nodiscard]] bool are_together(VRegId v, VRegId w) const {
    return class_of[v.index()] != CoalescedClasses::kNone && class_of[v.index()] == class_of[w.index()];
  }
  Side side(const VRegId& v) {
    if (turn_[v.index()] == CoalescedClasses::kNone) turn_[v.index()] = turns_++;
    if (class_of[v.index()] == CoalescedClasses::kNone)
      return {{&v, 1}, live_.range(v.index()), f_.vreg(v).align_log2, f_.vreg(v).fixed};
    const CoalescedClass& c = classes[class_of[v.index()]];
    return {c.members, c.range, c.align_log2, c.fixed};
  }
  bool may_join(const VRegId& v, const VRegId& w) {
    const Side a = side(v), b = side(w);
    return !are_together(v, w) && can_share(a, b) && ir::may(fuel_, "coalesce-copy");
  }
  [[nodiscard]] bool can_share(const Side& a, const Side& b) const {
    if (a.fixed.is_valid() && b.fixed.is_valid() && a.fixed != b.fixed) return false;
    const ir::PReg fixed = a.fixed.is_valid() ? a.fixed : b.fixed;
    if (fixed.is_valid() && fixed.first % (1 << std::max(a.align_log2, b.align_log2)) != 0) return false;
    if (!overlap(a.range, b.range)) return true;
    if (a.members.size() * b.members.size() > kMaxPairs) return false;
    if (REGDUEL_PLANTED("fatpoint-coalesces-across-a-def")) return true;
    const auto spares = [&](VRegId x, VRegId y) {
      return constraints_.defs().spares(x, y, live_.range(y.index()), [&](VRegId v) { return are_together(v, y); });
    };
    for (const VRegId x : a.members)
      for (const VRegId y : b.members)
        if (!spares(x, y) || !spares(y, x)) return false;
    return true;
  }

  std::uint32_t class_with(VRegId v) {
    std::uint32_t& c = class_of[v.index()];
    if (c == CoalescedClasses::kNone) {
      c = static_cast<std::uint32_t>(classes.size());
      const auto range = live_.range(v.index());
      classes.push_back({{v}, LiveRange(range), f_.vreg(v).align_log2, f_.vreg(v).fixed});
    }
    return c;
  }
  void join(VRegId v, VRegId w) {
    std::uint32_t a = class_with(v), b = class_with(w);
    if (classes[a].members.size() < classes[b].members.size()) std::swap(a, b);
    CoalescedClass &to = classes[a], &from = classes[b];
    to.range.merge(from.range);
    to.align_log2 = std::max(to.align_log2, from.align_log2);
    if (from.fixed.is_valid()) to.fixed = from.fixed;
    for (const VRegId member : from.members) class_of[member.index()] = a;
    to.members.insert(to.members.end(), from.members.begin(), from.members.end());
    from = {};
  }

  // Drops classes that others have taken in. The rest come in the order in which their first members came up.
  void number_classes() {
    std::erase_if(classes, [](const CoalescedClass& c) { return c.members.empty(); });
    std::sort(classes.begin(), classes.end(), [&](const CoalescedClass& x, const CoalescedClass& y) {
      return turn_[x.members[0].index()] < turn_[y.members[0].index()];
    });
    for (std::size_t c = 0; c < classes.size(); ++c) {
      std::sort(classes[c].members.begin(), classes[c].members.end());
      for (const VRegId v : classes[c].members) class_of[v.index()] = static_cast<std::uint32_t>(c);
    }
  }

  const Function& f_;
  const Liveness& live_;
  const ConstraintLists& constraints_;
  ir::Fuel* fuel_;
  std::vector<Affinity> affinities_;
  std::vector<std::uint32_t> turn_;  // by vreg: its place among those that have affinities
  std::uint32_t turns_ = 0;
};

}  // namespace

CoalescedClasses::CoalescedClasses(const Function& f, const Liveness& live, const ConstraintLists& constraints,
                                   std::span<const VRegId> vregs, ir::Fuel* fuel) {
  Coalescer coalescer(f, live, constraints, fuel);
  coalescer.run(vregs);
  classes_ = std::move(coalescer.classes);
  class_of_ = std::move(coalescer.class_of);
}

}  // namespace regduel::allocator
