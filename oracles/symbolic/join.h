// The abstract state at the head of a block, and the meet over the edges that lead there.
//
// A location holds a name after the join if it does on both sides (symbolic.h). For a state A with values A(l), A(n), and a state
// B:
//
//   join(l) satisfies join(n)   exactly where   A(l) satisfies A(n)  and  B(l) satisfies B(n)        for all live l, n     (1)
//
// join(p) = meet(A(p), B(p)) does that for names that are defined on all paths (meet.h), and where a name is undefined on some path
// of one side, join(n) is the set of all values that satisfy it on both sides (loose_name.h). Where gates or packs nest too deep to
// be looked into, or two predicates are one on one side, the left side of (1) may be false although the right one is true, never
// the other way round.
//
// Four shortcuts leave (1) as it is:
//   a block with one edge into it   join(p) = B(p): there is no other side
//   the first edge into a block     A = B: join(p) = B(p), but at the head of a loop the number of the pair of B(p) with itself
//   no head of a loop               join(p) = B(p) where A(p) = B(p): old numbers need only be forgotten once in each cycle
//   a location that held nothing    join(l) = Junk, unless some name is undefined on a path: only Any is satisfied by Junk
//
// Tested by join_test.cpp: (1) against random states, location by location and name by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/loose_name.h"
#include "oracles/symbolic/meet.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/state.h"

namespace regduel::oracles::symbolic {

// Only what is live is kept.
struct Entry {
  bool is_reached = false;
  std::vector<Value> names;  // of the plan's live names at the block, in their order
  struct Held {
    std::uint32_t location = 0;
    Value value = kJunk;

    friend bool operator==(const Held&, const Held&) = default;
  };
  std::vector<Held> locations;  // live ones that hold something

  // The tokens of the last join (Meet::choose_tokens), and how many there were in all: when no new ones may be taken, each value is
  // taken apart or becomes less, visit after visit, and that ends.
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
      : plan_(plan), values_(plan.values), most_tokens_(most_tokens), meet_(values_), loose_(values_, meet_) {}

  // After so many changes of an entry, a loose name that still changes becomes one that nothing is seen to satisfy, so that the
  // states settle. For bytes that do not count, or under outcomes that exclude each other, it may get another number at each visit.
  // On the standard mix, entries that settle change at most 10 times where the allocation is right, and 44 times where it is wrong.
  static constexpr int kMostChanges = 100;

  // entry := entry meet state (of which the edge has been entered). True if it changed.
  // Cost: live names + live locations; for each name that is undefined on one side only, what a search of PairList costs.
  [[nodiscard]] bool flow_into(Entry& entry, std::uint32_t block, const State& state);
  // state := entry. Requires: state is clear.
  void load(const Entry& entry, std::uint32_t block, State& state) const;

 private:
  void copy(std::uint32_t block, const State& state);
  void join(const Entry& entry, std::uint32_t block, const State& state);
  void choose_tokens(const Entry& entry, std::uint32_t block, const State& state);
  // visit(pair) for each live location whose values may satisfy a name after the join.
  template <class Visit>
  void each_candidate(const Entry& entry, std::uint32_t block, const State& state, bool any_loose, const Visit& visit) const;

  Plan& plan_;
  Values& values_;
  int most_tokens_;
  Meet meet_;
  LooseName loose_;
  std::vector<HeldPair> candidates_;
  std::vector<std::uint32_t> loose_names_;  // positions among the live names
  Entry next_;
};

}  // namespace regduel::oracles::symbolic
