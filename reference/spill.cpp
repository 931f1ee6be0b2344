#include "reference/spill.h"

#include <algorithm>
#include <vector>

#include "reference/loops.h"

namespace regduel::reference {

void fill_in_costs(const Problem& problem, const Code& code, bool use_remat, InterferenceGraphs& graphs) {
  std::vector<std::uint64_t> costs(code.num_values, 0);
  for (const CodeBlock& b : code.blocks) {
    if (!b.is_reachable) continue;
    for (std::uint32_t i = b.first_inst; i < b.first_inst + b.num_insts; ++i) {
      if (graphs.is_dead[i]) continue;
      for (const Ref& r : code.refs_of(code.insts[i])) {
        if (r.temp >= code.num_values) continue;
        const bool is_free = !(r.flags & kReads) && use_remat && problem.can_remat(r.temp);
        const std::uint64_t times = ((r.flags & kReads) ? 1u : 0u) + ((r.flags & kWrites) ? 1u : 0u);
        if (!is_free) costs[r.temp] = std::min(kInfiniteCost, costs[r.temp] + b.freq * times);
      }
    }
  }
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

namespace {

class Chooser {
 public:
  Chooser(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem, const Code& code,
          const SpillChoice& how, Plan& plan, ir::Fuel* fuel)
      : g_(graph), c_(colouring), available_(available), problem_(problem), code_(code), use_remat_(how.use_remat),
        only_cheapest_(how.only_cheapest), plan_(plan), fuel_(fuel) {}

  bool run() {
    bool progress = false;
    if (const NodeId n = only_cheapest_ ? cheapest() : kNoNode; n != kNoNode && spill(n)) return true;
    for (const NodeId n : c_.failed) {
      if (g_.is_spillable(n)) progress = spill(n) || progress;
      else progress = make_room(n) || progress;
    }
    return progress;
  }

 private:
  // Of those that can be spilled the one with the least cost / squeeze; none = kNoNode.
  [[nodiscard]] NodeId cheapest() const {
    NodeId best = kNoNode;
    const auto degree = [&](NodeId n) { return static_cast<std::uint64_t>(std::max(1, g_.squeeze(n))); };
    for (const NodeId n : c_.failed)
      if (g_.is_spillable(n) && (best == kNoNode || g_.cost(n) * degree(best) < g_.cost(best) * degree(n))) best = n;
    return best;
  }

  // All members of a node, into one slot as far as they are not computed again. False where none was in a register.
  bool spill(NodeId n) {
    std::vector<TempId> in_slot;
    bool progress = false;
    std::uint32_t bytes = 0;
    g_.for_members(n, [&](NodeId m) {
      const TempId v = g_.temp(m);
      if (v >= code_.num_values || !plan_.locations[v].is_register()) return;
      progress = true;
      if (use_remat_ && problem_.can_remat(v) && ir::may(fuel_, "rematerialise")) {
        plan_.locations[v] = Location::nowhere();
      } else if (!in_slot.empty() && !ir::may(fuel_, "share-slot")) {
        plan_.locations[v] = Location::in_slot(plan_.add_slot(code_.temps[v].bytes));
      } else {
        in_slot.push_back(v);
        bytes = std::max<std::uint32_t>(bytes, code_.temps[v].bytes);
      }
    });
    if (in_slot.empty()) return progress;
    const Location slot = Location::in_slot(plan_.add_slot(bytes));
    for (const TempId v : in_slot) plan_.locations[v] = slot;
    return progress;
  }

  // Spills the cheapest neighbours that stand in the way at some position; else pins the instruction.
  bool make_room(NodeId n) {
    const UnitSet at = g_.positions(n, available_);
    const int units = g_.units(n);
    std::uint64_t best_cost = kInfiniteCost;
    int best = -1;
    std::vector<NodeId> neighbours;
    g_.for_neighbours(n, [&](NodeId m) {
      if (c_.unit_of[m] >= 0) neighbours.push_back(m);
    });
    const auto blocks = [&](NodeId m, int u) { return c_.unit_of[m] < u + units && u < c_.unit_of[m] + g_.units(m); };
    for (int u = at.first(); u >= 0; u = at.next(u + 1)) {
      std::uint64_t cost = 0;
      for (const NodeId m : neighbours)
        if (blocks(m, u)) cost = std::min(kInfiniteCost, cost + g_.cost(m));
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = u;
    }
    bool progress = false;
    if (best >= 0)
      for (const NodeId m : neighbours)
        if (blocks(m, best)) progress = spill(m) || progress;
    if (progress) return true;
    g_.for_members(n, [&](NodeId m) {
      const std::uint32_t source = code_.temps[g_.temp(m)].source;
      if (source == kNoSource || plan_.is_pinned[source]) return;
      plan_.is_pinned[source] = 1;
      progress = true;
    });
    return progress;
  }

  const FileGraph& g_;
  const Colouring& c_;
  const UnitSet& available_;
  const Problem& problem_;
  const Code& code_;
  const bool use_remat_, only_cheapest_;
  Plan& plan_;
  ir::Fuel* fuel_;
};

}  // namespace

bool choose_spills(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem,
                   const Code& code, const SpillChoice& how, Plan& plan, ir::Fuel* fuel) {
  return Chooser(graph, colouring, available, problem, code, how, plan, fuel).run();
}

}  // namespace regduel::reference
