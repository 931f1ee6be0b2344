#include "reference/colour/file_graph.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::reference {
namespace {

TEST(FileGraph, WorstCountsBlockedPositions) {
  FileGraph g;
  Temp scalar, pair, loose_pair, quad;
  pair.units = loose_pair.units = 2;
  pair.align_log2 = 1;
  quad.units = 4;
  quad.align_log2 = 2;
  const NodeId s = g.add_node(0, scalar), p = g.add_node(1, pair), l = g.add_node(2, loose_pair), q = g.add_node(3, quad);
  g.finish_nodes();
  EXPECT_EQ(g.worst(s, q), 4);
  EXPECT_EQ(g.worst(p, s), 1);
  EXPECT_EQ(g.worst(p, p), 1);
  EXPECT_EQ(g.worst(p, l), 2);
  EXPECT_EQ(g.worst(p, q), 2);
  EXPECT_EQ(g.worst(q, p), 1);
  EXPECT_EQ(g.worst(q, l), 2);
  EXPECT_EQ(g.worst(l, s), 2);
  EXPECT_EQ(g.worst(l, l), 3);
}

TEST(FileGraph, MergedNodesKeepTheNeighboursOfBoth) {
  FileGraph g;
  for (TempId t = 0; t < 4; ++t) g.add_node(t, {});
  g.finish_nodes();
  g.add_edge(0, 2);
  g.add_edge(1, 2);
  g.add_edge(1, 3);
  g.finish();
  g.merge(0, 1);
  EXPECT_TRUE(g.interferes(0, 3));
  EXPECT_TRUE(g.interferes(3, 0));
  EXPECT_EQ(g.squeeze(2), 1);
  EXPECT_EQ(g.find(1), 0u);
}

TEST(FileGraph, FlattenedNodesAreWhatTheyWereBefore) {
  FileGraph g;
  for (TempId t = 0; t < 6; ++t) g.add_node(t, {});
  g.finish_nodes();
  g.finish();
  for (const auto& [kept, gone] : {std::pair{1, 0}, {2, 1}, {3, 2}, {5, 4}}) g.merge(kept, gone);
  g.flatten();
  for (NodeId n = 0; n < 6; ++n) EXPECT_EQ(g.find(n), n < 4 ? 3u : 5u) << n;
  g.merge(3, 5);
  for (NodeId n = 0; n < 6; ++n) EXPECT_EQ(g.find(n), 3u) << n;
}

// Each edge once, both ways, in the order in which it was found first, however often and in whichever direction that was; in a
// small graph, which has a triangle of bits, and in one like a large graph, which has none.
TEST(FileGraph, DuplicatesAreDroppedInPlace) {
  constexpr NodeId kNodes = 40;
  for (const bool is_small : {true, false}) {
    Random random(3);
    FileGraph g;
    for (TempId t = 0; t < kNodes; ++t) g.add_node(t, {});
    if (is_small) g.finish_nodes();
    std::vector<std::vector<NodeId>> expected(kNodes);
    for (int k = 0; k < 400'000; ++k) {
      const NodeId a = random.below(kNodes);
      std::vector<NodeId> bs(k < 1000 ? 1 : 50);
      for (NodeId& b : bs) b = random.below(kNodes);
      g.add_edges(a, bs);
      for (const NodeId b : bs) {
        if (a == b || std::ranges::find(expected[a], b) != expected[a].end()) continue;
        expected[a].push_back(b);
        expected[b].push_back(a);
      }
    }
    g.finish();
    for (NodeId n = 0; n < kNodes; ++n) {
      std::vector<NodeId> neighbours;
      g.for_neighbours(n, [&](NodeId m) { neighbours.push_back(m); });
      EXPECT_EQ(neighbours, expected[n]) << n;
      EXPECT_EQ(g.squeeze(n), static_cast<int>(expected[n].size()));
    }
  }
}

// count_positions() = positions().count(), whatever is forbidden.
// 0, 1 and 3 may not stand in R0:R3, and interfere; 2 interferes with them and may.
TEST(FileGraph, AConfinedCliqueIsOfNodesThatMayStandNowhereElse) {
  FileGraph g;
  for (TempId t = 0; t < 5; ++t) {
    Temp temp;
    temp.units = t == 3 ? 2 : 1;
    g.add_node(t, temp);
  }
  g.finish_nodes();
  for (const auto& [a, b] : std::vector<std::pair<NodeId, NodeId>>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}})
    g.add_edge(a, b);
  for (const NodeId n : {0u, 1u, 3u, 4u}) g.forbid(n, UnitSet::range(0, 4));
  g.forbid(3, UnitSet::range(8, 9));
  g.finish();
  EXPECT_EQ(g.confined_clique_units(0), 4);
  EXPECT_EQ(g.confined_clique_units(1), 4);
  EXPECT_EQ(g.confined_clique_units(4), 3);
  EXPECT_EQ(g.confined_clique_units(3), 2);
}

TEST(FileGraph, PositionsAreCountedAsTheyAreListed) {
  FileGraph g;
  Temp pair;
  pair.units = 2;
  pair.align_log2 = 1;
  for (TempId t = 0; t < 4; ++t) g.add_node(t, t % 2 == 0 ? Temp{} : pair);
  g.forbid(2, UnitSet::range(3, 5));
  g.forbid(3, UnitSet::range(3, 5));
  for (int k = 1; k < 12; ++k) {
    const UnitSet available = UnitSet::range(0, k);
    for (NodeId n = 0; n < 4; ++n)
      EXPECT_EQ(g.count_positions(n, available, g.free_positions(available)), g.positions(n, available).count());
  }
}

// Whatever is merged into whatever, also with a stricter alignment or a register, the squeeze is the sum over the neighbours left.
TEST(FileGraph, MergingKeepsTheSqueezeUpToDate) {
  constexpr NodeId kNodes = 24;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    FileGraph g;
    for (NodeId n = 0; n < kNodes; ++n) {
      Temp t;
      t.units = n % 3 == 0 ? 1 : 2;
      t.align_log2 = static_cast<std::uint8_t>(t.units == 2 && random.chance(50) ? 1 : 0);
      if (n % 8 == 7) t.fixed = {ir::RegFile::R, t.units, static_cast<std::uint16_t>(2 * n)};
      g.add_node(n, t);
    }
    g.finish_nodes();
    for (int k = 0; k < 60; ++k) {
      const NodeId a = random.below(kNodes), b = random.below(kNodes);
      if (!g.is_fixed(a) && !g.is_fixed(b)) g.add_edge(a, b);
    }
    g.finish();
    int merges = 0;
    for (int k = 0; k < 60; ++k) {
      const NodeId a = g.find(random.below(kNodes)), b = g.find(random.below(kNodes));
      if (a == b || g.units(a) != g.units(b) || g.interferes(a, b)) continue;
      g.merge(a, b);
      ++merges;
      for (NodeId n = 0; n < kNodes; ++n) {
        if (g.is_merged(n) || g.is_fixed(n)) continue;
        int sum = 0;
        g.for_neighbours(n, [&](NodeId m) { sum += g.worst(n, m); });
        ASSERT_EQ(g.squeeze(n), sum) << "seed " << seed << ", node " << n;
      }
    }
    EXPECT_GT(merges, 3);
  }
}

}  // namespace
}  // namespace regduel::reference
