// Runs of the execution judge that seek edges which no run has taken, and second laps of loops.

#include "oracles/execution/execution.h"
#include "oracles/execution/paths.h"
#include "oracles/execution/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using namespace testing::execution;

// The paths of a graph, edge by edge. Edges are numbered block by block.
struct Walker {
  explicit Walker(const Graph& g)
      : before(parse_function(g.text(false))), after(parse_function(g.text(true))), prepared(before, *ir::find_target("sm_90")),
        plan(*make_plan({prepared, after, limits_of(before, 255)})), paths(plan, prepared.part<EdgeKinds>()) {}

  void take(const std::vector<std::uint32_t>& edges) {
    for (const std::uint32_t e : edges) paths.take(e);
  }

  ir::Function before, after;
  Before prepared;
  Plan plan;
  Paths paths;
};

// The exit of block 1 is early: the way on is longer. Block 0 has one way only.
TEST(ExecutionPaths, AnExitIsEarlyWhereverItIs) {
  const Walker w({.successors = {{1}, {2, 3}, {}, {4}, {}}, .reads = {}});
  EXPECT_THAT(w.prepared.part<EdgeKinds>().is_early, ::testing::ElementsAre(false, true, false, false));
}

// Block 0 leads to itself, edge 0: no edge enters that loop, but each run does.
TEST(ExecutionPaths, TwoLapsAreOfOneRun) {
  Walker w({.successors = {{0, 1}, {}}, .reads = {}});
  for (int run = 0; run < 3; ++run) {
    w.paths.begin_run(0, false);
    w.take({0});
    EXPECT_EQ(w.paths.num_left(), 2u);
  }
  w.take({0});
  EXPECT_EQ(w.paths.num_left(), 1u);
}

// Block 2 leads to itself, edge 2, and back to block 1, edge 3, from where its loop is entered anew.
TEST(ExecutionPaths, BetweenTwoLapsTheLoopIsNotEntered) {
  Walker w({.successors = {{1}, {2}, {2, 1, 3}, {}}, .reads = {}});
  w.paths.begin_run(0, false);
  w.take({0, 1, 2, 3, 1, 2});
  EXPECT_EQ(w.paths.num_left(), 3u);
  w.take({2});
  EXPECT_EQ(w.paths.num_left(), 2u);
}

TEST(ExecutionPaths, ARunBeginsAtTheEntryWithoutAPast) {
  Walker w({.successors = {{1, 2}, {3}, {3}, {4, 5}, {}, {}}, .reads = {}});
  w.paths.begin_run(0, false);
  w.take({0, 2, 4});
  EXPECT_EQ(w.paths.last(), 4u + 1);
  EXPECT_EQ(w.paths.last_but_one(), 0u + 1);
  w.paths.begin_stretch(1, 0);
  EXPECT_EQ(w.paths.last(), 1u);
  EXPECT_EQ(w.paths.last_but_one(), 0u);
  w.take({5});
  w.paths.begin_run(0, false);
  EXPECT_EQ(w.paths.last(), 0u);
  EXPECT_EQ(w.paths.last_but_one(), 0u);
}

// The way to edge 3 is three edges long, and was not gone to its end.
TEST(ExecutionPaths, ARunSeeksItsOwnWay) {
  Walker w({.successors = {{1}, {2}, {3, 4}, {}, {}}, .reads = {}});
  w.take({0, 1, 2});
  for (int run = 0; run < 2; ++run) {
    w.paths.begin_run(0, false);
    EXPECT_EQ(w.paths.seek(ir::BlockId(0)), 0u);
    EXPECT_EQ(w.paths.seek(ir::BlockId(1)), 1u);
  }
}

// From block 1, whose edges 1 (to itself) and 2 are done: edge 3 is the third that is looked at.
TEST(ExecutionPaths, ASearchLooksAtEachEdgeOnce) {
  Walker w({.successors = {{1}, {1, 2}, {3}, {}}, .reads = {}});
  w.paths.begin_run(0, false);
  w.take({0, 1, 1, 2});
  EXPECT_EQ(w.paths.seek(ir::BlockId(1)), 2u);
  EXPECT_EQ(w.paths.num_searched(), 2);
}

// What seek() takes until nothing is left, run by run. A run ends at an exit, or where nothing that is left can be reached.
std::vector<std::vector<EdgeOf>> sought(const Graph& g) {
  const ir::Function before = parse_function(g.text(false)), after = parse_function(g.text(true));
  const Before prepared(before, *ir::find_target("sm_90"));
  const auto plan = make_plan({prepared, after, limits_of(before, 255)});
  Paths paths(*plan, prepared.part<EdgeKinds>());
  std::vector<std::vector<EdgeOf>> runs;
  while (paths.num_left() > 0 && runs.size() < 100) {
    paths.begin_run(runs.size(), false);
    runs.emplace_back();
    for (ir::BlockId at(0);;) {
      const std::uint32_t e = paths.seek(at);
      if (e == kNoEdge) break;
      paths.take(e);
      runs.back().emplace_back(at.value, e - plan->edges_of[at.index()].begin);
      at = plan->edges[e].to;
    }
  }
  EXPECT_EQ(paths.num_left(), 0u);
  return runs;
}
int times(const std::vector<std::vector<EdgeOf>>& runs, EdgeOf edge) {
  int n = 0;
  for (const auto& run : runs) n += static_cast<int>(std::count(run.begin(), run.end(), edge));
  return n;
}

TEST(ExecutionPaths, EachEdgeOfASwitchIsSought) {
  const auto runs = sought({.successors = {{1, 2, 1, 3}, {}, {}, {}}, .reads = {}});
  EXPECT_EQ(runs.size(), 4u);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(times(runs, {0, k}), 1) << k;
}

TEST(ExecutionPaths, OneRunSeeksAllThatItCanReach) {
  // From the hub, block 3, to a spoke and back; the spoke edges come back and so are back edges, each taken twice.
  Graph g = {.successors = {{1}, {2}, {3}, {}}, .reads = {}};
  for (int k = 0; k < 10; ++k) {
    g.successors[3].push_back(4 + k);
    g.successors.push_back({3});
  }
  const auto runs = sought(g);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].size(), 3u + 10 * 4);
}

// The straight way, and one rung at a time.
TEST(ExecutionPaths, TheShortestPathIsTaken) {
  const auto runs = sought({.successors = {{1, 2}, {3}, {4}, {4}, {5, 6}, {6}, {}}, .reads = {}});
  using Run = std::vector<EdgeOf>;
  EXPECT_THAT(runs, ::testing::ElementsAre(Run{{0, 0}, {1, 0}, {3, 0}, {4, 0}, {5, 0}}, Run{{0, 1}, {2, 0}, {4, 1}}));
}

// Inner loop 2 -> 2, middle 3 -> 1, outer 4 -> 0. Each is gone around twice before the next entry of it.
TEST(ExecutionPaths, NestedLoopsAreGoneAroundInTwoLaps) {
  const auto runs = sought({.successors = {{1}, {2}, {2, 3}, {1, 4}, {0, 5}, {}}, .reads = {}});
  ASSERT_EQ(runs.size(), 1u);
  const std::vector<EdgeOf>& run = runs[0];
  const auto laps_in_a_row = [&](EdgeOf back, EdgeOf entry) {
    int most = 0, n = 0;
    for (const EdgeOf& e : run) {
      if (e == entry) n = 0;
      if (e == back) most = std::max(most, ++n);
    }
    return most;
  };
  EXPECT_EQ(laps_in_a_row({2, 0}, {1, 0}), 2);
  EXPECT_EQ(laps_in_a_row({3, 0}, {0, 0}), 2);
  EXPECT_EQ(times(runs, {4, 0}), 2);
  EXPECT_EQ(times(runs, {4, 1}), 1);
}

// The exit is nearer than the end of the second lap.
TEST(ExecutionPaths, TheSecondLapComesBeforeWhatIsNearer) {
  const auto runs = sought({.successors = {{1}, {2, 4}, {3}, {1}, {}}, .reads = {}});
  using Run = std::vector<EdgeOf>;
  EXPECT_THAT(runs, ::testing::ElementsAre(Run{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 1}}));
}

// Two entries: blocks 1 and 2 lead to each other.
TEST(ExecutionPaths, ACycleWithTwoEntriesIsGoneAroundInTwoLaps) {
  const auto runs = sought({.successors = {{1, 2}, {2, 3}, {1}, {}}, .reads = {}});
  EXPECT_GE(times(runs, {2, 0}), 2);
  EXPECT_GE(times(runs, {0, 1}), 1);
}

// Two back edges of one loop: one is taken twice, then the other.
TEST(ExecutionPaths, EachBackEdgeOfALoopHasItsLaps) {
  const auto runs = sought({.successors = {{1}, {1, 2}, {1, 1, 3}, {}}, .reads = {}});
  for (const EdgeOf& back : {EdgeOf{1, 0}, EdgeOf{2, 0}, EdgeOf{2, 1}}) EXPECT_EQ(times(runs, back), 2);
}

// Lost in one lap, moved on to where it is read in the next: an edge of the loop that is taken once a run does not show it.
TEST(ExecutionPaths, WhatOneLapLeavesTheNextOneReads) {
  const Pair p = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    #2 bra -> b1
  block b1
    #3 use %1            | use R1
    #4 %1 = copy %0      | R1 = copy R0
    +20                  | R0 = copy R9
    #5 mbra %2 -> b1, b2 | mbra R5 -> b1, b2
  block b2
    #6 exit
)")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  EXPECT_EQ(judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, {.runs = 0}).verdict,
            Verdict::Fail);
}

// A loop of twenty blocks that is left by one of its first only.
TEST(ExecutionPaths, ALoopWhoseOnlyExitIsEarlyIsGoneAround) {
  Graph g = {.successors = {{1}, {2, 21}}, .reads = {}};
  for (int k = 2; k < 20; ++k) g.successors.push_back({k + 1});
  g.successors.push_back({1});
  g.successors.emplace_back();
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Pass);
  g.loses = {{20, 0}};
  g.reads = {21};
  for (std::uint64_t seed = 0; seed < 8; ++seed) EXPECT_EQ(walk(g, {.seed = seed}).verdict, Verdict::Fail) << seed;
}

TEST(ExecutionPaths, WhatCannotBeReachedIsNotAskedFor) {
  Graph g = {.successors = {{1}, {1, 2}, {}, {4, 2}, {3, 1}}, .reads = {3}, .loses = {{4, 0}}};
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Pass);
  EXPECT_EQ(sought(g).size(), 1u);
}

// Where the program after does not follow an edge, there is no second lap to wait for, and nothing to be sought behind it.
TEST(ExecutionPaths, BehindAWrongPathNothingIsSought) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  block b0
    #0 bra -> b1
  block b1
    #1 mbra %0 -> b1, b2 | mbra R0 -> b3, b3
  block b2
    #2 mbra %0 -> b2, b3 | mbra R0 -> b2, b3
  block b3
    #3 exit
)")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  ExecutionCost cost;
  const JudgeResult r = judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, {}, &cost);
  EXPECT_THAT(categories(r), ::testing::ElementsAre("execution-wrong-path"));
  EXPECT_LT(cost.runs, 40);
}

// One arm of the switch each run: 5 instructions to the switch, 2 of the arm, and the search looks at up to 40 edges.
TEST(ExecutionPaths, WithoutFuelItIsInconclusive) {
  Graph g = {.successors = {{}}, .reads = {}};
  for (int k = 1; k <= 40; ++k) {
    g.successors[0].push_back(k);
    g.successors.push_back({});
  }
  ExecutionCost cost;
  const JudgeResult r = walk(g, {.runs = 1, .fuel_to_cover = 7 * 10}, &cost);
  EXPECT_EQ(r.verdict, Verdict::Inconclusive);
  EXPECT_EQ(r.reason, "fuel: 29 of 40 reachable edges were not taken, or not in two laps");
  EXPECT_EQ(cost.runs, 1 + 10);
  EXPECT_EQ(cost.instructions, 7 * (1 + 10) + 2);  // the last two searches look at eight edges or more
  EXPECT_EQ(walk(g, {.runs = 1}).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace regduel::oracles
