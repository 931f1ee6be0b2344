// Which ways the execution judge goes, how far, and what it costs: graphs of blocks in which a fault shows on certain paths alone.

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
    std::string text = is_after ? "func @t kernel target sm_90 threads 32 allocated\n  frame local 4 shared 0\n"
                                : "func @t kernel target sm_90 threads 32\n";
    text += "  vreg %0 R b32\n  vreg %1 R b32\n";
    if (is_after) text += "  slot 0 local size 4 align 4 offset 0\n";
    const auto reg = [&](int k) { return (is_after ? "R" : "%") + std::to_string(k); };
    std::string edge_blocks;
    int inst = 0, inserted = 10'000, next_block = static_cast<int>(successors.size());
    const auto original = [&](const std::string& what) { text += "    #" + std::to_string(inst++) + " " + what; };
    const auto has = [](const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); };
    for (int b = 0; b < static_cast<int>(successors.size()); ++b) {
      text += "  block b" + std::to_string(b) + "\n";
      if (b == 0) {
        original(reg(0) + " = a\n");
        original(reg(1) + " = b\n");
        if (is_after) text += "    +9999 spill R0, slot 0\n";
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
    EXPECT_EQ(walk(g, {.runs = 1, .stale_base = 40, .stale_per_instruction = 0}).verdict, Verdict::Fail) << ways;
  }
}

// Of a switch, each edge is taken before one is taken again: as much fuel as that needs is enough.
TEST(ExecutionPaths, TheEdgeTakenLeastOftenComesFirst) {
  constexpr int kEdges = 12;
  for (int wrong = 0; wrong < kEdges; ++wrong) {
    const Graph g = {.successors = {{1}, std::vector<int>(kEdges, 2), {1}}, .reads = {2}, .loses = {{1, wrong}}};
    EXPECT_EQ(walk(g, {.runs = 1, .fuel_base = 5 + 5 * kEdges + 3, .fuel_per_instruction = 0}).verdict, Verdict::Fail) << wrong;
  }
}

// Each loop brings something new, and so time for the next one, though it takes longer to the last than a run may go without
// anything new. What is wrong on the way around the last loop, no run that only wants to come there sees.
TEST(ExecutionPaths, WhatIsNewGivesTimeForMore) {
  Graph g = {.successors = {}, .reads = {9}, .loses = {{9, 0}}};
  for (int k = 0; k < 10; ++k) g.successors.push_back({k, k + 1});
  g.successors.push_back({});
  EXPECT_EQ(walk(g, {.stale_base = 12, .stale_per_instruction = 0}).verdict, Verdict::Fail);
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
  const std::string body = "  block b0\n    #0 " + defs + " = many\n    #1 bra -> b1\n  block b1\n    #2 " + defs + " = copy " +
                           shifted_from + "\n    #3 use R9\n    #4 bra -> b1\n";
  p.before = in(body, true);
  p.after = testing::edit(body, "    #1 bra", "    +20 R0 = copy R20\n    #1 bra");
  EXPECT_EQ(testing::judge_text(execution_judge(), p.before_text(), p.after_text()).verdict, Verdict::Fail);
}

// --- runs that aim at blocks not yet executed ---------------------------------------------------------------------------

// One arm of the switch each run: 5 instructions to the switch and 2 of the arm; an aimed run also pays 5 for the search in 40
// edges, and the last comes as far as the search.
TEST(ExecutionPaths, RunsThatAimSpendTheFuelOnceMore) {
  Graph g = {.successors = {{}}, .reads = {}};
  for (int k = 1; k <= 40; ++k) {
    g.successors[0].push_back(k);
    g.successors.push_back({});
  }
  ExecutionCost cost;
  const JudgeResult r = walk(g, {.runs = 1, .fuel_base = 55, .fuel_per_instruction = 0}, &cost);
  EXPECT_EQ(r.reason, "fuel: 35 of 41 reachable blocks were never executed");
  EXPECT_EQ(cost.runs, 1 + 5);
  EXPECT_EQ(cost.instructions, 7 + 4 * 12 + 10);
}

// Each rung leads on, and back to the start. The straight way to the last block is all that there is fuel for.
TEST(ExecutionPaths, TheNearestWayIsTaken) {
  Graph g = {.successors = {}, .reads = {}};
  for (int k = 0; k < 12; ++k) g.successors.push_back({k + 1, 0});
  g.successors.push_back({});
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(walk(g, {.runs = 1, .fuel_base = 40, .fuel_per_instruction = 0, .seed = seed}).verdict, Verdict::Pass) << seed;
}

// From the hub to a spoke and back, eleven times in one run, for which the way is looked for anew; the run pays for its long
// beginning once.
TEST(ExecutionPaths, AnAimedRunGoesOnToTheNextBlock) {
  Graph g = {.successors = {{1}, {2}, {3}, {4}, {5}, {6}, {7, 8}, {}, {}}, .reads = {}};
  for (int k = 0; k < 10; ++k) {
    g.successors[7].push_back(9 + k);
    g.successors.push_back({6});
  }
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(walk(g, {.runs = 1, .fuel_base = 100, .fuel_per_instruction = 0, .seed = seed}).verdict, Verdict::Pass) << seed;
}

}  // namespace
}  // namespace regduel::oracles
