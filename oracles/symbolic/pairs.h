// Pairs of values, one a side of a join, to be searched by what a name asks for on each side. Tested by pairs_test.cpp.
//
// Cost: constant to add. A search compares the leaves of all pairs, which is a few instructions each. After kFewSearches of them there is
// an index of each side. It finds values that are told apart (Values::is_told_apart) by their number, because such a value satisfies a
// set of such values, in any byte, exactly where it is a member; Bottom satisfies none. It finds all others by their leaves.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracles/symbolic/values.h"

namespace regduel::oracles::symbolic {

class PairList {
 public:
  void clear() {
    if (is_indexed_)
      for (Side* const side : {&left_, &right_}) side->clear(pairs_);
    is_indexed_ = false;
    num_searches_ = 0;
    pairs_.clear();
  }
  void add(const Values& values, Value a, Value b) { pairs_.push_back({held(values, a), held(values, b)}); }

  // Calls take(a, b) for all pairs that satisfy the name (want_a, want_b), and for few that do not. Values may be made meanwhile;
  // `take` does not search.
  //   in_part   not all bytes of the name count
  template <class Take>
  void each(const Values& values, Value want_a, Value want_b, bool in_part, const Take& take) const {
    const Wanted a = wanted(values, want_a, in_part), b = wanted(values, want_b, in_part);
    const auto look_at = [&](const Pair& p) {
      if (may_satisfy(p.a, a) && may_satisfy(p.b, b)) take(p.a.value, p.b.value);
    };
    if (++num_searches_ > kFewSearches && pairs_.size() > kFewPairs)
      for (Side* const side : {&left_, &right_})
        if (find_members(values, *side, side == &left_ ? want_a : want_b, side == &left_ ? a : b)) {
          for (const std::uint32_t k : found_) look_at(pairs_[k]);
          return;
        }
    for (const Pair& p : pairs_) look_at(p);
  }
  // False where surely none of them satisfies the name in some of its bytes.
  [[nodiscard]] bool has_any(const Values& values, Value want_a, Value want_b) const {
    bool has = false;
    each(values, want_a, want_b, true, [&](Value, Value) { has = true; });
    return has;
  }

 private:
  static constexpr int kFewSearches = 4;
  static constexpr std::size_t kFewPairs = 32;
  static constexpr std::uint32_t kNone = ~0U;

  struct Held {
    Value value = kBottom;
    bool is_cut = false;  // its leaves are not all known
    std::uint64_t leaves = 0;
  };
  struct Pair {
    Held a, b;
  };
  // The pairs by their value on one side.
  struct Side {
    Held Pair::* of_pair;
    std::vector<std::uint32_t> first = {};  // by value that is told apart: the last pair with it; kNone = none
    std::vector<std::uint32_t> next = {};   // by pair: the one in front with the same value
    // By leaf: the pairs whose value has it; those that are told apart, and the others. The last list: those that are cut.
    std::array<std::vector<std::uint32_t>, 64> apart = {};
    std::array<std::vector<std::uint32_t>, 65> others = {};

    [[nodiscard]] const Held& of(const Pair& p) const { return p.*of_pair; }
    void clear(const std::vector<Pair>& pairs) {
      for (const Pair& p : pairs) first[of(p).value] = kNone;
      for (auto& list : apart) list.clear();
      for (auto& list : others) list.clear();
    }
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

  void make_index(const Values& values) const {
    for (Side* const side : {&left_, &right_}) {
      if (side->first.size() < values.size()) side->first.resize(values.size(), kNone);
      side->next.resize(pairs_.size());
      for (std::uint32_t k = 0; k < pairs_.size(); ++k) {
        const Held& held = side->of(pairs_[k]);
        const bool is_apart = values.is_told_apart(held.value);
        if (is_apart) side->next[k] = std::exchange(side->first[held.value], k);
        if (held.is_cut) side->others[64].push_back(k);
        else each_leaf(held.leaves, [&](std::size_t leaf) { (is_apart ? side->apart[leaf] : side->others[leaf]).push_back(k); });
      }
    }
    is_indexed_ = true;
  }
  template <class Visit>
  static void each_leaf(std::uint64_t leaves, const Visit& visit) {
    for (; leaves != 0; leaves &= leaves - 1) visit(static_cast<std::size_t>(std::countr_zero(leaves)));
  }
  // The positions of the pairs that may satisfy `want` on this side, ascending, in found_. False where nearly all may.
  [[nodiscard]] bool find_members(const Values& values, const Side& side, Value want, const Wanted& wanted) const {
    if (wanted.one_of == ~std::uint64_t{0}) return false;
    if (!is_indexed_) make_index(values);
    const Values::Node& n = values[want];
    const std::span<const Value> members = n.kind == ValueKind::OneOf ? values.children(n) : std::span<const Value>(&want, 1);
    const bool are_apart = std::ranges::all_of(members, [&](Value v) { return values.is_told_apart(v); });
    const auto add = [&](const std::vector<std::uint32_t>& list) { found_.insert(found_.end(), list.begin(), list.end()); };
    found_.clear();
    if (are_apart)
      for (const Value v : members)
        for (std::uint32_t k = v < side.first.size() ? side.first[v] : kNone; k != kNone; k = side.next[k]) found_.push_back(k);
    else each_leaf(wanted.one_of, [&](std::size_t leaf) { add(side.apart[leaf]); });
    each_leaf(wanted.one_of, [&](std::size_t leaf) { add(side.others[leaf]); });
    add(side.others[64]);
    std::ranges::sort(found_);
    found_.erase(std::ranges::unique(found_).begin(), found_.end());
    return true;
  }

  std::vector<Pair> pairs_;
  mutable int num_searches_ = 0;
  mutable bool is_indexed_ = false;
  mutable Side left_{&Pair::a}, right_{&Pair::b};
  mutable std::vector<std::uint32_t> found_;
};

}  // namespace regduel::oracles::symbolic
