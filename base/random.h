// A fixed pseudo-random generator (SplitMix64) and the hash that goes with it: the same numbers from every compiler,
// library and machine. std::uniform_int_distribution is not used anywhere, since its output is not specified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace regduel {

// A bijective mix of 64 bits (the finaliser of SplitMix64).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
[[nodiscard]] constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  return mix64(a ^ (b * 0xD6E8FEB86659FD93ull + 0x2545F4914F6CDD1Dull + (a << 6) + (a >> 2)));
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(mix64(seed)) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, n), n >= 1 and below 2^32. Multiply-shift: the bias is below 2^-32.
  constexpr std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }
  // Uniform in [lo, hi], both included, 0 <= lo <= hi.
  constexpr int between(int lo, int hi) { return lo + static_cast<int>(below(static_cast<std::uint32_t>(hi - lo + 1))); }
  // True in `percent` of 100 cases.
  constexpr bool chance(int percent) { return below(100) < static_cast<std::uint32_t>(percent < 0 ? 0 : percent); }
  // A generator of its own stream, independent of the numbers still to come from this one.
  constexpr Random fork(std::uint64_t stream) { return Random(hash_combine(next(), stream)); }

 private:
  std::uint64_t state_;
};

// Puts a list, or a view of one, into a random order. Draws a number for each element but the first, from the last one on.
template <class List>
constexpr void shuffle(Random& random, List&& list) {
  for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random.below(static_cast<std::uint32_t>(k))]);
}

}  // namespace regduel
