#include "passes/frequency.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes {
namespace {

ir::Function program(const std::string& blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 P pred\n" + blocks);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}
std::vector<std::uint64_t> frequencies(const std::string& blocks) {
  const ir::Function f = program(blocks);
  return block_frequencies(f, ir::Cfg(f));
}

TEST(Frequency, ALoopInALoop) {
  EXPECT_EQ(frequencies("block b0\n#0 %0 = p 0\n#1 bra -> b1\n"
                        "block b1\n#2 cbra %0 -> b2, b4\n"
                        "block b2\n#3 cbra %0 -> b2, b3\n"
                        "block b3\n#4 bra -> b1\n"
                        "block b4\n#5 exit\n"
                        "block b5\n#6 bra -> b5\n"),
            (std::vector<std::uint64_t>{1, 10, 100, 10, 1, 1}));
}

TEST(Frequency, ALoopOfTwoEntriesCounts) {
  EXPECT_EQ(frequencies("block b0\n#0 %0 = p 0\n#1 cbra %0 -> b1, b2\n"
                        "block b1\n#2 cbra %0 -> b2, b3\n"
                        "block b2\n#3 cbra %0 -> b1, b3\n"
                        "block b3\n#4 exit\n"),
            (std::vector<std::uint64_t>{1, 10, 10, 1}));
}

TEST(Frequency, WhatIsGivenCounts) {
  EXPECT_EQ(frequencies("block b0 depth 3\n#0 %0 = p 0\n#1 bra -> b1\n"
                        "block b1 freq 7 depth 2\n#2 cbra %0 -> b1, b2\n"
                        "block b2 freq 5000000000\n#3 bra -> b3\n"
                        "block b3 depth 30\n#4 exit\n"),
            (std::vector<std::uint64_t>{1000, 7, kHighestFrequency, kHighestFrequency}));
}

TEST(Frequency, ALoopOntoTheEntry) {
  EXPECT_EQ(frequencies("block b0\n#0 %0 = p 0\n#1 cbra %0 -> b0, b1\nblock b1\n#2 exit\n"), (std::vector<std::uint64_t>{10, 1}));
}

TEST(Frequency, DepthsAreGivenOrFound) {
  const ir::Function f = program(
      "block b0\n#0 %0 = p 0\n#1 bra -> b1\n"
      "block b1\n#2 cbra %0 -> b1, b2\n"
      "block b2 freq 7\n#3 cbra %0 -> b2, b3\n"
      "block b3 depth 30\n#4 exit\n");
  EXPECT_EQ(loop_depths(f, ir::Cfg(f)), (std::vector<int>{0, 1, 1, 30}));
}

}  // namespace
}  // namespace regduel::passes
