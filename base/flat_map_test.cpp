#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "base/random.h"

namespace regduel {
namespace {

TEST(FlatMap, AgreesWithStdUnorderedMap) {
  for (const std::uint64_t seed : {7u, 8u}) {
    FlatMap map;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    Random random(seed);
    for (std::uint32_t k = 0; k < 20'000; ++k) {
      const std::uint64_t key = random.chance(50) ? random.below(3000) : static_cast<std::uint64_t>(random.below(500)) << 38;
      const auto [at, is_new] = expected.try_emplace(key, k);
      std::uint32_t& value = map.at(key, k);
      ASSERT_EQ(value, at->second) << key << (is_new ? " is new" : "");
      if (random.chance(20)) value = at->second = random.below(1000);
    }
    EXPECT_EQ(map.size(), expected.size());
  }
}

TEST(FlatMap, KeepsWhatItHoldsWhenRoomIsMade) {
  FlatMap map;
  map.at(5, 50);
  map.reserve(1000);
  EXPECT_EQ(map.at(5, 0), 50u);
  EXPECT_EQ(map.size(), 1u);
}

}  // namespace
}  // namespace regduel
