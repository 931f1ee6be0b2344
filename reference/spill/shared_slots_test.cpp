#include "reference/spill/shared_slots.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;

// With the values that are named in a slot each, in the order of their numbers.
std::vector<std::uint32_t> shared(std::string_view body, const std::vector<TempId>& spilled) {
  testing::Phases p(body);
  for (const TempId v : spilled) p.plan.locations[v] = Location::in_slot(p.plan.add_slot(p.code.temps[v].bytes));
  const Code code = lower(p.problem, p.plan);
  return shared_slots(code, p.plan, std::vector<std::uint8_t>(code.insts.size(), 0));
}

constexpr std::string_view kOneAfterTheOther =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b64
block b0
#0 %0 = ld 0
#1 st %0 !write
#2 %1 = ld 1
#3 %2 = ld 2
#4 st %1, %2 !write
#5 exit
)";

TEST(SharedSlots, OneAfterTheOther) { EXPECT_THAT(shared(kOneAfterTheOther, {0, 1}), ElementsAre(0, 0)); }

TEST(SharedSlots, NotAtOneTime) { EXPECT_THAT(shared(kOneAfterTheOther, {1, 2}), ElementsAre(0, 1)); }

// The largest is the first of its class.
TEST(SharedSlots, TheLargestHoldsAll) { EXPECT_THAT(shared(kOneAfterTheOther, {0, 2}), ElementsAre(1, 1)); }

// %0 is stored before the loop and read in it, so that it lives where %1 is stored, in each round.
TEST(SharedSlots, WhatALoopReadsLivesAroundIt) {
  EXPECT_THAT(shared(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld 0
#1 bra -> b1
block b1
#2 st %0 !write
#3 %1 = ld 1
#4 %2 = setp %1
#5 cbra %2 -> b1, b2
block b2
#6 exit
)",
                     {0, 1}),
              ElementsAre(0, 1));
}

// Each way has a value of its own.
TEST(SharedSlots, TwoWays) {
  EXPECT_THAT(shared(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %3 = setp %0
#2 cbra %3 -> b1, b2
block b1
#3 %1 = ld 1
#4 st %1, %0 !write
#5 bra -> b3
block b2
#6 %2 = ld 2
#7 st %2, %0 !write
#8 bra -> b3
block b3
#9 exit
)",
                     {0, 1, 2}),
              ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace regduel::reference
