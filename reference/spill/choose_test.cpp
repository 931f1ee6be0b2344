#include "reference/spill/choose.h"

#include "reference/colour/simplify.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(Spill, ANodeWithoutColourIsSpilledAndALocalTempMakesRoom) {
  Phases p(
      "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nblock b0\n#0 %0 = ld\n#1 %1 = ld\n#2 %2{tied 1} = mad %0, %1\n#3 st %0, %2 "
      "!write\n"
      "#4 st %1 !write\n#5 exit\n",
      3);
  FileGraph& g = p.r();
  const UnitSet two = UnitSet::range(0, 2);
  const Colouring c = select(g, simplify(g, two, Optimism::CheapestFirst), {.available = two, .last_resort = {}});
  ASSERT_FALSE(c.failed.empty());
  Plan plan = p.plan;
  EXPECT_TRUE(choose_spills(g, c, two, p.problem, p.code, {}, plan));
  EXPECT_TRUE(std::ranges::any_of(plan.locations, &Location::is_slot));
}

}  // namespace
}  // namespace regduel::reference
