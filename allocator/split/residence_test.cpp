#include "allocator/split/residence.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// All vregs of file R are candidates, in their order, and global. Of the last one of so many walks.
Residence residence(const ir::Function& f, int registers, int walks = 1, const std::set<std::uint32_t>& recomputed = {}) {
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  SplitCandidates candidates;
  candidates.number_of.assign(f.vregs.size(), SplitCandidates::kNone);
  for (std::uint32_t v = 0; v < f.vregs.size(); ++v) {
    if (f.vregs[v].file() != ir::RegFile::R) continue;
    candidates.number_of[v] = static_cast<std::uint32_t>(candidates.size());
    candidates.vregs.push_back(ir::VRegId(v));
  }
  candidates.num_global = candidates.size();
  const Budget budget = Budget::of(f, ir::default_target(), testing::limits(registers));
  Registers scarce{budget};
  scarce.is_scarce[ir::index(ir::RegFile::R)] = true;
  const std::vector<int> depths = loop_depths(f, cfg);
  const std::vector<std::int64_t> frequency = block_frequencies(f, cfg, 10);
  const NextUse next(f, cfg, live, candidates, {frequency, depths});
  std::vector<char> is_recomputed(f.vregs.size(), 0);
  for (const std::uint32_t v : recomputed) is_recomputed[v] = 1;
  const MoveWeights weights{frequency, is_recomputed};
  Residence r = find_residence(f, cfg, live, scarce, candidates, next, weights);
  for (int walk = 1; walk < walks; ++walk) r = find_residence(f, cfg, live, scarce, candidates, next, weights, &r);
  return r;
}
std::vector<std::string> events(const Residence& r) {
  std::vector<std::string> list;
  for (const Residence::Event& e : r.events)
    list.push_back((e.kind == Residence::Event::Kind::Load ? "load " : "leave ") + std::to_string(e.candidate) + " before " +
                   std::to_string(e.inst));
  return list;
}

TEST(Residence, TheOneThatIsUsedLastLeaves) {
  const auto f = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1 !write
      #4 st %2 !write
      #5 st %0 !write
      #6 exit
)");
  EXPECT_THAT(events(residence(f, 2)), ElementsAre("leave 0 before 2", "load 0 before 5"));
  EXPECT_THAT(residence(f, 2).is_split, ElementsAre(1, 0, 0));
  EXPECT_THAT(events(residence(f, 3)), IsEmpty());
}

// %1 is used later than %0, but costs four bytes and a store; %0 is computed again by one instruction.
TEST(Residence, WhatIsComputedAgainLeavesFirst) {
  const auto f = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = const 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %2 !write
      #4 st %0 !write
      #5 st %1 !write
      #6 exit
)");
  EXPECT_THAT(events(residence(f, 2)), ElementsAre("leave 1 before 2", "load 1 before 5"));
  EXPECT_THAT(events(residence(f, 2, 1, {0})), ElementsAre("leave 0 before 2", "load 0 before 4"));
}

// At #6 %0 is in memory already, so that it leaves for less than %2, which is used last.
TEST(Residence, WhatIsInMemoryLeavesBeforeWhatHasToBeStored) {
  const auto f = testing::program(R"(
    vreg %0..%3 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1 !write
      #4 st %0 !write
      #5 st %2 !write
      #6 %3 = ld 3
      #7 st %3 !write
      #8 st %0 !write
      #9 st %2 !write
      #10 exit
)");
  EXPECT_THAT(events(residence(f, 2)), ElementsAre("leave 0 before 2", "load 0 before 4", "leave 0 before 6", "load 0 before 8"));
}

// Both arms need both registers, so %0 is in no register on the edges into b3. One refill in b3 serves both arms; on the edges
// there would be two.
TEST(Residence, BehindAJoinOneRefillServesBothArms) {
  const auto f = testing::program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %2 = isetp 0
      #2 cbra %2 -> b1, b2
    block b1
      #3 %1 = ld 1
      #4 st %1 !write
      #5 bra -> b3
    block b2
      #6 %1 = ld 2
      #7 st %1 !write
      #8 bra -> b3
    block b3
      #9 st %0 !write
      #10 exit
)");
  const Residence r = residence(f, 2);
  EXPECT_THAT(r.at_head[3], IsEmpty());
  EXPECT_THAT(events(r), ElementsAre("leave 0 before 6", "leave 0 before 3", "load 0 before 9"));
}

// One arm needs both registers, and pays alone.
TEST(Residence, WhatLeftInOneArmComesBackOnItsEdge) {
  const auto f = testing::program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %2 = isetp 0
      #2 cbra %2 -> b1, b2
    block b1
      #3 %1 = ld 1
      #4 st %1 !write
      #5 bra -> b2
    block b2
      #6 st %0 !write
      #7 exit
)");
  const Residence r = residence(f, 2);
  EXPECT_THAT(r.at_end[1], IsEmpty());
  EXPECT_THAT(r.at_head[2], ElementsAre(0));
}

// A pair needs both registers behind the read of %0. That the end of the loop leaves %0 in one is a guess, which the second walk
// sees to be wrong: a refill on the way back saves none at the read.
TEST(Residence, ALaterWalkKnowsWhatTheEndOfALoopLeaves) {
  const auto f = testing::program(testing::kReadInALoop);
  EXPECT_THAT(residence(f, 2, 1).at_head[1], ElementsAre(0));
  const Residence r = residence(f, 2, 2);
  EXPECT_THAT(r.at_head[1], IsEmpty());
  EXPECT_THAT(events(r), ElementsAre("load 0 before 2", "leave 0 before 3"));
}

TEST(Residence, PairsHaveNoUseForAUnitAlone) {
  const auto f = testing::program(R"(
    vreg %0..%1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0 !write
      #3 st %1 !write
      #4 %2 = ld 2
      #5 %0 = ld 3
      #6 st %0, %2 !write
      #7 exit
)");
  EXPECT_THAT(events(residence(f, 3)), ElementsAre("leave 0 before 1", "load 0 before 2", "leave 1 before 2", "load 1 before 3"));
  EXPECT_THAT(events(residence(f, 4)), IsEmpty());
}

TEST(Residence, AQuadTakesPairsWhole) {
  // Three units of a b96 value leave one of six that no pair has a use for.
  const auto f = testing::program(R"(
    vreg %0 R b96
    vreg %1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1 !write
      #4 st %2, %0 !write
      #5 exit
)");
  EXPECT_THAT(events(residence(f, 6)), IsEmpty());
  EXPECT_THAT(events(residence(f, 5)), ElementsAre("leave 0 before 1", "load 0 before 4"));
}

// A clobber leaves one register of two: of the values that live across it, the one that is used later leaves.
TEST(Residence, ClobbersTakeRoom) {
  const auto f = testing::program(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 call "f" clobbers R0
      #3 st %0 !write
      #4 st %1 !write
      #5 exit
)");
  EXPECT_THAT(events(residence(f, 2)), ElementsAre("leave 1 before 2", "load 1 before 4"));
}

// Of a guarded def the old value stays, so that it cannot leave at the clobbers of the same instruction.
TEST(Residence, WhatAGuardedDefKeepsStays) {
  const auto f = testing::program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = isetp 0
      #3 @%2 %0 = lop clobbers R0
      #4 st %1 !write
      #5 st %0 !write
      #6 exit
)");
  EXPECT_THAT(events(residence(f, 2)), ElementsAre("leave 1 before 3", "load 1 before 4"));
}

TEST(Residence, AtTheHeadOfALoopStandsWhatItReads) {
  const auto f = testing::program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %2 = ld 2
      #4 st %1, %2 !write
      #5 %3 = isetp 0
      #6 cbra %3 -> b1, b2
    block b2
      #7 st %0 !write
      #8 exit
)");
  const Residence r = residence(f, 2);
  EXPECT_THAT(r.at_head[1], ElementsAre(1));
  EXPECT_THAT(r.at_end[0], ElementsAre(0, 1)) << "it leaves on the edge";
  EXPECT_THAT(r.is_split, ElementsAre(1, 0, 0));
  EXPECT_THAT(residence(f, 3).at_head[1], ElementsAre(0, 1)) << "what only lives through takes what the loop leaves";
}

// %0 leaves for b0, and the loop would have room for it; but it is read behind the loop only, where it can come back as well.
TEST(Residence, NothingComesBackForALoopThatDoesNotReadIt) {
  const auto f = testing::program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1, %2 !write
      #4 bra -> b1
    block b1
      #5 %3 = isetp 0
      #6 cbra %3 -> b1, b2
    block b2
      #7 st %0 !write
      #8 exit
)");
  const Residence r = residence(f, 2);
  EXPECT_THAT(r.at_head[1], IsEmpty());
  EXPECT_THAT(events(r), ElementsAre("leave 0 before 2", "load 0 before 7"));
}

}  // namespace
}  // namespace regduel::allocator
