#include "reference/colour/interference_graph.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(InterferenceGraph, TheSourceOfACopyIsExcepted) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 %2 = add %0
#3 st %0, %1, %2 !write
#4 exit
)");
  EXPECT_FALSE(p.graphs.node_of[0] == kNoNode);
  EXPECT_TRUE(p.interfere(0, 2));
  EXPECT_TRUE(p.interfere(1, 2));
  // Read together at #3, so they need homes of their own there; without that they may share.
  Phases q(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 st %0 !write
#3 st %1 !write
#4 exit
)");
  EXPECT_FALSE(q.interfere(0, 1));
}

TEST(InterferenceGraph, ButNotWhereTuplesCouldOverlapInPart) {
  Phases p(
      R"(vreg %0 R b64 align 1
vreg %1 R b64 align 1
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 st %0 !write
#3 st %1 !write
#4 exit
)");
  EXPECT_TRUE(p.interfere(0, 1));
}

TEST(InterferenceGraph, DeadDefsAndTwoDefsInterfere) {
  Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1, %2 = op
#2 st %0 !write
#3 exit
)");
  EXPECT_TRUE(p.interfere(1, 2));
  EXPECT_TRUE(p.interfere(0, 1));
}

TEST(InterferenceGraph, EarlyClobberAndMayDefsMeetTheUses) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld
#1 %3 = setp 1
#2 %1{early} = op %0
#3 exit
)");
  EXPECT_TRUE(p.interfere(0, 1));
  Phases q(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = op %0
#2 st %1 !write
#3 exit
)");
  EXPECT_FALSE(q.interfere(0, 1));
  Phases g(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld
#1 %2 = setp 1
#2 @%2 %1 = op %0
#3 st %1 !write
#4 exit
)");
  EXPECT_TRUE(g.interfere(0, 1));
}

TEST(InterferenceGraph, ClobbersAreForbiddenToWhatLivesAcross) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 %2 = call "f", %0 clobbers R0:R3
#3 st %1, %2 !write
#4 exit
)");
  EXPECT_TRUE(p.forbidden(0).none());
  EXPECT_EQ(p.forbidden(1), UnitSet::range(0, 4));
  EXPECT_TRUE(p.forbidden(2).none());
}

TEST(InterferenceGraph, PrecolouredTempsForbidTheirUnits) {
  Phases p(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 st %0{=R5} !write
#3 st %1 !write
#4 exit
)");
  EXPECT_EQ(p.forbidden(1), UnitSet::range(5, 6));
  EXPECT_TRUE(p.forbidden(0).none());
}

// max_live() against a count at every instruction, of every file.
TEST(InterferenceGraph, PressureIsThatOfTheWorstPoint) {
  for (const int registers : {255, 8}) {
    Phases p(
        R"(vreg %0 R b32
vreg %1 R b64
vreg %2 R b32
vreg %3 P pred
vreg %4 R b128
vreg %5 P pred
block b0
#0 %0 = ld
#1 %1 = ld
#2 %3 = setp %0
#3 cbra %3 -> b1, b2
block b1
#4 %2 = add %0, 1
#5 @%3 %4 = ld
#6 st %4, %2 !write
#7 %5 = setp %2
#8 cbra %5 -> b1, b2
block b2
#9 %2 = copy %0
#10 %4 = ld %1
#11 st %2, %4 !write
#12 exit
)",
        registers);
    ir::PerFile<int> most = {};
    for (std::uint32_t b = 0; b < p.code.blocks.size(); ++b)
      p.liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        if (p.graphs.is_dead[i]) return false;
        ir::PerFile<int> after = live.units(), at_reads = after;
        for (const Ref& r : p.code.refs_of(p.code.insts[i])) {
          const Temp& t = p.code.temps[r.temp];
          const std::size_t file = ir::index(t.file);
          const bool is_live = live.contains(r.temp);
          if ((r.flags & kWrites) && !is_live) after[file] += t.units;
          if ((r.flags & kAtReads) && !is_live) at_reads[file] += t.units;
          if ((r.flags & kWrites) && !(r.flags & kAtReads) && is_live) at_reads[file] -= t.units;
        }
        for (std::size_t f = 0; f < most.size(); ++f) most[f] = std::max({most[f], after[f], at_reads[f]});
        return true;
      });
    for (std::size_t f = 0; f < most.size(); ++f) EXPECT_EQ(p.graphs.files[f].max_live(), most[f]);
    EXPECT_GT(most[ir::index(ir::RegFile::R)], 6);
    EXPECT_GT(most[ir::index(ir::RegFile::P)], 0);
  }
}

// Three values live at once, one of them of two units, need four units. A clique is looked for only where more units are live than
// the limit allows.
TEST(InterferenceGraph, ACliqueIsFoundWhereMostIsLive) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 R b64
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 %2 = ld
#3 st %0, %1, %2 !write
#4 %3 = ld
#5 st %3 !write
#6 exit
)",
      3);
  EXPECT_EQ(p.r().clique_units(), 4);
  // A copy and its source are live at once and may share: they are no clique.
  Phases q(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 st %0 !write
#3 st %1 !write
#4 exit
)",
           1);
  EXPECT_EQ(q.r().max_live(), 2);
  EXPECT_EQ(q.r().clique_units(), 1);
}

}  // namespace
}  // namespace regduel::reference
