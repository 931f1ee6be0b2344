#include "reference/colour/select.h"

#include "base/random.h"
#include "reference/colour/coalesce.h"
#include "reference/colour/simplify.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

FileGraph diamond() {  // a cycle of four: two colours suffice, though every degree is two
  FileGraph g;
  for (TempId t = 0; t < 4; ++t) g.add_node(t, {});
  g.finish_nodes();
  g.add_edge(0, 1);
  g.add_edge(1, 2);
  g.add_edge(2, 3);
  g.add_edge(3, 0);
  return g;
}

TEST(Select, OptimismColoursTheDiamondWithTwo) {
  FileGraph g = diamond();
  g.finish();
  const Colouring c = select(g, {0, 1, 2, 3}, {.available = UnitSet::range(0, 2), .last_resort = {}});
  EXPECT_TRUE(c.failed.empty());
  EXPECT_EQ(c.unit_of, (std::vector<int>{1, 0, 1, 0}));
}

TEST(Select, FailuresAreListed) {
  FileGraph g = diamond();
  g.add_edge(0, 2);
  g.finish();
  EXPECT_EQ(select(g, {0, 1, 2, 3}, {.available = UnitSet::range(0, 2), .last_resort = {}}).failed, (std::vector<NodeId>{0}));
}

TEST(Select, BiasTakesThePartnersColour) {
  FileGraph g = diamond();
  g.finish();
  FileGraph copy = g;
  copy.add_copy(1, 3, 1);
  const std::vector<NodeId> order = {1, 0, 2, 3};
  SelectOptions options{.available = UnitSet::range(0, 8), .last_resort = UnitSet::range(0, 1)};
  const Colouring biased = select(copy, order, options);
  EXPECT_EQ(biased.unit_of[1], biased.unit_of[3]);
  // The last resort is left alone as long as anything else is free.
  EXPECT_EQ(*std::min_element(biased.unit_of.begin(), biased.unit_of.end()), 1);
}

TEST(Select, TuplesAreAligned) {
  FileGraph g;
  Temp pair;
  pair.units = 2;
  pair.align_log2 = 1;
  g.add_node(0, {});
  g.add_node(1, pair);
  g.finish_nodes();
  g.add_edge(0, 1);
  g.finish();
  EXPECT_EQ(select(g, {1, 0}, {.available = UnitSet::range(0, 4), .last_resort = {}}).unit_of, (std::vector<int>{0, 2}));
}

// clique_units() > number of units implies that no order colours the graph, which is what lets the driver skip attempts: whatever
// is live with whatever, with clobbers and copies coalesced without test.
TEST(Select, NoOrderColoursACliqueWithFewerUnitsThanItHas) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    FileGraph g;
    const NodeId nodes = 4 + random.below(12);
    for (TempId t = 0; t < nodes; ++t) {
      Temp temp;
      temp.units = static_cast<std::uint8_t>(1 + random.below(2));
      g.add_node(t, temp);
    }
    g.finish_nodes();
    for (int k = random.between(10, 80); k > 0; --k) g.add_edge(random.below(nodes), random.below(nodes));
    for (NodeId n = 0; n < nodes; ++n) g.crowd().push_back(n);
    g.add_copy(random.below(nodes), random.below(nodes), 1);
    g.finish();
    ASSERT_GT(g.clique_units(), 0);
    const UnitSet units = UnitSet::range(0, g.clique_units() - 1);
    coalesce(g, {units, {}, false});
    for (const Optimism o : {Optimism::CheapestFirst, Optimism::SmallestLast})
      EXPECT_FALSE(select(g, simplify(g, units, o), {.available = units, .last_resort = {}}).failed.empty()) << seed;
  }
}

}  // namespace
}  // namespace regduel::reference
