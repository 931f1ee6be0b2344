#include "fuzz/triage/triage.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/duel/case_file.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/zoo/catalogue.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

TEST(Nature, ForgetsWhichJudgeOfValuesAndWhere) {
  const struct {
    const char *signature, *nature;
  } rows[] = {
      {"memcheck/memcheck-6-extra-defs-introduced@fma.acc:use", "wrong-value"},
      {"symbolic/symbolic-lost-value@+spill:use", "wrong-value"},
      {"execution/execution-undefined@function", "wrong-value"},
      {"structure/tied-operand@mad:def", "structure/tied-operand"},
      {"structure/slot-overlap@function", "structure/slot"},
      {"structure/slot-outside-frame@+refill:use", "structure/slot"},
      {"quality/claims-registers@function", "quality/claims-registers"},
      {"harness/internal-error", "harness/internal-error"},
      {"harness/crash-SIGSEGV@allocation", "harness/crash-SIGSEGV@allocation"},
      {"harness/hang@judgement", "harness/hang@judgement"},
      {"completeness/completeness", "completeness/completeness"},
  };
  for (const auto& row : rows) EXPECT_EQ(nature_of(row.signature), row.nature) << row.signature;
}

FuzzInput input_of(const std::string& body, std::string_view head = "") {
  auto c = parse_case(std::string(head) + "rir 1\nfunc @f kernel target sm_90 threads 32\n" + body);
  if (!c) {
    ADD_FAILURE() << to_string(c.error()) << body;
    return {};
  }
  return std::move(*c);
}

TEST(MostTelling, IsWhatBindsSingleInstructionsFirst) {
  const std::string vregs =
      "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  vreg %3 R b64\n  vreg %4 R b32 fixed R4\n  block b0\n";
  const struct {
    const char *body, *trait;
  } rows[] = {
      {"    #0 %0 = op\n    #1 op %0\n    #2 exit\n", ""},
      {"    #0 %4 = op\n    #1 exit\n", "fixed"},
      {"    #0 %4 = op\n    #1 bra -> b1\n  block b1\n    #2 exit\n", "branch"},
      {"    #0 %3 = op\n    #1 bra -> b1\n  block b1\n    #2 exit\n", "tuple"},
      {"    #0 %3 = op clobbers R0\n    #1 exit\n", "clobber"},
      {"    #0 %2 = op\n    #1 @%2 op clobbers R0\n    #2 exit\n", "guard"},
      {"    #0 %2 = op\n    #1 @%2 %3.lo = op\n    #2 exit\n", "part"},
      {"    #0 %2, %3.lo = op\n    #1 exit\n", "two-defs"},
      {"    #0 %0 = op\n    #1 %1{tied 2}, %2 = op %0\n    #2 exit\n", "tied"},
      {"    #0 %0 = op\n    #1 %1{tied 2}, %2{early} = op %0\n    #2 exit\n", "early-clobber"},
      {"    #0 %0{early} = op !remat\n    #1 exit\n", "remat"},
      {"    #0 %0 = op !remat\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0\n    #3 exit\n", "phi"},
  };
  for (const auto& row : rows) EXPECT_EQ(most_telling(traits_of(input_of(vregs + row.body).program)), row.trait) << row.body;
  EXPECT_EQ(most_telling(traits_of(
                input_of("  vreg %0 R b64\n  vreg %1 R b32 alias %0.lo\n  block b0\n    #0 %1 = op\n    #1 exit\n").program)),
            "part");
}

TEST(Bucket, IsMadeFromDecisionOrNatureOrTrait) {
  const Traits guard = traits_of(input_of("  vreg %0 P pred\n  block b0\n    #0 %0 = op\n    #1 @%0 op\n    #2 exit\n").program);
  const Traits part = guard | traits_of(input_of("  vreg %0 R b64\n  block b0\n    #0 %0.lo = op\n    #1 exit\n").program);
  const Traits loop = traits_of(input_of("  block b0\n    #0 bra -> b1\n  block b1\n    #1 bra -> b1\n").program);
  EXPECT_EQ(traits_of(input_of("  block b0\n    #0 bra -> b1\n  block b1\n    #1 bra -> b0\n").program), loop);
  EXPECT_NE(traits_of(input_of("  block b0\n    #0 bra -> b1\n  block b1\n    #1 exit\n").program), loop);
  const struct {
    const char *signature, *decision, *bucket;
    Traits traits;
  } rows[] = {
      {"memcheck/memcheck-6@add:use", "coalesce-copy", "x: wrong by coalesce-copy", guard},
      {"structure/fixed-register@add:use", "coalesce-copy", "x: wrong by coalesce-copy", guard},
      {"structure/register-alignment@add:use", "coalesce-copy", "x: structure/register-alignment by coalesce-copy", guard},
      {"structure/register-alignment@add:use", "keep-in-register", "x: structure/register-alignment by keep-in-register", guard},
      {"structure/register-alignment@add:use", "", "x: structure/register-alignment", guard},
      {"memcheck/memcheck-6@add:use", "another-attempt", "x: wrong-value by another-attempt with guard", guard},
      {"memcheck/memcheck-6@add:use", "keep-in-register", "x: wrong-value with guard", guard},
      {"memcheck/memcheck-6@add:use", "keep-in-register", "x: wrong-value by keep-in-register with part", part},
      {"memcheck/memcheck-6@add:use", "keep-in-register", "x: wrong-value by keep-in-register with part in a loop", part | loop},
      {"memcheck/memcheck-6@add:use", "keep-in-register", "x: wrong-value with guard", guard | loop},
      {"memcheck/memcheck-6@add:use", "drop-identity-copy", "x: wrong by drop-identity-copy", guard},
      {"memcheck/memcheck-6@add:use", "spill-round", "x: wrong by spill-round", guard},
      {"memcheck/memcheck-6@add:use", "spill-round", "x: wrong by spill-round with part", part | loop},
      {"structure/early-clobber@add:use", "spill-round", "x: wrong by spill-round with part", part},
      {"structure/slot-overlap@function", "spill-round", "x: structure/slot by spill-round", part},
      {"execution/execution-trace@st:use", "", "x: wrong-value with guard", guard},
      {"execution/execution-trace@st:use", "", "x: wrong-value", 0},
      {"quality/claims-registers@function", "coalesce-copy", "x: quality/claims-registers", guard},
      {"harness/internal-error", "spill-round", "x: harness/internal-error", guard},
  };
  for (const auto& row : rows) EXPECT_EQ(bucket_of({"x", row.signature}, row.decision, row.traits), row.bucket);
}

// A copy of the program's, a pair and a guard, none of which each of these bugs needs.
constexpr const char* kCase = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b64
  vreg %4 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %3 = ld 4 !read
    #2 %2 = test %0
    #3 %1 = copy %0
    #4 %1 = add %1, 1
    #5 @%2 %4 = ld 8 !read
    #6 %4{tied 1} = mad %0, %1
    #7 call "f" clobbers R0:R23
    #8 st %0, %1, %4, %3 !write
    #9 exit
)";

TEST(Understand, ReducesBisectsAndNames) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  const struct {
    const char *bug, *bucket;
  } rows[] = {
      {"fatpoint-tie-dropped", "fatpoint: structure/tied-operand by keep-in-register"},
      {"fatpoint-clobber-missed", "fatpoint: wrong-value by keep-in-register with clobber"},
      {"fatpoint-coalesces-across-a-def", "fatpoint: wrong by coalesce-copy"},
      {"briggs-coalesces-what-interferes", "briggs: wrong by coalesce-copy"},
  };
  for (const auto& row : rows) {
    plant(row.bug);
    const FuzzInput input = input_of(kCase);
    const std::vector<Failure> failures = failures_of(input);
    ASSERT_FALSE(failures.empty()) << row.bug;
    std::set<std::string> buckets;
    for (const Failure& f : failures) {
      if (nature_of(f.signature).starts_with("disagreement/")) continue;
      const Understood u = understand(input, f, 1'000'000);
      EXPECT_TRUE(reproduces(u.reduced, f)) << f.signature;
      EXPECT_TRUE(shows_alike(u.core, f)) << f.signature;
      EXPECT_TRUE(u.is_minimal);
      EXPECT_LE(u.core.program.insts.size(), u.reduced.program.insts.size());
      EXPECT_LT(u.reduced.program.insts.size(), input.program.insts.size());
      buckets.insert(u.bucket);
    }
    EXPECT_THAT(buckets, testing::Contains(row.bucket)) << row.bug;
  }
  plant("");
}

}  // namespace
}  // namespace regduel::fuzz
