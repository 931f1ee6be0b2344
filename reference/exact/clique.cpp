// See clique.h.

#include "reference/exact/clique.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "base/grouped.h"

namespace regduel::reference {
namespace {

using Words = std::vector<std::uint64_t>;

void flip(Words& set, std::size_t k) { set[k / 64] ^= std::uint64_t{1} << k % 64; }

// The heaviest clique among the later neighbours of one node.
class Neighbourhood {
 public:
  Neighbourhood(std::vector<int> weights, std::int64_t& steps) : weights_(std::move(weights)), steps_(steps) {
    words_ = (weights_.size() + 63) / 64;
    adjacent_.assign(weights_.size(), Words(words_, 0));
  }
  void add_edge(std::size_t a, std::size_t b) {
    adjacent_[a][b / 64] |= std::uint64_t{1} << b % 64;
    adjacent_[b][a / 64] |= std::uint64_t{1} << a % 64;
  }
  // Empty where none weighs more than `best`, which becomes its weight.
  std::vector<std::size_t> heavier_than(int& best) {
    best_ = best;
    Words all(words_, 0);
    for (std::size_t k = 0; k < weights_.size(); ++k) flip(all, k);
    expand(all, 0);
    best = best_;
    return std::move(found_);
  }

 private:
  struct Coloured {
    std::size_t node;
    int bound;  // of cliques of this node and those before it
  };
  [[nodiscard]] std::vector<Coloured> colour(const Words& candidates) const {
    std::vector<Coloured> list;
    Words left = candidates;
    int bound = 0;
    for (;;) {
      Words open = left;
      int widest = 0;
      const std::size_t first = list.size();
      for (std::size_t w = 0; w < words_; ++w)
        while (open[w] != 0) {
          const std::size_t k = 64 * w + static_cast<std::size_t>(std::countr_zero(open[w]));
          flip(open, k);
          flip(left, k);
          for (std::size_t v = w; v < words_; ++v) open[v] &= ~adjacent_[k][v];
          widest = std::max(widest, weights_[k]);
          list.push_back({k, 0});
        }
      if (list.size() == first) return list;
      bound += widest;
      for (std::size_t k = first; k < list.size(); ++k) list[k].bound = bound;
    }
  }
  static bool is_rainbow(const std::vector<Coloured>& list) {
    return std::ranges::adjacent_find(list, {}, &Coloured::bound) == list.end();
  }
  void expand(const Words& candidates, int weight) {
    if (--steps_ < 0) return;
    const std::vector<Coloured> list = colour(candidates);
    // Where each colour has one node, all of them are a clique.
    if (is_rainbow(list)) {
      for (const Coloured& c : list) weight += weights_[c.node];
      if (weight <= best_) return;
      best_ = weight;
      found_ = chosen_;
      for (const Coloured& c : list) found_.push_back(c.node);
      return;
    }
    Words left = candidates;
    for (std::size_t at = list.size(); at-- > 0 && weight + list[at].bound > best_ && steps_ >= 0;) {
      const std::size_t k = list[at].node;
      Words next(words_);
      for (std::size_t w = 0; w < words_; ++w) next[w] = left[w] & adjacent_[k][w];
      chosen_.push_back(k);
      expand(next, weight + weights_[k]);
      chosen_.pop_back();
      flip(left, k);
    }
  }

  std::vector<int> weights_;
  std::size_t words_ = 0;
  std::vector<Words> adjacent_;
  std::int64_t& steps_;
  int best_ = 0;
  std::vector<std::size_t> chosen_, found_;
};

class Search {
 public:
  Search(const FileGraph& graph, const std::vector<NodeId>& nodes, std::int64_t steps)
      : graph_(graph), nodes_(nodes), steps_(steps) {}

  Clique run() {
    find_order();
    for (std::size_t at = order_.size(); at-- > 0 && steps_ >= 0;) search_from(order_[at]);
    std::sort(best_.nodes.begin(), best_.nodes.end());
    best_.is_heaviest = steps_ >= 0;
    return std::move(best_);
  }

 private:
  // Takes away a node with the fewest neighbours left, again and again. later_ holds for each node those left when it went.
  void find_order() {
    std::vector<std::uint32_t> index_of(graph_.size(), kNoNode);
    for (std::size_t k = 0; k < nodes_.size(); ++k) index_of[nodes_[k]] = static_cast<std::uint32_t>(k);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t k = 0; k < nodes_.size(); ++k)
      graph_.for_neighbours(nodes_[k], [&](NodeId m) {
        if (index_of[m] != kNoNode) edges.emplace_back(k, index_of[m]);
      });
    const auto from = [](const auto& e) { return e.first; };
    const auto to = [](const auto& e) { return e.second; };
    Grouped<std::uint32_t> neighbours;
    neighbours.build_from(nodes_.size(), edges, from, to);
    std::vector<std::size_t> degree(nodes_.size());
    std::vector<std::vector<std::uint32_t>> by_degree(nodes_.size() + 1);
    for (std::uint32_t k = 0; k < nodes_.size(); ++k) by_degree[degree[k] = neighbours[k].size()].push_back(k);
    std::vector<std::uint8_t> is_gone(nodes_.size(), 0);
    rank_.assign(nodes_.size(), 0);
    for (std::size_t d = 0; order_.size() < nodes_.size();) {
      if (by_degree[d].empty()) {
        ++d;
        continue;
      }
      const std::uint32_t k = by_degree[d].back();
      by_degree[d].pop_back();
      if (is_gone[k] || degree[k] != d) continue;
      is_gone[k] = 1;
      rank_[k] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(k);
      for (const std::uint32_t m : neighbours[k])
        if (!is_gone[m]) by_degree[--degree[m]].push_back(m);
      d = d > 0 ? d - 1 : 0;
    }
    std::erase_if(edges, [&](const auto& e) { return rank_[e.second] < rank_[e.first]; });
    later_.build_from(nodes_.size(), edges, from, to);
    place_.assign(nodes_.size(), kNoNode);
  }

  void search_from(std::uint32_t k) {
    const int own = graph_.units(nodes_[k]);
    const std::span<const std::uint32_t> candidates = later_[k];
    std::vector<int> weights;
    for (const std::uint32_t m : candidates) weights.push_back(graph_.units(nodes_[m]));
    if (own + std::accumulate(weights.begin(), weights.end(), 0) <= best_.units) return;
    for (std::uint32_t c = 0; c < candidates.size(); ++c) place_[candidates[c]] = c;
    Neighbourhood around(std::move(weights), steps_);
    for (std::uint32_t c = 0; c < candidates.size(); ++c)
      for (const std::uint32_t m : later_[candidates[c]])
        if (place_[m] != kNoNode) around.add_edge(c, place_[m]);
    for (const std::uint32_t m : candidates) place_[m] = kNoNode;
    int weight = best_.units - own;
    const int before = weight;
    const std::vector<std::size_t> found = around.heavier_than(weight);
    if (weight == before) return;
    best_.units = weight + own;
    best_.nodes = {nodes_[k]};
    for (const std::size_t c : found) best_.nodes.push_back(nodes_[candidates[c]]);
  }

  const FileGraph& graph_;
  const std::vector<NodeId>& nodes_;
  std::int64_t steps_;
  std::vector<std::uint32_t> order_, rank_;  // of nodes by their index in nodes_
  Grouped<std::uint32_t> later_;
  std::vector<std::uint32_t> place_;  // among the candidates at hand
  Clique best_;
};

}  // namespace

Clique heaviest_clique(const FileGraph& graph, const std::vector<NodeId>& nodes, std::int64_t steps) {
  return Search(graph, nodes, steps).run();
}

}  // namespace regduel::reference
