// Where regduel-llc is there, which is built with LLVM alone.
#include "llvm/duelist/llvm_allocator.h"

#include <array>

#include <gmock/gmock.h>

#include "base/io.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "ir/text/text.h"
#include "llvm/mapping/map_pair.h"

namespace regduel::llvm {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view name) {
  const auto made = make_llvm_allocator(name, {});
  return made ? "" : made.error();
}

TEST(LlvmAllocator, NamesThatAreNone) {
  EXPECT_EQ(error_of("llvm:linear@x86_64"), "LLVM has no allocator \"linear\" (there are greedy, basic, fast, pbqp)");
  EXPECT_EQ(error_of("llvm:greedy"), "expected llvm:greedy@MACHINE (there are amdgcn-gfx1100, amdgcn-gfx90a, x86_64)");
  EXPECT_THAT(error_of("llvm:greedy@vax"), StartsWith("expected llvm:greedy@MACHINE"));
  EXPECT_EQ(error_of("llvm:pbqp@amdgcn-gfx1100"), "AMDGPU has no pbqp");
}

class LlvmDuelist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_tools("").regduel_llc.empty()) GTEST_SKIP() << "no regduel-llc";
  }
};

// The machine verifier accepts each program, and the allocations are right.
TEST_F(LlvmDuelist, IsRightOnEachMachine) {
  for (const std::string name :
       {"llvm:greedy@x86_64", "llvm:basic@amdgcn-gfx1100", "llvm:fast@x86_64", "llvm:greedy@amdgcn-gfx90a"}) {
    SCOPED_TRACE(name);
    const auto allocator = make_llvm_allocator(name, {});
    ASSERT_TRUE(allocator.has_value()) << allocator.error();
    const std::array<const ir::Allocator*, 1> duelists = {allocator->get()};
    int passes = 0;
    for (std::uint64_t k = 0; k < 30; ++k) {
      const duel::Case c = duel::derive_case(k, 60);
      const duel::Bout bout = duel::duel(c, {.duelists = duelists}).bouts[0];
      EXPECT_NE(bout.verdict(), oracles::Verdict::Fail) << k << ": " << bout.signatures()[0] << ": " << bout.findings()[0].message;
      passes += bout.verdict() == oracles::Verdict::Pass ? 1 : 0;
      EXPECT_EQ(bout.is_own_form, bout.program.has_value());
    }
    EXPECT_EQ(passes, 30);
  }
}

TEST_F(LlvmDuelist, KnobsAreOptionsOfLlvm) {
  const auto allocator = make_llvm_allocator("llvm:greedy@x86_64", {});
  ASSERT_TRUE(allocator.has_value()) << allocator.error();
  const std::array<const ir::Allocator*, 1> duelists = {allocator->get()};
  const auto bytes = [&](const duel::Knobs& knobs) {
    std::int64_t sum = 0;
    for (std::uint64_t k = 0; k < 10; ++k) {
      duel::Case c = duel::derive_case(k, 60);
      c.knobs = knobs;
      sum += duel::duel(c, {.duelists = duelists}).bouts[0].measures.spill_store_bytes;
    }
    return sum;
  };
  const std::int64_t usual = bytes({});
  EXPECT_GT(bytes({{"stress-regalloc", "8"}}), usual);
  EXPECT_EQ(bytes({}), usual) << "options hold for one request";
}

// The reader of requests knows one shape of MIR; LLVM's own reader is asked about the same.
TEST_F(LlvmDuelist, ARequestIsReadAsTheFile) {
  const auto allocator = make_llvm_allocator("llvm:greedy@amdgcn-gfx1100", {});
  ASSERT_TRUE(allocator.has_value()) << allocator.error();
  const std::string path = ::testing::TempDir() + "llvm_allocator_test.mir";
  for (std::uint64_t k = 0; k < 5; ++k) {
    const duel::Case c = duel::derive_case(k, 100);
    const auto asked = (*allocator)->allocate(c.program, *c.target, {.limits = c.limits, .knobs = {}});
    ASSERT_TRUE(asked.has_value()) << asked.error().message;
    ASSERT_TRUE(
        write_file(path, (*allocator)->own_files(c.program, *c.target, {.limits = c.limits, .knobs = {}}, "x", "")[0].text));
    CompileOptions options{.cpu = "gfx1100", .level = "2"};
    options.llc_arguments = {"-start-after=twoaddressinstruction", "-stop-after=machine-cp"};
    const auto compiled = compile(find_tools(""), path, "greedy", options);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
    const std::vector<DumpPair> pairs = pair_dumps(compiled->file, {"machine-cp"});
    ASSERT_FALSE(pairs.empty());
    const auto mapped = map_pair(compiled->file.tables, *pairs.back().before, *pairs.back().after);
    ASSERT_TRUE(mapped.has_value()) << mapped.error().message;
    EXPECT_EQ(ir::print(asked->runs.back().after), ir::print(ir::parse(mapped->after, "file")->functions[0]));
  }
}

TEST_F(LlvmDuelist, FilesOfACaseAreForLlvm) {
  const auto allocator = make_llvm_allocator("llvm:fast@x86_64", {});
  ASSERT_TRUE(allocator.has_value()) << allocator.error();
  const duel::Case c = duel::derive_case(1, 30);
  const auto files =
      (*allocator)
          ->own_files(c.program, *c.target, {.limits = c.limits, .knobs = {{"stress-regalloc", "6"}}}, "found/a", "memcheck/x: y");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].suffix, ".mir");
  EXPECT_THAT(files[0].text, StartsWith("# memcheck/x: y\n# "));
  EXPECT_THAT(files[0].text, HasSubstr(" -stress-regalloc=6 found/a.mir -dump dump.json && regduel llvm dump.json\n"));
  EXPECT_THAT(files[1].text, EndsWith("! regduel llvm \"$dump\"\n"));
}

}  // namespace
}  // namespace regduel::llvm
