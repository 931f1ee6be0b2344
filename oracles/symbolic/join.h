// The abstract state at the head of a block, and the meet over the edges that lead there.
//
// A location holds a name after the join if it does on both sides (symbolic.h). For a state A with values A(l), A(n), and a state
// B:
//
//   join(l) satisfies join(n)   exactly where   A(l) satisfies A(n)  and  B(l) satisfies B(n)        for all live l, n     (1)
//
// For names that are defined on all paths, join(p) = meet(A(p), B(p)) has this property (meet.h). If a name is undefined on some
// path of one side, join(n) is the set of all values that satisfy it on both sides (maybe_undefined.h). If gates or packs nest too
// deep, or two predicates are one on one side, the left side of (1) may be false although the right one is true, never the other
// way round.
//
// Four shortcuts leave (1) as it is:
//   a block with one edge into it   join(p) = B(p): there is no other side
//   the first edge into a block     A = B: join(p) = B(p), but at the head of a loop the number of the pair of B(p) with itself
//   not the head of a loop          join(p) = B(p) if A(p) = B(p): old numbers need only be forgotten once in each cycle
//   a location that held nothing    join(l) = Bottom, unless some name is undefined on a path: Bottom satisfies Top alone
//
// Tested by join_states_test.cpp: (1) against random states, location by location and name by name; and by the other join tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/maybe_undefined.h"
#include "oracles/symbolic/meet.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/state.h"

namespace regduel::oracles::symbolic {

// The state at the head of a block: live names and locations alone.
struct Entry {
  bool is_reached = false;
  std::vector<Value> names;  // of the plan's live names at the block, in their order
  struct Held {
    std::uint32_t location = 0;
    Value value = kBottom;

    friend bool operator==(const Held&, const Held&) = default;
  };
  std::vector<Held> locations;  // live ones that hold something

  // The tokens of the last join (Meet::choose_tokens), and their number over all visits. When no new token may be taken, each visit
  // takes values apart or makes them less, so the visits end.
  std::vector<Value> tokens;
  int num_tokens = 0;
  int num_changes = 0;  // joins that changed it

  [[nodiscard]] bool holds_the_same(const Entry& other) const {
    return is_reached == other.is_reached && names == other.names && locations == other.locations;
  }
};

class Joiner {
 public:
  // `most_tokens`: for each block, over all visits (Meet::choose_tokens).
  explicit Joiner(Plan& plan, int most_tokens = 0)
      : plan_(plan), values_(plan.values), most_tokens_(most_tokens), meet_(values_), maybe_undefined_(values_, meet_) {}

  // After so many changes of an entry, a maybe-undefined name that still changes becomes Unsatisfiable, so that the states settle.
  // Without that, a name may get another number at each visit for bytes that do not count, or under outcomes that exclude each
  // other. On the standard mix, entries that settle change at most 10 times in a right allocation, and 44 times in a wrong one.
  static constexpr int kMostChanges = 100;

  // entry := entry meet state (of which the edge has been entered). True if it changed.
  // Cost: live names + live locations; and a search of PairList for each name that is undefined on one side only.
  [[nodiscard]] bool flow_into(Entry& entry, std::uint32_t block, const State& state);
  // state := entry. Requires: state is clear.
  void load(const Entry& entry, std::uint32_t block, State& state) const;

 private:
  void copy(std::uint32_t block, const State& state);
  void join(const Entry& entry, std::uint32_t block, const State& state);
  void choose_tokens(const Entry& entry, std::uint32_t block, const State& state);
  // visit(pair) for each live location whose values may satisfy a name after the join.
  template <class Visit>
  void each_candidate(const Entry& entry, std::uint32_t block, const State& state, bool any_maybe_undefined,
                      const Visit& visit) const;

  Plan& plan_;
  Values& values_;
  int most_tokens_;
  Meet meet_;
  MaybeUndefinedName maybe_undefined_;
  std::vector<HeldPair> candidates_;
  std::vector<std::uint32_t> maybe_undefined_names_;  // positions among the live names
  Entry next_;
};

}  // namespace regduel::oracles::symbolic
