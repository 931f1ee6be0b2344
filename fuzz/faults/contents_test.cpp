// The contents analysis that operators go by: hand-made damage, one code each.
#include "fuzz/faults/contents.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::fuzz {
namespace {

using oracles::testing::edit;
using oracles::testing::parse_function;

const std::string kBefore = R"(
func @f kernel target sm_90 threads 256
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  block b0
    #0 %0 = ld.a !read
    #1 %1 = ld.b !read
    #2 %3 = setp %0
    #3 cbra %3 -> b1, b2
  block b1
    #4 %0 = ld.c !read
    #5 bra -> b2
  block b2
    #6 st %0, %1 !write
    #7 exit
)";
const std::string kAfter = R"(
func @f kernel target sm_90 threads 256 allocated
  frame local 8 shared 0
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  block b0
    #0 R0 = ld.a !read
    +10 spill R0, slot 0
    #1 R1 = ld.b !read
    #2 P0 = setp R0
    #3 cbra P0 -> b1, b2
  block b1
    #4 R0 = ld.c !read
    +11 spill R0, slot 0
    #5 bra -> b2
  block b2
    +12 R2 = refill slot 0
    #6 st R2, R1 !write
    #7 exit
)";

std::uint32_t codes(const std::string& after) {
  const ir::Function before = parse_function(kBefore), now = parse_function(after);
  return expected_codes(BeforeFacts(before), now, 0);
}
constexpr std::uint32_t bit(int code) { return 1u << code; }

TEST(Contents, CorrectAllocationShowsNothing) { EXPECT_EQ(codes(kAfter), 0u); }

TEST(Contents, EachCode) {
  EXPECT_EQ(codes(edit(kAfter, "setp R0", "setp R1")), bit(6)) << "another definition";
  EXPECT_EQ(codes(edit(kAfter, "setp R0", "setp R5")), bit(5)) << "nothing defined";
  EXPECT_EQ(codes(edit(kAfter, "R2 = refill slot 0", "R2 = refill slot 1")), bit(1)) << "no store on any path";
  EXPECT_EQ(codes(edit(kAfter, "    +10 spill R0, slot 0\n", "")), bit(2)) << "no store on one path";
  EXPECT_EQ(codes(edit(kAfter, "    +12 R2 = refill slot 0\n", "    +12 R2 = copy R1\n")), bit(6));
  EXPECT_EQ(codes(edit(kAfter, "    +11 spill R0, slot 0\n", "")), bit(10)) << "only a definition less";
}

// The codes are those of memcheck, whose analysis is another one.
TEST(Contents, AgreesWithMemcheck) {
  const ir::Function before = parse_function(kBefore);
  for (const auto& [from, to, code] :
       std::vector<std::tuple<std::string, std::string, int>>{{"setp R0", "setp R1", 6},
                                                              {"setp R0", "setp R5", 5},
                                                              {"R2 = refill slot 0", "R2 = refill slot 1", 1},
                                                              {"    +10 spill R0, slot 0\n", "", 2},
                                                              {"    +11 spill R0, slot 0\n", "", 10}}) {
    const ir::Function after = parse_function(edit(kAfter, from, to));
    const auto details = oracles::memcheck({before, after, *ir::find_target("sm_90"), ir::Limits::of(*ir::find_target("sm_90"))});
    ASSERT_EQ(details.mismatches.size(), 1u) << to;
    EXPECT_EQ(static_cast<int>(details.mismatches[0].code), code) << to;
  }
}

TEST(Contents, TheGuardOfACopyIsAUse) {
  const ir::Function before = parse_function(edit(kBefore, "    #6 st", "    #8 @%3 %2 = copy %1\n    #6 st"));
  const BeforeFacts facts(before);
  const auto with = [&](const std::string& copy) {
    return expected_codes(facts, parse_function(edit(kAfter, "    #6 st", "    #8 " + copy + "\n    #6 st")), 0);
  };
  EXPECT_EQ(with("@P0 R3 = copy R1"), 0u);
  EXPECT_EQ(with("@P1 R3 = copy R1"), bit(5));
  EXPECT_EQ(with("@P1 spill R1, slot 1"), bit(5)) << "it may have become one";
  EXPECT_EQ(with("@P0 R3 = copy R4"), 0u) << "what it moves shows where that is used, which it is not";
}

TEST(Contents, GuardsLeaveItUndecided) {
  // A guarded read shows only that somebody has to look closer.
  const std::string before = edit(kBefore, "#6 st %0, %1 !write", "#6 @%3 st %0, %1 !write");
  const std::string after = edit(kAfter, "#6 st R2, R1 !write", "#6 @P0 st R2, R3 !write");
  const ir::Function b = parse_function(before), a = parse_function(after);
  EXPECT_EQ(expected_codes(BeforeFacts(b), a, 0), kUndecidedReads);
}

TEST(Contents, NarrowDefsLeaveTheUpperBytesUndefined) {
  const ir::Function before = parse_function(R"(
func @f kernel target sm_90 threads 256
  vreg %0 R b16
  vreg %1 R b32
  block b0
    #0 %0 = ld.a !read
    #1 %1 = ld.b !read
    #2 st %1 !write
    #3 st %0 !write
    #4 exit
)");
  const std::string text = R"(
func @f kernel target sm_90 threads 256 allocated
  vreg %0 R b16
  vreg %1 R b32
  block b0
    #0 R0 = ld.a !read
    #1 R1 = ld.b !read
    #2 st R1 !write
    #3 st R0 !write
    #4 exit
)";
  const BeforeFacts facts(before);
  EXPECT_EQ(expected_codes(facts, parse_function(text), 0), 0u);
  // Code 5 goes before 6, since the upper half of R0 is nobody's.
  EXPECT_EQ(expected_codes(facts, parse_function(edit(text, "st R1", "st R0")), 0), bit(5));
}

TEST(Contents, NarrowCopiesOfPartsLeaveTheUpperBytesUndefined) {
  const ir::Function before = parse_function(R"(
func @f kernel target sm_90 threads 256
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b32
  block b0
    #0 %0 = ld.a !read
    #1 %2 = ld.b !read
    #2 %1 = copy %0.h1
    #3 st %2, %1 !write
    #4 exit
)");
  const std::string text = R"(
func @f kernel target sm_90 threads 256 allocated
  vreg %0 R b32
  vreg %1 R b16
  vreg %2 R b32
  block b0
    #0 R0 = ld.a !read
    #1 R2 = ld.b !read
    #2 R1 = copy R0.h1
    #3 st R2, R1 !write
    #4 exit
)";
  const BeforeFacts facts(before);
  EXPECT_EQ(expected_codes(facts, parse_function(text), 0), 0u);
  EXPECT_EQ(expected_codes(facts, parse_function(edit(text, "R1 = copy R0.h1", "R2 = copy R0.h1")), 0), bit(5));
}

// An early-clobber def is gone before a use in its register is read; the guard is read before.
TEST(Contents, EarlyClobberDefsDestroyWhatIsReadThere) {
  const std::string before =
      edit(edit(kBefore, "#2 %3 = setp %0", "#2 %3 = setp %0\n    #9 %2{early} = atom %0, %1"), "#6 st %0, %1", "#6 st %0, %1, %2");
  const ir::Function b = parse_function(before);
  const BeforeFacts facts(b);
  const auto with = [&](const std::string& atom) {
    return expected_codes(
        facts,
        parse_function(edit(edit(kAfter, "#2 P0 = setp R0", "#2 P0 = setp R0\n    #9 " + atom), "st R2, R1", "st R2, R1, R3")), 0);
  };
  EXPECT_EQ(with("R3 = atom R0, R1"), 0u);
  EXPECT_EQ(with("R3 = atom R1, R1"), bit(6));
  EXPECT_EQ(with("R3 = atom R3, R1"), bit(5));
}

// Of two guards one may exclude the other: %1 never is what #3 makes, since it is copied only where #3 does not happen. Sets do not
// know that, so that they decide nothing where it matters; and where one guard alone is in play they do.
TEST(Contents, SeveralGuardsLeaveItUndecided) {
  const auto program = [](const std::string& guard, const std::string& d, const std::string& e) {
    return "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  block b0\n    #0 " + d + " = ld.a !read\n    #1 " + e +
           " = ld.b !read\n    #2 " + guard + " = p\n    #3 @" + guard + " " + d + " = ld.c !read\n";
  };
  const std::string head = "func @f kernel target sm_90 threads 256", end = "    #6 exit\n";
  const ir::Function one = parse_function(head + "\n" + program("%2", "%0", "%1") + "    #5 st %0\n" + end);
  const ir::Function two =
      parse_function(head + "\n" + program("%2", "%0", "%1") + "    #4 @!%2 %1 = copy %0\n    #5 st %1\n" + end);
  const auto after = [&](const std::string& rest) {
    return parse_function(head + " allocated\n" + program("P0", "R0", "R1") + rest + end);
  };
  EXPECT_EQ(expected_codes(BeforeFacts(one), after("    #5 st R0\n"), 0), 0u);
  EXPECT_EQ(expected_codes(BeforeFacts(one), after("    #5 st R1\n"), 0), bit(6));
  EXPECT_EQ(expected_codes(BeforeFacts(one), after("    +7 @P0 R0 = copy R1\n    #5 st R0\n"), 0), bit(6));
  EXPECT_EQ(expected_codes(BeforeFacts(two), after("    #4 @!P0 R1 = copy R0\n    #5 st R1\n"), 0), 0u);
  EXPECT_EQ(expected_codes(BeforeFacts(two), after("    #4 R1 = copy R0\n    #5 st R1\n"), 0), kUndecidedReads)
      << "10, or 6 since #3 is new";
  EXPECT_EQ(expected_codes(BeforeFacts(two), after("    #4 @!P0 R1 = copy R0\n    #5 st R3\n"), 0), bit(5));
}

TEST(Contents, RegistersThatHoldTheSameDoNotDiffer) {
  const ir::Function before = parse_function(kBefore),
                     after = parse_function(edit(kAfter, "+12 R2 = refill", "+13 R3 = copy R1\n    +12 R2 = refill"));
  const BeforeFacts facts(before);
  const auto at = static_cast<std::uint32_t>(
      std::find_if(after.insts.begin(), after.insts.end(), [](const ir::Inst& i) { return i.id == ir::InstId(6); }) -
      after.insts.begin());
  const auto reg = [](std::uint16_t unit) { return ir::Operand::of_preg(ir::Role::Use, {ir::RegFile::R, 1, unit}); };
  EXPECT_TRUE(hold_different(facts, after, at, reg(1), reg(2)));
  EXPECT_TRUE(hold_different(facts, after, at, reg(0), reg(1)));
  EXPECT_FALSE(hold_different(facts, after, at, reg(1), reg(3))) << "a copy";
  EXPECT_FALSE(hold_different(facts, after, at, reg(0), reg(2))) << "R0 holds what was stored from it";
}

TEST(Contents, SlotsThatOverlapShareTheirBytes) {
  EXPECT_EQ(codes(edit(kAfter, "R2 = refill slot 0", "R2 = refill slot 1")), bit(1));
  const std::string overlapping = edit(kAfter, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 4 offset 0");
  EXPECT_EQ(codes(edit(overlapping, "R2 = refill slot 0", "R2 = refill slot 1")), 0u);
  const std::string shared =
      edit(edit(overlapping, "slot 1 local", "slot 1 shared"), "frame local 8 shared 0", "frame local 8 shared 4");
  EXPECT_EQ(codes(edit(shared, "R2 = refill slot 0", "R2 = refill slot 1")), bit(1)) << "another space";
}

// What nobody reads is left out of the states; what an operation reads is there as if everything were.
TEST(Contents, ReadsAreTheSameInEitherScope) {
  const ir::Function after = parse_function(kAfter);
  Contents all(after, nullptr, Contents::Scope::Everything), later(after);
  std::size_t reads = 0, left_out = 0;
  for (std::uint32_t b = 0; b < after.blocks.size(); ++b) {
    std::vector<Contents::State> states;
    all.walk(ir::BlockId(b), [&](std::uint32_t, const Contents::State& state) { states.push_back(state); });
    later.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const Contents::State& whole = states[i - after.block(ir::BlockId(b)).first_inst];
      for (std::size_t c = 0; c < state.size(); ++c)
        left_out += state[c] == Contents::kNever && whole[c] != Contents::kNever ? 1 : 0;
      for (const ir::Operand& op : after.operands_of(after.insts[i])) {
        if (!op.is_preg() || !op.reads()) continue;
        const auto [begin, end] = all.cells(op);
        for (std::size_t c = begin; c < end; ++c, ++reads) {
          const auto want = all.elements(whole[c]), have = later.elements(state[c]);
          EXPECT_TRUE(std::equal(want.begin(), want.end(), have.begin(), have.end()));
        }
      }
    });
  }
  EXPECT_GT(reads, 10u);
  EXPECT_GT(left_out, 0u);
}

// Whoever reads what a remat with a wrong source made shows that, whatever else is wrong; and so does what is repeated in turn.
TEST(Contents, WhatIsRepeatedWronglyIsUndecided) {
  const std::string vregs = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 R b32\n";
  const ir::Function before =
      parse_function("func @f kernel target sm_90 threads 256\n" + vregs +
                     "  block b0\n    #0 %0 = ld.a !read\n    #1 %1 = ld.b !read\n    #2 %2 = neg %0 !remat\n"
                     "    #3 %3 = not %2 !remat\n    #4 st %2, %1 !write\n    #5 st %3 !write\n    #6 exit\n");
  const BeforeFacts facts(before);
  const auto shown = [&](const std::string& remats, const std::string& uses) {
    const ir::Function after =
        parse_function("func @f kernel target sm_90 threads 256 allocated\n  frame local 0 shared 0\n" + vregs +
                       "  block b0\n    #0 R0 = ld.a !read\n    #1 R1 = ld.b !read\n    #2 neg !remat !deleted\n"
                       "    #3 not !remat !deleted\n" +
                       remats + uses + "    #6 exit\n");
    std::uint32_t codes_of_memcheck = 0;
    for (const auto& m :
         oracles::memcheck({before, after, *ir::find_target("sm_90"), ir::Limits::of(*ir::find_target("sm_90"))}).mismatches)
      codes_of_memcheck |= bit(static_cast<int>(m.code));
    return std::pair(expected_codes(facts, after, 0), codes_of_memcheck);
  };
  const std::string uses = "    #4 st R2, R1 !write\n    #5 st R3 !write\n",
                    crossed = "    #4 st R3, R1 !write\n    #5 st R2 !write\n";
  const std::string right = "    +10 R2 = remat #2 R0\n", wrong = "    +10 R2 = remat #2 R1\n",
                    again = "    +11 R3 = remat #3 R2\n";
  EXPECT_EQ(shown(right + again, uses), std::pair(0u, 0u));
  EXPECT_EQ(shown(right + again, crossed), std::pair(bit(6), bit(6)));
  EXPECT_EQ(shown(wrong + again, uses), std::pair(kUndecidedReads, bit(7)));
  EXPECT_EQ(shown(wrong + again, crossed), std::pair(kUndecidedReads, bit(7)));
  // What has nothing to do with it shows as ever.
  EXPECT_EQ(shown(wrong + again, "    #4 st R2, R0 !write\n    #5 st R3 !write\n"),
            std::pair(kUndecidedReads | bit(6), bit(6) | bit(7)));
}

TEST(Contents, KeepsSome) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  const BeforeFacts facts(before);
  const Refilled correct = refilled(facts, after);
  EXPECT_TRUE(keeps_some(correct, correct));
  EXPECT_TRUE(keeps_some(correct, refilled(facts, parse_function(edit(kAfter, "    +10 spill R0, slot 0\n", "")))));
  EXPECT_FALSE(keeps_some(correct, refilled(facts, parse_function(edit(kAfter, "R2 = refill slot 0", "R2 = refill slot 1")))));
}

}  // namespace
}  // namespace regduel::fuzz
