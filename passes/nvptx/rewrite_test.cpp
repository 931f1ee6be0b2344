#include "passes/nvptx/rewrite.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

std::string rewritten(const std::string& body, ir::Fuel* fuel = nullptr) {
  const ir::Function f = testing::program(body);
  Coalescer coalescer(f, {});
  coalescer.run();
  const std::string text = ir::print(rewrite(f, coalescer, fuel));
  return text.substr(text.find("block b0\n") + 9);
}

TEST(Rewrite, AliasesAndPartsBecomePartsOfTheOtherRoot) {
  EXPECT_EQ(rewritten("  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b16 alias %1.h1\n  vreg %3 R b32 alias %1\n  block b0\n    #0 "
                      "%0 = ld\n    #1 %1 = copy %0\n"
                      "    #2 st %2, %3, %1.b0 !write\n    #3 exit\n"),
            "    #0 %0 = ld\n    #2 st %0.hi, %0, %0.b0 !write\n    #3 exit\n");
}

TEST(Rewrite, AParallelCopyGoesWhereAllItsPairsDo) {
  EXPECT_EQ(rewritten(testing::words(4) +
                      "  block b0\n    #0 %0, %1 = ld\n    #1 %2, %3 = copy %0, %1\n    #2 st %2, %3 !write\n    #3 exit\n"),
            "    #0 %0, %1 = ld\n    #2 st %0, %1 !write\n    #3 exit\n");
  EXPECT_EQ(rewritten("  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 R f32\n  block b0\n    #0 %0, %1 = ld\n    #1 "
                      "%2, %3 = copy %0, %1\n"
                      "    #2 st %2, %3 !write\n    #3 exit\n"),
            "    #0 %0, %1 = ld\n    #1 %0, %3 = copy %0, %1\n    #2 st %0, %3 !write\n    #3 exit\n");
}

TEST(Rewrite, OfTwoPhisThatWriteOneRootTheLastStays) {
  const std::string body =
      "    #0 %0, %1 = op\n    #1 bra -> b1\n  block b1\n    #2 %2 = phi b0: %0\n    #3 %2 = phi b0: %3\n    #4 st %2 !write\n    "
      "#5 exit\n";
  EXPECT_EQ(
      rewritten("  vreg %0 R b32\n  vreg %1 R b64\n  vreg %2 R b32 alias %1.hi\n  vreg %3 R b32 alias %2\n  block b0\n" + body),
      body);
}

TEST(Rewrite, WhatHadNothingToDoAsksTheFuel) {
  const std::string body =
      testing::words(1) + "  block b0\n    #0 %0 = ld\n    #1 %0 = copy %0\n    #2 st %0 !write\n    #3 exit\n";
  EXPECT_EQ(rewritten(body), "    #0 %0 = ld\n    #2 st %0 !write\n    #3 exit\n");
  ir::Fuel none{.limit = 0};
  EXPECT_EQ(rewritten(body, &none), "    #0 %0 = ld\n    #1 %0 = copy %0\n    #2 st %0 !write\n    #3 exit\n");
  EXPECT_EQ(none.refused, "leave-out-identity");
}

}  // namespace
}  // namespace regduel::passes::nvptx
