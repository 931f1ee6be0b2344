// The definitions that reach a place, path by path, as far as guards go: the question of ReachingSets::set_under with several
// assumptions at once. An instruction under @p sees of a write under @p only the new value.
//
// A walk is slower than sets, and made only where the sets under one assumption differ too. Two guards count as one value where
// the definitions are the same that walks of their own come to (a pack that was refilled in two halves, under a guard and under its
// opposite, has one of each in its sets, and only the right ones on each path). Where the walk goes back through a phi, the
// predicate may be one of a phi of the same block: then it is what that has on the same way. Else an assumption is dropped where
// the predicate is defined at the phi's block or behind it: what lies before was written under another visit's predicate. The judge
// takes a walk's answer only to *excuse* a difference of sets, so a guard that it takes for another can hide a fault. It can also
// come to what a right walk does not: two predicates that change places in a loop have the same definitions. So where a walk took
// one for another, what it came to is sought once more by a walk that knows guards of several definitions by the node alone.
//
// Tested by memcheck_test.cpp and details_test.cpp.
#pragma once

#include <array>
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
  // The states on the way from `from` under `assumed` to one of `sought`: those whose sets have one, `from` first. As many as the
  // budget allows.
  [[nodiscard]] std::vector<Visit> states_to(SetId sought, State from, Assumption assumed);
  // Those of `sought` that such a walk comes to; it ends with the last of them.
  struct Seen {
    SetId elements = kEmptySet;
    bool is_whole = true;  // false where the budget ended it, and there may be more
  };
  [[nodiscard]] Seen seen_of(SetId sought, State from, Assumption assumed);
  // The sets have changed (ReachingSets::distrust).
  void forget() { predicates_ = {}; }
  // States of all walks so far: what they cost.
  [[nodiscard]] std::size_t num_visits() const { return num_visits_; }
  // The assumption under which an instruction runs whose guard operand (an index into operands) is this.
  [[nodiscard]] Assumption assumption_of(std::size_t guard_operand);

 private:
  // What a walk assumes at one time or another.
  struct Assumptions {
    static constexpr std::size_t kMost = 6;
    std::array<Assumption, kMost> list{};  // the oldest first
    std::size_t size = 0;

    void add(const Assumption& a);  // where there are as many as can be, in place of the oldest; not one of an empty predicate
    friend bool operator==(const Assumptions&, const Assumptions&) = default;
  };
  // How it is known that two guards of several definitions are one: they are the same node, or have the same definitions.
  enum class OneBy : std::uint8_t { Definitions, Node };
  // Those of one walk, by number.
  struct Contexts {
    OneBy one_by = OneBy::Definitions;
    bool has_confused = false;                    // nodes that have the same definitions were taken for one
    std::vector<Assumptions> all{Assumptions()};  // 0: nothing is assumed
    FlatMap numbers{};                            // by hash: the number + 1
    FlatMap crossed{};                            // by context and argument of a phi: the context behind it + 1
  };

  [[nodiscard]] SetId predicate_of(NodeId guard);
  // The node that the guard's value comes from: links, moves and phis of one argument are passed through.
  [[nodiscard]] NodeId holder_of(NodeId guard) const;
  // Whether the guard with this holder and these definitions is true, by the last assumption about it.
  [[nodiscard]] std::optional<bool> value_of(NodeId holder, SetId predicate, const Assumptions& assumed);
  [[nodiscard]] std::uint32_t number_of(const Assumptions& assumed);
  [[nodiscard]] std::uint32_t with(std::uint32_t context, Assumption a);
  [[nodiscard]] Seen seen_of(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by);
  // Back through argument `way` of a phi.
  [[nodiscard]] std::uint32_t across(std::uint32_t context, const Node& phi, std::size_t way);
  // What the predicate is on the other side; empty where that is not known.
  [[nodiscard]] Assumption across(const Assumption& a, const Node& phi, std::size_t way);

  // No more than `budget` states, until `visit` says false. False where the budget ended it.
  template <typename Visitor>
  bool walk(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by, const Visitor& visit);

  static constexpr std::size_t kMost = 200'000;          // states of one walk
  static constexpr std::size_t kMostOfPredicate = 2000;  // of one that is made for a guard's definitions
  // All walks of one program together may visit kMostOfAll states. When those are used up, each further walk may still visit
  // kLeast: a wrong definition mostly stands near its read, and is found within that.
  static constexpr std::size_t kMostOfAll = 1'000'000;
  static constexpr std::size_t kLeast = 500;

  ReachingSets& sets_;
  Contexts contexts_;
  std::size_t num_visits_ = 0;
  FlatMap predicates_;  // by node, of those that were asked for: SetId + 1
};

}  // namespace regduel::oracles
