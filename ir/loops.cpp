// Loops are found level by level: the components of all blocks are the outermost loops, and those of their blocks without the
// headers are the next ones. Components are Tarjan's ("Depth-First Search and Linear Graph Algorithms", 1972), without recursion.
// See loops.h.

#include "ir/loops.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace regduel::ir {
namespace {

class Loops {
 public:
  explicit Loops(const Cfg& cfg)
      : cfg_(cfg), depths_(cfg.num_blocks(), 0), order_(cfg.num_blocks(), 0), low_(cfg.num_blocks(), 0),
        on_stack_(cfg.num_blocks(), false) {}

  std::vector<int> run(int deepest) {
    std::vector<BlockId> level(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end());
    for (int depth = 0; depth < deepest && !level.empty(); ++depth) {
      for (const BlockId b : level) order_[b.index()] = 0;
      inner_.clear();
      for (const BlockId b : level)
        if (order_[b.index()] == 0) walk(b);
      level.swap(inner_);
    }
    return std::move(depths_);
  }

 private:
  struct Frame {
    BlockId block;
    std::size_t next = 0;  // of its successors
  };

  void open(BlockId b) {
    order_[b.index()] = low_[b.index()] = ++last_;
    on_stack_[b.index()] = true;
    stack_.push_back(b);
    frames_.push_back({.block = b});
  }
  void lower(BlockId b, std::uint32_t to) { low_[b.index()] = std::min(low_[b.index()], to); }

  void walk(BlockId start) {
    open(start);
    while (!frames_.empty()) {
      const BlockId b = frames_.back().block;
      const auto successors = cfg_.successors(b);
      if (frames_.back().next < successors.size()) {
        const BlockId s = successors[frames_.back().next++];
        if (order_[s.index()] == 0) open(s);
        else if (on_stack_[s.index()]) lower(b, order_[s.index()]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) lower(frames_.back().block, low_[b.index()]);
      if (low_[b.index()] == order_[b.index()]) close(b);
    }
  }

  // The component of `first` is what lies on the stack from there on.
  void close(BlockId first) {
    const auto begin = std::find(stack_.rbegin(), stack_.rend(), first).base() - 1;
    const std::span<const BlockId> component{begin, stack_.end()};
    const auto successors = cfg_.successors(first);
    const bool is_loop = component.size() > 1 || std::find(successors.begin(), successors.end(), first) != successors.end();
    const BlockId header = *std::min_element(component.begin(), component.end(),
                                             [&](BlockId x, BlockId y) { return cfg_.rpo_index(x) < cfg_.rpo_index(y); });
    for (const BlockId b : component) {
      on_stack_[b.index()] = false;
      if (!is_loop) continue;
      ++depths_[b.index()];
      if (b != header) inner_.push_back(b);
    }
    stack_.erase(begin, stack_.end());
  }

  const Cfg& cfg_;
  std::vector<int> depths_;
  // By block: its place in the walk over the level at hand, from 1; 0 = not reached yet. The headers of the levels above keep
  // theirs and are on no stack, so that no edge to them counts.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> low_;  // by block: the least place on the stack that it leads to
  std::vector<bool> on_stack_;
  std::uint32_t last_ = 0;
  std::vector<BlockId> stack_, inner_;
  std::vector<Frame> frames_;
};

}  // namespace

std::vector<int> loop_depths(const Cfg& cfg, int deepest) { return Loops(cfg).run(deepest); }

std::vector<int> loop_depths(const Function& f, const Cfg& cfg, int deepest) {
  std::vector<int> depths = loop_depths(cfg, deepest);
  for (std::size_t b = 0; b < depths.size(); ++b)
    if (f.blocks[b].depth >= 0) depths[b] = f.blocks[b].depth;
  return depths;
}

std::vector<std::int64_t> block_frequencies(const Function& f, const Cfg& cfg, std::int64_t base, std::int64_t most) {
  const std::vector<int> depths = loop_depths(f, cfg);
  std::vector<std::int64_t> frequencies(f.blocks.size(), 1);
  for (std::size_t b = 0; b < frequencies.size(); ++b) {
    std::int64_t& frequency = frequencies[b];
    const std::uint64_t given = f.blocks[b].freq;
    if (given != 0) frequency = static_cast<std::int64_t>(std::min(given, static_cast<std::uint64_t>(most)));
    else
      for (int depth = 0; depth < depths[b] && frequency < most && base > 1; ++depth) frequency = std::min(frequency * base, most);
  }
  for (std::size_t b = 0; b < frequencies.size(); ++b)
    if (const Block& block = f.blocks[b]; block.is_edge_block())
      frequencies[b] = std::min(frequencies[block.edge_from.index()], frequencies[block.edge_to.index()]);
  return frequencies;
}

std::vector<std::int64_t> block_weights(const Function& f, const Cfg& cfg) {
  return block_frequencies(f, cfg, kFrequencyBase, kMostWeight);
}

}  // namespace regduel::ir
