// Sets of definitions, hash-consed: one set has one number, so that two sets are equal exactly where their numbers are.
//
// A set is a big-endian Patricia trie over 64-bit words of elements (Okasaki and Gill, "Fast Mergeable Integer Maps", 1998),
// whose nodes are interned. A union shares what it can, so that n sets of which each adds one element to the one before take
// O(n log n) space, not O(n^2). Tested by def_sets_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace regduel::oracles {

using SetId = std::uint32_t;
inline constexpr SetId kEmptySet = 0;

class DefSets {
 public:
  DefSets();

  [[nodiscard]] SetId single(std::uint32_t element);
  // Cost: O(1) where one set is empty or both are equal; else at most the nodes that they do not share.
  [[nodiscard]] SetId unite(SetId a, SetId b);
  [[nodiscard]] bool contains(SetId set, std::uint32_t element) const;
  // In ascending order. Cost: O(elements).
  [[nodiscard]] std::vector<std::uint32_t> elements(SetId set) const;

 private:
  // A leaf (mask 0): the elements 64 * key + i for each bit i of right:left. A branch: all words with the prefix `key`, those
  // without the bit `mask` in `left`.
  struct Node {
    std::uint32_t key, mask, left, right;
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Memo {
    SetId a = 0, b = 0, result = 0;
  };
  [[nodiscard]] SetId intern(const Node& n);
  [[nodiscard]] SetId join(SetId a, std::uint32_t key_a, SetId b, std::uint32_t key_b);
  void grow();

  std::vector<Node> nodes_;
  std::vector<SetId> table_;  // open addressing, power of two; 0 = free
  std::vector<Memo> memo_;
};

}  // namespace regduel::oracles
