#include "reference/exact/dimacs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Dimacs, ReadsEdgesOnce) {
  const auto g = parse_dimacs("c a square\r\n\np edge 4 5 7\ne 1 2\ne 2 1\ne 3 2\n e\t3 4 \ne 4 1", "g.col");
  ASSERT_TRUE(g.has_value()) << to_string(g.error());
  EXPECT_EQ(g->vertices, 4u);
  EXPECT_THAT(g->edges, ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 2), Pair(2, 3)));
  const FileGraph graph = graph_of(*g);
  EXPECT_EQ(graph.size(), 4u);
  EXPECT_EQ(graph.num_built_edges(), 4u);
  EXPECT_TRUE(graph.interferes(0, 3));
  EXPECT_FALSE(graph.interferes(0, 2));
  EXPECT_EQ(graph.cost(2), 1u);
}

TEST(Dimacs, PassesOverLoopsAndWeights) {
  const auto g = parse_dimacs("p edge 3 2\nn 1 70\ne 3 3\ne 1 3\n", "g.col");
  ASSERT_TRUE(g.has_value()) << to_string(g.error());
  EXPECT_THAT(g->edges, ElementsAre(Pair(0, 2)));
  EXPECT_EQ(g->loops, 1u);
  EXPECT_EQ(g->weights, 1u);
}

TEST(Dimacs, ReadsGraphsOfPace) {
  const auto g = parse_dimacs("c bare edges\np tw 3 2\n1 2\n3 2\n", "g.gr");
  ASSERT_TRUE(g.has_value()) << to_string(g.error());
  EXPECT_THAT(g->edges, ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(Dimacs, SaysWhereAFileIsWrong) {
  const auto error = [](std::string_view text) {
    const auto g = parse_dimacs(text, "g.col");
    return g ? std::string("none") : to_string(g.error());
  };
  EXPECT_EQ(error(""), "g.col: error: no line \"p edge VERTICES EDGES\"");
  EXPECT_EQ(error("e 1 2\n"), "g.col:1:1: error: an edge before the p line");
  EXPECT_EQ(error("p edge 4 1\nx 1 2\n"), "g.col:2:1: error: expected a line of c, p, e or n");
  EXPECT_EQ(error("p graph 4 1\n"), "g.col:1:3: error: expected edge, col or tw");
  EXPECT_EQ(error("p edge 0 1\n"), "g.col:1:8: error: expected a number from 1 to 100000");
  EXPECT_EQ(error("p edge 4\n"), "g.col:1:9: error: expected a number from 0 to 18446744073709551615");
  EXPECT_EQ(error("p edge 4 1\np edge 4 1\n"), "g.col:2:1: error: a second p line");
  EXPECT_EQ(error("p col 4 1\ne 1 5\n"), "g.col:2:5: error: expected a number from 1 to 4");
  EXPECT_EQ(error("p col 4 1\ne 1x 2\n"), "g.col:2:3: error: expected a number from 1 to 4");
  EXPECT_EQ(error("p col 4 1\n1 2\n"), "g.col:2:1: error: expected a line of c, p, e or n");
  EXPECT_EQ(error("p tw 4 1\n1 5\n"), "g.col:2:3: error: expected a number from 1 to 4");
}

}  // namespace
}  // namespace regduel::reference
