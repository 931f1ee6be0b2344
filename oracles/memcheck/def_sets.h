// Sets of definitions, hash-consed: one set has one number, so that two sets are equal exactly where their numbers are.
//
// A set is a big-endian Patricia trie over 64-bit words of elements (Okasaki and Gill, "Fast Mergeable Integer Maps", 1998),
// whose nodes are interned. A union shares what it can, so that n sets of which each adds one element to the one before take
// O(n log n) space, not O(n^2). A set of one element is not interned: its number is the element itself, marked.
// Tested by def_sets_test.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"

namespace regduel::oracles {

using SetId = std::uint32_t;
inline constexpr SetId kEmptySet = 0;

class DefSets {
 public:
  DefSets();

  // Requires: element < 2^31 - 2. So the two highest numbers are those of no set.
  [[nodiscard]] static constexpr SetId single(std::uint32_t element) { return kSingle | element; }
  // The one element of a set that has no other.
  [[nodiscard]] static constexpr std::optional<std::uint32_t> only(SetId set) {
    return (set & kSingle) != 0 ? std::optional(set & ~kSingle) : std::nullopt;
  }
  // A set of one element that stands for four sets, byte after byte: the same for the same four, another for any others.
  [[nodiscard]] SetId word(const std::array<SetId, 4>& bytes);
  // Requires: there are fewer than 2^30 words, and no element of any other kind is 2^30 or more.
  [[nodiscard]] static constexpr bool is_word(std::uint32_t element) { return element >= 1u << 30; }
  // Cost: O(1) where one set is empty or both are equal; else at most the nodes that they do not share.
  [[nodiscard]] SetId unite(SetId one, SetId other);
  // Of all of `parts`, which are put in order on the way: neighbours first, so that far fewer sets are made than one after another.
  // Requires: there is one.
  [[nodiscard]] SetId unite_all(std::span<SetId> parts);
  [[nodiscard]] bool contains(SetId set, std::uint32_t element) const;
  // True where the two have an element in common. Cost: at most the nodes of the smaller set times the height of the other.
  [[nodiscard]] bool meet(SetId a, SetId b) const;
  // In ascending order. Cost: O(elements).
  [[nodiscard]] std::vector<std::uint32_t> elements(SetId set) const;
  // Of all sets together, those of one element aside: what they cost.
  [[nodiscard]] std::size_t num_nodes() const { return nodes_.size(); }
  // True where `is_meant` holds for an element. `memo` keeps the answers of the parts that sets share: one for each question, empty
  // at first. Cost: O(nodes not yet in the memo).
  template <class Predicate>
  [[nodiscard]] bool any_of(SetId set, std::vector<signed char>& memo, const Predicate& is_meant) const {
    if (set == kEmptySet) return false;
    if ((set & kSingle) != 0) return is_meant(set & ~kSingle);
    if (memo.size() < nodes_.size()) memo.resize(nodes_.size(), 0);
    if (memo[set] != 0) return memo[set] > 0;
    const Node& n = nodes_[set];
    bool found = false;
    if (n.mask != 0) {
      found = any_of(n.left, memo, is_meant) || any_of(n.right, memo, is_meant);
    } else {
      found = any_bit(n.key, bits_of(n), is_meant);
    }
    memo[set] = found ? 1 : -1;
    return found;
  }
  // True where `set` has all elements of `part` for which `is_meant` holds; `memo` as for any_of(), of the same question. Cost: the
  // nodes that the two do not share, and those not yet in the memo.
  template <class Predicate>
  [[nodiscard]] bool has_all(SetId set, SetId part, std::vector<signed char>& memo, const Predicate& is_meant) const {
    if (set == part || !any_of(part, memo, is_meant)) return true;
    if (set == kEmptySet) return false;
    const Node x = node(set), y = node(part);
    if (y.mask == 0) {
      const SetId same_key = leaf_of_key(set, y.key);
      const Node have = same_key == kEmptySet ? Node{y.key, 0, 0, 0} : node(same_key);
      return !any_bit(y.key, bits_of(y) & ~bits_of(have), is_meant);
    }
    if (x.mask == y.mask && x.key == y.key)
      return has_all(x.left, y.left, memo, is_meant) && has_all(x.right, y.right, memo, is_meant);
    if (x.mask > y.mask && prefix(y.key, x.mask) == x.key)
      return has_all((y.key & x.mask) == 0 ? x.left : x.right, part, memo, is_meant);
    if (y.mask > x.mask && prefix(x.key, y.mask) == y.key) {
      const bool is_left = (x.key & y.mask) == 0;
      return !any_of(is_left ? y.right : y.left, memo, is_meant) && has_all(set, is_left ? y.left : y.right, memo, is_meant);
    }
    return false;
  }

 private:
  static constexpr SetId kSingle = 1u << 31;

  // A leaf (mask 0): the elements 64 * key + i for each bit i of right:left. A branch: all words with the prefix `key`, those
  // without the bit `mask` in `left`.
  struct Node {
    std::uint32_t key, mask, left, right;
    friend bool operator==(const Node&, const Node&) = default;
  };
  [[nodiscard]] static std::uint64_t bits_of(const Node& leaf) { return static_cast<std::uint64_t>(leaf.right) << 32 | leaf.left; }
  // Of the elements 64 * key + i for each bit i.
  [[nodiscard]] static bool any_bit(std::uint32_t key, std::uint64_t bits, const auto& is_meant) {
    for (; bits != 0; bits &= bits - 1)
      if (is_meant(key * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))) return true;
    return false;
  }
  // The bits of `key` above the branching bit `mask`.
  [[nodiscard]] static std::uint32_t prefix(std::uint32_t key, std::uint32_t mask) { return key & ~(mask | (mask - 1)); }
  [[nodiscard]] Node node(SetId id) const;
  // The leaf of the set with this key; the empty set where it has none.
  [[nodiscard]] SetId leaf_of_key(SetId set, std::uint32_t key) const;
  [[nodiscard]] SetId intern(const Node& n);
  [[nodiscard]] SetId join(SetId a, std::uint32_t key_a, SetId b, std::uint32_t key_b);
  void grow();
  [[nodiscard]] SetId make_union(SetId a, SetId b);

  // What was united lately: two programs that agree ask for the same unions.
  struct Union {
    SetId a = kEmptySet, b = kEmptySet, both = kEmptySet;
  };
  static constexpr std::size_t kUnions = 1u << 12;
  std::vector<Union> unions_;  // empty until it is needed
  std::vector<Node> nodes_;
  std::vector<SetId> table_;  // open addressing, power of two; 0 = free
  FlatMap halves_, words_;    // numbers of pairs of sets, and of pairs of these
  std::uint32_t num_halves_ = 0, num_words_ = 0;
};

}  // namespace regduel::oracles
