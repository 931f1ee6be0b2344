// What is odd about a program before any allocation.
#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

constexpr std::string_view kOdd = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 P pred
  block b0
    #0 %0.lo = a
    #1 @%1 st %0 !write
    #2 bra -> b2
  block b1
    #3 exit
  block b2
    #4 exit
)";

TEST_F(Cli, LintSaysWhatIsOddAndWhere) {
  write("a.rir", kOdd);
  const Outcome r = run("lint a.rir");
  EXPECT_EQ(r.status, 1) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("a.rir:7:9: warning: @f: #1, operand 1"), HasSubstr("[lint/undefined-guard]"),
                           HasSubstr("a.rir:7:15: warning: @f: #1, operand 0"), HasSubstr("bytes 4 to 7 of %0"),
                           HasSubstr("a.rir:10:5: warning: @f: #3"), HasSubstr("[lint/unreachable-code]")));
  EXPECT_THAT(r.out, HasSubstr("\n     7 |     #1 @%1 st %0 !write\n       |               ^~\n"));
  EXPECT_THAT(r.out, EndsWith("1 function, 3 findings\n"));
}

TEST_F(Cli, LintKnowsTheLimit) {
  write("a.rir",
        "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b32\n  block b0\n    #0 %0 = a\n"
        "    #1 %1 = b\n    #2 st %0, %1 !write\n    #3 exit\n");
  const auto found = json("lint a.rir --regs 2 --json");
  ASSERT_EQ(found["findings"].size(), 1u);
  const auto& f = found["findings"][0];
  EXPECT_EQ(f["category"], "demand-above-limit");
  EXPECT_EQ(f["line"], 8);
  EXPECT_EQ(f["column"], 5);
  EXPECT_EQ(f["function"], "f");
  EXPECT_THAT(std::string(f["message"]), HasSubstr("--regs 3 would do"));
  const Outcome fits = run("lint a.rir --regs 3");
  EXPECT_EQ(fits.status, 0) << fits.out;
  EXPECT_EQ(fits.out, "1 function, 0 findings\n");
}

TEST_F(Cli, LintLooksAtProgramsBeforeAllocation) {
  EXPECT_EQ(run("lint '" + source("corpus/ptx/softmax.ptx") + "'").status, 0);
  ASSERT_EQ(run("gen --seed 3 -o a.rir").status, 0);
  ASSERT_EQ(run("alloc a.rir -o b.rir").status, 0);
  expect_complaint("lint b.rir", "b.rir");
  write("none.rir", "rir 1\n");
  expect_complaint("lint none.rir", "no function");
  expect_complaint("lint --regs 0 a.rir", "--regs");
}

}  // namespace
}  // namespace regduel::cli
