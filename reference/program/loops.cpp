#include "reference/program/loops.h"

#include <algorithm>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>

namespace regduel::reference {
namespace {

constexpr std::uint64_t kMaxFrequency = std::uint64_t{1} << 40;

using Digraph = boost::compressed_sparse_row_graph<boost::directedS>;

// Strongly connected regions of more than one block, or of one block with an edge to itself.
std::vector<std::vector<ir::BlockId>> loops_within(const ir::Cfg& cfg, const std::vector<ir::BlockId>& region,
                                                   std::vector<int>& index_of) {
  for (std::size_t k = 0; k < region.size(); ++k) index_of[region[k].index()] = static_cast<int>(k);
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // ascending
  std::vector<bool> self(region.size(), false);
  for (std::size_t k = 0; k < region.size(); ++k)
    for (const ir::BlockId s : cfg.successors(region[k])) {
      const int to = index_of[s.index()];
      if (to < 0) continue;
      if (static_cast<std::size_t>(to) == k) self[k] = true;
      edges.emplace_back(k, to);
    }
  const Digraph g(boost::edges_are_sorted, edges.begin(), edges.end(), region.size());
  std::vector<int> component(region.size());
  const auto count = static_cast<std::size_t>(
      boost::strong_components(g, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, g))));
  std::vector<std::vector<ir::BlockId>> members(count);
  for (std::size_t k = 0; k < region.size(); ++k) members[static_cast<std::size_t>(component[k])].push_back(region[k]);
  std::vector<std::vector<ir::BlockId>> loops;
  for (auto& m : members)
    if (m.size() > 1 || self[static_cast<std::size_t>(index_of[m[0].index()])]) loops.push_back(std::move(m));
  for (const ir::BlockId b : region) index_of[b.index()] = -1;
  return loops;
}

}  // namespace

std::vector<int> loop_depths(const ir::Function& f, const ir::Cfg& cfg) {
  std::vector<int> depth(f.blocks.size(), 0);
  std::vector<int> index_of(f.blocks.size(), -1);
  std::vector<std::vector<ir::BlockId>> work;
  work.emplace_back(cfg.reverse_postorder().begin(), cfg.reverse_postorder().end());
  // Deeper nests than the frequencies can tell apart are of no interest.
  constexpr int kMaxDepth = 64;
  while (!work.empty()) {
    const std::vector<ir::BlockId> region = std::move(work.back());
    work.pop_back();
    for (std::vector<ir::BlockId>& loop : loops_within(cfg, region, index_of)) {
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
