// One allocation that has a bit of everything and is accepted; then one defect at a time, each with its category.

#include "oracles/structure/structure.h"

#include <algorithm>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::categories;
using testing::describe;
using testing::edit;
using ::testing::ElementsAre;
using testing::judge_text;

const std::string kBefore = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  vreg %4 R b16 alias %1.h1
  vreg %5 R b32
  vreg %6 R b32 fixed R4
  vreg %7 UR b32 name "u"
  vreg %8 R b16
  block b0 depth 0
    #0 %0 = ld.param "base" !read !readonly !remat
    #1 %1 = const 5 !remat
    #2 %2 = setp %1, %0.lo
    #3 @!%2 %1 = add %1, 1
    #4 %3, %5 = two %1
    #5 %5{early} = loop %1, %3
    #6 %3{inout} = fma %1
    #7 %5{tied 1} = mad %3, %1
    #8 %6 = copy %5
    #9 %5{=R0} = call "f", %6{=R4}, !%2 clobbers R0:R3
    #10 cbra %2 -> b1, b2
  block b1 depth 1
    #11 %3 = phi b0: %5, b1: %3
    #12 st %0, %4 !write
    #13 %8 = half %3
    #14 mbra %3 -> b1, b2
  block b2 depth 0
    #15 %7 = copy %5
    #16 use %7
    #17 exit
  block b3 depth 0
    #18 use %1
    #19 exit
)";

const std::string kAfter = R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 16 shared 8
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  vreg %4 R b16 alias %1.h1
  vreg %5 R b32
  vreg %6 R b32 fixed R4
  vreg %7 UR b32 name "u"
  vreg %8 R b16
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  slot 2 shared size 8 align 4 offset 0
  block b0 depth 0
    #0 R8:R9 = ld.param "base" !read !readonly !remat
    +40 spill R8:R9, slot 0
    #1 const !remat !deleted
    +41 R5 = remat #1 5
    #2 P0 = setp R5, R8:R9.lo
    +42 R10{inout} = p2r P0
    +43 @P0 spill R5, slot 2 + 4
    +44 R10{inout} = bit_spill P0, 31
    #3 @!P0 R5 = add R5, 1
    #4 R6, R7 = two R5
    #5 R7 = loop R5, R6
    #6 R6{inout} = fma R5
    #7 R6 = mad R6, R5
    #8 spill R6, slot 1
    +45 R4 = refill slot 1
    #9 R0 = call "f", R4, !P0 clobbers R0:R3
    #10 cbra P0 -> b4, b2
  block b1 depth 1
    #11 phi !deleted
    +46 R8:R9 = refill slot 0
    #12 st R8:R9, R5.h1 !write
    #13 R7 = half R6
    #14 mbra R6 -> b1, b5
  block b2 depth 0
    +47 P0 = r2p R10
    +48 P1 = bit_refill R10, 31
    #15 UR0 = copy R0
    #16 use UR0
    #17 exit
  block b3 depth 0
    #18 use R5
    #19 exit
  block b4 edge b0 -> b1
    +50 R6 = copy R0
    +51 bra -> b1
  block b5 edge b1 -> b2
    +52 R0, R6 = copy R6, R0
    +53 bra -> b6
  block b6 edge b1 -> b2
    +54 bra -> b2
)";

TEST(Structure, AcceptsAnAllocationThatKeepsEveryRule) {
  const JudgeResult r = judge_text(structure_judge(), kBefore, kAfter, 11);
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r);
  EXPECT_EQ(r.judge, "structure");
}

struct Defect {
  std::string category, from, to;
};
void PrintTo(const Defect& d, std::ostream* out) { *out << d.category << ": " << d.to; }

class StructureDefect : public ::testing::TestWithParam<Defect> {};

TEST_P(StructureDefect, IsFoundAsItself) {
  const Defect& d = GetParam();
  const JudgeResult r = judge_text(structure_judge(), kBefore, edit(kAfter, d.from, d.to), 11);
  EXPECT_EQ(r.verdict, Verdict::Fail);
  EXPECT_THAT(categories(r), ElementsAre(d.category)) << describe(r);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, StructureDefect,
    ::testing::Values(
        // the function
        Defect{"function-header", "func @t kernel", "func @u kernel"}, Defect{"function-header", "@t kernel", "@t device"},
        Defect{"function-header", "target sm_90", "target sm_80"}, Defect{"function-header", "threads 32", "threads 64"},
        Defect{"function-header", "threads 32", "threads 32 abi cuda"},
        Defect{"vreg-declaration", "vreg %5 R b32", "vreg %5 R f32"},
        Defect{"vreg-declaration", "vreg %0 R b64", "vreg %0 R b64 align 1"},
        Defect{"vreg-declaration", " name \"u\"", " name \"v\""},
        Defect{"vreg-declaration", "vreg %8 R b16", "vreg %8 R b16\n  vreg %9 R b16"},
        // the frame
        Defect{"slot-outside-frame", "frame local 16", "frame local 11"}, Defect{"slot-outside-frame", "shared 8\n", "shared 7\n"},
        Defect{"slot-overlap", "slot 1 local size 4 align 4 offset 8", "slot 1 local size 4 align 4 offset 4"},
        Defect{"slot-overlap", "slot 1 local size 4 align 4 offset 8", "slot 1 local size 4 align 4 offset 0"},
        Defect{"slot-access", "slot 2 + 4", "slot 2 + 5"}, Defect{"slot-access", "spill R8:R9, slot 0", "spill R8:R9, slot 1"},
        Defect{"slot-access", "#8 spill R6, slot 1", "#8 spill R6, slot 1 + 1"},
        Defect{"slot-alignment", "spill R5, slot 2 + 4", "spill R5, slot 2 + 3"},
        Defect{"slot-alignment", "slot 0 local size 8 align 8 offset 0\n  slot 1 local size 4 align 4 offset 8",
               "slot 0 local size 8 align 4 offset 4\n  slot 1 local size 4 align 4 offset 12"},
        Defect{"shared-memory", "frame local 16 shared 8", "frame local 16 shared 7300"},
        // blocks
        Defect{"block-kind", "block b3 depth 0", "block b3 depth 0 edge b0 -> b1"},
        Defect{"targets", "#10 cbra P0 -> b4, b2", "#10 cbra P0 -> b2, b4"},
        Defect{"targets", "cbra P0 -> b4, b2", "cbra P0 -> b4, b5"},
        Defect{"targets", "#14 mbra R6 -> b1, b5", "#14 mbra R6 -> b1, b5, b1"},
        Defect{"targets", "mbra R6 -> b1, b5", "mbra R6 -> b1, b3"}, Defect{"edge-block-branch", "+54 bra -> b2", "+54 bra -> b1"},
        Defect{"edge-block-branch", "+51 bra -> b1", "+51 bra -> b5"}, Defect{"edge-block-cycle", "+54 bra -> b2", "+54 bra -> b5"},
        Defect{"edge-block-content", "+54 bra -> b2", "+54 mbra R6 -> b2"},
        // instructions
        Defect{"original-missing", "    #6 R6{inout} = fma R5\n", ""},
        Defect{"original-unknown", "    #17 exit", "    #30 use R0\n    #17 exit"},
        Defect{"inserted-kind", "+47 P0 = r2p R10", "+47 P0 = setp R10"},
        Defect{"inserted-kind", "+47 P0 = r2p R10", "+47 R7 = const 1"},
        Defect{"inserted-clobber", "+50 R6 = copy R0", "+50 R6 = copy R0 clobbers R2"},
        Defect{"opcode", "#12 st R8:R9, R5.h1 !write", "#12 call R8:R9, R5.h1 !write"},
        Defect{"mnemonic", "#12 st R8:R9", "#12 ld R8:R9"}, Defect{"mnemonic", "#6 R6{inout} = fma R5", "#6 R6{inout} = mul R5"},
        Defect{"flags", "R5.h1 !write", "R5.h1 !read"}, Defect{"flags", "#1 const !remat !deleted", "#1 const !deleted"},
        Defect{"deleted", "#6 R6{inout} = fma R5", "#6 fma !deleted"}, Defect{"deleted", "#16 use UR0", "#16 use !deleted"},
        Defect{"phi-home", "#11 phi !deleted", "#11 R6 = phi b4: R6, b1: R7"},
        // operands
        Defect{"operand-count", "#4 R6, R7 = two R5", "#4 R6, R7 = two R5, R5"}, Defect{"operand-count", "#3 @!P0 R5", "#3 R5"},
        Defect{"operand-count", "!P0 clobbers R0:R3", "!P0"}, Defect{"operand-role", "#6 R6{inout} = fma R5", "#6 R6 = fma R5"},
        Defect{"operand-role", "#4 R6, R7 = two R5", "#4 R6, R7{inout} = two R5"},
        Defect{"operand-kind", "#13 R7 = half R6", "#13 R7 = half 6"}, Defect{"operand-kind", "= add R5, 1", "= add R5, R5"},
        Defect{"operand-part", "R5.h1 !write", "R5.h0 !write"}, Defect{"operand-part", "R8:R9.lo", "R8:R9.hi"},
        Defect{"operand-part", "R8:R9.lo", "R8:R9"}, Defect{"negation", "#3 @!P0", "#3 @P0"},
        Defect{"negation", "R4, !P0", "R4, P0"}, Defect{"immediate", "= add R5, 1", "= add R5, 2"},
        Defect{"immediate", "remat #1 5", "remat #1 6"}, Defect{"symbol", "call \"f\"", "call \"g\""},
        Defect{"clobber", "clobbers R0:R3", "clobbers R0:R2"},
        // registers
        Defect{"register-file", "#16 use UR0", "#16 use R0"}, Defect{"register-file", "#15 UR0 = copy R0", "#15 R7 = copy R0"},
        Defect{"register-units", "#18 use R5", "#18 use R6:R7"}, Defect{"register-units", "R8:R9.lo", "R8.w0"},
        Defect{"register-alignment", "#12 st R8:R9", "#12 st R9:R10"}, Defect{"register-limit", "#18 use R5", "#18 use R11"},
        Defect{"register-limit", "+50 R6 = copy R0", "+50 R11 = copy R0"}, Defect{"register-limit", "+47 P0 = r2p", "+47 P7 = r2p"},
        Defect{"register-limit", "+41 R5 = remat", "+41 R200 = remat"},
        // constraints
        Defect{"fixed-register", "#9 R0 = call", "#9 R1 = call"}, Defect{"fixed-register", "call \"f\", R4", "call \"f\", R5"},
        Defect{"tied-operand", "#7 R6 = mad R6, R5", "#7 R7 = mad R6, R5"}, Defect{"early-clobber", "#5 R7 = loop", "#5 R6 = loop"},
        Defect{"early-clobber", "#5 R7 = loop", "#5 R5 = loop"}, Defect{"def-overlap", "#4 R6, R7 = two R5", "#4 R6, R6 = two R5"},
        Defect{"def-overlap", "+52 R0, R6 = copy R6, R0", "+52 R0, R0 = copy R6, R0"},
        Defect{"def-overlap", "P0 = r2p", "P0, P0 = r2p"},
        // inserted
        Defect{"remat-target", "remat #1 5", "remat #2 5"}, Defect{"remat-target", "remat #1 5", "remat #90 5"},
        Defect{"remat-shape", "remat #1 5", "remat #1 5, 5"}));

TEST(Structure, FindsAnInstructionInAnotherBlock) {
  std::string after = edit(kAfter, "    #16 use UR0\n", "");
  after = edit(after, "    #18 use R5\n", "    #18 use R5\n    #16 use UR0\n");
  const JudgeResult r = judge_text(structure_judge(), kBefore, after);
  EXPECT_THAT(categories(r), ElementsAre("original-moved")) << describe(r);
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(16));
}

TEST(Structure, FindsAnExchangeOfTwoInstructions) {
  const std::string after =
      edit(kAfter, "    #6 R6{inout} = fma R5\n    #7 R6 = mad R6, R5\n", "    #7 R6 = mad R6, R5\n    #6 R6{inout} = fma R5\n");
  const JudgeResult r = judge_text(structure_judge(), kBefore, after);
  EXPECT_THAT(categories(r), ElementsAre("original-order")) << describe(r);
}

TEST(Structure, FindsAnOriginalInstructionOnAnEdge) {
  const std::string after =
      edit(edit(kAfter, "    #16 use UR0\n", ""), "    +54 bra -> b2\n", "    #16 use UR0\n    +54 bra -> b2\n");
  const JudgeResult r = judge_text(structure_judge(), kBefore, after);
  EXPECT_THAT(categories(r), ElementsAre("edge-block-content")) << describe(r);
}

TEST(Structure, FindsAddedAndMissingBlocksAndWrongEdges) {
  const std::string two = R"(
func @t kernel target sm_90 threads 32
  block b0
    #0 bra -> b1
  block b1
    #1 exit
)";
  const std::string head = R"(
func @t kernel target sm_90 threads 32 allocated
  block b0
)";
  EXPECT_THAT(categories(judge_text(structure_judge(), two, head + R"(
    #0 bra -> b1
  block b1
    #1 exit
  block b2
    +2 bra -> b1
)")),
              ElementsAre("block-added", "edge-block-branch"));
  EXPECT_THAT(categories(judge_text(structure_judge(), two, head + "    #1 exit\n")),
              ElementsAre("block-missing", "original-missing", "original-moved"));
  EXPECT_THAT(categories(judge_text(structure_judge(), two, head + R"(
    #0 bra -> b1
  block b1
    #1 exit
  block b2 edge b1 -> b0
    +2 bra -> b0
)")),
              ElementsAre("edge-block-place"));
}

TEST(Structure, AProgramOfTheVirtualPhaseIsNoAllocation) {
  const std::string before = R"(
func @t kernel target sm_90 threads 32
  block b0
    #1 exit
)";
  EXPECT_THAT(categories(judge_text(structure_judge(), before, before)), ElementsAre("phase"));
}

TEST(Structure, APhiMayStayInOneHome) {
  const std::string after = edit(kAfter, "#11 phi !deleted", "#11 R6 = phi b4: R6, b1: R6");
  const JudgeResult r = judge_text(structure_judge(), kBefore, after);
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r);
  EXPECT_THAT(categories(judge_text(structure_judge(), kBefore, edit(kAfter, "#11 phi !deleted", "#11 R6 = phi b4: R6"))),
              ElementsAre("targets"));
}

TEST(Structure, AnInsertedInstructionHasANumberOfItsOwn) {
  const JudgeResult r = judge_text(structure_judge(), kBefore, edit(kAfter, "#6 R6{inout} = fma R5", "+6 R6 = copy R5"));
  EXPECT_THAT(categories(r), ElementsAre("inserted-id", "original-missing")) << describe(r);
}

TEST(Structure, OnlyACopyOfOnePairBecomesASpill) {
  const std::string before = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0, %1 = copy %1, %0
    #1 @%2 %0 = copy %1
    #2 exit
)";
  const std::string head = R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  slot 0 local size 4 align 4 offset 0
  block b0
)";
  const auto verdict = [&](const std::string& body) { return categories(judge_text(structure_judge(), before, head + body)); };
  EXPECT_THAT(verdict(R"(
    #0 copy !deleted
    #1 @P0 spill R0, slot 0
    #2 exit
)"),
              ElementsAre());
  EXPECT_THAT(verdict(R"(
    #0 copy !deleted
    #1 @P0 R0 = refill slot 0
    #2 exit
)"),
              ElementsAre());
  EXPECT_THAT(verdict(R"(
    #0 copy !deleted
    #1 spill R0, slot 0
    #2 exit
)"),
              ElementsAre("copy-to-memory"));
  EXPECT_THAT(verdict(R"(
    #0 copy !deleted
    #1 @!P0 spill R0, slot 0
    #2 exit
)"),
              ElementsAre("negation"));
  EXPECT_THAT(verdict(R"(
    #0 spill R0, slot 0
    #1 copy !deleted
    #2 exit
)"),
              ElementsAre("copy-to-memory"));
}

TEST(Structure, PartsOfOnePairAreApart) {
  const std::string before = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  block b0
    #0 %0.lo, %0.hi = two 1
    #1 exit
)";
  const std::string after = R"(
func @t kernel target sm_90 threads 32 allocated
  vreg %0 R b64
  block b0
    #0 R2:R3.lo, R2:R3.hi = two 1
    #1 exit
)";
  EXPECT_EQ(judge_text(structure_judge(), before, after).verdict, Verdict::Pass);
}

TEST(Structure, ReservedRegistersAreNotForUse) {
  const auto target = ir::parse_target(R"({"name": "tiny", "units": {"R": 8, "P": 2}, "reserved": ["R3"]})");
  ASSERT_TRUE(target.has_value()) << to_string(target.error());
  const ir::Function before = testing::parse_function(R"(
func @t kernel target tiny threads 32
  vreg %0 R b32
  block b0
    #0 use %0
    #1 exit
)");
  const auto judged = [&](const std::string& reg) {
    const ir::Function after = testing::parse_function(R"(
func @t kernel target tiny threads 32 allocated
  vreg %0 R b32
  block b0
    #0 use )" + reg + "\n    #1 exit\n");
    return categories(structure_judge().judge({before, after, *target, ir::Limits::of(*target), nullptr}));
  };
  EXPECT_THAT(judged("R2"), ElementsAre());
  EXPECT_THAT(judged("R3"), ElementsAre("reserved-register"));
  EXPECT_THAT(judged("R8"), ElementsAre("register-limit"));
}

// Half a register is a home like any other; the other half is another one.
TEST(Structure, HalvesOfPredicateRegisters) {
  const auto target =
      ir::parse_target(R"({"name": "tiny", "units": {"R": 8, "P": 6}, "reserved": ["P1.hi"], "predicate_halves": true})");
  ASSERT_TRUE(target.has_value()) << to_string(target.error());
  const std::string vregs = R"(
  vreg %0 P pred
  vreg %1 P pred
)",
                    head = "func @t kernel target tiny threads 32";
  const ir::Function before = testing::parse_function(head + " predicate_halves\n" + vregs + R"(
  block b0
    #0 %0, %1 = setp
    #1 exit
)");
  const auto judged = [&](const std::string& words, const std::string& one, const std::string& other) {
    const ir::Function after = testing::parse_function(head + words + " allocated\n" + vregs + "  block b0\n    #0 " + one + ", " +
                                                       other + " = setp\n    #1 exit\n");
    std::vector<std::string> found;
    for (const Finding& f : structure_judge().judge({before, after, *target, ir::Limits::of(*target), nullptr}).findings)
      found.push_back(f.category + ": " + f.message);
    return found;
  };
  EXPECT_THAT(judged(" predicate_halves", "P0.lo", "P0.hi"), ElementsAre());
  EXPECT_THAT(judged(" predicate_halves", "P0.lo", "P0.lo"), ElementsAre("def-overlap: operand 0 is written to P0.lo too"));
  EXPECT_THAT(judged(" predicate_halves", "P0.lo", "P1.hi"), ElementsAre("reserved-register: P1.hi is reserved"));
  EXPECT_THAT(judged(" predicate_halves", "P0.lo", "P3.lo"), ElementsAre("register-limit: P3.lo is not below the limit of 6"));
  EXPECT_THAT(judged(" predicate_halves", "P0.lo", "P2"), ElementsAre("register-units: %1 takes 1 units, P2 has 2"));
  EXPECT_THAT(judged("", "P0", "P1"), ElementsAre("function-header: predicate_halves stands in one of the two alone"));
}

TEST(Structure, ARefilledTupleHasAsManyUnitsAsAVregCanHave) {
  const auto judged = [&](const std::string& reg, int bytes) {
    const std::string declared = "  vreg %0 R b32\n", head = "func @t kernel target sm_90 threads 32";
    const std::string slot = fmt::format("  slot 0 local size {} align 16 offset 0\n", bytes);
    return categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 exit
)",
                                 head + " allocated\n  frame local 32 shared 0\n" + declared + slot + "  block b0\n    +1 " + reg +
                                     " = refill slot 0\n    #0 exit\n"));
  };
  for (const auto& [reg, bytes] : {std::pair("R3", 4), {"R4:R5", 8}, {"R4:R6", 12}, {"R4:R7", 16}, {"R8:R15", 32}, {"R4:R7.d1", 8}})
    EXPECT_THAT(judged(reg, bytes), ElementsAre()) << reg;
  for (const auto& [reg, bytes] : {std::pair("R4:R8", 20), {"R0:R5", 24}, {"R0:R6", 28}})
    EXPECT_THAT(judged(reg, bytes), ElementsAre("register-units")) << reg;
  for (const auto& [reg, bytes] : {std::pair("R1:R2", 8), {"R2:R5", 16}, {"R2:R4", 12}, {"R4:R11", 32}, {"R1:R2.h1", 2}})
    EXPECT_THAT(judged(reg, bytes), ElementsAre("register-alignment")) << reg;
}

// A copy does not go to memory: it may be of any registers.
TEST(Structure, AnInsertedCopyIsOfAnyRegisters) {
  const std::string head = "func @t kernel target sm_90 threads 32", body = "  block b0\n";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + body + "    #0 exit\n",
                                    head + " allocated\n" + body + "    +1 R1:R2 = copy R5:R6\n    #0 exit\n")),
              ElementsAre());
}

// A pair that a vreg may have anywhere may go to memory from anywhere.
TEST(Structure, ARefilledTupleIsAlignedAsAVregOfThatSize) {
  const std::string head = "func @t kernel target sm_90 threads 32";
  const auto judged = [&](const std::string& declared) {
    return categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 exit
)",
                                 head + " allocated\n  frame local 8 shared 0\n" + declared + R"(
  slot 0 local size 8 align 8 offset 0
  block b0
    +1 R1:R2 = refill slot 0
    #0 exit
)"));
  };
  EXPECT_THAT(judged(R"(
  vreg %0 R b64
  vreg %1 R b32 align 1
)"),
              ElementsAre("register-alignment"));
  EXPECT_THAT(judged(R"(
  vreg %0 R b64
  vreg %1 R b64 align 1
)"),
              ElementsAre());
}

// A register that all threads of a warp share takes what is the same in all of them.
TEST(Structure, UniformRegistersTakeUniformValues) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 UR b32 uniform
  vreg %2 R b32 uniform
  vreg %3 R b32
)",
                    head = "func @t kernel target sm_90 threads 32", before = R"(
  block b0
    #0 %0, %3 = a
    #1 %2 = b
    #2 %1 = copy %3
    #3 use %0, %2, %1 !write
    #4 exit
)";
  const auto judged = [&](const std::string& body) {
    return categories(judge_text(structure_judge(), head + "\n" + declared + before,
                                 head + " allocated\n  frame local 8 shared 0\n" + declared + R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  block b0
)" + body + "    #4 exit\n"));
  };
  // %0 differs from thread to thread; %2 is marked; %3 is copied into %1.
  EXPECT_THAT(judged(R"(
    #0 R0, R3 = a
    +5 UR1 = copy R0
    +6 R1 = copy UR1
    #1 R2 = b
    #2 UR0 = copy R3
    #3 use R1, R2, UR0 !write
)"),
              ElementsAre("uniform-register"));
  EXPECT_THAT(judged(R"(
    #0 R0, R3 = a
    +5 spill R0, slot 0
    +6 UR1 = refill slot 0
    #1 R2 = b
    #2 UR0 = copy R3
    #3 use R0, R2, UR0 !write
)"),
              ElementsAre("uniform-register"));
  EXPECT_THAT(judged(R"(
    #0 R0, R3 = a
    #1 R2 = b
    +5 R4 = copy R2
    +6 spill R4, slot 1
    +7 UR1 = refill slot 1
    +8 R2 = copy UR1
    #2 UR0 = copy R3
    #3 use R0, R2, UR0 !write
)"),
              ElementsAre());
  EXPECT_THAT(judged(R"(
    #0 R0, R3 = a
    #1 R2 = b
    #2 spill R3, slot 0
    +5 UR0 = refill slot 0
    #3 use R0, R2, UR0 !write
)"),
              ElementsAre());
}

// What a uniform register holds is the same in all threads where nothing has written it.
TEST(Structure, ContentsOfUniformRegistersMayMove) {
  const std::string head = "func @t kernel target sm_90 threads 32", declared = "  vreg %0 R b32\n";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a
    #1 use %0 !write
    #2 exit
)",
                                    head + " allocated\n  frame local 4 shared 0\n" + declared + R"(
  slot 0 local size 4 align 4 offset 0
  block b0
    #0 R0 = a
    +3 UR2 = copy UR1
    +4 spill UR2, slot 0
    +5 UR2 = refill slot 0
    +6 UR1 = copy UR2
    #1 use R0 !write
    #2 exit
)")),
              ElementsAre());
}

// How many instructions put into a uniform register what is not the same in all threads.
std::ptrdiff_t made_uniform(const std::string& before, const std::string& after) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 UR b32 uniform
)",
                    head = "func @t kernel target sm_90 threads 32";
  const JudgeResult r = judge_text(structure_judge(), head + "\n" + declared + "  block b0\n" + before,
                                   head + " allocated\n" + declared + "  block b0\n" + after);
  return std::count_if(r.findings.begin(), r.findings.end(), [](const Finding& f) { return f.category == "uniform-register"; });
}

// Unless it is written first. From a clobber on it is undefined again. Into UR5 goes what differs from thread to thread; whether R9
// holds that as well depends on when it was read.
TEST(Structure, UndefinedContentsOfUniformRegistersMayMove) {
  const std::string use = "    #1 use %0 !write\n    #2 exit\n", used = "    #1 use R0 !write\n    #2 exit\n";
  const std::string next = "    #3 bra -> b1\n  block b1\n", spoil = "    +10 UR5 = copy R0\n",
                    move = "    +11 R9 = copy UR5\n    +12 UR6 = copy R9\n";
  const std::string whole = "    #0 %0 = a\n" + use, two = "    #0 %0 = a\n" + next + use;
  EXPECT_EQ(made_uniform(whole, "    #0 R0 = a\n" + spoil + move + used), 2);
  EXPECT_EQ(made_uniform(two, "    #0 R0 = a\n" + next + move + spoil + used), 1);
  EXPECT_EQ(made_uniform("    #0 %0 = a\n    #4 op clobbers UR5\n" + next + use,
                         "    #0 R0 = a\n" + spoil + "    #4 op clobbers UR5\n" + next + move + used),
            1);
}

// R0 stands for the uniform %1 later on. What it holds at the first move is not the same in all threads.
TEST(Structure, ARegisterMayHoldAUniformValueAtOnePlaceAndNoneAtAnother) {
  const std::string uses = R"(
    #1 use R0 !write
    #3 UR5 = b
    +12 R0 = copy UR5
    +13 UR6 = copy R0
)",
                    end = "    #4 use UR6 !write\n    #2 exit\n", move = "    +10 UR5 = copy R0\n    +11 R0 = copy UR5\n";
  const std::string before = R"(
    #0 %0 = a
    #1 use %0 !write
    #3 %1 = b
    #4 use %1 !write
    #2 exit
)";
  EXPECT_EQ(made_uniform(before, "    #0 R0 = a\n" + uses + end), 0);
  EXPECT_EQ(made_uniform(before, "    #0 R0 = a\n" + move + uses + end), 1);
}

// What nothing has written may move into a uniform register: R9, which nothing ever writes, or which holds something uniform later
// on.
TEST(Structure, UndefinedContentsOfARegisterMayMove) {
  const std::string before = R"(
    #0 %0 = a
    #1 use %0 !write
    #3 %1 = b
    #4 use %1 !write
    #2 exit
)",
                    head = R"(
    #0 R0 = a
    +10 UR6 = copy R9
    #1 use R0 !write
    #3 UR5 = b
)",
                    tail = "    #4 use UR5 !write\n    #2 exit\n";
  EXPECT_EQ(made_uniform(before, head + tail), 0);
  EXPECT_EQ(made_uniform(before, head + "    +11 R9 = copy UR5\n" + tail), 0);
  EXPECT_EQ(made_uniform(before, head + "    +11 R9 = copy R0\n" + tail), 1);
}

// A uniform vreg that may be read before it is defined may hold anything, and so may what it is moved to.
TEST(Structure, NothingIsSaidWhereAUniformVregMayBeUndefined) {
  const std::string next = "    #3 bra -> b1\n  block b1\n", use = "    #1 use %0, %1 !write\n    #2 exit\n",
                    used = "    #1 use R0, UR5 !write\n    #2 exit\n", copy = "    +10 UR5 = copy R0\n";
  for (const std::string& between : {std::string(), next}) {
    EXPECT_EQ(made_uniform("    #0 %0 = a\n" + between + use, "    #0 R0 = a\n" + copy + between + used), 0);
    EXPECT_EQ(made_uniform("    #0 %0, %1 = a\n" + between + use, "    #0 R0, UR5 = a\n" + copy + between + used), 1);
  }
}

TEST(Structure, AUniformRegisterTakesNoRematOfWhatIsNot) {
  const std::string before = R"(
    #0 %0 = a !remat
    #1 use %0 !write
    #2 exit
)";
  EXPECT_EQ(made_uniform(before, R"(
    #0 R0 = a !remat
    +10 UR5 = remat #0
    #1 use R0 !write
    #2 exit
)"),
            1);
}

// Nothing writes R9, but an architectural register holds something of each thread from the entry on; one marked uniform, the same
// in all.
TEST(Structure, AnArchitecturalRegisterThatNothingWritesIsOfEachThread) {
  const auto judged = [](const std::string& uniform) {
    const std::string declared = "  vreg %0 R b32\n  vreg %1 R b32 fixed R9" + uniform + " architectural\n",
                      head = "func @t kernel target sm_90 threads 32";
    return categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a %1
    #1 use %0, %1 !write
    #2 exit
)",
                                 head + " allocated\n" + declared + R"(
  block b0
    #0 R0 = a R9
    +4 UR0 = copy R9
    +5 R1 = copy UR0
    #1 use R0, R9 !write
    #2 exit
)"));
  };
  EXPECT_THAT(judged(""), ElementsAre("uniform-register"));
  EXPECT_THAT(judged(" uniform"), ElementsAre());
}

TEST(Structure, ACopyIntoAUniformRegisterMayBeMadeElsewhere) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 UR b32 uniform
)",
                    head = "func @t kernel target sm_90 threads 32";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 use %0, %1 !write
    #3 exit
)",
                                    head + " allocated\n" + declared + R"(
  block b0
    #0 R0 = a
    #1 copy !deleted
    +4 R7 = copy R0
    +5 UR0 = copy R7
    #2 use R0, UR0 !write
    #3 exit
)")),
              ElementsAre());
}

TEST(Structure, NoVregIsLeft) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 R b32
)",
                    head = "func @t kernel target sm_90 threads 32";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a
    #1 use %0 !write
    #2 exit
)",
                                    head + " allocated\n" + declared + R"(
  block b0
    #0 R0 = a
    #1 use %0 !write
    #2 exit
)")),
              ElementsAre("unallocated-operand"));
}

TEST(Structure, AnArchitecturalRegisterIsThatOfItsVregAlone) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 R b32 fixed R5 architectural
)",
                    head = "func @t kernel target sm_90 threads 32";
  const auto judged = [&](const std::string& before, const std::string& after) {
    return categories(judge_text(structure_judge(), head + "\n" + declared + "  block b0\n" + before + "    #9 exit\n",
                                 head + " allocated\n" + declared + "  block b0\n" + after + "    #9 exit\n", 4));
  };
  const std::string before = R"(
    #0 %0 = a
    #1 st %0, %1 !write
    #2 %1 = b
)";
  EXPECT_THAT(judged(before, R"(
    #0 R0 = a
    #1 st R0, R5 !write
    #2 R5 = b
)"),
              ElementsAre());
  EXPECT_THAT(judged(before, R"(
    #0 R0 = a
    +20 R1 = copy R5
    #1 st R0, R5 !write
    #2 R5 = b
)"),
              ElementsAre());
  EXPECT_THAT(judged(before, R"(
    #0 R0 = a
    +20 R5 = copy R0
    #1 st R0, R5 !write
    #2 R5 = b
)"),
              ElementsAre("architectural-register"));
  EXPECT_THAT(judged("    #0 %0 = a\n", "    #0 R5 = a\n"), ::testing::Contains("architectural-register"));
}

// Slots may be declared in any order, and one may lie inside another.
TEST(Structure, SlotsInAnyOrderAreApart) {
  const std::string before = R"(
func @t kernel target sm_90 threads 32
  block b0
    #0 exit
)";
  const auto judged = [&](const std::string& slots) {
    return categories(judge_text(structure_judge(), before, R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 16 shared 4
)" + slots + R"(
  block b0
    #0 exit
)"));
  };
  EXPECT_THAT(judged(R"(
  slot 0 local size 8 align 4 offset 8
  slot 1 local size 8 align 4 offset 0
)"),
              ElementsAre());
  EXPECT_THAT(judged(R"(
  slot 0 local size 8 align 4 offset 4
  slot 1 local size 8 align 4 offset 0
)"),
              ElementsAre("slot-overlap"));
  EXPECT_THAT(judged(R"(
  slot 0 local size 16 align 4 offset 0
  slot 1 local size 4 align 4 offset 0
  slot 2 local size 4 align 4 offset 8
)"),
              ElementsAre("slot-overlap"));
  // The last byte of one is taken again by the next but one.
  const auto finding_count = [&](const std::string& slots) {
    return judge_text(structure_judge(), before, R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 16 shared 4
)" + slots + R"(
  block b0
    #0 exit
)")
        .findings.size();
  };
  EXPECT_EQ(finding_count(R"(
  slot 0 local size 16 align 4 offset 0
  slot 1 local size 4 align 4 offset 0
  slot 2 local size 4 align 4 offset 8
)"),
            2u);
  EXPECT_EQ(finding_count(R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 8 align 4 offset 4
  slot 2 local size 4 align 4 offset 8
)"),
            1u);
}

TEST(Structure, AnArchitecturalVRegIsBoundToNoLimit) {
  const std::string vreg = R"(
  vreg %0 R b32 fixed R200 architectural
  block b0
    #0 use )";
  const std::string head = "func @t kernel target sm_90 threads 32";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + vreg + "%0\n    #1 exit\n",
                                    head + " allocated\n" + vreg + "R200\n    #1 exit\n", 16)),
              ElementsAre());
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + vreg + "%0\n    #1 exit\n",
                                    head + " allocated\n" + vreg + "R201\n    #1 exit\n", 16)),
              ElementsAre("fixed-register"));
}

TEST(Structure, ACopyInMemoryKeepsItsRegister) {
  const std::string body = R"(
  vreg %0 R b64
  vreg %1 R b64
)";
  const std::string before = "func @t kernel target sm_90 threads 32\n" + body + R"(
  block b0
    #0 %0 = copy %1
    #1 exit
)";
  const auto judged = [&](const std::string& inst) {
    return categories(judge_text(structure_judge(), before, R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 8 shared 0
)" + body + R"(
  slot 0 local size 8 align 8 offset 0
  block b0
    #0 )" + inst + "\n    #1 exit\n"));
  };
  EXPECT_THAT(judged("spill R2:R3, slot 0"), ElementsAre());
  EXPECT_THAT(judged("spill R3:R4, slot 0"), ElementsAre("register-alignment"));
  EXPECT_THAT(judged("R2 = refill slot 0"), ElementsAre("register-units"));
}

TEST(Structure, AKeptPhiHasTheOperandsOfItsPredecessors) {
  const std::string body = R"(
  vreg %0 R b64
  vreg %1 R b64
)";
  const std::string head = "func @t kernel target sm_90 threads 32";
  const std::string flow = R"(
  block b0
    #0 cbra P0 -> b2, b1
  block b1
    #1 bra -> b2
  block b2
    #2 )";
  const std::string before = head + "\n" + body + R"(
  vreg %2 P pred
  block b0
    #0 cbra %2 -> b2, b1
  block b1
    #1 bra -> b2
  block b2
)" + "    #2 %0 = phi b1: %1, b0: %0\n    #3 exit\n";
  const auto judged = [&](const std::string& phi) {
    return categories(judge_text(structure_judge(), before,
                                 head + " allocated\n" + body + "  vreg %2 P pred\n" + flow + phi + "\n    #3 exit\n"));
  };
  EXPECT_THAT(judged("R2:R3 = phi b1: R2:R3, b0: R2:R3"), ElementsAre());
  EXPECT_THAT(judged("R2:R3 = phi b0: R2:R3, b1: R2:R3"), ElementsAre());
  EXPECT_THAT(judged("R3:R4 = phi b0: R3:R4, b1: R3:R4"), ElementsAre("register-alignment"));
  EXPECT_THAT(judged("R2:R3 = phi b1: R2:R3, b0: R3:R4"), ElementsAre("phi-home", "register-alignment"));
  EXPECT_THAT(judged("R3:R4 = phi b1: R2:R3, b0: R2:R3"), ElementsAre("phi-home", "register-alignment"));
  EXPECT_THAT(judged("R2:R3 = phi b1: R2:R3, b0: R2:R3, b2: R2:R3"), ElementsAre("targets"));
}

TEST(Structure, AnInsertedBraEndsAnEdgeBlockOnly) {
  const std::string before = R"(
func @t kernel target sm_90 threads 32
  block b0
    #0 bra -> b1
  block b1
    #1 exit
)";
  const std::string after = R"(
func @t kernel target sm_90 threads 32 allocated
  block b0
    +5 bra -> b1
  block b1
    #1 exit
)";
  EXPECT_THAT(categories(judge_text(structure_judge(), before, after)), ElementsAre("inserted-kind", "original-missing"));
}

TEST(Structure, APackHasBitsForThirtyTwoPredicates) {
  const auto target = ir::parse_target(R"({"name": "many", "units": {"R": 8, "P": 40}})");
  ASSERT_TRUE(target.has_value()) << to_string(target.error());
  const ir::Function before = testing::parse_function(R"(
func @t kernel target many threads 32
  block b0
    #0 exit
)");
  const auto judged = [&](const std::string& inst) {
    const ir::Function after = testing::parse_function(R"(
func @t kernel target many threads 32 allocated
  block b0
    +9 )" + inst + "\n    #0 exit\n");
    return categories(structure_judge().judge({before, after, *target, ir::Limits::of(*target), nullptr}));
  };
  EXPECT_THAT(judged("R0{inout} = p2r P31"), ElementsAre());
  EXPECT_THAT(judged("R0{inout} = p2r P32"), ElementsAre("pack-bit"));
  EXPECT_THAT(judged("P31, P30 = r2p R0"), ElementsAre());
  EXPECT_THAT(judged("P31, P32 = r2p R0"), ElementsAre("pack-bit"));
  // A bit of one's own choice is not bound to the number of the predicate, nor is a guard.
  EXPECT_THAT(judged("R0{inout} = bit_spill P33, 2"), ElementsAre());
  EXPECT_THAT(judged("@P33 R0{inout} = p2r P3"), ElementsAre());
}

TEST(Structure, NonsenseYieldsABoundedNumberOfFindings) {
  std::string before = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
)";
  std::string after = R"(
func @t kernel target sm_90 threads 32 allocated
  vreg %0 R b32
  block b0
)";
  for (int k = 0; k < 1000; ++k) {
    before += "    #" + std::to_string(k) + " use %0\n";
    after += "    #" + std::to_string(k) + " use R200\n";
  }
  const JudgeResult r = judge_text(structure_judge(), before + "    #1000 exit\n", after + "    #1000 exit\n", 16);
  EXPECT_EQ(r.findings.size(), static_cast<std::size_t>(Collector::kPerCategory));
  EXPECT_EQ(r.reason, "984 more of register-limit");
}

}  // namespace
}  // namespace regduel::oracles
