#include "reference/simplify.h"

#include <algorithm>
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

// Nodes by how far their squeeze is beyond their positions. An entry is stale once its node has another excess.
class ExcessBuckets {
 public:
  void push(int excess, NodeId n) {
    const auto at = static_cast<std::size_t>(excess);
    if (at >= buckets_.size()) buckets_.resize(at + 1);
    buckets_[at].push_back(n);
    least_ = std::min(least_, at);
  }
  // Requires some entry. Returns the excess under which the node was pushed, and the node.
  std::pair<int, NodeId> pop() {
    while (buckets_[least_].empty()) ++least_;
    const NodeId n = buckets_[least_].back();
    buckets_[least_].pop_back();
    return {static_cast<int>(least_), n};
  }

 private:
  std::vector<std::vector<NodeId>> buckets_;
  std::size_t least_ = 0;
};

}  // namespace

std::vector<NodeId> simplify(const FileGraph& graph, const UnitSet& available, Optimism optimism) {
  const std::size_t n = graph.size();
  std::vector<int> squeeze(n, 0), positions(n, 0);
  enum : std::uint8_t { kGone, kHigh, kLow };
  std::vector<std::uint8_t> state(n, kGone);
  using Heap = std::priority_queue<std::pair<int, NodeId>, std::vector<std::pair<int, NodeId>>, std::greater<>>;
  Heap low;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> cheap;
  ExcessBuckets excess;
  const auto width = [&](NodeId v) { return graph.units(v) << 8 | 1 << graph.align_log2(v); };
  const auto candidate = [&](NodeId v) {
    return Candidate{graph.cost(v), static_cast<std::uint64_t>(std::clamp(squeeze[v], 1, 1 << 20)), v};
  };
  // Requires v to be high.
  const auto offer = [&](NodeId v) {
    if (optimism == Optimism::CheapestFirst) cheap.push(candidate(v));
    else excess.push(squeeze[v] - positions[v], v);
  };
  const auto take = [&] {
    for (;;) {
      if (optimism == Optimism::SmallestLast) {
        const auto [at, v] = excess.pop();
        if (state[v] == kHigh && squeeze[v] - positions[v] == at) return v;
        continue;
      }
      const Candidate top = cheap.top();
      cheap.pop();
      if (state[top.node] != kHigh) continue;
      if (candidate(top.node).squeeze == top.squeeze) return top.node;
      offer(top.node);
    }
  };
  std::size_t left = 0;
  for (NodeId v = 0; v < n; ++v) {
    if (graph.is_merged(v) || graph.is_fixed(v)) continue;
    ++left;
    squeeze[v] = graph.squeeze(v);
    positions[v] = graph.positions(v, available).count();
    state[v] = squeeze[v] < positions[v] ? kLow : kHigh;
    if (state[v] == kLow) low.emplace(width(v), v);
    else offer(v);
  }
  std::vector<NodeId> order;
  order.reserve(left);
  while (order.size() < left) {
    NodeId v = kNoNode;
    if (low.empty()) {
      v = take();
    } else {
      v = low.top().second;
      low.pop();
    }
    state[v] = kGone;
    order.push_back(v);
    graph.for_neighbours(v, [&](NodeId m) {
      if (state[m] == kGone) return;
      squeeze[m] -= graph.worst(m, v);
      if (state[m] != kHigh) return;
      if (squeeze[m] < positions[m]) {
        state[m] = kLow;
        low.emplace(width(m), m);
      } else if (optimism == Optimism::SmallestLast) {
        offer(m);
      }
    });
  }
  return order;
}

}  // namespace regduel::reference
