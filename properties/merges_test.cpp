// The check of merges on merges made by hand, and on what each coalescer makes of random programs.

#include "properties/merges.h"

#include <string>

#include <gtest/gtest.h>

#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/passes.h"

namespace regduel::properties {
namespace {

ir::Function program(std::string_view vregs, std::string_view blocks) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n" + std::string(vregs) + std::string(blocks));
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

struct Merge {
  const char* what;
  std::string_view before, after;
  std::size_t faults;
};
constexpr std::string_view kVRegs =
    "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 P pred\n  vreg %4 R f32\n  vreg %5 R b64\n  vreg %6 R b64\n";

const Merge kMerges[] = {
    {"a copy whose source dies", "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 st %1 !write\n    #3 exit\n",
     "  block b0\n    #0 %0 = ld\n    #2 st %0 !write\n    #3 exit\n", 0},
    {"a copy whose source lives on, unwritten",
     "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 st %1, %0 !write\n    #3 exit\n",
     "  block b0\n    #0 %0 = ld\n    #2 st %0, %0 !write\n    #3 exit\n", 0},
    {"a copy whose source is written while the def lives",
     "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %0 = ld\n    #3 st %1, %0 !write\n    #4 exit\n",
     "  block b0\n    #0 %0 = ld\n    #2 %0 = ld\n    #3 st %0, %0 !write\n    #4 exit\n", 1},
    {"through a vreg that has no name left",
     "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %2 = copy %1\n    #3 st %2 !write\n    #4 exit\n",
     "  block b0\n    #0 %0 = ld\n    #3 st %0 !write\n    #4 exit\n", 0},
    {"a swap", "  block b0\n    #0 %0 = ld\n    #1 %1 = ld\n    #2 %0, %1 = copy %1, %0\n    #3 st %0, %1 !write\n    #4 exit\n",
     "  block b0\n    #0 %0 = ld\n    #1 %0 = ld\n    #3 st %0, %0 !write\n    #4 exit\n", 1},
    {"the lost copy",
     "  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0, b1: %2\n    #3 %2 = add %1\n    #4 %3 = "
     "setp "
     "%2\n    #5 cbra %3 -> b1, b2\n  block b2\n    #6 st %1 !write\n    #7 exit\n",
     "  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #3 %0 = add %0\n    #4 %3 = setp %0\n    #5 cbra %3 -> b1, b2\n"
     "  block b2\n    #6 st %0 !write\n    #7 exit\n",
     1},
    {"the loop without what is read behind it",
     "  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0, b1: %2\n    #3 %2 = add %1\n    #4 %3 = "
     "setp "
     "%2\n    #5 cbra %3 -> b1, b2\n  block b2\n    #6 st %2 !write\n    #7 exit\n",
     "  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #3 %0 = add %0\n    #4 %3 = setp %0\n    #5 cbra %3 -> b1, b2\n"
     "  block b2\n    #6 st %0 !write\n    #7 exit\n",
     0},
    {"a write under a guard",
     "  block b0\n    #0 %0 = ld\n    #1 %3 = setp %0\n    #2 %1 = copy %0\n    #3 @%3 %1 = ld\n    #4 st %0, %1 !write\n    #5 "
     "exit\n",
     "  block b0\n    #0 %0 = ld\n    #1 %3 = setp %0\n    #3 @%3 %0 = ld\n    #4 st %0, %0 !write\n    #5 exit\n", 1},
    {"a def before the reads", "  block b0\n    #0 %0 = ld\n    #1 %1{early} = op %0\n    #2 st %1 !write\n    #3 exit\n",
     "  block b0\n    #0 %0 = ld\n    #1 %0 = op %0\n    #2 st %0 !write\n    #3 exit\n", 1},
    {"half of each, and then the other half",
     "  block b0\n    #0 %5 = ld\n    #1 %6.lo = copy %5.lo\n    #2 %6.hi = ld\n    #3 st %6 !write\n    #4 exit\n",
     "  block b0\n    #0 %5 = ld\n    #2 %5.hi = ld\n    #3 st %5 !write\n    #4 exit\n", 0},
    {"through a piece of something wide",
     "  block b0\n    #0 %0, %1 = ld\n    #1 %5 = pack %1, %0\n    #2 %2, %1 = copy %5.hi, %0\n    #3 st %0, %1, %2 !write\n    #4 "
     "exit\n",
     "  block b0\n    #0 %0, %1 = ld\n    #1 %5 = pack %1, %0\n    #2 %0, %1 = copy %5.hi, %0\n    #3 st %0, %1, %0 !write\n    #4 "
     "exit\n",
     0},
    {"a half that is still read",
     "  block b0\n    #0 %5 = ld\n    #1 %6.lo = copy %5.lo\n    #2 %6.hi = ld\n    #3 st %6, %5.hi !write\n    #4 exit\n",
     "  block b0\n    #0 %5 = ld\n    #2 %5.hi = ld\n    #3 st %5, %5.hi !write\n    #4 exit\n", 1},
};

TEST(Merges, MadeByHand) {
  for (const Merge& m : kMerges) {
    const MergeReport report = check_merges(program(kVRegs, m.before), program(kVRegs, m.after));
    EXPECT_EQ(report.faults.size(), m.faults) << m.what << (report.faults.empty() ? "" : ": " + report.faults[0]);
    EXPECT_GT(report.merged, 1) << m.what;
    EXPECT_EQ(report.undecided, 0) << m.what;
  }
}

TEST(Merges, TypesAreAskedForWhereTheyMatter) {
  const ir::Function before =
      program(kVRegs, "  block b0\n    #0 %0 = ld\n    #1 %4 = copy %0\n    #2 st %4 !write\n    #3 exit\n");
  const ir::Function after = program(kVRegs, "  block b0\n    #0 %0 = ld\n    #2 st %0 !write\n    #3 exit\n");
  EXPECT_TRUE(check_merges(before, after).faults.empty());
  EXPECT_EQ(check_merges(before, after, {.by_type = true}).faults.size(), 1u);
}

TEST(Merges, NoCoalescerMergesWhatInterferesOrDiffers) {
  for (const passes::Pass* pass : passes::passes()) {
    // These merge nothing: they rename some uses and not others.
    if (pass->name() == "copyprop" || pass->name() == "ssa" || pass->name() == "series" || pass->rewrites()) continue;
    long merged = 0, undecided = 0;
    for (std::uint64_t n = 0; n < 400; ++n) {
      const generate::StandardCase c = generate::standard_mix(18, n);
      const auto after = pass->run(c.program, *ir::find_target(c.target), {});
      ASSERT_TRUE(after.has_value());
      const MergeReport report = check_merges(c.program, *after, {.by_type = pass->name() == "nvptx"});
      EXPECT_TRUE(report.faults.empty()) << pass->name() << ", case " << n << ": " << report.faults[0];
      merged += report.merged;
      undecided += report.undecided;
    }
    RecordProperty(std::string(pass->name()) + "_merged", std::to_string(merged));
    RecordProperty(std::string(pass->name()) + "_undecided", std::to_string(undecided));
    EXPECT_GT(merged, 400) << pass->name();
    if (pass->name() == "nvptx") {
      EXPECT_LT(undecided * 20, merged);
    }
  }
}

}  // namespace
}  // namespace regduel::properties
