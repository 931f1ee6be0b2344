#include "cli/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::cli {
namespace {

using testing::HasSubstr;

BenchRow judge(std::string name, double growth_read, double times_fatpoint) {
  BenchRow row;
  row.name = std::move(name);
  row.is_judge = true;
  row.growth_read = growth_read;
  row.times_fatpoint = {0.1, times_fatpoint};
  return row;
}

TEST(Bench, AGateRefusesAJudgeThatGrowsMoreThanTwofoldAndAMemcheckSlowerThanTheAllocator) {
  BenchOptions o;
  o.sizes = {200, 20000};
  BenchResult r;
  r.rows = {judge("structure", 2.0, 3.0), judge("symbolic", 2.01, 0.1), judge("memcheck", 1.5, 1.01)};
  const std::vector<GateFailure> failures = gate_failures(r, o);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].name, "symbolic");
  EXPECT_THAT(failures[0].message, HasSubstr("2.01 times as long an instruction that it reads at 20000 instructions as at 200"));
  EXPECT_EQ(failures[1].name, "memcheck");
  EXPECT_THAT(failures[1].message, HasSubstr("1.01 times as long as the fat-point allocator at 20000"));
}

TEST(Bench, AGateRefusesUniformByItsShare) {
  BenchOptions o;
  o.sizes = {200, 20000};
  BenchResult r;
  r.rows = {judge("uniform", 9.0, 0.1), judge(std::string(kAllJudges), 1.5, 0.1)};
  r.rows[0].cells = {BenchCell{100, 100}, BenchCell{800, 800}};
  r.rows[1].cells = {BenchCell{2000, 2000}, BenchCell{4001, 4001}};
  EXPECT_TRUE(gate_failures(r, o).empty());
  r.rows[1].cells[1]->ns = 3999;
  const std::vector<GateFailure> failures = gate_failures(r, o);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0].message, HasSubstr("uniform takes 0.20 of the time of all judges at 20000 instructions (at most 0.2)"));
}

TEST(Bench, ARowOfOneSizeHasItsTimesAndNothingToRefuse) {
  BenchOptions o;
  o.sizes = {20};
  o.per_profile = 20;
  o.repetitions = 2;
  o.filter = "structure";
  o.tries_again = 1;
  const BenchResult r = run_bench(o);
  ASSERT_EQ(r.rows.size(), 1u);
  ASSERT_TRUE(r.rows[0].cells[0].has_value());
  EXPECT_LE(r.rows[0].cells[0]->ns, r.rows[0].cells[0]->median_ns);
  EXPECT_TRUE(gate_failures(r, o).empty());
}

}  // namespace
}  // namespace regduel::cli
