// Pairs of values, one a side of a join, to be searched by what a name asks for on each side. Tested by pairs_test.cpp.
//
// Cost: constant to add. A search compares the leaves of all pairs, which is a few instructions each. After kFewSearches of them there is
// an index of the side that is asked, by the leaves of the values and their pieces:
//
//   the name is told apart (Values::is_told_apart), or a set of such values    what is one of them; Bottom satisfies none
//   else a leaf is asked for under some outcome alone                           what has this leaf
//   else what satisfies it has no leaf that it has not                          what has one of its leaves
//   else                                                                        what has a leaf with the same bit as one of its leaves
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
    for (Side* const side : {&left_, &right_})
      if (side->is_indexed) side->clear();
    num_searches_ = 0;
    pairs_.clear();
  }
  void add(const Values& values, Value a, Value b) { pairs_.push_back({held(values, a), held(values, b)}); }

  // Calls take(a, b) for all pairs that satisfy the name (want_a, want_b), and for few that do not. Values may be made meanwhile;
  // `take` does not search.
  //   in_part    not all bytes of the name count
  //   is_within  what satisfies the name has no leaf that the name has not. Else that is so where all bytes count
  template <class Take>
  void each(const Values& values, Value want_a, Value want_b, bool in_part, bool is_within, const Take& take) const {
    const Wanted a = wanted(values, want_a, in_part), b = wanted(values, want_b, in_part);
    if (++num_searches_ > kFewSearches && pairs_.size() > kFewPairs)
      for (Side* const side : {&left_, &right_})
        if (find_members(values, *side, side == &left_ ? want_a : want_b, side == &left_ ? a : b, in_part, is_within)) {
          for (const std::uint32_t k : found_)
            if (const Pair& p = pairs_[k]; may_satisfy(p.a, a) && may_satisfy(p.b, b)) take(p.a.value, p.b.value);
          return;
        }
    for (const Pair& p : pairs_)
      if (may_satisfy(p.a, a) && may_satisfy(p.b, b)) take(p.a.value, p.b.value);
  }
  // False where surely none of them satisfies the name in some of its bytes.
  [[nodiscard]] bool has_any(const Values& values, Value want_a, Value want_b) const {
    bool has = false;
    each(values, want_a, want_b, true, false, [&](Value, Value) { has = true; });
    return has;
  }

 private:
  static constexpr int kFewSearches = 8;
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
    struct Link {
      std::uint32_t pair = 0, next = kNone;
    };
    std::vector<std::uint32_t> first =
        {};  // by leaf or piece of a leaf: the last pair whose value has it, in `links`; kNone = none
    std::vector<Link> links = {};
    std::vector<Value> in_first = {};                      // what has pairs there
    std::array<std::vector<std::uint32_t>, 64> bits = {};  // by bit of a leaf: the pairs whose value has it
    bool is_indexed = false;                               // all but `bits` is made
    bool has_bits = false;                                 // `bits` is made
    std::vector<std::uint32_t> cut = {};                   // pairs whose leaves are not all known

    [[nodiscard]] const Held& of(const Pair& p) const { return p.*of_pair; }
    void clear() {
      is_indexed = false;
      for (const Value v : in_first) first[v] = kNone;
      in_first.clear();
      links.clear();
      cut.clear();
      if (std::exchange(has_bits, false))
        for (auto& list : bits) list.clear();
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

  void make_index(const Values& values, Side& side) const {
    if (side.first.size() < values.size()) side.first.resize(values.size(), kNone);
    for (std::uint32_t k = 0; k < pairs_.size(); ++k) {
      const Held& held = side.of(pairs_[k]);
      if (held.is_cut || !find_leaves(values, held.value)) {
        side.cut.push_back(k);
        continue;
      }
      for (const Value v : leaves_) {
        if (side.first[v] == kNone) side.in_first.push_back(v);
        side.links.push_back({k, std::exchange(side.first[v], static_cast<std::uint32_t>(side.links.size()))});
      }
    }
    side.is_indexed = true;
  }
  void list_bits(Side& side) const {
    for (std::uint32_t k = 0; k < pairs_.size(); ++k)
      each_leaf(side.of(pairs_[k]).leaves, [&](std::size_t leaf) { side.bits[leaf].push_back(k); });
    side.has_bits = true;
  }
  template <class Visit>
  static void each_leaf(std::uint64_t leaves, const Visit& visit) {
    for (; leaves != 0; leaves &= leaves - 1) visit(static_cast<std::size_t>(std::countr_zero(leaves)));
  }
  [[nodiscard]] static bool is_piece(const Values::Node& n) { return n.kind == ValueKind::Byte || n.kind == ValueKind::Bit; }
  // The leaves of a value and those of their pieces that stand in it, each once, in leaves_. False where they are many.
  [[nodiscard]] bool find_leaves(const Values& values, Value of) const {
    leaves_.clear();
    // Most values are a leaf or a piece of one. A piece has a larger number than its leaf.
    if (values.is_atom(of)) {
      leaves_.push_back(of);
      return true;
    }
    if (const Values::Node& n = values[of]; is_piece(n) && values.is_atom(n.a)) {
      leaves_.insert(leaves_.end(), {n.a, of});
      return true;
    }
    work_.assign(1, of);
    for (int budget = kMostParts; !work_.empty(); --budget) {
      if (budget == 0) return false;
      const Value v = work_.back();
      work_.pop_back();
      if (v == kBottom || v == kTop) continue;
      const Values::Node& n = values[v];
      if (is_piece(n) || values.is_atom(v)) leaves_.push_back(v);
      if (n.kind == ValueKind::Gate) {
        work_.push_back(n.b);
        work_.push_back(n.c);
      } else if (is_piece(n) || n.kind == ValueKind::Seen) {
        work_.push_back(n.a);
      }
      const auto parts = values.children(n);
      if (!parts.empty()) work_.insert(work_.end(), parts.begin(), parts.end());
    }
    std::ranges::sort(leaves_);
    leaves_.erase(std::ranges::unique(leaves_).begin(), leaves_.end());
    return true;
  }
  // A leaf that each value which satisfies the name has; Bottom where none is seen.
  [[nodiscard]] static Value asked_leaf(const Values& values, Value want) {
    const Values::Node& n = values[want];
    if (values.asked_leaves(want) == 0 || want == kTop || want == kBottom) return kBottom;
    if (n.kind == ValueKind::Gate) {
      const Value leaf = asked_leaf(values, n.b);
      return leaf != kBottom ? leaf : asked_leaf(values, n.c);
    }
    if (is_piece(n)) return asked_leaf(values, n.a);
    const auto parts = values.children(n);
    if (parts.empty()) return values.is_atom(want) ? want : kBottom;
    if (n.kind == ValueKind::OneOf && parts.size() > 1) return kBottom;
    for (const Value part : parts)
      if (const Value leaf = asked_leaf(values, part); leaf != kBottom) return leaf;
    return kBottom;
  }
  // The positions of the pairs that may satisfy `want` on this side, ascending, in found_. False where nearly all may.
  //   in_part, is_within   as of each()
  [[nodiscard]] bool find_members(const Values& values, Side& side, Value want, const Wanted& wanted, bool in_part,
                                  bool is_within) const {
    if (want == kTop || values.is_cut(want)) return false;
    if (!side.is_indexed) make_index(values, side);
    const Values::Node& n = values[want];
    const std::span<const Value> members = n.kind == ValueKind::OneOf ? values.children(n) : std::span<const Value>(&want, 1);
    found_.clear();
    const auto add_all = [&](Value v) {
      for (std::uint32_t k = v < side.first.size() ? side.first[v] : kNone; k != kNone; k = side.links[k].next)
        found_.push_back(side.links[k].pair);
    };
    const Value asked = in_part && values.has_words(want) ? kBottom : asked_leaf(values, want);
    if (std::ranges::all_of(members, [&](Value v) { return values.is_told_apart(v); })) {
      std::ranges::for_each(members, add_all);
    } else if (asked != kBottom) {
      add_all(asked);
    } else if (wanted.one_of == ~std::uint64_t{0}) {
      return false;
    } else if ((is_within || !in_part) && find_leaves(values, want)) {
      std::ranges::for_each(leaves_, add_all);
    } else {
      if (!side.has_bits) list_bits(side);
      each_leaf(wanted.one_of,
                [&](std::size_t leaf) { found_.insert(found_.end(), side.bits[leaf].begin(), side.bits[leaf].end()); });
    }
    found_.insert(found_.end(), side.cut.begin(), side.cut.end());
    std::ranges::sort(found_);
    found_.erase(std::ranges::unique(found_).begin(), found_.end());
    return true;
  }
  static constexpr int kMostParts = 256;  // of a value, that are looked at for leaves

  std::vector<Pair> pairs_;
  mutable int num_searches_ = 0;
  mutable Side left_{&Pair::a}, right_{&Pair::b};
  mutable std::vector<std::uint32_t> found_;
  mutable std::vector<Value> leaves_, work_;
};

}  // namespace regduel::oracles::symbolic
