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
  const Phases p(R"(vreg %0 R b32
vreg %1 R b64
block b0
#0 %0 = ld
#1 %1 = ld
#2 st %0, %1 !write
#3 exit
)");
  EXPECT_TRUE(std::ranges::all_of(p.plan.locations, &Location::is_register));
  const Plan last = p.problem.all_in_memory();
  EXPECT_TRUE(std::ranges::all_of(last.locations, &Location::is_slot));
  EXPECT_EQ(last.slots[last.locations[1].slot()].bytes, 8u);
  EXPECT_THAT(last.is_pinned, ::testing::Each(1));
}

}  // namespace
}  // namespace regduel::reference
