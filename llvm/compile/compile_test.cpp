// Compiles programs of corpus/llvm where regduel-llc is there, which is built with LLVM 19 alone.
#include "llvm/compile/compile.h"

#include <filesystem>

#include <gmock/gmock.h>

#include <fmt/format.h>

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

// One target: every file of these folders under these allocators. The two known bugs apart, no judge has a word to say.
struct Trial {
  const char* triple;
  const char* cpu;
  std::vector<std::string> folders, allocators;
};

TEST_F(Compile, TheCorpusIsAllocatedRight) {
  const std::vector<Trial> trials = {
      {"x86_64-pc-linux-gnu", "", {"c", "x86", "ir"}, {"greedy", "basic", "fast", "pbqp"}},
      {"amdgcn-amd-amdhsa", "gfx90a", {"amdgpu"}, {"greedy", "basic", "fast"}},
      {"amdgcn-amd-amdhsa", "gfx1100", {"amdgpu"}, {"greedy"}},
      {"aarch64-linux-gnu", "", {"ir"}, {"greedy", "basic", "pbqp"}},
      {"riscv64-linux-gnu", "", {"ir"}, {"greedy", "basic", "pbqp"}},
  };
  int judged = 0, refused = 0;
  for (const Trial& t : trials)
    for (const std::string& folder : t.folders)
      for (const auto& entry : std::filesystem::directory_iterator(kCorpus + folder))
        for (const std::string& allocator : t.allocators) {
          const std::string name = entry.path().filename().string();
          if (name == "swift.ll" && std::string(t.triple).starts_with("riscv")) continue;  // LLVM has no swifterror there
          const auto compiled = compile(tools, entry.path().string(), allocator,
                                        {.triple = t.triple, .cpu = t.cpu, .compare_code = allocator == "greedy"});
          if (!compiled) {
            ADD_FAILURE() << name << ": " << compiled.error().message << "\n" << compiled.error().command;
            continue;
          }
          const bool is_known = allocator == "fast" && (name == "asm_goto.c" || name == "invoke.ll");
          for (const DumpPair& pair : pair_dumps(compiled->file, {"virtregrewriter", "machine-cp"})) {
            const Verdict v = judge_pair(compiled->file.tables, pair);
            ++judged;
            if (v.refusal) {
              ++refused;
              fmt::print("refused: {} {}: {} {} after {}: {}: {}\n", t.triple, name, v.function, allocator, v.pass, v.refusal->kind,
                         v.refusal->message);
            } else if (!is_known) {
              EXPECT_EQ(v.verdict, oracles::Verdict::Pass)
                  << t.triple << " " << t.cpu << " " << name << ": " << v.function << " " << allocator << " after " << v.pass
                  << " run " << v.run << ": " << v.reason << (v.findings.empty() ? "" : "\n" + print(v.findings[0]));
            }
          }
        }
  EXPECT_LE(refused * 100, judged) << refused << " of " << judged;
  fmt::print("{} allocations judged, {} refused\n", judged, refused);
}

// docs/llvm-findings.md
TEST_F(Compile, TheCoalescerLeavesWhatTheMachineVerifierObjectsTo) {
  for (const char* name : {"coalescer_identity_copy.mir", "coalescer_copy_back.mir"}) {
    CompileOptions options{.cpu = "gfx90a", .level = "2"};
    options.llc_arguments = {"-start-after=twoaddressinstruction", "-stop-after=machine-cp", "-verify"};
    const auto compiled = compile(tools, kCorpus + "reports/" + name, "greedy", options);
    ASSERT_FALSE(compiled) << name;
    EXPECT_EQ(compiled.error().kind, CompileError::Crashed) << name;
    EXPECT_THAT(compiled.error().message, ::testing::HasSubstr("machine code errors"));
  }
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
