// The values of the execution judge: 64-bit hashes, one a byte, as execution.cpp defines them. Tested by plan_test.cpp and
// execution_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

#include "base/random.h"

namespace regduel::oracles::execution {

using Value = std::uint64_t;  // of one byte; 0 = undefined, and not named
using Bits = std::array<Value, 8>;

inline constexpr Value kDefined = 2;  // this bit is set in what is defined, and in nothing else

inline constexpr std::uint64_t kJoin = 0xD1342543DE82EF95ull, kPerDef = 0x9E3779B97F4A7C15ull, kPerByte = 0xDA942042E4DD58B5ull;
inline constexpr std::array<std::uint64_t, 32> kWeights = [] {
  std::array<std::uint64_t, 32> w = {};
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = mix64(0xC0FFEE + k) | 1;
  return w;
}();

// The bytes of one operand: their hash, whether one of them is undefined, whether the two sides differ at all.
struct Reading {
  std::uint64_t sum = 0, difference = 0;
  bool is_undefined = false;
};
template <class Size>  // a constant for the usual widths
[[gnu::always_inline]] inline Reading read_cells(const Value* before, const Value* after, Size size) {
  Reading r;
  Value common = kDefined;
  for (std::uint32_t k = 0; k < size; ++k) {
    const Value v = before[k];
    r.sum += v * kWeights[k % kWeights.size()];
    r.difference |= v ^ after[k];
    common &= v;
  }
  r.is_undefined = common == 0;
  return r;
}
template <std::uint32_t kSize>
using Width = std::integral_constant<std::uint32_t, kSize>;

[[nodiscard]] inline bool is_defined(Value v) { return (v & kDefined) != 0; }
[[nodiscard]] inline Value negated(Value v, bool negate) { return v != 0 && negate ? v ^ 1 : v; }
[[nodiscard]] inline bool is_true(Value v) { return (v & 1) != 0; }

// The values of one run.
class RunValues {
 public:
  RunValues() = default;
  // Runs 0 and 1 set bit 0 of all values, and clear it.
  RunValues(std::uint64_t salt, int run) : salt_(salt), keeps_(run == 1 ? ~1ull : ~0ull), sets_(run == 0 ? 1ull : 0ull) {}

  [[nodiscard]] std::uint64_t salt() const { return salt_; }
  // Bit 0 is the truth of a predicate.
  [[nodiscard]] Value shaped(std::uint64_t v) const { return ((v | kDefined) & keeps_) | sets_; }
  [[nodiscard]] Value value_of(std::uint64_t hash) const { return shaped(mix64(hash)); }
  [[nodiscard]] Value undefined_of(std::uint64_t hash) const { return value_of(salt_ ^ hash) & ~kDefined; }
  [[nodiscard]] Value next_undefined() { return undefined_of(++num_undefined_); }
  [[nodiscard]] Bits bits_of(Value v) const {
    if (const auto it = packs_.find(v); it != packs_.end()) return it->second;
    Bits bits;
    for (std::size_t k = 0; k < bits.size(); ++k) {
      const std::uint64_t hash = hash_combine(v, 0xB17 + k);
      bits[k] = is_defined(v) ? value_of(hash) : undefined_of(hash);
    }
    return bits;
  }
  // The byte whose bits are `bits`: undefined if they all are, `base` itself if those are its own.
  [[nodiscard]] Value byte_of(const Bits& bits, Value base) {
    if (bits_of(base) == bits) return base;
    std::uint64_t hash = 0xB17E;
    for (const Value b : bits) hash = hash_combine(hash, b);
    const Value v = std::ranges::any_of(bits, is_defined) ? value_of(hash) : undefined_of(hash);
    packs_.emplace(v, bits);
    return v;
  }
  // What is known of a byte that holds the one or the other: the bits in which they agree.
  [[nodiscard]] Value common(Value a, Value b) {
    Bits bits = bits_of(a);
    const Bits others = bits_of(b);
    for (std::size_t k = 0; k < bits.size(); ++k)
      if (bits[k] != others[k]) bits[k] = next_undefined();
    return byte_of(bits, a);
  }

 private:
  std::uint64_t salt_ = 0, keeps_ = 0, sets_ = 0;
  std::uint64_t num_undefined_ = 0;  // undefined bytes that were named so far
  std::unordered_map<Value, Bits> packs_;
};

}  // namespace regduel::oracles::execution
