#include "reference/program/plan.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

TEST(Location, SaysWhereAndNothingElse) {
  EXPECT_TRUE(Location().is_register());
  EXPECT_TRUE(Location::in_slot(3).is_slot());
  EXPECT_EQ(Location::in_slot(3).slot(), 3u);
  EXPECT_TRUE(Location::nowhere().is_nowhere());
  EXPECT_NE(Location::in_slot(3), Location::in_slot(4));
  EXPECT_NE(Location::in_slot(0), Location());
  EXPECT_NE(Location::nowhere(), Location());
}

TEST(Plan, EverythingInMemoryLeavesNothingInARegister) {
  const Phases p("vreg %0 R b32\nvreg %1 R b64\nblock b0\n#0 %0 = ld\n#1 %1 = ld\n#2 st %0, %1 !write\n#3 exit\n");
  EXPECT_TRUE(std::ranges::all_of(p.plan.locations, &Location::is_register));
  const Plan last = p.problem.all_in_memory();
  EXPECT_TRUE(std::ranges::all_of(last.locations, &Location::is_slot));
  EXPECT_EQ(last.slots[last.locations[1].slot()].bytes, 8u);
  EXPECT_THAT(last.is_pinned, ::testing::Each(1));
}

}  // namespace
}  // namespace regduel::reference
