// The ways out of the judge `uniform` (oracles/uniform/uniform.h) let nothing pass in which its whole analysis finds something.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "ir/text/text.h"
#include "oracles/uniform/uniform.h"
#include "trial/faults/drawn_subject.h"
#include "trial/faults/operators.h"
#include "trial/faults/site.h"

namespace regduel::trial {
namespace {

TEST(WaysOut, PassNothingThatTheWholeAnalysisRejects) {
  int wrong = 0, right = 0;
  const auto compare = [&](const oracles::Case& c, std::string_view what) {
    const bool passes = oracles::uniform_judge().judge(c).verdict == oracles::Verdict::Pass;
    const bool fails = oracles::uniform_without_ways_out(c).verdict == oracles::Verdict::Fail;
    EXPECT_FALSE(passes && fails) << what << "\n" << ir::print(c.before) << ir::print(c.after);
    ++(fails ? wrong : right);
  };
  for (std::uint64_t n = 0; n < 500; ++n) {
    std::vector<FaultMiss> misses;
    const auto subject = draw_subject(2026, n, 1500, misses);
    if (!subject) continue;
    Random random(n);
    ir::Function after = subject->after;
    ir::Limits limits = subject->limits;
    (void)rewrite(subject->c.program, subject->target, after, limits, random);
    const oracles::Case right_case(subject->c.program, after, subject->target, limits);
    compare(right_case, "no fault");
    const Site site({subject->c.program, after, subject->target, limits});
    for (const FaultOperator& op : fault_operators()) {
      if (op.name.find("uniform") == std::string_view::npos && random.below(40) != 0) continue;
      if (const auto damaged = inject(op, site, random))
        compare({subject->c.program, damaged->program, subject->target, limits}, op.name);
    }
  }
  EXPECT_GT(wrong, 10);
  EXPECT_GT(right, 1000);
}

}  // namespace
}  // namespace regduel::trial
