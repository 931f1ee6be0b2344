#include "passes/nvptx/block_frequency.h"

#include <algorithm>

namespace regduel::passes::nvptx {
namespace {

constexpr int kMaxDepth = 9;

// Each block with an edge back to it heads a loop: itself, and all that reaches the source of such an edge without leaving the
// blocks behind the header in reverse postorder.
std::vector<int> loop_depths(const ir::Cfg& cfg) {
  std::vector<int> depth(cfg.num_blocks(), 0);
  std::vector<std::uint32_t> member_of(cfg.num_blocks(), ~0u);  // header's block number
  std::vector<ir::BlockId> work;
  for (const ir::BlockId header : cfg.reverse_postorder()) {
    const auto take = [&](ir::BlockId b) {
      if (!cfg.is_reachable(b) || cfg.rpo_index(b) < cfg.rpo_index(header) || member_of[b.index()] == header.value) return;
      member_of[b.index()] = header.value;
      depth[b.index()] = std::min(depth[b.index()] + 1, kMaxDepth);
      if (b != header) work.push_back(b);
    };
    for (const ir::BlockId p : cfg.predecessors(header)) take(p);
    if (work.empty() && member_of[header.index()] != header.value) continue;
    take(header);
    while (!work.empty()) {
      const ir::BlockId b = work.back();
      work.pop_back();
      for (const ir::BlockId p : cfg.predecessors(b)) take(p);
    }
  }
  return depth;
}

}  // namespace

std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  const std::vector<int> depth = loop_depths(cfg);
  std::vector<std::uint64_t> frequency(f.blocks.size(), 1);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    if (block.freq > 0) frequency[b] = std::min(block.freq, kMost);
    else
      for (int d = block.depth >= 0 ? std::min(block.depth, kMaxDepth) : depth[b]; d > 0; --d) frequency[b] *= 10;
  }
  return frequency;
}

}  // namespace regduel::passes::nvptx
