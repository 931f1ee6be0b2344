#include "passes/nvptx/block_frequency.h"

#include <gmock/gmock.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> frequencies(const std::string& blocks) {
  const ir::Function f = testing::program("  vreg %0 P pred\n" + blocks);
  return block_frequencies(f, ir::Cfg(f));
}

TEST(BlockFrequency, TenToTheDepthOfTheLoop) {
  EXPECT_THAT(frequencies("  block b0\n    #0 bra -> b1\n  block b1\n    #1 bra -> b2\n  block b2\n    #2 cbra %0 -> b2, b3\n"
                          "  block b3\n    #3 cbra %0 -> b1, b4\n  block b4\n    #4 exit\n"),
              ElementsAre(1, 10, 100, 10, 1));
}

TEST(BlockFrequency, WhatTheProgramSaysComesFirst) {
  EXPECT_THAT(frequencies("  block b0 freq 7\n    #0 bra -> b1\n  block b1 depth 3\n    #1 cbra %0 -> b1, b2\n  block b2 depth "
                          "1000\n    #2 exit\n"),
              ElementsAre(7, 1000, 1'000'000'000));
}

TEST(BlockFrequency, ALoopOfTwoEntriesCountsForTheFirst) {
  EXPECT_THAT(
      frequencies("  block b0\n    #0 cbra %0 -> b1, b2\n  block b1\n    #1 bra -> b2\n  block b2\n    #2 cbra %0 -> b1, b3\n"
                  "  block b3\n    #3 exit\n"),
      ElementsAre(1, 10, 10, 1));
}

}  // namespace
}  // namespace regduel::passes::nvptx
