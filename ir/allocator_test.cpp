#include "ir/allocator.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

TEST(AllocFailure, MessageIsThatOfTheSource) {
  EXPECT_EQ(failure_message(24),
            "Register allocation failed with register count of '24'. Compile the program with a higher register target");
}

TEST(AllocFailure, ReportHasFunctionInstructionAndLineWhereTheyAreKnown) {
  const auto module = parse(
      "rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #4 op !line \"a.cu\" 12:3\n    #5 op !line \"b.cu\" 7\n"
      "    #6 exit\n");
  ASSERT_TRUE(module.has_value());
  const Function& f = module->functions[0];
  const auto report = [&](InstId inst) { return failure_report(f, {.message = "it failed", .inst = inst}); };
  EXPECT_EQ(report(InstId(4)), "@f: #4 at a.cu:12:3: it failed");
  EXPECT_EQ(report(InstId(5)), "@f: #5 at b.cu:7: it failed");
  EXPECT_EQ(report(InstId(6)), "@f: #6: it failed");
  EXPECT_EQ(report({}), "@f: it failed");
  EXPECT_EQ(report(InstId(99)), "@f: it failed");
}

}  // namespace
}  // namespace regduel::ir
