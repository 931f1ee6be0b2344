#include "allocator/split/next_use.h"

#include <optional>

#include <gtest/gtest.h>

#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

// A program with every vreg a candidate; `locals` are numbered behind the others.
struct Subject {
  explicit Subject(std::string_view body, std::vector<std::uint32_t> locals = {})
      : f(testing::program(body)), cfg(f), live(f, cfg), depths(loop_depths(f, cfg)), frequency(block_frequencies(f, cfg, 10)) {
    candidates.number_of.assign(f.vregs.size(), SplitCandidates::kNone);
    const auto is_local = [&](std::uint32_t v) { return std::find(locals.begin(), locals.end(), v) != locals.end(); };
    for (const bool local : {false, true}) {
      for (std::uint32_t v = 0; v < f.vregs.size(); ++v) {
        if (is_local(v) != local) continue;
        candidates.number_of[v] = static_cast<std::uint32_t>(candidates.size());
        candidates.vregs.push_back(ir::VRegId(v));
      }
      if (!local) candidates.num_global = candidates.size();
    }
    next.emplace(f, cfg, live, candidates, BlockWeights{frequency, depths});
  }
  ir::Function f;
  ir::Cfg cfg;
  Liveness live;
  std::vector<int> depths;
  std::vector<std::int64_t> frequency;
  SplitCandidates candidates;
  std::optional<NextUse> next;
};

TEST(NextUse, CountsInstructionsInABlock) {
  const Subject s(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0 !write
      #3 %0 = ld 2
      #4 st %0, %1 !write
      #5 exit
)",
                  {0, 1});
  EXPECT_EQ(s.next->behind(0, 0), 2);
  EXPECT_EQ(s.next->behind(0, 2), NextUse::kNever) << "defined anew before it is read";
  EXPECT_EQ(s.next->behind(0, 3), 1);
  EXPECT_EQ(s.next->behind(1, 1), 3);
  EXPECT_EQ(s.next->behind(1, 4), NextUse::kNever);
}

// A loop that runs ten times reads %0; %1 is read behind it, or in one arm and behind both.
constexpr std::string_view kLoop = R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 st %0 !write
      #4 %2 = isetp 0
      #5 cbra %2 -> b1, b2
    block b2
      #6 %2 = isetp 0
      #7 cbra %2 -> b3, b4
    block b3
      #8 st %1 !write
      #9 bra -> b4
    block b4
      #10 st %1 !write
      #11 exit
)";

TEST(NextUse, WhatIsBehindALoopIsFarFromInsideIt) {
  const Subject s(kLoop);
  EXPECT_EQ(s.next->behind(0, 0), 3);
  EXPECT_EQ(s.next->behind(0, 3), 3) << "around the loop";
  EXPECT_EQ(s.next->at_head(1, 1), NextUse::kLeavesLoop + 6);
  EXPECT_EQ(s.next->at_head(1, 2), 3);
  EXPECT_TRUE(s.next->is_live_at_head(1, 1));
  EXPECT_FALSE(s.next->is_live_at_head(2, 1)) << "written before it is read";
  EXPECT_FALSE(s.next->is_live_at_head(0, 2));
}

TEST(NextUse, RefillsStandWhereTheyAreExecutedLeast) {
  const Subject s(kLoop);
  EXPECT_EQ(s.next->fewest_refills(0, 1), 10) << "the loop reads it";
  EXPECT_EQ(s.next->fewest_refills(1, 1), 1) << "behind the loop, at the head of b2";
  EXPECT_EQ(s.next->fewest_refills(1, 0), 0) << "written before it is read";
  EXPECT_EQ(s.next->fewest_refills(0, 2), 0) << "dead";
}

TEST(NextUse, AGuardedDefNeedsTheOldValue) {
  const Subject s(testing::kGuardedDef, {0, 1});
  EXPECT_EQ(s.next->behind(0, 0), 2);
}

}  // namespace
}  // namespace regduel::allocator
