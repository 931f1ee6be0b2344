#include "reference/colour/simplify.h"

#include <tuple>

#include "base/random.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

TEST(Simplify, TakesEveryNodeOnce) {
  FileGraph g;
  for (TempId t = 0; t < 5; ++t) g.add_node(t, {});
  g.finish_nodes();
  for (NodeId a = 0; a < 5; ++a)
    for (NodeId b = 0; b < a; ++b) g.add_edge(a, b);
  g.finish();
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
  g.finish();
  g.add_cost(0, 5);
  g.add_cost(1, 2);
  g.add_cost(2, 9);
  EXPECT_EQ(simplify(g, UnitSet::range(0, 2), Optimism::CheapestFirst).front(), 1u);
}

// The node that the header describes, found by a search through all nodes at each step.
std::vector<NodeId> order_by_search(const FileGraph& g, const UnitSet& available, Optimism optimism) {
  std::vector<int> squeeze(g.size()), positions(g.size());
  std::vector<int> since(g.size(), 0);  // when the node got its present squeeze
  std::vector<bool> is_left(g.size(), true);
  for (NodeId n = 0; n < g.size(); ++n) {
    squeeze[n] = g.squeeze(n);
    positions[n] = g.positions(n, available).count();
    since[n] = static_cast<int>(n);
  }
  int now = static_cast<int>(g.size());
  std::vector<NodeId> order;
  while (order.size() < g.size()) {
    NodeId best = kNoNode;
    const auto width = [&](NodeId n) { return std::tuple(g.units(n), g.align_log2(n), n); };
    const auto is_low = [&](NodeId n) { return squeeze[n] < positions[n]; };
    const auto is_better = [&](NodeId a, NodeId b) {
      if (is_low(a) || is_low(b)) return is_low(a) && (!is_low(b) || width(a) < width(b));
      if (optimism == Optimism::SmallestLast)
        return std::tuple(squeeze[a] - positions[a], -since[a]) < std::tuple(squeeze[b] - positions[b], -since[b]);
      const std::uint64_t left = g.cost(a) * static_cast<std::uint64_t>(std::max(squeeze[b], 1));
      const std::uint64_t right = g.cost(b) * static_cast<std::uint64_t>(std::max(squeeze[a], 1));
      return left != right ? left < right : a < b;
    };
    for (NodeId n = 0; n < g.size(); ++n)
      if (is_left[n] && (best == kNoNode || is_better(n, best))) best = n;
    is_left[best] = false;
    order.push_back(best);
    g.for_neighbours(best, [&](NodeId m) {
      if (!is_left[m] || is_low(m)) return;
      squeeze[m] -= g.worst(m, best);
      since[m] = now++;
    });
  }
  return order;
}

TEST(Simplify, TakesTheNodesInTheOrderOfASearchThroughAll) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    FileGraph g;
    const NodeId nodes = 1 + random.below(40);
    for (TempId t = 0; t < nodes; ++t) {
      Temp temp;
      temp.units = static_cast<std::uint8_t>(1 << random.below(3));
      temp.align_log2 = static_cast<std::uint8_t>(temp.units == 4 ? 2 : random.below(temp.units));
      g.add_node(t, temp);
      if (random.chance(20)) g.forbid(t, UnitSet::range(0, random.between(1, 5)));
      if (random.chance(80)) g.add_cost(t, random.below(50));
    }
    g.finish_nodes();
    for (int k = random.between(0, 300); k > 0; --k) g.add_edge(random.below(nodes), random.below(nodes));
    g.finish();
    const UnitSet available = UnitSet::range(0, random.between(4, 12));
    for (const Optimism o : {Optimism::CheapestFirst, Optimism::SmallestLast})
      ASSERT_EQ(simplify(g, available, o), order_by_search(g, available, o)) << seed;
  }
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
  g.finish();
  EXPECT_EQ(simplify(g, UnitSet::range(0, 16), Optimism::SmallestLast), (std::vector<NodeId>{1, 0}));
}

}  // namespace
}  // namespace regduel::reference
