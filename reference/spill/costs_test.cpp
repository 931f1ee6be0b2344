#include "reference/spill/costs.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(Spill, CostIsTheSumOfFrequencies) {
  Phases p(
      "vreg %0 R b32\nvreg %1 P pred\nvreg %2 R b32\nblock b0\n#0 %0 = ld\n#1 %2 = const 1 !remat\n#2 bra -> b1\nblock b1\n"
      "#3 %1 = setp %0, %2\n#4 cbra %1 -> b1, b2\nblock b2\n#5 st %0 !write\n#6 exit\n");
  EXPECT_EQ(p.r().cost(p.graphs.node_of[0]), 1u + 10u + 1u);
  EXPECT_EQ(p.r().cost(p.graphs.node_of[2]), 10u) << "the def of what can be computed again costs nothing";
}

}  // namespace
}  // namespace regduel::reference
