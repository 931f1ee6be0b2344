// What the symbolic judge says: its findings, word for word, and what it looks at beside the uses (branches, callee-saved
// registers). What it knows of each instruction and of joins is tested beside symbolic_state, symbolic_join, symbolic_plan and
// symbolic_values.
#include "oracles/symbolic/symbolic.h"

#include <string>

#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using ::testing::EndsWith;

TEST(SymbolicTest, SaysWhatTheLocationHoldsAndWhoWroteIt) {
  const JudgeResult r = judge(with(two_values(), "#1 R1 = b", "#1 R0 = b"));
  ASSERT_EQ(r.findings.size(), 2u) << describe(r);
  EXPECT_EQ(r.findings[0].inst, ir::InstId(2));
  EXPECT_EQ(r.findings[0].operand, 0);
  EXPECT_EQ(r.findings[0].other, ir::InstId(1));
  EXPECT_THAT(r.findings[0].message, HasSubstr("expected %0, but the location holds %1"));
  EXPECT_EQ(r.findings[1].category, kLost);
}

struct ReportedFinding {
  Pair pair;
  std::uint32_t inst;
  int operand;
  std::string_view category, message;
  std::uint32_t other;  // what wrote the location
};

TEST(SymbolicTest, AFindingNamesItsOperandWhatIsThereAndWhoWroteIt) {
  const std::string four = kThreeR + R"(
  vreg %3 R b32
  vreg %4 R b32
)";
  const Pair copies = {four, side_by_side(R"(
  block b0
    #0 %1 = a                    | R0 = a
    #1 %0 = copy %1              | copy !deleted
    #2 %2 = copy %1              | copy !deleted
    #3 %3 = copy %1              | copy !deleted
    #4 %4 = b                    | R1 = b
    #5 use 1, %4 !write          | use 1, R0 !write
    #6 use %0, %1, %2, %3 !write | use R0, R0, R0, R0 !write
    #7 exit
)")};
  const Pair far = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    +9                   | R2 = copy R0
    #1 %1 = b            | R1 = b
    #2 bra -> b1
  block b1
    #3 bra -> b2
  block b2
    #4 use %0, %1 !write | use R0, R2 !write
    #5 exit
)")};
  const Pair guard = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %4 = q            | P1 = q
    #2 %0 = a            | R0 = a
    #3 @%3 %0 = copy %0  | @P0 R0 = copy R0
    #4 @%3 use %0 !write | @P0 use R0 !write
    #5 exit
)")};
  const Pair remat = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a                     | R0 = a
    #1 %3 = p                     | P0 = p
    #2 %1 = sel 5, %0, !%3 !remat | sel !remat !deleted
    +9                            | R1 = remat #2 5, R0, !P0
    #3 use %1, %3 !write          | use R1, P0 !write
    #4 exit
)")};
  expect_pass(guard);
  expect_pass(remat);
  const ReportedFinding expected[] = {
      {copies, 5, 1, kWrong, "expected %4, but the location holds %0, %1, %2", 0},
      {far, 4, 1, kWrong, "expected %1, but the location holds %0", 9},
      {with(far, "    +9 R2 = copy R0\n    #1 R1 = b\n", "    #1 R2 = b\n    +9 R2 = copy R0\n"), 4, 1, kWrong,
       "expected %1, but the location holds %0", 9},
      {with(guard, "#4 @P0", "#4 @!P0"), 4, 1, "symbolic-negation", "%3 is read with the other polarity", ir::InstId().value},
      {with(guard, "#4 @P0", "#4 @P1"), 4, 1, kWrong, "expected %3, but the location holds %4", 1},
      {with(remat, "remat #2 5, R0, !P0", "remat #2 5, R7, !P0"), 9, 2, kRemat,
       "#2 read another value here: the location holds nothing known", ir::InstId().value},
      {with(remat, "remat #2 5, R0, !P0", "remat #2 5, R0, P0"), 9, 3, "symbolic-negation", "polarity", ir::InstId().value},
  };
  for (const ReportedFinding& s : expected) {
    const JudgeResult r = judge(s.pair);
    ASSERT_EQ(r.findings.size(), 1u) << describe(r) << "\n" << s.pair.after_text();
    const Finding& f = r.findings[0];
    EXPECT_EQ(f.inst.value, s.inst) << describe(r);
    EXPECT_EQ(f.operand, s.operand) << describe(r);
    EXPECT_EQ(f.category, s.category) << describe(r);
    EXPECT_THAT(f.message, EndsWith(std::string(s.message)));
    EXPECT_EQ(f.other.value, s.other) << describe(r);
  }
}

TEST(SymbolicTest, ABranchThatLeadsElsewhere) {
  expect_category(with(diamond(), "#2 cbra P0 -> b1, b2", "#2 cbra P0 -> b1, b1"), "symbolic-wrong-path");
}

TEST(SymbolicTest, UnreachableBlocksAreNotChecked) {
  expect_pass({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    #1 bra -> b2
  block b1
    #2 %0 = b        | R1 = b
    #3 use %0 !write | use R7 !write
    #4 bra -> b2
  block b2
    #5 use %0 !write | use R0 !write
    #6 exit
)")});
}

TEST(SymbolicTest, CalleeSavedRegistersComeBack) {
  Pair p = {kThreeR, side_by_side(R"(
  block b0
    +9               | spill R24, slot 0
    #0 %0 = a        | R24 = a
    #1 use %0 !write | use R24 !write
    +8               | R24 = refill slot 0
    #2 ret
)")};
  p.kind = "device";
  expect_pass(p);
  expect_category(with(p, "    +8 R24 = refill slot 0\n", ""), "callee-saved");
  expect_category(with(p, "R24 = refill slot 0", "R24 = refill slot 1"), "callee-saved");
  // At a ret in another block; written by a move alone, or as a pack.
  Pair other = {kThreeR, side_by_side(R"(
  block b0
    +9        | spill R24, slot 0
    #0 %0 = a | R24 = a
    +8        | R24 = refill slot 0
    #1 bra -> b1
  block b1
    #2 ret
)")};
  other.kind = "device";
  expect_pass(other);
  expect_category(with(p, R"(+9 spill R24, slot 0
    #0 R24 = a
    #1 use R24 !write
    +8 R24 = refill slot 0)",
                       "#0 R4 = a\n    #1 use R4 !write\n    +8 R24 = copy R4"),
                  "callee-saved");
  expect_category(with(p, R"(+9 spill R24, slot 0
    #0 R24 = a
    #1 use R24 !write
    +8 R24 = refill slot 0)",
                       "#0 R4 = a\n    #1 use R4 !write\n    +8 R24{inout} = p2r P0"),
                  "callee-saved");
  p.kind = "kernel";
  expect_pass(with(p, "    +8 R24 = refill slot 0\n", ""));
}

TEST(SymbolicTest, ArchitecturalRegistersHoldSomethingFromTheEntry) {
  const std::string vregs = R"(
  vreg %0 P pred fixed P7 architectural
  vreg %1 R b32
)";
  const Pair p = {vregs, side_by_side(R"(
  block b0
    #0 use %0 !write | use P7 !write
    #1 exit
)")};
  const JudgeResult r = judge(p);
  EXPECT_NE(r.verdict, Verdict::Fail) << describe(r);
  expect_category(with(p, "    #0 use P7", "    +9 P7 = copy P1\n    #0 use P7"), kLost);
}

}  // namespace
}  // namespace regduel::oracles
