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
  EXPECT_EQ(rewritten(R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b16 alias %1.h1
  vreg %3 R b32 alias %1
  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 st %2, %3, %1.b0 !write
    #3 exit
)"),
            R"(    #0 %0 = ld
    #2 st %0.hi, %0, %0.b0 !write
    #3 exit
)");
}

TEST(Rewrite, AParallelCopyGoesWhereAllItsPairsDo) {
  EXPECT_EQ(rewritten(testing::words(4) +
                      R"(  block b0
    #0 %0, %1 = ld
    #1 %2, %3 = copy %0, %1
    #2 st %2, %3 !write
    #3 exit
)"),
            R"(    #0 %0, %1 = ld
    #2 st %0, %1 !write
    #3 exit
)");
  EXPECT_EQ(rewritten(R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R f32
  block b0
    #0 %0, %1 = ld
    #1 %2, %3 = copy %0, %1
    #2 st %2, %3 !write
    #3 exit
)"),
            R"(    #0 %0, %1 = ld
    #1 %0, %3 = copy %0, %1
    #2 st %0, %3 !write
    #3 exit
)");
}

TEST(Rewrite, OfTwoPhisThatWriteOneRootTheLastStays) {
  const std::string body =
      R"(    #0 %0, %1 = op
    #1 bra -> b1
  block b1
    #2 %2 = phi b0: %0
    #3 %2 = phi b0: %3
    #4 st %2 !write
    #5 exit
)";
  EXPECT_EQ(rewritten(R"(  vreg %0 R b32
  vreg %1 R b64
  vreg %2 R b32 alias %1.hi
  vreg %3 R b32 alias %2
  block b0
)" + body),
            body);
}

TEST(Rewrite, WhatHadNothingToDoAsksTheFuel) {
  const std::string body = testing::words(1) + R"(  block b0
    #0 %0 = ld
    #1 %0 = copy %0
    #2 st %0 !write
    #3 exit
)";
  EXPECT_EQ(rewritten(body), R"(    #0 %0 = ld
    #2 st %0 !write
    #3 exit
)");
  ir::Fuel none{.limit = 0};
  EXPECT_EQ(rewritten(body, &none), R"(    #0 %0 = ld
    #1 %0 = copy %0
    #2 st %0 !write
    #3 exit
)");
  EXPECT_EQ(none.refused, "leave-out-identity");
}

}  // namespace
}  // namespace regduel::passes::nvptx
