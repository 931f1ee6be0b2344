// Which ways the execution judge goes, how far, and what it costs: graphs of blocks in which a fault shows on certain paths alone.

#include "oracles/execution/paths.h"

#include "oracles/execution/execution.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using EdgeOf = std::pair<int, int>;  // a block, and the position among its successors

// A pair of programs: block k goes to successors[k], and ends where there are none. %0 is in R0 after allocation, and saved in slot
// 0; it is lost on some edges, restored on others, and read by some blocks.
struct Graph {
  std::vector<std::vector<int>> successors;
  std::vector<int> reads;
  std::vector<EdgeOf> loses = {}, restores = {};
  int steps = 1;  // instructions of a block besides its read and its branch

  [[nodiscard]] std::string text(bool is_after) const {
    std::string text = is_after ? R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
)"
                                : "func @t kernel target sm_90 threads 32\n";
    text += R"(
  vreg %0 R b32
  vreg %1 R b32
)";
    if (is_after) text += "  slot 0 local size 4 align 4 offset 0\n";
    const auto reg = [&](int k) { return (is_after ? "R" : "%") + std::to_string(k); };
    std::string edge_blocks;
    int inst = 0, inserted = 100'000, next_block = static_cast<int>(successors.size());
    const auto original = [&](const std::string& what) { text += "    #" + std::to_string(inst++) + " " + what; };
    const auto has = [](const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); };
    for (int b = 0; b < static_cast<int>(successors.size()); ++b) {
      text += "  block b" + std::to_string(b) + "\n";
      if (b == 0) {
        original(reg(0) + " = a\n");
        original(reg(1) + " = b\n");
        if (is_after) text += "    +99999 spill R0, slot 0\n";
      }
      for (int k = 0; k < steps; ++k) original("step\n");
      if (has(reads, b)) original("use " + reg(0) + "\n");
      const auto& to = successors[static_cast<std::size_t>(b)];
      original(to.empty() ? "exit" : to.size() == 1 ? "bra ->" : "mbra " + reg(1) + " ->");
      for (int k = 0; k < static_cast<int>(to.size()); ++k) {
        const std::string target = std::to_string(to[static_cast<std::size_t>(k)]);
        const bool loses_it = has(loses, EdgeOf(b, k)), changes = is_after && (loses_it || has(restores, EdgeOf(b, k)));
        text += (k == 0 ? " b" : ", b") + (changes ? std::to_string(next_block) : target);
        if (!changes) continue;
        edge_blocks += "  block b" + std::to_string(next_block) + " edge b" + std::to_string(b) + " -> b" + target + "\n    +" +
                       std::to_string(inserted) + (loses_it ? " R0 = copy R9\n" : " R0 = refill slot 0\n") + "    +" +
                       std::to_string(inserted + 1) + " bra -> b" + target + "\n";
        ++next_block;
        inserted += 2;
      }
      text += "\n";
    }
    return text + edge_blocks;
  }
};

JudgeResult walk(const Graph& g, const ExecutionOptions& options, ExecutionCost* cost = nullptr) {
  const ir::Function before = testing::parse_function(g.text(false)), after = testing::parse_function(g.text(true));
  return judge_execution({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255), nullptr}, options, cost);
}

// Without a guard, runs end with new paths too.
TEST(ExecutionPaths, ARunEndsWhereNothingNewComes) {
  ExecutionCost cost;
  EXPECT_EQ(walk({.successors = {{1}, {1, 2}, {1}}, .reads = {1}}, {.fuel_base = 100'000}, &cost).verdict, Verdict::Pass);
  EXPECT_LT(cost.runs, 8);
  EXPECT_LT(cost.instructions, 3000);
}

// Lost on one way of the first branch, restored on one of the second: one path of four shows it. No loop takes them all in one run.
TEST(ExecutionPaths, BranchesAreTakenInEachCombination) {
  for (const int lost : {0, 1})
    for (const int restored : {0, 1}) {
      Graph g = {
          .successors = {{1, 2}, {3}, {3}, {4, 5}, {6}, {6}, {}}, .reads = {6}, .loses = {{0, lost}}, .restores = {{3, restored}}};
      EXPECT_EQ(walk(g, {}).verdict, Verdict::Fail) << lost << restored;
      g.restores.emplace_back(3, 1 - restored);
      EXPECT_EQ(walk(g, {}).verdict, Verdict::Pass) << lost << restored;
    }
}

// The same with three branches in a loop, of which only one way of eight shows it, and a run that ends as soon as no three edges
// are new.
TEST(ExecutionPaths, ThreeEdgesInARowAreTakenInEachCombination) {
  for (int ways = 0; ways < 8; ++ways) {
    const Graph g = {.successors = {{1}, {2, 3}, {4}, {4}, {5, 6}, {7}, {7}, {8, 9}, {10}, {10}, {1}},
                     .reads = {10},
                     .loses = {{1, ways & 1}},
                     .restores = {{1, 1 - (ways & 1)}, {4, ways >> 1 & 1}, {7, ways >> 2 & 1}}};
    EXPECT_EQ(walk(g, {.runs = 1, .stale = 40, .fuel_to_cover = 0}).verdict, Verdict::Fail) << ways;
  }
}

// Of a switch, each edge is taken before one is taken again: as much fuel as that needs is enough.
TEST(ExecutionPaths, TheEdgeTakenLeastOftenComesFirst) {
  constexpr int kEdges = 12;
  for (int wrong = 0; wrong < kEdges; ++wrong) {
    const Graph g = {.successors = {{1}, std::vector<int>(kEdges, 2), {1}}, .reads = {2}, .loses = {{1, wrong}}};
    EXPECT_EQ(walk(g, {.runs = 1, .fuel_base = 5 + 5 * kEdges + 3, .fuel_per_instruction = 0, .fuel_to_cover = 0}).verdict,
              Verdict::Fail)
        << wrong;
  }
}

// Each loop brings something new, and so time for the next one, though it takes longer to the last than a run may go without
// anything new. What is wrong on the way around the last loop, no run that only wants to come there sees.
TEST(ExecutionPaths, WhatIsNewGivesTimeForMore) {
  Graph g = {.successors = {}, .reads = {9}, .loses = {{9, 0}}};
  for (int k = 0; k < 10; ++k) g.successors.push_back({k, k + 1});
  g.successors.push_back({});
  EXPECT_EQ(walk(g, {.stale = 12}).verdict, Verdict::Fail);
}

// Something that goes wrong once around a loop and is read ten rounds later.
TEST(ExecutionPaths, ALoopIsFollowedForAWhileThoughNothingIsNew) {
  testing::Pair p = {.vregs = "  vreg %0 R b32\n", .before = "", .after = ""};
  std::string defs, uses = "R0";
  std::string shifted_from = "R9, R0";
  for (int k = 0; k < 10; ++k) defs += (k == 0 ? "" : ", ") + ("R" + std::to_string(k));
  for (int k = 1; k < 9; ++k) shifted_from += ", R" + std::to_string(k);
  p.vregs = "";
  for (int k = 0; k < 10; ++k) p.vregs += "  vreg %" + std::to_string(k) + " R b32\n";
  const auto in = [](std::string text, bool is_before) {
    if (is_before) std::replace(text.begin(), text.end(), 'R', '%');
    return text;
  };
  const std::string body = "  block b0\n    #0 " + defs + R"( = many
    #1 bra -> b1
  block b1
    #2 )" + defs + " = copy " +
                           shifted_from + R"(
    #3 use R9
    #4 bra -> b1
)";
  p.before = in(body, true);
  p.after = testing::edit(body, "    #1 bra", "    +20 R0 = copy R20\n    #1 bra");
  EXPECT_EQ(testing::judge_text(execution_judge(), p.before_text(), p.after_text()).verdict, Verdict::Fail);
}

// Each instruction of the program after is one: a, b, the spill, the step and the exit.
TEST(ExecutionPaths, TheCostIsTheInstructionsThatWereExecuted) {
  ExecutionCost cost;
  EXPECT_EQ(walk({.successors = {{}}, .reads = {}}, {}, &cost).verdict, Verdict::Pass);
  EXPECT_EQ(cost.runs, 1);
  EXPECT_EQ(cost.instructions, 5);
}

// --- early exits ----------------------------------------------------------------------------------------------------------

// Three exits, and then a loop that is given a value, changes it and keeps it in memory: without the store it has the old one the
// next time. Where the exits are on the way to the loop, and where they are in it.
TEST(ExecutionPaths, AMissingStoreInALoopBehindEarlyExitsIsFound) {
  for (const bool are_inside : {false, true}) {
    testing::Pair p = {.vregs = R"(
  vreg %0 R b32
  vreg %1 R b32
)",
                       .before = R"(
  block b0
    #0 %0 = a
    #1 bra -> b2
  block b1
    #2 exit
)",
                       .after = R"(
  block b0
    #0 R0 = a
    +100 spill R0, slot 0
    #1 bra -> b2
  block b1
    #2 exit
)"};
    const auto branch = [&](int inst, const std::string& targets) {
      p.before += "    #" + std::to_string(inst) + " mbra %1 -> " + targets + "\n";
      p.after += "    #" + std::to_string(inst) + " mbra R5 -> " + targets + "\n";
    };
    const auto both = [&](const std::string& text) {
      p.before += text;
      p.after += text;
    };
    for (const int b : {2, 3, 4}) {
      both("  block b" + std::to_string(b) + "\n");
      branch(b + 1, "b1, b" + std::to_string(b + 1));
    }
    p.before += R"(
  block b5
    #11 use %0
    #12 %0 = next %0
)";
    p.after += R"(
  block b5
    +101 R1 = refill slot 0
    #11 use R1
    #12 R1 = next R1
    +102 spill R1, slot 0
)";
    branch(13, are_inside ? "b2, b6" : "b5, b6");
    both(R"(
  block b6
    #14 st 1 !write
    #15 exit
)");
    const ir::Function before = testing::parse_function(p.before_text()), right = testing::parse_function(p.after_text());
    p.after = testing::edit(p.after, "    +102 spill R1, slot 0\n", "");
    const ir::Function damaged = testing::parse_function(p.after_text());
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto verdict = [&](const ir::Function& after) {
        return judge_execution({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255), nullptr}, {.seed = seed})
            .verdict;
      };
      EXPECT_EQ(verdict(right), Verdict::Pass) << seed << are_inside;
      EXPECT_EQ(verdict(damaged), Verdict::Fail) << seed << are_inside;
    }
  }
}

// Block k goes on to k + 1 or out, through one block of its own.
Graph chain(int length) {
  Graph g = {.successors = {}, .reads = {}};
  for (int k = 0; k < length; ++k) g.successors.push_back({length + 1 + k, k + 1});
  for (int k = 0; k <= length; ++k) g.successors.emplace_back();
  return g;
}

TEST(ExecutionPaths, ARunGoesOnBehindAnEarlyExit) {
  Graph g = chain(40);
  g.reads = {36};
  g.loses = {{35, 1}};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    ExecutionCost cost;
    EXPECT_EQ(walk(g, {.runs = 1, .fuel_to_cover = 0, .seed = seed}, &cost).verdict, Verdict::Fail) << seed;
    EXPECT_EQ(cost.runs, 2);  // one, and once more with origins
  }
}

// What an exit did is undone: %0 is lost on the way out, and is there on the way on.
TEST(ExecutionPaths, BehindAnEarlyExitTheValuesOfBeforeAreBack) {
  Graph g = chain(40);
  g.reads = {40};
  for (int k = 0; k < 40; ++k) g.loses.emplace_back(k, 0);
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Pass);
  g.reads = {80};
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Fail);
}

// What was written on the way out is not there on the way on: both loads read the same.
TEST(ExecutionPaths, BehindAnEarlyExitTheMemoryOfBeforeIsBack) {
  const testing::Pair p = {.vregs = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)",
                           .before = R"(
  block b0
    #0 %0 = a
    #1 st %0 !write
    #2 %1 = ld %0 !read
    #3 mbra %0 -> b1, b2
  block b1
    #4 st 1 !write
    #5 exit
  block b2
    #6 %2 = ld %0 !read
    #7 use %1, %2
    #8 use %0
    #9 exit
)",
                           .after = R"(
  block b0
    #0 R0 = a
    #1 st R0 !write
    #2 R1 = ld R0 !read
    #3 mbra R0 -> b1, b2
  block b1
    #4 st 1 !write
    #5 exit
  block b2
    #6 R2 = ld R0 !read
    #7 use R2, R1
    #8 use R0
    #9 exit
)"};
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const Before prepared(before, *ir::find_target("sm_90"));
  EXPECT_THAT(prepared.part<EdgeKinds>().is_early, ::testing::ElementsAre(true, false));
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(judge_execution({prepared, after, testing::limits_of(before, 255)}, {.seed = seed}).verdict, Verdict::Pass) << seed;
}

// R1 holds the value of #1 again, which #20 has not put there.
TEST(ExecutionPaths, BehindAnEarlyExitValuesComeFromWhereTheyDidBefore) {
  const testing::Pair p = {.vregs = R"(
  vreg %0 R b32
  vreg %1 R b32
)",
                           .before = R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 mbra %0 -> b1, b2
  block b1
    #3 use %0
    #4 exit
  block b2
    #5 use %0
    #6 use %1
    #7 use %1
    #8 exit
)",
                           .after = R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 mbra R0 -> b1, b2
  block b1
    +20 R1 = copy R0
    #3 use R1
    #4 exit
  block b2
    #5 use R1
    #6 use R1
    #7 use R1
    #8 exit
)"};
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const JudgeResult r =
        judge_execution({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255), nullptr}, {.seed = seed});
    ASSERT_EQ(r.findings.size(), 1u) << seed;
    EXPECT_EQ(r.findings[0].message, "expected the value of #0, found that of #1") << seed;
    EXPECT_EQ(r.findings[0].other, ir::InstId(1)) << seed;
  }
}

// Whether an exit was taken on the way makes no three edges new: each exit is taken once, and the way past them all.
TEST(ExecutionPaths, BehindAnEarlyExitThePathOfBeforeGoesOn) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    ExecutionCost cost;
    EXPECT_EQ(walk(chain(40), {.seed = seed}, &cost).verdict, Verdict::Pass);
    EXPECT_EQ(cost.runs, 3) << seed;
  }
}

TEST(ExecutionPaths, AChainOfFourThousandBlocksHasAVerdict) {
  Graph g = chain(4000);
  ExecutionCost cost;
  EXPECT_EQ(walk(g, {}, &cost).verdict, Verdict::Pass);
  EXPECT_LT(cost.instructions, 40 * (2 + 8001 * 2));
  g.reads = {4000, 8000};
  g.loses = {{3999, 1}};
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Fail);
  g.loses = {{3999, 0}};
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Fail);
}

// The same without early exits: each block goes on, or around by another one.
TEST(ExecutionPaths, AChainWithoutExitsHasAVerdict) {
  constexpr int kLength = 2000;
  Graph g = {.successors = {}, .reads = {kLength}};
  for (int k = 0; k < kLength; ++k) g.successors.push_back({k + 1, kLength + 1 + k});
  g.successors.emplace_back();
  for (int k = 0; k < kLength; ++k) g.successors.push_back({k + 1});
  EXPECT_EQ(walk(g, {}).verdict, Verdict::Pass);
  for (const int side : {0, 1}) {
    g.loses = {{kLength - 1, side}};
    EXPECT_EQ(walk(g, {}).verdict, Verdict::Fail) << side;
  }
}

// --- runs that seek -------------------------------------------------------------------------------------------------------

// The paths of a graph, edge by edge. Edges are numbered block by block.
struct Walker {
  explicit Walker(const Graph& g)
      : before(testing::parse_function(g.text(false))), after(testing::parse_function(g.text(true))),
        prepared(before, *ir::find_target("sm_90")), plan(*make_plan({prepared, after, testing::limits_of(before, 255)})),
        paths(plan, prepared.part<EdgeKinds>()) {}

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
  const ir::Function before = testing::parse_function(g.text(false)), after = testing::parse_function(g.text(true));
  const Before prepared(before, *ir::find_target("sm_90"));
  const auto plan = make_plan({prepared, after, testing::limits_of(before, 255)});
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
  const testing::Pair p = {.vregs = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)",
                           .before = R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 bra -> b1
  block b1
    #3 use %1
    #4 %1 = copy %0
    #5 mbra %2 -> b1, b2
  block b2
    #6 exit
)",
                           .after = R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 bra -> b1
  block b1
    #3 use R1
    #4 R1 = copy R0
    +20 R0 = copy R9
    #5 mbra R5 -> b1, b2
  block b2
    #6 exit
)"};
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  EXPECT_EQ(
      judge_execution({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255), nullptr}, {.runs = 0}).verdict,
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
  const testing::Pair p = {.vregs = "  vreg %0 R b32\n",
                           .before = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 mbra %0 -> b1, b2
  block b2
    #2 mbra %0 -> b2, b3
  block b3
    #3 exit
)",
                           .after = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 mbra R0 -> b3, b3
  block b2
    #2 mbra R0 -> b2, b3
  block b3
    #3 exit
)"};
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  ExecutionCost cost;
  const JudgeResult r =
      judge_execution({before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255), nullptr}, {}, &cost);
  EXPECT_THAT(testing::categories(r), ::testing::ElementsAre("execution-wrong-path"));
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
