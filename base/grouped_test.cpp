#include "base/grouped.h"

#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Grouped, ItemsOfOneKeyKeepTheirOrder) {
  const Grouped<int> g(3, [](auto add) { add(2, 7), add(0, 8), add(2, 9); });
  EXPECT_THAT(g[0], ElementsAre(8));
  EXPECT_THAT(g[1], IsEmpty());
  EXPECT_THAT(g[2], ElementsAre(7, 9));
  EXPECT_THAT(g.items(), ElementsAre(8, 7, 9));
  EXPECT_EQ(g.num_keys(), 3u);
  EXPECT_EQ(g.begin(2), 1u);
  EXPECT_EQ(g.begin(3), 3u);
}

TEST(Grouped, NoKeysAndNoItems) {
  EXPECT_EQ(Grouped<int>().num_keys(), 0u);
  EXPECT_EQ(Grouped<int>(0, [](auto) {}).num_keys(), 0u);
  EXPECT_THAT(Grouped<int>(2, [](auto) {})[1], IsEmpty());
}

TEST(Grouped, OneThatIsBuiltAgainHoldsNothingOfWhatItHeldBefore) {
  Random random(7);
  Grouped<std::uint32_t> reused;
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t num_keys = random.below(20);
    std::vector<std::pair<std::size_t, std::uint32_t>> list;
    for (std::uint32_t n = num_keys == 0 ? 0 : random.below(60); n > 0; --n)
      list.emplace_back(random.below(num_keys), random.below(1000));
    std::map<std::size_t, std::vector<std::uint32_t>> expected;
    for (const auto& [key, item] : list) expected[key].push_back(item);
    reused.build_from(num_keys, list, [](const auto& p) { return p.first; }, [](const auto& p) { return p.second; });
    ASSERT_EQ(reused.num_keys(), num_keys);
    for (std::size_t k = 0; k < num_keys; ++k) ASSERT_THAT(reused[k], testing::ElementsAreArray(expected[k]));
  }
}

}  // namespace
}  // namespace regduel
