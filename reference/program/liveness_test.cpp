#include "reference/program/liveness.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Phases;

TEST(Liveness, AroundALoop) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = const 1
#1 %1 = const 2
#2 bra -> b1
block b1
#3 %1 = add %1, %0
#4 %2 = setp %1
#5 cbra %2 -> b1, b2
block b2
#6 st %1 !write
#7 exit
)");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
  EXPECT_THAT(p.liveness.live_out(1), ElementsAre(0u, 1u));
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(1u));
  EXPECT_THAT(p.liveness.live_in(0), IsEmpty());
}

TEST(Liveness, AFirstGuardedDefDoesNotReachBackToTheEntry) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 P pred
block b0
#0 %1 = setp 1
#1 bra -> b1
block b1
#2 @%1 %0 = const 1
#3 bra -> b2
block b2
#4 st %0 !write
#5 exit
)");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(1u));
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(0u));
}

TEST(Liveness, ASecondGuardedDefDoesNotKill) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 P pred
block b0
#0 %1 = setp 1
#1 %0 = const 3
#2 bra -> b1
block b1
#3 @%1 %0 = const 1
#4 st %0 !write
#5 exit
)");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
}

TEST(Liveness, ADefOfAPartDoesNotKill) {
  const Phases p(
      R"(vreg %0 R b64
block b0
#0 %0.lo = const 3
#1 bra -> b1
block b1
#2 %0.hi = const 1
#3 st %0 !write
#4 exit
)");
  EXPECT_THAT(p.liveness.live_in(0), IsEmpty());
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u));
}

TEST(Liveness, AValueWhosePartsAreAllDefinedAnewIsDeadBefore) {
  const Phases p(
      R"(vreg %0 R b64
block b0
#0 %0 = const 3
#1 st %0 !write
#2 bra -> b1
block b1
#3 %0.hi = const 1
#4 bra -> b2
block b2
#5 %0.lo = const 2
#6 st %0 !write
#7 exit
)");
  EXPECT_THAT(p.liveness.live_out(0), IsEmpty());
  EXPECT_THAT(p.liveness.live_in(2), ElementsAre(0u)) << "its high half";
}

TEST(Liveness, AGuardedDefOfAPartKillsNothing) {
  const Phases p(
      R"(vreg %0 R b64
vreg %1 P pred
block b0
#0 %1 = setp 1
#1 %0 = const 3
#2 bra -> b1
block b1
#3 %0.hi = const 1
#4 @%1 %0.lo = const 2
#5 st %0 !write
#6 exit
)");
  EXPECT_THAT(p.liveness.live_in(1), ElementsAre(0u, 1u));
}

// After #3 only the high half of %0 lives, before #1 nothing does.
TEST(Liveness, InsideABlockByBytesToo) {
  Phases p(
      R"(vreg %0 R b64
block b0
#0 %0 = const 3
#1 st %0 !write
#2 %0.lo = const 1
#3 st %0.lo !write
#4 %0.hi = const 2
#5 st %0.hi !write
#6 exit
)");
  std::vector<std::uint32_t> live_after;
  p.liveness.walk(0, [&](std::uint32_t i, const LiveSet& live) {
    if (live.contains(0)) live_after.push_back(i);
    return true;
  });
  EXPECT_THAT(live_after, ElementsAre(4u, 2u, 0u));
}

TEST(Liveness, UnreachableBlocksHaveNothingLive) {
  const Phases p(
      R"(vreg %0 R b32
block b0
#0 exit
block b1
#1 %0 = const 1
#2 bra -> b2
block b2
#3 st %0 !write
#4 bra -> b1
)");
  EXPECT_THAT(p.liveness.live_out(1), IsEmpty());
}

}  // namespace
}  // namespace regduel::reference
