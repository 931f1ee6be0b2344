#include "reference/spill/costs.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(Spill, CostIsTheSumOfFrequencies) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 P pred
vreg %2 R b32
block b0
#0 %0 = ld
#1 %2 = const 1 !remat
#2 bra -> b1
block b1
#3 %1 = setp %0, %2
#4 cbra %1 -> b1, b2
block b2
#5 st %0 !write
#6 exit
)");
  EXPECT_EQ(p.r().cost(p.graphs.node_of[0]), 1u + 10u + 1u);
  EXPECT_EQ(p.r().cost(p.graphs.node_of[2]), 10u) << "the def of what can be computed again costs nothing";
}

}  // namespace
}  // namespace regduel::reference
