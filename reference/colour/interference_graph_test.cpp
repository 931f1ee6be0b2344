#include "reference/colour/interference_graph.h"

#include "base/random.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(InterferenceGraph, TheSourceOfACopyIsExcepted) {
  Phases p(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = copy %0\n#2 %2 = add %0\n#3 st %0, %1, %2 "
      "!write\n#4 exit\n");
  EXPECT_FALSE(p.graphs.node_of[0] == kNoNode);
  EXPECT_TRUE(p.interfere(0, 2));
  EXPECT_TRUE(p.interfere(1, 2));
  // Read together at #3, so they need homes of their own there; without that they may share.
  Phases q("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = copy %0\n#2 st %0 !write\n#3 st %1 !write\n#4 exit\n");
  EXPECT_FALSE(q.interfere(0, 1));
}

TEST(InterferenceGraph, ButNotWhereTuplesCouldOverlapInPart) {
  Phases p(
      "vreg %0 R b64 align 1\nvreg %1 R b64 align 1\nblock b0\n#0 %0 = ld\n#1 %1 = copy %0\n#2 st %0 !write\n#3 st %1 !write\n#4 "
      "exit\n");
  EXPECT_TRUE(p.interfere(0, 1));
}

TEST(InterferenceGraph, DeadDefsAndTwoDefsInterfere) {
  Phases p("vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld\n#1 %1, %2 = op\n#2 st %0 !write\n#3 exit\n");
  EXPECT_TRUE(p.interfere(1, 2));
  EXPECT_TRUE(p.interfere(0, 1));
}

TEST(InterferenceGraph, EarlyClobberAndMayDefsMeetTheUses) {
  Phases p(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nvreg %3 P pred\nblock b0\n#0 %0 = ld\n#1 %3 = setp 1\n#2 %1{early} = op %0\n#3 "
      "exit\n");
  EXPECT_TRUE(p.interfere(0, 1));
  Phases q("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = op %0\n#2 st %1 !write\n#3 exit\n");
  EXPECT_FALSE(q.interfere(0, 1));
  Phases g(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 P pred\nblock b0\n#0 %0 = ld\n#1 %2 = setp 1\n#2 @%2 %1 = op %0\n#3 st %1 !write\n#4 "
      "exit\n");
  EXPECT_TRUE(g.interfere(0, 1));
}

TEST(InterferenceGraph, ClobbersAreForbiddenToWhatLivesAcross) {
  Phases p(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = ld\n#2 %2 = call \"f\", %0 clobbers R0:R3\n"
      "#3 st %1, %2 !write\n#4 exit\n");
  EXPECT_TRUE(p.forbidden(0).is_empty());
  EXPECT_EQ(p.forbidden(1), UnitSet::range(0, 4));
  EXPECT_TRUE(p.forbidden(2).is_empty());
}

TEST(InterferenceGraph, PrecolouredTempsForbidTheirUnits) {
  Phases p("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = ld\n#2 st %0{=R5} !write\n#3 st %1 !write\n#4 exit\n");
  EXPECT_EQ(p.forbidden(1), UnitSet::range(5, 6));
  EXPECT_TRUE(p.forbidden(0).is_empty());
}

TEST(InterferenceGraph, WorstCountsBlockedPositions) {
  FileGraph g;
  Temp scalar, pair, loose_pair, quad;
  pair.units = loose_pair.units = 2;
  pair.align_log2 = 1;
  quad.units = 4;
  quad.align_log2 = 2;
  const NodeId s = g.add_node(0, scalar), p = g.add_node(1, pair), l = g.add_node(2, loose_pair), q = g.add_node(3, quad);
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

TEST(InterferenceGraph, MergedNodesKeepTheNeighboursOfBoth) {
  FileGraph g;
  for (TempId t = 0; t < 4; ++t) g.add_node(t, {});
  g.finish_nodes();
  g.add_edge(0, 2);
  g.add_edge(1, 2);
  g.add_edge(1, 3);
  g.finish_edges();
  g.merge(0, 1);
  EXPECT_TRUE(g.interferes(0, 3));
  EXPECT_TRUE(g.interferes(3, 0));
  EXPECT_EQ(g.squeeze(2), 1);
  EXPECT_EQ(g.find(1), 0u);
}

// Whatever is merged into whatever, also with a stricter alignment or a register, the squeeze is the sum over the neighbours left.
TEST(InterferenceGraph, MergingKeepsTheSqueezeUpToDate) {
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
    g.finish_edges();
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
