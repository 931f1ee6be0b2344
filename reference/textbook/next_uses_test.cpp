#include "reference/textbook/next_uses.h"

#include "reference/spill/worklist.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

// %0 is used in the loop, %1 behind it, which is an exit away.
constexpr std::string_view kLoop =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 bra -> b1
block b1 freq 10
#3 %2 = setp %0
#4 st %0 !write
#5 cbra %2 -> b1, b2
block b2
#6 st %1 !write
#7 exit
)";

TEST(NextUses, CountsInstructionsAndExits) {
  const testing::Phases p(kLoop);
  const std::vector<std::uint32_t> order = reverse_postorder(p.code);
  NextUses uses(p.code, p.liveness, order);
  uses.begin(0);
  uses.pass(0);
  EXPECT_EQ(uses.distance(1), 1u);  // its def
  uses.pass(1);
  EXPECT_EQ(uses.distance(0), 2u);
  EXPECT_EQ(uses.distance(1), 1u + 3 + 1 + NextUses::kExit);
  EXPECT_EQ(uses.distance(2), NextUses::kNever);  // defined anew before it is used
  uses.begin(1);
  uses.pass(4);
  EXPECT_EQ(uses.distance(0), 2u);  // around the loop
  EXPECT_EQ(uses.next_frequency(1), p.code.blocks[2].freq);
  EXPECT_EQ(uses.at_head(1, 1), 3 + 1 + NextUses::kExit);
}

}  // namespace
}  // namespace regduel::reference
