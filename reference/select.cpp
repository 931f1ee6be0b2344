#include "reference/select.h"

#include <algorithm>

namespace regduel::reference {
namespace {

// For each node, the nodes that it would like to share a register with, those of frequent copies first.
std::vector<std::vector<std::pair<std::uint64_t, NodeId>>> partners_of(const FileGraph& graph) {
  std::vector<std::vector<std::pair<std::uint64_t, NodeId>>> partners(graph.size());
  for (const auto* list : {&graph.copies(), &graph.hints()})
    for (const CopyPair& p : *list) {
      const NodeId a = graph.find(p.a), b = graph.find(p.b);
      if (a == b) continue;
      partners[a].emplace_back(p.weight, b);
      partners[b].emplace_back(p.weight, a);
    }
  for (auto& list : partners)
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  return partners;
}

}  // namespace

Colouring select(const FileGraph& graph, const std::vector<NodeId>& order, const SelectOptions& options) {
  Colouring c;
  c.unit_of.assign(graph.size(), -1);
  for (NodeId n = 0; n < graph.size(); ++n)
    if (graph.is_fixed(n)) c.unit_of[n] = graph.fixed(n).first;
  const auto partners = options.biased ? partners_of(graph) : std::vector<std::vector<std::pair<std::uint64_t, NodeId>>>(graph.size());
  for (std::size_t k = order.size(); k-- > 0;) {
    const NodeId n = order[k];
    UnitSet free = options.available - graph.forbidden(n);
    graph.for_neighbours(n, [&](NodeId m) {
      if (c.unit_of[m] < 0) return;
      for (int u = c.unit_of[m]; u < c.unit_of[m] + graph.units(m); ++u) free.erase(u);
    });
    const UnitSet at = free.positions(graph.units(n), graph.align_log2(n));
    int unit = (free - options.last_resort).positions(graph.units(n), graph.align_log2(n)).first();
    if (unit < 0) unit = at.first();
    for (const auto& [weight, p] : partners[n])
      if (c.unit_of[p] >= 0 && at.contains(c.unit_of[p])) {
        unit = c.unit_of[p];
        break;
      }
    c.unit_of[n] = unit;
    if (unit >= 0) continue;
    c.failed.push_back(n);
    if (options.stop_at_failure) break;
  }
  for (NodeId n = 0; n < graph.size(); ++n) c.unit_of[n] = c.unit_of[graph.find(n)];
  return c;
}

}  // namespace regduel::reference
