// A set of units of one register file: 512 bits, which is the largest file of any target (ir::kMaxUnits).
//
// positions() answers what colouring with tuples asks again and again: at which aligned positions do `units` consecutive members
// start? std::bitset and boost::dynamic_bitset can only be asked bit by bit. Tested by unit_set_test.cpp against such a count.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "ir/registers.h"

namespace regduel::reference {

class UnitSet {
 public:
  static constexpr int kWords = ir::kMaxUnits / 64;

  // Units [begin, end).
  static UnitSet range(int begin, int end) {
    UnitSet s;
    for (int w = begin >> 6; w << 6 < end; ++w) s.words_[static_cast<std::size_t>(w)] = bits(begin - (w << 6), end - (w << 6));
    return s;
  }
  static UnitSet of(ir::PReg r) { return range(r.begin(), r.end()); }
  void insert(int unit) { word(unit) |= bit(unit); }
  void erase(int unit) { word(unit) &= ~bit(unit); }
  [[nodiscard]] bool contains(int unit) const { return (words_[static_cast<std::size_t>(unit >> 6)] & bit(unit)) != 0; }
  [[nodiscard]] bool intersects(ir::PReg r) const {
    for (int w = r.begin() >> 6; w << 6 < r.end(); ++w)
      if ((words_[static_cast<std::size_t>(w)] & bits(r.begin() - (w << 6), r.end() - (w << 6))) != 0) return true;
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
    for (const std::uint64_t w : words_)
      if (w != 0) n += std::popcount(w);
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
  // Bit b of word w is unit 64 w + b.
  [[nodiscard]] const std::array<std::uint64_t, kWords>& words() const { return words_; }
  static UnitSet of_words(std::span<const std::uint64_t> words) {
    UnitSet s;
    std::copy(words.begin(), words.end(), s.words_.begin());
    return s;
  }

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

  // The multiples u of 2^align_log2 for which all of [u, u + units) is in the set; units in [1, 64], align_log2 in [0, 8]. With
  //   runs(1) = the set,  runs(n + k) = runs(n) & (runs(n) >> k)  for k <= n     (where n + k consecutive members start)
  // it is runs(units) & multiples. Cost O(log units x words).
  [[nodiscard]] UnitSet positions(int units, int align_log2) const {
    return units == 1 && align_log2 == 0 ? *this : tuple_positions(units, align_log2);
  }

 private:
  [[nodiscard]] UnitSet tuple_positions(int units, int align_log2) const {
    UnitSet p = *this;
    for (int have = 1; have < units;) {
      const int more = std::min(have, units - have);
      p &= p.shifted_down(more);
      have += more;
    }
    if (align_log2 == 0) return p;
    // Bit k of each word is a multiple of 2^a, a < 7, where k is; of 128 and 256 only every second and fourth word has one.
    static constexpr std::uint64_t kMultiples[] = {~std::uint64_t{0},
                                                   0x5555555555555555,
                                                   0x1111111111111111,
                                                   0x0101010101010101,
                                                   0x0001000100010001,
                                                   0x0000000100000001,
                                                   1,
                                                   1,
                                                   1};
    for (std::size_t w = 0; w < p.words_.size(); ++w)
      p.words_[w] &= (w << 6 & ((std::size_t{1} << align_log2) - 1)) == 0 ? kMultiples[align_log2] : 0;
    return p;
  }
  // Those of [begin, end) that are in [0, 64); begin < end, end > 0.
  static std::uint64_t bits(int begin, int end) {
    return ~std::uint64_t{0} << std::max(begin, 0) & ~std::uint64_t{0} >> (64 - std::min(end, 64));
  }
  static std::uint64_t bit(int unit) { return std::uint64_t{1} << (unit & 63); }
  std::uint64_t& word(int unit) { return words_[static_cast<std::size_t>(unit >> 6)]; }
  // Unit u is in the result where u + by is in the set; by in [1, 63].
  [[nodiscard]] UnitSet shifted_down(int by) const {
    UnitSet s;
    for (std::size_t w = 0; w + 1 < words_.size(); ++w) s.words_[w] = words_[w] >> by | words_[w + 1] << (64 - by);
    s.words_.back() = words_.back() >> by;
    return s;
  }

  std::array<std::uint64_t, kWords> words_ = {};
};

}  // namespace regduel::reference
