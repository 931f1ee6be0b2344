#include "passes/nvptx/worklist.h"

#include <vector>

#include <gmock/gmock.h>

namespace regduel::passes::nvptx {
namespace {

using ::testing::ElementsAre;

TEST(Worklist, HottestThenLowestRegisterThenHeaviestThenInOrder) {
  const std::vector<Priority> priorities = {{0, 2, 9}, {0, 1, 3}, {0, 1, 7}, {0, 1, 3}, {0, 0, 1}, {5, 3, 0}};
  const std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5};
  std::vector<std::uint32_t> order;
  const int swaps = run_worklist(
      all, [&](std::uint32_t c) { return priorities[c]; },
      [&](std::uint32_t c) {
        order.push_back(c);
        return Outcome::Never;
      });
  EXPECT_THAT(order, ElementsAre(5, 4, 2, 1, 3, 0));
  EXPECT_EQ(swaps, 1);
}

TEST(Worklist, TriesAgainUntilNothingIsMerged) {
  const std::vector<std::uint32_t> all = {0, 1, 2, 3};
  // c can be merged once c + 1 is; 3 at once, 0 never.
  std::vector<char> merged(5, 0);
  merged[4] = 1;
  std::vector<std::uint32_t> order;
  const int swaps = run_worklist(
      all, [](std::uint32_t c) { return Priority{0, c, 0}; },
      [&](std::uint32_t c) {
        order.push_back(c);
        if (c == 0 || merged[c + 1] == 0) return Outcome::Later;
        merged[c] = 1;
        return Outcome::Merged;
      });
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 0, 1, 2, 0, 1, 0));
  EXPECT_EQ(swaps, 4);
}

TEST(Worklist, Stops) {
  const std::vector<std::uint32_t> all = {0, 1, 2};
  int tried = 0;
  run_worklist(
      all, [](std::uint32_t c) { return Priority{0, c, 0}; },
      [&](std::uint32_t) { return ++tried == 2 ? Outcome::Stop : Outcome::Merged; });
  EXPECT_EQ(tried, 2);
}

}  // namespace
}  // namespace regduel::passes::nvptx
