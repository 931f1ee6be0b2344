// Pairs of values, one a side of a join, to be searched by what a name asks for on each side. Tested by pairs_test.cpp.
//
// Cost: constant to add. A search compares the leaves of all pairs, which is a few instructions each: with as many pairs as there
// are live locations that is less than any index takes to be made.
#pragma once

#include <cstdint>
#include <vector>

#include "oracles/symbolic/values.h"

namespace regduel::oracles::symbolic {

class PairList {
 public:
  void clear() { pairs_.clear(); }
  void add(const Values& values, Value a, Value b) { pairs_.push_back({held(values, a), held(values, b)}); }

  // Calls take(a, b) for all pairs that satisfy the name (want_a, want_b), and for few that do not. Values may be made meanwhile.
  //   in_part   not all bytes of the name count
  template <class Take>
  void each(const Values& values, Value want_a, Value want_b, bool in_part, const Take& take) const {
    const Wanted a = wanted(values, want_a, in_part), b = wanted(values, want_b, in_part);
    for (const Pair& p : pairs_)
      if (may_satisfy(p.a, a) && may_satisfy(p.b, b)) take(p.a.value, p.b.value);
  }
  // False where surely none of them satisfies the name in some of its bytes.
  [[nodiscard]] bool has_any(const Values& values, Value want_a, Value want_b) const {
    bool has = false;
    each(values, want_a, want_b, true, [&](Value, Value) { has = true; });
    return has;
  }

 private:
  struct Held {
    Value value = kBottom;
    bool is_cut = false;  // its leaves are not all known
    std::uint64_t leaves = 0;
  };
  struct Pair {
    Held a, b;
  };
  // Sets of leaves; see Values::may_satisfy().
  struct Wanted {
    std::uint64_t one_of = ~std::uint64_t{0};  // some of these
    std::uint64_t all_of = 0;
    std::uint64_t others = 0;  // none of these
  };

  [[nodiscard]] static Held held(const Values& values, Value v) { return {v, values.is_cut(v), values.leaves(v)}; }
  [[nodiscard]] static Wanted wanted(const Values& values, Value want, bool in_part) {
    if (want == kTop || values.is_cut(want)) return {};
    const std::uint64_t leaves = values.leaves(want);
    if (!in_part) return {.one_of = leaves, .all_of = values.asked_leaves(want), .others = ~leaves};
    // What is asked for, or held, in bytes that do not count does not count.
    return {.one_of = leaves, .all_of = values.has_words(want) ? 0 : values.asked_leaves(want)};
  }
  [[nodiscard]] static bool may_satisfy(const Held& have, const Wanted& want) {
    return have.is_cut ||
           ((have.leaves & want.one_of) != 0 && (want.all_of & ~have.leaves) == 0 && (have.leaves & want.others) == 0);
  }

  std::vector<Pair> pairs_;
};

}  // namespace regduel::oracles::symbolic
