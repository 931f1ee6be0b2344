// See coalesced_classes.h.

#include "allocator/assign/coalesced_classes.h"

#include <algorithm>
#include <tuple>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::VRegId;

// No two classes with more pairs of members than this are compared member by member.
constexpr std::size_t kMaxPairs = 1024;

}  // namespace

CoalescedClasses::CoalescedClasses(const Function& f, const Liveness& live, const ConstraintLists& constraints,
                                   std::span<const VRegId> vregs, ir::Fuel* fuel) {
  struct Edge {
    int weight;
    VRegId a, b;
  };
  std::vector<Edge> edges;
  for (const VRegId v : vregs)
    for (const Constraint& c : constraints.of(v))
      if (c.type == ConstraintType::Range && c.partner.is_valid() && c.unit == 0 && v < c.partner &&
          f.vreg(v).units() == f.vreg(c.partner).units() && !live.range(c.partner.index()).empty())
        edges.push_back({c.weight, v, c.partner});
  if (edges.empty()) return;
  class_of_.assign(f.vregs.size(), kNone);
  std::sort(edges.begin(), edges.end(),
            [](const Edge& x, const Edge& y) { return std::tuple(-x.weight, x.a, x.b) < std::tuple(-y.weight, y.a, y.b); });
  const auto class_of = [&](VRegId v) {
    std::uint32_t& c = class_of_[v.index()];
    if (c == kNone) {
      c = static_cast<std::uint32_t>(classes_.size());
      const auto range = live.range(v.index());
      classes_.push_back({{v}, {range.begin(), range.end()}, f.vreg(v).align_log2, f.vreg(v).fixed});
    }
    return c;
  };
  // A vreg, or the class that it is in.
  struct Side {
    std::span<const VRegId> members;
    std::span<const Interval> range;
    int align_log2;
    ir::PReg fixed;
  };
  std::vector<std::uint32_t> turn(f.vregs.size(), kNone);  // by vreg: its place among those that have affinities
  std::uint32_t turns = 0;
  const auto side = [&](const VRegId& v) -> Side {
    if (turn[v.index()] == kNone) turn[v.index()] = turns++;
    if (class_of_[v.index()] == kNone) return {{&v, 1}, live.range(v.index()), f.vreg(v).align_log2, f.vreg(v).fixed};
    const CoalescedClass& c = classes_[class_of_[v.index()]];
    return {c.members, c.range, c.align_log2, c.fixed};
  };
  const auto is_with = [&](VRegId y) {
    return [&, y](VRegId v) { return class_of_[v.index()] != kNone && class_of_[v.index()] == class_of_[y.index()]; };
  };
  const auto can_share = [&](const Side& a, const Side& b) {
    if (a.fixed.is_valid() && b.fixed.is_valid() && a.fixed != b.fixed) return false;
    const ir::PReg fixed = a.fixed.is_valid() ? a.fixed : b.fixed;
    if (fixed.is_valid() && fixed.first % (1 << std::max(a.align_log2, b.align_log2)) != 0) return false;
    if (!overlap(a.range, b.range)) return true;
    if (a.members.size() * b.members.size() > kMaxPairs) return false;
    if (REGDUEL_PLANTED("fatpoint-coalesces-across-a-def")) return true;
    for (const VRegId x : a.members)
      for (const VRegId y : b.members)
        if (!constraints.defs().spares(x, y, live.range(y.index()), is_with(y)) ||
            !constraints.defs().spares(y, x, live.range(x.index()), is_with(x)))
          return false;
    return true;
  };
  for (const Edge& e : edges) {
    const Side sides[] = {side(e.a), side(e.b)};
    const bool is_joined = class_of_[e.a.index()] != kNone && class_of_[e.a.index()] == class_of_[e.b.index()];
    if (is_joined || !can_share(sides[0], sides[1]) || !ir::may(fuel, "coalesce-copy")) continue;
    std::uint32_t a = class_of(e.a), b = class_of(e.b);
    if (classes_[a].members.size() < classes_[b].members.size()) std::swap(a, b);
    CoalescedClass &to = classes_[a], &from = classes_[b];
    unite(to.range, from.range);
    to.align_log2 = std::max(to.align_log2, from.align_log2);
    if (from.fixed.is_valid()) to.fixed = from.fixed;
    for (const VRegId v : from.members) class_of_[v.index()] = a;
    to.members.insert(to.members.end(), from.members.begin(), from.members.end());
    from = {};
  }
  // In the order in which their first members came up.
  std::erase_if(classes_, [](const CoalescedClass& c) { return c.members.empty(); });
  std::sort(classes_.begin(), classes_.end(), [&](const CoalescedClass& x, const CoalescedClass& y) {
    return turn[x.members[0].index()] < turn[y.members[0].index()];
  });
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    std::sort(classes_[c].members.begin(), classes_[c].members.end());
    for (const VRegId v : classes_[c].members) class_of_[v.index()] = static_cast<std::uint32_t>(c);
  }
}

}  // namespace regduel::allocator
