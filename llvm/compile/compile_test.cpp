// Compiles programs of corpus/llvm where regduel-llc is there, which is built with LLVM 19 alone.
#include "llvm/compile/compile.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "llvm/judge/judge_pair.h"

namespace regduel::llvm {
namespace {

const std::string kCorpus = std::string(REGDUEL_SOURCE_DIR) + "/corpus/llvm/";

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tools.regduel_llc.empty() || tools.clang.empty()) GTEST_SKIP() << "no regduel-llc, or no clang";
  }
  // How many functions fail; those that are refused are not expected.
  int fails(const std::string& file, const std::string& allocator, CompileOptions options) {
    options.compare_code = true;
    const auto compiled = compile(tools, kCorpus + file, allocator, options);
    EXPECT_TRUE(compiled) << compiled.error().message << "\n" << compiled.error().command;
    int n = 0;
    if (compiled)
      for (const DumpPair& pair : pair_dumps(compiled->file, {"virtregrewriter", "machine-cp"})) {
        const Verdict v = judge_pair(compiled->file.tables, pair);
        EXPECT_FALSE(v.refusal) << v.function << ": " << v.refusal->kind << ": " << v.refusal->message;
        n += v.verdict == oracles::Verdict::Fail ? 1 : 0;
      }
    return n;
  }
  Tools tools = find_tools("");
};

const CompileOptions kX86{.triple = "x86_64-pc-linux-gnu"};

TEST_F(Compile, LoopsPassAndTheCodeIsTheSame) {
  for (const char* allocator : kAllocators) EXPECT_EQ(fails("c/loops.c", allocator, kX86), 0) << allocator;
}

TEST_F(Compile, RegAllocFastForgetsWhatAnAsmGotoReads) {
  EXPECT_GT(fails("x86/asm_goto.c", "fast", kX86), 0);
  EXPECT_EQ(fails("x86/asm_goto.c", "greedy", kX86), 0);
}

TEST_F(Compile, RegAllocFastForgetsWhatALandingPadReads) {
  CompileOptions optimised = kX86;
  optimised.level = "2";
  EXPECT_GT(fails("ir/invoke.ll", "fast", optimised), 0);
  EXPECT_EQ(fails("ir/invoke.ll", "greedy", kX86), 0);
}

TEST_F(Compile, SaysWhatWentWrong) {
  const auto none = compile(tools, kCorpus + "c/none.c", "greedy", kX86);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, CompileError::Failed);
  const auto no_pbqp = compile(tools, kCorpus + "amdgpu/masked.ll", "pbqp", {.cpu = "gfx90a"});
  ASSERT_FALSE(no_pbqp);
  EXPECT_EQ(no_pbqp.error().kind, CompileError::NotSupported);
}

}  // namespace
}  // namespace regduel::llvm
