#include "reference/colour/simplify.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>

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

// Nodes by excess: of each value a ring through its nodes, the one that came in last first. A link a node, and one a value.
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

// Trivially colourable nodes: the narrowest first, of these the lowest number. A bit set for each shape.
class NarrowestFirst {
 public:
  explicit NarrowestFirst(const FileGraph& graph) : of_shape_(graph.num_shapes()) {
    for (std::size_t s = 0; s < of_shape_.size(); ++s) {
      of_shape_[s] = &by_width_[graph.width(s)];
      of_shape_[s]->bits.assign((graph.size() + 63) / 64, 0);
    }
  }
  void push(std::size_t shape, NodeId n) {
    Level& level = *of_shape_[shape];
    level.bits[n / 64] |= std::uint64_t{1} << (n % 64);
    level.first_word = std::min<std::size_t>(level.first_word, n / 64);
    ++level.size;
    ++size_;
  }
  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  // Requires some node.
  NodeId pop() {
    Level& level = std::ranges::find_if(by_width_, [](const auto& l) { return l.second.size > 0; })->second;
    while (level.bits[level.first_word] == 0) ++level.first_word;
    std::uint64_t& word = level.bits[level.first_word];
    const auto n = static_cast<NodeId>(level.first_word * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    word &= word - 1;
    --level.size;
    --size_;
    return n;
  }

 private:
  struct Level {
    std::size_t size = 0, first_word = 0;  // no bit is set before that word
    std::vector<std::uint64_t> bits;
  };
  std::size_t size_ = 0;
  std::map<int, Level> by_width_;
  std::vector<Level*> of_shape_;
};

}  // namespace

std::vector<NodeId> simplify(const FileGraph& graph, const UnitSet& available, Optimism optimism) {
  enum class State : std::uint8_t { Gone, High, Low };
  struct Node {
    int excess = 0;  // squeeze - positions: below 0 the node is trivially colourable
    int positions = 0;
    std::uint8_t shape = 0;
    State state = State::Gone;
  };
  const bool smallest_last = optimism == Optimism::SmallestLast;
  const std::vector<int> free = graph.free_positions(available);
  std::vector<Node> nodes(graph.size());
  NarrowestFirst low(graph);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> cheap;
  const auto candidate = [&](NodeId v) {
    const int squeeze = nodes[v].excess + nodes[v].positions;
    return Candidate{graph.cost(v), static_cast<std::uint64_t>(std::clamp(squeeze, 1, 1 << 20)), v};
  };
  const auto pop_cheapest = [&] {
    for (;;) {
      const Candidate top = cheap.top();
      cheap.pop();
      if (nodes[top.node].state != State::High) continue;
      if (candidate(top.node).squeeze == top.squeeze) return top.node;
      cheap.push(candidate(top.node));
    }
  };
  std::size_t left = 0;
  int greatest = 0;
  for (NodeId v = 0; v < graph.size(); ++v) {
    Node& n = nodes[v];
    n.shape = static_cast<std::uint8_t>(graph.shape(v));
    if (graph.is_merged(v) || graph.is_fixed(v)) continue;
    ++left;
    n.positions = graph.count_positions(v, available, free);
    n.excess = graph.squeeze(v) - n.positions;
    n.state = n.excess < 0 ? State::Low : State::High;
    greatest = std::max(greatest, n.excess);
  }
  LeastExcessFirst least(graph.size(), greatest);
  for (NodeId v = 0; v < graph.size(); ++v) {
    if (nodes[v].state == State::Low) low.push(nodes[v].shape, v);
    else if (nodes[v].state == State::High && smallest_last) least.push(nodes[v].excess, v);
    else if (nodes[v].state == State::High) cheap.push(candidate(v));
  }
  std::vector<NodeId> order;
  order.reserve(left);
  while (order.size() < left) {
    const NodeId v = !low.is_empty() ? low.pop() : smallest_last ? least.pop() : pop_cheapest();
    nodes[v].state = State::Gone;
    order.push_back(v);
    const int* worst = graph.worst_by(nodes[v].shape);
    graph.for_listed(v, [&](NodeId m) {
      Node& n = nodes[m];
      if (n.state != State::High) return;
      n.excess -= worst[n.shape];
      if (n.excess < 0) {
        n.state = State::Low;
        low.push(n.shape, m);
        if (smallest_last) least.remove(m);
      } else if (smallest_last) {
        least.push(n.excess, m);
      }
    });
  }
  return order;
}

}  // namespace regduel::reference
