// What the fast check settles, and where it sends the deep check.

#include <optional>
#include <string>
#include <vector>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckDetails, TheFastCheckSettlesWhatIsRight) {
  const std::vector<Pair> table = {
      {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a | R0 = a
    #1 use %0 | use R0
    #2 exit
)")},
      // a store and a use under the guard of the def, in one block
      {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #1 %0 = a     | R0 = a
    +20           | spill R0, slot 0
    +21           | R5 = copy R9
    #2 @%3 %0 = c | @P0 R5 = c
    +22           | @P0 spill R5, slot 0
    +23           | R0 = refill slot 0
    #3 use %0     | use R0
    #4 exit
)")},
      {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    #1 %0 = a      | R0 = a
    +20            | spill R0, slot 0
    +21            | R5 = copy R9
    #2 @!%3 %0 = c | @!P0 R5 = c
    +22            | @!P0 spill R5, slot 0
    +23            | R0 = refill slot 0
    #3 use %0      | use R0
    #4 exit
)")},
      // a part, of which no word is a node
      {side_by_side(R"(
  vreg %0 R b32
  block b0
    #0 %0 = a    | R0 = a
    #1 %0.h1 = b | R0.h1 = b
    #2 use %0    | use R0
    #3 exit
)")},
  };
  for (const Pair& p : table) EXPECT_TRUE(fast(p).is_same()) << p.after;
  // a predicate from any byte of the frame
  Pair spilled = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    +20            | spill P0, slot 0
    #9 bra -> b1
  block b1
    #1 %0 = a      | R0 = a
    +21            | P1 = refill slot 0
    #2 @%3 %0 = c  | @P1 R0 = c
    +22            | P2 = refill slot 0
    #3 @!%3 %0 = e | @!P2 R0 = e
    #4 use %0      | use R0
    #5 exit
)")};
  spilled.slots = "  slot 0 local size 1 align 1 offset 5\n";
  EXPECT_TRUE(fast(spilled).is_same());
}

// Of what the fast check has settled the deep check knows nothing; only of one side here, so that it must not ask.
TEST(MemcheckDetails, TheDeepCheckLooksOnlyThere) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = const 1 !remat | R0 = const 1 !remat
    #1 %1 = b              | R1 = b
    #2 bra -> b1
  block b1
    +9                     | R2 = remat #0 1
    #3 use %0              | use R2
    #4 use %1              | use R0
    #5 exit
)")};
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(4));
}

TEST(MemcheckDetails, EachRetIsSeen) {
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    +20                  | spill R24, slot 0
    #1 %0 = a            | R24 = a
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    +21                  | R24 = refill slot 0
    #3 ret
  block b2
    #4 ret
)")};
  p.kind = "device";
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(4));
}

TEST(MemcheckDetails, AGoodRematIsTrustedBesideABadOne) {
  const Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = const 1 !remat | R0 = const 1 !remat
    +8                     | R1 = remat #0 1
    #1 use %0              | use R1
    +9                     | R2 = remat #0 2
    #2 use %0              | use R2
    #3 exit
)")};
  const Judged j(p);
  ASSERT_EQ(j.details.mismatches.size(), 1u);
  EXPECT_EQ(j.details.mismatches[0].inst, ir::InstId(2));
}

// The instructions that the deep check is to look at.
TEST(MemcheckDetails, TheFastCheckSaysWhereToLook) {
  const auto suspects = [](const Pair& p) { return fast(p).suspects; };
  using Suspects = std::vector<ir::InstId>;
  const Pair wrong = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a     | R0 = a
    #1 %1 = b     | R1 = b
    #9 use %0, %1 | use R1, R1
    #3 use %0     | use R1
    #4 use %1     | use R1
    #5 exit
)")};
  EXPECT_EQ(suspects(wrong), Suspects({ir::InstId(3), ir::InstId(9)}));
  Pair lost = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a | R24 = a
    #1 use %0 | use R24
    #2 ret
)")};
  lost.kind = "device";
  EXPECT_EQ(suspects(lost), Suspects({ir::InstId(2)}));
  const Pair doubtful = {kVregs, side_by_side(R"(
  block b0
    #0 @%3 use | @P0 use
    #1 exit
)")};
  EXPECT_TRUE(fast(doubtful) == (FastAnswer{Suspects(), {ir::InstId(0)}}));
  // Neither graph concludes that the second write covers the first.
  const Pair twice = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #5 cbra %4 -> b1, b2 | cbra P1 -> b1, b2
  block b1
    #6 %3 = p            | P0 = p
    #7 bra -> b2
  block b2
    #1 @%3 %0 = b        | @P0 R0 = b
    #2 @%3 %0 = c        | @P0 R0 = c
    #3 use %0            | use R0
    #4 exit
)")};
  EXPECT_TRUE(fast(twice) == (FastAnswer{Suspects(), {ir::InstId(1), ir::InstId(2)}}));
  const Pair bad_remat = {kVregs, side_by_side(R"(
  block b0
    #0 %0 = const 1 !remat | R1 = const 1 !remat
    +9                     | R0 = remat #0 2
    #1 use %0              | use R0
    #2 exit
)")};
  EXPECT_EQ(suspects(bad_remat), std::nullopt);
}

// R3 holds #8 before, and slot 0 nothing: where the guard holds, neither is seen.
TEST(MemcheckDetails, TheFastCheckSeesThroughGuards) {
  const auto is_same = [](const Pair& p) {
    return fast(p).is_same() && fast_check(Judged(p).all, MemcheckScope::Errors).is_same();
  };
  const std::string before = R"(
  block b0
    #0 %3 = p
    #1 %0 = a
    #8 %1 = q
    #9 use %1
    #2 @%3 %0 = b
    #3 @%3 use %0
    #4 exit
)";
  Pair refilled = {kVregs, before, R"(
  block b0
    #0 P0 = p
    #1 R2 = a
    #8 R3 = q
    #9 use R3
    #2 @P0 R2 = b
    +20 @P0 spill R2, slot 0
    +21 @P0 R3 = refill slot 0
    #3 @P0 use R3
    #4 exit
)"};
  EXPECT_TRUE(is_same(refilled));
  refilled.before = edit(refilled.before, "#3 @%3", "#3 @!%3");
  refilled.after = edit(refilled.after, "#3 @P0", "#3 @!P0");
  EXPECT_FALSE(is_same(refilled));
  // No guard at the read, and one of the two writes on each path.
  Pair both = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    #1 %0 = a      | R2 = a
    #8 %1 = q      | R3 = q
    #9 use %1      | use R3
    #7 use %0      | use R2
    #2 @%3 %0 = b  | @P0 R3 = b
    #5 @!%3 %0 = c | @!P0 R3 = c
    #3 use %0      | use R3
    #4 exit
)")};
  EXPECT_TRUE(is_same(both));
  both.before = edit(both.before, "#5 @!%3", "#5 @%3");
  both.after = edit(both.after, "#5 @!P0", "#5 @P0");
  EXPECT_FALSE(is_same(both));
  // %3 has two definitions, and #6 stands between.
  both.before = edit(both.before, "#5 @%3", "#6 %3 = p\n    #5 @!%3");
  both.after = edit(both.after, "#5 @P0", "#6 P0 = p\n    #5 @!P0");
  EXPECT_FALSE(is_same(both));
}

// %3 has two definitions, so it is known by where it comes from. b is overwritten on each path that writes it.
TEST(MemcheckDetails, TheFastCheckKnowsAGuardWithSeveralDefinitions) {
  Pair p = {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p      | P0 = p
    #1 %4 = q      | P1 = q
    #2 @%4 %3 = r  | @P1 P0 = r
    #3 %5 = a      | P2 = a
    #4 @%3 %5 = b  | @P0 P2 = b
    +20            | R9{inout} = bit_spill P2, 3
    +21            | R9{inout} = bit_spill P0, 4
    +22            | P2 = bit_refill R9, 3
    +23            | P3 = bit_refill R9, 4
    #5 @%3 %5 = c  | @P3 P2 = c
    #6 use %5      | use P2
    #7 exit
)")};
  EXPECT_TRUE(fast(p).is_same());
}

TEST(MemcheckDetails, TheFastCheckComparesWordsOfParts) {
  // Neither word is a node, and their lower bytes are the same.
  expect_category({side_by_side(R"(
  vreg %0..%1 R b32
  block b0
    #0 %0 = a     | R0 = a
    #1 %1 = b     | R1 = b
    #2 %0.h1 = c  | R0.h1 = c
    +9            | R0.h1 = copy R1.h1
    #3 use %0, %1 | use R0, R1
    #4 exit
)")},
                  kExtra);
}

// On one path %0 is put together from two defs, on the other undefined; there R0 holds something else behind the last use of that.
TEST(MemcheckDetails, AWordOfPartsCountsAsDefined) {
  Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %2 = p            | P0 = p
    #1 cbra %2 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #2 %0 = a            | R0 = a
    #3 %0.h1 = c         | R0.h1 = c
    #4 bra -> b3
  block b2
    #5 %1 = d            | R0 = d
    #6 use %1            | use R0
    #7 bra -> b3
  block b3
    #8 use %0            | use R0
    #9 exit
)")};
  EXPECT_TRUE(fast_check(Judged(p).all, MemcheckScope::Errors).is_same());
  p.after = edit(p.after, "#3 R0.h1", "#3 R1.h1");
  EXPECT_FALSE(fast_check(Judged(p).all, MemcheckScope::Errors).is_same());
}

}  // namespace
}  // namespace regduel::oracles
