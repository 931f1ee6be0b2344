// See dominators.h for the source; tested by value_graph_test.cpp and memcheck_test.cpp.

#include "oracles/memcheck/dominators.h"

#include <algorithm>
#include <utility>

namespace regduel::oracles {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
constexpr std::size_t kRegionBlocks = 4;  // listed or stepped through, all regions together, as a multiple of the number of blocks

}  // namespace

Dominators::Dominators(const ir::Cfg& cfg) : cfg_(cfg) {
  find_immediate();
  find_regions();
  place();
}

void Dominators::find_immediate() {
  const auto order = cfg_.reverse_postorder();
  idom_.assign(order.size(), kUnknown);
  idom_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t b = 1; b < order.size(); ++b) {
      std::uint32_t best = kUnknown;
      for (const ir::BlockId pred : cfg_.predecessors(order[b])) {
        if (!cfg_.is_reachable(pred)) continue;
        auto p = static_cast<std::uint32_t>(at(pred));
        if (idom_[p] == kUnknown) continue;
        if (best == kUnknown) best = p;
        while (p != best) {
          if (p > best) p = idom_[p];
          else best = idom_[best];
        }
      }
      if (best != idom_[b]) {
        idom_[b] = best;
        changed = true;
      }
    }
  }
}

// Backwards from the predecessors of each join, up to its dominator.
void Dominators::find_regions() {
  const auto order = cfg_.reverse_postorder();
  depth_.assign(order.size(), 0);
  region_range_.assign(order.size(), {0, 0});
  std::vector<std::uint32_t> seen(order.size(), kUnknown);
  for (std::uint32_t join = 1; join < order.size(); ++join) {
    const auto begin = static_cast<std::uint32_t>(region_.size());
    const auto visit_predecessors = [&](std::uint32_t b) {
      for (const ir::BlockId pred : cfg_.predecessors(order[b])) {
        if (!cfg_.is_reachable(pred)) continue;
        const auto p = static_cast<std::uint32_t>(at(pred));
        if (p == idom_[join] || seen[p] == join) continue;
        seen[p] = join;
        region_.push_back(p);
      }
    };
    visit_predecessors(join);
    for (std::size_t k = begin; k < region_.size() && region_.size() <= kRegionBlocks * order.size() + 64; ++k)
      visit_predecessors(region_[k]);
    if (region_.size() > kRegionBlocks * order.size() + 64) {
      too_large_.push_back(join);
      region_.resize(begin);
    } else if (seen[join] == join) {
      for (std::size_t k = begin; k < region_.size(); ++k) ++depth_[region_[k]];
    }
    region_range_[join] = {begin, static_cast<std::uint32_t>(region_.size())};
  }
}

void Dominators::place() {
  const auto order = cfg_.reverse_postorder();
  // A dominator stands before what it dominates in reverse postorder.
  size_.assign(order.size(), 1);
  for (std::size_t b = order.size(); b-- > 1;) size_[idom_[b]] += size_[b];
  std::vector<std::uint32_t> children(order.size());
  for (std::uint32_t b = 0; b < order.size(); ++b) children[b] = b;
  std::sort(children.begin(), children.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(depth_[b], a) < std::pair(depth_[a], b); });
  // First where each block stands among what its dominator dominates, then from the top down where that begins.
  std::vector<std::uint32_t> next(order.size(), 1), within(order.size(), 0);
  for (const std::uint32_t b : children) {
    if (b == 0) continue;
    within[b] = next[idom_[b]];
    next[idom_[b]] += size_[b];
  }
  position_.assign(order.size(), 0);
  for (std::size_t b = 1; b < order.size(); ++b) position_[b] = position_[idom_[b]] + within[b];
  preorder_.resize(order.size());
  above_.resize(order.size());
  for (std::size_t b = 0; b < order.size(); ++b) {
    preorder_[position_[b]] = order[b];
    Above& a = above_[position_[b]];
    a.dominator = position_[idom_[b]];
    const auto [begin, end] = region_range_[b];
    if (begin != end) {
      a.begin = kUnknown;
      for (std::uint32_t k = begin; k < end; ++k) {
        a.begin = std::min(a.begin, position_[region_[k]]);
        a.end = std::max(a.end, position_[region_[k]] + 1);
      }
    }
  }
  place_large_regions();
  for (std::uint32_t at = 1; at < above_.size(); ++at)
    above_[at].join = above_[at].begin != above_[at].end ? at : above_[above_[at].dominator].join;
}

// With D the dominator of the join J, and C the blocks right below D in the tree from which J can be reached without passing D:
//
//   region(J) = union over each predecessor p != D of a block of C, and each x with D > x >= p in the tree, of { x } + region(x)
//
// where region(x) adds nothing for an x of C. So what lies deeper in the tree is placed first.
void Dominators::place_large_regions() {
  if (too_large_.empty()) return;
  const auto order = cfg_.reverse_postorder();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> large;  // how deep, and which
  std::vector<std::uint32_t> level(order.size(), 0), seen(order.size(), kUnknown), work;
  for (std::uint32_t b = 1; b < order.size(); ++b) level[b] = level[idom_[b]] + 1;
  for (const std::uint32_t join : too_large_) large.emplace_back(level[join], join);
  std::sort(large.rbegin(), large.rend());
  std::size_t steps = 0;
  for (const auto& [depth, join] : large) {
    Above& a = above_[position_[join]];
    if (steps > kRegionBlocks * order.size()) {
      a.begin = a.dominator + 1;
      a.end = a.dominator + size_[idom_[join]];
    } else {
      a.begin = kUnknown;
      work.assign(1, join);
    }
    while (!work.empty()) {
      const std::uint32_t below = work.back();
      work.pop_back();
      for (const ir::BlockId pred : cfg_.predecessors(order[below])) {
        if (!cfg_.is_reachable(pred)) continue;
        for (auto x = static_cast<std::uint32_t>(at(pred)); x != idom_[join] && seen[x] != join; x = idom_[x]) {
          ++steps;
          seen[x] = join;
          a.begin = std::min(a.begin, position_[x]);
          a.end = std::max(a.end, position_[x] + 1);
          if (level[x] == depth) {
            work.push_back(x);
          } else {  // it begins behind its dominator, which is above x and below D
            a.end = std::max(a.end, above_[position_[x]].end);
          }
        }
      }
    }
  }
}

}  // namespace regduel::oracles
