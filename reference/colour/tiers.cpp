// See tiers.h.

#include "reference/colour/tiers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/grouped.h"
#include "reference/colour/simplify.h"

namespace regduel::reference {
namespace {

constexpr int kBankWeight = 2;

// The best node of each kFan, of each kFan of these the best, and so on: most changes end at the first of them.
template <class IsBetter>
class Tournament {
 public:
  Tournament(std::size_t nodes, IsBetter is_better) : is_there_(nodes, 0), is_better_(is_better) {
    do levels_.emplace_back(nodes = (nodes + kFan - 1) / kFan, kNoNode);
    while (nodes > 1);
  }
  // The node is new, or better than it was.
  void raise(NodeId n) {
    is_there_[n] = 1;
    std::size_t at = n;
    for (std::vector<NodeId>& level : levels_) {
      NodeId& best = level[at /= kFan];
      if (best != n && best != kNoNode && !is_better_(n, best)) return;
      best = n;
    }
  }
  void remove(NodeId n) {
    is_there_[n] = 0;
    std::size_t at = n;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      NodeId& best = levels_[level][at /= kFan];
      if (best != n) return;
      best = kNoNode;
      const std::size_t size = level == 0 ? is_there_.size() : levels_[level - 1].size();
      for (std::size_t k = at * kFan; k < std::min(size, (at + 1) * kFan); ++k) {
        const NodeId m = level > 0 ? levels_[level - 1][k] : is_there_[k] ? static_cast<NodeId>(k) : kNoNode;
        if (m != kNoNode && (best == kNoNode || is_better_(m, best))) best = m;
      }
    }
  }
  // kNoNode where there is none.
  [[nodiscard]] NodeId best() const { return levels_.back().front(); }

 private:
  static constexpr std::size_t kFan = 16;
  std::vector<std::uint8_t> is_there_;
  std::vector<std::vector<NodeId>> levels_;
  IsBetter is_better_;
};

class Tiers {
 public:
  Tiers(const FileGraph& graph, const UnitSet& available, const TierOptions& options)
      : g_(graph), available_(available), factor_(options.factor), k_(available.count()),
        high_from_((k_ * factor_.denominator + factor_.numerator - 1) / factor_.numerator), tuples_weigh_(options.tuples_weigh),
        state_(graph.size()), by_priority_(graph.size(), Greater{this}), first_tier_((graph.size() + 63) / 64) {
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
      s.is_spillable = g_.is_spillable(n);
      s.is_heavy = tuples_weigh_ && g_.units(n) > 1;
      s.cost = g_.cost(n);
    }
    for (NodeId n = 0; n < g_.size(); ++n) {
      State& s = state_[n];
      if (!s.is_there) continue;
      g_.for_neighbours(n, [&](NodeId m) { s.degree += weight(s, state_[m]); });
      for (const auto& [m, w] : constraints_[n]) s.degree += w;
    }
    std::size_t left = 0;
    for (NodeId n = 0; n < g_.size(); ++n) {
      State& s = state_[n];
      if (!s.is_there) continue;
      g_.for_neighbours(n, [&](NodeId m) { s.low_neighbours += is_low(state_[m]); });
      if (!s.is_spillable) continue;
      by_priority_.raise(n);
      set_tier(n);
      ++left;
    }
    std::vector<NodeId> order;
    while (order.size() < left) {
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
    std::uint64_t cost = 0;
    int degree = 0;
    int low_neighbours = 0;
    bool is_there = false, is_spillable = false;
    bool is_heavy = false;  // its edges weigh more
  };
  // cost / max(factor x degree, 1), the greatest first; of equal ones the first, and so of all that cost nothing.
  struct Greater {
    const Tiers* tiers;
    bool operator()(NodeId a, NodeId b) const {
      const auto [p, q] = tiers->priority(a);
      const auto [r, s] = tiers->priority(b);
      std::uint64_t left = p * s, right = r * q;
      if ((q | s) >> 20 != 0) {
        if (p / q != r / s) return p / q > r / s;
        left = p % q * s, right = r % s * q;  // all factors below 2^32
      }
      return left != right ? left > right : a < b;
    }
  };
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> priority(NodeId n) const {
    const State& s = state_[n];
    const auto degree = static_cast<std::uint64_t>(s.degree) * static_cast<std::uint64_t>(factor_.numerator);
    return {s.cost, std::max(degree, static_cast<std::uint64_t>(factor_.denominator))};
  }
  static int weight(const State& a, const State& b) { return a.is_heavy || b.is_heavy ? 2 : 1; }
  [[nodiscard]] bool is_low(const State& s) const { return s.degree < high_from_; }

  void set_tier(NodeId n) {
    const std::uint64_t bit = std::uint64_t{1} << (n % 64);
    if (state_[n].low_neighbours < k_) {
      first_tier_[n / 64] &= ~bit;
      return;
    }
    first_tier_[n / 64] |= bit;
    first_word_ = std::min<std::size_t>(first_word_, n / 64);
  }

  // Requires some node that can be spilled.
  NodeId choose() {
    while (first_word_ < first_tier_.size() && first_tier_[first_word_] == 0) ++first_word_;
    if (first_word_ == first_tier_.size()) return by_priority_.best();
    return static_cast<NodeId>(first_word_ * 64) + static_cast<NodeId>(std::countr_zero(first_tier_[first_word_]));
  }

  void take_off(NodeId n) {
    State& gone = state_[n];
    gone.is_there = false;
    by_priority_.remove(n);
    first_tier_[n / 64] &= ~(std::uint64_t{1} << (n % 64));
    const bool was_low = is_low(gone);
    const auto lose = [&](NodeId m, int weight, bool is_neighbour) {
      State& s = state_[m];
      if (!s.is_there) return;
      const bool before = is_low(s);
      s.degree -= weight;
      if (s.is_spillable) by_priority_.raise(m);
      if (is_neighbour && was_low) {
        --s.low_neighbours;
        if (s.is_spillable) set_tier(m);
      }
      if (before || !is_low(s)) return;
      g_.for_neighbours(m, [&](NodeId o) {
        State& other = state_[o];
        if (!other.is_there) return;
        ++other.low_neighbours;
        if (other.is_spillable) set_tier(o);
      });
    };
    g_.for_neighbours(n, [&](NodeId m) { lose(m, weight(gone, state_[m]), true); });
    for (const auto& [m, w] : constraints_[n]) lose(m, w, false);
  }

  const FileGraph& g_;
  UnitSet available_;
  Ratio factor_;
  int k_;
  int high_from_;  // the least degree that is not low
  bool tuples_weigh_;
  std::vector<State> state_;
  Grouped<std::pair<NodeId, int>> constraints_;
  Tournament<Greater> by_priority_;        // what is there and can be spilled
  std::vector<std::uint64_t> first_tier_;  // of these, those of tier 1: bits
  std::size_t first_word_ = 0;             // no bit is set before that word
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
