// See frequency.h.

#include "allocator/program/frequency.h"

#include <algorithm>

namespace regduel::allocator {
namespace {

using ir::BlockId;

constexpr int kMaxDepth = 16;

// Tarjan's strongly connected components of the blocks whose region number is `region`.
class Regions {
 public:
  Regions(const ir::Cfg& cfg)
      : cfg_(cfg), region_of_(cfg.num_blocks(), 0), index_(cfg.num_blocks()), low_(cfg.num_blocks()), state_(cfg.num_blocks()),
        depth_(cfg.num_blocks(), 0) {}

  std::vector<int> run() {
    std::vector<BlockId> all(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end());
    for (const BlockId b : all) region_of_[b.index()] = 1;
    next_region_ = 2;
    std::vector<std::pair<std::vector<BlockId>, int>> work = {{std::move(all), 0}};
    while (!work.empty()) {
      auto [blocks, depth] = std::move(work.back());
      work.pop_back();
      for (std::vector<BlockId>& component : components(blocks)) {
        for (const BlockId b : component) depth_[b.index()] = depth + 1;
        const auto header = std::min_element(component.begin(), component.end(),
                                             [&](BlockId a, BlockId b) { return cfg_.rpo_index(a) < cfg_.rpo_index(b); });
        region_of_[header->index()] = 0;
        component.erase(header);
        if (component.empty() || depth + 1 >= kMaxDepth) continue;
        for (const BlockId b : component) region_of_[b.index()] = next_region_;
        ++next_region_;
        work.emplace_back(std::move(component), depth + 1);
      }
    }
    return std::move(depth_);
  }

 private:
  struct Frame {
    BlockId block;
    std::size_t next;
  };

  // Components of more than one block, or of one that branches to itself.
  std::vector<std::vector<BlockId>> components(const std::vector<BlockId>& blocks) {
    std::vector<std::vector<BlockId>> result;
    if (blocks.empty()) return result;
    const std::uint32_t region = region_of_[blocks[0].index()];
    for (const BlockId b : blocks) state_[b.index()] = 0;
    std::uint32_t counter = 0;
    std::vector<BlockId> open;
    std::vector<Frame> stack;
    open.reserve(blocks.size());
    stack.reserve(blocks.size());
    const auto enter = [&](BlockId b) {
      index_[b.index()] = low_[b.index()] = counter++;
      state_[b.index()] = 1;
      open.push_back(b);
      stack.push_back({b, 0});
    };
    for (const BlockId root : blocks) {
      if (state_[root.index()] != 0) continue;
      enter(root);
      while (!stack.empty()) {
        Frame& top = stack.back();
        const BlockId b = top.block;
        const auto succ = cfg_.successors(b);
        if (top.next < succ.size()) {
          const BlockId s = succ[top.next++];
          if (region_of_[s.index()] != region) continue;
          if (state_[s.index()] == 0) enter(s);
          else if (state_[s.index()] == 1) low_[b.index()] = std::min(low_[b.index()], index_[s.index()]);
          continue;
        }
        stack.pop_back();
        if (!stack.empty()) {
          std::uint32_t& parent = low_[stack.back().block.index()];
          parent = std::min(parent, low_[b.index()]);
        }
        if (low_[b.index()] != index_[b.index()]) continue;
        const auto end = std::find(open.rbegin(), open.rend(), b) + 1;  // the component is what is open from b on
        for (auto member = open.rbegin(); member != end; ++member) state_[member->index()] = 2;
        const auto succ_b = cfg_.successors(b);
        if (open.back() != b || std::find(succ_b.begin(), succ_b.end(), b) != succ_b.end()) result.emplace_back(open.rbegin(), end);
        open.resize(open.size() - static_cast<std::size_t>(end - open.rbegin()));
      }
    }
    return result;
  }

  const ir::Cfg& cfg_;
  std::vector<std::uint32_t> region_of_, index_, low_;
  std::vector<char> state_;  // 0 new, 1 open, 2 closed
  std::vector<int> depth_;
  std::uint32_t next_region_ = 1;
};

// Whether some edge between reachable blocks leads to no later block: without one there are no loops.
bool goes_back(const ir::Cfg& cfg) {
  const auto order = cfg.reverse_postorder();
  return std::any_of(order.begin(), order.end(), [&](BlockId from) {
    const auto to = cfg.successors(from);
    return std::any_of(to.begin(), to.end(), [&](BlockId b) { return cfg.rpo_index(b) <= cfg.rpo_index(from); });
  });
}

}  // namespace

std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg) {
  if (!goes_back(cfg)) return std::vector<int>(f.blocks.size(), 0);
  return Regions(cfg).run();
}

std::vector<std::int64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg, std::int64_t base, std::int64_t most) {
  const std::vector<int> depths = loop_depths(f, cfg);
  std::vector<std::int64_t> freq(f.blocks.size(), 1);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    if (block.freq != 0) {
      freq[b] = static_cast<std::int64_t>(std::min<std::uint64_t>(block.freq, static_cast<std::uint64_t>(most)));
      continue;
    }
    const int depth = block.depth >= 0 ? block.depth : depths[b];
    for (int d = 0; d < depth && freq[b] < most; ++d) freq[b] = std::min(freq[b] * base, most);
  }
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    if (f.blocks[b].is_edge_block()) freq[b] = std::min(freq[f.blocks[b].edge_from.index()], freq[f.blocks[b].edge_to.index()]);
  return freq;
}

}  // namespace regduel::allocator
