#include "allocator/assign/lanes.h"

#include <array>

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

using Array = std::array<std::int32_t, 48>;

Array numbered() {
  Array a;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(1000 * i + 7);
  return a;
}

// Both forms, and the one that the width chooses, do the same to every stretch, and nothing outside of it.
TEST(Lanes, ScalarAndVectorAgreeOnEveryOffsetAndWidth) {
  for (int lo = 0; lo <= 20; ++lo)
    for (int hi = lo; hi <= 48; ++hi) {
      Array expected = numbered(), vectors = numbered(), chosen = numbered();
      scalar::add(expected.data(), lo, hi, -5);
      vector::add(vectors.data(), lo, hi, -5);
      add_weight(chosen.data(), lo, hi, -5);
      ASSERT_EQ(vectors, expected) << lo << ' ' << hi;
      ASSERT_EQ(chosen, expected) << lo << ' ' << hi;
      for (int i = 0; i < 48; ++i) ASSERT_EQ(expected[static_cast<std::size_t>(i)], 1000 * i + 7 - (i >= lo && i < hi ? 5 : 0));

      scalar::add_every_second(expected.data(), lo, hi, 3);
      vector::add_every_second(vectors.data(), lo, hi, 3);
      add_weight_every_second(chosen.data(), lo, hi, 3);
      ASSERT_EQ(vectors, expected) << lo << ' ' << hi;
      ASSERT_EQ(chosen, expected) << lo << ' ' << hi;
      for (int i = 0; i < 48; ++i)
        ASSERT_EQ(expected[static_cast<std::size_t>(i)],
                  1000 * i + 7 - (i >= lo && i < hi ? 5 : 0) + (i >= lo && i < hi && (i - lo) % 2 == 0 ? 3 : 0));

      scalar::zero(expected.data(), lo, hi);
      vector::zero(vectors.data(), lo, hi);
      zero_weights(chosen.data(), lo, hi);
      ASSERT_EQ(vectors, expected) << lo << ' ' << hi;
      ASSERT_EQ(chosen, expected) << lo << ' ' << hi;
      for (int i = lo; i < hi; ++i) ASSERT_EQ(expected[static_cast<std::size_t>(i)], 0);
    }
}

// Two stretches of one array that overlap, one after the other.
TEST(Lanes, ScalarAndVectorAgreeOnEveryOverlap) {
  for (int a = 0; a <= 16; ++a)
    for (int b = 0; b <= 16; ++b)
      for (int width = 0; width <= 32; ++width) {
        Array expected = numbered(), vectors = numbered();
        scalar::add(expected.data(), a, a + width, 2);
        scalar::add_every_second(expected.data(), b, b + width, 11);
        vector::add(vectors.data(), a, a + width, 2);
        vector::add_every_second(vectors.data(), b, b + width, 11);
        ASSERT_EQ(vectors, expected) << a << ' ' << b << ' ' << width;
      }
}

}  // namespace
}  // namespace regduel::allocator
