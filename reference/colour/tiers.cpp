// See tiers.h.

#include "reference/colour/tiers.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/grouped.h"
#include "reference/colour/simplify.h"

namespace regduel::reference {
namespace {

constexpr int kBankWeight = 2;

class Tiers {
 public:
  Tiers(const FileGraph& graph, const UnitSet& available, const TierOptions& options)
      : g_(graph), available_(available), factor_(options.factor), k_(available.count()), tuples_weigh_(options.tuples_weigh),
        state_(graph.size()), by_priority_(Greater{this}) {
    constraints_.build(graph.size(), [&](auto add) {
      for (const ConstraintEdge& e : options.constraints) {
        const NodeId a = graph.find(e.a), b = graph.find(e.b);
        if (a == b || graph.is_fixed(a) || graph.is_fixed(b)) continue;
        add(a, std::pair(b, e.weight));
        add(b, std::pair(a, e.weight));
      }
    });
  }

  std::vector<NodeId> run() {
    for (NodeId n = 0; n < g_.size(); ++n) {
      State& s = state_[n];
      s.is_there = !g_.is_merged(n) && !g_.is_fixed(n);
      if (!s.is_there) continue;
      g_.for_neighbours(n, [&](NodeId m) { s.degree += weight(n, m); });
      for (const auto& [m, w] : constraints_[n]) s.degree += w;
    }
    for (NodeId n = 0; n < g_.size(); ++n) {
      if (!state_[n].is_there) continue;
      g_.for_neighbours(n, [&](NodeId m) { state_[n].low_neighbours += is_low(state_[m].degree); });
      if (g_.is_spillable(n)) enter(n);
    }
    std::vector<NodeId> order;
    while (!by_priority_.empty()) {
      const NodeId n = choose();
      order.push_back(n);
      take_off(n);
    }
    for (const NodeId n : simplify(g_, available_, Optimism::CheapestFirst))
      if (!g_.is_spillable(n)) order.push_back(n);
    return order;
  }

 private:
  struct State {
    std::int64_t degree = 0;
    int low_neighbours = 0;
    bool is_there = false;
  };
  // cost / max(factor x degree, 1), the greatest first; of equal ones the first.
  struct Greater {
    const Tiers* tiers;
    bool operator()(NodeId a, NodeId b) const {
      const auto [p, q] = tiers->priority(a);
      const auto [r, s] = tiers->priority(b);
      if (p / q != r / s) return p / q > r / s;
      const std::uint64_t left = p % q * s, right = r % s * q;  // both factors below 2^32
      return left != right ? left > right : a < b;
    }
  };
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> priority(NodeId n) const {
    const auto degree = static_cast<std::uint64_t>(state_[n].degree) * static_cast<std::uint64_t>(factor_.numerator);
    return {g_.cost(n), std::max(degree, static_cast<std::uint64_t>(factor_.denominator))};
  }
  [[nodiscard]] int weight(NodeId a, NodeId b) const { return tuples_weigh_ && (g_.units(a) > 1 || g_.units(b) > 1) ? 2 : 1; }
  [[nodiscard]] bool is_low(std::int64_t degree) const {
    return degree * factor_.numerator < std::int64_t{k_} * factor_.denominator;
  }

  void enter(NodeId n) {
    by_priority_.insert(n);
    if (state_[n].low_neighbours >= k_) first_tier_.insert(n);
  }
  void leave(NodeId n) {
    by_priority_.erase(n);
    first_tier_.erase(n);
  }

  NodeId choose() const {
    if (!first_tier_.empty()) return *first_tier_.begin();
    const NodeId best = *by_priority_.begin();
    if (g_.cost(best) > 0) return best;
    // All that is left costs nothing, so that each ratio is as small as any other: the first.
    return *std::min_element(by_priority_.begin(), by_priority_.end());
  }

  void take_off(NodeId n) {
    leave(n);
    state_[n].is_there = false;
    const bool was_low = is_low(state_[n].degree);
    const auto lose = [&](NodeId m, int weight, bool is_neighbour) {
      State& s = state_[m];
      if (!s.is_there) return;
      const bool is_spillable = g_.is_spillable(m);
      if (is_spillable) leave(m);
      const bool before = is_low(s.degree);
      s.degree -= weight;
      if (is_neighbour && was_low) --s.low_neighbours;
      if (is_spillable) enter(m);
      if (before || !is_low(s.degree)) return;
      g_.for_neighbours(m, [&](NodeId o) {
        State& other = state_[o];
        if (!other.is_there) return;
        ++other.low_neighbours;
        if (g_.is_spillable(o) && other.low_neighbours >= k_) first_tier_.insert(o);
      });
    };
    g_.for_neighbours(n, [&](NodeId m) { lose(m, weight(n, m), true); });
    for (const auto& [m, w] : constraints_[n]) lose(m, w, false);
  }

  const FileGraph& g_;
  UnitSet available_;
  Ratio factor_;
  int k_;
  bool tuples_weigh_;
  std::vector<State> state_;
  Grouped<std::pair<NodeId, int>> constraints_;
  std::set<NodeId, Greater> by_priority_;  // what is there and can be spilled
  std::set<NodeId> first_tier_;            // of these, those of tier 1
};

}  // namespace

std::vector<NodeId> take_off_in_tiers(const FileGraph& graph, const UnitSet& available, const TierOptions& options) {
  return Tiers(graph, available, options).run();
}

std::vector<ConstraintEdge> same_bank_edges(const Problem& problem, const Code& code, const InterferenceGraphs& graphs,
                                            ir::RegFile file) {
  std::vector<std::pair<NodeId, NodeId>> pairs;
  std::vector<TempId> read;
  for (const CodeBlock& b : code.blocks) {
    if (!b.is_reachable) continue;
    for (const CodeInst& inst : code.insts_of(b)) {
      if (inst.kind != CodeKind::Original) continue;
      read.clear();
      for (const Ref& r : code.refs_of(inst))
        if ((r.flags & kReads) != 0 && r.temp < code.num_values && code.temps[r.temp].file == file &&
            graphs.node_of[r.temp] != kNoNode)
          read.push_back(r.temp);
      for (std::size_t k = 0; k < read.size(); ++k)
        for (std::size_t m = k + 1; m < read.size(); ++m)
          if (read[k] != read[m] && problem.bank(read[k]) == problem.bank(read[m]))
            pairs.push_back(std::minmax(graphs.node_of[read[k]], graphs.node_of[read[m]]));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<ConstraintEdge> edges;
  for (const auto& [a, b] : pairs) edges.push_back({a, b, kBankWeight});
  return edges;
}

}  // namespace regduel::reference
