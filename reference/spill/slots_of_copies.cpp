#include "reference/spill/slots_of_copies.h"

#include <algorithm>
#include <vector>

namespace regduel::reference {

void share_slots_of_copies(const InterferenceGraphs& graphs, Plan& plan, ir::Fuel* fuel) {
  std::vector<std::vector<TempId>> values_of(plan.slots.size());
  for (TempId v = 0; v < plan.locations.size(); ++v)
    if (plan.locations[v].is_slot()) values_of[plan.locations[v].slot()].push_back(v);
  const auto is_spilled = [&](TempId t) {
    return t < plan.locations.size() && plan.locations[t].is_slot() && graphs.node_of[t] != kNoNode;
  };
  for (const FileGraph& graph : graphs.files)
    for (const CopyPair& copy : graph.copies()) {
      const TempId a = graph.temp(copy.a), b = graph.temp(copy.b);
      if (!is_spilled(a) || !is_spilled(b)) continue;
      std::uint32_t kept = plan.locations[a].slot(), gone = plan.locations[b].slot();
      if (kept == gone) continue;
      if (values_of[kept].size() < values_of[gone].size()) std::swap(kept, gone);
      const auto interfere = [&](TempId v, TempId w) {
        const NodeId n = graphs.node_of[v], m = graphs.node_of[w];
        return n == kNoNode || m == kNoNode || graph.temp(n) != v || graph.temp(m) != w || graph.interferes(n, m);
      };
      if (std::ranges::any_of(values_of[gone], [&](TempId v) {
            return std::ranges::any_of(values_of[kept], [&](TempId w) { return interfere(v, w); });
          }))
        continue;
      if (!ir::may(fuel, "share-slot")) return;
      for (const TempId v : values_of[gone]) plan.locations[v] = Location::in_slot(kept);
      values_of[kept].insert(values_of[kept].end(), values_of[gone].begin(), values_of[gone].end());
      values_of[gone].clear();
      plan.slots[kept].bytes = std::max(plan.slots[kept].bytes, plan.slots[gone].bytes);
    }
}

}  // namespace regduel::reference
