// The deep check of values that come from other blocks, in parts, in packs and through phis.

#include "oracles/memcheck/deep_check.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckDetails, PartsComeFromOtherBlocks) {
  Pair p = {side_by_side(R"(
  vreg %0..%2 R b32
  block b0
    #0 %0 = a             | R0 = a
    #1 %1 = b             | R1 = b
    #2 bra -> b1
  block b1
    #3 %2.h0 = copy %0.h0 | R2.h0 = copy R0.h0
    #4 %2.h1 = copy %1.h1 | R2.h1 = copy R1.h1
    #5 use %2             | use R2
    #6 exit
)")};
  expect_pass(p);
  p.after = edit(p.after, "R2.h1 = copy R1.h1", "R2.h1 = copy R0.h1");
  expect_category(p, kExtra);
}

TEST(MemcheckDetails, APartIsReadWhereItStands) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  block b0
    #0 %0 = a    | R0 = a
    +3           | R0.h1 = copy R0.h0
    #1 use %0.h1 | use R0.h1
    #2 exit
)")};
  expect_category(p, kExtra);
}

TEST(MemcheckDetails, WhatIsPackedComesFromOtherBlocks) {
  Pair p = {side_by_side(R"(
  vreg %0..%1 P pred
  block b0
    #0 %0 = p     | P0 = p
    #1 %1 = q     | P1 = q
    +20           | R0{inout} = bit_spill P0, 3
    #2 bra -> b1
  block b1
    +21           | R0{inout} = bit_spill P1, 4
    +22           | P2 = bit_refill R0, 3
    +23           | P3 = bit_refill R0, 4
    #3 use %0, %1 | use P2, P3
    #4 exit
)")};
  expect_pass(p);
  expect_category(with(p, "bit_refill R0, 3", "bit_refill R0, 4"), kBitPattern);
  expect_category(with(p, "bit_spill P0, 3", "bit_spill P1, 3"), kBitPattern);
  expect_category(with(p, "bit_spill P0, 3", "bit_spill !P0, 3"), kBitPattern);
}

// A predicate goes through one pack, and then through another: of which the base is destroyed is what counts, not which comes last.
TEST(MemcheckDetails, TheDestroyedBaseIsThatOfItsOwnPack) {
  const std::string destroyed = "    +30 R9 = copy R0\n";
  const auto chained = [&](const std::string& first, const std::string& second) {
    return Pair{kVregs, side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #1 %0 = a     | R0 = a
)" + first + second + R"(
    #2 use %3, %0 | use P0, R0
    #3 exit
)")};
  };
  const auto by_p2r = [](const std::string& base, const std::string& between) {
    return "    +20 " + base + "{inout} = p2r P0\n" + between + "    +21 P0 = r2p " + base + "\n";
  };
  const auto by_bits = [](const std::string& base, const std::string& between) {
    return "    +22 " + base + "{inout} = bit_spill P0, 3\n" + between + "    +23 P0 = bit_refill " + base + ", 3\n";
  };
  expect_pass(chained(by_bits("R9", ""), by_p2r("R8", "")));
  expect_category(chained(by_bits("R9", destroyed), by_p2r("R8", "")), kBitBase);
  expect_category(chained(by_bits("R8", ""), by_p2r("R9", destroyed)), kP2rBase);
  expect_category(chained(by_p2r("R8", ""), by_bits("R9", destroyed)), kBitBase);
  expect_category(chained(by_p2r("R9", destroyed), by_bits("R8", "")), kP2rBase);
  // Through a second register, a slot, and another bit put beside.
  const std::string moved = R"(
    +24 spill R9, slot 0
    +25 R7 = refill slot 0
    +26 R9 = copy R7
    +27 R9{inout} = bit_spill P0, 4
)";
  expect_category(chained(by_bits("R9", destroyed + moved), by_p2r("R8", "")), kBitBase);
}

TEST(MemcheckDetails, ABaseIsDestroyedInFrontOfALoop) {
  expect_category({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    +20                  | R9{inout} = bit_spill P0, 3
    +21                  | R9 = copy R0
    #2 bra -> b1
  block b1
    +22                  | P1 = bit_refill R9, 3
    +23                  | R9{inout} = bit_spill P0, 4
    #3 use %3, %0        | use P1, R0
    #4 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #5 exit
)")},
                  kBitBase);
}

// The store stands on one path, so that the refill behind it is one that may find nothing (2), not one without a store (1): also
// for an instruction under the other sense of the store's guard, which sees of the refill only the path without it.
TEST(MemcheckDetails, ARefillBehindAStoreUnderAGuardHasAStore) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #2 @%3 %0 = c
    #3 use %0
    #4 exit
)";
  const auto after = [](const std::string& store) {
    return R"(
  block b0
    #0 P0 = p
    #1 R0 = a
)" + store +
           R"(
    +21 R1 = refill slot 0
    #2 @P0 R1 = c
    +22 spill R1, slot 0
    +23 R2 = refill slot 0
    #3 use R2
    #4 exit
)";
  };
  expect_pass({kVregs, before, after("    +20 spill R0, slot 0\n")});
  expect_category({kVregs, before, after("    +20 @P0 spill R0, slot 0\n")}, kRefillUninit);
  expect_category({kVregs, before, after("")}, kSpillRefill);
  // Another refill behind the same store does not help one that reads another slot.
  expect_category({kVregs, before, after("    +20 @P0 spill R0, slot 1\n    +19 R3 = refill slot 1\n")}, kSpillRefill);
}

TEST(MemcheckDetails, ABaseIsDestroyedInAnotherBlock) {
  expect_category({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p | P0 = p
    +20       | R9{inout} = p2r P0
    #1 bra -> b1
  block b1
    #2 call "g" clobbers P0:P6, R9, R10
    +21       | P0 = r2p R9
    #3 use %3 | use P0
    #4 exit
)")},
                  kP2rBase);
}

// A register may be in two clobbers of one instruction.
TEST(MemcheckDetails, ABaseIsDestroyedByClobbersThatOverlap) {
  for (const std::string clobbers : {"R8:R9", "R8:R9, R9:R10", "R9, R8:R9, R9"}) {
    const std::string before = R"(
  block b0
    #0 %3 = p
    #1 call "g" clobbers P0:P6, )" +
                               clobbers + R"(
    #2 use %3
    #3 exit
)";
    expect_category({kVregs, before,
                     R"(
  block b0
    #0 P0 = p
    +20 R9{inout} = bit_spill P0, 3
    #1 call "g" clobbers P0:P6, )" +
                         clobbers + R"(
    +21 P0 = bit_refill R9, 3
    #2 use P0
    #3 exit
)"},
                    kBitBase);
  }
}

// An instruction may clobber the register that it defines. The pack was in that register until then.
TEST(MemcheckDetails, ABaseIsDestroyedByWhatClobbersAndDefinesIt) {
  for (const std::string clobbers : {"", " clobbers R9", " clobbers R8:R9, R9:R10"}) {
    const Judged j({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    +20            | R9{inout} = bit_spill P0, 3
    #1 %0 = a)" + clobbers + " | R9 = a" +
                                         clobbers + R"(
    +21            | P0 = bit_refill R9, 3
    #2 use %3, %0  | use P0, R9
    #3 exit
)")});
    ASSERT_EQ(j.details.mismatches.size(), 1u) << clobbers;
    EXPECT_EQ(j.result.findings[0].category, kBitBase) << clobbers;
    EXPECT_EQ(j.details.mismatches[0].other, ir::InstId(1)) << clobbers;
  }
}

// What is wrong in the bit came along one path, with the byte that it is in: a write of another part of the register behind the
// join destroys nothing. A base that is overwritten part by part is destroyed by the part with the bit, whichever comes last.
TEST(MemcheckDetails, ABaseIsDestroyedByWhatWritesTheBit) {
  const auto with = [](const std::string& between) {
    return Pair{kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +20                  | R9{inout} = bit_spill P0, 3
    #3 bra -> b2
  block b2
)" + between + R"(
    +24                  | P0 = bit_refill R9, 3
    #4 use %3, %0        | use P0, R0
    #5 exit
)")};
  };
  const std::string low = "    +21 R9.b0 = copy R0.b0\n", next = "    +22 R9.b1 = copy R0.b1\n",
                    high = "    +23 R9.hi = copy R0.hi\n";
  for (const std::string& other : {std::string(), high, next + high}) expect_category(with(other), kBitPattern);
  for (const std::string& parts : {low, low + high, high + low, next + low + high, low + high + next}) {
    expect_category(with(parts), kBitBase);
    const Judged j(with(parts));
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    EXPECT_EQ(j.details.mismatches[0].other, ir::InstId(21)) << parts;
  }
}

// A part of the pack alone was stored, and then all of it refilled: this destroyed the bit, however it was moved on since.
TEST(MemcheckDetails, ABaseIsDestroyedByARefillInPieces) {
  for (const std::string moved : {"", "    +23 spill R9, slot 1\n    +24 R9 = refill slot 1\n", R"(
    +23 spill R9, slot 1
    +24 R9.hi = refill slot 1+2
    +25 R9.lo = refill slot 1
)"}) {
    const Judged j({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p | P0 = p
    +20       | R9{inout} = bit_spill P0, 30
    +21       | spill R9.lo, slot 0
    +22       | R9 = refill slot 0
)" + moved + R"(
    +26       | P0 = bit_refill R9, 30
    #1 use %3 | use P0
    #2 exit
)")});
    ASSERT_EQ(j.details.mismatches.size(), 1u);
    EXPECT_EQ(j.result.findings[0].category, kBitBase) << moved;
    EXPECT_EQ(j.details.mismatches[0].other, ir::InstId(22)) << moved;
  }
}

TEST(MemcheckDetails, APackIsNoValueOfTheProgram) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p | P0 = p
    #1 %0 = a | R0 = a
    +20       | R0{inout} = p2r P0
    #2 use %0 | use R0
    #3 exit
)")};
  expect_category(p, kExtra);
  EXPECT_THAT(print_memcheck(Judged(p).all, {.dump_ir = true}), HasSubstr("  [20] def opr # 0 src opr # 0  POTENTIAL PROBLEM"));
}

TEST(MemcheckDetails, AKeptPhiMayNameEdgeBlocks) {
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = a
    #3 bra -> b3
  block b2
    #4 %1 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1
    #7 use %2
    #8 exit
)";
  for (const std::string_view named : {"b1", "b4"}) {
    Pair p = {kVregs, before,
              fmt::format(R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> b1, b2
  block b1
    #2 R3 = a
    #3 bra -> b4
  block b2
    #4 R3 = b
    #5 bra -> b3
  block b3
    #6 R3 = phi {}: R3, b2: R3
    #7 use R3
    #8 exit
  block b4 edge b1 -> b3
    +20 bra -> b3
)",
                          named)};
    expect_pass(p);
    p.after = edit(p.after, "#2 R3 = a", "#2 R4 = a");
    expect_category(p, kUninit);
    p.after = edit(p.after, "+20 bra", "+21 R3 = copy R4\n    +20 bra");
    expect_pass(p);
  }
}

TEST(MemcheckDetails, AKeptPhiWithoutAUseForItsPredecessorIsUndefinedThere) {
  const Judged j({kVregs, side_by_side(R"(
  block b0
    #0 %3 = p                  | P0 = p
    #1 cbra %3 -> b1, b2       | cbra P0 -> b1, b2
  block b1
    #2 %0 = a                  | R3 = a
    #3 bra -> b3
  block b2
    #4 %1 = b                  | R3 = b
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1 | R3 = phi b0: R3, b2: R3
    #7 use %2                  | use R3
    #8 exit
)")});
  ASSERT_EQ(j.result.findings.size(), 1u) << describe(j.result);
  EXPECT_EQ(j.result.findings[0].category, kUninit);
  EXPECT_EQ(j.result.findings[0].other, ir::InstId(6));
}

TEST(MemcheckDetails, InstructionsWithTwoDefsFollowEachOther) {
  expect_pass({kVregs, side_by_side(R"(
  block b0
    #0 %0, %1 = two | R0, R1 = two
    #1 use %0, %1   | use R0, R1
    #2 %0, %1 = two | R1, R0 = two
    #3 use %0, %1   | use R1, R0
    #4 exit
)")});
}

}  // namespace
}  // namespace regduel::oracles
