#include "passes/frequency.h"

#include <algorithm>

namespace regduel::passes {
namespace {

using ir::BlockId;

class Loops {
 public:
  explicit Loops(const ir::Cfg& cfg) : cfg_(cfg), depth_(cfg.num_blocks(), 0), loop_(cfg.num_blocks(), kNoLoop) {}

  std::vector<int> run() {
    std::vector<BlockId> blocks(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end());
    for (const BlockId b : blocks) loop_[b.index()] = 0;
    std::uint32_t loops = 1;
    constexpr int kDeepest = 9;  // 10^9 is the highest frequency
    for (int depth = 1; depth <= kDeepest && !blocks.empty(); ++depth) {
      find_components(blocks);
      std::vector<BlockId> inside;
      for (const std::vector<BlockId>& component : components_) {
        const BlockId first = *std::min_element(component.begin(), component.end(),
                                                [&](BlockId x, BlockId y) { return cfg_.rpo_index(x) < cfg_.rpo_index(y); });
        for (const BlockId b : component) {
          depth_[b.index()] = depth;
          loop_[b.index()] = b == first ? kNoLoop : loops;
          if (b != first) inside.push_back(b);
        }
        ++loops;
      }
      blocks = std::move(inside);
    }
    return std::move(depth_);
  }

 private:
  static constexpr std::uint32_t kNoLoop = 0xFFFFFFFFu;

  // Of the edges within one loop each: the components that have one (Tarjan 1972, without recursion). Blocks of no component are in
  // no loop any more.
  void find_components(const std::vector<BlockId>& blocks) {
    components_.clear();
    number_.assign(cfg_.num_blocks(), 0);
    low_.assign(cfg_.num_blocks(), 0);
    on_stack_.assign(cfg_.num_blocks(), 0);
    std::vector<std::pair<BlockId, std::size_t>> walk;
    std::vector<BlockId> stack;
    std::uint32_t next = 1;
    for (const BlockId start : blocks) {
      if (number_[start.index()] != 0) continue;
      const auto enter = [&](BlockId b) {
        number_[b.index()] = low_[b.index()] = next++;
        on_stack_[b.index()] = 1;
        stack.push_back(b);
        walk.emplace_back(b, 0);
      };
      enter(start);
      while (!walk.empty()) {
        const BlockId b = walk.back().first;
        const auto successors = cfg_.successors(b);
        if (walk.back().second < successors.size()) {
          const BlockId s = successors[walk.back().second++];
          if (loop_[s.index()] != loop_[b.index()] || loop_[s.index()] == kNoLoop) continue;
          if (number_[s.index()] == 0) enter(s);
          else if (on_stack_[s.index()] != 0) low_[b.index()] = std::min(low_[b.index()], number_[s.index()]);
          continue;
        }
        walk.pop_back();
        if (!walk.empty()) {
          std::uint32_t& above = low_[walk.back().first.index()];
          above = std::min(above, low_[b.index()]);
        }
        if (low_[b.index()] != number_[b.index()]) continue;
        std::vector<BlockId> component;
        while (on_stack_[b.index()] != 0) {
          component.push_back(stack.back());
          on_stack_[stack.back().index()] = 0;
          stack.pop_back();
        }
        const bool is_loop = component.size() > 1 || std::find(successors.begin(), successors.end(), b) != successors.end();
        if (is_loop) components_.push_back(std::move(component));
      }
    }
  }

  const ir::Cfg& cfg_;
  std::vector<int> depth_;
  std::vector<std::uint32_t> loop_;  // by block: the innermost loop found, kNoLoop where nothing further is to be found
  std::vector<std::vector<BlockId>> components_;
  std::vector<std::uint32_t> number_, low_;
  std::vector<char> on_stack_;
};

}  // namespace

std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg) {
  std::vector<int> depths = Loops(cfg).run();
  for (std::size_t b = 0; b < depths.size(); ++b)
    if (f.blocks[b].depth >= 0) depths[b] = f.blocks[b].depth;
  return depths;
}

std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg) {
  const std::vector<int> depths = loop_depths(f, cfg);
  std::vector<std::uint64_t> frequencies(f.blocks.size(), 1);
  for (std::size_t b = 0; b < frequencies.size(); ++b) {
    std::uint64_t& frequency = frequencies[b];
    if (f.blocks[b].freq != 0) frequency = std::min(f.blocks[b].freq, kHighestFrequency);
    else
      for (int depth = depths[b]; depth > 0 && frequency < kHighestFrequency; --depth) frequency *= 10;
  }
  return frequencies;
}

}  // namespace regduel::passes
