// What memcheck says of an operand that differs, and of remats that are wrong.

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckDetails, NamesTheInstructionThatDestroyed) {
  const Judged j({kVregs, side_by_side(R"(
  block b0
    #0 call "f" clobbers R8
    #1 %0 = a | R0 = a
    #2 call "g" clobbers R0
    #3 use %0 | use R0
    #4 exit
)")});
  ASSERT_EQ(j.result.findings.size(), 1u);
  EXPECT_EQ(j.result.findings[0].other, ir::InstId(2));
  EXPECT_EQ(j.result.findings[0].message, text(MemcheckCode::UninitializedValueIntroduced));
}

// What a def does not define is undefined: the bytes above a narrow one, the units beyond those of its vreg.
TEST(MemcheckDetails, ADefLeavesTheRestUndefined) {
  Judged narrow(Pair{side_by_side(R"(
  vreg %0 R b32
  vreg %1 R b16
  block b0
    #0 %0 = a | R0 = a
    #1 %1 = b | R0 = b
    #2 use %0 | use R0
    #3 exit
)")});
  ASSERT_EQ(narrow.details.mismatches.size(), 1u);
  EXPECT_EQ(narrow.details.mismatches[0].code, MemcheckCode::ExtraDefsIntroduced);
  EXPECT_TRUE(narrow.details.mismatches[0].mixed_size);
  EXPECT_EQ(narrow.details.mismatches[0].other, ir::InstId(1));
  EXPECT_EQ(narrow.details.mismatches[0].after.size(), 2u);  // what #1 defines, and what it destroys
  const Judged wide(Pair{side_by_side(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a | R1 = a
    #1 %1 = b | R0:R1 = b
    #2 use %0 | use R1
    #3 exit
)")});
  ASSERT_EQ(wide.result.findings.size(), 1u);
  EXPECT_EQ(wide.result.findings[0].category, kUninit);
  EXPECT_EQ(wide.result.findings[0].other, ir::InstId(1));
}

// One refill brings a right word and a wrong one: it is a problem, in whichever order.
TEST(MemcheckDetails, AProducerOfOneWrongWordIsAProblem) {
  for (const bool first : {false, true}) {
    const Judged j({R"(
  vreg %0 R b64
  vreg %1 R b32
)",
                    R"(
  block b0
    #0 %0 = a
    #3 %1 = b
    #1 use %0
    #2 exit
)",
                    fmt::format(R"(
  block b0
    #0 R0:R1 = a
    #3 R4 = b
    +9 spill R{}, slot 2
    +8 spill R{}, slot 2 + 4
    +7 R2:R3 = refill slot 2
    #1 use R2:R3
    #2 exit
)",
                                first ? 4 : 0, first ? 1 : 4)});
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    ASSERT_EQ(j.details.mismatches[0].additions.size(), 1u);
    EXPECT_FALSE(j.details.mismatches[0].additions[0].explained);
  }
}

// The way of the wrong value is that which the guard leaves open.
TEST(MemcheckDetails, ExplainsUnderTheGuard) {
  expect_category({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #1 %1 = x     | R7 = x
    +20           | spill R7, slot 0
    #2 %0 = a     | R0 = a
    +21           | R0 = refill slot 0
    #3 @%3 %0 = c | @P0 R1 = c
    +22           | @P0 R0 = copy R7
    #4 @%3 use %0 | @P0 use R0
    #5 exit
)")},
                  kExtra);
}

TEST(MemcheckDetails, TellsOfEachCalleeSavedRegister) {
  // Two rets, in both orders of going through the blocks; an operand of another category stands before one of them.
  for (const bool swapped : {false, true}) {
    Pair p = {kVregs,
              fmt::format(R"(
  block b0
    #0 %0 = a
    #1 %3 = p
    #2 cbra %3 -> b{}, b{}
  block b1
    #3 use %0
    #4 ret
  block b2
    #5 ret
)",
                          swapped ? 2 : 1, swapped ? 1 : 2),
              fmt::format(R"(
  block b0
    #0 R24 = a
    #1 P0 = p
    #2 cbra P0 -> b{}, b{}
  block b1
    +20 R0 = refill slot 1
    #3 use R0
    #4 ret
  block b2
    #5 ret
)",
                          swapped ? 2 : 1, swapped ? 1 : 2)};
    p.kind = "device";
    const Judged j(p);
    ASSERT_EQ(j.result.findings.size(), 3u) << describe(j.result);
    EXPECT_EQ(j.result.findings[0].category, kSpillRefill);
    EXPECT_EQ(j.result.findings[1].category, kExtra);
    EXPECT_EQ(j.result.findings[1].inst, ir::InstId(4));
    EXPECT_EQ(j.result.findings[2].inst, ir::InstId(5));
    EXPECT_THAT(j.result.findings[2].message, ::testing::EndsWith(" (callee-saved R24)"));
    const std::string report = print_memcheck(j.all, {.dump_ir = true});
    EXPECT_THAT(report, HasSubstr(R"(Operand # -1 (callee-saved R24)
Producers for operand -1 of instruction [5] before register allocation:
  [entry] uninitialized def for src opr # -1

Producers for operand # -1 of instruction [5] after register allocation:
  [0] def opr # 0 for src opr # -1
)"));
  }
}

// A bad remat is found out at the end of two ways, after others were taken to be right because of it.
TEST(MemcheckDetails, WhatWasThoughtOfABadRematIsForgotten) {
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = const 1 !remat | R0 = const 1 !remat
    #1 %1 = inc %0 !remat  | R1 = inc R0 !remat
    #2 %3 = p              | P0 = p
    #3 cbra %3 -> b1, b2   | cbra P0 -> b1, b2
  block b1
    +20                    | R2 = remat #0 1
    #4 bra -> b3
  block b2
    +21                    | R2 = remat #0 1
    #5 bra -> b3
  block b3
    +22                    | R1 = remat #1 R2
    #6 use %1              | use R1
    #7 exit
)")};
  expect_pass(p);
  EXPECT_TRUE(fast(p).is_same());
  p.after = edit(p.after, "+21 R2 = remat #0 1", "+21 R2 = remat #0 2");
  expect_category(p, kRemat);
  // Two bad ones, found in one round.
  p.after = edit(p.after, "+20 R2 = remat #0 1", "+20 R2 = remat #0 3");
  expect_category(p, kRemat);
}

// While remats are tried, P0 and P1 count as one predicate, so that b never comes through to R3 (only a walk sees it, with P4 in
// between), and the remat of #10 is right. P0 is none: then R3 may hold b, and so may what was computed from it.
TEST(MemcheckDetails, AGuardIsForgottenWithTheBadRematThatMadeIt) {
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a              | R0 = a
    #1 %1 = b              | R3 = b
    #2 %3 = inc %0 !remat  | P1 = inc R0 !remat
    #3 %5 = p              | P5 = p
    #14 %4 = q             | P4 = q
    #4 cbra %5 -> b1, b2   | cbra P5 -> b1, b2
  block b1
    #5 %3 = p              | P0 = p
    +20                    | P1 = copy P0
    #6 bra -> b3
  block b2
    +21                    | P0 = remat #2 R0
    #7 bra -> b3
  block b3
    #8 %1 = c              | R5 = c
    +26                    | @!P1 R3 = copy R5
    +27                    | @!P4 R3 = copy R5
    +28                    | @P0 R3 = copy R5
    #10 %2 = inc %1 !remat | R2 = inc R3 !remat
    #11 use %1             | use R3
    +30                    | R4 = remat #10 R3
    #12 use %2, %3, %4     | use R4, P1, P4
    #13 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "remat #2 R0", "remat #2 R5");
  const Judged j(p);
  std::vector<std::uint32_t> wrong;
  for (const OperandMismatch& m : j.details.mismatches) wrong.push_back(m.inst.value);
  EXPECT_THAT(wrong, ElementsAre(10, 11, 12));
}

}  // namespace
}  // namespace regduel::oracles
