#include "fuzz/campaign/understanding_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::fuzz {
namespace {

TEST(UnderstandingQueueTest, ThePowersOfTwoAreUnderstood) {
  UnderstandingQueue queue;
  const Failure failure{"briggs", "structure/x@function"}, other{"fatpoint", "structure/x@function"};
  std::vector<int> wanted;
  for (int k = 1; k <= 20; ++k)
    if (queue.count(failure)) wanted.push_back(k);
  EXPECT_THAT(wanted, testing::ElementsAre(1, 2, 4, 8, 16));
  EXPECT_EQ(queue.cases_of(failure), 20u);
  EXPECT_EQ(queue.cases_of(other), 0u);
  EXPECT_TRUE(queue.count(other)) << "each failure is counted by itself";
}

TEST(UnderstandingQueueTest, IsInOrderAndTakesSoManyOfOneFailure) {
  UnderstandingQueue queue;
  const Failure failure{"briggs", "a"}, other{"briggs", "b"};
  for (std::uint64_t k = 0; k < kMostUnderstood; ++k) EXPECT_TRUE(queue.push({failure, {static_cast<std::uint8_t>(k)}, ""}));
  EXPECT_FALSE(queue.push({failure, {}, ""}));
  EXPECT_TRUE(queue.push({other, {}, "message"}));
  EXPECT_EQ(queue.size(), kMostUnderstood + 1);
  EXPECT_THAT(queue.pop()->input, testing::ElementsAre(0));
  const auto second = queue.pop();
  EXPECT_THAT(second->input, testing::ElementsAre(1));
  EXPECT_EQ(second->number, 1u);
  while (queue.size() > 1) static_cast<void>(queue.pop());
  const auto last = queue.pop();
  EXPECT_EQ(last->message, "message");
  EXPECT_EQ(last->number, kMostUnderstood) << "what is not taken has no number";
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.pop());
}

}  // namespace
}  // namespace regduel::fuzz
