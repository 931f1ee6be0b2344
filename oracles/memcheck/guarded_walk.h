// The definitions that reach a place, path by path under guards: the question of ReachingSets::set_under with several assumptions
// at once. After a write under @p, an instruction under @p sees the new value only.
//
// A walk is slower than sets, so one is made only if the sets under one assumption differ too. Two guards count as one value if
// walks of their own come to the same definitions. (A pack that was refilled in two halves, under a guard and under its opposite,
// has the definitions of both halves in its sets, but only the right ones on each path.) When the walk goes back through a phi, a
// predicate that is a phi of the same block becomes the argument of the same edge. Any other assumption is dropped if the predicate
// is defined at the block of the phi or behind it, because code before was under the predicate of another visit. The judge uses a
// walk only to *excuse* a difference of sets, so taking a guard for another one can hide a fault. It can also reach a definition
// that a right walk does not reach: two predicates that change places in a loop have the same definitions. So if a walk took one
// guard for another, a second walk seeks its definitions again, and tells guards with several definitions apart by their nodes.
//
// Tested by guarded_walk_test.cpp and doubtful_guards_test.cpp.
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
  // The states from `from` under `assumed` to an element of `sought`, `from` first: the states whose sets have one. As many as the
  // budget allows.
  [[nodiscard]] std::vector<Visit> states_to(SetId sought, State from, Assumption assumed);
  // The elements of `sought` that such a walk reaches. The walk ends when all are reached.
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
  // The assumptions of a walk at one state.
  struct Assumptions {
    static constexpr std::size_t kMost = 6;
    std::array<Assumption, kMost> list{};  // the oldest first
    std::size_t size = 0;

    void add(const Assumption& a);  // where there are as many as can be, in place of the oldest; not one of an empty predicate
    friend bool operator==(const Assumptions&, const Assumptions&) = default;
  };
  // The test that two guards with several definitions are one value: the same node, or the same definitions.
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
  // The truth of the guard with this node and these definitions, by the last assumption about it.
  [[nodiscard]] std::optional<bool> value_of(NodeId holder, SetId predicate, const Assumptions& assumed);
  [[nodiscard]] std::uint32_t number_of(const Assumptions& assumed);
  [[nodiscard]] std::uint32_t with(std::uint32_t context, Assumption a);
  [[nodiscard]] Seen seen_of(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by);
  // Back through argument `way` of a phi.
  [[nodiscard]] std::uint32_t across(std::uint32_t context, const Node& phi, std::size_t way);
  // The predicate on the other side of the phi; empty = not known.
  [[nodiscard]] Assumption across(const Assumption& a, const Node& phi, std::size_t way);

  // No more than `budget` states, until `visit` says false. False where the budget ended it.
  template <typename Visitor>
  bool walk(SetId sought, State from, Assumption assumed, std::size_t budget, OneBy one_by, const Visitor& visit);

  static constexpr std::size_t kMost = 200'000;         // states of one walk
  static constexpr std::size_t kMostOfPredicate = 300;  // of one that is made for a guard's definitions
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
