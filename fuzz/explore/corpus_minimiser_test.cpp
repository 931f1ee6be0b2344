#include "fuzz/explore/corpus_minimiser.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::fuzz {
namespace {

using ::testing::ElementsAre;

TEST(CorpusMinimiser, KeepsTheSmallestThatShowsAFeature) {
  const std::vector<std::uint32_t> one = {1}, two = {2};
  const std::vector<CorpusItem> items = {{one, 9}, {one, 3}, {two, 5}, {two, 5}};
  EXPECT_THAT(minimise_corpus(items), ElementsAre(false, true, true, false));
}

TEST(CorpusMinimiser, DropsWhatALargerOneMakesNeedless) {
  const std::vector<std::uint32_t> one = {1}, both = {1, 2};
  EXPECT_THAT(minimise_corpus(std::vector<CorpusItem>{{both, 9}, {one, 3}}), ElementsAre(true, false));
}

TEST(CorpusMinimiser, PinnedItemsStayAndCount) {
  const std::vector<std::uint32_t> one = {1}, none;
  EXPECT_THAT(minimise_corpus(std::vector<CorpusItem>{{one, 3}, {one, 100, true}, {none, 1, true}}),
              ElementsAre(false, true, true));
}

TEST(CorpusMinimiser, NothingIsLost) {
  const std::vector<std::vector<std::uint32_t>> sets = {{1, 2, 3}, {3, 4}, {4, 5}, {5, 6, 70000}, {1, 6}, {}};
  std::vector<CorpusItem> items;
  for (const auto& s : sets) items.push_back({s, 10});
  const std::vector<bool> kept = minimise_corpus(items);
  for (const std::uint32_t f : {1u, 2u, 3u, 4u, 5u, 6u, 70000u}) {
    bool is_shown = false;
    for (std::size_t k = 0; k < sets.size(); ++k)
      for (const std::uint32_t g : sets[k]) is_shown = is_shown || (kept[k] && g == f);
    EXPECT_TRUE(is_shown) << f;
  }
  EXPECT_FALSE(kept[5]);
}

TEST(Best, TakesWhatShowsMostFirst) {
  const std::vector<std::uint32_t> few = {1, 2}, many = {3, 4, 5, 7}, rest = {2, 5, 6}, seen = {4};
  const std::vector<CorpusItem> items = {{few, 1}, {many, 50}, {rest, 9}, {seen, 1}};
  EXPECT_THAT(select_most_covering(items, 10), ElementsAre(1, 0, 2));
  EXPECT_THAT(select_most_covering(items, 2), ElementsAre(1, 0)) << "few and rest show as much then: the smaller";
  EXPECT_THAT(select_most_covering(std::vector<CorpusItem>{{many, 50}, {seen, 1, true}}, 1), ElementsAre(1)) << "pinned ones first";
}

}  // namespace
}  // namespace regduel::fuzz
