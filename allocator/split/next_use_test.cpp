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
  // At the head of a block; null = it is not live there.
  [[nodiscard]] const NextUse::AtHead* at_head(std::uint32_t candidate, std::uint32_t block) const {
    for (const NextUse::AtHead& head : next->live_at_head(ir::BlockId(block)))
      if (head.candidate == candidate) return &head;
    return nullptr;
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
  ASSERT_NE(s.at_head(1, 1), nullptr);
  EXPECT_EQ(s.at_head(1, 1)->distance, NextUse::kLeavesLoop + 6);
  ASSERT_NE(s.at_head(1, 2), nullptr);
  EXPECT_EQ(s.at_head(1, 2)->distance, 3);
  EXPECT_EQ(s.at_head(2, 1), nullptr) << "written before it is read";
  EXPECT_EQ(s.at_head(0, 2), nullptr) << "dead";
}

TEST(NextUse, RefillsStandWhereTheyAreExecutedLeast) {
  const Subject s(kLoop);
  ASSERT_NE(s.at_head(0, 1), nullptr);
  EXPECT_EQ(s.at_head(0, 1)->fewest_refills, 10) << "the loop reads it";
  ASSERT_NE(s.at_head(1, 1), nullptr);
  EXPECT_EQ(s.at_head(1, 1)->fewest_refills, 1) << "behind the loop, at the head of b2";
}

TEST(NextUse, DistancesGoAroundALoopOfSeveralBlocks) {
  const Subject s(R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 st %0 !write
      #3 %1 = isetp 0
      #4 cbra %1 -> b2, b3
    block b2
      #5 bra -> b1
    block b3
      #6 exit
)");
  ASSERT_NE(s.at_head(0, 2), nullptr);
  EXPECT_EQ(s.at_head(0, 2)->distance, 2);
  EXPECT_EQ(s.at_head(0, 2)->fewest_refills, 10);
  EXPECT_EQ(s.next->behind(0, 2), 4) << "through b2";
}

TEST(NextUse, OnlyWhatADefReachesIsLiveAtAHeadAndOnAnEdge) {
  const Subject s(R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %1 = isetp 0
      #1 cbra %1 -> b1, b2
    block b1
      #2 %0 = ld 0
      #3 bra -> b3
    block b2
      #4 bra -> b3
    block b3
      #5 st %0 !write
      #6 exit
)");
  EXPECT_EQ(s.at_head(0, 1), nullptr);
  EXPECT_EQ(s.at_head(0, 2), nullptr) << "no def reaches it";
  EXPECT_NE(s.at_head(0, 3), nullptr);
  const auto on_edge = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> list;
    s.next->for_each_on_edge(ir::BlockId(from), ir::BlockId(to), [&](std::uint32_t c) { list.push_back(c); });
    return list;
  };
  EXPECT_EQ(on_edge(1, 3), std::vector<std::uint32_t>{0});
  EXPECT_EQ(on_edge(2, 3), std::vector<std::uint32_t>{});
}

TEST(NextUse, AGuardedDefNeedsTheOldValue) {
  const Subject s(testing::kGuardedDef, {0, 1});
  EXPECT_EQ(s.next->behind(0, 0), 2);
}

}  // namespace
}  // namespace regduel::allocator
