// The two ABIs end to end: what lives across a call of PTX, and what a device function gives back.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/generator.h"
#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "oracles/judges.h"

namespace regduel::properties {
namespace {

// So many floats that live across a call of `callee`, between a load and a store of each.
std::string floats_across(int floats, std::string_view callee, std::string_view head) {
  std::string text = fmt::format(
      ".version 9.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) {0}(.param .b64 a, .param .b64 b);\n{1} {{\n"
      ".reg .b64 %rd<4>; .reg .f32 %f<{2}>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\n",
      callee, head, floats);
  for (int k = 0; k < floats; ++k) text += fmt::format("ld.global.f32 %f{}, [%rd1+{}];\n", k, 4 * k);
  text += fmt::format(
      "{{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %rd1; st.param.b64 [y], 0;\n"
      "call.uni (z), {}, (x, y); ld.param.b32 %r1, [z]; }}\nst.global.u32 [%rd1], %r1;\n",
      callee);
  for (int k = 0; k < floats; ++k) text += fmt::format("st.global.f32 [%rd1+{}], %f{};\n", 8192 + 4 * k, k);
  return text + "ret; }\n";
}

ir::Function program_of(const std::string& ptx, ir::AbiName abi) {
  auto module = ir::parse_ptx(ptx, "t.ptx", abi);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module && module->functions.size() == 1 ? std::move(module->functions[0]) : ir::Function();
}

struct Allocated {
  ir::Function program;
  int stores = 0;  // of registers: a store of a pair counts as two
};

// By this allocator at this limit, accepted by all judges.
Allocated allocated(const ir::Allocator& allocator, const ir::Function& f, int registers) {
  const ir::Target& target = *ir::find_target(f.target);
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, registers);
  auto allocation = allocator.allocate(f, target, options);
  EXPECT_TRUE(allocation.has_value()) << allocator.name();
  if (!allocation) return {};
  for (const oracles::Judge* judge : oracles::judges()) {
    const oracles::JudgeResult r = judge->judge({f, allocation->program, target, options.limits});
    EXPECT_NE(r.verdict, oracles::Verdict::Fail) << allocator.name() << ' ' << judge->name();
    EXPECT_NE(r.verdict, oracles::Verdict::Inconclusive) << allocator.name() << ' ' << judge->name();
  }
  Allocated result{std::move(allocation->program), 0};
  for (const ir::Inst& i : result.program.insts)
    if (i.op == ir::Op::Spill) result.stores += result.program.operand_bytes(result.program.operands_of(i)[0]) / 4;
  return result;
}

constexpr std::string_view kKernel = ".visible .entry k(.param .u64 p)";
constexpr std::string_view kDevice = ".visible .func k(.param .b64 p)";

// ptxas takes 168 registers for it, and spills nothing.
TEST(Calls, FloatsAcrossVprintfStayInRegisters) {
  const std::string ptx = floats_across(120, "vprintf", kKernel);
  for (const ir::Allocator* a : duel::all_duelists()) {
    EXPECT_EQ(allocated(*a, program_of(ptx, ir::AbiName::Cuda), 168).stores, 0) << a->name();
    EXPECT_GT(allocated(*a, program_of(ptx, ir::AbiName::Seed), 168).stores, 100) << a->name();
  }
}

// Another function keeps half of them: below 168 that is R2, R16 to R31 without the return address, and 68 of those above.
TEST(Calls, FloatsAcrossAnotherFunctionPartlyDo) {
  const std::string fits = floats_across(78, "other", kKernel), above = floats_across(120, "other", kKernel);
  for (const ir::Allocator* a : duel::all_duelists()) {
    EXPECT_EQ(allocated(*a, program_of(fits, ir::AbiName::Cuda), 168).stores, 0) << a->name();
    EXPECT_GT(allocated(*a, program_of(above, ir::AbiName::Cuda), 168).stores, 0) << a->name();
  }
}

// What a device function puts into registers that live across a call, it saves first, each once at least.
TEST(Calls, ADeviceFunctionSavesWhatItUses) {
  const std::string ptx = floats_across(40, "other", kDevice);
  for (const ir::Allocator* a : duel::all_duelists()) {
    const ir::Function before = program_of(ptx, ir::AbiName::Cuda);
    EXPECT_EQ(before.kind, ir::FunctionKind::Device);
    EXPECT_GE(allocated(*a, before, 168).stores, 40) << a->name();
  }
}

// The same allocation under the other ABI: R16 is not preserved, R24 need not be.
TEST(Calls, JudgesGoByTheAbiOfTheProgram) {
  const auto verdict = [](std::string_view abi, std::string_view reg) {
    const std::string head = fmt::format("func @f device target sm_90 threads 32{}", abi);
    const auto before = ir::parse(
        fmt::format("rir 1\n{}\n  vreg %0 R b32\n  block b0\n    #0 %0 = const 1\n    #1 st %0 !write\n    #2 ret\n", head));
    const auto after = ir::parse(fmt::format(
        "rir 1\n{0} allocated\n  vreg %0 R b32\n  block b0\n    #0 {1} = const 1\n    #1 st {1} !write\n    #2 ret\n", head, reg));
    if (!before || !after) return std::string("no program");
    const ir::Target& target = *ir::find_target("sm_90");
    std::string all;
    for (const oracles::Judge* judge : oracles::judges()) {
      const oracles::JudgeResult r = judge->judge({before->functions[0], after->functions[0], target, ir::Limits::of(target)});
      if (r.verdict == oracles::Verdict::Fail) all += fmt::format("{} ", judge->name());
    }
    return all;
  };
  for (const char* abi : {"", " abi seed", " abi cuda"}) {
    EXPECT_EQ(verdict(abi, "R0"), "") << abi;
    EXPECT_EQ(verdict(abi, "R24"), "memcheck symbolic execution ") << abi;
  }
  EXPECT_EQ(verdict("", "R16"), "");
  EXPECT_EQ(verdict("", "R2"), "");
  for (const char* kept : {"R2", "R16", "R20", "R31", "R36", "R47", "R252"})
    EXPECT_EQ(verdict(" abi cuda", kept), "memcheck symbolic execution ") << kept;
  EXPECT_EQ(verdict("", "R1"), "");
  EXPECT_EQ(verdict(" abi cuda", "R1"), "structure ");
  for (const char* scratch : {"R3", "R15", "R32", "R40", "R251"}) EXPECT_EQ(verdict(" abi cuda", scratch), "") << scratch;
}

// Ten values at a time in eleven registers: as many as there are under `abi cuda`, of which R1 is none.
TEST(Calls, TheStackPointerIsNotGivenOut) {
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32 abi cuda\n", loads, stores;
  for (int k = 0; k < 10; ++k) {
    text += fmt::format("  vreg %{} R b32\n", k);
    loads += fmt::format("    #{} %{} = ld {} !read\n", k, k, k);
    stores += fmt::format("    #{} st %{} !write\n", 10 + k, k);
  }
  const auto module = ir::parse(text + "  block b0\n" + loads + stores + "    #20 exit\n");
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  const auto names_r1 = [](const ir::Function& f) {
    return std::ranges::any_of(f.operands,
                               [](const ir::Operand& op) { return op.is_preg() && op.preg() == ir::PReg{ir::RegFile::R, 1, 1}; });
  };
  for (const ir::Allocator* a : duel::all_duelists()) {
    const Allocated fits = allocated(*a, module->functions[0], 11), spills = allocated(*a, module->functions[0], 10);
    EXPECT_EQ(fits.stores, 0) << a->name();
    EXPECT_GT(spills.stores, 0) << a->name();
    EXPECT_FALSE(names_r1(fits.program)) << a->name();
    EXPECT_FALSE(names_r1(spills.program)) << a->name();
  }
}

TEST(Calls, RandomProgramsFollowEitherAbi) {
  int cuda = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    generate::GeneratorOptions options;
    options.seed = seed;
    cuda += generate::generate(options, ir::default_target()).abi == ir::AbiName::Cuda ? 1 : 0;
  }
  EXPECT_GT(cuda, 60);
  EXPECT_LT(cuda, 140);
}

}  // namespace
}  // namespace regduel::properties
