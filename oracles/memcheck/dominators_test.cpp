// Dominators and regions against reachability.

#include "oracles/memcheck/dominators.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/memcheck/reaching_sets.h"
#include "oracles/memcheck/testing.h"
#include "oracles/memcheck/value_graph.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

// Blocks that can be reached from `from` (in any number of steps, 0 too) without `without`.
std::set<std::uint32_t> reached(const ir::Function& f, std::uint32_t from, std::uint32_t without) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work = {from};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    if (b == without || !seen.insert(b).second) continue;
    for (const ir::BlockId to : f.successors(ir::BlockId(b))) work.push_back(to.value);
  }
  return seen;
}

constexpr std::uint32_t kNoBlock = 0xFFFFFFFF;

void expect_dominators(const ir::Function& f) {
  const ir::Cfg cfg(f);
  const Dominators tree(cfg);
  const auto live = reached(f, 0, kNoBlock);
  ASSERT_EQ(tree.preorder().size(), live.size());
  for (const std::uint32_t a : live) {
    const auto rest = reached(f, 0, a);
    for (const std::uint32_t b : live)
      EXPECT_EQ(tree.dominates(ir::BlockId(a), ir::BlockId(b)), !rest.contains(b)) << a << " " << b;
    EXPECT_EQ(tree.preorder()[tree.position(ir::BlockId(a))], ir::BlockId(a));
  }
  for (const std::uint32_t j : live) {
    if (j == 0) continue;
    const Dominators::Above& above = tree.above(tree.position(ir::BlockId(j)));
    const ir::BlockId dominator = tree.preorder()[above.dominator];
    EXPECT_NE(dominator.value, j);
    EXPECT_TRUE(tree.dominates(dominator, ir::BlockId(j)));
    // It is the nearest: each other dominator of j is above it.
    for (const std::uint32_t other : live)
      EXPECT_TRUE(other == j || !tree.dominates(ir::BlockId(other), ir::BlockId(j)) ||
                  tree.dominates(ir::BlockId(other), dominator));
    // The interval of positions is that of the region, no wider.
    std::uint32_t begin = kNoBlock, end = 0;
    for (const std::uint32_t b : live) {
      if (b == dominator.value) continue;
      bool leads = false;
      for (const ir::BlockId to : f.successors(ir::BlockId(b))) leads = leads || reached(f, to.value, dominator.value).contains(j);
      if (!leads) continue;
      begin = std::min(begin, tree.position(ir::BlockId(b)));
      end = std::max(end, tree.position(ir::BlockId(b)) + 1);
    }
    EXPECT_EQ(above.begin == above.end, begin == kNoBlock);
    EXPECT_EQ(above.join, begin == kNoBlock ? tree.above(above.dominator).join : tree.position(ir::BlockId(j)));
    if (begin == kNoBlock) continue;
    EXPECT_EQ(std::pair(above.begin, above.end), std::pair(begin, end)) << "b" << j;
    EXPECT_LE(begin, tree.position(ir::BlockId(j)));
  }
}

TEST(Dominators, TheyAndRegionsAreThoseOfReachability) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::string text = testing::random_program(random, {});
    SCOPED_TRACE(text);
    expect_dominators(parse_function(text));
  }
}

std::string graph_text(const std::vector<std::vector<int>>& to) {
  std::string text = R"(
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 P pred
)";
  int id = 0;
  for (std::size_t b = 0; b < to.size(); ++b) {
    text += fmt::format("  block b{}\n    #{} ", b, id++);
    if (to[b].empty()) text += "exit\n";
    else if (to[b].size() == 1) text += fmt::format("bra -> b{}\n", to[b][0]);
    else text += fmt::format("cbra %1 -> b{}, b{}\n", to[b][0], to[b][1]);
  }
  return text;
}

TEST(ValueGraph, ARegionTooLargeIsAllThatItsDominatorDominates) {
  // Forty heads one after another, a long stretch, and forty blocks of which each goes back to a head, or on; then two arms.
  constexpr int kHeads = 40, kTails = kHeads + 380, kEnd = kTails + kHeads + 1;
  std::vector<std::vector<int>> to;
  for (int b = 0; b < kEnd; ++b) to.push_back(b <= kTails ? std::vector{b + 1} : std::vector{b - kTails, b + 1});
  for (const std::vector<int>& two_arms : {std::vector{kEnd + 1, kEnd + 2}, {kEnd + 3}, {kEnd + 3}, {}}) to.push_back(two_arms);
  const ir::Function f = parse_function(graph_text(to));
  const ir::Cfg cfg(f);
  const Dominators tree(cfg);
  int too_large = 0;
  for (int b = 2; b <= kHeads; ++b) {
    const std::uint32_t at = tree.position(ir::BlockId(static_cast<std::uint32_t>(b)));
    const Dominators::Above& above = tree.above(at);
    const std::uint32_t end = tree.end(tree.preorder()[above.dominator]);
    EXPECT_EQ(tree.preorder()[above.dominator].value, static_cast<std::uint32_t>(b - 1));
    EXPECT_EQ(above.begin, at);
    EXPECT_GT(above.end, tree.position(ir::BlockId(kEnd - 1)));
    EXPECT_LE(above.end, end);
    too_large += above.end == end ? 1 : 0;
  }
  EXPECT_GT(too_large, kHeads / 4);
  EXPECT_LT(too_large, kHeads);
  // That leaves room for the small ones.
  const Dominators::Above& small = tree.above(tree.position(ir::BlockId(kEnd + 3)));
  EXPECT_EQ(small.end - small.begin, 2u);
}

TEST(ValueGraph, LargeRegionsAreThoseOfReachability) {
  // Loops around loops, and in the innermost one two long arms: together the regions are too large to be listed, but few of their
  // blocks dominate the blocks that go back.
  constexpr int kHeads = 12, kArm = 50, kJoin = kHeads + 2 * kArm, kTails = kJoin + 1;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    std::vector<std::vector<int>> to;
    for (int b = 0; b + 1 < kHeads; ++b) to.push_back({b + 1});
    to.push_back({kHeads, kHeads + kArm});
    for (int arm = kHeads; arm < kJoin; arm += kArm) {
      for (int b = arm; b + 1 < arm + kArm; ++b) {
        to.push_back({b + 1});
        const int other = std::clamp(b + random.between(-2, 4), arm, arm + kArm - 1);
        if (other != b + 1 && random.below(4) == 0) to.back().push_back(other);
      }
      to.push_back({kJoin});
    }
    to[kHeads + kArm - 1].push_back(kJoin - kArm / 2);  // from one arm into the other
    to.push_back({kTails});
    for (int b = 0; b < kHeads; ++b) to.push_back({kTails + b + 1, kHeads - 1 - b});
    to.push_back({});
    to[kTails + kHeads - 1] = {kTails + kHeads};  // nothing goes back to the entry
    to.push_back({kHeads - 2});                   // a block that nothing goes to
    expect_dominators(parse_function(graph_text(to)));
  }
}

TEST(ValueGraph, LoopsStandBeforeWhatFollowsThem) {
  // The loop's body is numbered last, and its region is narrow nevertheless.
  const ir::Function f = parse_function(graph_text({{1}, {2, 4}, {3}, {}, {5}, {1}}));
  const ir::Cfg cfg(f);
  const Dominators tree(cfg);
  EXPECT_LT(tree.position(ir::BlockId(4)), tree.position(ir::BlockId(2)));
  // And where the body comes first by number.
  const ir::Function g = parse_function(graph_text({{1}, {4, 2}, {3}, {}, {5}, {1}}));
  const ir::Cfg other_cfg(g);
  const Dominators other(other_cfg);
  EXPECT_LT(other.position(ir::BlockId(4)), other.position(ir::BlockId(2)));
}

}  // namespace
}  // namespace regduel::oracles
