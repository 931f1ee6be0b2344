// Where a mark holds, on small graphs.

#include "oracles/uniform/marks.h"

#include <string>
#include <vector>

#include "oracles/testing.h"

namespace regduel::oracles::uniform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// b0 goes to b1 or b2, which both go to b3; that goes back to b0, or to b4.
const std::string kDiamondInALoop = R"(
  vreg %0 P pred
  block b0
    #5 %0 = p            | P0 = p
    #0 cbra %0 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #1 bra -> b3
  block b2
    #2 bra -> b3
  block b3
    #3 cbra %0 -> b0, b4 | cbra P0 -> b0, b4
  block b4
    #4 exit
)";

// b1 and b2 are a loop with two ways into it: through b5, and straight.
const std::string kLoopWithTwoEntries = R"(
  vreg %0 P pred
  block b0
    #9 %0 = p            | P0 = p
    #0 cbra %0 -> b5, b2 | cbra P0 -> b5, b2
  block b1
    #1 cbra %0 -> b4, b2 | cbra P0 -> b4, b2
  block b2
    #2 cbra %0 -> b1, b3 | cbra P0 -> b1, b3
  block b3
    #3 exit
  block b4
    #4 exit
  block b5
    #5 bra -> b1
)";

// From b2 at the bottom of the loop the one way on is around it.
const std::string kLoop = R"(
  vreg %0 P pred
  block b0
    #9 %0 = p            | P0 = p
    #0 cbra %0 -> b1, b3 | cbra P0 -> b1, b3
  block b1
    #1 cbra %0 -> b2, b4 | cbra P0 -> b2, b4
  block b2
    #2 bra -> b1
  block b3
    #3 exit
  block b4
    #4 exit
)";

struct Graph {
  explicit Graph(const std::string& text)
      : pair(testing::side_by_side(text)), before(testing::parse_function(pair.before_text())),
        after(testing::parse_function(pair.after_text())), target(*ir::find_target(before.target)),
        the_case(before, after, target, testing::limits_of(before, 255)), plan(*symbolic::make_plan(the_case)) {}

  testing::Pair pair;
  ir::Function before, after;
  ir::Target target;
  Case the_case;
  symbolic::Plan plan;
};

// The blocks where a value that is marked at `marked` holds, if it is made in b`made`.
std::vector<std::uint32_t> blocks_with(const std::vector<std::uint32_t>& marked, std::uint32_t made,
                                       const std::vector<char>& varies, const std::string& graph = kDiamondInALoop) {
  Graph g(graph);
  const Value v = g.plan.values.add_leaves(ValueKind::Def, 0);
  Marks marks(g.plan);
  for (const std::uint32_t b : marked) marks.add_at(v, b);
  EXPECT_FALSE(marks.has(v));
  marks.drop_local([](Value) { return false; });
  marks.show_local();
  EXPECT_EQ(marks.has(v), !marked.empty());
  const auto blocks_of = [&](Value) { return std::vector{made}; };
  marks.settle(std::vector<char>(g.plan.blocks.size(), 1), blocks_of);
  marks.move_to(g.plan.order.front());
  marks.settle(varies, blocks_of);
  std::vector<std::uint32_t> found;
  for (std::uint32_t b = 0; b < g.plan.blocks.size(); ++b) {
    marks.move_to(b);
    if (marks.has(v)) found.push_back(b);
  }
  return found;
}

const std::vector<char> kAllVary = {1, 0, 0, 1, 0}, kNoneVaries(5, 0);

TEST(Marks, AMarkOnOneWayHoldsThere) {
  EXPECT_THAT(blocks_with({1}, 0, kAllVary), ElementsAre(1));
  EXPECT_THAT(blocks_with({4}, 0, kAllVary), ElementsAre(4));
  EXPECT_THAT(blocks_with({}, 0, kAllVary), IsEmpty());
}

TEST(Marks, AMarkHoldsBehindABlockThroughWhichEachPathGoes) {
  EXPECT_THAT(blocks_with({0}, 0, kAllVary), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Marks, AMarkHoldsBeforeABlockThroughWhichEachPathGoes) {
  EXPECT_THAT(blocks_with({1, 2}, 0, kAllVary), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(blocks_with({4}, 4, kAllVary), ElementsAre(0, 1, 2, 3, 4));
  // Each lap makes another value.
  EXPECT_THAT(blocks_with({3}, 0, kAllVary), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(blocks_with({3}, 2, kAllVary), ElementsAre(1, 2, 3, 4));
}

TEST(Marks, OneOfTheWaysThatAllThreadsTakeIsEnoughBeforeThem) {
  EXPECT_THAT(blocks_with({1}, 0, kNoneVaries), ElementsAre(0, 1));
  EXPECT_THAT(blocks_with({1}, 0, {0, 0, 0, 1, 0}), ElementsAre(0, 1));
}

TEST(Marks, WhatComesAroundALoopIsTakenBack) {
  EXPECT_THAT(blocks_with({5}, 0, std::vector<char>(6, 1), kLoopWithTwoEntries), ElementsAre(5));
  EXPECT_THAT(blocks_with({3}, 0, std::vector<char>(5, 1), kLoop), ElementsAre(3));
  EXPECT_THAT(blocks_with({4}, 0, std::vector<char>(5, 1), kLoop), ElementsAre(1, 2, 4));
}

TEST(Marks, ALocalMarkMayBeDroppedAndOneMayHoldEverywhere) {
  Graph g(kDiamondInALoop);
  const Value x = g.plan.values.add_leaves(ValueKind::Def, 0, 3);
  Marks marks(g.plan);
  marks.add_at(x, 1), marks.add_at(x + 1, 1), marks.add(x + 1), marks.add(x + 2), marks.add_at(x + 2, 1);
  EXPECT_FALSE(marks.is_everywhere(x));
  EXPECT_TRUE(marks.is_everywhere(x + 1));
  EXPECT_TRUE(marks.is_everywhere(x + 2));
  marks.drop_local([&](Value v) {
    EXPECT_EQ(v, x);
    return marks.has(v + 1) && !marks.has(v);
  });
  EXPECT_FALSE(marks.has_local());
  EXPECT_FALSE(marks.has(x));
  EXPECT_TRUE(marks.has(x + 1));
}

}  // namespace
}  // namespace regduel::oracles::uniform
