// One allocation with a place for each way: the value of a thread stays what it was, and what a warp shares is seen by its judge.
#include "trial/faults/uniform_edits.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/judges.h"
#include "oracles/testing.h"
#include "trial/faults/operators.h"

namespace regduel::trial {
namespace {

const auto kBoth = oracles::testing::side_by_side(R"(
func @f kernel target sm_90 threads 64
  vreg %0..%3 R b32
  vreg %4 R b64
  vreg %5..%6 P pred
  block b0
    #0 %5 = setp 0             | P0 = setp 0
    #1 %4 = ld                 | R4:R5 = ld
    #2 st %4 !write            | st R4:R5 !write
    #3 %6 = setp 1             | P1 = setp 1
    #4 %0 = a                  | R0 = a
    #5 st %0, %6 !write        | st R0, P1 !write
    #6 %1 = b                  | R1 = b
    #7 %2 = const 1            | R2 = const 1
    #8 @%5 %2 = const 2        | @P0 R2 = const 2
    #9 st %2 !write            | st R2 !write
    #10 cbra %5 -> b1, b2      | cbra P0 -> b1, b2
  block b1
    #11 st %1 !write           | st R1 !write
    #12 %3 = const 3           | R3 = const 3
    #13 bra -> b3              | bra -> b3
  block b2
    #14 %3 = const 4           | R3 = const 4
    #15 bra -> b3              | bra -> b3
  block b3
    #16 st %1, %3 !write       | st R1, R3 !write
    #17 exit                   | exit
)");

// A value that two ways bring.
const auto kJoin = oracles::testing::side_by_side(R"(
func @f kernel target sm_90 threads 64
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp               | P0 = setp
    #1 %0 = a                  | R0 = a
    #2 cbra %1 -> b1, b2       | cbra P0 -> b1, b2
  block b1
    #3 %0 = b                  | R0 = b
    #4 bra -> b2               | bra -> b2
  block b2
    #5 st %0 !write            | st R0 !write
    #6 exit                    | exit
)");

class UniformEdits : public testing::TestWithParam<std::string_view> {};

TEST_P(UniformEdits, TheJudgeOfUniformRegistersSeesIt) {
  const std::string name = fmt::format("value-through-uniform{}{}", GetParam().empty() ? "" : "-", GetParam());
  const auto ops = fault_operators();
  const auto op = std::ranges::find(ops, name, &FaultOperator::name);
  ASSERT_NE(op, ops.end());
  const auto& programs = GetParam() == "by-join" ? kJoin : kBoth;
  const ir::Function before = oracles::testing::parse_function(programs.before),
                     after = oracles::testing::parse_function(programs.after);
  const ir::Target& target = *ir::find_target("sm_90");
  const ir::Limits limits = ir::Limits::of(target);
  const Site site({before, after, target, limits});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const auto damaged = inject(*op, site, random);
    ASSERT_TRUE(damaged);
    EXPECT_THAT(ir::check(damaged->program, target, 1), testing::IsEmpty());
    const oracles::Report report = oracles::judge({before, damaged->program, target, limits});
    for (const oracles::JudgeResult& r : report.results)
      EXPECT_EQ(r.verdict == oracles::Verdict::Fail, r.judge == "uniform") << r.judge << ir::print(damaged->program);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, UniformEdits,
                         testing::Values("", "by-slot", "beside", "by-half", "by-bit", "under-guard", "by-branch", "by-join"),
                         [](const auto& test) {
                           std::string text(test.param.empty() ? "copy" : test.param);
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace regduel::trial
