// Hash-consed Patricia tries. See def_sets.h for the source; tested by def_sets_test.cpp.

#include "oracles/memcheck/def_sets.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/random.h"

namespace regduel::oracles {
namespace {

constexpr std::uint32_t kMaxElement = (1u << 31) - 3;
constexpr std::size_t kSmall = 1u << 8;  // the table begins small, as most programs have few sets

std::uint64_t hash_of(std::uint32_t key, std::uint32_t mask, std::uint32_t left, std::uint32_t right) {
  return mix64((static_cast<std::uint64_t>(key) << 32 | mask) ^ mix64(static_cast<std::uint64_t>(left) << 32 | right));
}

}  // namespace

DefSets::DefSets() : nodes_(1, Node{0, 0, 0, 0}), table_(kSmall, 0) {}

SetId DefSets::intern(const Node& n) {
  if (nodes_.size() * 2 > table_.size()) grow();
  const std::size_t limit = table_.size() - 1;
  for (std::size_t at = hash_of(n.key, n.mask, n.left, n.right) & limit;; at = (at + 1) & limit) {
    if (table_[at] == 0) {
      table_[at] = static_cast<SetId>(nodes_.size());
      nodes_.push_back(n);
      return table_[at];
    }
    if (nodes_[table_[at]] == n) return table_[at];
  }
}

void DefSets::grow() {
  std::vector<SetId> larger(table_.size() * 2, 0);
  const std::size_t limit = larger.size() - 1;
  for (SetId id = 1; id < nodes_.size(); ++id) {
    const Node& n = nodes_[id];
    std::size_t at = hash_of(n.key, n.mask, n.left, n.right) & limit;
    while (larger[at] != 0) at = (at + 1) & limit;
    larger[at] = id;
  }
  table_ = std::move(larger);
}

DefSets::Node DefSets::node(SetId id) const {
  if ((id & kSingle) == 0) return nodes_[id];
  const std::uint32_t element = id & ~kSingle;
  const std::uint64_t bits = 1ull << (element & 63);
  return {element >> 6, 0, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

SetId DefSets::join(SetId a, std::uint32_t key_a, SetId b, std::uint32_t key_b) {
  const std::uint32_t mask = std::bit_floor(key_a ^ key_b);
  const bool a_right = (key_a & mask) != 0;
  return intern({prefix(key_a, mask), mask, a_right ? b : a, a_right ? a : b});
}

SetId DefSets::unite(SetId one, SetId other) {
  if (one == kEmptySet || one == other) return other;
  if (other == kEmptySet) return one;
  const SetId a = std::min(one, other), b = std::max(one, other);
  if (unions_.empty()) unions_.resize(kUnions);
  Union& known = unions_[mix64(static_cast<std::uint64_t>(a) << 32 | b) % kUnions];
  return known.a == a && known.b == b ? known.both : (known = {a, b, make_union(a, b)}).both;
}

SetId DefSets::make_union(SetId a, SetId b) {
  const Node x = node(a), y = node(b);
  if (x.mask == 0 && y.mask == 0 && x.key == y.key) return intern({x.key, 0, x.left | y.left, x.right | y.right});
  if (x.mask != 0 && x.mask == y.mask && x.key == y.key) {
    const SetId left = unite(x.left, y.left);
    return intern({x.key, x.mask, left, unite(x.right, y.right)});
  }
  if (x.mask > y.mask && prefix(y.key, x.mask) == x.key)
    return (y.key & x.mask) == 0 ? intern({x.key, x.mask, unite(x.left, b), x.right})
                                 : intern({x.key, x.mask, x.left, unite(x.right, b)});
  if (y.mask > x.mask && prefix(x.key, y.mask) == y.key)
    return (x.key & y.mask) == 0 ? intern({y.key, y.mask, unite(y.left, a), y.right})
                                 : intern({y.key, y.mask, y.left, unite(y.right, a)});
  return join(a, x.key, b, y.key);
}

SetId DefSets::word(const std::array<SetId, 4>& bytes) {
  const auto number = [](FlatMap& map, std::uint32_t& next, std::uint32_t a, std::uint32_t b) {
    std::uint32_t& known = map.at(static_cast<std::uint64_t>(a) << 32 | b, next);
    if (known == next) ++next;
    return known;
  };
  const std::uint32_t low = number(halves_, num_halves_, bytes[0], bytes[1]),
                      high = number(halves_, num_halves_, bytes[2], bytes[3]);
  return single(kMaxElement - number(words_, num_words_, low, high));
}

SetId DefSets::unite_all(std::span<SetId> parts) {
  std::sort(parts.begin(), parts.end());
  for (std::size_t size = parts.size(); size > 1; size = (size + 1) / 2)
    for (std::size_t k = 0; k < size; k += 2) parts[k / 2] = k + 1 < size ? unite(parts[k], parts[k + 1]) : parts[k];
  return parts[0];
}

SetId DefSets::leaf_of_key(SetId set, std::uint32_t key) const {
  while (set != kEmptySet) {
    const Node n = node(set);
    if (n.mask == 0) return n.key == key ? set : kEmptySet;
    if (prefix(key, n.mask) != n.key) return kEmptySet;
    set = (key & n.mask) == 0 ? n.left : n.right;
  }
  return kEmptySet;
}

bool DefSets::contains(SetId set, std::uint32_t element) const {
  const SetId leaf = leaf_of_key(set, element >> 6);
  return leaf != kEmptySet && (bits_of(node(leaf)) >> (element & 63) & 1) != 0;
}

bool DefSets::meet(SetId a, SetId b) const {
  if (a == kEmptySet || b == kEmptySet) return false;
  if (a == b) return true;
  const Node x = node(a), y = node(b);
  if (x.mask < y.mask) return meet(b, a);
  if (x.mask == 0) return x.key == y.key && ((x.left & y.left) | (x.right & y.right)) != 0;
  if (x.mask == y.mask) return x.key == y.key && (meet(x.left, y.left) || meet(x.right, y.right));
  return prefix(y.key, x.mask) == x.key && meet((y.key & x.mask) == 0 ? x.left : x.right, b);
}

std::vector<std::uint32_t> DefSets::elements(SetId set) const {
  std::vector<std::uint32_t> result;
  std::vector<SetId> stack;
  if (set != kEmptySet) stack.push_back(set);
  while (!stack.empty()) {
    const Node n = node(stack.back());
    stack.pop_back();
    if (n.mask != 0) {
      stack.push_back(n.right);
      stack.push_back(n.left);
      continue;
    }
    for (std::uint64_t bits = bits_of(n); bits != 0; bits &= bits - 1)
      result.push_back(n.key * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  return result;
}

}  // namespace regduel::oracles
