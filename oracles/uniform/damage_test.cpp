// What a write into a uniform register leaves there, and what it destroys.

#include "oracles/uniform/damage.h"

#include "oracles/uniform/testing.h"

namespace regduel::oracles {
namespace {

using testing::edit;
using testing::expect_right;
using testing::expect_wrong;

TEST(Damage, APredicateOfEachThreadIsLost) {
  const std::string body = R"(
    #0 %7 = p        | P0 = p
    +10              | UP1 = copy P0
    +11              | P2 = copy UP1
    #1 use %7 !write | use P2 !write
    #2 exit
)";
  expect_wrong(body);
  expect_right(edit(body, "use P2", "use P0"));
}

// Bit 1 is that of a uniform predicate.
TEST(Damage, OfAPackTheBitsThatAllThreadsShareAreLeft) {
  const std::string body = R"(
    #0 %7 = p              | P0 = p
    #1 %8 = q              | UP1 = q
    #2 %0 = const 0        | R0 = const 0
    +10                    | R0{inout} = bit_spill P0, 0
    +11                    | R0{inout} = bit_spill UP1, 1
    +12                    | UR0 = copy R0
    +13                    | R1 = copy UR0
    +14                    | P2 = bit_refill R1, 1
    +15                    | P3 = bit_refill R1, 0
    #3 %10 = copy %8       | copy !deleted
    #4 use %10, %7 !write  | use P2, P0 !write
    #5 exit
)";
  expect_right(body);
  expect_wrong(edit(body, "use P2, P0", "use P2, P3"));
}

// What was there is of each thread, what the move puts there is shared: under its guard it is found.
TEST(Damage, AGuardedMoveOfASharedValueIsFoundUnderTheGuard) {
  const std::string body = R"(
    #0 %0, %4, %7 = a      | R0, UR0, P0 = a
    +10                    | UR3 = copy R0
    +11                    | @P0 UR3 = copy UR0
    +12                    | R1 = copy UR3
    #1 %1 = copy %4        | copy !deleted
    #2 @%7 use %1 !write   | @P0 use R1 !write
    #3 exit
)";
  expect_right(body);
  expect_wrong(edit(edit(edit(body, "@%7 use %1", "@!%7 use %0"), "@P0 use", "@!P0 use"), "#1 %1 = copy %4        | copy !deleted",
                    "#1 nop | nop"));
}

// The second def keeps what the first one gave %4.
TEST(Damage, AGuardedDefKeepsTheRestOfItsName) {
  expect_right(R"(
    #0 %0, %7, %10 = a     | R0, P0, P1 = a
    +10                    | UR0 = copy R0
    #1 @%10 %4 = b         | @P1 UR0 = b
    #2 @%7 %4 = c          | @P0 UR0 = c
    +11                    | R1 = copy UR0
    #3 %1 = copy %4        | copy !deleted
    #4 use %1 !write       | use R1 !write
    #5 exit
)");
}

// As a guarded def does.
TEST(Damage, AGuardedCopyTakesTheRegisterOnBothSides) {
  expect_wrong(R"(
    #0 %4 = a              | UR0 = a
    #1 %0 = copy %4        | copy !deleted
    #2 %7, %1 = p          | P0, R1 = p
    #3 @%7 %5 = copy %1    | @P0 UR0 = copy R1
    #4 @%7 use %5 !write   | @P0 use UR0 !write
    +10                    | R0 = copy UR0
    #5 @!%7 use %0 !write  | @!P0 use R0 !write
    #6 exit
)");
}

// Nine names ask for one part of a content, and behind them the one that is read for another: it is chosen before all are tried.
TEST(Damage, OfManyNamesTheOneThatIsReadIsChosenSoon) {
  std::string vregs, copies;
  for (int k = 0; k < 10; ++k) vregs += fmt::format("  vreg %{} UR b32\n", k);
  for (int k = 1; k < 9; ++k) copies += fmt::format("    #{} %{} = copy %0 | copy !deleted\n", 10 + k, k);
  testing::expect_right(testing::Pair(testing::side_by_side(vregs + R"(
  vreg %10 P pred
  vreg %11 R b32
  block b0
    #0 %10 = a              | P0 = a
    #1 @!%10 %0 = b         | @!P0 UR0 = b
)" + copies + R"(
    #2 @%10 %9 = c          | @P0 UR0 = c
    #3 %11 = copy %9        | copy !deleted
    +40                     | R0 = copy UR0
    +42                     | UR2 = copy R0
    +43                     | R1 = copy UR2
    #4 use %11 !write       | use R1 !write
    #5 exit
)")));
}

}  // namespace
}  // namespace regduel::oracles
