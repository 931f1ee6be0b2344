// Graphviz out, as a golden file: labels of both kinds of branch, an edge block, escaped characters.

#include "ir/text/dot.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

constexpr std::string_view kProgram = R"(rir 1
func @"a|b" kernel target sm_90 threads 128 allocated
  frame local 4 shared 0
  vreg %0 R b32
  vreg %1 P pred
  slot 0 local size 4 align 4 offset 0
  block b0 depth 0
    #0 R0 = ld.param "{in}" !read !readonly
    #1 P0 = setp.lt R0, 8
    +9 spill R0, slot 0
    #2 @!P0 R0 = const -1
    #3 cbra P0 -> b1, b2
  block b1 depth 1
    #4 bar<bar.sync> 0 !convergent
    #5 mbra R0 -> b1, b2, b2
  block b2
    #6 st.global "a<b>\\c", R0 !write
    #7 exit
  block b3 edge b1 -> b2
    +10 R0 = refill slot 0
    +11 bra -> b2
)";

TEST(Dot, GoldenGraphOfAnAllocatedProgram) {
  const auto module = parse(kProgram);
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  expect_golden("ir/text/testdata/example.dot", to_dot(module->functions.at(0)));
}

}  // namespace
}  // namespace regduel::ir
