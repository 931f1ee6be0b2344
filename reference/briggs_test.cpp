// Whole allocations of the smallest programs that show one thing each. Correctness in bulk is the judges' business (fuzz/).
#include "reference/colourer.h"

#include <sstream>

#include <fmt/format.h>

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::allocate;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::parse_body;

TEST(Briggs, CopiesVanishAndDeadRegistersAreUsedAgain) {
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 %2 = add %1, 1
#3 st %2 !write
#4 exit
)",
      255);
  EXPECT_EQ(run.text,
            R"(  block b0
    #0 R0 = ld
    #1 copy !deleted
    #2 R0 = add R0, 1
    #3 st R0 !write
    #4 exit
)");
  EXPECT_EQ(run.allocation.claims.registers[0], 1);
}

constexpr std::string_view kFourLive =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = ld 3
#4 st %3, %2 !write
#5 st %1 !write
#6 st %0 !write
#7 exit
)";

TEST(Briggs, SpillsOnlyWhereTheLimitAsksForIt) {
  const Outcome four = allocate(kFourLive, 4);
  EXPECT_EQ(four.allocation.claims.spill_store_bytes, 0);
  EXPECT_EQ(four.allocation.claims.registers[0], 4);
  const Outcome three = allocate(kFourLive, 3);
  EXPECT_EQ(three.allocation.claims.spill_store_bytes, 4);
  EXPECT_EQ(three.allocation.claims.spill_load_bytes, 4);
  EXPECT_EQ(three.allocation.program.local_frame, 4u);
  EXPECT_TRUE(allocate(kFourLive, 2).ok);
}

// Six values live across a call that spares four units of eight, ever more of which are tried: with fuel each attempt is made,
// without it none that a clique proves hopeless.
TEST(Briggs, AttemptsProvedHopelessAreSkippedWithoutATrace) {
  const ir::Function f = parse_body(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b32
vreg %5 R b32
vreg %6 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = ld 3
#4 %4 = ld 4
#5 %5 = ld 5
#6 call "f" clobbers R0:R3
#7 %6 = copy %5
#8 st %0, %1 !write
#9 st %2, %3 !write
#10 st %4, %6 !write
#11 exit
)");
  for (const int registers : {6, 7, 8, 9, 10, 16}) {
    ir::AllocOptions options;
    options.limits = ir::Limits::of(ir::default_target(), registers);
    ir::Fuel fuel;
    const auto without = make_briggs()->allocate(f, ir::default_target(), options);
    options.fuel = &fuel;
    const auto with = make_briggs()->allocate(f, ir::default_target(), options);
    ASSERT_TRUE(with && without);
    EXPECT_EQ(ir::print(with->program), ir::print(without->program)) << registers;
    EXPECT_EQ(without->claims.spill_store_bytes > 0, registers < 10) << registers;
  }
}

// Where %0 comes first it takes R4, and no pair is left at R4 and R6 within seven registers; the next try begins with the pair.
TEST(Briggs, ANodeThatFindsNoPlaceComesFirstInTheNextTry) {
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 R b64
vreg %2 R b96
block b0
#0 %0 = op
#1 %1 = op clobbers R0:R3
#2 %2 = op
#3 op %1, %0
#4 exit
)",
      255);
  EXPECT_EQ(run.text,
            R"(  block b0
    #0 R6 = op
    #1 R4:R5 = op clobbers R0:R3
    #2 R0:R2 = op
    #3 op R4:R5, R6
    #4 exit
)");
}

TEST(Briggs, ImpossibleLimitsSaySo) {
  const Outcome run = allocate(kFourLive, 1);
  EXPECT_FALSE(run.ok);
  EXPECT_EQ(run.text, ir::failure_message(1));
  EXPECT_FALSE(allocate(kFourLive, 0).ok);
}

TEST(Briggs, TheLastResortPutsEverythingIntoMemory) {
  const Outcome run =
      allocate(kFourLive, 2, {{"briggs-max-rounds", "1"}, {"briggs-rematerialise", "0"}, {"briggs-lazy-refill", "0"}});
  EXPECT_TRUE(run.ok);
  EXPECT_EQ(run.allocation.claims.spill_store_bytes, 16);
  EXPECT_EQ(run.allocation.claims.spill_load_bytes, 16);
}

TEST(Briggs, ConstantsAreComputedAgainRatherThanSpilled) {
  constexpr std::string_view kText =
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = const 7 !remat
#1 %1 = ld
#2 st %1 !write
#3 st %0 !write
#4 exit
)";
  const Outcome remat = allocate(kText, 1);
  EXPECT_EQ(remat.text,
            R"(  block b0
    #0 const !remat !deleted
    #1 R0 = ld
    #2 st R0 !write
    +5 R0 = remat #0 7
    #3 st R0 !write
    #4 exit
)");
  EXPECT_EQ(allocate(kText, 1, {{"briggs-rematerialise", "0"}}).allocation.claims.spill_store_bytes, 4);
}

TEST(Briggs, SwappedPhisTakeOneMoreRegister) {
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 R b32
vreg %4 R b32
block b0
#0 %3 = ld 0
#1 %4 = ld 1
#2 bra -> b1
block b1
#3 %0 = phi b0: %3, b1: %1
#4 %1 = phi b0: %4, b1: %0
#5 %2 = setp %0
#6 cbra %2 -> b1, b2
block b2
#7 st %0, %1 !write
#8 exit
)",
      255);
  EXPECT_LE(run.allocation.claims.registers[0], 3);
  EXPECT_THAT(run.text, HasSubstr("edge b1 -> b1"));
}

TEST(Briggs, EdgesWithoutCopiesGetNoBlock) {
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 P pred
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = setp %0
#2 cbra %1 -> b1, b2
block b1
#3 %2 = phi b0: %0, b1: %2
#4 st %2 !write
#5 cbra %1 -> b1, b2
block b2
#6 exit
)",
      255);
  EXPECT_THAT(run.text, Not(HasSubstr("edge")));
  EXPECT_EQ(run.allocation.claims.registers[0], 1);
}

// Eight accumulators and a load with eight registers. One by one, the parts of the accumulators took 16 accesses to memory.
TEST(Briggs, AnAccumulatorGoesToMemoryAsOne) {
  std::string text;
  for (int v = 0; v < 25; ++v) text += fmt::format("vreg %{} R b32\n", v);
  text += "vreg %25 P pred\nblock b0 depth 0\n";
  int i = 0;
  const auto add = [&](const std::string& inst) { text += fmt::format("#{} {}\n", i++, inst); };
  for (int v = 0; v < 8; ++v) add(fmt::format("%{} = ld !read", v));
  add("bra -> b1");
  text += "block b1 depth 1\n";
  for (int v = 0; v < 8; ++v) add(fmt::format("%{} = phi b0:%{}, b1:%{}", v + 8, v, v + 16));
  add("%24 = ld !read");
  for (int v = 0; v < 8; ++v) add(fmt::format("%{} = fma %{}, %24", v + 16, v + 8));
  add("%25 = setp %24");
  add("cbra %25 -> b1, b2");
  text += "block b2 depth 0\n";
  for (int v = 0; v < 8; ++v) add(fmt::format("st %{} !write", v + 16));
  add("exit");
  const Outcome run = allocate(text, 8);
  int accesses = 0;
  std::istringstream lines(run.text);
  for (std::string line; std::getline(lines, line);) accesses += line.contains("+") && line.contains(" slot ");
  EXPECT_LE(accesses, 8) << run.text;
}

TEST(Briggs, FixedTiedAndClobbered) {
  const Outcome run = allocate(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2{=R4} = call "f", %0{=R4} clobbers R0:R7
#3 %3{tied 1} = mad %1, %2
#4 st %1, %3 !write
#5 exit
)",
      16);
  EXPECT_EQ(run.text,
            R"(  block b0
    #0 R4 = ld 0
    #1 R8 = ld 1
    #2 R4 = call "f", R4 clobbers R0:R7
    +6 R0 = copy R8
    #3 R0 = mad R0, R4
    #4 st R8, R0 !write
    #5 exit
)");
}

TEST(Briggs, CalleeSavedRegistersAreSavedWhereTheyAreUsed) {
  constexpr std::string_view kText =
      R"(vreg %0 R b32
block b0
#0 %0 = ld
#1 call "f" clobbers R0:R23, R32:R254
#2 st %0 !write
#3 ret
)";
  const Outcome device = allocate(kText, 255, {}, "device");
  EXPECT_EQ(device.text,
            R"(  block b0
    +4 spill R24, slot 0
    #0 R24 = ld
    #1 call "f" clobbers R0:R23, R32:R254
    #2 st R24 !write
    +5 R24 = refill slot 0
    #3 ret
)");
  EXPECT_EQ(allocate(kText, 255).allocation.claims.spill_store_bytes, 0) << "a kernel has none";
  std::string no_return(kText);
  no_return.replace(no_return.rfind("ret"), 3, "exit");
  EXPECT_EQ(allocate(no_return, 255, {}, "device").allocation.claims.spill_store_bytes, 0) << "no caller gets anything back";
}

TEST(Briggs, NarrowValuesMoveTheirOwnBytes) {
  const Outcome run = allocate(R"(vreg %0 R b16
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 st %1 !write
#3 st %0 !write
#4 exit
)",
                               1);
  EXPECT_THAT(run.text, HasSubstr("spill R0.lo, slot 0"));
  EXPECT_EQ(run.allocation.program.slots[0].size, 2u);
}

TEST(Briggs, StrangeControlFlow) {
  // The entry has predecessors, no block ends, one is unreachable and reads what nothing defines.
  EXPECT_TRUE(allocate(R"(vreg %0 R b32
vreg %1 P pred
block b0
#0 %0{inout} = acc
#1 %1 = setp %0
#2 cbra %1 -> b0, b1
block b1
#3 st %0 !write
#4 mbra %0 -> b0, b1, b1
block b2
#5 st %0 !write
#6 bra -> b1
)",
                       1)
                  .ok);
}

TEST(Briggs, TheSameInputGivesTheSameBytes) { EXPECT_EQ(allocate(kFourLive, 2).text, allocate(kFourLive, 2).text); }

// The graph is the path %3 - %1 - %0 - %2. With all units at hand every node is trivially colourable and the highest number is
// coloured first: both ends get R0, and %0 stands between R0 and R1.
TEST(Briggs, TheFewestUnitsAreLookedForUnlessAKnobSaysOtherwise) {
  constexpr std::string_view kPath =
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %3 = ld 3
#1 %1 = ld 1
#2 st %3 !write
#3 %0 = ld 0
#4 st %1 !write
#5 %2 = ld 2
#6 st %0 !write
#7 st %2 !write
#8 exit
)";
  EXPECT_EQ(allocate(kPath, 255).allocation.claims.registers[0], 2);
  EXPECT_EQ(allocate(kPath, 255, {{"briggs-fewest-units", "0"}}).allocation.claims.registers[0], 3);
  const Outcome two = allocate(kPath, 2, {{"briggs-fewest-units", "0"}});
  EXPECT_EQ(two.allocation.claims.registers[0], 2);
  EXPECT_EQ(two.allocation.claims.spill_store_bytes, 0);
}

TEST(Briggs, TheKnobsDoSomething) {
  // Of two values that are live together, the one that dies last is copied: once the one defined first, once the other. One of
  // them is not in the lowest register, which is free again at the copy.
  constexpr std::string_view kCopies =
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b32
vreg %5 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 st %0 !write
#3 %2 = copy %1
#4 st %2 !write
#5 %3 = ld 3
#6 %4 = ld 4
#7 st %4 !write
#8 %5 = copy %3
#9 st %5 !write
#10 exit
)";
  const auto copies = [&](std::vector<std::pair<std::string, std::string>> knobs) {
    const Outcome run = allocate(kCopies, 255, std::move(knobs));
    int n = 0;
    for (const ir::Inst& i : run.allocation.program.insts) n += i.is_copy() && !i.is_deleted() ? 1 : 0;
    return n;
  };
  EXPECT_EQ(copies({}), 0);
  EXPECT_EQ(copies({{"briggs-biased-select", "0"}}), 0);
  EXPECT_EQ(copies({{"briggs-coalesce", "0"}, {"briggs-biased-select", "0"}}), 1);
  // Three values live across a loop that has one use of one of them, registers for two. Where loops weigh nothing, %0 has the
  // fewest references.
  constexpr std::string_view kLoop =
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %3 = ld 2
#3 bra -> b1
block b1
#4 %2 = setp %0
#5 cbra %2 -> b1, b2
block b2
#6 st %1, %3, 1 !write
#7 st %1, %3, 2 !write
#8 exit
)";
  const auto in_loop = [&](const char* base) {
    const std::string text = allocate(kLoop, 2, {{"briggs-loop-base", base}}).text;
    return text.substr(text.find("block b1"), text.find("block b2") - text.find("block b1"));
  };
  EXPECT_THAT(in_loop("10"), Not(HasSubstr("refill")));
  EXPECT_THAT(in_loop("1"), HasSubstr("refill"));
}

}  // namespace
}  // namespace regduel::reference
