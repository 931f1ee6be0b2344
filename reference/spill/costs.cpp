#include "reference/spill/costs.h"
#include "ir/loops.h"

#include <algorithm>

namespace regduel::reference {

std::vector<std::uint64_t> value_costs(const Problem& problem, const Code& code, bool use_remat,
                                       const std::vector<std::uint8_t>& is_dead) {
  std::vector<std::uint64_t> costs(code.num_values, 0);
  for (const CodeBlock& b : code.blocks) {
    if (!b.is_reachable) continue;
    for (std::uint32_t i = b.first_inst; i < b.first_inst + b.num_insts; ++i) {
      if (is_dead[i]) continue;
      for (const Ref& r : code.refs_of(code.insts[i])) {
        if (r.temp >= code.num_values) continue;
        const bool is_free = !(r.flags & kReads) && use_remat && problem.can_remat(r.temp);
        const std::uint64_t times = ((r.flags & kReads) ? 1u : 0u) + ((r.flags & kWrites) ? 1u : 0u);
        if (!is_free) costs[r.temp] = std::min(kInfiniteCost, costs[r.temp] + b.freq * times);
      }
    }
  }
  return costs;
}

void fill_in_costs(const Problem& problem, const Code& code, bool use_remat, InterferenceGraphs& graphs) {
  const std::vector<std::uint64_t> costs = value_costs(problem, code, use_remat, graphs.is_dead);
  for (TempId v = 0; v < code.num_values; ++v)
    if (graphs.node_of[v] != kNoNode) graphs.files[ir::index(code.temps[v].file)].add_cost(graphs.node_of[v], costs[v]);
  const ir::Function& f = problem.program();
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    if (!f.vregs[v].hint.is_valid()) continue;
    const TempId a = f.root(ir::VRegId(v)).value, b = f.root(f.vregs[v].hint).value;
    if (a == b || code.temps[a].file != code.temps[b].file || graphs.node_of[a] == kNoNode || graphs.node_of[b] == kNoNode)
      continue;
    graphs.files[ir::index(code.temps[a].file)].add_hint(graphs.node_of[a], graphs.node_of[b]);
  }
}

void fill_in_products(const Problem& problem, const Code& code, const Plan& plan, const Rules& rules, InterferenceGraphs& graphs) {
  constexpr std::uint64_t kOne = 256, kMost = std::uint64_t{1} << 40;
  std::uint32_t frame = 0;
  for (const SpillSlot& slot : plan.slots) frame += slot.bytes;
  const std::uint64_t latency = frame > 16384 ? 100 : frame > 1024 ? 40 : 10;
  const std::vector<int> depths = loop_depths(problem.program(), problem.cfg());
  struct Occurrences {
    std::uint64_t defs = 0, uses = 0;
    int depth = 0;
  };
  std::vector<Occurrences> counts(code.num_values);
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const CodeBlock& block = code.blocks[b];
    if (!block.is_reachable) continue;
    const int depth = block.is_edge_block() ? std::min(depths[block.edge_from.index()], depths[block.edge_to.index()]) : depths[b];
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      if (graphs.is_dead[i]) continue;
      for (const Ref& r : code.refs_of(code.insts[i])) {
        if (r.temp >= code.num_values) continue;
        Occurrences& c = counts[r.temp];
        c.defs += (r.flags & kWrites) != 0;
        c.uses += (r.flags & kReads) != 0;
        c.depth = std::max(c.depth, depth);
      }
    }
  }
  for (TempId v = 0; v < code.num_values; ++v) {
    if (graphs.node_of[v] == kNoNode) continue;
    const Occurrences& c = counts[v];
    const std::uint64_t far = rules.rematerialise && problem.can_remat(v) ? 1 : latency;
    std::uint64_t cost = std::min(kMost, std::max<std::uint64_t>(1, c.defs) * std::max<std::uint64_t>(1, c.uses) * far * kOne);
    for (int d = 0; d < c.depth && cost < kMost; ++d)
      cost = std::min(kMost, cost * static_cast<std::uint64_t>(rules.depth_base.numerator) /
                                 static_cast<std::uint64_t>(rules.depth_base.denominator));
    graphs.files[ir::index(code.temps[v].file)].set_cost(graphs.node_of[v], cost);
  }
}

}  // namespace regduel::reference
