// Lowered spill code: a program with all its forms is accepted by every judge, and each damage to an address is found.

#include "oracles/pair/raise.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/judges.h"
#include "oracles/quality/quality.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::edit;
using testing::parse_function;

const std::string kVRegs = R"(  vreg %0 R b32
  vreg %1 R b128
  vreg %2 P pred
  vreg %3 UR b32
)";

const std::string kBefore = "func @f kernel target sm_90 threads 32\n" + kVRegs + R"(
  block b0
    #0 %0 = ld 0
    #1 %1 = ld4 1
    #2 %3 = uld 2
    #3 %2 = setp %0
    #4 @%2 %0 = add %0, 1
    #5 cbra %2 -> b1, b2
  block b1
    #6 call "g" clobbers R0:R8
    #7 bra -> b2
  block b2
    #8 st %0 !write
    #9 st %1 !write
    #10 st %3 !write
    #11 exit
)";

// Local, wide, shared, narrow, guarded; a call that clobbers the register with the base; refills in another block.
const std::string kAfter = R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 32 shared 8
)" + kVRegs + R"(  slot 0 local size 4 align 4 offset 0
  slot 1 local size 16 align 16 offset 16
  slot 2 shared size 4 align 4 offset 4
  slot 3 local size 1 align 1 offset 5
  block b0
    +20 R8 = getlmembase 4
    #0 R0 = ld 0
    +21 R9 = spill_iadd R8, 0
    +22 R9 = spill_imad R9, 4, 0
    +23 spill_stl R0, R9, 0
    #1 R4:R7 = ld4 1
    +24 R9 = spill_iadd R8, 4
    +25 R9 = spill_imad R9, 4, 0
    +26 spill_stl R4:R7, R9, 0
    #2 UR0 = uld 2
    +27 R9 = spill_mov "__nv_reservedSMEM_allocation_phase"
    +28 R9 = spill_iadd R9, 1
    +29 R9 = spill_shl R9, 2
    +30 R9 = spill_lop3 R9, "__nv_reservedSMEM_allocation_mask"
    +31 spill_sts UR0, R9, 0
    #3 P0 = setp R0
    +32 R9 = spill_iadd R8, 1
    +33 R9 = spill_imad R9, 4, 0
    +34 spill_stl P0, R9, 1
    #4 @P0 R0 = add R0, 1
    +35 @!P0 spill_bra 3
    +36 R9 = spill_iadd R8, 0
    +37 R9 = spill_imad R9, 4, 0
    +38 spill_stl R0, R9, 0
    #5 cbra P0 -> b1, b2
  block b1
    +40 R9 = spill_iadd R8, 8
    +41 setlmembase R9, 4
    #6 call "g" clobbers R0:R8
    +42 R8 = getlmembase 4
    +43 R8 = spill_iadd R8, -8
    +44 setlmembase R8, 4
    #7 bra -> b2
  block b2
    +50 R9 = spill_iadd R8, 0
    +51 R9 = spill_imad R9, 4, 0
    +52 R0 = spill_ldl R9, 0
    #8 st R0 !write
    +53 R9 = spill_iadd R8, 4
    +54 R9 = spill_imad R9, 4, 0
    +55 R0:R3 = spill_ldl R9, 0
    #9 st R0:R3 !write
    +56 R9 = spill_mov "__nv_reservedSMEM_allocation_phase"
    +57 R9 = spill_iadd R9, 1
    +58 R9 = spill_shl R9, 2
    +59 R9 = spill_lop3 R9, "__nv_reservedSMEM_allocation_mask"
    +60 UR0 = spill_lds R9, 0
    #10 st UR0 !write
    #11 exit
)";

Report judge_texts(const std::string& before, const std::string& after, int registers = 255) {
  const ir::Function b = parse_function(before), a = parse_function(after);
  if (b.blocks.empty() || a.blocks.empty()) return {};
  return judge({b, a, *ir::find_target(b.target), testing::limits_of(b, registers)});
}
std::string said(const Report& report) {
  std::string text;
  for (const JudgeResult& r : report.results) text += r.judge + ": " + testing::describe(r) + "\n";
  return text;
}
std::vector<std::string> categories(const Report& report) {
  const JudgeResult* structure = report.result_of("structure");
  return structure == nullptr ? std::vector<std::string>() : testing::categories(*structure);
}
// Without its line, or a line behind it.
std::string without(const std::string& text, const std::string& id) {
  const std::size_t at = text.find("    " + id + " ");
  return std::string(text).erase(at, text.find('\n', at) + 1 - at);
}
std::string with_behind(const std::string& text, const std::string& id, const std::string& line) {
  const std::size_t at = text.find('\n', text.find("    " + id + " ")) + 1;
  return std::string(text).insert(at, "    " + line + "\n");
}

TEST(Raise, EveryFormIsAcceptedByEveryJudge) {
  const Report report = judge_texts(kBefore, kAfter);
  EXPECT_EQ(report.verdict(), Verdict::Pass) << said(report);
  for (const char* judge : {"structure", "memcheck", "symbolic", "execution"}) {
    ASSERT_NE(report.result_of(judge), nullptr);
    EXPECT_EQ(report.result_of(judge)->verdict, Verdict::Pass) << said(report);
  }
}

TEST(Raise, GivesTheSpillsThatWereLowered) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  const ir::Target& target = ir::default_target();
  const auto raised = raise(before, after, target, ir::Limits::of(target));
  ASSERT_NE(raised, nullptr);
  EXPECT_TRUE(raised->faults.empty());
  EXPECT_EQ("\n" + ir::print(raised->program), R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 32 shared 8
)" + kVRegs + R"(  slot 0 local size 4 align 4 offset 0
  slot 1 local size 16 align 16 offset 16
  slot 2 shared size 4 align 4 offset 4
  slot 3 local size 1 align 1 offset 5
  block b0
    #0 R0 = ld 0
    +23 spill R0, slot 0
    #1 R4:R7 = ld4 1
    +26 spill R4:R7, slot 1
    #2 UR0 = uld 2
    +31 spill UR0, slot 2
    #3 P0 = setp R0
    +34 spill P0, slot 3
    #4 @P0 R0 = add R0, 1
    +38 @P0 spill R0, slot 0
    #5 cbra P0 -> b1, b2
  block b1
    #6 call "g" clobbers R0:R8
    #7 bra -> b2
  block b2
    +52 R0 = refill slot 0
    #8 st R0 !write
    +55 R0:R3 = refill slot 1
    #9 st R0:R3 !write
    +60 UR0 = refill slot 2
    #10 st UR0 !write
    #11 exit
)");
  EXPECT_EQ(raise(before, raised->program, target, ir::Limits::of(target)), nullptr) << "nothing is left to raise";
}

struct Damage {
  const char* what;
  std::string after;
  const char* category;  // nullptr = the address is one of the frame: it is for the others to see what is wrong with it
};

TEST(Raise, EachDamageIsFound) {
  const std::string& a = kAfter;
  const Damage damages[] = {
      {"offset between slots", edit(a, "+21 R9 = spill_iadd R8, 0", "+21 R9 = spill_iadd R8, 1"), "lowered-address"},
      {"offset across slots", edit(a, "+24 R9 = spill_iadd R8, 4", "+24 R9 = spill_iadd R8, 5"), "lowered-address"},
      {"offset before the frame", edit(a, "+21 R9 = spill_iadd R8, 0", "+21 R9 = spill_iadd R8, -1"), "lowered-address"},
      {"offset far away", edit(a, "+21 R9 = spill_iadd R8, 0", "+21 R9 = spill_iadd R8, 9223372036854775807"), "lowered-address"},
      {"offset of another slot", edit(a, "+50 R9 = spill_iadd R8, 0", "+50 R9 = spill_iadd R8, 4"), nullptr},
      {"byte of no slot", edit(a, "spill_stl P0, R9, 1", "spill_stl P0, R9, 2"), "lowered-address"},
      {"byte before the frame", edit(a, "spill_stl P0, R9, 1", "spill_stl P0, R9, -9"), "lowered-address"},
      {"stride too large", edit(a, "+22 R9 = spill_imad R9, 4, 0", "+22 R9 = spill_imad R9, 8, 0"), "lowered-address"},
      {"stride of nothing", edit(a, "+22 R9 = spill_imad R9, 4, 0", "+22 R9 = spill_imad R9, 0, 0"), "lowered-address"},
      {"sum behind the stride", edit(a, "+51 R9 = spill_imad R9, 4, 0", "+51 R9 = spill_imad R9, 4, 16"), nullptr},
      {"shift", edit(a, "+29 R9 = spill_shl R9, 2", "+29 R9 = spill_shl R9, 3"), "lowered-address"},
      {"shift beyond the register", edit(a, "+29 R9 = spill_shl R9, 2", "+29 R9 = spill_shl R9, 99"), "lowered-address"},
      {"stride of the base", edit(a, "+20 R8 = getlmembase 4", "+20 R8 = getlmembase 8"), "lowered-address"},
      {"no such stride", edit(a, "+20 R8 = getlmembase 4", "+20 R8 = getlmembase 3"), "lowered-address"},
      {"no base", without(a, "+20"), "lowered-address"},
      {"no sum", without(a, "+21"), "lowered-address"},
      {"no product", without(a, "+22"), "lowered-address"},
      {"no phase", without(a, "+27"), "lowered-address"},
      {"another symbol", edit(a, "+27 R9 = spill_mov \"__nv_reservedSMEM_allocation_phase\"", "+27 R9 = spill_mov \"x\""),
       "lowered-address"},
      {"no mask", without(a, "+30"), "lowered-address"},
      {"another mask", edit(a, "+30 R9 = spill_lop3 R9, \"__nv_reservedSMEM_allocation_mask\"", "+30 R9 = spill_lop3 R9, \"x\""),
       "lowered-address"},
      {"mask before the sum is done", with_behind(a, "+30", "+61 R9 = spill_iadd R9, 0"), "lowered-address"},
      {"changed in between", with_behind(a, "+22", "+61 R9 = spill_shl R9, 1"), "lowered-address"},
      {"overwritten in between", with_behind(a, "+22", "+61 R9 = copy R0"), "lowered-register"},
      {"the base overwritten", with_behind(a, "+22", "+61 R8 = copy R0"), "lowered-register"},
      {"an original operand there", edit(a, "#0 R0 = ld 0", "#0 R9 = ld 0"), "lowered-register"},
      {"its own value there", edit(a, "+52 R0 = spill_ldl R9, 0", "+52 R9 = spill_ldl R9, 0"), "lowered-register"},
      {"another register than computed", edit(a, "+23 spill_stl R0, R9, 0", "+23 spill_stl R0, R8, 0"), "lowered-address"},
      {"a register without an address", edit(a, "+23 spill_stl R0, R9, 0", "+23 spill_stl R0, R10, 0"), "lowered-address"},
      {"local for shared", edit(a, "+31 spill_sts UR0", "+31 spill_stl UR0"), "lowered-address"},
      {"shared for local", edit(a, "+23 spill_stl R0", "+23 spill_sts R0"), "lowered-address"},
      {"shared for local, load", edit(a, "+52 R0 = spill_ldl", "+52 R0 = spill_lds"), "lowered-address"},
      {"jumps too near", edit(a, "spill_bra 3", "spill_bra 2"), "lowered-branch"},
      {"jumps too far", edit(a, "spill_bra 3", "spill_bra 4"), "lowered-branch"},
      {"jumps out of the block", edit(a, "spill_bra 3", "spill_bra 5"), "lowered-branch"},
      {"jumps nowhere", edit(a, "spill_bra 3", "spill_bra 0"), "lowered-branch"},
      {"jumps backwards", edit(a, "spill_bra 3", "spill_bra -1"), "lowered-branch"},
      {"jumps where it should not", edit(a, "+35 @!P0 spill_bra", "+35 @P0 spill_bra"), nullptr},
      {"guarded twice", edit(a, "+38 spill_stl", "+38 @P0 spill_stl"), "lowered-branch"},
      {"the callee's frame is this one", without(a, "+41"), "lowered-address"},
      {"the callee's frame is not aligned", edit(a, "+40 R9 = spill_iadd R8, 8", "+40 R9 = spill_iadd R8, 9"), "lowered-address"},
      {"the callee's base is no base", edit(a, "+41 setlmembase R9, 4", "+41 setlmembase R9, 8"), "lowered-address"},
      {"the base is clobbered", without(a, "+42"), "lowered-address"},
      {"the base of the callee", without(a, "+43"), "lowered-address"},
      {"a store is lost", without(a, "+26"), nullptr},
      {"a load is lost", without(a, "+52"), nullptr},
      {"not inserted", edit(a, "+22 R9", "#22 R9"), "lowered-address"},
  };
  for (const Damage& d : damages) {
    const Report report = judge_texts(kBefore, d.after);
    EXPECT_EQ(report.verdict(), Verdict::Fail) << d.what;
    const std::vector<std::string> found = categories(report);
    if (d.category != nullptr) {
      EXPECT_THAT(found, ::testing::Contains(d.category)) << d.what << '\n' << said(report);
    } else {
      EXPECT_THAT(found, ::testing::IsEmpty()) << d.what << '\n' << said(report);
    }
  }
}

// What differs from the shapes that lowering makes, and is right.
TEST(Raise, OtherWaysToComputeTheSameAddress) {
  const std::string& a = kAfter;
  const Damage harmless[] = {
      {"shifted", edit(a, "+22 R9 = spill_imad R9, 4, 0", "+22 R9 = spill_shl R9, 2"), nullptr},
      {"in two sums",
       edit(edit(a, "+24 R9 = spill_iadd R8, 4", "+24 R9 = spill_iadd R8, 3"), "+25 R9 = spill_imad R9, 4, 0",
            "+25 R9 = spill_imad R9, 4, 4"),
       nullptr},
      {"a guard of its own", edit(without(a, "+35"), "+38 spill_stl", "+38 @P0 spill_stl"), nullptr},
      {"at a byte",
       edit(edit(a, "+53 R9 = spill_iadd R8, 4", "+53 R9 = spill_iadd R8, 0"), "+55 R0:R3 = spill_ldl R9, 0",
            "+55 R0:R3 = spill_ldl R9, 16"),
       nullptr},
  };
  for (const Damage& d : harmless) {
    const Report report = judge_texts(kBefore, d.after);
    EXPECT_EQ(report.verdict(), Verdict::Pass) << d.what << '\n' << said(report);
  }
}

TEST(Raise, TheRegistersOfAddressesKeepTheRules) {
  const Report low = judge_texts(kBefore, kAfter, 9);
  EXPECT_THAT(categories(low), ::testing::ElementsAre("lowered-register")) << said(low);
  const auto as_device = [](std::string text) {
    text.replace(text.find("kernel"), 6, "device");
    return edit(text, "#11 exit", "#11 ret");
  };
  const auto in_r24 = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("R9", at)) != std::string::npos; ++at) text.replace(at, 2, "R24");
    return text;
  };
  EXPECT_EQ(judge_texts(as_device(kBefore), as_device(kAfter)).verdict(), Verdict::Pass);
  EXPECT_THAT(categories(judge_texts(as_device(kBefore), in_r24(as_device(kAfter)))), ::testing::ElementsAre("lowered-register"));
  EXPECT_THAT(categories(judge_texts(as_device(kBefore), without(as_device(kAfter), "+44"))),
              ::testing::ElementsAre("lowered-address"));
  const auto architectural = [](std::string text) {
    return edit(text, "  vreg %3 UR b32\n", R"(
  vreg %3 UR b32
  vreg %4 R b32 fixed R9 architectural
)");
  };
  EXPECT_THAT(categories(judge_texts(architectural(kBefore), architectural(kAfter))), ::testing::ElementsAre("lowered-register"));
}

// A copy that has become a spill or a refill keeps its number, its guard and its clobbers.
TEST(Raise, OriginalCopies) {
  const std::string vregs = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
)";
  const std::string before = "func @f kernel target sm_90 threads 32\n" + vregs + R"(
  block b0
    #0 %0 = ld 0
    #1 %2 = setp
    #2 %1 = ld 1
    #3 @%2 %1 = copy %0
    #4 %3 = copy %1 clobbers R2
    #5 st %3 !write
    #6 exit
)";
  const std::string after = R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
)" + vregs + R"(
  slot 0 local size 4 align 4 offset 0
  block b0
    +10 R1 = getlmembase 4
    #0 R0 = ld 0
    #1 P0 = setp
    #2 R3 = ld 1
    +11 R2 = spill_iadd R1, 0
    +12 R2 = spill_shl R2, 2
    +13 spill_stl R3, R2, 0
    +14 @!P0 spill_bra 3
    +15 R2 = spill_iadd R1, 0
    +16 R2 = spill_imad R2, 4, 0
    #3 spill_stl R0, R2, 0
    +17 R2 = spill_iadd R1, 0
    +18 R2 = spill_imad R2, 4, 0
    #4 R0 = spill_ldl R2, 0 clobbers R2
    #5 st R0 !write
    #6 exit
)";
  const Report report = judge_texts(before, after);
  EXPECT_EQ(report.verdict(), Verdict::Pass) << said(report);
  EXPECT_EQ(judge_texts(before, edit(after, " clobbers R2", "")).verdict(), Verdict::Fail);
  EXPECT_EQ(judge_texts(before, edit(after, "@!P0 spill_bra", "@P0 spill_bra")).verdict(), Verdict::Fail);
  const Report lost = judge_texts(before, without(after, "+12"));
  EXPECT_EQ(lost.verdict(), Verdict::Fail);
  const Report second = judge_texts(before, without(after, "+16"));
  EXPECT_THAT(categories(second), ::testing::Contains("lowered-address")) << said(second);
}

// What is counted is what is there: the registers and steps of addresses too.
TEST(Raise, TheFiguresAreThoseOfTheLoweredProgram) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  const Measures m = measure({before, ir::default_target()}, after);
  EXPECT_EQ(m.registers[ir::index(ir::RegFile::R)], 10);
  EXPECT_EQ(m.instructions_after, static_cast<std::int64_t>(after.insts.size()));
  EXPECT_EQ(m.spill_stores, 5);
  EXPECT_EQ(m.spill_loads, 3);
  EXPECT_EQ(m.spill_store_bytes, 4 + 16 + 4 + 1 + 4);
  EXPECT_EQ(m.spill_load_bytes, 4 + 16 + 4);
  EXPECT_EQ(m.shared_spill_bytes, 8);
  ir::Claims claims;
  claims.registers = m.registers;
  claims.spill_store_bytes = m.spill_store_bytes;
  claims.spill_load_bytes = m.spill_load_bytes;
  const Case c{before, after, ir::default_target(), ir::Limits::of(ir::default_target()), &claims};
  EXPECT_EQ(quality_judge().judge(c).verdict, Verdict::Pass);
}

// On some paths only: the register has an address in one predecessor and another, or none, in the other.
TEST(Raise, AnAddressIsThereOnAllPaths) {
  const std::string vregs = R"(
  vreg %0 R b32
  vreg %1 P pred
)";
  const std::string before = "func @f kernel target sm_90 threads 32\n" + vregs + R"(
  block b0
    #0 %0 = ld 0
    #1 %1 = setp
    #2 cbra %1 -> b1, b2
  block b1
    #3 bra -> b3
  block b2
    #4 bra -> b3
  block b3
    #5 st %0 !write
    #6 exit
)";
  const auto after = [&](const std::string& one, const std::string& other) {
    return R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 8 shared 0
)" + vregs +
           R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  block b0
    #0 R0 = ld 0
    +10 R1 = getlmembase 1
    +11 spill_stl R0, R1, 0
    #1 P0 = setp
    #2 cbra P0 -> b1, b2
  block b1
)" + one + "    #3 bra -> b3\n  block b2\n" +
           other + R"(
    #4 bra -> b3
  block b3
    +20 R0 = spill_ldl R2, 0
    #5 st R0 !write
    #6 exit
)";
  };
  const std::string one = "    +12 R2 = spill_iadd R1, 0\n", same = "    +13 R2 = getlmembase 1\n",
                    another = "    +13 R2 = spill_iadd R1, 4\n";
  EXPECT_EQ(judge_texts(before, after(one, same)).verdict(), Verdict::Pass);
  EXPECT_THAT(categories(judge_texts(before, after(one, another))), ::testing::ElementsAre("lowered-address"));
  EXPECT_THAT(categories(judge_texts(before, after(one, ""))), ::testing::ElementsAre("lowered-address"));
}

// Each fault as "instruction: what is wrong", as often as it is said.
std::vector<std::string> faults(const std::string& before, const std::string& after) {
  const ir::Function b = parse_function(before), a = parse_function(after);
  const ir::Target& target = ir::default_target();
  const auto raised = raise(b, a, target, ir::Limits::of(target));
  std::vector<std::string> list;
  for (const RaiseFault& f : raised->faults) list.push_back(fmt::format("{}: {}", f.inst.value, f.message));
  return list;
}
// A program whose one register is spilled at the beginning and refilled at the end, and what stands between.
std::string spilled(const std::string& middle, const std::string& base = "+20 R8 = getlmembase 4") {
  return R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 16 shared 0
  vreg %0 R b32
  vreg %1 P pred
  slot 0 local size 4 align 4 offset 0
  block b0
    #0 R0 = ld 0
    #1 P0 = setp
    )" + base +
         R"(
    +21 R9 = spill_imad R8, 4, 0
    +22 spill_stl R0, R9, 0
)" + middle +
         R"(
    +30 R9 = spill_imad R8, 4, 0
    +31 R0 = spill_ldl R9, 0
    #5 st R0, P0 !write
    #6 exit
)";
}
std::string whole(const std::string& middle) {
  return R"(
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %0 = ld 0
    #1 %1 = setp
)" + middle +
         "    #5 st %0, %1 !write\n    #6 exit\n";
}

TEST(Raise, EachFaultIsSaidOnce) {
  using ::testing::ElementsAre;
  const std::string call = "    #2 call \"g\"\n", at_call = call + "    #3 nop\n";
  const auto of = [&](const std::string& middle) { return faults(whole(at_call), spilled(middle + "    #3 nop\n")); };
  const std::string apart = "    +23 R9 = spill_iadd R8, 4\n    +24 setlmembase R9, 4\n", back = "    +25 setlmembase R8, 4\n";
  EXPECT_THAT(of(apart + call + back), ElementsAre());
  EXPECT_THAT(of(call), ElementsAre("2: the callee's frame begins at byte 0, this one has 16; or that is no multiple of 16"));
  EXPECT_THAT(of(edit(apart, "R8, 4", "R8, 5") + call + back),
              ElementsAre("2: the callee's frame begins at byte 20, this one has 16; or that is no multiple of 16"));
  EXPECT_THAT(of(edit(apart, "R9, 4", "R0, 4") + call + back),
              ElementsAre("24: is not known to be a base of local memory in these strides",
                          "2: what the callee finds as the base of local memory is not known"))
      << "nothing else is said of what follows";
  EXPECT_THAT(of(edit(apart, "setlmembase R9, 4", "setlmembase R9, 3") + call + back),
              ElementsAre("24: a stride of 3 bytes (there are 1, 2, 4, 8 and 16)",
                          "2: what the callee finds as the base of local memory is not known"));
  EXPECT_THAT(of(edit(apart, "setlmembase R9, 4", "setlmembase R9, 8") + call + back),
              ElementsAre("24: is not known to be a base of local memory in these strides",
                          "2: what the callee finds as the base of local memory is not known"));
  EXPECT_THAT(of("    +23 R9 = spill_iadd R8, 4 clobbers R3\n    +24 setlmembase R9, 4 clobbers R4\n" + call + back),
              ElementsAre("23: the computing of an address clobbers nothing", "24: the computing of an address clobbers nothing"));
}

TEST(Raise, AStrideIsOneOfFive) {
  const std::string before = whole("");
  const std::string by_three =
      edit(edit(spilled("", "+20 R8 = getlmembase 3"), "+21 R9 = spill_imad R8, 4, 0", "+21 R9 = spill_imad R8, 3, 0"),
           "+30 R9 = spill_imad R8, 4, 0", "+30 R9 = spill_imad R8, 3, 0");
  EXPECT_THAT(faults(before, by_three), ::testing::ElementsAre("20: a stride of 3 bytes (there are 1, 2, 4, 8 and 16)",
                                                               "22: is not known to hold an address of a frame",
                                                               "31: is not known to hold an address of a frame"));
}

// A clobber destroys what the register held, and is no fault where nobody asks for it again.
TEST(Raise, AClobberedAddressIsNone) {
  const auto of = [](const std::string& clobbers) {
    const std::string middle = "    #2 nop" + clobbers + "\n";
    return faults(whole(middle), spilled(middle));
  };
  EXPECT_THAT(of(""), ::testing::ElementsAre());
  EXPECT_THAT(of(" clobbers R9"), ::testing::ElementsAre()) << "it is computed again";
  EXPECT_THAT(of(" clobbers R8"), ::testing::ElementsAre("31: is not known to hold an address of a frame"));
  EXPECT_THAT(of(" clobbers R6:R9"), ::testing::ElementsAre("31: is not known to hold an address of a frame"));
}

// Deleted instructions stay in the program that is raised, and no branch leads over one.
TEST(Raise, DeletedInstructions) {
  const std::string before = whole("    #2 %0 = copy %0\n");
  const std::string after = spilled("    #2 copy !deleted\n");
  EXPECT_EQ(judge_texts(before, after).verdict(), Verdict::Pass) << said(judge_texts(before, after));
  const ir::Function b = parse_function(before), a = parse_function(after);
  const auto raised = raise(b, a, ir::default_target(), ir::Limits::of(ir::default_target()));
  EXPECT_EQ(raised->program.insts.size(), 7u) << "five of the program, a spill, a refill";
  const std::string over = spilled(R"(
    +23 @P0 spill_bra 3
    +24 R9 = spill_imad R8, 4, 0
    #2 copy !deleted
    +25 spill_stl R0, R9, 0
)");
  EXPECT_THAT(faults(before, over), ::testing::Contains("23: jumps over a deleted instruction"));
  EXPECT_THAT(faults(before, over),
              ::testing::Not(::testing::Contains("23: jumps over anything but an address and then one access without a guard")));
}

// What an original copy became cannot be raised: it stands there as deleted, with nothing to read or write.
TEST(Raise, AnOriginalAccessWithoutAnAddressIsNoInstruction) {
  const std::string before = whole("    #2 %0 = copy %0\n");
  const std::string after = spilled("    #2 R0 = spill_ldl R9, 99\n");
  EXPECT_THAT(faults(before, after), ::testing::ElementsAre("2: bytes 99 to 103 of the local frame are in no slot"));
  const ir::Function b = parse_function(before), a = parse_function(after);
  const auto raised = raise(b, a, ir::default_target(), ir::Limits::of(ir::default_target()));
  const auto at = std::find_if(raised->program.insts.begin(), raised->program.insts.end(),
                               [](const ir::Inst& i) { return i.id == ir::InstId(2) && !i.is_inserted(); });
  ASSERT_NE(at, raised->program.insts.end());
  EXPECT_TRUE(at->is_deleted());
  EXPECT_EQ(at->op, ir::Op::Copy);
  EXPECT_TRUE(raised->program.operands_of(*at).empty());
}

// No path leads to an access in an unreachable block, so its register need hold no address; what holds a wrong one is a fault there, too.
TEST(Raise, AnUnreachableAccessNeedsNoAddress) {
  const std::string before = R"(
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = ld 0
    #1 exit
  block b1
    #2 %0 = ld 1
    #3 exit
)",
                    after = R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
  vreg %0 R b32
  slot 0 local size 4 align 4 offset 0
  block b0
    +9 R2 = getlmembase 1
    #0 R0 = ld 0
    #1 exit
  block b1
    #2 R0 = ld 1
    +10 spill_stl R0, R2, 0
    #3 exit
)";
  EXPECT_EQ(judge_texts(before, after).verdict(), Verdict::Pass);
  EXPECT_EQ(
      judge_texts(before, edit(after, "+10 spill_stl R0, R2, 0", "+11 R2 = getlmembase 1\n    +10 spill_stl R0, R2, 64")).verdict(),
      Verdict::Fail);
}

}  // namespace
}  // namespace regduel::oracles
