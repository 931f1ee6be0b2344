// A set of units of one register file. Tested by unit_set_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "ir/registers.h"

namespace regduel::allocator {

struct UnitSet {
  static constexpr std::size_t kWords = ir::kMaxUnits / 64;
  std::uint64_t words[kWords] = {};

  // The units of [lo, hi), as far as there are such.
  [[nodiscard]] static UnitSet range(int lo, int hi) {
    UnitSet set;
    set.set_range(lo, hi);
    return set;
  }
  // Visits the words that have units of [lo, hi): visit(word, its bits in [lo, hi)).
  template <class Visit>
  static constexpr void for_each_word(int lo, int hi, Visit visit) {
    const auto end = static_cast<unsigned>(std::min(hi, ir::kMaxUnits));
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
  // The lowest unit, kMaxUnits where there is none.
  [[nodiscard]] int first() const {
    for (std::size_t w = 0; w < kWords; ++w)
      if (words[w] != 0) return static_cast<int>(w) * 64 + std::countr_zero(words[w]);
    return ir::kMaxUnits;
  }

  void set(int unit) { words[unit / 64] |= std::uint64_t{1} << (unit % 64); }
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
};

[[nodiscard]] inline UnitSet units_of(ir::PReg r) { return UnitSet::range(r.begin(), r.end()); }

}  // namespace regduel::allocator
