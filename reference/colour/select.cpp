#include "reference/colour/select.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/grouped.h"

namespace regduel::reference {
namespace {

// For each node, the nodes that it would like to share a register with.
class Partners {
 public:
  explicit Partners(const FileGraph& graph) {
    partners_.build(graph.size(), [&](auto add) {
      for (const auto* list : {&graph.copies(), &graph.hints()})
        for (const CopyPair& p : *list) {
          const NodeId a = graph.find(p.a), b = graph.find(p.b);
          if (a == b) continue;
          add(a, Partner{p.weight, b});
          add(b, Partner{p.weight, a});
        }
    });
  }

  // Calls f, of the partners of frequent copies first, until it returns true.
  template <class F>
  void find(NodeId n, F&& f) {
    const auto mine = partners_[n];
    std::ranges::sort(
        mine, [](const Partner& a, const Partner& b) { return a.weight != b.weight ? a.weight > b.weight : a.node < b.node; });
    std::ranges::find_if(mine, [&](const Partner& p) { return f(p.node); });
  }

 private:
  struct Partner {
    std::uint64_t weight = 0;
    NodeId node = kNoNode;
  };
  Grouped<Partner> partners_;
};

// All available units are in the first kWords words of a set.
template <std::size_t kWords>
Colouring select_within(const FileGraph& graph, const std::vector<NodeId>& order, const SelectOptions& options) {
  Colouring c;
  c.unit_of.assign(graph.size(), -1);
  // The units of each node placed so far; empty for the others. The units of precoloured nodes are forbidden to their neighbours
  // anyway.
  using Home = std::array<std::uint64_t, kWords>;
  std::vector<Home> homes(graph.size());
  for (NodeId n = 0; n < graph.size(); ++n)
    if (graph.is_fixed(n)) c.unit_of[n] = graph.fixed(n).first;
  std::optional<Partners> partners;
  if (options.biased && !(graph.copies().empty() && graph.hints().empty())) partners.emplace(graph);
  const bool has_last_resort = options.last_resort.any();
  for (std::size_t k = order.size(); k-- > 0;) {
    const NodeId n = order[k];
    Home taken = {};
    graph.for_listed(n, [&](NodeId m) {
      for (std::size_t w = 0; w < kWords; ++w) taken[w] |= homes[m][w];
    });
    UnitSet free = options.available - UnitSet::of_words(taken);
    if (graph.is_restricted(n)) free -= graph.forbidden(n);
    const UnitSet at = free.positions(graph.units(n), graph.align_log2(n));
    int unit = has_last_resort ? (free - options.last_resort).positions(graph.units(n), graph.align_log2(n)).first() : -1;
    if (unit < 0) unit = at.first();
    if (partners && unit >= 0)
      partners->find(n, [&](NodeId p) {
        const bool fits = c.unit_of[p] >= 0 && at.has(c.unit_of[p]);
        if (fits && c.unit_of[p] != unit && ir::may(options.fuel, "follow-copy")) unit = c.unit_of[p];
        return fits;
      });
    c.unit_of[n] = unit;
    if (unit >= 0) {
      const UnitSet home = UnitSet::range(unit, unit + graph.units(n));
      std::copy_n(home.words, kWords, homes[n].begin());
      continue;
    }
    c.failed.push_back(n);
    if (options.stop_at_failure) return c;
  }
  for (NodeId n = 0; n < graph.size(); ++n)
    if (graph.is_merged(n)) c.unit_of[n] = c.unit_of[graph.find(n)];
  return c;
}

}  // namespace

Colouring select(const FileGraph& graph, const std::vector<NodeId>& order, const SelectOptions& options) {
  const auto fits = [&](int words) { return options.available.next(64 * words) < 0; };
  if (fits(1)) return select_within<1>(graph, order, options);
  if (fits(2)) return select_within<2>(graph, order, options);
  if (fits(4)) return select_within<4>(graph, order, options);
  return select_within<UnitSet::kWords>(graph, order, options);
}

}  // namespace regduel::reference
