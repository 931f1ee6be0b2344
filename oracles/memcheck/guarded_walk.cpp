#include "oracles/memcheck/guarded_walk.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/random.h"

namespace regduel::oracles {

GuardedWalk::GuardedWalk(ReachingSets& sets) : sets_(sets) {}

Assumption GuardedWalk::assumption_of(std::size_t guard_operand) {
  const ValueGraph& g = sets_.graph();
  if (!g.is_read(guard_operand)) return {};
  const NodeId guard = g.read_word(guard_operand, 0);
  return {predicate_of(guard), !g.program().operands[guard_operand].is_negated(), holder_of(guard)};
}

// While it is being found out, and where it takes too long, a guard is known by its set.
SetId GuardedWalk::predicate_of(NodeId guard) {
  if (const std::uint32_t known = predicates_.at(guard, 0); known != 0) return known - 1;
  const SetId all = sets_.predicate_of(guard);
  predicates_.at(guard, 0) = all + 1;
  if (sets_.sets().elements(all).size() < 2) return all;
  auto contexts = std::exchange(contexts_, {});
  const auto [seen, is_whole] = seen_of(all, {guard, byte_aspect(0)}, {}, kMostOfPredicate, OneBy::Definitions);
  contexts_ = std::move(contexts);
  if (!is_whole || seen == kEmptySet) return all;
  predicates_.at(guard, 0) = seen + 1;
  return seen;
}

void GuardedWalk::Assumptions::add(const Assumption& a) {
  if (a.predicate == kEmptySet) return;
  if (size == kMost) std::shift_left(list.begin(), list.end(), 1);
  else ++size;
  list[size - 1] = a;
}

NodeId GuardedWalk::holder_of(NodeId guard) const {
  const ValueGraph& g = sets_.graph();
  while (guard != kNone) {
    const Node& n = g.node(guard);
    if (n.kind == NodeKind::Link || n.kind == NodeKind::Via) guard = n.a;
    else if (n.kind == NodeKind::Phi && n.c == kNone) guard = g.phi_args(n).front();
    else break;
  }
  return guard;
}

std::optional<bool> GuardedWalk::value_of(NodeId holder, SetId predicate, const Assumptions& assumed) {
  for (std::size_t k = assumed.size; k-- > 0;) {
    const Assumption& a = assumed.list[k];
    if (a.predicate != predicate) continue;
    const bool is_another = a.node != holder && sets_.sets().elements(predicate).size() > 1;
    if (is_another && contexts_.one_by == OneBy::Node) continue;
    contexts_.has_confused = contexts_.has_confused || is_another;
    return a.value;
  }
  return std::nullopt;
}

std::uint32_t GuardedWalk::number_of(const Assumptions& assumed) {
  const auto add = [](std::uint64_t hash, const Assumption& x) {
    return hash_combine(
        hash, static_cast<std::uint64_t>(x.predicate) << 33 | static_cast<std::uint64_t>(x.node) << 1 | (x.value ? 1 : 0));
  };
  for (std::uint64_t key = std::accumulate(assumed.list.begin(), assumed.list.end(), std::uint64_t{0}, add) >> 1;; ++key) {
    std::uint32_t& known = contexts_.numbers.at(key, 0);
    if (known == 0) {
      contexts_.all.push_back(assumed);
      return (known = static_cast<std::uint32_t>(contexts_.all.size())) - 1;
    }
    if (contexts_.all[known - 1] == assumed) return known - 1;
  }
}

std::uint32_t GuardedWalk::with(std::uint32_t context, Assumption a) {
  Assumptions assumed = contexts_.all[context];
  assumed.add(a);
  return number_of(assumed);
}

std::uint32_t GuardedWalk::across(std::uint32_t context, const Node& phi, std::size_t way) {
  const std::uint64_t key = static_cast<std::uint64_t>(context) << 32 | (phi.a + way);  // an argument is one of one phi
  if (const std::uint32_t known = contexts_.crossed.at(key, 0); known != 0) return known - 1;
  const Assumptions here = contexts_.all[context];
  Assumptions there;
  for (const Assumption& a : std::span(here.list).first(here.size)) there.add(across(a, phi, way));
  return (contexts_.crossed.at(key, 0) = number_of(there) + 1) - 1;
}

Assumption GuardedWalk::across(const Assumption& a, const Node& phi, std::size_t way) {
  const ValueGraph& g = sets_.graph();
  if (a.node != kNone && g.kind(a.node) == NodeKind::Phi && g.node(a.node).c == phi.c && g.node(a.node).b == phi.b) {
    const NodeId there = g.phi_args(g.node(a.node))[way];
    return {predicate_of(there), a.value, holder_of(there)};
  }
  return sets_.is_defined_behind(a.predicate, ir::BlockId(phi.c)) ? Assumption() : a;
}

std::vector<GuardedWalk::Visit> GuardedWalk::states_to(SetId sought, State from, Assumption assumed) {
  std::vector<Visit> visits;
  (void)walk(sought, from, assumed, kMost, OneBy::Definitions, [&](const Visit& v) {
    visits.push_back(v);
    return true;
  });
  return visits;
}

GuardedWalk::Seen GuardedWalk::seen_of(SetId sought, State from, Assumption assumed) {
  const Seen seen = seen_of(sought, from, assumed, kMost, OneBy::Definitions);
  if (seen.elements == kEmptySet || !contexts_.has_confused) return seen;
  const Seen again = seen_of(seen.elements, from, assumed, kMost, OneBy::Node);
  return again.is_whole ? Seen{again.elements, seen.is_whole} : seen;
}

GuardedWalk::Seen GuardedWalk::seen_of(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by) {
  Seen result;
  result.is_whole = walk(sought, from, assumed, budget, one_by, [&](const Visit& v) {
    if (sets_.sets().meet(v.own, sought)) result.elements = sets_.sets().unite(result.elements, v.own);
    return result.elements != sought;
  });
  return result;
}

template <typename Visitor>
bool GuardedWalk::walk(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by, const Visitor& visit) {
  const ValueGraph& g = sets_.graph();
  budget = std::min(budget, std::max(kMostOfAll - std::min(kMostOfAll, num_visits_), kLeast));
  contexts_ = {.one_by = one_by};
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
    if (!sets_.sets().meet(sets_.set_of(item.state), sought)) continue;
    if (budget == 0) return false;
    --budget;
    ++num_visits_;
    if (!visit(Visit{item.state, sets_.step(item.state, next)})) return true;
    const Node& n = g.node(item.state.node);
    if (n.kind == NodeKind::Gated) {
      const GuardRef& guard = g.guard(n);
      const SetId predicate = predicate_of(guard.node);
      const NodeId holder = holder_of(guard.node);
      if (const auto value = value_of(holder, predicate, contexts_.all[item.context])) {
        work.push_back({{*value != guard.negated ? n.a : n.b, item.state.aspect}, item.context});
        continue;
      }
      // What is written comes first: it most often leads nowhere else.
      work.push_back({{n.b, item.state.aspect}, with(item.context, {predicate, guard.negated, holder})});
      work.push_back({{n.a, item.state.aspect}, with(item.context, {predicate, !guard.negated, holder})});
      continue;
    }
    const bool is_phi = n.kind == NodeKind::Phi && n.c != kNone;
    for (std::size_t way = 0; way < next.size(); ++way)
      work.push_back({next[way], is_phi ? across(item.context, n, way) : item.context});
  }
  return true;
}

}  // namespace regduel::oracles
