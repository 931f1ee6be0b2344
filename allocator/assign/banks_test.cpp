// Tests of the bank conflicts of sources, of the scan's bank filter and weights, and of the moves at the end.
// properties/banks_test.cpp counts the conflicts saved on the standard mix.

#include "allocator/assign/banks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/assign/bank_moves.h"
#include "allocator/assign/testing.h"
#include "base/random.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using testing::LoweredRound;

Attempt attempt(const LoweredRound& s, AttemptOptions options = {}) {
  options.bank_aware = true;
  return assign(FileAllocator(s.round, ir::RegFile::R), options);
}

TEST(Banks, FirstUnitsOfDistinctSourcesOfOneOperation) {
  const LoweredRound s(8, R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = mad %0, %1.hi, %0
      #3 %0 = copy %2
      #4 %0 = pack %2
      #5 st %0 !write
      #6 exit
)");
  const BankPairs& pairs = s.banks;
  const std::vector<int> home = {5, 0, 1};
  EXPECT_EQ(pairs.weight(ir::VRegId(0), 1, home), 0);  // %1.hi is read in R1: the same register
  EXPECT_EQ(pairs.weight(ir::VRegId(0), 5, home), 1);  // once, however many operands name %0
  EXPECT_EQ(pairs.weight(ir::VRegId(0), 0, home), 0);
  EXPECT_EQ(pairs.weight(ir::VRegId(1), 4, home), 0);
  EXPECT_EQ(pairs.weight(ir::VRegId(1), 8, home), 1);
  EXPECT_EQ(pairs.taken_banks(ir::VRegId(0), home), 1u << 1);
  EXPECT_EQ(pairs.weight(ir::VRegId(2), 1, home), 0);
  EXPECT_EQ(pairs.count(home), 1);
}

TEST(Banks, PairsOfLoopsWeighMore) {
  const LoweredRound s(8, R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %2 = isetp %0, %1
      #4 cbra %2 -> b1, b2
    block b2
      #5 exit
)");
  EXPECT_EQ(s.banks.weight(ir::VRegId(0), 0, std::vector<int>{0, 4, 0}), weight_of(10));
}

// %0 and %1 are read together, and so are %1 and %2.
constexpr std::string_view kThree = R"(
    vreg %0..%3 R b32
    block b0
      #0 %0, %1, %2, %3 = ld 0
      #1 mad %0, %1
      #2 mad %2, %1
      #3 st %3 !write
      #4 exit
)";

TEST(Banks, TheScanFiltersByBanksOfCoOperands) {
  const LoweredRound s(16, kThree);
  const FileAllocator a(s.round, ir::RegFile::R);
  const AttemptOptions aware{.bank_aware = true}, unaware;
  const ir::VRegId v[] = {ir::VRegId(0), ir::VRegId(1), ir::VRegId(2)};
  const UnitSet taken = UnitSet::range(1, 2) | UnitSet::range(3, 4);
  for (const AttemptOptions* options : {&aware, &unaware}) {
    Placement p(a, *options, {.array_width = 16});
    p.put(v[0], 4);
    p.put(v[2], 6);
    p.weigh({&v[1], 1});
    // R0 is in the bank of R4, R2 in that of R6.
    EXPECT_EQ(p.select(p.shape(v[1]), {}), options == &aware ? 1 : 0);
    EXPECT_EQ(p.select(p.shape(v[1]), taken), options == &aware ? 5 : 0);
    // Beyond the seven registers in use nothing else is looked for.
    EXPECT_EQ(p.select(p.shape(v[1]), taken | UnitSet::range(5, 6)), 0);
    EXPECT_EQ(p.select(p.shape(v[1]), taken, 5), 0);
  }
}

TEST(Banks, WhatAnAffinityWantsIsNotFiltered) {
  const LoweredRound s(8, R"(
    vreg %0 R b32 fixed R4
    vreg %1 R b32
    vreg %2 R b32 fixed R0
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 mad %0, %1
      #3 %2 = copy %1
      #4 st %2 !write
      #5 exit
)");
  EXPECT_EQ(attempt(s, {}).home[1], 0);
}

// With weights switched off nothing is filtered: the moves at the end do all.
TEST(Banks, MovesResolveWhatIsLeft) {
  const LoweredRound s(8, R"(
    vreg %0..%6 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 %4 = ld 4
      #5 mad %0, %4
      #6 st %4 !write
      #7 %5 = ld 5
      #8 %6 = ld 6
      #9 st %1 !write
      #10 st %2 !write
      #11 st %3 !write
      #12 st %0 !write
      #13 st %5 !write
      #14 st %6 !write
      #15 exit
)");
  EXPECT_EQ(s.banks.count(assign(FileAllocator(s.round, ir::RegFile::R), {.kind = AttemptKind::Packing}).home), 1);
  const Attempt a = attempt(s, {.kind = AttemptKind::Packing});
  EXPECT_EQ(s.banks.count(a.home), 0);
  EXPECT_EQ(a.used, 6);
}

// All registers are taken all the time: %0 and %1 can only change places with others.
TEST(Banks, TwoChangePlacesWhereNothingIsFree) {
  const LoweredRound s(5, testing::kFiveAtOnce);
  EXPECT_EQ(s.banks.count(assign(FileAllocator(s.round, ir::RegFile::R), {.kind = AttemptKind::Packing}).home), 1);
  EXPECT_EQ(s.banks.count(attempt(s, {.kind = AttemptKind::Packing}).home), 0);
}

TEST(Banks, ACopyIsWorthAsMuchAsAConflict) {
  const std::string_view body = R"(
    vreg %0 R b32
    vreg %1 R b32 fixed R4
    vreg %2 R b32
    vreg %3 R b32 fixed R0
    block b0
      #0 %1 = ld 0
      #1 %2 = ld 1
      #2 mad %1, %2
      #3 %3 = copy %2
      #4 st %3 !write
      #5 exit
)";
  const LoweredRound s(8, body);
  const Attempt a = attempt(s);
  EXPECT_EQ(a.home[2], 0);  // which keeps the copy away, and the conflict here
  EXPECT_EQ(s.banks.count(a.home), 1);
}

}  // namespace
}  // namespace regduel::allocator
