// Reaching definitions under assumptions about guards. See reaching_sets.h; tested by memcheck_test.cpp.

#include <algorithm>

#include "oracles/reaching_sets.h"

namespace regduel::oracles {

Walk::Walk(ReachSets& sets) : sets_(sets), contexts_(1) {}

// Or is the same block.
bool Walk::dominates(ir::BlockId a, ir::BlockId b) {
  const ir::Cfg& cfg = sets_.graph().cfg();
  if (!cfg.is_reachable(a) || !cfg.is_reachable(b)) return false;
  if (!dominators_) dominators_.emplace(cfg);
  return dominators_->dominates(a, b);
}

Assumption Walk::assumption_of(std::size_t guard_operand) {
  const ReachGraph& g = sets_.graph();
  if (!g.is_read(guard_operand)) return {};
  return {predicate_of(g.read_byte(guard_operand, 0).node), !g.program().operands[guard_operand].is_negated()};
}

// The block of the instruction that defines it; invalid where it is defined at entry.
ir::BlockId Walk::block_of(LeafId leaf) {
  constexpr std::uint32_t kUnknown = kNone - 1;
  std::uint32_t& known = leaf_block_.at(leaf, kUnknown);
  if (known == kUnknown) {
    const ReachGraph& g = sets_.graph();
    const ir::InstId id = sets_.defs()[leaf].inst;
    const std::uint32_t inst = id.is_valid() ? g.index_of(id) : kNone;
    known = inst == kNone ? kNone : g.block_of(inst).value;
  }
  return ir::BlockId(known);
}

std::uint32_t Walk::with(std::uint32_t context, Assumption a) {
  if (a.predicate == kEmptySet) return context;
  auto list = contexts_[context];
  if (list.size() == kMaxAssumptions) list.erase(list.begin());
  list.emplace_back(a.predicate, a.value);
  const auto found = std::find(contexts_.begin(), contexts_.end(), list);
  if (found != contexts_.end()) return static_cast<std::uint32_t>(found - contexts_.begin());
  contexts_.push_back(std::move(list));
  return static_cast<std::uint32_t>(contexts_.size() - 1);
}

std::uint32_t Walk::across(std::uint32_t context, ir::BlockId phi_block) {
  if (context == 0) return 0;
  std::uint32_t result = 0;
  const auto list = contexts_[context];
  for (const auto& [predicate, value] : list) {
    bool defined_behind = false;
    for (const std::uint32_t element : sets_.sets().elements(predicate)) {
      const ir::BlockId defined = block_of(leaf_of(element));
      defined_behind = defined_behind || (defined.is_valid() && dominates(phi_block, defined));
    }
    if (!defined_behind) result = with(result, {predicate, value});
  }
  return result;
}

std::optional<std::vector<Walk::Visit>> Walk::states(State from, Assumption assumed, std::size_t budget) {
  const ReachGraph& g = sets_.graph();
  contexts_.assign(1, {});
  std::vector<Visit> visits;
  FlatMap seen(256);
  struct Item {
    State state;
    std::uint32_t context;
  };
  std::vector<Item> work = {{from, with(0, assumed)}};
  ReachSets::Step one;
  while (!work.empty()) {
    const Item item = work.back();
    work.pop_back();
    const std::uint64_t key = (static_cast<std::uint64_t>(item.context) << 38 | static_cast<std::uint64_t>(item.state.node) << 6) + item.state.aspect;
    std::uint32_t& known = seen.at(key, 0);
    if (known != 0) continue;
    known = 1;
    if (visits.size() >= budget || contexts_.size() > 1000) return std::nullopt;
    sets_.step(item.state, one);
    visits.push_back({item.state, one.element.value_or(kNone)});
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
    for (const State& next : one.next) work.push_back({next, context});
  }
  return visits;
}

}  // namespace regduel::oracles
