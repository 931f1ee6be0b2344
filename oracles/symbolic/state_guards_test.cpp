// The transfer functions under guards, on hand-made allocations.

#include <string>

#include <fmt/format.h>

#include "oracles/symbolic/state.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

Pair guarded() {
  return {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #2 %1 = b            | R1 = b
    #3 @%3 %0 = c        | @P0 R5 = c
    +21                  | @P0 spill R5, slot 0
    +22                  | R0 = refill slot 0
    #4 use %0, %1 !write | use R0, R1 !write
    #5 exit
)")};
}

TEST(SymbolicStateTest, AStoreUnderTheGuardOfItsDefIsAsGoodAsRefillModifyStore) {
  expect_pass(guarded());
  expect_pass(with(guarded(), "#3 @P0 R5 = c\n    +21 @P0 spill R5, slot 0",
                   "+23 R5 = refill slot 0\n    #3 @P0 R5 = c\n    +21 spill R5, slot 0"));
  expect_category(with(guarded(), "+21 @P0 spill", "+21 spill"), kLost);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+21 @!P0 spill")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(guarded(), "+21 @P0 spill", "+24 P0 = copy P1\n    +21 @P0 spill")).verdict, Verdict::Fail);
  // The predicate may have been elsewhere in between.
  expect_pass(with(guarded(), "    +21 @P0", "    +31 spill P0, slot 1\n    +32 P3 = refill slot 1\n    +21 @P3"));
}

TEST(SymbolicStateTest, AGuardedDefKeepsTheOldValue) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p        | P0 = p
    #1 %0 = a        | R0 = a
    #2 %1 = b        | R1 = b
    #3 @%3 %0 = c    | @P0 R0 = c
    #4 use %0 !write | use R0 !write
    #5 exit
)")};
  expect_pass(p);
  const Pair bad = with(with(p, "@P0 R0 = c", "@P0 R1 = c"), "use R0", "use R1");
  EXPECT_EQ(judge(bad).verdict, Verdict::Fail);
  expect_category(with(p, "#3 @P0 R0", "#3 @P1 R0"), kLost);  // the guard itself is no use of %3 any more, and decides otherwise
}

TEST(SymbolicStateTest, AUseUnderTheGuardAsksOnlyWhereItHolds) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p             | P0 = p
    #1 %0 = a             | R0 = a
    +9                    | @P0 R1 = copy R0
    #2 @%3 use %0 !write  | @P0 use R1 !write
    #3 @!%3 use %0 !write | @!P0 use R0 !write
    #4 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#3 @!P0 use R0", "#3 @!P0 use R1")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(p, "+9 @P0 R1", "+9 @!P0 R1")).verdict, Verdict::Fail);
}

TEST(SymbolicStateTest, AFirstGuardedDefSharesItsRegisterWithWhatDied) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p %0         | P0 = p R0
    #2 @%3 %1 = b        | @P0 R0 = b
    #3 @%3 use %1 !write | @P0 use R0 !write
    #4 use %1 !write     | use R0 !write
    #5 exit
)")};
  expect_pass(p);
  expect_category(with(p, "#2 @P0 R0 = b", "#2 @P0 R1 = b"), kWrong);
}

TEST(SymbolicStateTest, AnUndefinedGuardLeavesNothingDefined) {
  // %3 has no definition: whether #2 happens is not known, and %0 is undefined after it.
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = c            | R1 = c
    #2 @%3 %0 = b        | @P0 R2 = b
    #3 use %0, %1 !write | use R0, R1 !write
    #4 exit
)")};
  expect_pass(p);
  expect_category(with(p, "@P0 R2 = b", "@P0 R1 = b"), kLost);
}

TEST(SymbolicStateTest, ANegatedGuard) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    +20                  | spill R0, slot 0
    #2 %1 = b            | R1 = b
    #3 @!%3 %0 = c       | @!P0 R5 = c
    +21                  | @!P0 spill R5, slot 0
    +22                  | R0 = refill slot 0
    #4 use %0, %1 !write | use R0, R1 !write
    #5 exit
)")};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "+21 @!P0", "+21 @P0")).verdict, Verdict::Fail);
  // Where the guard holds, the new value alone is asked for.
  expect_pass({kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    #2 @%3 %0 = c        | @P0 R1 = c
    #3 @%3 use %0 !write | @P0 use R1 !write
    #4 exit
)")});
}

TEST(SymbolicStateTest, TwoGuardsOfWhichNothingIsKnownAreTwoButOneRegisterHoldsOneThing) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a        | R0 = a
    +9               | @P5 R1 = copy R0
    +8               | @!P6 R1 = copy R0
    #1 use %0 !write | use R1 !write
    #2 exit
)")};
  expect_category(p, kLost);
  expect_pass(with(p, "@!P6", "@!P5"));
  // Until it is written.
  expect_category(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 P5 = copy P6\n    +8"), kLost);
  expect_category(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 @P5 P5 = copy P6\n    +8"), kLost);
  expect_pass(with(with(p, "@!P6", "@!P5"), "    +8", "    +10 P6 = copy P5\n    +8"));
  // What it holds may be elsewhere in between.
  expect_pass(with(p, "    +8", "    +10 P6 = copy P5\n    +8"));
}

// %4 is undefined where %3 does not hold, and P1 holds anything there. It is one thing to what #4 and the inserted store do,
// also behind a join.
TEST(SymbolicStateTest, APredicateDefinedUnderAGuardIsOneThingToAllThatItGuards) {
  for (const bool is_joined : {false, true}) {
    const std::string begin = R"(
  block b0
    #0 %3 = p
    #1 @%3 %4 = q
    #2 %0 = a
)",
                      middle = is_joined ? R"(
    #3 mbra %0 -> b1, b2
  block b1
    #4 bra -> b2
  block b2
)"
                                         : "",
                      end = R"(
    #5 @%4 %0 = c
    #6 use %0 !write
    #7 exit
)";
    Pair p = {kAndP, begin + middle + end,
              R"(
  block b0
    #0 P0 = p
    #1 @P0 P1 = q
    #2 R0 = a
    +20 spill R0, slot 0
)" + (is_joined ? edit(middle, "%0", "R0") : "") +
                  R"(
    #5 @P1 R5 = c
    +21 @P1 spill R5, slot 0
    +22 R0 = refill slot 0
    #6 use R0 !write
    #7 exit
)"};
    expect_pass(p);
    EXPECT_EQ(judge(with(p, "+21 @P1", "+21 @!P1")).verdict, Verdict::Fail);
    EXPECT_EQ(judge(with(p, "    +21", "    +23 P1 = copy P2\n    +21")).verdict, Verdict::Fail);
  }
}

// The copy is deleted, an inserted one does it under the register that holds its guard, of which %2 asks for nothing where %3
// holds.
Pair copied_under_a_maybe_undefined_guard() {
  return {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2..%3 P pred
  block b0
    #0 %3 = p           | P1 = p
    #1 %0 = a           | R0 = a
    #2 %1 = b           | R1 = b
    #3 @!%3 %2 = q      | @!P1 P0 = q
    +22                 | @P0 R1 = copy R0
    #4 @%2 %1 = copy %0 | copy !deleted
    #5 use %1 !write    | use R1 !write
    #6 exit
)")};
}

TEST(SymbolicStateTest, ADeletedCopyIsDoneUnderTheRegisterThatHoldsItsGuard) {
  expect_pass(copied_under_a_maybe_undefined_guard());
  // Of the last three guards of inserted instructions.
  expect_pass(with(copied_under_a_maybe_undefined_guard(), "    +22", "    +20 @P1 R8 = copy R9\n    +22"));
  expect_pass(with(copied_under_a_maybe_undefined_guard(), "    #4", "    +20 @P1 R8 = copy R9\n    #4"));
  EXPECT_EQ(judge(with(copied_under_a_maybe_undefined_guard(), "+22 @P0", "+22 @!P0")).verdict, Verdict::Fail);
  EXPECT_EQ(judge(with(copied_under_a_maybe_undefined_guard(), "+22 @P0", "+22 @P1")).verdict, Verdict::Fail);
}

// At the end of a block: the inserted guards of the block before serve no copy of the next one.
TEST(SymbolicStateTest, AClearedStateKnowsNothing) {
  const Pair p = copied_under_a_maybe_undefined_guard();
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const Case c(before, after, *ir::find_target("sm_90"), limits_of(before, 255));
  auto plan = symbolic::make_plan(c);
  ASSERT_TRUE(plan.has_value());
  const auto steps = plan->steps_of(0);
  const auto is_rename = [](const symbolic::Step& s) { return s.kind == symbolic::StepKind::Rename; };
  const auto copy = std::find_if(steps.begin(), steps.end(), is_rename);
  ASSERT_NE(copy, steps.end());
  for (const bool is_cleared : {false, true}) {
    symbolic::State state(*plan);
    for (auto s = steps.begin(); s != copy; ++s) state.transfer(*s, nullptr);
    std::vector<Value> names, locations;
    for (std::uint32_t k = 0; k < plan->num_names(); ++k) names.push_back(state.names[k]);
    for (std::uint32_t k = 0; k < plan->num_locations(); ++k) locations.push_back(state.locations[k]);
    const Value guard = state.locations[plan->locations.of_unit(ir::RegFile::P, 0)], a = names[0], b = names[1];
    if (is_cleared) {
      state.clear();
      EXPECT_TRUE(state.names.touched().empty() && state.locations.touched().empty());
      for (std::uint32_t k = 0; k < names.size(); ++k) state.names.set(k, names[k]);
      for (std::uint32_t k = 0; k < locations.size(); ++k) state.locations.set(k, locations[k]);
    }
    state.transfer(*copy, nullptr);
    EXPECT_EQ(state.names[1], plan->values.gate(is_cleared ? copy->opaque_name() : guard, a, b));
  }
}

TEST(SymbolicStateTest, WhatAnUndefinedGuardMayHaveWrittenAsksForNothing) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = c            | R1 = c
    #2 @%3 %0 = b        | @P0 R2 = b
    #3 @%4 %1 = copy %0  | @P1 R1 = copy R2
    #4 use %0, %1 !write | use R5, R6 !write
    #5 exit
)")};
  expect_pass(p);
  expect_pass({kAndP, side_by_side(R"(
  block b0
    #0 %0 = a           | R0 = a
    #1 %1 = c           | R1 = c
    #2 @%4 %1 = copy %0 | @P1 R1 = copy R0
    #3 use %1 !write    | use R6 !write
    #4 exit
)")});
  // A copy that changes nothing leaves it defined.
  const Pair same = {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a           | R0 = a
    #1 %1 = copy %0     | R1 = copy R0
    #2 @%4 %1 = copy %0 | @P1 R1 = copy R0
    #3 use %1 !write    | use R1 !write
    #4 exit
)")};
  expect_pass(same);
  expect_category(with(same, "use R1", "use R5"), kLost);
}

TEST(SymbolicStateTest, ANegatedGuardOfACopy) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p            | P0 = p
    #1 %0 = a            | R0 = a
    #2 %1 = b            | R1 = b
    #3 @!%3 %1 = copy %0 | @!P0 R1 = copy R0
    #4 use %1 !write     | use R1 !write
    #5 exit
)")};
  expect_pass(p);
  const JudgeResult r = judge(with(p, "@!P0", "@P0"));
  EXPECT_THAT(categories(r), ElementsAre(kLost));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(4));
  EXPECT_THAT(r.findings.at(0).message, ::testing::HasSubstr("under some guards only"));
}

TEST(SymbolicStateTest, AGuardFromAnotherBlockIsAUse) {
  const Pair p = {kAndP, side_by_side(R"(
  block b0
    #0 %3 = p        | P0 = p
    #1 %4 = q        | P1 = q
    #2 bra -> b1
  block b1
    #3 @%3 %0 = a    | @P0 R0 = a
    #4 use %4 !write | use P1 !write
    #5 exit
)")};
  expect_pass(p);
  expect_category(with(p, "@P0 R0", "@P1 R0"), kWrong);
}

// Each load and store under a guard of its own, all in one register: what lies below is the oldest, and asked for no more.
TEST(SymbolicStateTest, ManyGuardedDefsLieOnTopOfOneAnother) {
  std::string vregs = "  vreg %0 P pred\n", before = "  block b0\n", after = before;
  for (int k = 1; k <= 100; ++k) {
    vregs += fmt::format("  vreg %{} R b32\n", k);
    for (std::string* text : {&before, &after}) {
      const bool is_before = text == &before;
      const std::string p = is_before ? "%0" : "P0", r = is_before ? fmt::format("%{}", k) : "R0";
      *text += fmt::format(R"(
    #{} {} = p
    #{} @{} {} = a
    #{} @{} use {} !write
)",
                           3 * k, p, 3 * k + 1, p, r, 3 * k + 2, p, r);
    }
  }
  const Pair p = {vregs, before + "    #0 exit\n", after + "    #0 exit\n"};
  expect_pass(p);
  EXPECT_EQ(judge(with(p, "#301 @P0 R0", "#301 @P0 R1")).verdict, Verdict::Fail);
}

// Longer than what is looked into, and the first of them is guarded too. In R0, or in two registers in turn, and stored to slot 0
// under the guard.
Pair long_chain(bool is_stored) {
  std::string before = "  block b0\n", after = before;
  int id = 0;
  for (int k = 0; k < Values::kMaxDepth + 20; ++k, id += 2) {
    before += fmt::format("    #{} %3 = p\n    #{} @%3 %0 = a\n", id, id + 1);
    const int reg = is_stored ? 5 + k % 2 : 0;
    after += fmt::format("    #{} P0 = p\n    #{} @P0 R{} = a\n", id, id + 1, reg);
    if (is_stored) after += fmt::format("    +{} @P0 spill R{}, slot 0\n", 10'000 + k, reg);
  }
  if (is_stored) after += "    +9999 R0 = refill slot 0\n";
  const std::string end = fmt::format(" !write\n    #{} exit\n", id + 1);
  return {kAndP, before + fmt::format("    #{} use %0", id) + end, after + fmt::format("    #{} use R0", id) + end};
}

TEST(SymbolicStateTest, ALongChainOfGuardedDefs) {
  expect_pass(long_chain(false));
  expect_category(with(long_chain(false), "use R0", "use R1"), kLost);
}

// The name asks for nothing below all guards, the slot holds nothing there, and neither can be looked into so deep.
TEST(SymbolicStateTest, AChainTooLongToBeLookedIntoIsInconclusive) {
  const JudgeResult r = judge(long_chain(true));
  EXPECT_EQ(r.verdict, Verdict::Inconclusive);
  EXPECT_EQ(r.reason, fmt::format("at #{} too many guards lie on top of one another", 2 * (Values::kMaxDepth + 20)));
}

}  // namespace
}  // namespace regduel::oracles
