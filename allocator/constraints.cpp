// See constraints.h.

#include "allocator/constraints.h"

#include <algorithm>
#include <bit>

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::VRegId;

int soft_weight(std::int64_t frequency) {
  return std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(frequency))), 1, kMaxSoftWeight);
}

ConstraintLists::ConstraintLists(const Function& original, const Lowered& lowered, const std::vector<std::int64_t>& block_frequency,
                                 const Liveness& live) {
  const Function& f = lowered.f;
  struct Edge {
    VRegId of;
    Constraint node;
  };
  std::vector<Edge> edges;
  const auto affinity = [&](VRegId a, int unit_a, VRegId b, int unit_b, int weight) {
    const auto add = [&](VRegId of, VRegId partner, int unit) {
      Constraint c;
      c.type = ConstraintType::Range;
      c.weight = static_cast<std::int16_t>(weight);
      c.partner = partner;
      c.unit = static_cast<std::int16_t>(unit);
      edges.push_back({of, c});
    };
    add(a, b, unit_b - unit_a);
    add(b, a, unit_a - unit_b);
  };
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    if (inst.op != Op::Copy) continue;
    const auto ops = f.operands_of(inst);
    const int weight = soft_weight(block_frequency[live.block_at(n).index()]);
    const std::size_t pairs = static_cast<std::size_t>(
        std::count_if(ops.begin(), ops.end(), [](const Operand& op) { return op.writes(); }));
    for (std::size_t k = 0; k < pairs; ++k) {
      const ir::Storage d = f.storage(ops[k]), s = f.storage(ops[pairs + k]);
      const ir::RegFile file = f.vreg(d.root).file();
      const int unit = ir::unit_bytes(file);
      if (file != f.vreg(s.root).file() || d.root == s.root || d.offset % unit != s.offset % unit) continue;
      affinity(d.root, d.offset / unit, s.root, s.offset / unit, weight);
    }
  }
  for (std::size_t v = 0; v < original.vregs.size(); ++v) {
    const VRegId hint = original.vregs[v].hint;
    if (!hint.is_valid()) continue;
    const VRegId a = original.root(VRegId(v)), b = original.root(hint);
    if (a != b && original.vreg(a).file() == original.vreg(b).file()) affinity(a, 0, b, 0, 2);
  }
  begin_.assign(f.vregs.size() + 1, 0);
  for (const Edge& e : edges) ++begin_[e.of.index() + 1];
  for (std::size_t v = 0; v < f.vregs.size(); ++v) begin_[v + 1] += begin_[v];
  nodes_.resize(edges.size());
  std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
  for (const Edge& e : edges) nodes_[at[e.of.index()]++] = e.node;
}

}  // namespace regduel::allocator
