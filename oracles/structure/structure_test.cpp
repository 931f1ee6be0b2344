// One allocation that has a bit of everything and is accepted; then one defect at a time, each with its category.

#include "oracles/structure/structure.h"

#include <fmt/format.h>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const auto [kBefore, kAfter] = side_by_side(R"(
func @t kernel target sm_90 threads 32
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
    #0 %0 = ld.param "base" !read !readonly !remat | R8:R9 = ld.param "base" !read !readonly !remat
    +40                         | spill R8:R9, slot 0
    #1 %1 = const 5 !remat      | const !remat !deleted
    +41                         | R5 = remat #1 5
    #2 %2 = setp %1, %0.lo      | P0 = setp R5, R8:R9.lo
    +42                         | R10{inout} = p2r P0
    +43                         | @P0 spill R5, slot 2 + 4
    +44                         | R10{inout} = bit_spill P0, 31
    #3 @!%2 %1 = add %1, 1      | @!P0 R5 = add R5, 1
    #4 %3, %5 = two %1          | R6, R7 = two R5
    #5 %5{early} = loop %1, %3  | R7 = loop R5, R6
    #6 %3{inout} = fma %1       | R6{inout} = fma R5
    #7 %5{tied 1} = mad %3, %1  | R6 = mad R6, R5
    #8 %6 = copy %5             | spill R6, slot 1
    +45                         | R4 = refill slot 1
    #9 %5{=R0} = call "f", %6{=R4}, !%2 clobbers R0:R3 | R0 = call "f", R4, !P0 clobbers R0:R3
    #10 cbra %2 -> b1, b2       | cbra P0 -> b4, b2
  block b1 depth 1
    #11 %3 = phi b0: %5, b1: %3 | phi !deleted
    +46                         | R8:R9 = refill slot 0
    #12 st %0, %4 !write        | st R8:R9, R5.h1 !write
    #13 %8 = half %3            | R7 = half R6
    #14 mbra %3 -> b1, b2       | mbra R6 -> b1, b5
  block b2 depth 0
    +47                         | P0 = r2p R10
    +48                         | P1 = bit_refill R10, 31
    #15 %7 = copy %5            | UR0 = copy R0
    #16 use %7                  | use UR0
    #17 exit
  block b3 depth 0
    #18 use %1                  | use R5
    #19 exit
  block b4 edge b0 -> b1
    +50                         | R6 = copy R0
    +51                         | bra -> b1
  block b5 edge b1 -> b2
    +52                         | R0, R6 = copy R6, R0
    +53                         | bra -> b6
  block b6 edge b1 -> b2
    +54                         | bra -> b2
)");

// A part is one of the register: the upper half of a vreg of 16 bits is byte 1.
TEST(Structure, SaysWhichPartToWrite) {
  const auto message = [](const std::string& have) {
    const JudgeResult r = testing::judge_text(structure_judge(), testing::side_by_side(R"(
func @f kernel target sm_90 threads 32
  vreg %0 R b16
  vreg %1 R b64
  block b0
    #0 %0, %1 = a           | R0, R2:R3 = a
    #1 use %0.hi, %1.w1, %0 | use )" + have + R"(
    #2 exit
)"));
    return r.findings.empty() ? std::string() : r.findings[0].message;
  };
  EXPECT_EQ(message("R0.b1, R2:R3.hi, R0"), "");
  EXPECT_EQ(message("R0.hi, R2:R3.hi, R0"), "R0.hi is bytes 2 to 3, where byte 1 of %0 stood: write R0.b1");
  EXPECT_EQ(message("R0.b1, R2:R3.lo, R0"), "R2:R3.lo is bytes 0 to 3, where bytes 4 to 7 of %1 stood: write R2:R3.hi");
  EXPECT_EQ(message("R0.b1, R2:R3.hi, R0.lo"), "R0.lo is bytes 0 to 1, where the whole of %0 stood: write R0");
}

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

// Twelve bytes of the frame are the program's own.
TEST(Structure, SlotsStandBehindTheProgramsOwnVariables) {
  const auto judged = [](std::string_view frame, std::string_view slot) {
    const std::string head = "func @t kernel target sm_90 threads 32";
    return categories(judge_text(structure_judge(), head + "\n  frame local 12 shared 0\n  block b0\n    #0 exit\n",
                                 fmt::format("{} allocated\n  frame {}\n{}  block b0\n    #0 exit\n", head, frame, slot)));
  };
  EXPECT_THAT(judged("local 16 shared 0", "  slot 0 local size 4 align 4 offset 12\n"), ElementsAre());
  EXPECT_THAT(judged("local 16 shared 0", "  slot 0 local size 4 align 4 offset 8\n"), ElementsAre("local-variables"));
  EXPECT_THAT(judged("local 12 shared 4", "  slot 0 shared size 4 align 4 offset 0\n"), ElementsAre());
  EXPECT_THAT(judged("local 12 shared 0", ""), ElementsAre());
  EXPECT_THAT(judged("local 8 shared 0", ""), ElementsAre("local-variables"));
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

}  // namespace
}  // namespace regduel::oracles
