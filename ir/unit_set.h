// A set of units of one register file, as a bit set of kMaxUnits bits.
//
// positions() answers the question that colouring with tuples asks again and again: at which aligned positions `units` consecutive
// members start. std::bitset and boost::dynamic_bitset answer it only bit by bit. Tested by unit_set_test.cpp against such a count.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/registers.h"

namespace regduel::ir {

struct UnitSet {
  static constexpr std::size_t kWords = kMaxUnits / 64;
  std::uint64_t words[kWords] = {};

  // The units of [lo, hi), as far as there are such.
  [[nodiscard]] static UnitSet range(int lo, int hi) {
    UnitSet set;
    set.set_range(lo, hi);
    return set;
  }
  // Bit b of word w is unit 64 w + b; further words are empty.
  [[nodiscard]] static UnitSet of_words(std::span<const std::uint64_t> words) {
    UnitSet set;
    std::copy(words.begin(), words.end(), set.words);
    return set;
  }
  // Visits the words that have units of [lo, hi): visit(word, its bits in [lo, hi)).
  template <class Visit>
  static constexpr void for_each_word(int lo, int hi, Visit visit) {
    const auto end = static_cast<unsigned>(std::min(hi, kMaxUnits));
    for (auto begin = static_cast<unsigned>(lo); lo < hi && begin < end; begin = (begin | 63) + 1) {
      const unsigned count = std::min(end - begin, 64 - begin % 64);
      visit(std::size_t{begin / 64}, (~std::uint64_t{0} >> (64 - count)) << (begin % 64));
    }
  }

  [[nodiscard]] bool has(int unit) const { return (words[unit / 64] >> (unit % 64) & 1) != 0; }
  // Whether some of [lo, hi), which is within [0, kMaxUnits), is in the set; whether all of it is.
  [[nodiscard]] bool has_any(int lo, int hi) const {
    std::uint64_t found = 0;
    for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) { found |= words[w] & mask; });
    return found != 0;
  }
  [[nodiscard]] bool has_all(int lo, int hi) const {
    std::uint64_t missing = 0;
    for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) { missing |= ~words[w] & mask; });
    return missing == 0;
  }
  [[nodiscard]] bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
  [[nodiscard]] bool none() const { return !any(); }
  [[nodiscard]] bool intersects(const UnitSet& o) const { return (*this & o).any(); }
  [[nodiscard]] int count() const {
    int sum = 0;
    for (const std::uint64_t word : words) sum += std::popcount(word);
    return sum;
  }
  // The highest unit + 1, 0 where there is none.
  [[nodiscard]] int end() const {
    for (std::size_t w = kWords; w-- > 0;)
      if (words[w] != 0) return static_cast<int>(w) * 64 + 64 - std::countl_zero(words[w]);
    return 0;
  }
  // The lowest unit that is at least `from`, -1 where there is none.
  [[nodiscard]] int next(int from) const {
    if (from >= kMaxUnits) return -1;
    auto w = static_cast<std::size_t>(from / 64);
    std::uint64_t bits = words[w] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++w == kWords) return -1;
      bits = words[w];
    }
    return static_cast<int>(w) * 64 + std::countr_zero(bits);
  }
  [[nodiscard]] int first() const { return next(0); }
  [[nodiscard]] int first_or(int otherwise) const { return any() ? first() : otherwise; }
  // Calls visit(unit) for each unit, the lowest first.
  template <class Visit>
  void for_each(Visit visit) const {
    for (int u = first(); u >= 0; u = next(u + 1)) visit(u);
  }
  // The multiples u of 2^align_log2 for which all of [u, u + units) is in the set; units in [1, 64], align_log2 in [0, 8]. With
  //   runs(1) = the set,  runs(n + k) = runs(n) & (runs(n) >> k)  for k <= n     (where n + k consecutive members start)
  // it is runs(units) & multiples. Cost O(log units x words).
  [[nodiscard]] UnitSet positions(int units, int align_log2) const {
    return units == 1 && align_log2 == 0 ? *this : tuple_positions(units, align_log2);
  }

  void set(int unit) { words[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  void clear(int unit) { words[unit / 64] &= ~(std::uint64_t{1} << (unit % 64)); }
  // [lo, hi) as far as there are such units; lo >= 0.
  void set_range(int lo, int hi) {
    for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) { words[w] |= mask; });
  }
  void clear_range(int lo, int hi) {
    for_each_word(lo, hi, [&](std::size_t w, std::uint64_t mask) { words[w] &= ~mask; });
  }

  UnitSet& operator|=(const UnitSet& o) {
    for (std::size_t w = 0; w < kWords; ++w) words[w] |= o.words[w];
    return *this;
  }
  UnitSet& operator&=(const UnitSet& o) {
    for (std::size_t w = 0; w < kWords; ++w) words[w] &= o.words[w];
    return *this;
  }
  // Without the units of another set.
  UnitSet& operator-=(const UnitSet& o) {
    for (std::size_t w = 0; w < kWords; ++w) words[w] &= ~o.words[w];
    return *this;
  }
  friend UnitSet operator|(UnitSet a, const UnitSet& b) { return a |= b; }
  friend UnitSet operator&(UnitSet a, const UnitSet& b) { return a &= b; }
  friend UnitSet operator-(UnitSet a, const UnitSet& b) { return a -= b; }
  friend auto operator<=>(const UnitSet&, const UnitSet&) = default;

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
    for (std::size_t w = 0; w < kWords; ++w)
      p.words[w] &= (w << 6 & ((std::size_t{1} << align_log2) - 1)) == 0 ? kMultiples[align_log2] : 0;
    return p;
  }
  // Unit u is in the result where u + by is in the set; by in [1, 63].
  [[nodiscard]] UnitSet shifted_down(int by) const {
    UnitSet s;
    for (std::size_t w = 0; w + 1 < kWords; ++w) s.words[w] = words[w] >> by | words[w + 1] << (64 - by);
    s.words[kWords - 1] = words[kWords - 1] >> by;
    return s;
  }
};

[[nodiscard]] inline UnitSet units_of(PReg r) { return UnitSet::range(r.begin(), r.end()); }

}  // namespace regduel::ir
