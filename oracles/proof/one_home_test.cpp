// Which allocations keep each value in one home.

#include "oracles/proof/one_home.h"

#include <fmt/format.h>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::HasSubstr;

constexpr const char* kVregs = "  vreg %0..%3 R b32\n  vreg %4 P pred\n";

std::string why_not(const std::string& blocks) {
  const std::string text = "func @f kernel target sm_90 threads 32\n" + std::string(kVregs) + blocks;
  const testing::Functions both = testing::parse_both(text);
  return why_not_in_one_home(Before(both.before, *ir::find_target(both.before.target)), both.after);
}

TEST(OneHome, CopiesWithinOneHome) {
  EXPECT_EQ(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = copy %0 | copy !deleted
    #2 %2 = copy %1 | copy !deleted
    #3 st %0, %2 !write | st R0, R0 !write
    #4 exit
)"),
            "");
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = copy %0 | R1 = copy R0
    #2 %2 = copy %1 | copy !deleted
    #3 st %0, %1 !write | st R0, R1 !write
    #4 st %2 !write | st R0 !write
    #5 exit
)"),
              HasSubstr("a copy between two homes is deleted"));
}

TEST(OneHome, ADeadCopyNeedsNoHome) {
  EXPECT_EQ(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = copy %0 | copy !deleted
    #2 %1 = ld | R0 = ld
    #3 st %1 !write | st R0 !write
    #4 exit
)"),
            "");
}

// %0 comes back into its home by a copy of its copy.
TEST(OneHome, NoHomeIsOverwrittenWhileItsValueIsLive) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = copy %0 | R1 = copy R0
    #2 %2 = ld | R0 = ld
    #3 st %2 !write | st R0 !write
    #4 %3 = copy %1 | R0 = copy R1
    #5 st %0, %3 !write | st R0, R0 !write
    #6 exit
)"),
              HasSubstr("is written where %0 is live"));
}

// %1 has no operand after allocation, but as a value of the program it would need an aligned home.
TEST(OneHome, AHomeByDeletedCopiesIsAligned) {
  const auto why_not_at = [](std::string_view home) {
    const testing::Functions both = testing::parse_both(fmt::format(R"(func @f kernel target sm_90 threads 32
  vreg %0 R b64 align 1
  vreg %1 R b64
  block b0
    #0 %0 = ld | {0} = ld
    #1 %1 = copy %0 | copy !deleted
    #2 %0 = copy %1 | copy !deleted
    #3 st %0 !write | st {0} !write
    #4 exit
)",
                                                                    home));
    return why_not_in_one_home(Before(both.before, *ir::find_target(both.before.target)), both.after);
  };
  EXPECT_EQ(why_not_at("R2:R3"), "");
  EXPECT_THAT(why_not_at("R1:R2"), HasSubstr("%1 cannot stand in the home"));
}

TEST(OneHome, ThereIsOneHomeAndNothingIsSpilled) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    +9 R1 = copy R0
    #1 st %0 !write | st R1 !write
    #2 exit
)"),
              HasSubstr("a copy is inserted in the midst of a block"));
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = copy %0 | R1 = copy R0
    #2 %1 = ld | R2 = ld
    #3 st %1 !write | st R2 !write
    #4 exit
)"),
              HasSubstr("%1 stands in two homes"));
}

TEST(OneHome, MovesOfPhis) {
  const auto with_moves =
      [](const std::string& in_b1, const std::string& in_b2) {
        return R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %1 = ld | R1 = ld
    #2 %4 = setp | P0 = setp
    #3 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b1
)" + in_b1 + R"(    #4 bra -> b3
  block b2
)" + in_b2 + R"(    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %0, b2: %1 | phi !deleted
    #7 st %2, %1 !write | st R0, R1 !write
    #8 exit
)";
      };
  EXPECT_EQ(why_not(with_moves("", "    +9 R0 = copy R1\n")), "");
  EXPECT_THAT(why_not(with_moves("    +10 R2 = copy R0\n", "    +9 R0 = copy R1\n")), HasSubstr("moves no phi"));
}

TEST(OneHome, AValueIsLiveAroundALoop) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 bra -> b1
  block b1
    #2 st %0 !write | st R0 !write
    #3 %1 = ld | R0 = ld
    #4 %4 = setp %1 | P0 = setp R0
    #5 cbra %4 -> b1, b2 | cbra P0 -> b1, b2
  block b2
    #6 exit
)"),
              HasSubstr("%1 is written where %0 is live"));
}

// All judges pass it, since %1 has no value where the guard does not hold. But the demand of the instruction is two registers.
TEST(OneHome, AGuardedDefHoldsItsHomeWhileItsInstructionReads) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 %4 = setp | P0 = setp
    #2 @%4 %1 = add %0 | @P0 R0 = add R0
    #3 @%4 st %1 !write | @P0 st R0 !write
    #4 exit
)"),
              HasSubstr("stands where its instruction reads another value"));
}

TEST(OneHome, ClobbersWriteToo) {
  EXPECT_THAT(why_not(R"(
  block b0
    #0 %0 = ld | R0 = ld
    #1 call "g" clobbers R0
    #2 st %0 !write | st R0 !write
    #3 exit
)"),
              HasSubstr("%0 is clobbered where it is live"));
}

}  // namespace
}  // namespace regduel::oracles
