// What each instruction does on each side, by programs of a few lines: where the hardware reads and writes, negations and guards,
// packs of bytes, what is undefined, and which pairs cannot be run side by side. With the words of the findings.

#include "oracles/execution/plan.h"

#include "oracles/execution/execution.h"
#include "oracles/execution/guards.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

// One block of instructions, separated by semicolons.
std::string block(std::string_view lines) {
  std::string text = "  block b0\n";
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find("; ", at), lines.size());
    text += "    " + std::string(lines.substr(at, end - at)) + "\n";
    at = end + 2;
  }
  return text + "    #90 exit\n";
}

Pair pair_of(std::string_view before, std::string_view after) {
  return {R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 P pred
  vreg %4 P pred
  vreg %5 R b16
  vreg %6 R b16
  vreg %7 R b32 fixed R1
  vreg %8 R b32 fixed R11 architectural
  vreg %9 R b32
)",
          block(before), block(after)};
}
JudgeResult judged(const Pair& p) { return judge_text(execution_judge(), p.before_text(), p.after_text()); }

void expect_pass(std::string_view before, std::string_view after) {
  const JudgeResult r = judged(pair_of(before, after));
  EXPECT_EQ(r.verdict, Verdict::Pass) << before << "\n" << after << "\n" << describe(r);
}
// One finding, at operand `operand` of instruction `inst`.
void expect_finding(std::string_view before, std::string_view after, std::uint32_t inst, int operand, const std::string& message) {
  const JudgeResult r = judged(pair_of(before, after));
  ASSERT_EQ(r.findings.size(), 1u) << before << "\n" << after << "\n" << describe(r);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.inst, ir::InstId(inst)) << before << "\n" << after;
  EXPECT_EQ(f.operand, operand) << before << "\n" << after;
  EXPECT_EQ(f.message, message) << before << "\n" << after;
  EXPECT_EQ(f.category, message.find("found that of") == std::string::npos ? "execution-undefined" : "execution-wrong-value");
}
void expect_skipped(std::string_view before, std::string_view after, const std::string& reason) {
  const JudgeResult r = judged(pair_of(before, after));
  EXPECT_EQ(r.verdict, Verdict::Skipped) << before << "\n" << after;
  EXPECT_EQ(r.reason, reason);
}

// As where it is executed on both sides, a predicate follows its column of the design.
TEST(ExecutionPlan, ADeletedInstructionComputesItsPredicateAsAnyOtherDoes) {
  const Pair p = pair_of("#0 %3 = p; #1 %4 = q; #2 %0 = a", "#0 P0 = p; #1 q !deleted; #2 a !deleted");
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const Before prepared(before, *ir::find_target("sm_90"));
  const auto plan = make_plan({prepared, after, limits_of(before, 255)});
  ASSERT_TRUE(plan.has_value());
  const auto& columns = prepared.part<PredicateColumns>().of_operand;
  for (std::size_t k = 0; k < 3; ++k) {
    const StepOperand& def = plan->operands[plan->steps[k].first_operand];
    EXPECT_EQ(def.is_predicate, k < 2) << k;
    EXPECT_EQ(def.bit, k < 2 ? columns[k] : 0) << k;
  }
}

TEST(ExecutionPlan, AFindingSaysWhoseValueIsThereAndWhoPutIt) {
  const std::string two = "#0 %0 = a; #1 %1 = b; #2 use %0";
  expect_finding(two, "#0 R0 = a; #1 R1 = b; #2 use R2", 2, 0, "expected the value of #0, found what nobody wrote");
  expect_finding(two, "#0 R0 = a; #1 R1 = b; #2 use R1", 2, 0, "expected the value of #0, found that of #1");
  expect_finding(two, "#0 R0 = a; #1 R1 = b; +20 R0 = copy R1; #2 use R0", 2, 0,
                 "expected the value of #0, found that of #1, put there by #20");
  expect_finding(two, "#0 R0 = a; #1 R1 = b; +20 R2, R0 = copy R0, R1; #2 use R0", 2, 0,
                 "expected the value of #0, found that of #1, put there by #20");
  expect_finding(two, "#0 R0 = a; #1 R1 = b; +20 @P0 R0 = copy R1; #2 use R0", 2, 0,
                 "expected the value of #0, found that of #1, put there by #20");
  expect_finding("#0 %2 = a; #1 use %2.lo", "#0 R0:R1 = a; #1 use R0:R1.hi", 1, 0,
                 "expected the value of #0, found that of #0 (an older one, or another part of it)");
  expect_finding("#0 %0 = a; #1 call \"f\" clobbers R0; #2 use %0", "#0 R0 = a; #1 call \"f\" clobbers R0; #2 use R0", 2, 0,
                 "expected the value of #0, found nothing defined, #1 destroyed it");
}

// As a copy, a spill or a refill; under a guard where that holds; nothing where it was deleted. An early-clobber def destroys
// first.
TEST(ExecutionPlan, ACopyDestroysWhatItClobbers) {
  const std::string before = "#0 %0 = a; #1 %1 = b; #2 %0 = copy %0 clobbers R7; #3 use %0, %1";
  expect_pass(before, "#0 R0 = a; #1 R6 = b; #2 R0 = copy R0 clobbers R7; #3 use R0, R6");
  expect_pass(before, "#0 R0 = a; #1 R7 = b; #2 copy !deleted; #3 use R0, R7");
  const std::string lost = "expected the value of #1, found nothing defined, #2 destroyed it";
  expect_finding(before, "#0 R0 = a; #1 R7 = b; #2 R0 = copy R0 clobbers R7; #3 use R0, R7", 3, 1, lost);
  expect_finding(before, "#0 R0 = a; #1 R7 = b; #2 spill R0, slot 0 clobbers R7; +20 R0 = refill slot 0; #3 use R0, R7", 3, 1,
                 lost);
  expect_finding(before, "#0 R0 = a; #1 R7 = b; +20 spill R0, slot 0; #2 R0 = refill slot 0 clobbers R7; #3 use R0, R7", 3, 1,
                 lost);
  expect_finding("#9 %3 = p; #0 %0 = a; #1 %1 = b; #2 @%3 %0 = copy %0 clobbers R7; #3 use %0, %1",
                 "#9 P0 = p; #0 R0 = a; #1 R7 = b; #2 @P0 R0 = copy R0 clobbers R7; #3 use R0, R7", 3, 1, lost);
  expect_pass("#0 %0 = a; #1 %1 = copy %0 clobbers R0, R1; #2 use %1", "#0 R0 = a; #1 R1 = copy R0 clobbers R0, R1; #2 use R1");
  expect_finding("#0 %0 = a; #1 %1{early} = copy %0; #2 use %1", "#0 R0 = a; #1 R0 = copy R0; #2 use R0", 2, 0,
                 "expected the value of #0, found nothing defined, #1 destroyed it");
}

// Whether it happens or not, the register holds the same.
TEST(ExecutionPlan, AnEarlyClobberDefOfACopyThatMayNotHappen) {
  const std::string before = "#0 %0 = a; #1 %1 = copy %0; #2 @%3 %0{early} = copy %1; #3 use %0";
  expect_pass(before, "#0 R0 = a; #1 R1 = copy R0; #2 @P0 R0 = copy R1; #3 use R0");
  expect_finding(before, "#0 R0 = a; #1 R1 = copy R0; #2 @P0 R0 = copy R0; #3 use R0", 3, 0,
                 "expected the value of #0, found nothing defined, #2 destroyed it");
  expect_pass(
      "#0 %0 = a; #4 %9 = b; #1 %1 = copy %0; #5 %2.lo = copy %9; #6 @%3 %0{early}, %9{early} = copy %1, %2.lo; #3 use %0, %9",
      "#0 R0 = a; #4 R9 = b; #1 R1 = copy R0; #5 R2:R3.lo = copy R9; #6 @P0 R0, R9 = copy R1, R2:R3.lo; #3 use R0, R9");
}

// Nothing is told apart but what must be: two results of one operation, of two, of two constants, of two symbols.
TEST(ExecutionPlan, DifferentOperationsHaveDifferentResults) {
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"op.a", "op.b"}, {"op 1", "op 2"}, {"op \"a\"", "op \"b\""}, {"op %9", "op %8"}, {"op %9.h0", "op %9.h1"}}) {
    const std::string start = "#0 %9 = s; #1 %0 = " + first + "; #2 %1 = " + second + "; #3 use %0";
    std::string after = "#0 R9 = s; #1 R0 = " + first + "; #2 R1 = " + second;
    for (std::size_t at; (at = after.find('%')) != std::string::npos;) after.replace(at, 2, after[at + 1] == '9' ? "R9" : "R11");
    expect_pass(start, after + "; #3 use R0");
    expect_finding(start, after + "; #3 use R1", 3, 0, "expected the value of #1, found that of #2");
  }
  expect_finding("#0 %3 = p; #1 %4 = q; #2 %0 = sel !%3; #3 %1 = sel !%4; #4 use %0",
                 "#0 P0 = p; #1 P1 = q; #2 R0 = sel !P0; #3 R1 = sel !P1; #4 use R1", 4, 0,
                 "expected the value of #2, found that of #3");
  expect_finding("#0 %0, %1 = two; #1 use %0", "#0 R0, R1 = two; #1 use R1", 1, 0,
                 "expected the value of #0, found that of #0 (an older one, or another part of it)");
}

TEST(ExecutionPlan, FixedAndTiedOperandsAreWhereTheHardwareLooks) {
  // The register that the program after names does not count; no operand of that program reaches so far.
  const std::string stored = "; +20 spill R0, slot 0";
  Pair far = pair_of("#0 %0 = a; #1 use %0{=R1}", "#0 R0 = a" + stored + "; #1 use R0");
  far.vregs = "  vreg %0 R b32\n";
  EXPECT_EQ(judged(far).verdict, Verdict::Fail);
  expect_finding("#0 %7 = a; #1 %0 = b; #2 %7 = copy %0; #3 use %7",
                 "#0 R1 = a; #1 R0 = b" + stored + "; #2 R0 = copy R0; #3 use R0", 3, 0,
                 "expected the value of #1, found that of #0");
  expect_finding("#0 %0 = a; #1 %7 = copy %0; #2 use %7", "#0 R0 = a" + stored + "; #1 R0 = copy R0; #2 use R0", 2, 0,
                 "expected the value of #0, found what nobody wrote");
  expect_pass("#0 %2 = a; #1 use %2.hi{=R4:R5}", "#0 R4:R5 = a; #1 use R4:R5.hi");
  expect_pass("#0 %2.hi = a; #1 %2.lo{=R4:R5} = b; #2 use %2", "#0 R4:R5.hi = a; #1 R4:R5.lo = b; #2 use R4:R5");
  expect_pass("#0 %0 = a; #1 %1{tied 1} = mad %0{=R4}; #2 use %1", "#0 R4 = a; #1 R5 = mad R4; #2 use R4");
}

TEST(ExecutionPlan, ArchitecturalRegistersHoldSomethingFromTheEntryOn) {
  const std::string read = "#0 %0 = copy %8; #1 use %0";
  expect_pass(read, "#0 R0 = copy R11; #1 use R0");
  expect_finding(read, "#0 R0 = copy R12; #1 use R0", 1, 0,
                 "expected the value of the entry, found nothing defined, #0 destroyed it");
  // Other precoloured vregs do not.
  expect_pass("#0 use %7", "+20 R1 = copy R3; #0 use R1");
}

TEST(ExecutionPlan, NegationsAndGuardsCountOnBothSides) {
  const std::string start = "#0 %3 = p; #1 %4 = q; #2 %0 = a; #3 %1 = b; ",
                    started = "#0 P0 = p; #1 P1 = q; #2 R0 = a; #3 R1 = b; ";
  const std::string other = "expected the value of #0, found that of #0 (an older one, or another part of it)";
  expect_pass(start + "#4 @!%3 %0 = c; #5 use %0", started + "#4 @!P0 R0 = c; #5 use R0");
  expect_finding(start + "#4 @!%3 %0 = c", started + "#4 @P0 R0 = c", 4, 1, other);
  expect_finding(start + "#4 @%3 %0 = c", started + "#4 @!P0 R0 = c", 4, 1, other);
  expect_finding(start + "#4 @%3 %0 = c", started + "#4 @P1 R0 = c", 4, 1, "expected the value of #0, found that of #1");

  expect_pass(start + "#4 @!%3 %0 = copy %1; #5 use %0", started + "#4 @!P0 R0 = copy R1; #5 use R0");
  for (const std::string guard : {"@P0", "@P1", "@!P1"}) {
    const JudgeResult r =
        judged(pair_of(start + "#4 @!%3 %0 = copy %1; #5 use %0", started + "#4 " + guard + " R0 = copy R1; #5 use R0"));
    EXPECT_EQ(r.verdict, Verdict::Fail) << guard;
  }
  expect_finding(start + "#5 use %3", started + "+20 @P1 R7{inout} = p2r P0; +21 P0 = r2p R7; #5 use P0", 5, 0,
                 "expected the value of #0, found nothing defined, #21 destroyed it");
  expect_pass(start + "#5 use %3", started + "+20 R7{inout} = p2r !P0; +21 P0 = r2p R7; #5 use !P0");
  expect_finding(start + "#5 use %3", started + "+20 P0 = r2p R0; #5 use P0", 5, 0,
                 "expected the value of #0, found that of #2, put there by #20");
}

TEST(ExecutionPlan, ARematNegatesWhatItSaysItNegates) {
  const std::string before = "#0 %3 = p; #1 %0 = sel !%3 !remat; #2 use %0",
                    after = "#0 P0 = p; #1 sel !remat !deleted; +20 R0 = remat #1 ";
  expect_pass(before, after + "!P0; #2 use R0");
  expect_finding(before, after + "P0; #2 use R0", 2, 0, "expected the value of #1, found that of #20");
}

// The fault shows only where all guards, or none, hold: two of the runs see to that.
TEST(ExecutionPlan, AllGuardsHoldInOneRunAndNoneInAnother) {
  for (const std::string negation : {"", "!"}) {
    std::string before = "#0 %0 = a; #1 %1 = b", after = "#0 R0 = a; #1 R1 = b; +40 R0 = copy R1";
    for (int k = 2; k < 26; k += 2) {
      const std::string computed = "; #" + std::to_string(k) + " ", guarded = "; #" + std::to_string(k + 1) + " @" + negation;
      before += computed + "%3 = p " + std::to_string(k) + guarded + "%3 %0 = c " + std::to_string(k);
      after += computed + "P0 = p " + std::to_string(k) + guarded + "P0 R0 = c " + std::to_string(k);
    }
    // 2^-12 a run, if the predicates were left to chance.
    expect_finding(before + "; #30 use %0", after + "; #30 use R0", 30, 0,
                   "expected the value of #0, found that of #1, put there by #40");
  }
}

TEST(ExecutionPlan, PackAndUnpackMoveBytes) {
  const std::string before = "#0 %0 = a; #1 %1 = b; #2 %2 = pack %0, %1; #3 %9, %1 = unpack %2; ";
  const std::string after = "#0 R0 = a; #1 R1 = b; #2 R4:R5 = pack R0, R1; #3 R2, R3 = unpack R4:R5; ";
  expect_pass(before + "#4 use %9, %1, %2", after + "#4 use R2, R3, R4:R5");
  expect_pass(before + "#4 use %9, %1", after + "#4 use R0, R1");
  expect_finding(before + "#4 use %9", after + "#4 use R3", 4, 0,
                 "expected the value of #3, found that of #3 (an older one, or another part of it)");
  expect_finding(before + "#4 use %9", after + "#4 use R1", 4, 0, "expected the value of #3, found that of #1");
  expect_finding("#0 %0 = a; #1 %2 = pack %0, %0 clobbers R8; #2 use %0",
                 "#0 R0 = a; +20 R8 = copy R0; #1 R4:R5 = pack R0, R0 clobbers R8; #2 use R8", 2, 0,
                 "expected the value of #0, found nothing defined, #1 destroyed it");
}

// What is undefined before may stand where something else does: its pieces are that, then.
TEST(ExecutionPlan, PiecesOfWhatIsUndefinedAreWhatTheRegistersHold) {
  const std::string before = "#0 %0 = a; #1 %9, %1 = unpack %2; #2 use %0";
  expect_pass(before, "#0 R4 = a; #1 R2, R3 = unpack R4:R5; #2 use R2");
  expect_finding(before, "#0 R4 = a; #1 R2, R3 = unpack R4:R5; #2 use R3", 2, 0,
                 "expected the value of #0, found nothing defined, #1 destroyed it");
}

// A narrow vreg owns a whole unit.
TEST(ExecutionPlan, UpperBytesAreUndefinedBehindANarrowDef) {
  const std::string lost = "expected the value of #0, found nothing defined, #1 destroyed it";
  expect_finding("#0 %0 = a; #1 %5 = b; #2 use %0.h1, %5", "#0 R0 = a; #1 R0 = b; #2 use R0.h1, R0", 2, 0, lost);
  expect_finding("#0 %0 = a; #1 %5, %6 = unpack %0; #2 use %0.h1", "#0 R0 = a; #1 R0, R1 = unpack R0; #2 use R0.h1", 2, 0, lost);
}

TEST(ExecutionPlan, WhatMayNotHappenOrReadsNothingDestroys) {
  const std::string lost = "expected the value of #0, found nothing defined, #1 destroyed it";
  expect_finding("#0 %0 = a; #1 @%3 %1 = b; #2 use %0", "#0 R0 = a; #1 @P0 R0 = b; #2 use R0", 2, 0, lost);
  expect_finding("#0 %0 = a; #1 %1 = f %9 !remat; #2 use %0", "#0 R0 = a; #1 R0 = f R5 !remat; #2 use R0", 2, 0, lost);
  expect_finding("#0 %0 = a; #1 %1 = f %9; #2 use %0", "#0 R0 = a; #1 R0 = f R5; #2 use R0", 2, 0,
                 "expected the value of #0, found that of #1");
  expect_pass("#0 %0 = a; #1 %0 = f %9; #2 use %0", "#0 R0 = a; #1 R0 = f R5; #2 use R0");
  expect_pass("#0 %0 = sel !%3; #1 use %0", "#0 R1 = sel !P0; +20 R0 = copy R1; #1 use R0");
  expect_pass("#0 %0 = sel !%3 !remat; #1 use %0", "#0 R1 = sel !P0 !remat; +20 R0 = copy R3; #1 use R0");
  // A write that may have happened: nothing read before is read again behind it.
  expect_finding("#0 %0 = ld !read !remat; #1 @%3 st 1 !write; #2 use %0",
                 "#0 ld !read !remat !deleted; #1 @P0 st 1 !write; +20 R0 = remat #0; #2 use R0", 2, 0,
                 "expected the value of #0, found that of #20");
}

TEST(ExecutionPlan, SaysWhatCannotBeRunSideBySide) {
  const std::string before = "#0 %0 = a; #1 use %0";
  expect_skipped(before, "#0 R0 = a; #1 use 5", "#1: an operand is in no register");
  expect_skipped(before, "#0 R0 = a; +20 R1 = add R0; #1 use R0", "#20: an inserted instruction of a kind that is not inserted");
  expect_skipped(before, "#1 use R0; #0 R0 = a", "block b0 does not hold its original instructions in order");
  expect_skipped(before, "#0 R0 = a; #1 use R0.h0", "#1: an operand is narrower than before");

  const Pair p = pair_of(before, "#0 R0 = a; #1 use R0");
  const ir::Function virtual_one = parse_function(p.before_text());
  ir::Function after = parse_function(p.after_text());
  after.operands[1].set_preg({ir::RegFile::R, 4, ir::kMaxUnits - 1});
  const JudgeResult r = execution_judge().judge({virtual_one, after, *ir::find_target("sm_90"), {}});
  EXPECT_EQ(r.reason, "#1: a register outside every file");
}

TEST(ExecutionPlan, ABlockEndsWithItsOriginalTerminator) {
  Pair p = {"",
            R"(
  block b0
    #0 bra -> b1
  block b1
    #1 exit
)",
            R"(
  block b0
    +20 bra -> b1
  block b1
    #1 exit
)"};
  const JudgeResult r = judged(p);
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_EQ(r.reason, "block b0 does not hold all its original instructions");
}

TEST(ExecutionPlan, EachEdgeLeadsThroughItsOwnBlocks) {
  const Pair p = {side_by_side(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = p            | P0 = p
    #2 cbra %1 -> b1, b2 | cbra P0 -> b3, b5
  block b1
    #3 use %0            | use R1
    #4 exit
  block b2
    #5 use %0            | use R2
    #6 exit
  block b3 edge b0 -> b1
    +20                  | R1 = copy R0
    +21                  | bra -> b4
  block b4 edge b0 -> b1
    +22                  | bra -> b1
  block b5 edge b0 -> b2
    +23                  | R2 = copy R0
    +24                  | bra -> b2
)")};
  EXPECT_EQ(judged(p).verdict, Verdict::Pass) << describe(judged(p));
  Pair circle = p;
  circle.after = edit(p.after, "+22 bra -> b1", "+22 bra -> b3");
  const JudgeResult r = judged(circle);
  ASSERT_EQ(r.findings.size(), 1u) << describe(r);
  EXPECT_EQ(r.findings[0].category, "execution-wrong-path");
}

// A phi that stays names the block behind it or the one before the edge.
TEST(ExecutionPlan, AKeptPhiNamesEitherEndOfItsEdge) {
  const Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = a                  | R0 = a
    #1 %2 = p                  | P0 = p
    #2 bra -> b1
  block b1
    #3 %1 = phi b0: %0, b1: %0 | R1 = phi b0: R0, b1: R0
    #4 use %1                  | use R1
    #5 cbra %2 -> b1, b2       | cbra P0 -> b3, b2
  block b2
    #6 exit
  block b3 edge b1 -> b1
    +20                        | bra -> b1
)")};
  EXPECT_EQ(judged(p).verdict, Verdict::Pass) << describe(judged(p));
  Pair named = p;
  named.after = edit(p.after, "b1: R0", "b3: R0");
  EXPECT_EQ(judged(named).verdict, Verdict::Pass) << describe(judged(named));
  named.after = edit(p.after, "b1: R0", "b2: R0");
  EXPECT_EQ(judged(named).reason, "#3: a phi without a use for a predecessor");
}

// Behind the last register that the program reads or writes, here R2, there is nothing to destroy, nor to clear between runs.
TEST(ExecutionPlan, AClobberReachesNoFurtherThanTheProgram) {
  const Pair p = {"  vreg %0 R b32\n", block("#0 %0 = a; #1 call \"f\" clobbers R0:R3, R60; #2 use %0"),
                  block("#0 R2 = a; #1 call \"f\" clobbers R0:R3, R60; #2 use R2")};
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const Case c(before, after, *ir::find_target("sm_90"), limits_of(before, 255));
  const auto plan = make_plan(c);
  ASSERT_TRUE(plan.has_value());
  const Step& call = plan->steps[1];
  ASSERT_EQ(call.num_clobbers, 1);
  EXPECT_EQ(plan->operands[call.first_operand].after_size, 12);
  std::uint32_t in_use = 0;
  for (const ByteRange& r : plan->in_use) in_use += r.size;
  EXPECT_EQ(in_use, 4u + 12u);  // %0, and R0 to R2
}

}  // namespace
}  // namespace regduel::oracles
