#include "passes/llvm/live_intervals.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes::llvm {
namespace {

constexpr const char* kVRegs = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 P pred\n  vreg %4 R b64\n";

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
  for (const auto& [begin, s] : intervals.of(ir::VRegId(root)).segments)
    text += fmt::format("{}[{}.{},{}.{})={}", text.empty() ? "" : " ", begin / 4, begin % 4, s.end / 4, s.end % 4, s.value);
  return text;
}

TEST(LiveIntervals, FromTheDefToTheLastUse) {
  const std::string blocks = "  block b0\n    #0 %0 = ld\n    #1 %1 = add %0\n    #2 st %0 !write\n    #3 exit\n";
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.2)=0");
  EXPECT_EQ(segments(blocks, 1), "[2.2,2.3)=1") << "nobody reads it";
}

TEST(LiveIntervals, AnEarlyClobberDefBeginsBeforeTheUsesEnd) {
  const std::string blocks = "  block b0\n    #0 %0 = ld\n    #1 %1{early} = op %0, %2\n    #2 st %1 !write\n    #3 exit\n";
  EXPECT_EQ(segments(blocks, 1), "[2.1,3.2)=1");
  EXPECT_EQ(segments(blocks, 2), "[2.0,2.2)=3") << "undefined, but read beside it";
}

TEST(LiveIntervals, ACopyHasTheValueOfItsSource) {
  const std::string blocks =
      "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %2 = copy %1\n    #3 st %2 !write\n    #4 exit\n";
  EXPECT_EQ(segments(blocks, 2), "[3.2,4.2)=0");
}

TEST(LiveIntervals, AGuardedDefReadsTheOldValueAndMakesANewOne) {
  const std::string blocks =
      "  block b0\n    #0 %0, %3 = ld\n    #1 %1 = ld\n    #2 @%3 %1 = copy %0\n    #3 st %1 !write\n    #4 exit\n";
  EXPECT_EQ(segments(blocks, 1), "[2.2,3.2)=2 [3.2,4.2)=3");
}

TEST(LiveIntervals, WhereValuesMeetTheHeadOfTheBlockHasAnother) {
  const std::string blocks =
      "  block b0\n    #0 %0, %3 = ld\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = ld\n    #3 bra -> b2\n"
      "  block b2\n    #4 st %0 !write\n    #5 exit\n";
  // Two values of defs of b0, one of b1, and that of the head of b2.
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.0)=0 [4.2,6.0)=2 [6.0,7.2)=3");
}

TEST(LiveIntervals, WhereOnlyCopiesOfOneValueMeetTheHeadHasThatValue) {
  const std::string blocks =
      "  block b0\n    #0 %1, %3 = ld\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = copy %1\n    #3 bra -> b3\n"
      "  block b2\n    #4 %0 = copy %1\n    #5 bra -> b3\n  block b3\n    #6 st %0 !write\n    #7 exit\n";
  EXPECT_EQ(segments(blocks, 0), "[4.2,6.0)=0 [7.2,10.2)=0");
}

TEST(LiveIntervals, APhiOfOneValueIsACopyAndReadsAtTheEndOfThePredecessor) {
  const std::string blocks =
      "  block b0\n    #0 %0, %3 = ld\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0, b1: %1\n"
      "    #3 cbra %3 -> b1, b2\n  block b2\n    #4 st %1 !write\n    #5 exit\n";
  EXPECT_EQ(segments(blocks, 0), "[1.2,3.0)=0");
  EXPECT_EQ(segments(blocks, 1), "[3.2,6.2)=0");
}

TEST(LiveIntervals, AnUndefinedPathMakesAnotherValue) {
  const std::string blocks =
      "  block b0\n    #0 %3 = ld\n    #1 cbra %3 -> b1, b2\n  block b1\n    #2 %0 = ld\n    #3 bra -> b2\n"
      "  block b2\n    #4 st %0 !write\n    #5 exit\n";
  EXPECT_EQ(segments(blocks, 0), "[4.2,6.0)=1 [6.0,7.2)=2");
}

TEST(LiveIntervals, ADefOfAPartKeepsTheRest) {
  EXPECT_EQ(segments("  block b0\n    #0 %4 = ld\n    #1 %4.lo = ld\n    #2 st %4 !write\n    #3 exit\n", 4),
            "[1.2,2.2)=0 [2.2,3.2)=1");
}

}  // namespace
}  // namespace regduel::passes::llvm
