#include "allocator/program/liveness.h"

#include <gmock/gmock.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

std::vector<Interval> range(const ir::Function& f, std::size_t v) {
  const Liveness live(f, ir::Cfg(f));
  return {live.range(v).begin(), live.range(v).end()};
}
Interval interval(std::uint32_t begin, std::uint32_t end) { return {Point(begin), Point(end)}; }
ir::Function rooted(std::string_view body) { return out_of_ssa(testing::program(body)); }

TEST(Liveness, FromWriteToLastRead) {
  const auto f = rooted(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = neg %0
      #2 st %0 !write
      #3 exit
)");
  EXPECT_THAT(range(f, 0), ElementsAre(interval(2, 9)));
  EXPECT_THAT(range(f, 1), ElementsAre(interval(6, 7)));  // dead, but written somewhere
}

TEST(Liveness, DefUseLeavesRoomForClobbers) {
  const auto f = rooted(R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 %0{inout} = acc clobbers R0
      #2 st %0 !write
      #3 exit
)");
  EXPECT_THAT(range(f, 0), ElementsAre(interval(2, 5), interval(6, 9)));
}

TEST(Liveness, GuardedDefDoesNotKillButHasAHoleAtItsClobbers) {
  const auto f = rooted(testing::kGuardedDef);
  EXPECT_THAT(range(f, 0), ElementsAre(interval(2, 9), interval(10, 13)));
}

TEST(Liveness, FirstGuardedDefBeginsTheRange) {
  const auto f = rooted(R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %1 = isetp 0
      #1 cbra %1 -> b1, b1
    block b1
      #2 @%1 %0 = ld 1
      #3 st %0 !write
      #4 cbra %1 -> b2, b2
    block b2
      #5 exit
)");
  EXPECT_THAT(range(f, 0), ElementsAre(interval(8, 9), interval(10, 13)));
}

TEST(Liveness, PartsKillTheirBytesAndKeepTheOthersThroughClobbers) {
  const auto f = rooted(R"(
    vreg %0 R b64
    block b0
      #0 %0.lo = ld 0
      #1 %0.hi = ld 1
      #2 st %0 !write
      #3 %0.lo = ld 2
      #4 %0.hi = ld 3
      #5 st %0.hi !write
      #6 exit
)");
  // #3 is dead; between #2 and #3 nothing is live.
  EXPECT_THAT(range(f, 0), ElementsAre(interval(0, 9), interval(12, 15), interval(16, 21)));
}

TEST(Liveness, EarlyClobberHoldsItsRegisterWhileUsesAreRead) {
  const auto f = rooted(R"(
    vreg %0 R b32
    block b0
      #0 %0{early} = ld 0
      #1 st %0 !write
      #2 exit
)");
  EXPECT_THAT(range(f, 0), ElementsAre(interval(0, 1), interval(2, 5)));
}

TEST(Liveness, UndefinedUseIsNoMoreThanAMoment) {
  const auto f = rooted(R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %1 = isetp 0
      #1 cbra %1 -> b1, b2
    block b1
      #2 %0 = ld 0
      #3 bra -> b2
    block b2
      #4 st %0 !write
      #5 exit
    block b3
      #6 st %0 !write
      #7 exit
)");
  const Liveness live(f, ir::Cfg(f));
  // Live from #2 to #4: on the other path nothing reaches.
  EXPECT_EQ(live.number_of(6), Liveness::kUnnumbered);
  const auto fixed = rooted("vreg %0 R b32\nblock b0\n#0 nop\n#1 st %0 !write\n#2 exit\n");
  EXPECT_THAT(range(fixed, 0), ElementsAre(interval(4, 5)));
}

TEST(Liveness, AroundALoop) {
  const auto f = rooted(R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = isetp %0
      #3 cbra %1 -> b1, b2
    block b2
      #4 exit
)");
  EXPECT_THAT(range(f, 0), ElementsAre(interval(2, 16)));
}

TEST(Liveness, Overlap) {
  const std::vector<Interval> a = {interval(0, 4), interval(10, 12)}, b = {interval(4, 10), interval(12, 20)},
                              c = {interval(11, 12)};
  EXPECT_FALSE(overlap(a, b));
  EXPECT_TRUE(overlap(a, c));
  EXPECT_FALSE(overlap(b, c));
}

}  // namespace
}  // namespace regduel::allocator
