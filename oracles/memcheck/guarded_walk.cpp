#include "oracles/memcheck/guarded_walk.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace regduel::oracles {

GuardedWalk::GuardedWalk(ReachingSets& sets) : sets_(sets) {}

Assumption GuardedWalk::assumption_of(std::size_t guard_operand) {
  const ValueGraph& g = sets_.graph();
  if (!g.is_read(guard_operand)) return {};
  const NodeId guard = g.read_word(guard_operand, 0);
  return {predicate_of(guard), !g.program().operands[guard_operand].is_negated(), guard};
}

// While it is being found out, and where it takes too long, a guard is known by its set.
SetId GuardedWalk::predicate_of(NodeId guard) {
  constexpr std::size_t kBudget = 2000;
  if (const std::uint32_t known = predicates_.at(guard, 0); known != 0) return known - 1;
  const SetId all = sets_.predicate_of(guard);
  predicates_.at(guard, 0) = all + 1;
  if (sets_.sets().elements(all).size() < 2) return all;
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
  auto list = contexts_.lists[context];
  if (list.size() == kMaxAssumptions) list.erase(list.begin());
  list.push_back(a);
  const auto add = [](std::uint64_t hash, const Assumption& x) {
    return hash_combine(
        hash, static_cast<std::uint64_t>(x.predicate) << 33 | static_cast<std::uint64_t>(x.node) << 1 | (x.value ? 1 : 0));
  };
  for (std::uint64_t key = std::accumulate(list.begin(), list.end(), std::uint64_t{0}, add) >> 1;; ++key) {
    std::uint32_t& known = contexts_.numbers.at(key, 0);
    if (known == 0) {
      contexts_.lists.push_back(std::move(list));
      return (known = static_cast<std::uint32_t>(contexts_.lists.size())) - 1;
    }
    if (contexts_.lists[known - 1] == list) return known - 1;
  }
}

std::uint32_t GuardedWalk::across(std::uint32_t context, const Node& phi, std::size_t way) {
  const std::uint64_t key = static_cast<std::uint64_t>(context) << 32 | (phi.a + way);  // an argument is one of one phi
  if (const std::uint32_t known = contexts_.crossed.at(key, 0); known != 0) return known - 1;
  const auto list = contexts_.lists[context];
  std::uint32_t result = 0;
  for (const Assumption& a : list) result = with(result, across(a, phi, way));
  return (contexts_.crossed.at(key, 0) = result + 1) - 1;
}

Assumption GuardedWalk::across(const Assumption& a, const Node& phi, std::size_t way) {
  const ValueGraph& g = sets_.graph();
  NodeId holder = a.node;
  while (holder != kNone && (g.kind(holder) == NodeKind::Link || g.kind(holder) == NodeKind::Via)) holder = g.node(holder).a;
  if (holder != kNone && g.kind(holder) == NodeKind::Phi && g.node(holder).c == phi.c && g.node(holder).b == phi.b) {
    const NodeId there = g.phi_args(g.node(holder))[way];
    return {predicate_of(there), a.value, there};
  }
  return sets_.is_defined_behind(a.predicate, ir::BlockId(phi.c)) ? Assumption() : a;
}

std::optional<std::vector<GuardedWalk::Visit>> GuardedWalk::states(State from, Assumption assumed, SetId sought,
                                                                   std::size_t budget) {
  const ValueGraph& g = sets_.graph();
  contexts_ = {};
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
    if (visits.size() >= budget || contexts_.lists.size() > 1000) return std::nullopt;
    visits.push_back({item.state, sets_.step(item.state, next)});
    const Node& n = g.node(item.state.node);
    if (n.kind == NodeKind::Gated) {
      const GuardRef& guard = g.guard(n);
      const SetId predicate = predicate_of(guard.node);
      const auto& list = contexts_.lists[item.context];
      const auto known_value =
          std::find_if(list.rbegin(), list.rend(), [&](const Assumption& a) { return a.predicate == predicate; });
      if (known_value != list.rend()) {
        const bool happens = known_value->value == !guard.negated;
        work.push_back({{happens ? n.a : n.b, item.state.aspect}, item.context});
        continue;
      }
      work.push_back({{n.a, item.state.aspect}, with(item.context, {predicate, !guard.negated, guard.node})});
      work.push_back({{n.b, item.state.aspect}, with(item.context, {predicate, guard.negated, guard.node})});
      continue;
    }
    const bool is_phi = n.kind == NodeKind::Phi && n.c != kNone;
    for (std::size_t way = 0; way < next.size(); ++way)
      work.push_back({next[way], is_phi ? across(item.context, n, way) : item.context});
  }
  return visits;
}

}  // namespace regduel::oracles
