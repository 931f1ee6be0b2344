// memcheck against hand-made allocations: correct ones of every shape, which it must accept, and ones with a single defect, each
// with the category that it must find; its report; its speed.

#include "oracles/memcheck/memcheck.h"

#include <ctime>
#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/testing.h"
#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::categories;
using testing::describe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Pair;

JudgeResult judge(const Pair& p) { return testing::judge_pair(memcheck_judge(), p); }
void expect_pass(const Pair& p) { testing::expect_pass(memcheck_judge(), p); }
void expect_category(const Pair& p, std::string_view category) { testing::expect_category(memcheck_judge(), p, category); }

std::string replaced(const std::string& text, std::string_view from, std::string_view to) { return testing::edit(text, from, to); }

constexpr std::string_view kSpillRefill = "memcheck-1-spill-refill-mismatch";
constexpr std::string_view kRefillUninit = "memcheck-2-refill-reads-uninitialized";
constexpr std::string_view kP2rPattern = "memcheck-3-p2r-r2p-pattern-failure";
constexpr std::string_view kBitPattern = "memcheck-4-bit-spill-refill-failure";
constexpr std::string_view kUninit = "memcheck-5-uninitialized-value-introduced";
constexpr std::string_view kExtra = "memcheck-6-extra-defs-introduced";
constexpr std::string_view kRemat = "memcheck-7-rematerialization-mismatch";
constexpr std::string_view kP2rBase = "memcheck-8-p2r-r2p-base-destroyed";
constexpr std::string_view kBitBase = "memcheck-9-bit-spill-base-destroyed";
constexpr std::string_view kGone = "memcheck-10-definitions-disappeared";

const std::string kThreeR = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n";

// ---------------------------------------------------------------------------------------------------------------
// Straight lines

Pair two_spilled() {
  return {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 %2 = c\n    #3 use %0, %1, %2 !write\n    #4 exit\n",
          "  block b0\n    #0 R0 = a\n    +10 spill R0, slot 0\n    #1 R0 = b\n    +11 spill R0, slot 1\n    #2 R0 = c\n"
          "    +12 R1 = refill slot 0\n    +13 R2 = refill slot 1\n    #3 use R1, R2, R0 !write\n    #4 exit\n"};
}

TEST(MemcheckTest, AcceptsSpillsAndRefills) { expect_pass(two_spilled()); }

TEST(MemcheckTest, FindsSwappedSlots) {
  Pair p = two_spilled();
  p.after = replaced(replaced(p.after, "R1 = refill slot 0", "R1 = refill slot 1"), "R2 = refill slot 1", "R2 = refill slot 0");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, FindsARefillOfMemoryThatWasNeverWritten) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "    +10 spill R0, slot 0\n", "");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, FindsAStaleSlotAfterReuse) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "+11 spill R0, slot 1", "+11 spill R0, slot 0");
  p.after = replaced(p.after, "R2 = refill slot 1", "R2 = refill slot 0");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kSpillRefill));
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(3));
  EXPECT_EQ(r.findings[0].operand, 0);
  EXPECT_EQ(r.findings[0].other, ir::InstId(12));
}

TEST(MemcheckTest, SeesThatSlotsOverlap) {
  Pair p = two_spilled();
  p.slots = replaced(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 1 offset 2");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, LocalAndSharedFramesAreApart) {
  Pair p = two_spilled();
  p.slots = replaced(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 shared size 4 align 4 offset 0");
  expect_pass(p);
}

TEST(MemcheckTest, FindsARegisterReusedWhileItIsLive) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "    +13 R2 = refill slot 1\n", "    +13 R2 = refill slot 1\n    +14 R1 = copy R2\n");
  expect_category(p, kSpillRefill);  // what came too much came through a refill
  Pair q = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #3 use %0, %1 !write\n    #4 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 R0 = b\n    #3 use R0, R0 !write\n    #4 exit\n"};
  expect_category(q, kExtra);
}

TEST(MemcheckTest, LooksThroughCopyChains) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 %2 = copy %1\n    #3 use %2, %0 !write\n    #4 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 !deleted\n    #2 spill R0, slot 0\n    +9 R7, R8 = copy R0, R0\n    +10 R8, R7 = "
            "copy R7, R8\n"
            "    +11 R9 = refill slot 0\n    #3 use R9, R8 !write\n    #4 exit\n"};
  p.after = replaced(p.after, "#1 !deleted", "#1 copy !deleted");
  expect_pass(p);
}

TEST(MemcheckTest, ParallelCopiesReadBeforeTheyWrite) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #3 use %0, %1 !write\n    #4 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    +9 R0, R1 = copy R1, R0\n    #3 use R1, R0 !write\n    #4 exit\n"};
  expect_pass(p);
  Pair broken = p;
  broken.after = replaced(p.after, "+9 R0, R1 = copy R1, R0", "+9 R0 = copy R1\n    +8 R1 = copy R0");
  expect_category(broken, kExtra);
}

TEST(MemcheckTest, FindsACallThatClobbersALiveValue) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 call \"g\" clobbers R0:R3\n    #2 use %0 !write\n    #3 exit\n",
            "  block b0\n    #0 R4 = a\n    #1 call \"g\" clobbers R0:R3\n    #2 use R4 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(replaced(p.after, "R4 = a", "R3 = a"), "use R4", "use R3");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kUninit));
  EXPECT_EQ(r.findings.at(0).other, ir::InstId(1));
}

TEST(MemcheckTest, AResultMayStandInAClobberedRegister) {
  expect_pass(
      {kThreeR,
       "  block b0\n    #0 %0 = a\n    #1 %1{=R0} = call \"g\", %0{=R0} clobbers R0:R3\n    #2 use %1 !write\n    #3 exit\n",
       "  block b0\n    #0 R0 = a\n    #1 R0 = call \"g\", R0 clobbers R0:R3\n    #2 use R0 !write\n    #3 exit\n"});
}

TEST(MemcheckTest, FindsAnEarlyClobberInTheRegisterOfAUse) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1{early} = op %0\n    #2 use %1 !write\n    #3 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 R1 = op R0\n    #2 use R1 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(replaced(p.after, "R1 = op R0", "R0 = op R0"), "use R1", "use R0");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kUninit));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(1));
}

TEST(MemcheckTest, FindsTwoDefsInOneRegister) {
  const Pair base = {kThreeR, "  block b0\n    #0 %0, %1 = two\n    #1 use %0 !write\n    #2 exit\n",
                     "  block b0\n    #0 R0, R0 = two\n    #1 use R0 !write\n    #2 exit\n"};
  expect_category(base, kExtra);
  Pair second = base;
  second.before = replaced(base.before, "use %0", "use %1");
  expect_category(second, kExtra);
}

TEST(MemcheckTest, ADefUseWritesOverWhatItReads) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %0{inout} = add 1\n    #2 use %0 !write\n    #3 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 R0{inout} = add 1\n    #2 use R0 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(p.after, "#1 R0{inout}", "#1 R1{inout}");
  EXPECT_THAT(categories(judge(p)), ElementsAre(kUninit, kExtra));  // #1 reads nothing, and #2 the old value
}

// ---------------------------------------------------------------------------------------------------------------
// Bytes

const std::string kPairVregs = "  vreg %0 R b64\n  vreg %1 R b32\n";

TEST(MemcheckTest, FindsAClobberedHalf) {
  Pair p = {kPairVregs, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
            "  block b0\n    #0 R0:R1 = a\n    #1 R2 = b\n    #2 use R0:R1, R2 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(replaced(p.after, "R2 = b", "R1 = b"), "use R0:R1, R2", "use R0:R1, R1");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, FindsSwappedHalves) {
  Pair p = {kPairVregs, "  block b0\n    #0 %0 = a\n    #2 use %0 !write\n    #3 exit\n",
            "  block b0\n    #0 R0:R1 = a\n    +9 R2, R3 = copy R0, R1\n    #2 use R2:R3 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(p.after, "copy R0, R1", "copy R1, R0");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, SpillsHalvesByThemselves) {
  Pair p = {kPairVregs, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
            "  block b0\n    #0 R0:R1 = a\n    +9 spill R1, slot 2 + 4\n    +8 spill R0, slot 2\n    #1 R0 = b\n"
            "    +7 R2:R3 = refill slot 2\n    #2 use R2:R3, R0 !write\n    #3 exit\n"};
  expect_pass(p);
  p.after = replaced(p.after, "slot 2 + 4", "slot 1");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, PartsKeepTheOtherBytes) {
  Pair p = {"  vreg %0 R b32\n  vreg %1 R b16 alias %0.h1\n",
            "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0.h0, %1 !write\n    #3 use %0 !write\n    #4 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 R0.h1 = b\n    +9 spill R0.h1, slot 0 + 2\n    +8 spill R0.h0, slot 0\n    +7 R5 = "
            "refill slot 0\n"
            "    #2 use R0.h0, R5.h1 !write\n    #3 use R5 !write\n    #4 exit\n"};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = replaced(p.after, "#1 R0.h1 = b", "#1 R0.h0 = b");
  const JudgeResult r = judge(wrong);
  EXPECT_EQ(r.verdict, Verdict::Fail);
}

TEST(MemcheckTest, NarrowVregsOwnAWholeUnit) {
  Pair p = {"  vreg %0 R b16\n  vreg %1 R b8\n  vreg %2 R b32\n",
            "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
            "  block b0\n    #0 R0 = a\n    +9 spill R0, slot 0\n    #1 R0 = b\n    +8 R1 = refill slot 0\n    +7 R2 = copy R1\n"
            "    #2 use R2, R0 !write\n    #3 exit\n"};
  expect_pass(p);
  // A narrow def in the register of a live wide value leaves nothing of it.
  Pair q = {"  vreg %0 R b32\n  vreg %1 R b16\n",
            "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
            "  block b0\n    #0 R0 = a\n    #1 R0 = b\n    #2 use R0, R0 !write\n    #3 exit\n"};
  expect_category(q, kExtra);
}

// ---------------------------------------------------------------------------------------------------------------
// Paths

Pair loop_with_spill() {
  return {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n",
          "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 bra -> b1\n"
          "  block b1\n    #3 %1 = add %1, %0\n    #4 %2 = cmp %1\n    #5 cbra %2 -> b1, b2\n"
          "  block b2\n    #6 use %0, %1 !write\n    #7 exit\n",
          "  block b0\n    #0 R0 = a\n    +20 spill R0, slot 0\n    #1 R0 = b\n    +21 spill R0, slot 1\n    #2 bra -> b1\n"
          "  block b1\n    +22 R1 = refill slot 1\n    +23 R0 = refill slot 0\n    #3 R1 = add R1, R0\n    +24 spill R1, slot 1\n"
          "    #4 P0 = cmp R1\n    #5 cbra P0 -> b1, b2\n"
          "  block b2\n    +25 R0 = refill slot 1\n    +26 R1 = refill slot 0\n    #6 use R1, R0 !write\n    #7 exit\n"};
}

TEST(MemcheckTest, AcceptsSpillsInLoops) { expect_pass(loop_with_spill()); }

TEST(MemcheckTest, FindsADefThatDisappears) {
  Pair p = loop_with_spill();
  p.after = replaced(p.after, "    +24 spill R1, slot 1\n", "");
  // In the loop the first value is still right once; after it, never.
  EXPECT_THAT(categories(judge(p)), ElementsAre(kSpillRefill, kGone));
}

Pair diamond() {
  return {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n",
          "  block b0\n    #0 %0 = a\n    #1 %2 = p\n    #2 cbra %2 -> b1, b2\n"
          "  block b1\n    #3 %1 = b\n    #4 use %1 !write\n    #5 bra -> b3\n  block b2\n    #6 bra -> b3\n"
          "  block b3\n    #7 use %0 !write\n    #8 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    +20 spill R0, slot 0\n    #2 cbra P0 -> b1, b2\n"
          "  block b1\n    #3 R0 = b\n    #4 use R0 !write\n    +21 R0 = refill slot 0\n    #5 bra -> b3\n  block b2\n    #6 bra "
          "-> b3\n"
          "  block b3\n    #7 use R0 !write\n    #8 exit\n"};
}

TEST(MemcheckTest, FindsARefillMissingOnOnePath) {
  expect_pass(diamond());
  Pair p = diamond();
  p.after = replaced(p.after, "    +21 R0 = refill slot 0\n", "");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, FindsAStoreMissingOnOnePath) {
  Pair p = diamond();
  p.after = replaced(p.after, "    +20 spill R0, slot 0\n", "");
  p.after = replaced(p.after, "    +21 R0 = refill slot 0\n", "");
  p.after = replaced(p.after, "    #3 R0 = b\n", "    #3 R1 = b\n");
  p.after = replaced(p.after, "    #4 use R0 !write\n", "    #4 use R1 !write\n    +21 spill R0, slot 0\n");
  p.after = replaced(p.after, "    #7 use R0", "    +22 R0 = refill slot 0\n    #7 use R0");
  expect_category(p, kRefillUninit);
}

TEST(MemcheckTest, PhisBecomeCopiesOnEdges) {
  Pair p = {
      kThreeR + "  vreg %3 P pred\n",
      "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 bra -> b1\n"
      "  block b1\n    #3 %2 = phi b0: %0, b1: %1\n    #4 %1 = phi b0: %1, b1: %2\n    #5 %3 = p %2\n    #6 cbra %3 -> b1, b2\n"
      "  block b2\n    #7 use %2, %1 !write\n    #8 exit\n",
      // the swap problem: both phis in parallel, on the back edge
      "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 bra -> b1\n"
      "  block b1\n    #3 phi !deleted\n    #4 phi !deleted\n    #5 P0 = p R0\n    #6 cbra P0 -> b3, b2\n"
      "  block b2\n    #7 use R0, R1 !write\n    #8 exit\n"
      "  block b3 edge b1 -> b1\n    +20 R0, R1 = copy R1, R0\n    +21 bra -> b1\n"};
  expect_pass(p);
  Pair sequential = p;
  sequential.after = replaced(p.after, "+20 R0, R1 = copy R1, R0", "+20 R0 = copy R1\n    +22 R1 = copy R0");
  expect_category(sequential, kGone);
}

// Each word of a pair has a phi of its own.
TEST(MemcheckTest, PhisOfPairsBecomeCopiesOfPairs) {
  const Pair p = {
      "  vreg %0 R b64\n  vreg %1 P pred\n  vreg %2 R b64\n",
      "  block b0\n    #0 %0 = a\n    #1 %1 = p\n    #2 cbra %1 -> b1, b2\n  block b1\n    #3 %0 = b\n    #4 bra -> b2\n"
      "  block b2\n    #5 %2 = phi b0: %0, b1: %0\n    #6 use %2.hi !write\n    #7 exit\n",
      "  block b0\n    #0 R0:R1 = a\n    #1 P0 = p\n    #2 cbra P0 -> b1, b2\n  block b1\n    #3 R0:R1 = b\n"
      "    #4 bra -> b2\n  block b2\n    #5 phi !deleted\n    #6 use R0:R1.hi !write\n    #7 exit\n"};
  expect_pass(p);
  EXPECT_EQ(testing::judge_pair(memcheck_judge(), {p.vregs, p.before, testing::edit(p.after, "R0:R1.hi", "R0:R1.lo")}).verdict,
            Verdict::Fail);
}

TEST(MemcheckTest, AKeptPhiReadsAtTheEndOfItsPredecessors) {
  Pair p = {
      kThreeR + "  vreg %3 P pred\n",
      "  block b0\n    #0 %3 = p\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = a\n    #3 bra -> b3\n"
      "  block b2\n    #4 %1 = b\n    #5 bra -> b3\n  block b3\n    #6 %2 = phi b1: %0, b2: %1\n    #7 use %2 !write\n    #8 "
      "exit\n",
      "  block b0\n    #0 P0 = p\n    #1 cbra P0 -> b1, b2\n  block b1\n    #2 R3 = a\n    #3 bra -> b4\n"
      "  block b2\n    #4 R3 = b\n    #5 bra -> b3\n  block b3\n    #6 R3 = phi b1: R3, b2: R3\n    #7 use R3 !write\n    #8 exit\n"
      "  block b4 edge b1 -> b3\n    +20 bra -> b3\n"};
  expect_pass(p);
  p.after = replaced(p.after, "#4 R3 = b", "#4 R4 = b");
  expect_category(p, kUninit);
}

TEST(MemcheckTest, UnreachableBlocksDoNotCount) {
  expect_pass({kThreeR,
               "  block b0\n    #0 %0 = a\n    #1 bra -> b2\n  block b1\n    #2 %0 = b\n    #3 use %1 !write\n    #4 bra -> b2\n"
               "  block b2\n    #5 use %0 !write\n    #6 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 bra -> b2\n  block b1\n    #2 R1 = b\n    #3 use R0 !write\n    #4 bra -> b2\n"
               "  block b2\n    #5 use R0 !write\n    #6 exit\n"});
}

// ---------------------------------------------------------------------------------------------------------------
// Undefined reads and guards

TEST(MemcheckTest, AReadThatNothingReachesIsAWildcard) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 use %1 !write\n    #2 use %0 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 use R0 !write\n    #2 use R0 !write\n    #3 exit\n"};
  expect_pass(p);
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const MemcheckDetails d = memcheck({b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)});
  EXPECT_EQ(d.total_mismatch, 1);
  EXPECT_EQ(d.mismatch_on_old, 1);
}

TEST(MemcheckTest, AFirstGuardedDefSharesItsRegisterWithWhatDiedBefore) {
  expect_pass({kThreeR + "  vreg %3 P pred\n",
               "  block b0\n    #0 %0 = a\n    #1 %3 = p %0\n    #2 @%3 %1 = b\n    #3 @%3 use %1 !write\n    #4 use %1 !write\n   "
               " #5 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 P0 = p R0\n    #2 @P0 R0 = b\n    #3 @P0 use R0 !write\n    #4 use R0 !write\n   "
               " #5 exit\n"});
}

Pair guarded() {
  return {kThreeR + "  vreg %3 P pred\n",
          "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 %1 = b\n    #3 @%3 %0 = c\n    #4 use %0, %1 !write\n    #5 exit\n",
          "  block b0\n    #0 P0 = p\n    #1 R0 = a\n    +20 spill R0, slot 0\n    #2 R1 = b\n    #3 @P0 R5 = c\n"
          "    +21 @P0 spill R5, slot 0\n    +22 R0 = refill slot 0\n    #4 use R0, R1 !write\n    #5 exit\n"};
}

TEST(MemcheckTest, AcceptsAStoreUnderTheGuardOfItsDef) {
  expect_pass(guarded());
  // R5 held something else before: only a path that the guards rule out sees that.
  Pair p = guarded();
  p.after = replaced(p.after, "#2 R1 = b\n", "#2 R1 = b\n    +30 R5 = copy R1\n");
  expect_pass(p);
  // The predicate may have been spilled and refilled in between.
  p.after = replaced(p.after, "    +21 @P0", "    +31 spill P0, slot 1\n    +32 P3 = refill slot 1\n    +21 @P3");
  expect_pass(p);
}

TEST(MemcheckTest, FindsAGuardedDefTakenForAKill) {
  Pair p = guarded();
  p.after = replaced(p.after, "+21 @P0 spill", "+21 spill");
  expect_category(p, kRefillUninit);
}

TEST(MemcheckTest, FindsTheOldValueMissingUnderAGuardedDef) {
  Pair p = guarded();
  p.after = replaced(p.after, "#3 @P0 R5 = c\n    +21 @P0 spill R5, slot 0\n    +22 R0 = refill slot 0\n", "#3 @P0 R0 = c\n");
  expect_pass(p);
  p.after = replaced(p.after, "#2 R1 = b\n", "#2 R1 = b\n    +30 R0 = copy R1\n");
  expect_category(p, kExtra);
}

// The pack is refilled on either side of its predicate, so that it holds nothing else, and what comes out of it is the guard of #2,
// each time that it is asked for.
TEST(MemcheckTest, AGuardOutOfAPackThatWasRefilledUnderGuards) {
  const Pair p = {
      "  vreg %0 P pred\n  vreg %1 R b32\n  vreg %2 R b32\n",
      "  block b0\n    #0 %0 = p\n    #1 %1 = a\n    #2 @%0 %1 = b\n    #3 %2 = c\n    #4 @%0 use %1 !write\n    #6 @%0 use %1 "
      "!write\n"
      "    #5 exit\n",
      "  block b0\n    #0 P0 = p\n    #1 R2 = a\n    #2 @P0 R1 = b\n    +20 R9{inout} = bit_spill P0, 3\n    +21 spill R9, slot 0\n"
      "    #3 R9 = c\n    +22 @P0 R9.lo = refill slot 0\n    +25 @P0 R9.hi = refill slot 0+2\n    +23 @!P0 R9 = refill slot 0\n    "
      "+24 P1 = bit_refill R9, 3\n"
      "    #4 @P1 use R1 !write\n    #6 @P1 use R1 !write\n    #5 exit\n"};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = replaced(p.after, "    +23 @!P0 R9 = refill slot 0\n", "");
  EXPECT_THAT(categories(judge(wrong)), ElementsAre(kUninit, kBitBase));
}

TEST(MemcheckTest, ChecksGuardsThemselves) {
  const Pair p = {
      kThreeR + "  vreg %3 P pred\n  vreg %4 P pred\n",
      "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 %0 = a\n    #6 %1 = b\n    #3 @%3 %1 = copy %0\n    #4 @!%4 use %0 !write\n"
      "    #7 use %1 !write\n    #5 exit\n",
      "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 R0 = a\n    #6 R1 = b\n    #3 @P0 R1 = copy R0\n    #4 @!P1 use R0 !write\n"
      "    #7 use R1 !write\n    #5 exit\n"};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = replaced(p.after, "#4 @!P1", "#4 @!P0");
  expect_category(wrong, kExtra);
  wrong.after = replaced(p.after, "#3 @P0", "#3 @P1");
  expect_category(wrong, kExtra);
  // A copy that nobody needs may have any guard: what it writes is not read, or only once it is overwritten, or it moves nothing.
  Pair dead = wrong;
  dead.before = replaced(p.before, "#7 use %1", "#7 use %0");
  dead.after = replaced(wrong.after, "#7 use R1", "#7 use R0");
  expect_pass(dead);
  Pair overwritten = wrong;
  overwritten.before = replaced(p.before, "    #7 use %1", "    #8 %1 = c\n    #7 use %1");
  overwritten.after = replaced(wrong.after, "    #7 use R1", "    #8 R1 = c\n    #7 use R1");
  expect_pass(overwritten);
  Pair identity = wrong;
  identity.before = replaced(replaced(p.before, "%1 = copy %0", "%0 = copy %0"), "#7 use %1", "#7 use %0");
  identity.after = replaced(replaced(wrong.after, "R1 = copy R0", "R0 = copy R0"), "#7 use R1", "#7 use R0");
  expect_pass(identity);
}

// Over edges, round a loop, into a phi: where a copy is read.
TEST(MemcheckTest, TheGuardOfACopyMattersWhereverTheCopyIsRead) {
  const std::string start =
      "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 %0 = a\n    #6 %1 = b\n    #7 bra -> b1\n  block b1\n";
  const std::string start_after =
      "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    #2 R0 = a\n    #6 R1 = b\n    #7 bra -> b1\n  block b1\n";
  const std::string vregs = kThreeR + "  vreg %3 P pred\n  vreg %4 P pred\n";
  const auto check = [&](const std::string& before, const std::string& after) {
    const Pair p = {vregs, start + before, start_after + after};
    expect_pass(p);
    expect_category({p.vregs, p.before, replaced(p.after, "@P0 R1 = copy", "@P1 R1 = copy")}, kExtra);
  };
  check("    #8 use %1 !write\n    #3 @%3 %1 = copy %0\n    #9 cbra %4 -> b1, b2\n  block b2\n    #10 exit\n",
        "    #8 use R1 !write\n    #3 @P0 R1 = copy R0\n    #9 cbra P1 -> b1, b2\n  block b2\n    #10 exit\n");
  check(
      "    #3 @%3 %1 = copy %0\n    #9 cbra %4 -> b2, b3\n  block b2\n    #10 exit\n  block b3\n    #11 use %1 !write\n    #12 "
      "exit\n",
      "    #3 @P0 R1 = copy R0\n    #9 cbra P1 -> b2, b3\n  block b2\n    #10 exit\n  block b3\n    #11 use R1 !write\n    #12 "
      "exit\n");
  check("    #3 @%3 %1 = copy %0\n    #9 bra -> b2\n  block b2\n    #11 %2 = phi b1: %1\n    #13 use %2 !write\n    #12 exit\n",
        "    #3 @P0 R1 = copy R0\n    #9 bra -> b2\n  block b2\n    #11 phi !deleted\n    #13 use R1 !write\n    #12 exit\n");
}

TEST(MemcheckTest, TheGuardMayBeARedefinedPredicateOfALoop) {
  // Two definitions reach the guard; the garbage in R5 is never stored.
  expect_pass(
      {kThreeR + "  vreg %3 P pred\n",
       "  block b0\n    #0 %3 = p\n    #1 %0 = a\n    #2 bra -> b1\n"
       "  block b1\n    #3 @%3 %0 = c\n    #4 use %0 !write\n    #5 %3 = q %0\n    #6 cbra %3 -> b1, b2\n  block b2\n    #7 exit\n",
       "  block b0\n    #0 P0 = p\n    +30 R5 = copy R9\n    #1 R0 = a\n    +20 spill R0, slot 0\n    #2 bra -> b1\n"
       "  block b1\n    #3 @P0 R5 = c\n    +21 @P0 spill R5, slot 0\n    +22 R0 = refill slot 0\n    #4 use R0 !write\n"
       "    #5 P0 = q R0\n    #6 cbra P0 -> b1, b2\n  block b2\n    #7 exit\n"});
}

TEST(MemcheckTest, TheStoreMayStandInAnotherBlockThanItsDef) {
  // What R5 held before is stored on no path; the predicate is refilled anew for each guard, and others guard what is written
  // between.
  const Pair p = {
      kThreeR + "  vreg %3 P pred\n  vreg %4 P pred\n",
      "  block b0\n    #0 %3 = p\n    #1 %4 = q\n    #2 %0 = a\n    #3 @%3 %0 = c\n    #4 @%4 %1 = d\n    #5 bra -> b1\n"
      "  block b1\n    #6 use %0 !write\n    #7 @%4 %0 = e\n    #8 use %0, %0 !write\n    #9 exit\n",
      "  block b0\n    #0 P0 = p\n    +20 spill P0, slot 1\n    #1 P1 = q\n    #2 R5 = a\n    +21 spill R5, slot 0\n    +30 R5 = "
      "copy R9\n"
      "    +22 P0 = refill slot 1\n    #3 @P0 R5 = c\n    #4 @P1 R1 = d\n    #5 bra -> b1\n"
      "  block b1\n    +23 P0 = refill slot 1\n    +24 @P0 spill R5, slot 0\n    +25 R5 = refill slot 0\n    #6 use R5 !write\n"
      "    #7 @P1 R5 = e\n    #8 use R5, R5 !write\n    #9 exit\n"};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = replaced(p.after, "+24 @P0", "+24 @P1");
  EXPECT_EQ(judge(wrong).verdict, Verdict::Fail);
  wrong.after = replaced(p.after, "+24 @P0", "+24 @!P0");
  EXPECT_EQ(judge(wrong).verdict, Verdict::Fail);
}

// ---------------------------------------------------------------------------------------------------------------
// Predicate packs

const std::string kPacked = "  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 R b32\n";
const std::string kPackedBefore =
    "  block b0\n    #0 %0 = p\n    #1 %1 = q\n    #2 call \"g\" clobbers P0:P6\n    #3 %2 = a\n    #4 use %0, %1, %2 !write\n    "
    "#5 exit\n";

Pair by_p2r() {
  return {
      kPacked, kPackedBefore,
      "  block b0\n    #0 P0 = p\n    #1 P1 = q\n    +20 R9{inout} = p2r P0, P1\n    #2 call \"g\" clobbers P0:P6\n    #3 R0 = a\n"
      "    +21 P1, P0 = r2p R9\n    #4 use P0, P1, R0 !write\n    #5 exit\n"};
}

Pair by_bits() {
  return {kPacked, kPackedBefore,
          "  block b0\n    #0 P0 = p\n    +20 R9{inout} = bit_spill P0, 31\n    #1 P0 = q\n    +21 R9{inout} = bit_spill P0, 7\n"
          "    #2 call \"g\" clobbers P0:P6\n    #3 R0 = a\n"
          "    +22 P2 = bit_refill R9, 31\n    +23 P5 = bit_refill R9, 7\n    #4 use P2, P5, R0 !write\n    #5 exit\n"};
}

TEST(MemcheckTest, LooksThroughPredicatePacks) {
  expect_pass(by_p2r());
  expect_pass(by_bits());
}

TEST(MemcheckTest, LooksThroughSpilledAndCopiedPacks) {
  for (Pair p : {by_p2r(), by_bits()}) {
    p.after = replaced(
        p.after, "    #3 R0 = a\n",
        "    +30 spill R9, slot 3\n    #3 R9 = a\n    +31 R0 = copy R9\n    +32 R8 = refill slot 3\n    +33 R9 = copy R8\n");
    expect_pass(p);
  }
}

TEST(MemcheckTest, PacksMayChangeOnTheWay) {
  // One arm packs another predicate beside: the bit is found behind the phi.
  expect_pass(
      {"  vreg %0 P pred\n  vreg %1 P pred\n  vreg %2 P pred\n",
       "  block b0\n    #0 %0 = p\n    #1 %1 = q\n    #2 cbra %1 -> b1, b2\n  block b1\n    #3 %2 = r\n    #4 bra -> b3\n"
       "  block b2\n    #5 %2 = s\n    #6 bra -> b3\n  block b3\n    #7 use %0, %2 !write\n    #8 exit\n",
       "  block b0\n    #0 P0 = p\n    +20 R0{inout} = bit_spill P0, 3\n    #1 P0 = q\n    #2 cbra P0 -> b1, b2\n"
       "  block b1\n    #3 P0 = r\n    +21 R0{inout} = bit_spill P0, 4\n    #4 bra -> b3\n"
       "  block b2\n    #5 P0 = s\n    +22 R0{inout} = bit_spill P0, 4\n    #6 bra -> b3\n"
       "  block b3\n    +23 P1 = bit_refill R0, 3\n    +24 P0 = bit_refill R0, 4\n    #7 use P1, P0 !write\n    #8 exit\n"});
}

TEST(MemcheckTest, FindsAMissingMatchInAPack) {
  Pair p = by_p2r();
  p.after = replaced(p.after, "    +20 R9{inout} = p2r P0, P1\n", "    +20 R9{inout} = p2r P1\n");
  expect_category(p, kP2rPattern);
  Pair q = by_bits();
  q.after = replaced(q.after, "P5 = bit_refill R9, 7", "P5 = bit_refill R9, 31");
  expect_category(q, kBitPattern);
  Pair s = by_bits();
  s.after = replaced(s.after, "    +21 R9{inout} = bit_spill P0, 7\n", "");
  expect_category(s, kBitPattern);
  // Of the whole p2r nothing is left; another predicate than the one meant; a spilled pack that came from the wrong slot.
  Pair t = by_p2r();
  t.after = replaced(t.after, "    +20 R9{inout} = p2r P0, P1\n", "");
  expect_category(t, kP2rPattern);
  Pair u = by_p2r();
  u.after = replaced(u.after, "P1, P0 = r2p R9", "P0 = r2p R9\n    +22 P1 = copy P0");
  expect_category(u, kP2rPattern);
  Pair v = by_p2r();
  v.after = replaced(v.after, "    #3 R0 = a\n",
                     "    +30 spill R9, slot 3\n    #3 R9 = a\n    +31 R0 = copy R9\n    +32 R9 = refill slot 1\n");
  expect_category(v, kP2rPattern);
  Pair w = by_bits();
  w.after = replaced(w.after, "bit_spill P0, 7", "bit_spill P0, 31");
  expect_category(w, kBitPattern);
}

TEST(MemcheckTest, FindsADestroyedBase) {
  for (const bool call : {false, true}) {
    Pair p = by_p2r();
    Pair q = by_bits();
    for (Pair* pair : {&p, &q}) {
      if (call) pair->after = replaced(pair->after, "clobbers P0:P6", "clobbers P0:P6, R9");
      else pair->after = replaced(replaced(pair->after, "R0 = a", "R9 = a"), ", R0 !write", ", R9 !write");
    }
    expect_category(p, kP2rBase);
    expect_category(q, kBitBase);
  }
  // By a copy that the allocator inserted, in whole or only in the half with the bit.
  for (const std::string_view part : {"", ".h0"}) {
    Pair p = by_p2r();
    p.after = replaced(p.after, "    +21 P1", fmt::format("    +30 R9{} = copy R0{}\n    +21 P1", part, part));
    expect_category(p, kP2rBase);
    Pair q = by_bits();
    q.after = replaced(q.after, "    +22 P2", fmt::format("    +30 R9{} = copy R0{}\n    +22 P2", part, part));
    expect_category(q, kBitBase);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Rematerialisation

Pair remat() {
  return {kThreeR,
          "  block b0\n    #0 %0 = a\n    #1 %1 = ld.const %0, 4 !read !readonly !remat\n    #2 %2 = b\n    #3 use %0, %2 !write\n"
          "    #4 use %1 !write\n    #5 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 ld.const !deleted !read !readonly !remat\n    #2 R1 = b\n    #3 use R0, R1 !write\n"
          "    +20 R1 = remat #1 R0, 4\n    #4 use R1 !write\n    #5 exit\n"};
}

TEST(MemcheckTest, AcceptsRemat) {
  expect_pass(remat());
  Pair p = remat();
  p.before = replaced(p.before, "%1 = ld.const %0, 4 !read !readonly !remat", "%1 = const 7 !remat");
  p.after = replaced(p.after, "#1 ld.const !deleted !read !readonly !remat", "#1 R9 = const 7 !remat");
  p.after = replaced(p.after, "remat #1 R0, 4", "remat #1 7");
  expect_pass(p);
}

TEST(MemcheckTest, FindsABadRemat) {
  Pair p = remat();
  p.after = replaced(p.after, "remat #1 R0, 4", "remat #1 R1, 4");
  const JudgeResult r = judge(p);
  ASSERT_THAT(categories(r), ElementsAre(kRemat)) << describe(r);
  EXPECT_THAT(r.findings[0].message, HasSubstr("Old instruction: [1] New instruction: [20]"));
  Pair q = remat();
  q.after = replaced(q.after, "remat #1 R0, 4", "remat #1 R0, 8");
  expect_category(q, kRemat);
  // Its source's register was overwritten; another instruction is repeated, with the operands of the right one.
  Pair overwritten = remat();
  overwritten.after =
      replaced(overwritten.after, "    +20 R1 = remat #1 R0, 4\n", "    +19 R0 = copy R1\n    +20 R1 = remat #1 R0, 4\n");
  expect_category(overwritten, kRemat);
  Pair other = remat();
  other.after = replaced(other.after, "remat #1 R0, 4", "remat #0 R0, 4");
  expect_category(other, kRemat);
  // Another instruction is repeated, and rightly so in itself: that is a def which was not used this way before.
  Pair right_in_itself = remat();
  right_in_itself.before = replaced(right_in_itself.before, "#2 %2 = b", "#2 %2 = b !remat");
  right_in_itself.after = replaced(replaced(right_in_itself.after, "#2 R1 = b", "#2 R1 = b !remat"), "remat #1 R0, 4", "remat #2");
  expect_category(right_in_itself, kExtra);
  Pair memory = remat();
  memory.before = replaced(memory.before, "!read !readonly", "!read");
  expect_category(memory, kRemat);
}

TEST(MemcheckTest, ARematFedByABadRematIsBadToo) {
  const Pair p = {
      kThreeR, "  block b0\n    #0 %0 = const 1 !remat\n    #1 %1 = inc %0 !remat\n    #2 use %1 !write\n    #3 exit\n",
      "  block b0\n    #0 R0 = const 1 !remat\n    #1 R1 = inc R0 !remat\n    +20 R2 = remat #0 2\n    +21 R1 = remat #1 R2\n"
      "    #2 use R1 !write\n    #3 exit\n"};
  expect_category(p, kRemat);
  Pair good = p;
  good.after = replaced(p.after, "remat #0 2", "remat #0 1");
  expect_pass(good);
}

// ---------------------------------------------------------------------------------------------------------------
// Callee-saved registers

TEST(MemcheckTest, DeviceFunctionsRestoreWhatTheySave) {
  Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 call \"g\" clobbers R0:R23\n    #2 use %0 !write\n    #3 ret\n",
            "  block b0\n    +20 spill R24, slot 0\n    #0 R24 = a\n    #1 call \"g\" clobbers R0:R23\n    #2 use R24 !write\n"
            "    +21 R24 = refill slot 0\n    #3 ret\n"};
  p.kind = "device";
  expect_pass(p);
  Pair lost = p;
  lost.after = replaced(p.after, "    +21 R24 = refill slot 0\n", "");
  expect_category(lost, kExtra);
  Pair wrong = p;
  wrong.after = replaced(p.after, "R24 = refill slot 0", "R24 = refill slot 1");
  expect_category(wrong, kSpillRefill);
  lost.kind = "kernel";
  expect_pass(lost);
}

// ---------------------------------------------------------------------------------------------------------------
// The report

TEST(MemcheckTest, PrintsTheReportOfTheSource) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "R1 = refill slot 0", "R1 = refill slot 1");
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  EXPECT_EQ(print_memcheck(c), "Please use -knob DUMPIR=AllocateRegisters for debugging\nTOTAL MISMATCH 1   MISMATCH ON OLD 0\n");
  const std::string banner(110, '=');
  EXPECT_EQ(print_memcheck(c, {.dump_ir = true}),
            banner + "\nINSTRUCTION: [3]\n" + banner +
                "\n\nOperand # 0\n"
                "Producers for operand 0 of instruction [3] before register allocation:\n"
                "  [0] def opr # 0 for src opr # 0\n\n"
                "Producers for operand # 0 of instruction [3] after register allocation:\n"
                "  [12] def opr # 0 for src opr # 0\n\n"
                "Additions\n  [12] def opr # 0 src opr # 0  POTENTIAL PROBLEM\n\n"
                "Removals\n  [0] def opr # 0 src opr # 0  POTENTIAL PROBLEM\n\n"
                "Failed to find matching spill for refilling load that is involved in this operand computation\n"
                " spill-regill bug \n\n"
                "TOTAL MISMATCH 1   MISMATCH ON OLD 0\n");
}

// Each file of oracles/memcheck/golden/ holds a program, an allocation of it, and as comments the report: one for each category at
// least, each with a mistake that an allocator makes.
TEST(MemcheckTest, GoldenReports) {
  constexpr std::string_view kMark = "// -knob DUMPIR=AllocateRegisters\n";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/oracles/memcheck/golden"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string path = "oracles/memcheck/golden/" + name + ".rir";
    std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + path).value_or("");
    if (const std::size_t mark = text.find(kMark); mark != std::string::npos) text.resize(mark);
    const auto module = ir::parse(text, path);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    ASSERT_EQ(module->functions.size(), 2u);
    const ir::Function &b = module->functions[0], &a = module->functions[1];
    const ir::Target& target = *ir::find_target("sm_90");
    EXPECT_TRUE(ir::check(b, target, 1).empty());
    EXPECT_TRUE(ir::check(a, target, 1).empty());
    const Case c{b, a, target, testing::limits_of(b, 255)};
    const std::string report = print_memcheck(c, {.dump_ir = true});
    std::string commented(kMark);
    for (std::size_t at = 0; at < report.size();) {
      const std::size_t end = report.find('\n', at);
      commented += end == at ? "//\n" : "// " + report.substr(at, end + 1 - at);
      at = end + 1;
    }
    expect_golden(path, text + commented);
    // The name says which category it is about, and there is no other.
    const std::vector<std::string> found = categories(memcheck_judge().judge(c));
    for (const std::string& category : found) EXPECT_TRUE(name.starts_with(category)) << category;
    EXPECT_EQ(found.size(), name == "memcheck-old" ? 0u : 1u);
    seen.insert(name);
  }
  for (int code = 1; code <= 10; ++code) EXPECT_TRUE(seen.contains(std::string(slug(static_cast<MemcheckCode>(code))))) << code;
  EXPECT_TRUE(seen.contains("memcheck-old"));
}

TEST(MemcheckTest, CountsOldMismatchesBesideNewOnes) {
  // An instruction counts as old only where all its mismatches are.
  const Pair p = {kThreeR,
                  "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %2, %0 !write\n    #3 use %2 !write\n    #4 use %0 "
                  "!write\n    #5 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R0 = b\n    #2 use R0, R0 !write\n    #3 use R0 !write\n    #4 use R0 "
                  "!write\n    #5 exit\n"};
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  // Two operands differ in #2, but the suggestion stands there once.
  EXPECT_EQ(print_memcheck(c), "Please use -knob DUMPIR=AllocateRegisters for debugging\nTOTAL MISMATCH 3   MISMATCH ON OLD 1\n");
}

TEST(MemcheckTest, KnobsByName) {
  MemcheckOptions o;
  EXPECT_TRUE(set_knob(o, "DUMPIR", "AllocateRegisters").has_value());
  EXPECT_TRUE(o.dump_ir);
  EXPECT_EQ(set_knob(o, "DUMPIR", "Scheduling").error(), "knob DUMPIR: expected AllocateRegisters, found \"Scheduling\"");
  EXPECT_FALSE(set_knob(o, "DUMPIR", std::nullopt).has_value());
  EXPECT_TRUE(set_knob(o, "IgnorePotentialMixedSizeProblems", std::nullopt).has_value());
  EXPECT_TRUE(o.ignore_potential_mixed_size_problems);
  EXPECT_TRUE(set_knob(o, "memcheck", "0").has_value());
  EXPECT_FALSE(o.is_on);
  EXPECT_EQ(set_knob(o, "memcheck", "maybe").error(), "knob memcheck: expected bool, found \"maybe\"");
  EXPECT_EQ(set_knob(o, "dumpir", "AllocateRegisters").error(), "memcheck has no knob \"dumpir\" (regduel knobs --with memcheck)");
  EXPECT_EQ(memcheck_knobs().size(), 3u);
}

TEST(MemcheckTest, IsNotRunWhereItsKnobIsOff) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "R1 = refill slot 0", "R1 = refill slot 1");
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  const JudgeResult r = judge_memcheck(c, {.is_on = false});
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_EQ(r.reason, kSwitchedOff);
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true, .is_on = false}), ::testing::Not(HasSubstr("MISMATCH")));
  EXPECT_EQ(judge_memcheck(c, {}).verdict, Verdict::Fail);
}

TEST(MemcheckTest, HintsAtMixedSizes) {
  const Pair p = {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b16 alias %1.h0\n",
                  "  block b0\n    #0 %0 = a\n    #1 %2 = b\n    #2 use %2, %0 !write\n    #3 exit\n",
                  "  block b0\n    #0 R0 = a\n    #1 R0.h0 = b\n    #2 use R0.h0, R0 !write\n    #3 exit\n"};
  expect_category(p, kExtra);
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true}), HasSubstr("-knob IgnorePotentialMixedSizeProblems"));
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true, .ignore_potential_mixed_size_problems = true}),
              ::testing::Not(HasSubstr("IgnorePotential")));
}

TEST(MemcheckTest, SaysSkippedWhereNothingCanBeAligned) {
  const Pair p = {kThreeR, "  block b0\n    #0 %0 = a\n    #1 exit\n", "  block b0\n    #7 R0 = a\n    #8 exit\n"};
  const JudgeResult r = judge(p);
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_FALSE(r.reason.empty());
}

TEST(MemcheckTest, SaysWhichOperandHasNoRegister) {
  const JudgeResult r = judge({kThreeR, "  block b0\n    #0 %0 = a\n    #1 use %0 !write\n    #2 exit\n",
                               "  block b0\n    #0 R0 = a\n    #1 use %0 !write\n    #2 exit\n"});
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_EQ(r.reason, "#1: %0 has no register");
}

TEST(MemcheckTest, ToleratesStructureFaults) {
  Pair p = two_spilled();
  p.after = replaced(p.after, "    #2 R0 = c\n", "");
  p.after = replaced(p.after, "use R1, R2, R0", "use R1, 7");
  EXPECT_NE(judge(p).verdict, Verdict::Skipped);
}

// ---------------------------------------------------------------------------------------------------------------
// Speed

TEST(MemcheckTest, JudgesTwentyThousandInstructionsInWellUnderASecond) {
  constexpr int kBlocks = 2000, kValues = 300;
  std::string vregs, slots, before, after;
  for (int v = 0; v < kValues; ++v) {
    vregs += fmt::format("  vreg %{} R b32\n", v);
    slots += fmt::format("  slot {} local size 4 align 4 offset {}\n", v, v * 4);
  }
  vregs += fmt::format("  vreg %{} P pred\n", kValues);
  int id = 0, inserted = 1'000'000;
  // A ladder of nested back edges: each block may go on, or back to a block before.
  for (int b = 0; b < kBlocks; ++b) {
    before += fmt::format("  block b{}\n", b);
    after += fmt::format("  block b{}\n", b);
    for (int k = 0; k < 8; ++k) {
      const int d = (b * 7 + k * 31) % kValues, u = (b * 13 + k * 17) % kValues;
      before += fmt::format("    #{} %{} = op %{}, %{}\n", id, d, u, (u + 1) % kValues);
      after += fmt::format(
          "    +{} R0 = refill slot {}\n    +{} R1 = refill slot {}\n    #{} R2 = op R0, R1\n    +{} spill R2, slot {}\n", inserted,
          u, inserted + 1, (u + 1) % kValues, id, inserted + 2, d);
      ++id;
      inserted += 3;
    }
    before += fmt::format("    #{} %{} = p\n", id, kValues);
    after += fmt::format("    #{} P0 = p\n", id++);
    if (b + 1 == kBlocks) {
      before += fmt::format("    #{} exit\n", id);
      after += fmt::format("    #{} exit\n", id);
    } else {
      const int back = b % 3 == 0 ? b * 3 / 4 : b + 1;
      before += fmt::format("    #{} cbra %{} -> b{}, b{}\n", id, kValues, back, b + 1);
      after += fmt::format("    #{} cbra P0 -> b{}, b{}\n", id, back, b + 1);
    }
    ++id;
  }
  Pair p = {vregs, before, after};
  p.frame = fmt::format("  frame local {} shared 0\n", kValues * 4);
  p.slots = slots;
  const ir::Function b = testing::parse_function(p.before_text()), a = testing::parse_function(p.after_text());
  const std::clock_t start = std::clock();
  const JudgeResult r = memcheck_judge().judge({b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)});
  const double taken = static_cast<double>(std::clock() - start) * 1000.0 / CLOCKS_PER_SEC;
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r);
  RecordProperty("milliseconds", static_cast<int>(taken));
  EXPECT_LT(taken,
            5000.0);  // a few hundred ms of processor time in a release build; the margin is for sanitizers and slow machines
}

// ---------------------------------------------------------------------------------------------------------------
// Guards that no definition reaches

// After allocation an undefined guard may share its register with a defined one, at one read or at all of them.
TEST(Memcheck, AnUndefinedGuardIsNoKnownValue) {
  const std::string vregs = "  vreg %0 R b32\n  vreg %1 P pred\n  vreg %2 P pred\n";
  expect_pass({vregs,
               "  block b0\n    #0 %0 = a\n    #1 %1 = p\n    #2 @%1 %0 = b\n    #3 @!%2 %0 = c\n    #4 use %0\n    #5 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    #2 @P0 R0 = b\n    #3 @!P0 R0 = c\n    #4 use R0\n    #5 exit\n"});
  expect_pass({vregs,
               "  block b0\n    #0 %0 = a\n    #1 @%1 %0 = b\n    #2 %2 = p\n    #3 @%1 %0 = c\n    #4 use %0\n    #5 exit\n",
               "  block b0\n    #0 R0 = a\n    #1 @P0 R0 = b\n    #2 P0 = p\n    #3 @P0 R0 = c\n    #4 use R0\n    #5 exit\n"});
  // Nothing of what it guards is asked for: R1 is refilled where the guard of #1 does not hold, and #2 happens to go by that.
  const Pair refilled = {vregs + "  vreg %3 R b32\n",
                         "  block b0\n    #0 %1 = p\n    #1 @%1 %0 = a\n    #2 @!%2 use %0 !write\n    #3 exit\n",
                         "  block b0\n    #0 P0 = p\n    #1 @P0 R0 = a\n    +4 spill R0, slot 0\n    +5 R0 = copy R1\n"
                         "    +6 @!P0 R0 = refill slot 0\n    #2 @!P0 use R0 !write\n    #3 exit\n"};
  expect_pass(refilled);
  // Where it is undefined on one way only, that does not excuse a value that is lost on the other.
  const Pair one_way = {
      vregs,
      "  block b0\n    #0 %0 = a\n    #6 %2 = q\n    #7 cbra %2 -> b1, b2\n  block b1\n    #8 %1 = p\n    #9 bra -> b2\n"
      "  block b2\n    #1 @%1 %0 = b\n    #4 use %0\n    #5 exit\n",
      "  block b0\n    #0 R0 = a\n    #6 P1 = q\n    #7 cbra P1 -> b1, b2\n  block b1\n    #8 P0 = p\n    #9 bra -> b2\n"
      "  block b2\n    #1 @P0 R0 = b\n    #4 use R0\n    #5 exit\n"};
  expect_pass(one_way);
  expect_category({one_way.vregs, one_way.before, replaced(one_way.after, "@P0 R0 = b", "@P0 R1 = b")}, kGone);
}

}  // namespace
}  // namespace regduel::oracles
