#include "reference/colour/coalesce.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

// With a copy between 0 and 1.
FileGraph graph(std::size_t nodes, const std::vector<std::pair<NodeId, NodeId>>& edges) {
  FileGraph g;
  for (TempId t = 0; t < nodes; ++t) g.add_node(t, {});
  g.finish_nodes();
  for (const auto& [a, b] : edges) g.add_edge(a, b);
  g.add_copy(0, 1, 1);
  g.finish();
  return g;
}

TEST(Coalesce, WhatInterferesStaysApart) {
  FileGraph g = graph(2, {{0, 1}});
  EXPECT_EQ(coalesce(g, {UnitSet::range(0, 8), {}, false}).merges, 0);
}

// 0 and 1 have the neighbours 2, 3 and 4, 5, which are a clique of significant degree for three colours: neither test allows it.
const std::vector<std::pair<NodeId, NodeId>> kTight = {{0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 3}, {4, 5}, {2, 4}, {3, 5}};

TEST(Coalesce, TheConservativeTestRefusesWhatTheBoldOneMerges) {
  FileGraph careful = graph(6, kTight), bold = careful, plenty = careful, factor = careful;
  EXPECT_EQ(coalesce(careful, {UnitSet::range(0, 3), {}, true}).merges, 0);
  EXPECT_EQ(coalesce(bold, {UnitSet::range(0, 3), {}, false}).merges, 1);
  EXPECT_EQ(coalesce(plenty, {UnitSet::range(0, 4), {}, true}).merges, 1);
  // With 4/5, a degree of 3 no longer counts as significant for three colours.
  EXPECT_EQ(coalesce(factor, {UnitSet::range(0, 3), {4, 5}, true}).merges, 1);
}

TEST(Coalesce, IntoAPrecolouredRegister) {
  testing::Phases p(R"(vreg %0 R b32
block b0
#0 %0 = ld
#1 st %0{=R5} !write
#2 exit
)");
  EXPECT_EQ(coalesce(p.r(), {UnitSet::range(0, 8), {}, true}).merges, 1);
  EXPECT_EQ(p.r().fixed(p.r().find(p.graphs.node_of[0])).first, 5);
}

TEST(Coalesce, NotIntoARegisterThatIsInUse) {
  testing::Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 st %1{=R5} !write
#3 st %0{=R5} !write
#4 exit
)");
  coalesce(p.r(), {UnitSet::range(0, 8), {}, false});
  EXPECT_FALSE(p.r().is_fixed(p.r().find(p.graphs.node_of[0])));
}

TEST(Coalesce, SaysWhereMoreUnitsWouldAllowAMerge) {
  FileGraph g = graph(2, {});
  g.forbid(0, UnitSet::range(0, 1));
  g.forbid(1, UnitSet::range(1, 2));
  FileGraph tight = g;
  const Coalesced refused = coalesce(tight, {UnitSet::range(0, 2), {}, false});
  EXPECT_EQ(refused.merges, 0);
  EXPECT_TRUE(refused.wants_units);
  const Coalesced done = coalesce(g, {UnitSet::range(0, 3), {}, false});
  EXPECT_EQ(done.merges, 1);
  EXPECT_FALSE(done.wants_units);
}

}  // namespace
}  // namespace regduel::reference
