// Predicates in bits of registers: when they are packed, how they move there and back, and when they leave for memory.

#include "allocator/spill/predicate_packs.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"
#include "base/testing.h"

namespace regduel::allocator {
namespace {

using testing::allocate;
using testing::count;
using testing::limits;
using testing::program;

int local_moves(const ir::Allocation& a) { return count(a.program, ir::Op::Spill) + count(a.program, ir::Op::Refill); }

// Three predicates live at once, and two registers for them.
constexpr std::string_view kOneTooMany = R"(
    vreg %0..%2 P pred
    vreg %3 R b32
    block b0
      #0 %0 = isetp 0
      #1 %1 = isetp 1
      #2 %2 = isetp 2
      #3 st %1, %2 !write
      #4 %3 = ld 3
      #5 @%0 st %3 !write
      #6 exit
)";

TEST(PredicatePacks, GoldenBitSpill) {
  const auto a = allocate(program(kOneTooMany), limits(4, 2));
  expect_golden("allocator/spill/testdata/bit-spill.rir", ir::print(a.program));
  EXPECT_EQ(local_moves(a), 0);
  EXPECT_EQ(a.claims.spill_store_bytes + a.claims.spill_load_bytes, 0);
}

// Both go, and both come back, at one place each.
TEST(PredicatePacks, GoldenSeveralAtOnce) {
  const auto a = allocate(program(R"(
    vreg %0..%3 P pred
    block b0
      #0 %0, %1 = isetp 0
      #1 %2, %3 = isetp 1
      #2 st %2, %3 !write
      #3 st %0, %1 !write
      #4 exit
)"),
                          limits(4, 2));
  expect_golden("allocator/spill/testdata/p2r.rir", ir::print(a.program));
  EXPECT_EQ(local_moves(a), 0);
}

// Two predicates to a register: units of file P are halves, and the way into a pack is the same.
TEST(PredicatePacks, HalvesOfPredicateRegistersGoThereToo) {
  ir::Target halves = ir::default_target();
  halves.predicate_halves = true;
  ir::Function f = program(kOneTooMany);
  f.predicate_halves = true;
  const auto a = make_fatpoint()->allocate(f, halves, {.limits = limits(4, 2), .knobs = {}});
  ASSERT_TRUE(a.has_value());
  testing::expect_same_behaviour(f, a->program);
  EXPECT_EQ(local_moves(*a), 0);
  EXPECT_EQ(count(a->program, ir::Op::BitSpill), 1);
  const std::string text = ir::print(a->program);
  EXPECT_NE(text.find("P0.hi"), std::string::npos) << text;
  ir::Function whole = a->program;
  whole.predicate_halves = false;
  EXPECT_EQ(ir::print(whole), ir::print(allocate(program(kOneTooMany), limits(4, 2)).program));
}

TEST(PredicatePacks, MemoryWhereTheKnobSaysSo) {
  const auto a = allocate(program(kOneTooMany), limits(4, 2), {{"FatPointPredicatePacks", "0"}});
  EXPECT_EQ(count(a.program, ir::Op::BitSpill), 0);
  EXPECT_EQ(a.claims.spill_store_bytes, 1);
  EXPECT_EQ(a.claims.spill_load_bytes, 1);
}

// The pack would live where the only register is taken, and it is cheaper to move one byte than a register.
TEST(PredicatePacks, MemoryWhereNoRegisterIsFree) {
  const auto f = program(R"(
    vreg %0..%1 P pred
    vreg %2 R b32
    block b0
      #0 %0 = isetp 0
      #1 %1 = isetp 1
      #2 %2 = ld 2
      #3 st %2, %1 !write
      #4 @%0 st 3 !write
      #5 exit
)");
  EXPECT_EQ(count(allocate(f, limits(1, 1)).program, ir::Op::BitSpill), 0);
  EXPECT_EQ(count(allocate(f, limits(2, 1)).program, ir::Op::BitSpill), 1);
}

// Six predicates in memory cost more than one register there: it makes room for them.
TEST(PredicatePacks, ARegisterMakesRoomForManyPredicates) {
  std::string body, defs, uses;
  for (int k = 0; k < 6; ++k) {
    const std::string v = "%" + std::to_string(k), n = std::to_string(k);
    body += "vreg " + v + " P pred\n";
    defs += "#" + n + " " + v + " = isetp 0\n";
    uses += "#2" + n + " @" + v + " st " + n + " !write\n#3" + n + " @" + v + " st %6 !write\n";
  }
  const auto f = program(body + "vreg %6 R b32\nvreg %7 R b32\nblock b0\n#50 %6 = ld 0\n#51 %7 = ld 1\n" + defs + uses +
                         "#52 st %7 !write\n#53 exit\n");
  const auto a = allocate(f, limits(2, 1));
  EXPECT_GT(count(a.program, ir::Op::BitSpill), 3) << ir::print(a.program);
  EXPECT_LE(a.claims.spill_store_bytes + a.claims.spill_load_bytes, 8 + 2);
}

// A call takes every register: no predicate stays in one across it.
TEST(PredicatePacks, MemoryAcrossClobbers) {
  const auto f = [](std::string_view clobbers) {
    return program(R"(
    vreg %0 P pred
    block b0
      #0 %0 = isetp 0
      #1 call "f" clobbers P0:P6, )" +
                   std::string(clobbers) + R"(
      #2 @%0 st 3 !write
      #3 exit
)");
  };
  EXPECT_EQ(count(allocate(f("R0:R3"), limits(4)).program, ir::Op::BitSpill), 0);
  EXPECT_EQ(count(allocate(f("R0:R2"), limits(4)).program, ir::Op::BitSpill), 1);
}

TEST(PredicatePacks, UniformPredicatesGoTheSameWay) {
  auto l = limits(4);
  l.units[ir::index(ir::RegFile::UP)] = 1;
  const auto a = allocate(program(R"(
    vreg %0..%1 UP pred uniform
    block b0
      #0 %0 = usetp 0
      #1 %1 = usetp 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)"),
                          l);
  EXPECT_EQ(count(a.program, ir::Op::BitSpill), 1);
  EXPECT_EQ(local_moves(a), 0);
}

// The two change places on the way back: each bit is read as it was.
TEST(PredicatePacks, BitsThatChangePlacesAreReadFromACopyOfThePack) {
  const auto f = program(R"(
    vreg %0..%3 P pred
    block b0
      #0 %0 = isetp 0
      #1 %1 = isetp 1
      #2 bra -> b1
    block b1
      #3 %0 = phi b0: %0, b1: %1
      #4 %1 = phi b0: %1, b1: %0
      #5 %2, %3 = isetp 3
      #6 st %2, %3 !write
      #7 %2 = isetp 0
      #8 cbra %2 -> b1, b2
    block b2
      #9 st %0 !write
      #10 st %1 !write
      #11 exit
)");
  const auto a = allocate(f, limits(8, 2));
  EXPECT_EQ(local_moves(a), 0) << ir::print(a.program);
  EXPECT_GE(count(a.program, ir::Op::BitSpill) + count(a.program, ir::Op::P2R), 2);
  for (int registers = 1; registers < 8; ++registers) allocate(f, limits(registers, 2));
}

TEST(PredicatePacks, CopiesOfPackedPredicatesAreNotMoves) {
  const auto f = program(R"(
    vreg %0..%3 P pred
    block b0
      #0 %0 = isetp 0
      #1 %1 = copy %0
      #2 %0 = isetp 1
      #3 %2 = isetp 2
      #4 st %2 !write
      #5 st %1 !write
      #6 %3 = copy %0
      #7 st %3 !write
      #8 exit
)");
  for (int predicates = 1; predicates < 3; ++predicates) EXPECT_EQ(local_moves(allocate(f, limits(4, predicates))), 0);
}

// --- the plan --------------------------------------------------------------------------------------------------------

// %0 to %39 live from the beginning to the end, each read once; %40 is a register.
ir::Function forty() {
  std::string body, defs, uses;
  for (int k = 0; k < 40; ++k) {
    const std::string v = "%" + std::to_string(k);
    body += "vreg " + v + " P pred\n";
    defs += "#" + std::to_string(k) + " " + v + " = isetp 0\n";
    uses += "#" + std::to_string(k + 40) + " st " + v + " !write\n";
  }
  return out_of_ssa(
      program(body + "vreg %40 R b32\nblock b0\n#100 %40 = ld 0\n" + defs + uses + "#101 st %40 !write\n#102 exit\n"));
}

TEST(PredicatePacks, APackHoldsThirtyTwo) {
  const ir::Function f = forty();
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  const Budget budget = Budget::of(f, ir::default_target(), limits(3));
  ir::PerFile<Location> slots = {};
  slots[ir::index(ir::RegFile::P)] = Location::slot(ir::MemSpace::Local);
  Plan plan = plan_without_spills(f, std::vector<char>(41, 0), slots);
  PredicatePacks packs(f, live, budget);
  for (std::uint32_t v = 0; v < 40; ++v) EXPECT_TRUE(packs.take(plan, VRegId(v))) << v;
  ASSERT_EQ(plan.packs.size(), 2u);
  EXPECT_EQ(plan.packs[0].vreg, VRegId(41));
  EXPECT_EQ(plan.packs[1].vreg, VRegId(42));
  EXPECT_EQ(plan.location[31], Location::bit_of(0, 31));
  EXPECT_EQ(plan.location[32], Location::bit_of(1, 0));
  // One gives way: its members go to memory, for good.
  EXPECT_TRUE(packs.empty(plan, VRegId(41)));
  EXPECT_FALSE(packs.empty(plan, VRegId(41)));
  EXPECT_FALSE(packs.empty(plan, VRegId(40)));
  for (std::uint32_t v = 0; v < 40; ++v) EXPECT_EQ(plan.is_packed(VRegId(v)), v >= 32);
  EXPECT_EQ(plan.location[0], Location::slot(ir::MemSpace::Local));
}

// Predicates without room go into other packs, which leave if they cost less than the vregs in their way.
TEST(PredicatePacks, WhatHasNoRoomIsKeptApart) {
  const ir::Function f = forty();
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  const Budget budget = Budget::of(f, ir::default_target(), limits(2));
  Plan plan = plan_without_spills(f, std::vector<char>(41, 0), {});
  PredicatePacks packs(f, live, budget);
  for (std::uint32_t v = 0; v < 40; ++v) {
    ASSERT_TRUE(packs.take(plan, VRegId(v))) << v;
    EXPECT_EQ(plan.location[v].pack(), v < 32 ? 0u : 1u) << v;
  }
}

// %1 begins where %0 ends: one bit does for both. %2 lives with neither, and gets a pack of its own.
TEST(PredicatePacks, BitsAreUsedAgain) {
  const ir::Function f = out_of_ssa(program(R"(
    vreg %0..%3 P pred
    block b0
      #0 %3 = isetp 0
      #1 %0 = isetp 0
      #2 %1 = isetp %0
      #3 st %1 !write
      #4 st %3 !write
      #5 %2 = isetp 2
      #6 st %2 !write
      #7 exit
)"));
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  const Budget budget = Budget::of(f, ir::default_target(), limits(8));
  Plan plan = plan_without_spills(f, {0, 0, 0, 0}, {});
  PredicatePacks packs(f, live, budget);
  for (const std::uint32_t v : {3u, 0u, 1u, 2u}) EXPECT_TRUE(packs.take(plan, VRegId(v)));
  EXPECT_EQ(plan.location[3], Location::bit_of(0, 0));
  EXPECT_EQ(plan.location[0], Location::bit_of(0, 1));
  EXPECT_EQ(plan.location[1], Location::bit_of(0, 1));
  EXPECT_EQ(plan.location[2], Location::bit_of(1, 0));
}

}  // namespace
}  // namespace regduel::allocator
