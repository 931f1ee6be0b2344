// The design column by column, and faults that show only where certain guards hold and others do not.

#include "oracles/execution/guards.h"

#include <set>

#include "oracles/execution/execution.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

TEST(ExecutionGuards, TheFirstTwoRunsMakeAllTrueAndAllFalse) {
  for (std::uint32_t c = 0; c < kDesignColumns; ++c)
    for (const std::uint32_t nth : {0u, 1u, 7u}) {
      EXPECT_TRUE(holds(0, c, nth));
      EXPECT_FALSE(holds(1, c, nth));
    }
}

TEST(ExecutionGuards, AnyTwoColumnsTakeAllFourCombinations) {
  for (std::uint32_t a = 0; a < kDesignColumns; ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      std::set<int> seen;
      for (int run = 0; run < kDesignRuns; ++run) seen.insert(2 * holds(run, a, 0) + holds(run, b, 0));
      ASSERT_EQ(seen.size(), 4u) << a << " " << b;
    }
}

TEST(ExecutionGuards, AnyThreeColumnsOfAGroupTakeAllEight) {
  for (std::uint32_t group = 0; group < kDesignGroups; ++group)
    for (std::uint32_t a = 2; a < kGroupColumns; ++a)
      for (std::uint32_t b = 1; b < a; ++b)
        for (std::uint32_t c = 0; c < b; ++c) {
          std::set<int> seen;
          for (int run = 0; run < kDesignRuns; ++run) {
            const auto bit = [&](std::uint32_t column) { return holds(run, group * kGroupColumns + column, 0); };
            seen.insert(4 * bit(a) + 2 * bit(b) + bit(c));
          }
          ASSERT_EQ(seen.size(), 8u) << group << ": " << a << " " << b << " " << c;
        }
}

// From time to time a predicate comes out otherwise, and over two rounds of the design so does it from round to round.
TEST(ExecutionGuards, EachTimeIsAColumnOfItsOwn) {
  for (std::uint32_t c = 0; c < kDesignColumns; ++c) {
    std::set<int> times, rounds;
    for (int run = 0; run < kDesignRuns; ++run) {
      times.insert(2 * holds(run, c, 0) + holds(run, c, 1));
      rounds.insert(2 * holds(run, c, 0) + holds(run + kDesignRuns, c, 0));
    }
    EXPECT_EQ(times.size(), 4u) << c;
    EXPECT_EQ(rounds.size(), 4u) << c;
  }
}

TEST(ExecutionGuards, WhatIsComputedAgainComesOutTheSame) {
  PredicateOutcomes outcomes;
  for (int run = 0; run < kDesignRuns; ++run) {
    outcomes.begin_run(run);
    const bool first = outcomes.outcome(0xABCD, 0);
    EXPECT_EQ(first, holds(run, 0, 0));
    EXPECT_EQ(outcomes.outcome(0xABCD, 5), first);
    EXPECT_EQ(outcomes.outcome(0xBCDE, 0), holds(run, 0, 1));
    EXPECT_EQ(outcomes.outcome(0xABCD, 0), first);
  }
}

TEST(ExecutionGuards, PredicatesHaveColumnsInTheOrderOfTheProgram) {
  const ir::Function f = parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
  vreg %3 R b32
  block b0
    #0 %0 = p
    #1 %1 = q
    #2 %2 = r
    #3 %3 = s
    #4 @%0 %3 = t
    #5 @%2 use %3, %1
    #6 exit
)");
  const Before before(f, *ir::find_target("sm_90"));
  const std::vector<std::uint8_t>& columns = before.part<PredicateColumns>().of_operand;
  const auto column = [&](std::size_t inst) { return int{columns[f.insts[inst].first_operand]}; };
  EXPECT_EQ(column(0), 0);
  EXPECT_EQ(column(1), 66);  // guards nothing
  EXPECT_EQ(column(2), 1);
  EXPECT_EQ(column(3), int{PredicateColumns::kNoColumn});
}

// R0 is spoilt where the guards have the wanted outcomes, and nowhere else: undone under each outcome that is not wanted.
struct Spoilt {
  int num_predicates = 0;
  std::vector<std::pair<int, bool>> wanted;  // predicate, outcome

  [[nodiscard]] Pair pair() const {
    Pair p = {"  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n", side_by_side(R"(
  block b0
    #0 %0 = a | R0 = a
    #1 %1 = b | R1 = b
)")};
    for (int k = 0; k < num_predicates; ++k) {
      const std::string n = std::to_string(k), v = std::to_string(k + 3), id = std::to_string(10 + 2 * k),
                        next = std::to_string(11 + 2 * k);
      p.vregs += "  vreg %" + v + " P pred\n";
      p.before += "    #" + id + " %" + v + " = p " + n + "\n    #" + next + " @%" + v + " %2 = c\n";
      p.after += "    #" + id + " P" + n + " = p " + n + "\n    #" + next + " @P" + n + " R2 = c\n";
    }
    p.after += "    +100 R3 = copy R0\n    +101 R0 = copy R1\n";
    int inserted = 102;
    for (const auto& [predicate, outcome] : wanted)
      p.after += "    +" + std::to_string(inserted++) + (outcome ? " @!P" : " @P") + std::to_string(predicate) + " R0 = copy R3\n";
    p.before += "    #90 use %0\n    #91 exit\n";
    p.after += "    #90 use R0\n    #91 exit\n";
    return p;
  }
  [[nodiscard]] Verdict verdict(std::uint64_t seed) const {
    const Pair p = pair();
    const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
    return judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, {.seed = seed}).verdict;
  }
};

TEST(ExecutionGuards, PairsOfGuardsMeetInAllFourCombinations) {
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (int a = 1; a < 7; ++a)
      for (int b = 0; b < a; ++b)
        for (const int combination : {0, 1, 2, 3})
          EXPECT_EQ((Spoilt{7, {{a, (combination & 1) != 0}, {b, (combination & 2) != 0}}}).verdict(seed), Verdict::Fail)
              << seed << ": " << a << " " << b << " " << combination;
}

// Two hold and a third does not, and all the other ways.
TEST(ExecutionGuards, TriplesOfGuardsMeetInAllEightCombinations) {
  for (int a = 2; a < 7; ++a)
    for (int b = 1; b < a; ++b)
      for (int c = 0; c < b; ++c)
        for (int combination = 0; combination < 8; ++combination) {
          const Spoilt spoilt = {7, {{a, (combination & 1) != 0}, {b, (combination & 2) != 0}, {c, (combination & 4) != 0}}};
          EXPECT_EQ(spoilt.verdict(0), Verdict::Fail) << a << " " << b << " " << c << " " << combination;
        }
}

TEST(ExecutionGuards, WhatNoOutcomeShowsIsNoFault) { EXPECT_EQ((Spoilt{3, {{0, true}, {0, false}}}).verdict(0), Verdict::Pass); }

}  // namespace
}  // namespace regduel::oracles
