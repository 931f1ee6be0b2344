// Loop depths by hand, and of random graphs against their definition taken literally: components found by asking of each two blocks
// whether one leads to the other.

#include "ir/loops.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

using ::testing::ElementsAre;

Function program(const std::string& body) {
  const auto module = parse("rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 P pred\n" + body);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : Function();
}

TEST(LoopDepths, NestsLoopsReducibleOrNot) {
  const Function nest = program(R"(  block b0
    #0 bra -> b1
  block b1
    #1 bra -> b2
  block b2
    #2 cbra %0 -> b2, b3
  block b3
    #3 cbra %0 -> b1, b4
  block b4
    #4 cbra %0 -> b5, b6
  block b5
    #5 cbra %0 -> b6, b7
  block b6
    #6 cbra %0 -> b5, b7
  block b7
    #7 exit
  block b8
    #8 bra -> b8
)");
  EXPECT_THAT(loop_depths(nest, Cfg(nest)), ElementsAre(0, 1, 2, 1, 0, 1, 1, 0, 0));
  EXPECT_THAT(block_frequencies(nest, Cfg(nest)), ElementsAre(1, 10, 100, 10, 1, 10, 10, 1, 1));
}

TEST(LoopDepths, TheEntryMayBeALoop) {
  const Function f = program("  block b0\n    #0 cbra %0 -> b0, b1\n  block b1\n    #1 exit\n");
  EXPECT_THAT(loop_depths(f, Cfg(f)), ElementsAre(1, 0));
}

TEST(BlockFrequencies, GivenFiguresWin) {
  const Function f = program(R"(  block b0 depth 3
    #0 bra -> b1
  block b1 freq 7 depth 2
    #1 cbra %0 -> b1, b2
  block b2 freq 5000000000
    #2 bra -> b3
  block b3 depth 30
    #3 exit
)");
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  EXPECT_THAT(loop_depths(f, Cfg(f)), ElementsAre(3, 2, 0, 30));
  EXPECT_THAT(block_frequencies(f, Cfg(f), 8), ElementsAre(512, 7, kMost, kMost));
  EXPECT_THAT(block_frequencies(f, Cfg(f), 1), ElementsAre(1, 7, kMost, 1));
  EXPECT_THAT(block_weights(f, Cfg(f)), ElementsAre(1000, 7, kMostWeight, kMostWeight));
}

// Depths of the blocks of `part`, from those that lead to each other within it.
void add_depths(const Cfg& cfg, const std::set<std::uint32_t>& part, std::vector<int>& depths) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> leads;
  for (const std::uint32_t from : part)
    for (const BlockId to : cfg.successors(BlockId(from)))
      if (part.contains(to.value)) leads.emplace(from, to.value);
  for (const std::uint32_t over : part)
    for (const std::uint32_t from : part)
      for (const std::uint32_t to : part)
        if (leads.contains({from, over}) && leads.contains({over, to})) leads.emplace(from, to);
  std::set<std::uint32_t> left = part;
  while (!left.empty()) {
    const std::uint32_t first = *left.begin();
    std::set<std::uint32_t> loop;
    for (const std::uint32_t b : part)
      if (leads.contains({first, b}) && leads.contains({b, first})) loop.insert(b);
    left.erase(first);
    if (loop.empty()) continue;
    std::uint32_t header = first;
    for (const std::uint32_t b : loop) {
      left.erase(b);
      ++depths[b];
      if (cfg.rpo_index(BlockId(b)) < cfg.rpo_index(BlockId(header))) header = b;
    }
    loop.erase(header);
    add_depths(cfg, loop, depths);
  }
}

TEST(LoopDepths, AgreeWithTheirDefinition) {
  Random random(4);
  for (int k = 0; k < 3000; ++k) {
    Function f;
    const int num_blocks = random.between(2, 9);
    for (int b = 0; b < num_blocks; ++b) {
      f.begin_block();
      std::vector<BlockId> to;
      for (int n = random.between(1, 3); n > 0; --n) to.emplace_back(random.between(0, num_blocks - 1));
      Inst i;
      i.id = InstId(b);
      i.op = to.size() == 1 ? Op::Bra : Op::MBra;
      f.append(i, {}, to);
    }
    const Cfg cfg(f);
    std::set<std::uint32_t> all;
    for (const BlockId b : cfg.reverse_postorder()) all.insert(b.value);
    std::vector<int> depths(f.blocks.size(), 0);
    add_depths(cfg, all, depths);
    ASSERT_EQ(loop_depths(f, cfg), depths) << print(f);
  }
}

}  // namespace
}  // namespace regduel::ir
