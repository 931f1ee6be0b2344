#include "reference/exact/clique.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::reference {
namespace {

int heaviest_by_trying(const FileGraph& g) {
  int most = 0;
  for (std::uint32_t set = 0; set < 1u << g.size(); ++set) {
    int units = 0;
    bool is_clique = true;
    for (NodeId a = 0; a < g.size(); ++a) {
      if ((set >> a & 1) == 0) continue;
      units += g.units(a);
      for (NodeId b = 0; b < a; ++b) is_clique = is_clique && ((set >> b & 1) == 0 || g.has_edge(a, b));
    }
    if (is_clique) most = std::max(most, units);
  }
  return most;
}

TEST(Clique, IsTheHeaviestOfAll) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    FileGraph g;
    const NodeId nodes = 1 + random.below(11);
    for (NodeId n = 0; n < nodes; ++n) {
      Temp t;
      t.units = static_cast<std::uint8_t>(1 + random.below(seed % 2 == 0 ? 1 : 4));
      g.add_node(n, t);
    }
    g.finish_nodes();
    const int percent = 20 + static_cast<int>(random.below(70));
    for (NodeId a = 0; a < nodes; ++a)
      for (NodeId b = a + 1; b < nodes; ++b)
        if (random.chance(percent)) g.add_edge(a, b);
    g.finish();
    std::vector<NodeId> all;
    for (NodeId n = 0; n < nodes; ++n) all.push_back(n);
    const Clique c = heaviest_clique(g, all);
    int units = 0;
    for (const NodeId a : c.nodes) {
      units += g.units(a);
      for (const NodeId b : c.nodes) ASSERT_TRUE(a == b || g.has_edge(a, b)) << "seed " << seed;
    }
    ASSERT_EQ(units, c.units) << "seed " << seed;
    ASSERT_EQ(c.units, heaviest_by_trying(g)) << "seed " << seed;
    ASSERT_TRUE(c.is_heaviest);
  }
}

TEST(Clique, SaysWhereTheStepsDidNotSuffice) {
  FileGraph g;
  for (NodeId n = 0; n < 40; ++n) g.add_node(n, {});
  g.finish_nodes();
  Random random(1);
  for (NodeId a = 0; a < 40; ++a)
    for (NodeId b = a + 1; b < 40; ++b)
      if (random.chance(80)) g.add_edge(a, b);
  g.finish();
  std::vector<NodeId> all;
  for (NodeId n = 0; n < 40; ++n) all.push_back(n);
  EXPECT_FALSE(heaviest_clique(g, all, 10).is_heaviest);
  EXPECT_TRUE(heaviest_clique(g, all).is_heaviest);
}

}  // namespace
}  // namespace regduel::reference
