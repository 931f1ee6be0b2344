#include "oracles/memcheck/guarded_walk.h"

#include <algorithm>
#include <utility>

#include "base/flat_map.h"

namespace regduel::oracles {

GuardedWalk::GuardedWalk(ReachingSets& sets) : sets_(sets), contexts_(1) {}

Assumption GuardedWalk::assumption_of(std::size_t guard_operand) {
  const ValueGraph& g = sets_.graph();
  if (!g.is_read(guard_operand)) return {};
  return {predicate_of(g.read_word(guard_operand, 0)), !g.program().operands[guard_operand].is_negated()};
}

// While it is being found out, and where it takes too long, a guard is known by its set.
SetId GuardedWalk::predicate_of(NodeId guard) {
  constexpr std::size_t kBudget = 2000;
  const SetId all = sets_.predicate_of(guard);
  if (sets_.sets().elements(all).size() < 2) return all;
  if (const std::uint32_t known = predicates_.at(guard, 0); known != 0) return known - 1;
  predicates_.at(guard, 0) = all + 1;
  auto contexts = std::exchange(contexts_, {});
  const auto visits = states({guard, byte_aspect(0)}, {}, kEmptySet, kBudget);
  contexts_ = std::move(contexts);
  SetId seen = kEmptySet;
  for (const Visit& v : visits.value_or(std::vector<Visit>())) seen = sets_.sets().unite(seen, v.own);
  if (seen == kEmptySet) return all;
  predicates_.at(guard, 0) = seen + 1;
  return seen;
}

std::uint32_t GuardedWalk::with(std::uint32_t context, Assumption a) {
  if (a.predicate == kEmptySet) return context;
  auto list = contexts_[context];
  if (list.size() == kMaxAssumptions) list.erase(list.begin());
  list.emplace_back(a.predicate, a.value);
  const auto found = std::find(contexts_.begin(), contexts_.end(), list);
  if (found != contexts_.end()) return static_cast<std::uint32_t>(found - contexts_.begin());
  contexts_.push_back(std::move(list));
  return static_cast<std::uint32_t>(contexts_.size() - 1);
}

// Drops the assumptions about what is defined at the phi's block or behind it.
std::uint32_t GuardedWalk::across(std::uint32_t context, ir::BlockId phi_block) {
  const auto is_dropped = [&](const std::pair<SetId, bool>& assumption) {
    return sets_.is_defined_behind(assumption.first, phi_block);
  };
  if (std::none_of(contexts_[context].begin(), contexts_[context].end(), is_dropped)) return context;
  std::uint32_t result = 0;
  const auto list = contexts_[context];
  for (const auto& assumption : list)
    if (!is_dropped(assumption)) result = with(result, {assumption.first, assumption.second});
  return result;
}

std::optional<std::vector<GuardedWalk::Visit>> GuardedWalk::states(State from, Assumption assumed, SetId sought,
                                                                   std::size_t budget) {
  const ValueGraph& g = sets_.graph();
  contexts_.assign(1, {});
  std::vector<Visit> visits;
  FlatMap seen;
  struct Item {
    State state;
    std::uint32_t context;
  };
  std::vector<Item> work = {{from, with(0, assumed)}};
  std::vector<State> next;
  while (!work.empty()) {
    const Item item = work.back();
    work.pop_back();
    const std::uint64_t key =
        (static_cast<std::uint64_t>(item.context) << 38 | static_cast<std::uint64_t>(item.state.node) << 6) + item.state.aspect;
    std::uint32_t& known = seen.at(key, 0);
    if (known != 0) continue;
    known = 1;
    if (sought != kEmptySet && !sets_.sets().meet(sets_.set_of(item.state), sought)) continue;
    if (visits.size() >= budget || contexts_.size() > 1000) return std::nullopt;
    visits.push_back({item.state, sets_.step(item.state, next)});
    const Node& n = g.node(item.state.node);
    if (n.kind == NodeKind::Gated) {
      const GuardRef& guard = g.guard(n);
      const SetId predicate = predicate_of(guard.node);
      const auto& list = contexts_[item.context];
      const auto known_value = std::find_if(list.rbegin(), list.rend(), [&](const auto& a) { return a.first == predicate; });
      if (known_value != list.rend()) {
        const bool happens = known_value->second == !guard.negated;
        work.push_back({{happens ? n.a : n.b, item.state.aspect}, item.context});
        continue;
      }
      work.push_back({{n.a, item.state.aspect}, with(item.context, {predicate, !guard.negated})});
      work.push_back({{n.b, item.state.aspect}, with(item.context, {predicate, guard.negated})});
      continue;
    }
    const std::uint32_t context = n.kind == NodeKind::Phi && n.c != kNone ? across(item.context, ir::BlockId(n.c)) : item.context;
    for (const State& from_there : next) work.push_back({from_there, context});
  }
  return visits;
}

}  // namespace regduel::oracles
