#include "reference/colour/simplify.h"

#include <algorithm>
#include <bit>
#include <functional>
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

// Nodes by how far their squeeze is beyond their positions: lists through the nodes, the last one that came in first.
class ExcessBuckets {
 public:
  explicit ExcessBuckets(std::size_t nodes) : next_(nodes, kNoNode), previous_(nodes, kNoNode), bucket_(nodes, kNowhere) {}

  // Puts n, wherever it was, at the head of a bucket.
  void push(int excess, NodeId n) {
    remove(n);
    const auto at = static_cast<std::uint32_t>(excess);
    if (at >= first_.size()) first_.resize(at + 1, kNoNode);
    next_[n] = first_[at];
    if (next_[n] != kNoNode) previous_[next_[n]] = n;
    previous_[n] = kNoNode;
    first_[at] = n;
    bucket_[n] = at;
    least_ = std::min(least_, at);
  }
  void remove(NodeId n) {
    if (bucket_[n] == kNowhere) return;
    (previous_[n] == kNoNode ? first_[bucket_[n]] : next_[previous_[n]]) = next_[n];
    if (next_[n] != kNoNode) previous_[next_[n]] = previous_[n];
    bucket_[n] = kNowhere;
  }
  // Requires some node.
  NodeId pop() {
    while (first_[least_] == kNoNode) ++least_;
    const NodeId n = first_[least_];
    remove(n);
    return n;
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;
  std::vector<NodeId> first_;            // by excess
  std::vector<NodeId> next_, previous_;  // by node
  std::vector<std::uint32_t> bucket_;
  std::uint32_t least_ = 0;
};

// Trivially colourable nodes: the narrowest first, of these the lowest number. A bit set for each width.
class NarrowestFirst {
 public:
  explicit NarrowestFirst(std::size_t nodes) : words_((nodes + 63) / 64) {}

  void push(int width, NodeId n) {
    auto level = std::lower_bound(levels_.begin(), levels_.end(), width, [](const Level& l, int w) { return l.width < w; });
    if (level == levels_.end() || level->width != width) {
      level = levels_.insert(level, Level{});
      level->width = width;
      level->bits.assign(words_, 0);
    }
    level->bits[n / 64] |= std::uint64_t{1} << (n % 64);
    level->first_word = std::min<std::size_t>(level->first_word, n / 64);
    ++level->size;
    ++size_;
  }
  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  // Requires some node.
  NodeId pop() {
    const auto level = std::find_if(levels_.begin(), levels_.end(), [](const Level& l) { return l.size > 0; });
    while (level->bits[level->first_word] == 0) ++level->first_word;
    std::uint64_t& word = level->bits[level->first_word];
    const auto n = static_cast<NodeId>(level->first_word * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    word &= word - 1;
    --level->size;
    --size_;
    return n;
  }

 private:
  struct Level {
    int width = 0;
    std::size_t size = 0, first_word = 0;  // no bit is set before that word
    std::vector<std::uint64_t> bits;
  };
  std::size_t words_, size_ = 0;
  std::vector<Level> levels_;  // by width
};

}  // namespace

std::vector<NodeId> simplify(const FileGraph& graph, const UnitSet& available, Optimism optimism) {
  const std::size_t n = graph.size();
  std::vector<int> squeeze(n, 0), positions(n, 0);
  enum : std::uint8_t { kGone, kHigh, kLow };
  std::vector<std::uint8_t> state(n, kGone);
  NarrowestFirst low(n);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> cheap;
  const bool smallest_last = optimism == Optimism::SmallestLast;
  ExcessBuckets excess(smallest_last ? n : 0);
  const auto width = [&](NodeId v) { return graph.units(v) << 8 | 1 << graph.align_log2(v); };
  const auto candidate = [&](NodeId v) {
    return Candidate{graph.cost(v), static_cast<std::uint64_t>(std::clamp(squeeze[v], 1, 1 << 20)), v};
  };
  const auto take_cheapest = [&] {
    for (;;) {
      const Candidate top = cheap.top();
      cheap.pop();
      if (state[top.node] != kHigh) continue;
      if (candidate(top.node).squeeze == top.squeeze) return top.node;
      cheap.push(candidate(top.node));
    }
  };
  std::size_t left = 0;
  for (NodeId v = 0; v < n; ++v) {
    if (graph.is_merged(v) || graph.is_fixed(v)) continue;
    ++left;
    squeeze[v] = graph.squeeze(v);
    positions[v] = graph.positions(v, available).count();
    state[v] = squeeze[v] < positions[v] ? kLow : kHigh;
    if (state[v] == kLow) low.push(width(v), v);
    else if (smallest_last) excess.push(squeeze[v] - positions[v], v);
    else cheap.push(candidate(v));
  }
  std::vector<NodeId> order;
  order.reserve(left);
  while (order.size() < left) {
    const NodeId v = !low.is_empty() ? low.pop() : smallest_last ? excess.pop() : take_cheapest();
    state[v] = kGone;
    order.push_back(v);
    graph.for_neighbours(v, [&](NodeId m) {
      if (state[m] == kGone) return;
      squeeze[m] -= graph.worst(m, v);
      if (state[m] != kHigh) return;
      if (squeeze[m] < positions[m]) {
        state[m] = kLow;
        low.push(width(m), m);
        if (smallest_last) excess.remove(m);
      } else if (smallest_last) {
        excess.push(squeeze[m] - positions[m], m);
      }
    });
  }
  return order;
}

}  // namespace regduel::reference
