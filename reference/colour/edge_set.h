// Which edges are there already, in O(1), while a graph is built: a triangular bit matrix for graphs of up to 16,384 nodes
// (16 MB), a hash set with open addressing above.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace regduel::reference {

class EdgeSet {
 public:
  // Empty, and for edges between any nodes: a hash set.
  EdgeSet() : table_(16, 0) {}
  // Empty, and as fits for edges between nodes [0, nodes).
  explicit EdgeSet(std::size_t nodes)
      : use_matrix_(nodes <= kMatrixNodes), table_(use_matrix_ ? (nodes * (nodes + 1) / 2 + 63) / 64 : 1024, 0) {}

  [[nodiscard]] bool contains(std::uint32_t a, std::uint32_t b) const {
    if (use_matrix_) {
      const std::size_t at = triangle(a, b);
      return (table_[at / 64] >> (at % 64) & 1) != 0;
    }
    return table_[slot(key(a, b))] != 0;
  }
  // False where it was there already.
  bool insert(std::uint32_t a, std::uint32_t b) {
    if (use_matrix_) {
      const std::size_t at = triangle(a, b);
      std::uint64_t& word = table_[at / 64];
      const std::uint64_t bit = std::uint64_t{1} << (at % 64);
      if (word & bit) return false;
      word |= bit;
      return true;
    }
    const std::size_t at = slot(key(a, b));
    if (table_[at] != 0) return false;
    table_[at] = key(a, b);
    if (++count_ * 2 > table_.size()) grow();
    return true;
  }

 private:
  static constexpr std::size_t kMatrixNodes = 16384;

  static std::size_t triangle(std::size_t a, std::size_t b) {
    if (a < b) std::swap(a, b);
    return a * (a + 1) / 2 + b;
  }
  static std::uint64_t key(std::uint64_t a, std::uint64_t b) {
    if (a < b) std::swap(a, b);
    return (a << 32 | b) + 1;  // 0 = empty
  }
  [[nodiscard]] std::size_t slot(std::uint64_t k) const {
    std::size_t at = mix64(k) & (table_.size() - 1);
    while (table_[at] != 0 && table_[at] != k) at = (at + 1) & (table_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<std::uint64_t> old(table_.size() * 2, 0);
    old.swap(table_);
    for (const std::uint64_t k : old)
      if (k != 0) table_[slot(k)] = k;
  }

  bool use_matrix_ = false;
  std::vector<std::uint64_t> table_;
  std::size_t count_ = 0;
};

}  // namespace regduel::reference
