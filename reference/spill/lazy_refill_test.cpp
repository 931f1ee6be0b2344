// The four steps of lazy refill on the smallest programs that show them; correctness in bulk is the judges' business (fuzz/).
#include "reference/spill/lazy_refill.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::allocate;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using Knobs = std::vector<std::pair<std::string, std::string>>;

// %0 is spilled around #1 to #3, whose three values need all registers, and read twice in a row afterwards.
constexpr std::string_view kTwoUses =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = ld 3
#4 st %1, %2, %3 !write
#5 st %1, %2, %3 !write
#6 st %0, 6 !write
#7 st %0, 7 !write
#8 exit
)";

int refills(const Outcome& run) {
  int n = 0;
  for (const ir::Inst& i : run.allocation.program.insts) n += i.op == ir::Op::Refill ? 1 : 0;
  return n;
}
int spills(const Outcome& run) {
  int n = 0;
  for (const ir::Inst& i : run.allocation.program.insts) n += i.op == ir::Op::Spill ? 1 : 0;
  return n;
}

TEST(LazyRefill, NeighbouringUsesShareARefill) {
  const Outcome lazy = allocate(kTwoUses, 3);
  EXPECT_EQ(lazy.text,
            R"(  block b0
    #0 R0 = ld 0
    +9 spill R0, slot 0
    #1 R2 = ld 1
    #2 R1 = ld 2
    #3 R0 = ld 3
    #4 st R2, R1, R0 !write
    #5 st R2, R1, R0 !write
    +10 R0 = refill slot 0
    #6 st R0, 6 !write
    #7 st R0, 7 !write
    #8 exit
)");
  EXPECT_EQ(refills(allocate(kTwoUses, 3, {{"briggs-lazy-refill", "0"}})), 2);
}

// Three instructions lie between the first use of %0 and where its second refill would stand, and another value needs a register
// there.
TEST(LazyRefill, NoFurtherThanTheKnobSays) {
  constexpr std::string_view kText =
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 call "f" clobbers R0:R1
#2 st %0, 2 !write
#3 %1 = ld 3
#4 st %1, 4 !write
#5 st %0, 5 !write
#6 exit
)";
  const auto of = [&](const char* distance) { return refills(allocate(kText, 2, {{"briggs-refill-distance", distance}})); };
  EXPECT_EQ(of("2"), 2);
  EXPECT_EQ(of("3"), 1);
  EXPECT_EQ(of("1000"), 1);
}

TEST(LazyRefill, AUseSoonAfterTheDefReadsTheDefsRegister) {
  constexpr std::string_view kText =
      R"(vreg %0 R b32
block b0
#0 %0 = ld 0
#1 st %0, 1 !write
#2 call "f" clobbers R0:R1
#3 st %0, 3 !write
#4 exit
)";
  const Outcome lazy = allocate(kText, 2);
  EXPECT_EQ(lazy.text,
            R"(  block b0
    #0 R0 = ld 0
    +5 spill R0, slot 0
    #1 st R0, 1 !write
    #2 call "f" clobbers R0:R1
    +6 R0 = refill slot 0
    #3 st R0, 3 !write
    #4 exit
)");
  EXPECT_EQ(refills(allocate(kText, 2, {{"briggs-lazy-refill", "0"}})), 2);
}

TEST(LazyRefill, AWrittenTempHoldsItsSlotNoLonger) {
  // #3 overwrites the register into which %0 was refilled, as it is tied.
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 call "f" clobbers R0:R1
#2 st %0, 2 !write
#3 %1{tied 1} = add %0, 3
#4 st %1, 4 !write
#5 st %0, 5 !write
#6 exit
)",
      2);
  EXPECT_THAT(run.text, HasSubstr("#5 st"));
  EXPECT_LE(refills(run), 2);
  EXPECT_GE(refills(run), 1);
}

// Both ways to b3 refill %0 into R0; with a call on one of them only the other one leaves it there.
std::string diamond(std::string_view last_of_b2) {
  return R"(vreg %0 R b32
vreg %1 P pred
block b0
#0 %0 = ld 0
#1 %1 = setp
#2 call "f" clobbers R0:R1
#3 cbra %1 -> b1, b2
block b1
#4 st %0, 4 !write
#5 bra -> b3
block b2
#6 st %0, 6 !write
)" + std::string(last_of_b2) +
         R"(#8 bra -> b3
block b3
#9 st %0, 9 !write
#10 exit
)";
}

TEST(LazyRefill, ARefillThatIsRedundantOnAllPathsGoes) {
  EXPECT_EQ(refills(allocate(diamond(""), 2)), 2);
  EXPECT_EQ(refills(allocate(diamond(""), 2, {{"briggs-lazy-refill", "0"}})), 3);
}
TEST(LazyRefill, ARefillThatIsNeededOnOnePathStays) {
  EXPECT_EQ(refills(allocate(diamond("#7 call \"f\" clobbers R0:R1\n"), 2)), 3);
}

TEST(LazyRefill, StoresThatNoRefillReadsGo) {
  // In memory throughout: %0 is stored anew before any refill, %1 never refilled.
  constexpr std::string_view kText =
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 %0 = ld 1
#2 %1 = ld 2
#3 call "f" clobbers R0
#4 st %0 !write
#5 exit
)";
  const Knobs all_in_memory = {{"briggs-max-rounds", "1"}, {"briggs-rematerialise", "0"}};
  EXPECT_EQ(spills(allocate(kText, 1, all_in_memory)), 1);
  Knobs eager = all_in_memory;
  eager.emplace_back("briggs-lazy-refill", "0");
  EXPECT_EQ(spills(allocate(kText, 1, eager)), 3);
}

// A store of a part ends no value: the other bytes are still those of the store before.
TEST(LazyRefill, AStoreOfAPartKeepsTheStoreBeforeIt) {
  const Outcome run = allocate(
      R"(vreg %0 R b64
block b0
#0 %0 = ld 0
#1 call "f" clobbers R0:R1
#2 %0.lo = ld 2
#3 call "f" clobbers R0:R1
#4 st %0 !write
#5 exit
)",
      2);
  EXPECT_EQ(spills(run), 2);
  EXPECT_THAT(run.text, Not(HasSubstr("deleted")));
}

}  // namespace
}  // namespace regduel::reference
