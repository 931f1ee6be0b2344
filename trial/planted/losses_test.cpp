// Each planted loss on the smallest program that shows it, as `regduel zoo --losses` reduced it: right with it and without, and worse
// with it.
#include <string>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/testing.h"
#include "trial/planted/catalogue.h"

namespace regduel::trial {
namespace {

// Whether the program has the gap of the loss, with and without it.
struct Shown {
  bool with = false, without = false;
};
Shown shown(const std::string& loss, std::string_view head, const std::string& body) {
  const fuzz::Gap gap = *fuzz::parse_gap(find_planted_bug(loss)->gap);
  const duel::Case input = fuzz::case_of(body, head);
  Shown s;
  plant(loss);
  s.with = fuzz::reproduces(input, gap);
  EXPECT_TRUE(fuzz::failures_of(input).empty()) << loss << " makes something wrong";
  plant("");
  s.without = fuzz::reproduces(input, gap);
  return s;
}

void expect_shown(const std::string& loss, std::string_view head, const std::string& body) {
  const Shown s = shown(loss, head, body);
  EXPECT_TRUE(s.with) << loss;
  EXPECT_FALSE(s.without) << loss;
}
void expect_hidden(const std::string& loss, std::string_view head, const std::string& body) {
  EXPECT_FALSE(shown(loss, head, body).with) << loss;
}

class Losses : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  }
};

std::string refills_in_a_block_of(int depth) {
  return R"(  vreg %0 R b32
  vreg %1 R b96
  vreg %2 R b32
  block b0 depth )" +
         std::to_string(depth) + R"(
    #0 %0 = op
    #1 op %1, %0
    #2 op %2, %1
    #3 %2{inout} = op
    #4 bra -> b0
)";
}
TEST_F(Losses, OfRefillsCostColdCodeAlone) {
  constexpr std::string_view kHead = "// limit: R=4\n";
  expect_shown("fatpoint-loss-cold-refills", kHead, refills_in_a_block_of(0));
  expect_hidden("fatpoint-loss-cold-refills", kHead, refills_in_a_block_of(1));
}

std::string spilled_beside(const std::string& type) {
  return "  vreg %0 R b32\n  vreg %1 R b16 align 4\n  vreg %2 R " + type + R"(
  block b0
    #0 %0 = op
    #1 %1 = op
    #2 %2{inout} = op
    #3 op %0
    #4 bra -> b0
)";
}
TEST_F(Losses, OfTuplesCostTuplesAlone) {
  expect_shown("fatpoint-loss-tuples-look-cheap", "// limit: R=5\n", spilled_beside("b128"));
  expect_hidden("fatpoint-loss-tuples-look-cheap", "// limit: R=2\n", spilled_beside("b32"));
}

TEST_F(Losses, OfLoopsShow) {
  expect_shown("fatpoint-loss-loops-look-cold", "// limit: R=25\n", R"(  vreg %0 P pred
  vreg %1 R b32
  block b0
    #0 %0 = op
    #1 @%0 op clobbers R0:R23
    #2 bra -> b1
  block b1
    #3 cbra %0 -> b2, b3
  block b2
    #4 op %1 clobbers P0:P6
    #5 %1 = op
    #6 bra -> b1
  block b3
    #7 cbra %0 -> b0, b3
)");
}

TEST_F(Losses, OfMemoryTooSoonShow) {
  expect_shown("fatpoint-loss-memory-too-soon", "// limit: R=3\n// knob: FatPointLargeProgram=0\n", R"(  vreg %0 R b32
  vreg %1 R b96
  block b0
    #0 %0 = op %0
    #1 %1 = op
    #2 op %1
    #3 bra -> b0
)");
}

TEST_F(Losses, OfRematerialisationShow) {
  expect_shown("fatpoint-loss-nothing-is-recomputed", "// limit: UB=1\n", R"(  vreg %0 UB b32
  vreg %1 UB b32
  block b0
    #0 %0 = op !read !readonly !remat
    #1 %1 = op
    #2 op %0
    #3 exit
)");
}

}  // namespace
}  // namespace regduel::trial
