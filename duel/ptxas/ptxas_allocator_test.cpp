#include "duel/ptxas/ptxas_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/io.h"
#include "duel/duel.h"
#include "duel/ptxas/ptxas.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kOutput = R"(ptxas info    : Overriding maximum register limit 256 for 'calls' with  32 of maxrregcount option
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'calls' for 'sm_90'
ptxas info    : Function properties for calls
    56 bytes stack frame, 156 bytes spill stores, 152 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 56 bytes cumulative stack size
ptxas info    : Compile time = 434.883 ms
ptxas info    : Function properties for better
    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
)";

TEST(Ptxas, FiguresOfItsLines) {
  const auto all = figures_of_ptxas(kOutput);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].function, "calls");
  EXPECT_EQ(all[0].registers, 32);
  EXPECT_EQ(all[0].stack_bytes, 56);
  EXPECT_EQ(all[0].store_bytes, 156);
  EXPECT_EQ(all[0].load_bytes, 152);
  EXPECT_DOUBLE_EQ(all[0].milliseconds, 434.883);
  EXPECT_EQ(all[1].function, "better");
  EXPECT_EQ(all[1].registers, -1);
  EXPECT_EQ(all[1].load_bytes, 12);
  EXPECT_TRUE(figures_of_ptxas("").empty());
}

constexpr std::string_view kProgram = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = ld.global 4 !read
    #1 st.global %0 !write
    #2 exit
)";

// A program in the place of ptxas.
class PtxasStub : public ::testing::Test {
 protected:
  explicit PtxasStub() { std::filesystem::create_directories(folder_); }
  ~PtxasStub() override { std::filesystem::remove_all(folder_); }

  Bout bout(const std::string& script, int registers = 32) {
    const std::string program = (folder_ / "ptxas").string();
    EXPECT_TRUE(write_file(program, "#!/bin/sh\n" + script));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const PtxasAllocator ptxas(program);
    const auto m = ir::parse(std::string(kProgram));
    EXPECT_TRUE(m.has_value());
    Case c{ir::find_target("sm_90"), ir::Limits::of(*ir::find_target("sm_90")), {}, m->functions[0]};
    c.limits.units[ir::index(ir::RegFile::R)] = registers;
    const std::array<const ir::Allocator*, 2> both = {find_allocator("fatpoint"), &ptxas};
    return duel(c, {.duelists = both}).bouts[1];
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("regduel-ptxas-test-" + std::to_string(::getpid()));
};

constexpr const char* kFigures =
    "echo \"ptxas info    : Compiling entry function 'f' for 'sm_90'\"\necho 'ptxas info    : Function properties for f'\n"
    "echo '    16 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads'\necho 'ptxas info    : Used 30 registers'\n";

TEST_F(PtxasStub, ItsFiguresAreThoseOfADuelist) {
  const Bout b = bout(kFigures);
  EXPECT_EQ(b.verdict(), oracles::Verdict::Pass);
  EXPECT_TRUE(b.is_figures_only);
  EXPECT_FALSE(b.program.has_value());
  EXPECT_EQ(b.registers(), 30);
  EXPECT_EQ(b.measures.spill_store_bytes, 4);
  EXPECT_EQ(b.measures.spill_load_bytes, 12);
  EXPECT_EQ(b.measures.local_frame_bytes, 16);
  EXPECT_EQ(b.measures.weighted_spill_bytes, std::nullopt);
  EXPECT_EQ(b.measures.max_live[0], 1);
  EXPECT_GT(b.measures.warps_per_sm, 0);
}

TEST_F(PtxasStub, AFloorThatNobodyElseHasIsNoted) {
  const Bout b = bout(
      "echo 'ptxas fatal   : (C7602) Insufficient registers (24). Try to compile with register target of 28 or higher.'\nexit "
      "255\n");
  EXPECT_EQ(b.verdict(), oracles::Verdict::Skipped);
  EXPECT_EQ(b.unsupported, "ptxas needs 28 registers for one instruction (C7602)");
  EXPECT_THAT(b.notes, ElementsAre(HasSubstr("refuses at 32 registers what fatpoint allocates")));
}

TEST_F(PtxasStub, WhatItDoesWrongIsAFinding) {
  EXPECT_THAT(bout("kill -SEGV $$\n").signatures(), ElementsAre("harness/broken-crash-SIGSEGV"));
  EXPECT_THAT(bout("kill -XCPU $$\n").signatures(), ElementsAre("harness/broken-hang"));
  EXPECT_THAT(bout("echo 'ptxas fatal   : Internal error: x'; exit 255\n").signatures(),
              ElementsAre("harness/broken-internal-error"));
  EXPECT_THAT(bout("echo 'ptxas info : news'; echo 'ptxas a.ptx, line 3; error : Parsing error'; exit 255\n").signatures(),
              ElementsAre("harness/broken-refused"));
}

TEST_F(PtxasStub, NothingComparableIsUnsupported) {
  EXPECT_EQ(bout(kFigures, 23).unsupported, "ptxas takes 24 registers at least");
}

TEST_F(PtxasStub, AFindingHasThePtxAndTheCommand) {
  const auto m = ir::parse(std::string(kProgram));
  ASSERT_TRUE(m.has_value());
  const PtxasAllocator ptxas("ptxas");
  ir::AllocOptions options;
  options.limits = ir::Limits::of(*ir::find_target("sm_90"));
  const auto files = ptxas.own_files(m->functions[0], *ir::find_target("sm_90"), options, "found/a", "harness/broken-hang: x");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].suffix, ".ptx");
  EXPECT_THAT(files[0].text,
              ::testing::StartsWith(
                  "// harness/broken-hang: x\n// ptxas -v -arch=sm_90 -O3 --maxrregcount=255 -o /dev/null found/a.ptx\n.version"));
}

}  // namespace
}  // namespace regduel::duel
