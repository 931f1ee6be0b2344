#include "reference/colour/select.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/planted.h"

namespace regduel::reference {
namespace {

// For each node, the nodes that it would like to share a register with.
class Partners {
 public:
  explicit Partners(const FileGraph& graph) : begin_(graph.size() + 2, 0) {
    const auto each = [&](auto&& see) {
      for (const auto* list : {&graph.copies(), &graph.hints()})
        for (const CopyPair& p : *list) {
          const NodeId a = graph.find(p.a), b = graph.find(p.b);
          if (a == b) continue;
          see(a, Partner{p.weight, b});
          see(b, Partner{p.weight, a});
        }
    };
    each([&](NodeId n, const Partner&) { ++begin_[n + 2]; });
    for (std::size_t n = 2; n < begin_.size(); ++n) begin_[n] += begin_[n - 1];
    list_.resize(begin_.back());
    each([&](NodeId n, const Partner& p) { list_[begin_[n + 1]++] = p; });
  }

  // Calls f, of the partners of frequent copies first, until it returns true.
  template <class F>
  void find(NodeId n, F&& f) {
    const auto begin = list_.begin() + begin_[n], end = list_.begin() + begin_[n + 1];
    std::sort(begin, end,
              [](const Partner& a, const Partner& b) { return a.weight != b.weight ? a.weight > b.weight : a.node < b.node; });
    std::find_if(begin, end, [&](const Partner& p) { return f(p.node); });
  }

 private:
  struct Partner {
    std::uint64_t weight = 0;
    NodeId node = kNoNode;
  };
  std::vector<std::uint32_t> begin_;  // by node, into list_
  std::vector<Partner> list_;
};

}  // namespace

Colouring select(const FileGraph& graph, const std::vector<NodeId>& order, const SelectOptions& options) {
  Colouring c;
  c.unit_of.assign(graph.size(), -1);
  for (NodeId n = 0; n < graph.size(); ++n)
    if (graph.is_fixed(n)) c.unit_of[n] = graph.fixed(n).first;
  std::optional<Partners> partners;
  if (options.biased) partners.emplace(graph);
  const bool has_last_resort = !options.last_resort.is_empty();
  for (std::size_t k = order.size(); k-- > 0;) {
    const NodeId n = order[k];
    UnitSet free = options.available - graph.forbidden(n);
    graph.for_neighbours(n, [&](NodeId m) {
      if (c.unit_of[m] < 0) return;
      const int units = REGDUEL_PLANTED("briggs-select-sees-first-units") ? 1 : graph.units(m);
      for (int u = c.unit_of[m]; u < c.unit_of[m] + units; ++u) free.erase(u);
    });
    const UnitSet at = free.positions(graph.units(n), graph.align_log2(n));
    int unit = has_last_resort ? (free - options.last_resort).positions(graph.units(n), graph.align_log2(n)).first() : -1;
    if (unit < 0) unit = at.first();
    if (partners && unit >= 0)
      partners->find(n, [&](NodeId p) {
        const bool fits = c.unit_of[p] >= 0 && (at.contains(c.unit_of[p]) || (REGDUEL_PLANTED("briggs-bias-ignores-neighbours") &&
                                                                              options.available.contains(c.unit_of[p])));
        if (fits && c.unit_of[p] != unit && ir::may(options.fuel, "follow-copy")) unit = c.unit_of[p];
        return fits;
      });
    c.unit_of[n] = unit;
    if (unit >= 0) continue;
    c.failed.push_back(n);
    if (options.stop_at_failure) break;
  }
  for (NodeId n = 0; n < graph.size(); ++n) c.unit_of[n] = c.unit_of[graph.find(n)];
  return c;
}

}  // namespace regduel::reference
