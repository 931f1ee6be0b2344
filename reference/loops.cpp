#include "reference/loops.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regduel::reference {
namespace {

constexpr std::uint64_t kMaxFrequency = std::uint64_t{1} << 40;

// Strongly connected regions of more than one block, or of one block with an edge to itself, within a set of blocks (Tarjan 1972).
class LoopFinder {
 public:
  explicit LoopFinder(const ir::Cfg& cfg, std::size_t blocks) : cfg_(cfg), state_(blocks) {}

  std::vector<std::vector<ir::BlockId>> loops_within(const std::vector<ir::BlockId>& region) {
    std::vector<std::vector<ir::BlockId>> loops;
    for (const ir::BlockId b : region) state_[b.index()] = {.is_inside = true};
    num_visited_ = 0;
    for (const ir::BlockId b : region)
      if (state_[b.index()].number == 0) visit_from(b, loops);
    for (const ir::BlockId b : region) state_[b.index()] = {};
    return loops;
  }

 private:
  struct State {
    std::uint32_t number = 0;  // in which order it was reached, from 1 on; 0 = not yet
    std::uint32_t lowest = 0;  // of the numbers that it reaches within its region, as far as known
    std::uint32_t next = 0;    // successor to look at
    bool is_inside = false;    // of the set, and its region is not complete yet
  };

  void enter(ir::BlockId b) {
    State& s = state_[b.index()];
    s.number = s.lowest = ++num_visited_;
    path_.push_back(b);
    open_.push_back(b);
  }
  void visit_from(ir::BlockId root, std::vector<std::vector<ir::BlockId>>& loops) {
    enter(root);
    while (!path_.empty()) {
      const ir::BlockId b = path_.back();
      State& s = state_[b.index()];
      const auto successors = cfg_.successors(b);
      if (s.next < successors.size()) {
        const ir::BlockId to = successors[s.next++];
        if (!state_[to.index()].is_inside) continue;
        if (state_[to.index()].number == 0) enter(to);
        else s.lowest = std::min(s.lowest, state_[to.index()].number);
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        State& before = state_[path_.back().index()];
        before.lowest = std::min(before.lowest, s.lowest);
      }
      if (s.lowest == s.number) complete(b, loops);
    }
  }
  // All that is open from b on is one region.
  void complete(ir::BlockId b, std::vector<std::vector<ir::BlockId>>& loops) {
    auto first = open_.end();
    do --first;
    while (*first != b);
    for (auto it = first; it != open_.end(); ++it) state_[it->index()].is_inside = false;
    const auto successors = cfg_.successors(b);
    if (open_.end() - first > 1 || std::ranges::find(successors, b) != successors.end()) loops.emplace_back(first, open_.end());
    open_.erase(first, open_.end());
  }

  const ir::Cfg& cfg_;
  std::vector<State> state_;  // by block
  std::uint32_t num_visited_ = 0;
  std::vector<ir::BlockId> path_;  // from the root to the block at hand
  std::vector<ir::BlockId> open_;  // reached, their regions not complete
};

}  // namespace

std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg) {
  std::vector<int> depth(f.blocks.size(), 0);
  LoopFinder finder(cfg, f.blocks.size());
  std::vector<std::vector<ir::BlockId>> work;
  work.emplace_back(cfg.reverse_postorder().begin(), cfg.reverse_postorder().end());
  // Deeper nests than the frequencies can tell apart are of no interest.
  constexpr int kMaxDepth = 64;
  while (!work.empty()) {
    const std::vector<ir::BlockId> region = std::move(work.back());
    work.pop_back();
    for (std::vector<ir::BlockId>& loop : finder.loops_within(region)) {
      for (const ir::BlockId b : loop) ++depth[b.index()];
      const auto header = std::min_element(loop.begin(), loop.end(),
                                           [&](ir::BlockId a, ir::BlockId b) { return cfg.rpo_index(a) < cfg.rpo_index(b); });
      if (depth[header->index()] >= kMaxDepth) continue;
      loop.erase(header);
      if (!loop.empty()) work.push_back(std::move(loop));
    }
  }
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    if (f.blocks[b].depth >= 0) depth[b] = f.blocks[b].depth;
  return depth;
}

std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg, int base) {
  const std::vector<int> depth = loop_depths(f, cfg);
  std::vector<std::uint64_t> freq(f.blocks.size(), 1);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks[b].freq > 0) {
      freq[b] = std::min(f.blocks[b].freq, kMaxFrequency);
      continue;
    }
    for (int d = 0; d < depth[b] && freq[b] < kMaxFrequency; ++d)
      freq[b] = std::min(freq[b] * static_cast<std::uint64_t>(base), kMaxFrequency);
  }
  return freq;
}

}  // namespace regduel::reference
