// The functions that afl-fuzz calls, as it calls them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "duel/case.h"

extern "C" {
void* afl_custom_init(void* afl_state, unsigned int seed);
std::size_t afl_custom_fuzz(void* data, std::uint8_t* bytes, std::size_t size, std::uint8_t** out, std::uint8_t* other,
                            std::size_t other_size, std::size_t max_size);
void afl_custom_deinit(void* data);
}

namespace regduel::targets {
namespace {

std::vector<std::vector<std::uint8_t>> children(unsigned int seed, std::size_t max_size) {
  std::vector<std::uint8_t> bytes = duel::encode_case(duel::derive_case(1, 40)),
                            other = duel::encode_case(duel::derive_case(2, 40));
  void* const mutator = afl_custom_init(nullptr, seed);
  std::vector<std::vector<std::uint8_t>> all;
  for (int k = 0; k < 40; ++k) {
    std::uint8_t* out = nullptr;
    const bool alone = k % 2 == 0;
    const std::size_t size = afl_custom_fuzz(mutator, bytes.data(), bytes.size(), &out, alone ? nullptr : other.data(),
                                             alone ? 0 : other.size(), max_size);
    all.emplace_back(out, out + size);
  }
  afl_custom_deinit(mutator);
  return all;
}

TEST(AflMutator, MakesAnotherInputEachTime) {
  const auto all = children(1, 1 << 16);
  int unlike_the_last = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(duel::encode_case(duel::decode_case(all[k])), all[k]);
    unlike_the_last += k > 0 && all[k] != all[k - 1] ? 1 : 0;
  }
  EXPECT_GE(unlike_the_last, 35);
  EXPECT_EQ(all, children(1, 1 << 16));
  EXPECT_NE(all, children(2, 1 << 16));
}

TEST(AflMutator, KeepsToTheSizeAskedFor) {
  for (const auto& child : children(3, 300)) EXPECT_LE(child.size(), 300u);
}

}  // namespace
}  // namespace regduel::targets
