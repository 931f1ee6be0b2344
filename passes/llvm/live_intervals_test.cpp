#include "passes/llvm/live_intervals.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes::llvm {
namespace {

constexpr const char* kVRegs = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 R b64
)";

ir::Function parsed(const std::string& blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 1\n" + std::string(kVRegs) + blocks);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}
// "[begin,end)=original ..." of one root: index.slot each, so that b0's head is 0 and its first instruction 1.
std::string segments(const std::string& blocks, std::uint32_t root) {
  const ir::Function f = parsed(blocks);
  const ir::Cfg cfg(f);
  const LiveIntervals intervals(f, cfg);
  std::string text;
  for (const auto& [begin, end, value] : intervals.of(ir::VRegId(root)).segments)
    text += fmt::format("{}[{}.{},{}.{})={}", text.empty() ? "" : " ", begin / 4, begin % 4, end / 4, end % 4, value);
  return text;
}

TEST(LiveIntervals, FromTheDefToTheLastUse) {
  const std::string blocks = R"(  block b0
    #0 %0 = ld
    #1 %1 = add %0
    #2 st %0 !write
    #3 exit
)";
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.2)=0");
  EXPECT_EQ(segments(blocks, 1), "[2.2,2.3)=1") << "nobody reads it";
}

TEST(LiveIntervals, AnEarlyClobberDefBeginsBeforeTheUsesEnd) {
  const std::string blocks = R"(  block b0
    #0 %0 = ld
    #1 %1{early} = op %0, %2
    #2 st %1 !write
    #3 exit
)";
  EXPECT_EQ(segments(blocks, 1), "[2.1,3.2)=1");
  EXPECT_EQ(segments(blocks, 2), "[2.0,2.2)=3") << "undefined, but read beside it";
}

TEST(LiveIntervals, ACopyHasTheValueOfItsSource) {
  const std::string blocks =
      R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = copy %1
    #3 st %2 !write
    #4 exit
)";
  EXPECT_EQ(segments(blocks, 2), "[3.2,4.2)=0");
}

TEST(LiveIntervals, AGuardedDefReadsTheOldValueAndMakesANewOne) {
  const std::string blocks =
      R"(  block b0
    #0 %0, %3 = ld
    #1 %1 = ld
    #2 @%3 %1 = copy %0
    #3 st %1 !write
    #4 exit
)";
  EXPECT_EQ(segments(blocks, 1), "[2.2,3.2)=2 [3.2,4.2)=3");
}

TEST(LiveIntervals, WhereValuesMeetTheHeadOfTheBlockHasAnother) {
  const std::string blocks =
      R"(  block b0
    #0 %0, %3 = ld
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = ld
    #3 bra -> b2
  block b2
    #4 st %0 !write
    #5 exit
)";
  // Two values of defs of b0, one of b1, and that of the head of b2.
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.0)=0 [4.2,6.0)=2 [6.0,7.2)=3");
}

TEST(LiveIntervals, WhereOnlyCopiesOfOneValueMeetTheHeadHasThatValue) {
  const std::string blocks =
      R"(  block b0
    #0 %1, %3 = ld
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = copy %1
    #3 bra -> b3
  block b2
    #4 %0 = copy %1
    #5 bra -> b3
  block b3
    #6 st %0 !write
    #7 exit
)";
  EXPECT_EQ(segments(blocks, 0), "[4.2,6.0)=0 [7.2,10.2)=0");
}

TEST(LiveIntervals, APhiOfOneValueIsACopyAndReadsAtTheEndOfThePredecessor) {
  const std::string blocks =
      R"(  block b0
    #0 %0, %3 = ld
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %1
    #3 cbra %3 -> b1, b2
  block b2
    #4 st %1 !write
    #5 exit
)";
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.0)=0");
  EXPECT_EQ(segments(blocks, 1), "[3.2,6.2)=0");
}

TEST(LiveIntervals, AnUndefinedPathMakesAnotherValue) {
  const std::string blocks =
      R"(  block b0
    #0 %3 = ld
    #1 cbra %3 -> b1, b2
  block b1
    #2 %0 = ld
    #3 bra -> b2
  block b2
    #4 st %0 !write
    #5 exit
)";
  EXPECT_EQ(segments(blocks, 0), "[4.2,6.0)=1 [6.0,7.2)=2");
}

TEST(LiveIntervals, ADefOfAPartKeepsTheRest) {
  EXPECT_EQ(segments(R"(  block b0
    #0 %4 = ld
    #1 %4.lo = ld
    #2 st %4 !write
    #3 exit
)",
                     4),
            "[1.2,2.2)=0 [2.2,3.2)=1");
}

}  // namespace
}  // namespace regduel::passes::llvm
