#include "reference/colour/simplify.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace regduel::reference {

void Simplifier::NarrowestFirst::reset(const FileGraph& graph) {
  // A width of no node has no level.
  const auto width = [&](NodeId n) { return graph.units(n) << 8 | 1 << graph.align_log2(n); };
  size_ = 0;
  std::vector<int> width_of(graph.num_shapes(), 0);
  for (NodeId n = 0; n < graph.size(); ++n) width_of[graph.shape(n)] = width(n);
  std::vector<int> widths = width_of;
  std::ranges::sort(widths);
  levels_.resize(widths.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    levels_[l].width = widths[l];
    levels_[l].size = levels_[l].first_word = 0;
    levels_[l].bits.assign((graph.size() + 63) / 64, 0);
  }
  level_of_.clear();
  for (const int w : width_of) level_of_.push_back(static_cast<std::size_t>(std::ranges::find(widths, w) - widths.begin()));
}

void Simplifier::NarrowestFirst::push(std::size_t shape, NodeId n) {
  Level& level = levels_[level_of_[shape]];
  level.bits[n / 64] |= std::uint64_t{1} << (n % 64);
  level.first_word = std::min<std::size_t>(level.first_word, n / 64);
  ++level.size;
  ++size_;
}

NodeId Simplifier::NarrowestFirst::pop() {
  const auto level = std::ranges::find_if(levels_, [](const Level& l) { return l.size > 0; });
  while (level->bits[level->first_word] == 0) ++level->first_word;
  std::uint64_t& word = level->bits[level->first_word];
  const auto n = static_cast<NodeId>(level->first_word * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  word &= word - 1;
  --level->size;
  --size_;
  return n;
}

void Simplifier::LeastExcessFirst::reset(std::size_t nodes, int greatest) {
  nodes_ = nodes;
  links_.resize(nodes + static_cast<std::size_t>(greatest) + 1);
  for (NodeId n = 0; n < links_.size(); ++n) links_[n] = {n, n};
  least_ = static_cast<NodeId>(nodes);
}

NodeId Simplifier::LeastExcessFirst::pop() {
  while (links_[least_].next == least_) ++least_;
  const NodeId n = links_[least_].next;
  remove(n);
  return n;
}

Simplifier::Candidate Simplifier::candidate(const FileGraph& graph, NodeId n) const {
  const int squeeze = nodes_[n].excess + nodes_[n].positions;
  return {graph.cost(n), static_cast<std::uint64_t>(std::clamp(squeeze, 1, 1 << 20)), n};
}

NodeId Simplifier::pop_cheapest(const FileGraph& graph) {
  for (;;) {
    std::ranges::pop_heap(cheap_, std::greater<>());
    const Candidate top = cheap_.back();
    cheap_.pop_back();
    if (nodes_[top.node].state != State::High) continue;
    if (candidate(graph, top.node).squeeze == top.squeeze) return top.node;
    cheap_.push_back(candidate(graph, top.node));
    std::ranges::push_heap(cheap_, std::greater<>());
  }
}

const std::vector<NodeId>& Simplifier::order(const FileGraph& graph, const UnitSet& available, Optimism optimism) {
  const bool smallest_last = optimism == Optimism::SmallestLast;
  const std::vector<int> free = graph.free_positions(available);
  nodes_.assign(graph.size(), {});
  low_.reset(graph);
  cheap_.clear();
  order_.clear();
  std::size_t left = 0;
  int greatest = 0;
  for (NodeId v = 0; v < graph.size(); ++v) {
    Node& n = nodes_[v];
    n.shape = static_cast<std::uint8_t>(graph.shape(v));
    if (graph.is_merged(v) || graph.is_fixed(v)) continue;
    ++left;
    n.positions = graph.count_positions(v, available, free);
    n.excess = graph.squeeze(v) - n.positions;
    n.state = n.excess < 0 ? State::Low : State::High;
    greatest = std::max(greatest, n.excess);
    if (n.state == State::Low) low_.push(n.shape, v);
    else if (!smallest_last) cheap_.push_back(candidate(graph, v));
  }
  if (smallest_last) {
    least_.reset(graph.size(), greatest);
    for (NodeId v = 0; v < graph.size(); ++v)
      if (nodes_[v].state == State::High) least_.push(nodes_[v].excess, v);
  } else {
    std::ranges::make_heap(cheap_, std::greater<>());
  }
  Node* const nodes = nodes_.data();
  while (order_.size() < left) {
    const NodeId v = !low_.is_empty() ? low_.pop() : smallest_last ? least_.pop() : pop_cheapest(graph);
    nodes[v].state = State::Gone;
    order_.push_back(v);
    const int* worst = graph.worst_by(nodes[v].shape);
    graph.for_listed(v, [&](NodeId m) {
      Node& n = nodes[m];
      if (n.state != State::High) return;
      n.excess -= worst[n.shape];
      if (n.excess < 0) {
        n.state = State::Low;
        low_.push(n.shape, m);
        if (smallest_last) least_.remove(m);
      } else if (smallest_last) {
        least_.push(n.excess, m);
      }
    });
  }
  return order_;
}

}  // namespace regduel::reference
