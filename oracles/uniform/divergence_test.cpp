// Blocks at which two ways from a branch meet first, on small graphs.

#include "oracles/uniform/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::oracles::uniform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Blocks are numbered in reverse postorder.
std::vector<std::uint32_t> meeting_points(const Blocks& successors, std::uint32_t branch) {
  Blocks predecessors(successors.size());
  std::vector<std::uint32_t> order, found;
  std::vector<char> meets(successors.size(), 0);
  for (std::uint32_t b = 0; b < successors.size(); ++b) {
    order.push_back(b);
    for (const std::uint32_t s : successors[b]) predecessors[s].push_back(b);
  }
  mark_meeting_points(successors, predecessors, order, branch, meets);
  for (std::uint32_t b = 0; b < meets.size(); ++b)
    if (meets[b] != 0) found.push_back(b);
  return found;
}

TEST(Divergence, TheWaysOfADiamondMeetAtItsEnd) {
  EXPECT_THAT(meeting_points({{1, 2}, {3}, {3}, {4}, {}}, 0), ElementsAre(3));
  EXPECT_THAT(meeting_points({{1, 2}, {2}, {}}, 0), ElementsAre(2));
  EXPECT_THAT(meeting_points({{1, 1}, {}}, 0), IsEmpty());
}

TEST(Divergence, TheExitOfALoopIsNoMeetingPoint) {
  EXPECT_THAT(meeting_points({{1}, {1, 2}, {}}, 1), IsEmpty());
  // A loop with two exits that meet behind it.
  EXPECT_THAT(meeting_points({{1}, {2, 3}, {1, 3}, {}}, 1), ElementsAre(3));
}

TEST(Divergence, WaysThatBothGoAroundMeetAtTheHeadOfTheLoop) {
  EXPECT_THAT(meeting_points({{1}, {2, 3}, {1}, {1, 4}, {}}, 1), ElementsAre(1));
}

// 3 is reached from one way alone until the way from 2 comes in at 4, behind which the two are one.
TEST(Divergence, BehindAMeetingPointTheWaysAreOne) {
  EXPECT_THAT(meeting_points({{1, 2}, {3}, {4}, {4}, {5, 6}, {7}, {7}, {}}, 0), ElementsAre(4));
  EXPECT_THAT(meeting_points({{1, 2}, {3}, {4}, {4}, {5, 6}, {7}, {7}, {}}, 4), ElementsAre(7));
}

// A label that a back edge changes late changes the labels behind it, too: 4 has one way in, from 3.
TEST(Divergence, ALateLabelIsNoMeetingPoint) {
  EXPECT_THAT(meeting_points({{1, 5}, {2}, {3}, {4, 6}, {7}, {2}, {2}, {}}, 0), ElementsAre(2));
}

}  // namespace
}  // namespace regduel::oracles::uniform
