#include "reference/colour/tiers.h"

#include <algorithm>

#include "base/random.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;

// Scalars that may be spilled, at these costs.
FileGraph graph_of(const std::vector<std::uint64_t>& costs, const std::vector<std::pair<NodeId, NodeId>>& edges) {
  FileGraph g;
  for (std::size_t n = 0; n < costs.size(); ++n) {
    g.add_node(static_cast<TempId>(n), Temp{});
    g.add_cost(static_cast<NodeId>(n), costs[n]);
  }
  g.finish_nodes();
  for (const auto& [a, b] : edges) g.add_edge(a, b);
  g.finish();
  return g;
}

// K = 2. Node 3 has two neighbours of low degree (0 and 1, 4 x 1 < 5 x 2), and goes first whatever the others cost.
TEST(Tiers, ManyLowNeighboursComeFirst) {
  const FileGraph g = graph_of({900, 800, 1000, 1}, {{0, 3}, {1, 3}});
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 2), {}), ElementsAre(3u, 2u, 0u, 1u));
}

// K = 4: nobody has four neighbours. The costliest first, by degree: 12 / max(0.8 x 3, 1) = 5 beats 4 / max(0.8 x 1, 1) = 4.
TEST(Tiers, ThenWhatCostsMostForItsDegree) {
  const FileGraph g = graph_of({12, 4, 3, 2}, {{0, 1}, {0, 2}, {0, 3}});
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 4), {}), ElementsAre(0u, 1u, 2u, 3u));
}

// The degree 5 is low for K = 5 (4 x 5 < 5 x 5), and not for K = 4 (4 x 5 = 5 x 4).
TEST(Tiers, EffectiveDegreesAreFourFifths) {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (NodeId a = 0; a < 6; ++a)
    for (NodeId b = a + 1; b < 6; ++b) edges.emplace_back(a, b);
  const FileGraph g = graph_of({1, 2, 3, 4, 5, 6}, edges);
  EXPECT_EQ(take_off_in_tiers(g, UnitSet::range(0, 5), {}).front(), 0u) << "five neighbours of low degree: tier 1";
  EXPECT_EQ(take_off_in_tiers(g, UnitSet::range(0, 4), {}).front(), 5u) << "tier 2";
  EXPECT_EQ(take_off_in_tiers(g, UnitSet::range(0, 5), {.factor = {1, 1}, .constraints = {}}).front(), 5u) << "5 is not below 5";
}

// Among what costs nothing the first is as good a victim as any.
TEST(Tiers, VictimsAreWhatCostsNothing) {
  const FileGraph g = graph_of({0, 0, 3}, {{0, 1}});
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 8), {}), ElementsAre(2u, 0u, 1u));
}

// The constraint edge makes 1 look as if it had two neighbours more: 10 / 1.6 instead of 10 / 1.
TEST(Tiers, ConstraintEdgesWeigh) {
  const FileGraph g = graph_of({9, 10}, {});
  const std::vector<ConstraintEdge> edges = {{0, 1, 2}};
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 8), {}), ElementsAre(1u, 0u));
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 8), {.constraints = edges}), ElementsAre(1u, 0u));
  const FileGraph three = graph_of({9, 10, 8}, {});
  const std::vector<ConstraintEdge> two = {{1, 2, 2}};
  EXPECT_THAT(take_off_in_tiers(three, UnitSet::range(0, 8), {.constraints = two}), ElementsAre(0u, 1u, 2u));
}

// Temps around an instruction cannot be spilled, and are taken off last.
TEST(Tiers, WhatCannotBeSpilledComesLast) {
  FileGraph g;
  g.add_node(0, Temp{});
  g.add_node(1, Temp{});
  g.finish_nodes();
  g.add_edge(0, 1);
  g.finish();
  g.add_cost(1, 5);
  EXPECT_THAT(take_off_in_tiers(g, UnitSet::range(0, 8), {}), ElementsAre(1u, 0u));
}

// Against the rules asked of all nodes at each step.
TEST(Tiers, AgainstASearchThroughAllNodes) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const std::size_t nodes = 1 + random.below(14);
    std::vector<std::uint64_t> costs;
    for (std::size_t n = 0; n < nodes; ++n) costs.push_back(random.below(30));
    std::vector<std::pair<NodeId, NodeId>> edges;
    std::vector<ConstraintEdge> constraints;
    std::vector<std::vector<int>> weight(nodes, std::vector<int>(nodes, 0)), is_edge = weight;
    for (NodeId a = 0; a < nodes; ++a)
      for (NodeId b = a + 1; b < nodes; ++b) {
        if (random.chance(40)) edges.emplace_back(a, b), ++weight[a][b], ++weight[b][a], is_edge[a][b] = is_edge[b][a] = 1;
        if (random.chance(10)) constraints.push_back({a, b, 2}), weight[a][b] += 2, weight[b][a] += 2;
      }
    const int k = 1 + static_cast<int>(random.below(6));
    std::vector<NodeId> left, expected;
    for (NodeId n = 0; n < nodes; ++n) left.push_back(n);
    while (!left.empty()) {
      const auto degree = [&](NodeId n) {
        int sum = 0;
        for (const NodeId m : left) sum += weight[n][m];
        return sum;
      };
      NodeId next = kNoNode;
      for (const NodeId n : left)
        if (next == kNoNode &&
            std::ranges::count_if(left, [&](NodeId m) { return is_edge[n][m] != 0 && 4 * degree(m) < 5 * k; }) >= k)
          next = n;
      const auto is_better = [&](NodeId a, NodeId b) {
        return costs[a] * static_cast<std::uint64_t>(std::max(4 * degree(b), 5)) >
               costs[b] * static_cast<std::uint64_t>(std::max(4 * degree(a), 5));
      };
      if (next == kNoNode) {
        next = left[0];
        for (const NodeId n : left)
          if (is_better(n, next)) next = n;
      }
      expected.push_back(next);
      std::erase(left, next);
    }
    EXPECT_EQ(take_off_in_tiers(graph_of(costs, edges), UnitSet::range(0, k), {.constraints = constraints}), expected);
  }
}

}  // namespace
}  // namespace regduel::reference
