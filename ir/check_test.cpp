// Each rule of well-formedness on the smallest program that breaks it.

#include "ir/check.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

// The message for a function with these lines; "" where it is well-formed.
std::string fault_in(std::string_view lines, std::string_view attributes = "") {
  const std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32" + std::string(attributes) + "\n" + std::string(lines);
  const auto m = parse(text);
  return m ? "" : m.error().message;
}

constexpr std::string_view kRegs =
    "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b64\n  vreg %3 P pred\n  vreg %4 R b32 fixed R4\n  vreg %5 R b64\n  vreg %6 UR "
    "b32\n";

std::string fault_of(std::string_view instruction) {
  return fault_in(std::string(kRegs) + "  block b0\n    #0 %0, %1, %2, %3, %4, %5, %6 = init\n    " + std::string(instruction) +
                  "\n    #9 exit\n");
}

TEST(Check, AcceptsWhatIsLegal) {
  EXPECT_EQ(fault_of("#1 op %0{=R1}, %0{=R2}"), "");
  EXPECT_EQ(fault_of("#1 %0{inout} = op %0"), "");
  EXPECT_EQ(fault_of("#1 %0{=R4} = op %4"), "");
  EXPECT_EQ(fault_of("#1 @%3 %2.lo = op %2"), "");
  EXPECT_EQ(fault_of("#1 %2.lo{=R8:R9}, %2.hi = op %2"), "");
  EXPECT_EQ(fault_of("#1 %0, %1 = copy %1, %0"), "");
  EXPECT_EQ(fault_of("#1 %6 = copy %0"), "");
}

TEST(Check, RejectsContradictions) {
  EXPECT_EQ(fault_of("#1 %0{early} = op %0"),
            "instruction 1, operand 1: an early-clobber def of a register that the instruction reads");
  EXPECT_EQ(fault_of("#1 %2, %2.lo = op"), "instruction 1, operand 1: two defs of one instruction write the same register");
  EXPECT_EQ(fault_of("#1 op %0{=R1}, %1{=R1}"), "instruction 1, operand 1: two operands are fixed to R1 at once");
  EXPECT_EQ(fault_of("#1 %0{=R4}, %4 = op"), "instruction 1, operand 1: two operands are fixed to R4 at once");
  EXPECT_EQ(fault_of("#1 %0{tied 1, =R1} = op %4"), "instruction 1, operand 0: tied operands are fixed to different registers");
  EXPECT_EQ(fault_of("#1 @%3 %0{tied 1} = op %1"),
            "instruction 1, operand 0: a guarded def already reads its own old value: it cannot be tied to another");
  EXPECT_EQ(fault_of("#1 %0{tied 1} = op %2"), "instruction 1, operand 0: tied operands have one file and one width");
  EXPECT_EQ(fault_of("#1 %2.lo{=R8:R9} = op clobbers R9"),
            "instruction 1, operand 1: a def of a part is fixed to a register that is clobbered");
  EXPECT_EQ(fault_of("#1 @%3 %0{=R1} = op %1{=R1}"), "instruction 1, operand 1: two operands are fixed to R1 at once");
}

TEST(Check, RejectsBadShapes) {
  EXPECT_EQ(fault_of("#1 %0 = copy %2"),
            "instruction 1, operand 0: a copy's def and use have one width (and predicates are copied to predicates)");
  EXPECT_EQ(fault_of("#1 %2 = pack %0"), "instruction 1: the pieces together are as wide as the whole");
  EXPECT_EQ(fault_of("#1 %0 = const %1"), "instruction 1: const has one def and a number or string");
  EXPECT_EQ(fault_of("#1 @%0 op"), "instruction 1, operand 0: a guard is a predicate");
  EXPECT_EQ(fault_of("#1 R0 = op"), "instruction 1, operand 0: a physical register before allocation (fix a vreg to it instead)");
  EXPECT_EQ(fault_of("#1 %0{=P1} = op"), "instruction 1, operand 0: P1 is no home for %0: file, size or alignment");
  EXPECT_EQ(fault_of("#1 %2{=R1:R2} = op"), "instruction 1, operand 0: R1:R2 is no home for %2: file, size or alignment");
  EXPECT_EQ(fault_of("+1 %0 = copy %1"),
            "instruction 1: inserted and deleted instructions, spills and the like exist only after allocation");
  EXPECT_EQ(fault_of("#1 %0, %1 = op !remat"), "instruction 1: !remat: one whole unguarded def, not tied, no clobber, no write");
  EXPECT_EQ(fault_of("#1 op !readonly"), "instruction 1: !readonly goes with !read");
  EXPECT_EQ(fault_of("#1 bra -> b0"), "instruction 1: a terminator stands at the end of its block");
  EXPECT_EQ(fault_of("#1 op !%0"), "instruction 1, operand 0: only a predicate that is read can be negated");
}

// Of an allocated program with this inserted instruction.
std::string fault_of_inserted(std::string_view instruction) {
  return fault_in("  block b0\n    +1 " + std::string(instruction) + "\n    #9 exit\n", " allocated");
}

TEST(Check, ShapesOfLoweredSpills) {
  for (const char* right :
       {"R1 = getlmembase 4", "setlmembase R1, 4", "R1 = spill_mov \"s\"", "R1 = spill_iadd R2, -4", "R1 = spill_imad R1, 4, 0",
        "R1 = spill_shl R1, 2", "R1 = spill_lop3 R1, \"s\"", "@!P0 spill_bra 3", "spill_stl R4:R7, R1, 0", "spill_stl P0, R1, 3",
        "@P0 UR0 = spill_lds R1, 0", "R2.h1 = spill_ldl R1, 2", "spill_sts ACC0:ACC7, R1, 0 clobbers R4"}) {
    EXPECT_EQ(fault_of_inserted(right), "");
    EXPECT_NE(fault_of("#1 " + std::string(right)), "") << "before allocation: " << right;
  }
  const std::pair<const char*, const char*> wrong[] = {{"R1 = getlmembase", "getlmembase reads: R = getlmembase STRIDE"},
                                                       {"R1:R2 = getlmembase 4", "getlmembase reads: R = getlmembase STRIDE"},
                                                       {"UR1 = getlmembase 4", "getlmembase reads: R = getlmembase STRIDE"},
                                                       {"setlmembase 4, 4", "setlmembase reads: setlmembase R, STRIDE"},
                                                       {"R1 = spill_mov 4", "spill_mov reads: R = spill_mov \"SYMBOL\""},
                                                       {"R1 = spill_iadd R2, R3", "spill_iadd reads: R = spill_iadd R, N"},
                                                       {"R1 = spill_iadd 4, R2", "spill_iadd reads: R = spill_iadd R, N"},
                                                       {"R1.lo = spill_iadd R2, 4", "spill_iadd reads: R = spill_iadd R, N"},
                                                       {"R1 = spill_imad R2, 4", "spill_imad reads: R = spill_imad R, N, N"},
                                                       {"R1 = spill_shl R2", "spill_shl reads: R = spill_shl R, N"},
                                                       {"R1 = spill_lop3 R2, 4", "spill_lop3 reads: R = spill_lop3 R, \"SYMBOL\""},
                                                       {"spill_bra 3", "spill_bra reads: @P spill_bra INSTRUCTIONS"},
                                                       {"spill_stl R1, R2, R3", "spill_stl reads: spill_stl REGISTER, R, BYTES"},
                                                       {"spill_stl R1, P2, 0", "spill_stl reads: spill_stl REGISTER, R, BYTES"},
                                                       {"spill_sts 4, R2, 0", "spill_sts reads: spill_sts REGISTER, R, BYTES"},
                                                       {"R1 = spill_ldl R2", "spill_ldl reads: REGISTER = spill_ldl R, BYTES"},
                                                       {"R1 = spill_lds 4, R2", "spill_lds reads: REGISTER = spill_lds R, BYTES"}};
  for (const auto& [text, shape] : wrong) EXPECT_EQ(fault_of_inserted(text), std::string("instruction 1: ") + shape) << text;
  EXPECT_EQ(fault_of_inserted("@P0 R1 = getlmembase 4"),
            "instruction 1, operand 2: phis, terminators, remats and the computing of addresses have no guard");
  EXPECT_EQ(fault_of_inserted("spill_stl !P0, R1, 0"), "instruction 1, operand 0: the register is not negated");
}

TEST(Check, RejectsBadDeclarations) {
  EXPECT_EQ(fault_in("  vreg %0 P b32\n  block b0\n    #0 exit\n"),
            "%0: the type pred goes with the classes P and UP, and only with them");
  EXPECT_EQ(fault_in("  vreg %0 R b32\n  vreg %1 R b64 alias %0\n  block b0\n    #0 exit\n"),
            "%1: an alias is as wide as (the part of) the parent that it names");
  EXPECT_EQ(fault_in("  vreg %0 R b64 fixed R3:R4\n  block b0\n    #0 exit\n"),
            "%0: R3:R4 is no home for it: file, size or alignment");
  EXPECT_EQ(fault_in("  vreg %0 R b32 hint %9\n  block b0\n    #0 exit\n"), "%0: the hint %9 is not declared");
  EXPECT_EQ(fault_in(""), "function @f: a function has at least one block");
}

TEST(Check, PhisNameTheirPredecessors) {
  const std::string head = "  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 bra -> b1\n  block b1\n";
  EXPECT_EQ(fault_in(head + "    #2 %0 = phi b0: %0\n    #3 exit\n"), "");
  EXPECT_EQ(fault_in(head + "    #2 %0 = phi b1: %0\n    #3 exit\n"),
            "instruction 2: the phi names other blocks than the predecessors of b1");
  EXPECT_EQ(fault_in(head + "    #2 op\n    #3 %0 = phi b0: %0\n    #4 exit\n"),
            "instruction 3: phis stand at the head of their block");
}

// The last fault that is asked for stands in front of an operand that is tied to one far outside the instruction.
TEST(Check, FollowsNoIndexBehindTheLastFault) {
  auto m = parse("rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 %0 = op %0\n    #1 exit\n");
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  Function& f = m->functions[0];
  f.insts[0].op = Op::Exit;
  f.operands[0].tied = 60000;
  const auto faults = check(f, 1);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(to_string(f, faults[0]), "instruction 0: a terminator stands at the end of its block");
}

TEST(Check, AgainstATarget) {
  const auto m = parse(
      "rir 1\nfunc @f kernel target sm_70 threads 32\n  vreg %0 UR b32\n  vreg %1 P pred\n  block b0\n    #0 %1{=P7} = op clobbers "
      "R255\n    #1 exit\n");
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  const auto faults = check(m->functions[0], *find_target("sm_70"));
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(to_string(m->functions[0], faults[0]), "%0: sm_70 has no register file UR");
  EXPECT_EQ(to_string(m->functions[0], faults[1]), "instruction 0, operand 0: sm_70 does not offer P7");
  EXPECT_EQ(to_string(m->functions[0], faults[2]), "instruction 0, operand 1: sm_70 does not offer R255");
}

TEST(Check, AnArchitecturalVRegMayHoldAReservedRegister) {
  const auto faults_of = [](std::string_view vreg) {
    const auto m =
        parse(fmt::format("rir 1\nfunc @f kernel target sm_90 threads 32 abi cuda allocated\n  vreg %0 R b32 {}\n  block b0\n"
                          "    #0 R1 = op R1\n    #1 exit\n",
                          vreg));
    EXPECT_TRUE(m.has_value());
    return m ? check(m->functions[0], *find_target("sm_90")).size() : 0;
  };
  EXPECT_EQ(faults_of("fixed R1 architectural"), 0u);
  EXPECT_EQ(faults_of("fixed R1"), 3u);
}

// What P1 is hangs on it.
TEST(Check, TheTargetHasPredicateHalvesWhereTheFunctionHas) {
  Target halves = default_target();
  halves.predicate_halves = true;
  auto m = parse("rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  Function& f = m->functions[0];
  EXPECT_TRUE(check(f, default_target()).empty());
  ASSERT_EQ(check(f, halves).size(), 1u);
  EXPECT_EQ(to_string(f, check(f, halves)[0]),
            "function @f: sm_90 has two predicates to a register, which predicate_halves in the line of the function says");
  f.predicate_halves = true;
  EXPECT_TRUE(check(f, halves).empty());
  ASSERT_EQ(check(f, default_target()).size(), 1u);
  EXPECT_EQ(to_string(f, check(f, default_target())[0]), "function @f: predicate_halves: sm_90 has one predicate to a register");
}

}  // namespace
}  // namespace regduel::ir
