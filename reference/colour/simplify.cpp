#include "reference/colour/simplify.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace regduel::reference {
namespace {

// cost / squeeze as a fraction. Removing neighbours only makes it larger, so that a stale entry of the heap comes out too early,
// never too late.
struct Candidate {
  std::uint64_t cost;
  std::uint64_t squeeze;
  NodeId node;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    const std::uint64_t left = a.cost * b.squeeze, right = b.cost * a.squeeze;  // below 2^43 x 2^20
    return left != right ? left > right : a.node > b.node;
  }
};

// Nodes by excess. The nodes of one excess form a ring, the last one pushed first. There is a link for each node and each excess.
class LeastExcessFirst {
 public:
  // No node is in a ring so far; excesses in [0, greatest].
  LeastExcessFirst(std::size_t nodes, int greatest)
      : nodes_(static_cast<NodeId>(nodes)), least_(nodes_), links_(nodes + static_cast<std::size_t>(greatest) + 1) {
    for (NodeId n = 0; n < links_.size(); ++n) links_[n] = {n, n};
  }
  // Takes the node from where it is, if it is anywhere, and puts it in front.
  void push(int excess, NodeId n) {
    remove(n);
    const NodeId head = nodes_ + static_cast<NodeId>(excess), next = links_[head].next;
    links_[n] = {next, head};
    links_[next].previous = links_[head].next = n;
    least_ = std::min(least_, head);
  }
  void remove(NodeId n) {
    const Link link = links_[n];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
  }
  // Requires some node.
  NodeId pop() {
    while (links_[least_].next == least_) ++least_;
    const NodeId n = links_[least_].next;
    remove(n);
    return n;
  }

 private:
  struct Link {
    NodeId next, previous;
  };
  NodeId nodes_;
  NodeId least_;             // no ring before this head has a node
  std::vector<Link> links_;  // by node, then the heads by excess
};

// The nodes whose excess is not below 0, as if pushed in the order of `pushed_at`, those of one time in that of their numbers.
LeastExcessFirst rings_of(const std::vector<int>& excess, const std::vector<std::uint32_t>& pushed_at) {
  std::vector<NodeId> nodes;
  int greatest = 0;
  for (NodeId v = 0; v < excess.size(); ++v) {
    if (excess[v] < 0) continue;
    nodes.push_back(v);
    greatest = std::max(greatest, excess[v]);
  }
  std::ranges::sort(nodes, {}, [&](NodeId v) { return std::pair(pushed_at[v], v); });
  LeastExcessFirst rings(excess.size(), greatest);
  for (const NodeId v : nodes) rings.push(excess[v], v);
  return rings;
}

// Trivially colourable nodes: the narrowest first, of these the lowest number. A bit set for each width.
class NarrowestFirst {
 public:
  explicit NarrowestFirst(const FileGraph& graph) : level_of_(graph.num_shapes()), words_((graph.size() + 63) / 64) {
    std::vector<int> widths;
    for (std::size_t s = 0; s < level_of_.size(); ++s) widths.push_back(graph.width(s));
    std::ranges::sort(widths);
    widths.erase(std::ranges::unique(widths).begin(), widths.end());
    for (std::size_t s = 0; s < level_of_.size(); ++s)
      level_of_[s] = static_cast<std::size_t>(std::ranges::lower_bound(widths, graph.width(s)) - widths.begin());
    levels_.resize(widths.size());
    bits_.assign(widths.size() * words_, 0);
  }
  void push(std::size_t shape, NodeId n) {
    const std::size_t at = level_of_[shape];
    Level& level = levels_[at];
    bits_[at * words_ + n / 64] |= std::uint64_t{1} << (n % 64);
    level.first_word = std::min<std::size_t>(level.first_word, n / 64);
    ++level.size;
    ++size_;
    first_level_ = std::min(first_level_, at);
  }
  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  // Requires some node.
  NodeId pop() {
    while (levels_[first_level_].size == 0) ++first_level_;
    Level& level = levels_[first_level_];
    std::uint64_t* const bits = &bits_[first_level_ * words_];
    while (bits[level.first_word] == 0) ++level.first_word;
    std::uint64_t& word = bits[level.first_word];
    const auto n = static_cast<NodeId>(level.first_word * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    word &= word - 1;
    --level.size;
    --size_;
    return n;
  }

 private:
  struct Level {
    std::size_t size = 0, first_word = 0;  // no bit is set before that word
  };
  std::size_t size_ = 0;
  std::size_t first_level_ = 0;        // no level before it has a node
  std::vector<std::size_t> level_of_;  // by shape
  std::size_t words_;                  // of a level
  std::vector<Level> levels_;          // by ascending width
  std::vector<std::uint64_t> bits_;    // level by level
};

}  // namespace

std::vector<NodeId> simplify(const FileGraph& graph, const UnitSet& available, Optimism optimism) {
  const bool smallest_last = optimism == Optimism::SmallestLast;
  const std::vector<int> free = graph.free_positions(available);
  // By node: squeeze - positions while that is at least 0. Below 0 the node is trivially colourable or gone, and its neighbours no
  // longer matter.
  std::vector<int> excess(graph.size(), -1);
  std::vector<int> positions(smallest_last ? 0 : graph.size());
  std::vector<std::uint8_t> shapes(graph.size());
  NarrowestFirst low(graph);
  std::vector<Candidate> cheap;  // a heap, made when the first candidate is asked for
  bool is_heap = false;
  const auto candidate = [&](NodeId v) {
    const int squeeze = excess[v] + positions[v];
    return Candidate{graph.cost(v), static_cast<std::uint64_t>(std::clamp(squeeze, 1, 1 << 20)), v};
  };
  const auto pop_cheapest = [&] {
    if (!std::exchange(is_heap, true)) {
      for (NodeId v = 0; v < graph.size(); ++v)
        if (excess[v] >= 0) cheap.push_back(candidate(v));
      std::ranges::make_heap(cheap, std::greater<>());
    }
    // Where most entries are stale, as in a clique, it is faster to look at all of them, which finds the same node.
    for (std::size_t stale = 0; 4 * stale * std::bit_width(cheap.size()) <= cheap.size(); ++stale) {
      std::ranges::pop_heap(cheap, std::greater<>());
      const Candidate top = cheap.back();
      cheap.pop_back();
      if (excess[top.node] < 0) continue;
      const Candidate now = candidate(top.node);
      if (now.squeeze == top.squeeze) return top.node;
      cheap.push_back(now);
      std::ranges::push_heap(cheap, std::greater<>());
    }
    Candidate best{.cost = kInfiniteCost, .squeeze = 1, .node = kNoNode};  // behind all others
    for (const Candidate& c : cheap)
      if (excess[c.node] >= 0) best = std::min(best, candidate(c.node), [](const auto& a, const auto& b) { return b > a; });
    return best.node;
  };
  std::size_t left = 0;
  for (NodeId v = 0; v < graph.size(); ++v) {
    shapes[v] = static_cast<std::uint8_t>(graph.shape(v));
    if (graph.is_merged(v) || graph.is_fixed(v)) continue;
    ++left;
    const int count = graph.count_positions(v, available, free);
    if (!smallest_last) positions[v] = count;
    excess[v] = graph.squeeze(v) - count;
    if (excess[v] < 0) low.push(shapes[v], v);
  }
  // Until the first node is taken from a ring it is enough to know when each was to be pushed last.
  std::vector<std::uint32_t> pushed_at(smallest_last ? graph.size() : 0, 0);
  std::uint32_t now = 0;
  std::optional<LeastExcessFirst> least;
  const auto pop_least = [&] {
    if (!least) least.emplace(rings_of(excess, pushed_at));
    return least->pop();
  };
  std::vector<NodeId> order;
  order.reserve(left);
  while (order.size() < left) {
    const NodeId v = !low.is_empty() ? low.pop() : smallest_last ? pop_least() : pop_cheapest();
    excess[v] = -1;
    order.push_back(v);
    const int* worst = graph.worst_by(shapes[v]);
    graph.for_listed(v, [&](NodeId m) {
      if (excess[m] < 0) return;
      const int left_over = excess[m] -= worst[shapes[m]];
      if (left_over < 0) {
        low.push(shapes[m], m);
        if (least) least->remove(m);
      } else if (least) {
        least->push(left_over, m);
      } else if (smallest_last) {
        pushed_at[m] = ++now;
      }
    });
  }
  return order;
}

}  // namespace regduel::reference
