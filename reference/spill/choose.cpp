#include "reference/spill/choose.h"

#include <algorithm>
#include <vector>

namespace regduel::reference {
namespace {

class Chooser {
 public:
  Chooser(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem, const Code& code,
          const SpillChoice& how, Plan& plan, ir::Fuel* fuel)
      : g_(graph), c_(colouring), available_(available), problem_(problem), code_(code), use_remat_(how.use_remat),
        only_cheapest_(how.only_cheapest), plan_(plan), fuel_(fuel) {}

  bool run() {
    bool progress = false;
    if (const NodeId n = only_cheapest_ ? cheapest() : kNoNode; n != kNoNode && spill(n)) return true;
    for (const NodeId n : c_.failed) {
      if (g_.is_spillable(n)) progress = spill(n) || progress;
      else progress = make_room(n) || progress;
    }
    return progress;
  }

 private:
  // Of those that can be spilled the one with the least cost / squeeze; none = kNoNode.
  [[nodiscard]] NodeId cheapest() const {
    NodeId best = kNoNode;
    const auto degree = [&](NodeId n) { return static_cast<std::uint64_t>(std::max(1, g_.squeeze(n))); };
    for (const NodeId n : c_.failed)
      if (g_.is_spillable(n) && (best == kNoNode || g_.cost(n) * degree(best) < g_.cost(best) * degree(n))) best = n;
    return best;
  }

  // All members of a node. False where none was in a register.
  bool spill(NodeId n) {
    members_.clear();
    g_.for_members(n, [&](NodeId m) { members_.push_back(g_.temp(m)); });
    return spill_together(members_, problem_, code_, use_remat_, plan_, fuel_);
  }

  // Spills the cheapest neighbours that stand in the way at some position; else pins the instruction.
  bool make_room(NodeId n) {
    const UnitSet at = g_.positions(n, available_);
    const int units = g_.units(n);
    std::uint64_t best_cost = kInfiniteCost;
    int best = -1;
    std::vector<NodeId> neighbours;
    g_.for_neighbours(n, [&](NodeId m) {
      if (c_.unit_of[m] >= 0) neighbours.push_back(m);
    });
    const auto blocks = [&](NodeId m, int u) { return c_.unit_of[m] < u + units && u < c_.unit_of[m] + g_.units(m); };
    for (int u = at.first(); u >= 0; u = at.next(u + 1)) {
      std::uint64_t cost = 0;
      for (const NodeId m : neighbours)
        if (blocks(m, u)) cost = std::min(kInfiniteCost, cost + g_.cost(m));
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = u;
    }
    bool progress = false;
    if (best >= 0)
      for (const NodeId m : neighbours)
        if (blocks(m, best)) progress = spill(m) || progress;
    if (progress) return true;
    g_.for_members(n, [&](NodeId m) {
      const std::uint32_t source = code_.temps[g_.temp(m)].source;
      if (source == kNoSource || plan_.is_pinned[source]) return;
      plan_.is_pinned[source] = 1;
      progress = true;
    });
    return progress;
  }

  const FileGraph& g_;
  const Colouring& c_;
  const UnitSet& available_;
  const Problem& problem_;
  const Code& code_;
  const bool use_remat_, only_cheapest_;
  Plan& plan_;
  ir::Fuel* fuel_;
  std::vector<TempId> members_;
};

}  // namespace

bool choose_spills(const FileGraph& graph, const Colouring& colouring, const UnitSet& available, const Problem& problem,
                   const Code& code, const SpillChoice& how, Plan& plan, ir::Fuel* fuel) {
  return Chooser(graph, colouring, available, problem, code, how, plan, fuel).run();
}

bool spill_together(std::span<const TempId> temps, const Problem& problem, const Code& code, bool use_remat, Plan& plan,
                    ir::Fuel* fuel) {
  std::vector<TempId> in_slot;
  bool progress = false;
  std::uint32_t bytes = 0;
  for (const TempId v : temps) {
    if (v >= code.num_values || !plan.locations[v].is_register()) continue;
    progress = true;
    if (use_remat && problem.can_remat(v) && ir::may(fuel, "rematerialise")) {
      plan.locations[v] = Location::nowhere();
    } else if (!in_slot.empty() && !ir::may(fuel, "share-slot")) {
      plan.locations[v] = Location::in_slot(plan.add_slot(problem.slot_bytes(code.temps[v])));
    } else {
      in_slot.push_back(v);
      bytes = std::max<std::uint32_t>(bytes, problem.slot_bytes(code.temps[v]));
    }
  }
  if (in_slot.empty()) return progress;
  const Location slot = Location::in_slot(plan.add_slot(bytes));
  for (const TempId v : in_slot) plan.locations[v] = slot;
  return progress;
}

}  // namespace regduel::reference
