// For each knob of fatpoint, a program whose allocation it changes; a knob without an effect has no place in the table.
//
// Each row has a text of the allocation with the default, and one of the allocation with another value. Judges are elsewhere; here
// only the small machine of testing.h checks that both allocations do what the program does. Most of the programs are random ones,
// reduced (fuzz/triage/reduce.h) as long as the knob still makes a difference; a row that shows no difference any more can be
// replaced in the same way. DUMPIR (266), IgnorePotentialMixedSizeProblems and memcheck change the report of the verifier and no
// allocation (cli_test.cpp, Cli.MemcheckHasItsKnobs).

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/knobs.h"
#include "allocator/testing.h"

namespace regduel::allocator {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Effect {
  Knob knob;
  std::string_view value;  // instead of the default
  Settings with;           // in both runs
  int registers;           // the limit of the general file
  std::string_view program;
  std::string_view by_default, by_value;  // what stands in the one allocation, and not in the other
};

// By the start of their ranges the scalar comes first and leaves no pair below R2: widest first, it does.
constexpr std::string_view kScalarBeforePair = R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0 !write
      #3 exit
)";

// One register too few. Guidance lets the scalar go; where it says nothing, eviction has to see to it.
// A constant and 64 values live at once.
std::string_view sixty_five_values() {
  static const std::string kText = [] {
    std::string text;
    for (int v = 0; v <= 64; ++v) text += fmt::format("    vreg %{} R b32\n", v);
    text += "    block b0\n      #0 %0 = const 1 !remat\n";
    for (int v = 1; v <= 64; ++v) text += fmt::format("      #{} %{} = ld {}\n", v, v, v);
    for (int v = 64; v >= 0; --v) text += fmt::format("      #{} st %{} !write\n", 129 - v, v);
    return text + "      #130 exit\n";
  }();
  return kText;
}
constexpr std::string_view kPairAndScalar = R"(
    vreg %0 R b64
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)";

// What finds no register for its whole range goes to memory.
const Settings::value_type kStill{"FatPointMovingHomes", "0"};
// A vreg that is spilled is so everywhere.
const Settings kWhole = {{"FatPointSplitLiveRanges", "0"}};

constexpr std::string_view kCopyBehindAnother = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %0 !write
      #3 %2 = copy %1
      #4 st %2 !write
      #5 exit
)";
constexpr std::string_view kEstimatedLoopIterations = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1 !write
      #4 st %1 !write
      #5 bra -> b1
    block b1
      #6 st %0 !write
      #7 bra -> b1
)";
constexpr std::string_view kBankAware = R"(
    vreg %0..%4 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 %4 = ld 4
      #5 mad %0, %4
      #6 st %1 !write
      #7 st %2 !write
      #8 st %3 !write
      #9 exit
)";
constexpr std::string_view kSpillBitHighRegCountHeur = R"(
    vreg %0 R b256
    vreg %1 R b32
    vreg %2 R b256
    vreg %3 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 st %1, %0, %2 !write
      #5 exit
)";
constexpr std::string_view kRegisterUsageLevel = R"(
    vreg %0 R b32
    block b0
      #0 %0 = const 1 !remat
      #1 call "f" clobbers R0:R15
      #2 st %0 !write
      #3 exit
)";
constexpr std::string_view kDisableSmemReservation = R"(
    vreg %0 UR b32
    block b0
      #0 %0 = ld 0
      #1 st clobbers UR0:UR62 !write
      #2 st %0 !write
      #3 exit
)";
constexpr std::string_view kSpillRounds = R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1 clobbers R0:R23
      #2 st %0, %1 !write
      #3 exit
)";
constexpr std::string_view kRematerialise = R"(
    vreg %0 R b32
    block b0
      #0 %0 = const 1 !remat
      #1 call "f" clobbers R0:R23
      #2 st %0 !write
      #3 exit
)";
constexpr std::string_view kRefillReuse = R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0
      #1 st %0 clobbers R0:R23 !write
      #2 st %0 !write
      #3 exit
)";
constexpr std::string_view kLargeProgram = R"(
    vreg %0 R b64
    vreg %1 R b96
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)";
constexpr std::string_view kPredicatePacks = R"(
    vreg %0..%7 P pred
    block b0
      #0 %0, %1, %2, %3 = isetp 0
      #1 %4, %5, %6, %7 = isetp 1
      #2 st %4, %5, %6, %7 !write
      #3 st %0, %1, %2, %3 !write
      #4 exit
)";
constexpr std::string_view kWideAccesses = R"(
    vreg %0..%1 R b32
    vreg %2 R b128
    block b0
      #0 %0, %1 = ld 0
      #1 %2 = ld 16
      #2 st %2 !write
      #3 st %0, %1 !write
      #4 exit
)";
constexpr std::string_view kChains = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 %2{=R0} = ld 2
      #3 st %1, %2 !write
      #4 exit
)";
constexpr std::string_view kMergeCopies = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 %2 = ld 2
      #3 st %1, %2 !write
      #4 st %0 !write
      #5 st %1 !write
      #6 exit
)";
constexpr std::string_view kEviction = R"(
    vreg %0 R b64
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %1 !write
      #4 st %1 !write
      #5 st %0 !write
      #6 exit
)";
constexpr std::string_view kLowerLimits = R"(
    vreg %0 R b96
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)";

// %0 and %1 stand in one half, for %2 needs the other, where %3 and %4 come after it. Then %0 and %3 are left, and %5 has no pair.
constexpr std::string_view kMovingHomes = R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    vreg %3..%4 R b32
    vreg %5 R b64
    block b0
      #0 %0, %1 = ld 0
      #1 %2 = ld 1
      #2 st %2 !write
      #3 %3, %4 = ld 3
      #4 st %1, %4 !write
      #5 %5 = ld 5
      #6 st %5 !write
      #7 st %0, %3 !write
      #8 exit
)";

const std::vector<Effect>& effects() {
  static const std::vector<Effect> kEffects = {
      // At ten turns what the loop reads has to stay; at one it is as cheap as the rest, and lives longest.
      {Knob::EstimatedLoopIterations, "1", kWhole, 2, kEstimatedLoopIterations, "spill R1", "spill R0"},
      {Knob::FastAllocation, "1", {}, 255, kScalarBeforePair, "R0:R1 = ld", "R2:R3 = ld"},
      {Knob::NoSpillAttempts, "2", {{"638", "1"}}, 255, kScalarBeforePair, "R2:R3 = ld", "R0:R1 = ld"},
      // R0 and R4 are in one of four banks.
      {Knob::BankAware, "1", {}, 255, kBankAware, "mad R0, R4", "mad R1, R4"},
      // At level 10 the tiers end at 16 registers, unless these knobs reach further.
      {Knob::SpillBitHighRegCountHeur,
       "8",
       {{"RegisterUsageLevel", "10"}, {"661", "3"}, {"663", "8"}, kStill},
       17,
       kSpillBitHighRegCountHeur,
       "spill R0:R7",
       "spill R8,"},
      {Knob::SpillBitHighRegScale, "3", {{"665", "3"}, kWhole[0], kStill}, 2, kPairAndScalar, "ld 1\n    #2 st", "refill slot 1"},
      {Knob::SpillBitLowRegCountHeur,
       "1",
       {{"661", "1000"}, kWhole[0], kStill},
       2,
       kPairAndScalar,
       "ld 1\n    #2 st",
       "refill slot 1"},
      {Knob::SpillBitLowRegScale, "3", {kWhole[0], kStill}, 2, kPairAndScalar, "ld 1\n    #2 st", "refill slot 1"},
      {Knob::SpillBitMediumRegScale, "3", {{"661", "3"}, kWhole[0], kStill}, 2, kPairAndScalar, "ld 1\n    #2 st", "refill slot 1"},
      // Sixteen registers are aimed at, and the call takes them all.
      {Knob::RegisterUsageLevel, "10", {}, 255, kRegisterUsageLevel, "R16 = const 1", "remat #0"},
      {Knob::FastCompile, "2", {}, 255, kScalarBeforePair, "R0:R1 = ld", "R2:R3 = ld"},
      {Knob::DisableSmemReservation, "1", {}, 255, kDisableSmemReservation, "slot 0 shared", "slot 0 local"},
      // The first instruction is packed by itself, and what it leaves behind is spilled there.
      {Knob::SpillRounds, "0", {kStill}, 2, kSpillRounds, "st R1, R0", "st R0, R1"},
      {Knob::Rematerialise, "0", {}, 1, kRematerialise, "remat #0", "refill slot 0"},
      {Knob::RefillReuse, "0", kWhole, 1, kRefillReuse, "spill R0, slot 0\n    #1", "spill R0, slot 0\n    +5"},
      // Eviction keeps room for the temporary that the spilled pair will need, and the triple has to go as well.
      {Knob::LargeProgram, "0", {}, 5, kLargeProgram, "ld 1\n    #2 st", "refill slot 1"},
      {Knob::PoolLimit, "0", {kWhole[0], kStill}, 2, kPairAndScalar, "ld 1\n    #2 st", "refill slot 1"},
      // %0 is read twice in a row, behind what does not leave it its register.
      {Knob::SplitLiveRanges, "0", {{"FatPointRefillReuse", "0"}}, 2, testing::kReadTwice, "#3 st R0 !write\n    #4", "+8"},
      // Eight predicates in seven registers.
      {Knob::PredicatePacks, "0", {}, 2, kPredicatePacks, "bit_refill R0", "refill slot 0"},
      {Knob::WideAccesses, "0", {}, 4, kWideAccesses, "spill R0:R1, slot 0", "spill R1, slot 1"},
      // The copy is in R1 from the start if its source is known to end there; alone, %0 takes the lowest register.
      {Knob::Chains, "0", {}, 255, kChains, "R1 = ld 0", "R0 = ld 0"},
      // Two of the three vregs hold one value, so two registers suffice.
      {Knob::MergeCopies, "0", {kStill}, 2, kMergeCopies, "#1 copy !deleted\n    #2", "refill slot 0"},
      // An SM holds 28 blocks of 32 threads with 65 registers, 32 with 64.
      {Knob::Occupancy, "0", {}, 255, sixty_five_values(), "remat #0", "R64 = "},
      // %2 is placed by itself: with its source, or where %0 was.
      {Knob::ConstraintTypes, "0", {{"FatPointChains", "0"}}, 255, kCopyBehindAnother, "copy !deleted", "R0 = copy R1"},
      {Knob::Orders, "1", {{"FatPointPackingAttempt", "0"}}, 255, kScalarBeforePair, "R0:R1 = ld", "R2:R3 = ld"},
      {Knob::PackingAttempt, "0", {{"FatPointOrders", "1"}}, 255, kScalarBeforePair, "R0:R1 = ld", "R2:R3 = ld"},
      {Knob::Guidance, "0", {kWhole[0], kStill}, 2, kPairAndScalar, "ld 1\n    #2 st", "refill slot 1"},
      // Eviction makes the tuple go for what a waiting refill holds.
      {Knob::Eviction,
       "0",
       {kWhole[0], {"FatPointGuidance", "0"}, kStill},
       2,
       kEviction,
       "#3 st R0 !write\n    #4",
       "#3 st R0 !write\n    +"},
      {Knob::MovingHomes, "0", {}, 4, kMovingHomes, "= copy R", "refill slot 0"},
      // No point is over budget, yet a greedy scan finds no place for both; with four registers only one of the two is spilled.
      {Knob::LowerLimits, "1", {kStill}, 5, kLowerLimits, "refill slot 1", "ld 1\n    #2 st"},
  };
  return kEffects;
}

class KnobEffects : public ::testing::TestWithParam<std::size_t> {};

TEST_P(KnobEffects, ChangesAnAllocation) {
  const ir::KnobInfo& row = knob_infos()[GetParam()];
  ASSERT_LT(GetParam(), effects().size()) << row.name << " has no program that shows what it does";
  const Effect* const effect = &effects()[GetParam()];
  ASSERT_TRUE(Knobs::parse(Settings{{row.name, std::string(effect->value)}}).value().is_set(effect->knob)) << row.name;
  ASSERT_NE(effect->value, row.default_value);
  const ir::Function f = testing::program(effect->program);
  const auto allocated = [&](const Settings& settings) {
    return ir::print(testing::allocate(f, testing::limits(effect->registers), settings).program);
  };
  Settings changed = effect->with;
  changed.emplace_back(row.name, effect->value);
  const std::string by_default = allocated(effect->with), by_value = allocated(changed);
  EXPECT_THAT(by_default, HasSubstr(std::string(effect->by_default)));
  EXPECT_THAT(by_default, Not(HasSubstr(std::string(effect->by_value))));
  EXPECT_THAT(by_value, HasSubstr(std::string(effect->by_value)));
  EXPECT_THAT(by_value, Not(HasSubstr(std::string(effect->by_default))));
}

INSTANTIATE_TEST_SUITE_P(Knobs, KnobEffects, ::testing::Range(std::size_t{0}, knob_infos().size()),
                         [](const auto& tested) { return knob_infos()[tested.param].name; });

TEST(KnobEffects, AreOfOneKnobEach) {
  ASSERT_EQ(effects().size(), knob_infos().size());
  for (std::size_t k = 1; k < effects().size(); ++k) EXPECT_LT(effects()[k - 1].knob, effects()[k].knob);
}

}  // namespace
}  // namespace regduel::allocator
