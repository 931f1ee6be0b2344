// memcheck against hand-made allocations: correct ones, which it must accept, and ones with a single defect, each with the category
// that it must find. Registers, slots, parts, callee-saved registers; its speed.

#include "oracles/memcheck/memcheck.h"

#include <ctime>
#include <string>

#include <fmt/format.h>

#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckTest, AcceptsSpillsAndRefills) { expect_pass(two_spilled()); }

TEST(MemcheckTest, FindsSwappedSlots) {
  Pair p = two_spilled();
  p.after = edit(edit(p.after, "R1 = refill slot 0", "R1 = refill slot 1"), "R2 = refill slot 1", "R2 = refill slot 0");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, FindsARefillOfMemoryThatWasNeverWritten) {
  Pair p = two_spilled();
  p.after = edit(p.after, "    +10 spill R0, slot 0\n", "");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, FindsAStaleSlotAfterReuse) {
  Pair p = two_spilled();
  p.after = edit(p.after, "+11 spill R0, slot 1", "+11 spill R0, slot 0");
  p.after = edit(p.after, "R2 = refill slot 1", "R2 = refill slot 0");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kSpillRefill));
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(3));
  EXPECT_EQ(r.findings[0].operand, 0);
  EXPECT_EQ(r.findings[0].other, ir::InstId(12));
}

TEST(MemcheckTest, SeesThatSlotsOverlap) {
  Pair p = two_spilled();
  p.slots = edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 1 offset 2");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, LocalAndSharedFramesAreApart) {
  Pair p = two_spilled();
  p.slots = edit(p.slots, "slot 1 local size 4 align 4 offset 4", "slot 1 shared size 4 align 4 offset 0");
  expect_pass(p);
}

TEST(MemcheckTest, FindsARegisterReusedWhileItIsLive) {
  Pair p = two_spilled();
  p.after = edit(p.after, "    +13 R2 = refill slot 1\n", "    +13 R2 = refill slot 1\n    +14 R1 = copy R2\n");
  expect_category(p, kSpillRefill);  // what came too much came through a refill
  Pair q = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R0 = b
    #3 use %0, %1 !write | use R0, R0 !write
    #4 exit
)")};
  expect_category(q, kExtra);
}

TEST(MemcheckTest, LooksThroughCopyChains) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = copy %0      | !deleted
    #2 %2 = copy %1      | spill R0, slot 0
    +9                   | R7, R8 = copy R0, R0
    +10                  | R8, R7 = copy R7, R8
    +11                  | R9 = refill slot 0
    #3 use %2, %0 !write | use R9, R8 !write
    #4 exit
)")};
  p.after = edit(p.after, "#1 !deleted", "#1 copy !deleted");
  expect_pass(p);
}

TEST(MemcheckTest, ParallelCopiesReadBeforeTheyWrite) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    +9                   | R0, R1 = copy R1, R0
    #3 use %0, %1 !write | use R1, R0 !write
    #4 exit
)")};
  expect_pass(p);
  expect_category(with(p, "+9 R0, R1 = copy R1, R0", "+9 R0 = copy R1\n    +8 R1 = copy R0"), kExtra);
}

TEST(MemcheckTest, FindsACallThatClobbersALiveValue) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R4 = a
    #1 call "g" clobbers R0:R3
    #2 use %0 !write | use R4 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(edit(p.after, "R4 = a", "R3 = a"), "use R4", "use R3");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kUninit));
  EXPECT_EQ(r.findings.at(0).other, ir::InstId(1));
}

TEST(MemcheckTest, AResultMayStandInAClobberedRegister) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 %1{=R0} = call "g", %0{=R0} clobbers R0:R3 | R0 = call "g", R0 clobbers R0:R3
    #2 use %1 !write | use R0 !write
    #3 exit
)")});
}

TEST(MemcheckTest, FindsAnEarlyClobberInTheRegisterOfAUse) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1{early} = op %0 | R1 = op R0
    #2 use %1 !write     | use R1 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(edit(p.after, "R1 = op R0", "R0 = op R0"), "use R1", "use R0");
  const JudgeResult r = judge(p);
  EXPECT_THAT(categories(r), ElementsAre(kUninit));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(1));
}

TEST(MemcheckTest, FindsTwoDefsInOneRegister) {
  const Pair base = {kThreeR, side_by_side(R"(
  block b0
    #0 %0, %1 = two  | R0, R0 = two
    #1 use %0 !write | use R0 !write
    #2 exit
)")};
  expect_category(base, kExtra);
  Pair second = base;
  second.before = edit(base.before, "use %0", "use %1");
  expect_category(second, kExtra);
}

TEST(MemcheckTest, ADefUseWritesOverWhatItReads) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %0{inout} = add 1 | R0{inout} = add 1
    #2 use %0 !write     | use R0 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "#1 R0{inout}", "#1 R1{inout}");
  EXPECT_THAT(categories(judge(p)), ElementsAre(kUninit, kExtra));  // #1 reads nothing, and #2 the old value
}

const std::string kPairVregs = R"(
  vreg %0 R b64
  vreg %1 R b32
)";

TEST(MemcheckTest, FindsAClobberedHalf) {
  Pair p = {kPairVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0:R1 = a
    #1 %1 = b            | R2 = b
    #2 use %0, %1 !write | use R0:R1, R2 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(edit(p.after, "R2 = b", "R1 = b"), "use R0:R1, R2", "use R0:R1, R1");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, FindsSwappedHalves) {
  Pair p = {kPairVregs, side_by_side(R"(
  block b0
    #0 %0 = a        | R0:R1 = a
    +9               | R2, R3 = copy R0, R1
    #2 use %0 !write | use R2:R3 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "copy R0, R1", "copy R1, R0");
  expect_category(p, kExtra);
}

TEST(MemcheckTest, SpillsHalvesByThemselves) {
  Pair p = {kPairVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0:R1 = a
    +9                   | spill R1, slot 2 + 4
    +8                   | spill R0, slot 2
    #1 %1 = b            | R0 = b
    +7                   | R2:R3 = refill slot 2
    #2 use %0, %1 !write | use R2:R3, R0 !write
    #3 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "slot 2 + 4", "slot 1");
  expect_category(p, kSpillRefill);
}

TEST(MemcheckTest, PartsKeepTheOtherBytes) {
  Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16 alias %0.h1
  block b0
    #0 %0 = a               | R0 = a
    #1 %1 = b               | R0.h1 = b
    +9                      | spill R0.h1, slot 0 + 2
    +8                      | spill R0.h0, slot 0
    +7                      | R5 = refill slot 0
    #2 use %0.h0, %1 !write | use R0.h0, R5.h1 !write
    #3 use %0 !write        | use R5 !write
    #4 exit
)")};
  expect_pass(p);
  Pair wrong = p;
  wrong.after = edit(p.after, "#1 R0.h1 = b", "#1 R0.h0 = b");
  const JudgeResult r = judge(wrong);
  EXPECT_EQ(r.verdict, Verdict::Fail);
}

TEST(MemcheckTest, NarrowVregsOwnAWholeUnit) {
  Pair p = {side_by_side(R"(
  vreg %0 R b16
  vreg %1 R b8
  vreg %2 R b32
  block b0
    #0 %0 = a            | R0 = a
    +9                   | spill R0, slot 0
    #1 %1 = b            | R0 = b
    +8                   | R1 = refill slot 0
    +7                   | R2 = copy R1
    #2 use %0, %1 !write | use R2, R0 !write
    #3 exit
)")};
  expect_pass(p);
  // A narrow def in the register of a live wide value leaves nothing of it.
  Pair q = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R0 = b
    #2 use %0, %1 !write | use R0, R0 !write
    #3 exit
)")};
  expect_category(q, kExtra);
}

TEST(MemcheckTest, DeviceFunctionsRestoreWhatTheySave) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    +20              | spill R24, slot 0
    #0 %0 = a        | R24 = a
    #1 call "g" clobbers R0:R23
    #2 use %0 !write | use R24 !write
    +21              | R24 = refill slot 0
    #3 ret
)")};
  p.kind = "device";
  expect_pass(p);
  Pair lost = p;
  lost.after = edit(p.after, "    +21 R24 = refill slot 0\n", "");
  expect_category(lost, kExtra);
  expect_category(with(p, "R24 = refill slot 0", "R24 = refill slot 1"), kSpillRefill);
  lost.kind = "kernel";
  expect_pass(lost);
}

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
      after += fmt::format(R"(
    +{} R0 = refill slot {}
    +{} R1 = refill slot {}
    #{} R2 = op R0, R1
    +{} spill R2, slot {}
)",
                           inserted, u, inserted + 1, (u + 1) % kValues, id, inserted + 2, d);
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
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const std::clock_t start = std::clock();
  const JudgeResult r = memcheck_judge().judge({b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)});
  const double taken = static_cast<double>(std::clock() - start) * 1000.0 / CLOCKS_PER_SEC;
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r);
  RecordProperty("milliseconds", static_cast<int>(taken));
  EXPECT_LT(taken,
            5000.0);  // a few hundred ms of processor time in a release build; the margin is for sanitizers and slow machines
}

}  // namespace
}  // namespace regduel::oracles
