// The matrix, small: every operator finds a place, nothing that changes the trace escapes, every category is right, no false alarm.
#include "trial/faults/faults.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/check_macro.h"
#include "generate/standard_mix.h"

namespace regduel::trial {
namespace {

TEST(Faults, EveryOneIsCaught) {
  const FaultMatrix matrix = run_faults({.runs = 960, .seed = 1, .largest = 700});
  for (const FaultMiss& m : matrix.misses())
    ADD_FAILURE() << m.kind << ' ' << m.operator_name << ", run " << m.index << '\n' << m.detail;
  EXPECT_EQ(matrix.num_misses(), 0);
  EXPECT_EQ(matrix.false_alarms(), 0);
  EXPECT_GT(matrix.subjects(), matrix.runs() / 4);
  EXPECT_GT(matrix.patterned(), matrix.subjects() / 2);
  for (std::size_t k = 0; k < matrix.rows().size(); ++k) EXPECT_GT(matrix.rows()[k].injected, 0) << fault_operators()[k].name;
  const OperatorRow all = matrix.total();
  EXPECT_EQ(all.caught_static, all.changing);
  EXPECT_EQ(all.memcheck_right, all.memcheck_asked);
  EXPECT_EQ(all.structure_right, all.structure_asked);
  EXPECT_GT(all.changing, all.injected / 2);
  EXPECT_GT(all.memcheck_asked, all.changing / 2);
  for (std::size_t code = 1; code <= 10; ++code) EXPECT_GT(matrix.asked_by_code()[code], 0) << code;
}

TEST(Faults, ARunDependsOnItsArgumentsAlone) {
  const std::vector<std::int64_t> injected(fault_operators().size(), 0);
  for (std::uint64_t k = 0; k < 6; ++k) {
    const FaultRun one = run_faults_on(3, k, injected), other = run_faults_on(3, k, injected);
    ASSERT_EQ(one.injections.size(), other.injections.size());
    for (std::size_t i = 0; i < one.injections.size(); ++i) {
      EXPECT_EQ(one.injections[i].op, other.injections[i].op);
      EXPECT_EQ(one.injections[i].verdicts, other.injections[i].verdicts);
    }
    EXPECT_EQ(one.patterns, other.patterns);
  }
}

// The limit of this run's allocation is above what the file has, and what becomes reserved is in the file all the same.
TEST(Faults, WhatBecomesReservedIsInTheFile) {
  const FaultRun run = run_faults_on(2027, 47799, {});
  EXPECT_TRUE(run.is_subject);
  EXPECT_FALSE(run.injections.empty());
  for (const FaultMiss& m : run.misses) ADD_FAILURE() << m.kind << ' ' << m.operator_name << '\n' << m.detail;
}

// What an operator does to a run's program does not depend on what was injected before, so that a miss is repeated by its number
// alone.
TEST(Faults, ARunIsRepeatedByItsNumber) {
  std::vector<std::int64_t> injected(fault_operators().size());
  Random random(1);
  for (std::int64_t& count : injected) count = random.between(0, 20);
  std::size_t repeated = 0;
  for (std::uint64_t k = 0; k < 4; ++k) {
    const FaultRun run = run_faults_on(6, k, injected, 1000), all = run_faults_on(6, k, {}, 1000);
    EXPECT_EQ(run.patterns, all.patterns);
    for (const Injection& i : run.injections) {
      const auto again =
          std::find_if(all.injections.begin(), all.injections.end(), [&](const Injection& a) { return a.op == i.op; });
      ASSERT_NE(again, all.injections.end()) << fault_operators()[i.op].name;
      EXPECT_EQ(again->fingerprint, i.fingerprint) << fault_operators()[i.op].name;
      EXPECT_EQ(again->verdicts, i.verdicts);
      ++repeated;
    }
    EXPECT_GE(all.injections.size(), run.injections.size());
  }
  EXPECT_GT(repeated, 8u);
}

// Operators that were injected often wait until the others have found their places.
TEST(Faults, RareOperatorsGoFirst) {
  std::vector<std::int64_t> injected(fault_operators().size(), 1000);
  injected[0] = 0;
  int first = 0;
  for (std::uint64_t k = 0; k < 10; ++k) {
    const FaultRun run = run_faults_on(5, k, injected);
    first += !run.injections.empty() && run.injections[0].op == 0 ? 1 : 0;
  }
  EXPECT_GT(first, 5);
}

TEST(Faults, AnInternalErrorIsAMiss) {
  class Broken final : public ir::Allocator {
   public:
    std::string_view name() const override { return "broken"; }
    std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function&, const ir::Target&,
                                                             const ir::AllocOptions&) const override {
      throw InternalError("out of ideas");
    }
  };
  const generate::StandardCase c = generate::standard_mix(1, 0);
  const ir::Target& target = *ir::find_target(c.target);
  std::vector<FaultMiss> misses;
  EXPECT_FALSE(allocate_or_miss(Broken(), c.program, {c.program, c.program, target, c.limits}, {}, 1, 0, misses));
  ASSERT_EQ(misses.size(), 1u);
  EXPECT_EQ(misses[0].kind, "internal-error");
  EXPECT_EQ(misses[0].detail, "broken: out of ideas");
  FaultRun run;
  run.misses = misses;
  FaultMatrix matrix;
  matrix.add(std::move(run));
  EXPECT_EQ(matrix.num_misses(), 1);
}

TEST(Faults, JudgesOfTheMatrix) {
  int statics = 0;
  for (const oracles::Judge* judge : fault_judges()) {
    EXPECT_NE(judge->name(), "quality");
    statics += is_static(*judge) ? 1 : 0;
  }
  EXPECT_EQ(statics + 1, static_cast<int>(fault_judges().size()));
  EXPECT_GE(statics, 2);
}

}  // namespace
}  // namespace regduel::trial
