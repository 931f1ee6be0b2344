// Random programs where regduel-llc is there, which is built with LLVM alone.
#include "llvm/random/campaign.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::llvm {
namespace {

TEST(Campaign, TheSameSeedMakesTheSamePrograms) {
  const RandomOptions o{.machine = find_machine("x86_64"), .seed = 7};
  EXPECT_EQ(ir::print(random_program(o, 3)), ir::print(random_program(o, 3)));
  EXPECT_NE(ir::print(random_program(o, 3)), ir::print(random_program(o, 4)));
}

// The machine verifier accepts each program, and greedy's allocations are right.
TEST(Campaign, GreedyIsRightOnEachMachine) {
  const Tools tools = find_tools("");
  if (tools.regduel_llc.empty()) GTEST_SKIP() << "no regduel-llc";
  for (const Machine& m : machines()) {
    SCOPED_TRACE(m.name);
    const RandomBatch b = play(tools, {.machine = &m, .allocator = "greedy"}, 0, 20);
    EXPECT_EQ(b.programs, 20);
    EXPECT_GE(b.judged, 20);
    EXPECT_EQ(b.judged, b.pass);
    EXPECT_TRUE(b.refused.empty()) << b.refused.begin()->first;
    for (const RandomFinding& f : b.findings)
      ADD_FAILURE() << f.index << ": " << f.kind << ": " << f.signature << "\n" << f.words << f.mir;
  }
}

}  // namespace
}  // namespace regduel::llvm
