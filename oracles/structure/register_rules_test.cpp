// The rules of structure about registers, slots and inserted instructions, one program each.

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/structure/structure.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const std::string kHead = "func @t kernel target sm_90 threads 32\n";

// What structure finds in a pair of kernels, given side by side from their declarations on.
std::vector<std::string> found(const std::string& text, int registers = 255) {
  return categories(judge_text(structure_judge(), side_by_side(kHead + text), registers));
}

TEST(Structure, PartsOfOnePairAreApart) {
  const auto [before, after] = side_by_side(R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  block b0
    #0 %0.lo, %0.hi = two 1 | R2:R3.lo, R2:R3.hi = two 1
    #1 exit
)");
  EXPECT_EQ(judge_text(structure_judge(), before, after).verdict, Verdict::Pass);
}

TEST(Structure, ReservedRegistersAreNotForUse) {
  const auto target = ir::parse_target(R"({"name": "tiny", "units": {"R": 8, "P": 2}, "reserved": ["R3"]})");
  ASSERT_TRUE(target.has_value()) << to_string(target.error());
  const ir::Function before = parse_function(R"(
func @t kernel target tiny threads 32
  vreg %0 R b32
  block b0
    #0 use %0
    #1 exit
)");
  const auto judged = [&](const std::string& reg) {
    const ir::Function after = parse_function(R"(
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

// `setmaxnreg` changes the limit of R from there on.
TEST(Structure, TheLimitGoesByPoint) {
  const auto objections = [](const std::string& text, int registers) {
    std::vector<std::string> all;
    const auto [before, after] = side_by_side(kHead + text);
    for (const Finding& f : judge_text(structure_judge(), before, after, registers).findings)
      all.push_back(fmt::format("#{} {}", f.inst.value, f.message));
    return all;
  };
  const std::string vregs = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  vreg %3 R b64\n";
  // Above the limit at the entry, where the limit has risen.
  const auto risen = [&](const std::string& reg) {
    return objections(vregs + "  block b0\n    #0 setmaxnreg.inc.sync.aligned.u32 232\n    #1 %0 = ld 0 !read | " + reg +
                          " = ld 0 !read\n    #2 st %0 !write | st " + reg + " !write\n    #3 exit\n",
                      24);
  };
  EXPECT_THAT(risen("R231"), ElementsAre());
  EXPECT_THAT(risen("R232"), ElementsAre("#1 R232 is not below the limit of 232", "#2 R232 is not below the limit of 232"));
  // Where two ways meet, the lower limit holds.
  const auto joined = [&](const std::string& reg) {
    return objections(vregs + "  block b0\n    #0 %2 = p 0 | P0 = p 0\n    #1 %0 = ld 0 !read | R0 = ld 0 !read\n" +
                          "    #2 cbra %2 -> b1, b2 | cbra P0 -> b1, b2\n  block b1\n    #3 setmaxnreg.inc.sync.aligned.u32 232\n" +
                          "    #4 %0 = ld 1 !read | " + reg + " = ld 1 !read\n    #5 %0 = copy %0 | R0 = copy " + reg +
                          "\n    #6 bra -> b3\n  block b2\n    #7 setmaxnreg.dec.sync.aligned.u32 40\n    #8 bra -> b3\n" +
                          "  block b3\n    #9 %1 = f %0 | " + reg + " = f R0\n    #10 st %1 !write | st " + reg +
                          " !write\n    #11 exit\n",
                      128);
  };
  EXPECT_THAT(joined("R39"), ElementsAre());
  EXPECT_THAT(joined("R40"), ElementsAre("#9 R40 is not below the limit of 40", "#10 R40 is not below the limit of 40"));
}

// A predicate and a uniform register reach memory through R where the ABI says so.
TEST(Structure, OnlyRegistersOfRAreStored) {
  const auto judged = [](bool through_r, const std::string& body) {
    const auto target = ir::parse_target(
        fmt::format(R"({{"name": "t", "units": {{"R": 8, "P": 2, "UR": 4}}, "abi": {{"memory_through_r": {}}}}})", through_r));
    EXPECT_TRUE(target.has_value()) << (target ? "" : to_string(target.error()));
    const std::string head = "func @t kernel target t threads 32";
    const std::string vregs = "  vreg %0 UR b32\n  vreg %1 R b32\n";
    const ir::Function before =
        parse_function(head + "\n" + vregs + "  block b0\n    #0 %0 = a\n    #1 %1 = copy %0\n    #2 use %1\n    #3 exit\n");
    const ir::Function after = parse_function(head + " allocated\n  frame local 4 shared 0\n" + vregs +
                                              "  slot 0 local size 4 align 4 offset 0\n  block b0\n    #0 UR0 = a\n" + body +
                                              "    #2 use R0\n    #3 exit\n");
    return categories(structure_judge().judge({before, after, *target, ir::Limits::of(*target), nullptr}));
  };
  const std::string direct = "    +4 spill UR0, slot 0\n    +5 UR0 = refill slot 0\n    #1 R0 = copy UR0\n";
  EXPECT_THAT(judged(true, direct), ElementsAre("memory-through-r"));
  EXPECT_THAT(judged(false, direct), ElementsAre());
  EXPECT_THAT(judged(true, "    #1 spill UR0, slot 0\n    +5 R0 = refill slot 0\n"), ElementsAre("memory-through-r"));
  EXPECT_THAT(judged(true, "    +4 spill P0, slot 0\n    +5 @P0 P0 = refill slot 0\n    #1 R0 = copy UR0\n"),
              ElementsAre("memory-through-r"));
  EXPECT_THAT(judged(true,
                     "    +4 R1 = copy UR0\n    +5 spill R1, slot 0\n    +6 R1{inout} = bit_spill P0, 0\n"
                     "    +7 R1 = refill slot 0\n    +8 UR0 = copy R1\n    #1 R0 = copy UR0\n"),
              ElementsAre());
  EXPECT_THAT(judged(true,
                     "    +4 R1 = getlmembase 4\n    +5 R1 = spill_imad R1, 4, 0\n    +6 spill_stl UR0, R1, 0\n"
                     "    #1 R0 = copy UR0\n"),
              ElementsAre("memory-through-r"));
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
  const ir::Function before = parse_function(head + " predicate_halves\n" + vregs + R"(
  block b0
    #0 %0, %1 = setp
    #1 exit
)");
  const auto judged = [&](const std::string& words, const std::string& one, const std::string& other) {
    const ir::Function after = parse_function(head + words + " allocated\n" + vregs + "  block b0\n    #0 " + one + ", " + other +
                                              " = setp\n    #1 exit\n");
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
  EXPECT_THAT(found(R"(
  block b0
    +1 R1:R2 = copy R5:R6
    #0 exit
)"),
              ElementsAre());
}

// A pair that a vreg may have anywhere may go to memory from anywhere.
TEST(Structure, ARefilledTupleIsAlignedAsAVregOfThatSize) {
  const auto judged = [](const std::string& other) {
    return found("  frame local 8 shared 0\n  vreg %0 R b64\n" + other + R"(
  slot 0 local size 8 align 8 offset 0
  block b0
    +1 R1:R2 = refill slot 0
    #0 exit
)");
  };
  EXPECT_THAT(judged("  vreg %1 R b32 align 1\n"), ElementsAre("register-alignment"));
  EXPECT_THAT(judged("  vreg %1 R b64 align 1\n"), ElementsAre());
}

TEST(Structure, NoVregIsLeft) {
  EXPECT_THAT(found(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a        | R0 = a
    #1 use %0 !write | use %0 !write
    #2 exit
)"),
              ElementsAre("unallocated-operand"));
}

TEST(Structure, AnArchitecturalRegisterIsThatOfItsVregAlone) {
  const auto judged = [](const std::string& body) {
    return found("  vreg %0 R b32\n  vreg %1 R b32 fixed R5 architectural\n  block b0\n" + body + "    #9 exit\n", 4);
  };
  const auto with_inserted = [&](const std::string& inserted) {
    return judged(R"(
    #0 %0 = a           | R0 = a
)" + inserted + R"(
    #1 st %0, %1 !write | st R0, R5 !write
    #2 %1 = b           | R5 = b
)");
  };
  EXPECT_THAT(with_inserted(""), ElementsAre());
  EXPECT_THAT(with_inserted("    +20 R1 = copy R5\n"), ElementsAre());
  EXPECT_THAT(with_inserted("    +20 R5 = copy R0\n"), ElementsAre("architectural-register"));
  EXPECT_THAT(judged("    #0 %0 = a | R5 = a\n"), Contains("architectural-register"));
}

// Slots may be declared in any order, and one may lie inside another.
TEST(Structure, SlotsInAnyOrderAreApart) {
  // Of each list of slots, what is found, once a slot.
  const auto judged = [](const std::string& slots) {
    std::vector<std::string> list;
    const Programs both = side_by_side(kHead + "  frame local 16 shared 4\n" + slots + "  block b0\n    #0 exit\n");
    for (const Finding& f : judge_text(structure_judge(), both).findings) list.push_back(f.category);
    return list;
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
              ElementsAre("slot-overlap", "slot-overlap"));
  // The last byte of one is taken again by the next but one.
  EXPECT_THAT(judged(R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 8 align 4 offset 4
  slot 2 local size 4 align 4 offset 8
)"),
              ElementsAre("slot-overlap"));
}

TEST(Structure, AnArchitecturalVRegIsBoundToNoLimit) {
  const auto judged = [](const std::string& reg) {
    return found("  vreg %0 R b32 fixed R200 architectural\n  block b0\n    #0 use %0 | use " + reg + "\n    #1 exit\n", 16);
  };
  EXPECT_THAT(judged("R200"), ElementsAre());
  EXPECT_THAT(judged("R201"), ElementsAre("fixed-register"));
}

TEST(Structure, ACopyInMemoryKeepsItsRegister) {
  const auto judged = [](const std::string& inst) {
    return found(R"(
  frame local 8 shared 0
  vreg %0..%1 R b64
  slot 0 local size 8 align 8 offset 0
  block b0
    #0 %0 = copy %1 | )" +
                 inst + "\n    #1 exit\n");
  };
  EXPECT_THAT(judged("spill R2:R3, slot 0"), ElementsAre());
  EXPECT_THAT(judged("spill R3:R4, slot 0"), ElementsAre("register-alignment"));
  EXPECT_THAT(judged("R2 = refill slot 0"), ElementsAre("register-units"));
}

TEST(Structure, AKeptPhiHasTheOperandsOfItsPredecessors) {
  const auto judged = [](const std::string& phi) {
    return found(R"(
  vreg %0..%1 R b64
  vreg %2 P pred
  block b0
    #0 cbra %2 -> b2, b1         | cbra P0 -> b2, b1
  block b1
    #1 bra -> b2
  block b2
    #2 %0 = phi b1: %1, b0: %0   | )" +
                 phi + "\n    #3 exit\n");
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
  const ir::Function before = parse_function(R"(
func @t kernel target many threads 32
  block b0
    #0 exit
)");
  const auto judged = [&](const std::string& inst) {
    const ir::Function after = parse_function(R"(
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
