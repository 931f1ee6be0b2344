// Sets of definitions, hash-consed: one set has one number, so that two sets are equal exactly where their numbers are.
//
// A set is a big-endian Patricia trie over 64-bit words of elements (Okasaki and Gill, "Fast Mergeable Integer Maps", 1998),
// whose nodes are interned. A union shares what it can, so that n sets of which each adds one element to the one before take
// O(n log n) space, not O(n^2). A set of one element is not interned: its number is the element itself, marked.
// Tested by def_sets_test.cpp.
#pragma once

#include <array>
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
      for (std::uint32_t bit = 0; bit < 64 && !found; ++bit)
        found = ((bit < 32 ? n.left >> bit : n.right >> (bit - 32)) & 1) != 0 && is_meant(n.key * 64 + bit);
    }
    memo[set] = found ? 1 : -1;
    return found;
  }

 private:
  static constexpr SetId kSingle = 1u << 31;

  // A leaf (mask 0): the elements 64 * key + i for each bit i of right:left. A branch: all words with the prefix `key`, those
  // without the bit `mask` in `left`.
  struct Node {
    std::uint32_t key, mask, left, right;
    friend bool operator==(const Node&, const Node&) = default;
  };
  [[nodiscard]] Node node(SetId id) const;
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
