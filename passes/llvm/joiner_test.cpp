#include "passes/llvm/joiner.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes::llvm {
namespace {

constexpr const char* kVRegs =
    R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 R b64
  vreg %5 R b64
  vreg %6 R f32
  vreg %7 R b32 fixed R4
  vreg %8 R b64 align 1
)";

ir::Function parsed(const std::string& blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 1\n" + std::string(kVRegs) + blocks);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}
// Whether two roots may be joined; -1 for a conflict, else how many defs that erases.
int joined(const std::string& blocks, std::uint32_t a, std::uint32_t b) {
  const ir::Function f = parsed(blocks);
  const ir::Cfg cfg(f);
  LiveIntervals intervals(f, cfg);
  Joiner joiner(f, intervals);
  const auto there = joiner.plan(ir::VRegId(a), ir::VRegId(b)), back = joiner.plan(ir::VRegId(b), ir::VRegId(a));
  EXPECT_EQ(there.has_value(), back.has_value());
  return there ? static_cast<int>(there->size()) : -1;
}
std::string straight(const std::string& insts) { return "  block b0\n" + insts + "    #99 exit\n"; }

TEST(Joiner, ACopyThatKillsItsSourceIsNoConflict) {
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 st %1 !write
)"),
                   0, 1),
            0);
}

TEST(Joiner, ACopyMayOverlapItsSource) {
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 st %0, %1 !write
)"),
                   0, 1),
            1);
}

TEST(Joiner, NotIfOneOfTheTwoChanges) {
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 %0 = add %0
    #3 st %0, %1 !write
)"),
                   0, 1),
            -1);
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 %1 = add %1
    #3 st %0, %1 !write
)"),
                   0, 1),
            -1);
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 %1 = ld
    #3 st %0 !write
)"),
                   0, 1),
            -1)
      << "what nobody reads is written all the same";
}

TEST(Joiner, CopiesOfOneValueAreEqual) {
  EXPECT_EQ(joined(straight(R"(    #0 %2 = ld
    #1 %0 = copy %2
    #2 %1 = copy %2
    #3 st %0, %1, %2 !write
)"),
                   0, 1),
            1);
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %2 = copy %0
    #2 %1 = copy %2
    #3 st %0, %1 !write
)"),
                   0, 1),
            1);
}

TEST(Joiner, CopiesOfOneRegisterNeedNotBe) {
  EXPECT_EQ(joined(straight(R"(    #0 %2 = ld
    #1 %0 = copy %2
    #2 %2 = ld
    #3 %1 = copy %2
    #4 st %0, %1 !write
)"),
                   0, 1),
            -1);
}

// The value of the last turn is another one than this turn's, although one instruction makes both.
TEST(Joiner, TheSameInstructionMakesAnotherValueInEachTurn) {
  EXPECT_EQ(joined(R"(  block b0
    #0 %0, %3 = ld
    #1 bra -> b1
  block b1
    #2 %2 = ld
    #3 %1 = copy %2
    #4 st %0, %1 !write
    #5 %0 = copy %2
    #6 cbra %3 -> b1, b2
  block b2
    #7 exit
)",
                   0, 1),
            -1);
}

TEST(Joiner, TheTwoSidesOfASwapConflict) {
  EXPECT_EQ(joined(straight(R"(    #0 %0, %1 = ld
    #1 %0, %1 = copy %1, %0
    #2 st %0, %1 !write
)"),
                   0, 1),
            -1);
}

TEST(Joiner, TheTwoSidesOfASwapOfOneValueDoNot) {
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 %0, %1 = copy %1, %0
    #3 st %0, %1 !write
)"),
                   0, 1),
            2)
      << "one of the two pairs goes, the other is an identity";
}

TEST(Joiner, TwoDefsOfOneInstructionConflictUnlessTheyMoveTheSame) {
  EXPECT_EQ(joined(straight("    #0 %0, %1 = ld\n    #1 st %0, %1 !write\n"), 0, 1), -1);
  EXPECT_EQ(joined(straight("    #0 %0, %1 = ld\n"), 0, 1), -1);
  EXPECT_EQ(joined(straight(R"(    #0 %2 = ld
    #1 %0, %1 = copy %2, %2
    #2 st %0, %1 !write
)"),
                   0, 1),
            1);
}

TEST(Joiner, AnEarlyClobberDefConflictsWithWhatIsReadBesideIt) {
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1{early} = op %0
    #2 st %1 !write
)"),
                   0, 1),
            -1);
  EXPECT_EQ(joined(straight("    #1 %1{early} = op %0\n    #2 st %1 !write\n"), 0, 1), -1) << "an undefined value, too";
  EXPECT_EQ(joined(straight(R"(    #0 %0 = ld
    #1 %1 = op %0
    #2 st %1 !write
)"),
                   0, 1),
            0);
}

TEST(Joiner, AGuardedCopyIsACopyWhereTheOldValueIsEqualOrNone) {
  EXPECT_EQ(joined(straight(R"(    #0 %0, %3 = ld
    #1 @%3 %1 = copy %0
    #2 st %0, %1 !write
)"),
                   0, 1),
            1);
  EXPECT_EQ(joined(straight(R"(    #0 %0, %3 = ld
    #1 %1 = ld
    #2 @%3 %1 = copy %0
    #3 st %0, %1 !write
)"),
                   0, 1),
            -1);
}

TEST(Joiner, APartCopiedToTheSamePartIsNoConflict) {
  EXPECT_EQ(joined(straight(R"(    #0 %4 = ld
    #1 %5 = copy %4
    #2 %5.lo = copy %4.lo
    #3 st %4, %5 !write
)"),
                   4, 5),
            2);
  EXPECT_EQ(joined(straight(R"(    #0 %4 = ld
    #1 %5 = copy %4
    #2 %5.lo = copy %4.hi
    #3 st %4, %5 !write
)"),
                   4, 5),
            -1);
}

constexpr const char* kLostCopy =
    R"(  block b0
    #0 %0, %3 = ld
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %2
    #3 %2 = add %1
    #4 cbra %3 -> b1, b2
  block b2
    #5 st %1 !write
    #6 exit
)";

TEST(Joiner, LostCopy) {
  EXPECT_EQ(joined(kLostCopy, 1, 2), -1);
  EXPECT_EQ(joined(kLostCopy, 0, 1), 0);
}

std::string swap_by_phis(const char* second) {
  return std::string(R"(  block b0
    #0 %0, %3 = ld
    #1 %2 = ld
    #2 bra -> b1
  block b1
    #3 %1 = phi b0: )") +
         second +
         R"(, b1: %6
    #4 %6 = phi b0: %0, b1: %1
    #5 st %1, %6 !write
    #6 cbra %3 -> b1, b2
  block b2
    #7 exit
)";
}

TEST(Joiner, TheTwoPhisOfASwapConflictUnlessTheyBeginWithOneValue) {
  EXPECT_EQ(joined(swap_by_phis("%2"), 1, 6), -1);
  EXPECT_EQ(joined(swap_by_phis("%0"), 1, 6), 1);
}

// The later one holds; neither is a copy by itself.
TEST(Joiner, TwoPhisOfOneRootStay) {
  const ir::Function f = parsed(
      R"(  block b0
    #0 %0, %1, %3 = ld
    #1 cbra %3 -> b1, b2
  block b1
    #2 %1 = phi b0: %0, b2: %0
    #3 %1 = phi b0: %1, b2: %2
    #4 st %1 !write
    #5 exit
  block b2
    #6 bra -> b1
)");
  const ir::Cfg cfg(f);
  LiveIntervals intervals(f, cfg);
  const Joiner joiner(f, intervals);
  EXPECT_TRUE(joiner.is_pinned(2));
  EXPECT_TRUE(joiner.is_pinned(3));
}

TEST(Joiner, OnlyLikeRootsMayShare) {
  const ir::Function f = parsed(straight("    #0 %0 = ld\n"));
  const ir::Cfg cfg(f);
  LiveIntervals intervals(f, cfg);
  const Joiner joiner(f, intervals);
  const auto may = [&](std::uint32_t a, std::uint32_t b) { return joiner.may_share(ir::VRegId(a), ir::VRegId(b)); };
  EXPECT_TRUE(may(0, 1));
  EXPECT_FALSE(may(0, 0));
  EXPECT_FALSE(may(0, 3)) << "class";
  EXPECT_FALSE(may(0, 4)) << "width";
  EXPECT_FALSE(may(0, 6)) << "floating point";
  EXPECT_FALSE(may(0, 7)) << "fixed";
  EXPECT_FALSE(may(4, 8)) << "alignment";
}

// %0 and %1 conflict with each other's neighbours afterwards as both did before.
TEST(Joiner, AJoinedIntervalIsThatOfBoth) {
  const ir::Function f = parsed(straight(R"(    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = ld
    #3 st %1, %2 !write
)"));
  const ir::Cfg cfg(f);
  LiveIntervals intervals(f, cfg);
  Joiner joiner(f, intervals);
  EXPECT_EQ(joiner.join(ir::VRegId(0), ir::VRegId(1), *joiner.plan(ir::VRegId(0), ir::VRegId(1))), ir::VRegId(0));
  EXPECT_EQ(joiner.find(ir::VRegId(1)), ir::VRegId(0));
  EXPECT_EQ(intervals.of(ir::VRegId(0)).segments.size(), 1u);
  EXPECT_EQ(joiner.version(ir::VRegId(0)), 1u);
  EXPECT_FALSE(joiner.plan(ir::VRegId(0), ir::VRegId(2)).has_value());
}

TEST(Joiner, ShrinksToTheUsesThatAreLeft) {
  const ir::Function f = parsed(
      R"(  block b0
    #0 %0, %3 = ld
    #1 st %0 !write
    #2 cbra %3 -> b1, b2
  block b1
    #3 %1 = copy %0
    #4 st %1 !write
    #5 bra -> b2
  block b2
    #6 exit
)");
  const ir::Cfg cfg(f);
  LiveIntervals intervals(f, cfg);
  Joiner joiner(f, intervals);
  const auto end = [&] { return intervals.of(ir::VRegId(0)).segments.back().end; };
  EXPECT_EQ(joiner.copies_from(ir::VRegId(0)), 1);
  const Slot before = end();
  joiner.shrink(ir::VRegId(0));
  EXPECT_EQ(end(), before) << "all uses are there";
  joiner.rematerialise(3, intervals.of(ir::VRegId(0)).value_at(intervals.base(3)));
  EXPECT_EQ(joiner.copies_from(ir::VRegId(0)), 0);
  EXPECT_EQ(end(), before);
  joiner.shrink(ir::VRegId(0));
  EXPECT_EQ(end(), 4u * 2 + 2) << "the store";
}

}  // namespace
}  // namespace regduel::passes::llvm
