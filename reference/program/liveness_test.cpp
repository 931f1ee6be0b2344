#include "reference/program/liveness.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Phases;

TEST(Liveness, AroundALoop) {
  const Phases p(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 P pred\nblock b0\n#0 %0 = const 1\n#1 %1 = const 2\n#2 bra -> b1\n"
      "block b1\n#3 %1 = add %1, %0\n#4 %2 = setp %1\n#5 cbra %2 -> b1, b2\nblock b2\n#6 st %1 !write\n#7 exit\n");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
  EXPECT_THAT(p.liveness.live_out(1), ElementsAre(0u, 1u));
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(1u));
  EXPECT_THAT(p.liveness.live_in(0), IsEmpty());
}

TEST(Liveness, AFirstGuardedDefDoesNotReachBackToTheEntry) {
  const Phases p(
      "vreg %0 R b32\nvreg %1 P pred\nblock b0\n#0 %1 = setp 1\n#1 bra -> b1\nblock b1\n#2 @%1 %0 = const 1\n#3 bra -> b2\n"
      "block b2\n#4 st %0 !write\n#5 exit\n");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(1u));
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(0u));
}

TEST(Liveness, ASecondGuardedDefDoesNotKill) {
  const Phases p(
      "vreg %0 R b32\nvreg %1 P pred\nblock b0\n#0 %1 = setp 1\n#1 %0 = const 3\n#2 bra -> b1\nblock b1\n#3 @%1 %0 = const 1\n"
      "#4 st %0 !write\n#5 exit\n");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
}

TEST(Liveness, ADefOfAPartDoesNotKill) {
  const Phases p(
      "vreg %0 R b64\nblock b0\n#0 %0.lo = const 3\n#1 bra -> b1\nblock b1\n#2 %0.hi = const 1\n#3 st %0 !write\n#4 exit\n");
  EXPECT_THAT(p.liveness.live_in(0), IsEmpty());
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u));
}

TEST(Liveness, AValueWhosePartsAreAllDefinedAnewIsDeadBefore) {
  const Phases p(
      "vreg %0 R b64\nblock b0\n#0 %0 = const 3\n#1 st %0 !write\n#2 bra -> b1\nblock b1\n#3 %0.hi = const 1\n#4 bra -> b2\n"
      "block b2\n#5 %0.lo = const 2\n#6 st %0 !write\n#7 exit\n");
  EXPECT_THAT(p.liveness.live_out(0), IsEmpty());
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(0u)) << "its high half";
}

TEST(Liveness, AGuardedDefOfAPartKillsNothing) {
  const Phases p(
      "vreg %0 R b64\nvreg %1 P pred\nblock b0\n#0 %1 = setp 1\n#1 %0 = const 3\n#2 bra -> b1\nblock b1\n#3 %0.hi = const 1\n"
      "#4 @%1 %0.lo = const 2\n#5 st %0 !write\n#6 exit\n");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
}

// After #3 only the high half of %0 lives, before #1 nothing does.
TEST(Liveness, InsideABlockByBytesToo) {
  Phases p(
      "vreg %0 R b64\nblock b0\n#0 %0 = const 3\n#1 st %0 !write\n#2 %0.lo = const 1\n#3 st %0.lo !write\n#4 %0.hi = const 2\n"
      "#5 st %0.hi !write\n#6 exit\n");
  std::vector<std::uint32_t> live_after;
  p.liveness.walk(0, [&](std::uint32_t i, const LiveSet& live) {
    if (live.contains(0)) live_after.push_back(i);
    return true;
  });
  EXPECT_THAT(live_after, ElementsAre(4u, 2u, 0u));
}

TEST(Liveness, UnreachableBlocksHaveNothingLive) {
  const Phases p(
      "vreg %0 R b32\nblock b0\n#0 exit\nblock b1\n#1 %0 = const 1\n#2 bra -> b2\nblock b2\n#3 st %0 !write\n#4 bra -> b1\n");
  EXPECT_THAT(p.liveness.live_out(1), IsEmpty());
}

}  // namespace
}  // namespace regduel::reference
