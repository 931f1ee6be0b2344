#include "reference/textbook/pbqp.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace regduel::reference {
namespace {

using Cost = std::int64_t;
constexpr Cost kImpossible = Cost{1} << 58;
constexpr std::size_t kMostTriples = std::size_t{1} << 22;  // options of a node and its two neighbours, for R2

Cost sum(Cost a, Cost b) { return std::min(kImpossible, a + b); }

class Pbqp {
 public:
  Pbqp(const FileGraph& graph, const Registers& registers)
      : g_(graph), r_(registers), options_(graph.size()), costs_(graph.size()), degree_(graph.size(), 0),
        is_there_(graph.size(), 0), others_(graph.size()), with_edge_(graph.size()) {}

  Colouring run() {
    Colouring c;
    c.unit_of.assign(g_.size(), -1);
    for (NodeId n = 0; n < g_.size(); ++n) {
      if (g_.is_fixed(n)) c.unit_of[n] = g_.fixed(n).first;
      else find_options(n);
    }
    add_copies();
    for (NodeId n = 0; n < g_.size(); ++n)
      if (is_there_[n]) for_neighbours(n, [&](NodeId) { ++degree_[n]; });
    for (NodeId n = 0; n < g_.size(); ++n)
      if (is_there_[n]) file(n);
    reduce();
    for (std::size_t k = order_.size(); k-- > 0;) decide(order_[k], c);
    return c;
  }

 private:
  // Costs beyond interference of a pair of nodes, the lower number first: of the options of the one times those of the other.
  struct Edge {
    Cost same = 0;           // what it saves that both begin at one unit
    std::vector<Cost> pair;  // empty = none
  };

  // --- the problem ------------------------------------------------------------------------------------------------
  // Option 0 is to be spilled; option k is the k-th position.
  void find_options(NodeId n) {
    is_there_[n] = 1;
    g_.positions(n, r_.available).for_each([&](int u) { options_[n].push_back(u); });
  }
  [[nodiscard]] std::size_t num_options(NodeId n) const { return options_[n].size() + 1; }
  [[nodiscard]] Cost own_cost(NodeId n, std::size_t option) const {
    if (option == 0) return g_.is_spillable(n) ? static_cast<Cost>(g_.cost(n)) + 1 : kImpossible;
    const int u = options_[n][option - 1];
    // A callee-saved register is saved and restored.
    return r_.last_resort.has_any(u, u + g_.units(n)) ? 2 : 0;
  }
  [[nodiscard]] Cost cost(NodeId n, std::size_t option) const {
    return costs_[n].empty() ? own_cost(n, option) : costs_[n][option];
  }
  void add_copies() {
    if (!r_.coalesce) return;
    for (const CopyPair& p : g_.copies()) {
      if (g_.is_fixed(p.a) || g_.is_fixed(p.b)) {
        const NodeId n = g_.is_fixed(p.a) ? p.b : p.a, fixed = g_.is_fixed(p.a) ? p.a : p.b;
        if (g_.is_fixed(n)) continue;
        const auto at = std::ranges::lower_bound(options_[n], static_cast<int>(g_.fixed(fixed).first));
        if (at == options_[n].end() || *at != g_.fixed(fixed).first || !ir::may(r_.fuel, "follow-copy")) continue;
        add_cost(n, static_cast<std::size_t>(at - options_[n].begin()) + 1, -static_cast<Cost>(p.weight));
      } else if (p.a != p.b && !g_.has_edge(p.a, p.b) && ir::may(r_.fuel, "follow-copy")) {
        edge(p.a, p.b).same += static_cast<Cost>(p.weight);
      }
    }
  }
  void add_cost(NodeId n, std::size_t option, Cost more) {
    if (costs_[n].empty())
      for (std::size_t k = 0; k < num_options(n); ++k) costs_[n].push_back(own_cost(n, k));
    costs_[n][option] = sum(costs_[n][option], more);
  }
  Edge& edge(NodeId a, NodeId b) {
    const auto [at, is_new] = edges_.try_emplace(std::minmax(a, b));
    if (!is_new) return at->second;
    with_edge_[a].push_back(b);
    with_edge_[b].push_back(a);
    if (!g_.has_edge(a, b)) {
      others_[a].push_back(b);
      others_[b].push_back(a);
    }
    return at->second;
  }
  [[nodiscard]] const Edge* find_edge(NodeId a, NodeId b) const {
    const auto at = edges_.find(std::minmax(a, b));
    return at == edges_.end() ? nullptr : &at->second;
  }
  // Of option i of a and option j of b.
  [[nodiscard]] Cost pair_cost(NodeId a, std::size_t i, NodeId b, std::size_t j, const Edge* e, bool interferes) const {
    Cost c = 0;
    if (e != nullptr && !e->pair.empty()) c = a < b ? e->pair[i * num_options(b) + j] : e->pair[j * num_options(a) + i];
    if (i == 0 || j == 0) return c;
    const int u = options_[a][i - 1], v = options_[b][j - 1];
    if (interferes && u < v + g_.units(b) && v < u + g_.units(a)) return kImpossible;
    return e != nullptr && u == v ? sum(c, -e->same) : c;
  }
  template <class F>
  void for_neighbours(NodeId n, F&& f) const {
    g_.for_neighbours(n, [&](NodeId m) {
      if (is_there_[m]) f(m);
    });
    for (const NodeId m : others_[n])
      if (is_there_[m]) f(m);
  }

  // --- reductions -------------------------------------------------------------------------------------------------
  struct Candidate {
    std::uint64_t cost, degree;
    NodeId node;
    friend bool operator>(const Candidate& a, const Candidate& b) {
      const std::uint64_t left = a.cost * b.degree, right = b.cost * a.degree;  // below 2^43 x 2^20
      return left != right ? left > right : a.node > b.node;
    }
  };
  [[nodiscard]] Candidate candidate(NodeId n) const {
    return {g_.cost(n), static_cast<std::uint64_t>(std::clamp(degree_[n], 1, 1 << 20)), n};
  }
  void file(NodeId n) {
    if (degree_[n] <= 2) few_.push_back(n);
    else candidates_.push(candidate(n));
  }
  void reduce() {
    for (;;) {
      if (!few_.empty()) {
        const NodeId n = few_.back();
        few_.pop_back();
        if (!is_there_[n] || degree_[n] > 2) continue;
        std::vector<NodeId> around;
        for_neighbours(n, [&](NodeId m) { around.push_back(m); });
        if (around.size() == 1) fold_into(n, around[0]);
        if (around.size() == 2) fold_between(n, around[0], around[1]);
        take_off(n);
      } else if (!candidates_.empty()) {
        const Candidate c = candidates_.top();
        candidates_.pop();
        if (!is_there_[c.node]) continue;
        if (candidate(c.node).degree == c.degree) take_off(c.node);
        else file(c.node);
      } else {
        return;
      }
    }
  }
  void take_off(NodeId n) {
    is_there_[n] = 0;
    order_.push_back(n);
    for_neighbours(n, [&](NodeId m) {
      if (--degree_[m] == 2) few_.push_back(m);
    });
  }
  // Whether the node has a cheapest option left whatever its neighbours choose, so that it adds the same to all their options.
  [[nodiscard]] bool has_enough(NodeId n, std::initializer_list<NodeId> around) const {
    int blocked = 0;
    for (const NodeId m : around) {
      if (find_edge(n, m) != nullptr) return false;
      blocked += g_.worst(n, m);
    }
    Cost least = kImpossible;
    for (std::size_t k = 0; k < num_options(n); ++k) least = std::min(least, cost(n, k));
    int cheapest = 0;
    for (std::size_t k = 1; k < num_options(n); ++k) cheapest += cost(n, k) == least;
    return cost(n, 0) == least || cheapest > blocked;
  }
  void fold_into(NodeId n, NodeId m) {
    if (has_enough(n, {m})) return;
    const Edge* const e = find_edge(n, m);
    const bool interferes = g_.has_edge(n, m);
    for (std::size_t j = 0; j < num_options(m); ++j) {
      Cost least = kImpossible;
      for (std::size_t i = 0; i < num_options(n); ++i)
        least = std::min(least, sum(cost(n, i), pair_cost(n, i, m, j, e, interferes)));
      add_cost(m, j, least);
    }
  }
  void fold_between(NodeId n, NodeId a, NodeId b) {
    if (has_enough(n, {a, b})) return;
    if (a > b) std::swap(a, b);
    const std::size_t na = num_options(a), nb = num_options(b), nn = num_options(n);
    if (na * nb * nn > kMostTriples) return;
    const Edge *const to_a = find_edge(n, a), *const to_b = find_edge(n, b);
    const bool meets_a = g_.has_edge(n, a), meets_b = g_.has_edge(n, b), met = g_.has_edge(a, b);
    std::vector<Cost> with_a(na * nn), with_b(nb * nn);
    for (std::size_t i = 0; i < nn; ++i) {
      for (std::size_t j = 0; j < na; ++j) with_a[j * nn + i] = sum(cost(n, i), pair_cost(n, i, a, j, to_a, meets_a));
      for (std::size_t k = 0; k < nb; ++k) with_b[k * nn + i] = pair_cost(n, i, b, k, to_b, meets_b);
    }
    std::vector<Cost> pair(na * nb);
    for (std::size_t j = 0; j < na; ++j)
      for (std::size_t k = 0; k < nb; ++k) {
        Cost least = kImpossible;
        for (std::size_t i = 0; i < nn; ++i) least = std::min(least, sum(with_a[j * nn + i], with_b[k * nn + i]));
        pair[j * nb + k] = least;
      }
    const bool is_new = !met && find_edge(a, b) == nullptr;
    Edge& e = edge(a, b);
    if (e.pair.empty()) e.pair = std::move(pair);
    else
      for (std::size_t p = 0; p < pair.size(); ++p) e.pair[p] = sum(e.pair[p], pair[p]);
    // Both lose n and gain each other.
    if (is_new)
      for (const NodeId m : {a, b}) ++degree_[m];
  }

  // --- the way back -----------------------------------------------------------------------------------------------
  // Of the neighbours those count that were there when the node was taken off: they are decided.
  void decide(NodeId n, Colouring& c) {
    UnitSet taken;
    std::vector<std::pair<NodeId, const Edge*>> with;
    g_.for_neighbours(n, [&](NodeId m) {
      if (!is_there_[m]) return;
      if (c.unit_of[m] >= 0) taken.set_range(c.unit_of[m], c.unit_of[m] + g_.units(m));
    });
    for (const NodeId m : with_edge_[n])
      if (is_there_[m]) with.emplace_back(m, find_edge(n, m));
    std::size_t best = 0;
    Cost least = kImpossible;
    for (std::size_t i = 0; i < num_options(n); ++i) {
      if (i > 0 && taken.has_any(options_[n][i - 1], options_[n][i - 1] + g_.units(n))) continue;
      Cost total = cost(n, i);
      for (const auto& [m, e] : with) total = sum(total, pair_cost(n, i, m, option_of(m, c), e, false));
      if (total >= least) continue;
      least = total;
      best = i;
    }
    is_there_[n] = 1;
    if (best > 0) c.unit_of[n] = options_[n][best - 1];
    else c.failed.push_back(n);
  }
  [[nodiscard]] std::size_t option_of(NodeId n, const Colouring& c) const {
    if (c.unit_of[n] < 0) return 0;
    return static_cast<std::size_t>(std::ranges::lower_bound(options_[n], c.unit_of[n]) - options_[n].begin()) + 1;
  }

  const FileGraph& g_;
  const Registers& r_;
  std::vector<std::vector<int>> options_;  // by node: its positions, ascending
  std::vector<std::vector<Cost>> costs_;   // by node; empty = its own costs
  std::vector<int> degree_;
  std::vector<std::uint8_t> is_there_;
  std::vector<std::vector<NodeId>> others_;     // by node: its neighbours that it does not interfere with
  std::vector<std::vector<NodeId>> with_edge_;  // by node: those with which it has costs of pairs
  std::map<std::pair<NodeId, NodeId>, Edge> edges_;
  std::vector<NodeId> few_, order_;
  // A degree that fell makes an entry come up too early, never too late.
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace

Colouring colour_by_pbqp(FileGraph& graph, const Registers& registers) { return Pbqp(graph, registers).run(); }

}  // namespace regduel::reference
