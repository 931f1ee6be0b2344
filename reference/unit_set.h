// A set of units of one register file: 512 bits, which is the largest file of any target (ir::kMaxUnits).
//
// It answers the one question that colouring with tuples asks again and again: at which aligned positions do `units`
// consecutive members start? Tested by unit_set_test.cpp against a bit-by-bit count.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ir/registers.h"

namespace regduel::reference {

class UnitSet {
 public:
  static constexpr int kWords = ir::kMaxUnits / 64;

  // Units [begin, end).
  static UnitSet range(int begin, int end) {
    UnitSet s;
    for (int u = begin; u < end; ++u) s.insert(u);
    return s;
  }
  static UnitSet of(ir::PReg r) { return range(r.begin(), r.end()); }
  // The multiples of 2^align_log2, align_log2 in [0, 8].
  static const UnitSet& multiples(int align_log2) {
    static const std::array<UnitSet, 9> table = [] {
      std::array<UnitSet, 9> t;
      for (int a = 0; a < 9; ++a)
        for (int u = 0; u < ir::kMaxUnits; u += 1 << a) t[static_cast<std::size_t>(a)].insert(u);
      return t;
    }();
    return table[static_cast<std::size_t>(align_log2)];
  }

  void insert(int unit) { word(unit) |= bit(unit); }
  void erase(int unit) { word(unit) &= ~bit(unit); }
  [[nodiscard]] bool contains(int unit) const { return (words_[static_cast<std::size_t>(unit >> 6)] & bit(unit)) != 0; }
  [[nodiscard]] bool contains(ir::PReg r) const {
    for (int u = r.begin(); u < r.end(); ++u)
      if (!contains(u)) return false;
    return true;
  }
  [[nodiscard]] bool intersects(ir::PReg r) const {
    for (int u = r.begin(); u < r.end(); ++u)
      if (contains(u)) return true;
    return false;
  }
  [[nodiscard]] bool intersects(const UnitSet& o) const { return !(*this & o).is_empty(); }
  [[nodiscard]] bool is_empty() const {
    for (const std::uint64_t w : words_)
      if (w != 0) return false;
    return true;
  }
  [[nodiscard]] int count() const {
    int n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }
  // The least member that is at least `from`, -1 where there is none.
  [[nodiscard]] int next(int from) const {
    if (from >= ir::kMaxUnits) return -1;
    auto w = static_cast<std::size_t>(from >> 6);
    std::uint64_t bits = words_[w] & (~std::uint64_t{0} << (from & 63));
    while (bits == 0) {
      if (++w == words_.size()) return -1;
      bits = words_[w];
    }
    return static_cast<int>(w * 64) + std::countr_zero(bits);
  }
  [[nodiscard]] int first() const { return next(0); }

  UnitSet& operator|=(const UnitSet& o) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= o.words_[w];
    return *this;
  }
  UnitSet& operator&=(const UnitSet& o) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= o.words_[w];
    return *this;
  }
  UnitSet& operator-=(const UnitSet& o) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  friend UnitSet operator|(UnitSet a, const UnitSet& b) { return a |= b; }
  friend UnitSet operator&(UnitSet a, const UnitSet& b) { return a &= b; }
  friend UnitSet operator-(UnitSet a, const UnitSet& b) { return a -= b; }
  friend bool operator==(const UnitSet&, const UnitSet&) = default;

  // The multiples u of 2^align_log2 for which all of [u, u + units) is in the set. Cost O(units x words).
  [[nodiscard]] UnitSet positions(int units, int align_log2) const {
    UnitSet p = *this & multiples(align_log2);
    UnitSet shifted = *this;
    for (int k = 1; k < units; ++k) {
      shifted.shift_down();
      p &= shifted;
    }
    return p;
  }

 private:
  static std::uint64_t bit(int unit) { return std::uint64_t{1} << (unit & 63); }
  std::uint64_t& word(int unit) { return words_[static_cast<std::size_t>(unit >> 6)]; }
  void shift_down() {
    for (std::size_t w = 0; w + 1 < words_.size(); ++w) words_[w] = words_[w] >> 1 | words_[w + 1] << 63;
    words_.back() >>= 1;
  }

  std::array<std::uint64_t, kWords> words_ = {};
};

}  // namespace regduel::reference
