#include "reference/colour/simplify.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

TEST(Simplify, TakesEveryNodeOnce) {
  FileGraph g;
  for (TempId t = 0; t < 5; ++t) g.add_node(t, {});
  g.finish_nodes();
  for (NodeId a = 0; a < 5; ++a)
    for (NodeId b = 0; b < a; ++b) g.add_edge(a, b);
  g.finish_edges();
  for (const Optimism o : {Optimism::CheapestFirst, Optimism::SmallestLast})
    EXPECT_THAT(simplify(g, UnitSet::range(0, 2), o), ::testing::UnorderedElementsAre(0u, 1u, 2u, 3u, 4u));
}

TEST(Simplify, TheCheapestGoesFirstWhereNothingIsTrivial) {
  FileGraph g;
  for (TempId t = 0; t < 3; ++t) g.add_node(t, {});
  g.finish_nodes();
  g.add_edge(0, 1);
  g.add_edge(0, 2);
  g.add_edge(1, 2);
  g.finish_edges();
  g.add_cost(0, 5);
  g.add_cost(1, 2);
  g.add_cost(2, 9);
  EXPECT_EQ(simplify(g, UnitSet::range(0, 2), Optimism::CheapestFirst).front(), 1u);
}

TEST(Simplify, NarrowBeforeWide) {
  FileGraph g;
  Temp quad;
  quad.units = 4;
  quad.align_log2 = 2;
  g.add_node(0, quad);
  g.add_node(1, {});
  g.finish_nodes();
  g.add_edge(0, 1);
  g.finish_edges();
  EXPECT_EQ(simplify(g, UnitSet::range(0, 16), Optimism::SmallestLast), (std::vector<NodeId>{1, 0}));
}

}  // namespace
}  // namespace regduel::reference
