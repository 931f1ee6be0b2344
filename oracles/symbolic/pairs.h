// Pairs of values, one a side of a join, to be searched by what a name asks for on each side. Tested by pairs_test.cpp.
//
// Cost: constant to add. A search looks at the pairs that hold exactly what is asked for on one side (or one of those that are),
// and at those that are entangled there (gates, words put together); at all of them where what is asked for has gates in it, or is
// Any, on both sides.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oracles/symbolic/values.h"

namespace regduel::oracles::symbolic {

class PairList {
 public:
  void clear();
  void add(const Values& values, Value a, Value b);

  // Calls take(a, b) for all pairs that satisfy the name (want_a, want_b), and for some that do not. Values may be made meanwhile.
  //   in_part   not all bytes of the name count
  template <class Take>
  void each(const Values& values, Value want_a, Value want_b, bool in_part, const Take& take) const {
    const auto take_pair = [&](std::uint32_t p) { take(pairs_[p].first, pairs_[p].second); };
    if (is_listed(values, want_a, in_part)) return each_in(left_, values, want_a, take_pair);
    if (is_listed(values, want_b, in_part)) return each_in(right_, values, want_b, take_pair);
    for (std::uint32_t p = 0; p < pairs_.size(); ++p) take_pair(p);
  }

 private:
  // The pairs of one side by their value there. The entangled ones are under Junk, which no name asks for; Junk itself is nowhere.
  struct Side {
    struct Head {
      Value value = kJunk;
      std::uint32_t epoch = 0;  // of the list when the pair was put there; free where that is not the list's
      std::uint32_t pair = 0;
    };
    std::vector<Head> heads;          // open addressing by value; twice the pairs at least, power of two
    std::vector<std::uint32_t> next;  // by pair: another one with the same value, or kNone
  };
  static constexpr std::uint32_t kNone = ~0U;

  void put(const Values& values, Side& side, Value v) const;
  [[nodiscard]] std::uint32_t first(const Side& side, Value under) const;
  [[nodiscard]] std::size_t head_of(const Side& side, Value under) const;
  void make_room(Side& side) const;
  // Whether a plain value satisfies it only where it is that value, or one of its members. Of a word that was put together, some
  // bytes may be those of a plain one.
  [[nodiscard]] static bool is_listed(const Values& values, Value want, bool in_part);
  template <class Visit>
  void each_in(const Side& side, const Values& values, Value want, const Visit& visit) const {
    const auto visit_under = [&](Value under) {
      for (std::uint32_t p = first(side, under); p != kNone; p = side.next[p]) visit(p);
    };
    visit_under(kJunk);
    const Values::Node set = values[want];  // a copy: the values may grow meanwhile
    if (set.kind != ValueKind::OneOf) return visit_under(want);
    for (std::uint32_t k = 0; k < set.b; ++k) visit_under(values.children(set)[k]);
  }

  std::vector<std::pair<Value, Value>> pairs_;
  Side left_, right_;
  std::uint32_t epoch_ = 1;
};

}  // namespace regduel::oracles::symbolic
