#include "targets/bytes_mutator.h"

#include <string_view>

#include <gtest/gtest.h>

#include "duel/case.h"

namespace regduel::targets {
namespace {

constexpr std::size_t kPlenty = 1 << 16;

std::vector<std::uint8_t> some_bytes(std::uint64_t seed, int size = 40) { return duel::encode_case(duel::derive_case(seed, size)); }

TEST(BytesMutator, MakesInputsOutOfInputsAndOfAnything) {
  int changed = 0;
  const std::string_view nothing_special = "no input at all";
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<std::uint8_t> parent =
        seed % 3 == 0 ? std::vector<std::uint8_t>(nothing_special.begin(), nothing_special.end()) : some_bytes(seed);
    const std::vector<std::uint8_t> child = mutate_bytes(parent, kPlenty, seed);
    EXPECT_EQ(duel::encode_case(duel::decode_case(child)), child);
    EXPECT_EQ(child, mutate_bytes(parent, kPlenty, seed));
    changed += child == parent ? 0 : 1;
  }
  EXPECT_GE(changed, 50);
}

TEST(BytesMutator, CrossesTwoInputs) {
  int unlike_both = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto a = some_bytes(2 * seed), b = some_bytes(2 * seed + 1);
    const auto child = cross_bytes(a, b, kPlenty, seed);
    EXPECT_EQ(duel::encode_case(duel::decode_case(child)), child);
    EXPECT_EQ(child, cross_bytes(a, b, kPlenty, seed));
    unlike_both += child == a || child == b ? 0 : 1;
  }
  EXPECT_GE(unlike_both, 20);
}

TEST(BytesMutator, KeepsToTheSizeThatTheEngineAsksFor) {
  const auto large = some_bytes(7, 2000), other = some_bytes(8, 2000);
  ASSERT_GT(large.size(), 4096u);
  for (const std::size_t most : {std::size_t{0}, std::size_t{8}, std::size_t{300}, std::size_t{4096}, large.size()}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (const auto& child : {mutate_bytes(large, most, seed), cross_bytes(large, other, most, seed)}) {
        EXPECT_LE(child.size(), most);
        // Below the size of the head and of an empty program nothing fits.
        EXPECT_EQ(child.empty(), most <= 8) << most;
        if (!child.empty()) {
          EXPECT_EQ(duel::encode_case(duel::decode_case(child)), child);
        }
      }
    }
  }
}

}  // namespace
}  // namespace regduel::targets
