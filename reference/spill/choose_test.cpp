#include "reference/spill/choose.h"

#include "reference/colour/simplify.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(Spill, ANodeWithoutColourIsSpilledAndALocalTempMakesRoom) {
  Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 %2{tied 1} = mad %0, %1
#3 st %0, %2 !write
#4 st %1 !write
#5 exit
)",
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
