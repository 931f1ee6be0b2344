#include "passes/loop_depth.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes {
namespace {

std::vector<int> depths(const std::string& blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 P pred\n" + blocks);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? loop_depths(module->functions[0], ir::Cfg(module->functions[0])) : std::vector<int>();
}

TEST(LoopDepth, CountsTheLoopsAroundABlock) {
  EXPECT_THAT(depths("  block b0\n    #0 bra -> b1\n  block b1\n    #1 bra -> b2\n  block b2\n    #2 cbra %0 -> b2, b3\n"
                     "  block b3\n    #3 cbra %0 -> b1, b4\n  block b4\n    #4 exit\n"),
              testing::ElementsAre(0, 1, 2, 1, 0));
}

TEST(LoopDepth, WhatTheProgramSaysGoesFirst) {
  EXPECT_THAT(depths("  block b0\n    #0 bra -> b1\n  block b1 depth 7\n    #1 cbra %0 -> b1, b2\n  block b2\n    #2 exit\n"),
              testing::ElementsAre(0, 7, 0));
}

TEST(LoopDepth, TwoEntriesMakeNoNaturalLoopAndUnreachableBlocksNone) {
  EXPECT_THAT(depths("  block b0\n    #0 cbra %0 -> b1, b2\n  block b1\n    #1 cbra %0 -> b2, b3\n  block b2\n    #2 bra -> b1\n"
                     "  block b3\n    #3 exit\n  block b4\n    #4 bra -> b4\n"),
              testing::ElementsAre(0, 0, 0, 0, 0));
}

TEST(LoopDepth, TheEntryMayBeALoop) {
  EXPECT_THAT(depths("  block b0\n    #0 cbra %0 -> b0, b1\n  block b1\n    #1 exit\n"), testing::ElementsAre(1, 0));
}

}  // namespace
}  // namespace regduel::passes
