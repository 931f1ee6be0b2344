// The definitions that reach a place, path by path, as far as guards go: the question of ReachingSets::set_under with several
// assumptions at once. An instruction under @p sees of a write under @p only the new value.
//
// A walk is slower than sets, and made only where the sets under one assumption differ too. Two guards count as one value where
// the definitions are the same that walks of their own come to (a pack that was refilled in two halves, under a guard and under its
// opposite, has one of each in its sets, and only the right ones on each path). Where the walk goes back through a phi, the
// predicate may be one of a phi of the same block: then it is what that has on the same way. Else an assumption is dropped where
// the predicate is defined at the phi's block or behind it: what lies before was written under another visit's predicate. The judge
// takes a walk's answer only to *excuse* a difference of sets, so a guard that it takes for another can hide a fault but never
// raises an alarm.
//
// Tested by memcheck_test.cpp and details_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "oracles/memcheck/reaching_sets.h"

namespace regduel::oracles {

class GuardedWalk {
 public:
  explicit GuardedWalk(ReachingSets& sets);

  struct Visit {
    State state;
    SetId own = kEmptySet;  // one element where a leaf was reached
  };
  // All states that can be reached from `from` under `assumed`, `from` first. Where elements are `sought`, only the states on the
  // way to one of them: those whose sets have one. nullopt where there are more than `budget`.
  [[nodiscard]] std::optional<std::vector<Visit>> states(State from, Assumption assumed, SetId sought = kEmptySet,
                                                         std::size_t budget = 200'000);
  // The sets have changed (ReachingSets::distrust).
  void forget() { predicates_ = {}; }
  // The assumption under which an instruction runs whose guard operand (an index into operands) is this.
  [[nodiscard]] Assumption assumption_of(std::size_t guard_operand);

 private:
  [[nodiscard]] SetId predicate_of(NodeId guard);
  [[nodiscard]] std::uint32_t with(std::uint32_t context, Assumption a);
  // Back through argument `way` of a phi.
  [[nodiscard]] std::uint32_t across(std::uint32_t context, const Node& phi, std::size_t way);
  // What the predicate is on the other side; empty where that is not known.
  [[nodiscard]] Assumption across(const Assumption& a, const Node& phi, std::size_t way);

  static constexpr std::size_t kMaxAssumptions = 6;  // of one context; the oldest is dropped
  // What one walk assumes at one time or another.
  struct Contexts {
    std::vector<std::vector<Assumption>> lists = std::vector<std::vector<Assumption>>(1);  // 0: nothing is assumed
    FlatMap numbers;                                                                       // by hash of the list: its number + 1
    FlatMap crossed;  // by context and argument of a phi: the context behind it + 1
  };

  ReachingSets& sets_;
  Contexts contexts_;
  FlatMap predicates_;  // by node, of those that were asked for: SetId + 1
};

}  // namespace regduel::oracles
