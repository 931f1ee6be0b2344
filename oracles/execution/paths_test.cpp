// Which way runs of the execution judge go, how far, and what they cost: graphs of blocks in which a fault shows on certain paths
// alone.

#include "oracles/execution/paths.h"

#include "oracles/execution/execution.h"
#include "oracles/execution/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using namespace testing::execution;

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
  Pair p = {"  vreg %0 R b32\n", "", ""};
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
  p.after = edit(body, "    #1 bra", "    +20 R0 = copy R20\n    #1 bra");
  EXPECT_EQ(judge_text(execution_judge(), p.before_text(), p.after_text()).verdict, Verdict::Fail);
}

// Each instruction of the program after is one: a, b, the spill, the step and the exit.
TEST(ExecutionPaths, TheCostIsTheInstructionsThatWereExecuted) {
  ExecutionCost cost;
  EXPECT_EQ(walk({.successors = {{}}, .reads = {}}, {}, &cost).verdict, Verdict::Pass);
  EXPECT_EQ(cost.runs, 1);
  EXPECT_EQ(cost.instructions, 5);
}

TEST(Execution, ComesToEveryBlock) {
  // A switch with more cases than runs, each with a fault of its own behind it, and endless loops on the way.
  std::string before = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = const 0
    #1 %1 = const 1
    #2 mbra %0 -> b1)";
  std::string rest = "  block b1\n    #100000 mbra %0 -> b1, b1, b1, b1, b2\n";
  for (int k = 2; k < 60; ++k) {
    before += ", b" + std::to_string(k);
    rest += "  block b" + std::to_string(k) + "\n    #" + std::to_string(2 * k) + " use %1\n    #" + std::to_string(2 * k + 1) +
            " bra -> b" + std::to_string(k) + "\n";
  }
  before += "\n" + rest;
  const std::string after = edit(before, "threads 32\n", "threads 32 allocated\n");
  std::string head = after.substr(0, after.find("  block b0")), body = after.substr(after.find("  block b0"));
  for (std::size_t at; (at = body.find("%0")) != std::string::npos;) body.replace(at, 2, "R0");
  for (std::size_t at; (at = body.find("%1")) != std::string::npos;) body.replace(at, 2, "R1");
  EXPECT_EQ(judge_text(execution_judge(), before, head + body).verdict, Verdict::Pass);
  for (int k = 2; k < 60; ++k) {
    const std::string use = "#" + std::to_string(2 * k) + " use R1";
    EXPECT_EQ(judge_text(execution_judge(), before, head + edit(body, use, use + "00")).verdict, Verdict::Fail) << k;
  }
}

// Three exits, and then a loop that is given a value, changes it and keeps it in memory: without the store it has the old one the
// next time. Where the exits are on the way to the loop, and where they are in it.
TEST(ExecutionPaths, AMissingStoreInALoopBehindEarlyExitsIsFound) {
  for (const bool are_inside : {false, true}) {
    Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a | R0 = a
    +100      | spill R0, slot 0
    #1 bra -> b2
  block b1
    #2 exit
)")};
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
    const ir::Function before = parse_function(p.before_text()), right = parse_function(p.after_text());
    p.after = edit(p.after, "    +102 spill R1, slot 0\n", "");
    const ir::Function damaged = parse_function(p.after_text());
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto verdict = [&](const ir::Function& after) {
        return judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, {.seed = seed}).verdict;
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
  const Pair p = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0 = a            | R0 = a
    #1 st %0 !write      | st R0 !write
    #2 %1 = ld %0 !read  | R1 = ld R0 !read
    #3 mbra %0 -> b1, b2 | mbra R0 -> b1, b2
  block b1
    #4 st 1 !write
    #5 exit
  block b2
    #6 %2 = ld %0 !read  | R2 = ld R0 !read
    #7 use %1, %2        | use R2, R1
    #8 use %0            | use R0
    #9 exit
)")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const Before prepared(before, *ir::find_target("sm_90"));
  EXPECT_THAT(prepared.part<EdgeKinds>().is_early, ::testing::ElementsAre(true, false));
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(judge_execution({prepared, after, limits_of(before, 255)}, {.seed = seed}).verdict, Verdict::Pass) << seed;
}

// R1 holds the value of #1 again, which #20 has not put there.
TEST(ExecutionPaths, BehindAnEarlyExitValuesComeFromWhereTheyDidBefore) {
  const Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    #2 mbra %0 -> b1, b2 | mbra R0 -> b1, b2
  block b1
    +20                  | R1 = copy R0
    #3 use %0            | use R1
    #4 exit
  block b2
    #5 use %0            | use R1
    #6 use %1            | use R1
    #7 use %1            | use R1
    #8 exit
)")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const JudgeResult r =
        judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, {.seed = seed});
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

}  // namespace
}  // namespace regduel::oracles
