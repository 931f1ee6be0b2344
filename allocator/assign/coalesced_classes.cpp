// See chains.h.

#include "allocator/assign/coalesced_classes.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

// No two chains with more pairs of members than this are compared member by member.
constexpr std::size_t kMaxPairs = 1024;

// Where each vreg of one file is written, and from which vreg by a plain copy.
class Defs {
 public:
  Defs(const Function& f, const Liveness& live, ir::RegFile file) : begin_(f.vregs.size() + 1, 0) {
    std::vector<std::pair<std::uint32_t, Def>> list;
    for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
      const Inst& inst = f.insts[live.inst_at(n)];
      const auto ops = f.operands_of(inst);
      if (std::none_of(ops.begin(), ops.end(),
                       [&](const Operand& op) { return op.is_vreg() && op.writes() && f.vreg(op.vreg()).file() == file; }))
        continue;
      const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
      const auto pairs =
          static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const Operand& op) { return op.writes(); }));
      for (std::size_t k = 0; k < pairs; ++k) {
        if (!ops[k].is_vreg() || f.vreg(ops[k].vreg()).file() != file) continue;
        // An early-clobber def destroys its register before the source is read, even where it is a copy of it.
        const bool plain = inst.op == Op::Copy && !guarded && !ops[k].is_early_clobber() && ops[k].part.is_whole() &&
                           ops[pairs + k].part.is_whole();
        const bool early = guarded || !ops[k].part.is_whole() || ops[k].is_early_clobber();
        list.push_back(
            {ops[k].value, {early ? read_point(n) : write_point(n), write_point(n), plain ? ops[pairs + k].vreg() : VRegId()}});
      }
    }
    for (const auto& [v, def] : list) ++begin_[v + 1];
    for (std::size_t v = 0; v < f.vregs.size(); ++v) begin_[v + 1] += begin_[v];
    defs_.resize(list.size());
    std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
    for (const auto& [v, def] : list) defs_[at[v]++] = def;
  }
  // True where no def of x changes what y holds while y lives. Two defs of one instruction never share a register, not even in
  // a parallel copy that swaps two equal values.
  [[nodiscard]] bool spares(VRegId x, VRegId y, std::span<const Interval> y_range) const {
    for (std::uint32_t k = begin_[x.index()]; k < begin_[x.index() + 1]; ++k) {
      const Def& d = defs_[k];
      if (d.source != y && (contains(y_range, d.point) || contains(y_range, d.last))) return false;
      if (is_written_at(y, d.last) && !REGDUEL_PLANTED("fatpoint-swap-shares-a-register")) return false;
    }
    return true;
  }

 private:
  // In program order, so that the moments ascend.
  [[nodiscard]] bool is_written_at(VRegId v, Point p) const {
    const auto first = defs_.begin() + begin_[v.index()], end = defs_.begin() + begin_[v.index() + 1];
    const auto at = std::lower_bound(first, end, p, [](const Def& d, Point wanted) { return d.last < wanted; });
    return at != end && at->last == p;
  }

  struct Def {
    Point point, last;  // the first and the last moment at which it holds the register
    VRegId source;
  };
  std::vector<std::uint32_t> begin_;
  std::vector<Def> defs_;
};

}  // namespace

Chains::Chains(const Function& f, const Liveness& live, const ConstraintLists& constraints, std::span<const VRegId> vregs,
               ir::Fuel* fuel) {
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
  chain_of_.assign(f.vregs.size(), kNone);
  if (edges.empty()) return;
  std::sort(edges.begin(), edges.end(),
            [](const Edge& x, const Edge& y) { return std::tuple(-x.weight, x.a, x.b) < std::tuple(-y.weight, y.a, y.b); });
  std::optional<Defs> defs;  // made where two ranges first overlap
  const auto chain = [&](VRegId v) {
    std::uint32_t& c = chain_of_[v.index()];
    if (c == kNone) {
      c = static_cast<std::uint32_t>(chains_.size());
      const auto range = live.range(v.index());
      chains_.push_back({{v}, {range.begin(), range.end()}, f.vreg(v).align_log2, f.vreg(v).fixed});
    }
    return c;
  };
  const auto can_share = [&](const Chain& a, const Chain& b) {
    if (a.fixed.is_valid() && b.fixed.is_valid() && a.fixed != b.fixed) return false;
    const ir::PReg fixed = a.fixed.is_valid() ? a.fixed : b.fixed;
    if (fixed.is_valid() && fixed.first % (1 << std::max(a.align_log2, b.align_log2)) != 0) return false;
    if (!overlap(a.range, b.range)) return true;
    if (a.members.size() * b.members.size() > kMaxPairs) return false;
    if (REGDUEL_PLANTED("fatpoint-coalesces-across-a-def")) return true;
    if (!defs) defs.emplace(f, live, f.vreg(vregs[0]).file());
    for (const VRegId x : a.members)
      for (const VRegId y : b.members)
        if (!defs->spares(x, y, live.range(y.index())) || !defs->spares(y, x, live.range(x.index()))) return false;
    return true;
  };
  for (const Edge& e : edges) {
    std::uint32_t a = chain(e.a), b = chain(e.b);
    if (a == b || !can_share(chains_[a], chains_[b]) || !ir::may(fuel, "coalesce-copy")) continue;
    if (chains_[a].members.size() < chains_[b].members.size()) std::swap(a, b);
    Chain &to = chains_[a], &from = chains_[b];
    if (!REGDUEL_PLANTED("fatpoint-chain-range-not-grown")) to.range = unite(to.range, from.range);
    to.align_log2 = std::max(to.align_log2, from.align_log2);
    if (from.fixed.is_valid()) to.fixed = from.fixed;
    for (const VRegId v : from.members) chain_of_[v.index()] = a;
    to.members.insert(to.members.end(), from.members.begin(), from.members.end());
    from = {};
  }
  std::vector<Chain> real;
  for (Chain& c : chains_) {
    if (c.members.empty()) continue;
    std::sort(c.members.begin(), c.members.end());
    for (const VRegId v : c.members) chain_of_[v.index()] = c.members.size() > 1 ? static_cast<std::uint32_t>(real.size()) : kNone;
    if (c.members.size() > 1) real.push_back(std::move(c));
  }
  chains_ = std::move(real);
}

}  // namespace regduel::allocator
