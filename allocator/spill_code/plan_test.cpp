#include "allocator/spill_code/plan.h"

#include <gtest/gtest.h>

#include "allocator/instruction/packing.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/spill_code/insert_spill_code.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

// %0 and %1 are constants that may be repeated; %1 has another def, %2 is loaded, %3 is a predicate.
ir::Function constants() {
  return out_of_ssa(testing::program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = const 1 !remat
      #1 %1 = const 2 !remat
      #2 %2 = ld 3
      #3 %3 = isetp 0
      #4 cbra %3 -> b1, b2
    block b1
      #5 %1 = ld 4
      #6 bra -> b2
    block b2
      #7 st %0, %1, %2 !write
      #8 exit
)"));
}

constexpr Location kLocal = Location::slot(ir::MemSpace::Local), kShared = Location::slot(ir::MemSpace::Shared);

TEST(Location, SaysWhereAndIsExact) {
  EXPECT_TRUE(Location().is_in_register());
  EXPECT_TRUE(Location::own_register().is_in_register());
  for (const Location l : {kLocal, kShared, Location::recomputed_by(3)}) EXPECT_FALSE(l.is_in_register());
  EXPECT_EQ(Location::recomputed_by(3).inst(), 3u);
  EXPECT_NE(Location::recomputed_by(3), Location::recomputed_by(4));
  EXPECT_NE(kLocal, kShared);
}

TEST(Plan, SpillsOnceAndToWhereTheFileGoes) {
  ir::PerFile<Location> slots = {};
  slots[ir::index(ir::RegFile::R)] = kLocal;
  slots[ir::index(ir::RegFile::P)] = kShared;
  Plan plan = plan_without_spills(constants(), {0, 0, 1, 0}, slots);
  EXPECT_EQ(plan.location[2], Location::own_register());
  for (std::uint32_t v = 0; v < 4; ++v) EXPECT_FALSE(plan.is_spilled(VRegId(v)));
  EXPECT_TRUE(plan.spill(VRegId(2)));
  EXPECT_TRUE(plan.spill(VRegId(3)));
  EXPECT_FALSE(plan.spill(VRegId(3)));
  EXPECT_EQ(plan.location, (std::vector<Location>{{}, {}, kLocal, kShared}));
  EXPECT_FALSE(plan.is_spilled(VRegId(4)));  // a temporary
}

TEST(Plan, OneRepeatableDefIsComputedAgain) {
  const ir::Function f = constants();
  Plan plan = plan_without_spills(f, {0, 0, 0, 0}, {});
  rematerialise(plan, f, ir::Cfg(f), {});
  EXPECT_EQ(plan.if_spilled, (std::vector<Location>{Location::recomputed_by(0), {}, {}, {}}));
}

int steps_of(const ir::Function& f, std::uint32_t v, std::span<const VRegId> first_of = {}) {
  Plan plan = plan_without_spills(f, std::vector<char>(f.vregs.size(), 0), {});
  rematerialise(plan, f, ir::Cfg(f), first_of);
  return plan.if_spilled[v].steps();
}

TEST(Plan, ChainsAreComputedAgainInOneRegister) {
  const ir::Function f = testing::program(R"(
    vreg %0..%3 R u64
    vreg %4 R u32
    vreg %5..%8 R u64
    vreg %9 R u64 align 1
    block b0
      #0 %0 = ld.param "p" !read !readonly !remat
      #1 %1 = cvta %0 !remat
      #2 %2 = add %1, 16 !remat
      #3 %3 = add %2, 16 !remat
      #4 %4 = cvt %0 !remat
      #5 %5 = ld.const %0 !read !readonly !remat
      #6 %6 = add %0, %0 !remat
      #7 %7 = add %1, 16
      #8 %8 = add %7, 16 !remat
      #9 %9 = add %0, 16 !remat
      #10 st %0, %1, %2, %3, %4, %5, %6, %8, %9 !write
      #11 exit
)");
  EXPECT_EQ(steps_of(f, 0), 1);
  EXPECT_EQ(steps_of(f, 1), 2);
  EXPECT_EQ(steps_of(f, 2), 3);
  EXPECT_EQ(steps_of(f, 3), 0) << "longer than kMostRepeated";
  EXPECT_EQ(steps_of(f, 4), 0) << "narrower than its source";
  EXPECT_EQ(steps_of(f, 5), 0) << "reads memory";
  EXPECT_EQ(steps_of(f, 6), 0) << "reads two registers";
  EXPECT_EQ(steps_of(f, 8), 0) << "its source is not computed again";
  EXPECT_EQ(steps_of(f, 9), 0) << "may stand where its source may not";
  Plan plan = plan_without_spills(f, std::vector<char>(10, 0), {});
  rematerialise(plan, f, ir::Cfg(f), {});
  EXPECT_EQ(plan.only_def[1], 1u);
  EXPECT_EQ(plan.only_def[3], Plan::kNoDef);
}

TEST(Plan, AChainMayWiden) {
  const ir::Function f = testing::program(R"(
    vreg %0 R u32
    vreg %1..%2 R u64
    vreg %3 R u128
    vreg %4 R u16
    vreg %5 R u32
    block b0
      #0 %0 = ld.param "p" !read !readonly !remat
      #1 %1 = cvt %0 !remat
      #2 %2 = add %1, 16 !remat
      #3 %3 = cvt %0 !remat
      #4 %4 = const 1 !remat
      #5 %5 = cvt %4 !remat
      #6 st %2, %3, %5 !write
      #7 exit
)");
  EXPECT_EQ(steps_of(f, 1), 2);
  EXPECT_EQ(steps_of(f, 2), 3);
  EXPECT_EQ(steps_of(f, 3), 0) << "four times as wide";
  EXPECT_EQ(steps_of(f, 5), 0) << "its source is less than a unit";
}

// %1 and %3 read %0, and %1 reads nothing else. Once %1 and %2 are in memory, nothing reads %0 but %3.
TEST(Plan, WhatOnlyReplacedDefsReadIsRematerialisedToo) {
  const ir::Function f = testing::program(R"(
    vreg %0..%3 R u64
    block b0
      #0 %0 = ld.param "p" !read !readonly !remat
      #1 %1 = add %0, 8 !remat
      #2 %2 = add %1, 8 !remat
      #3 %3 = add %0, 24 !remat
      #4 st %2, %3 !write
      #5 exit
)");
  Plan plan = plan_without_spills(f, std::vector<char>(f.vregs.size(), 0), {});
  rematerialise(plan, f, ir::Cfg(f), {});
  rematerialise_unread(plan, f);
  EXPECT_EQ(plan.location, std::vector<Location>(4)) << "nothing is spilled";
  plan.spill(VRegId(2));
  rematerialise_unread(plan, f);
  EXPECT_TRUE(plan.is_spilled(VRegId(1))) << "%2 was its only reader";
  EXPECT_FALSE(plan.is_spilled(VRegId(0))) << "%3 reads it";
  plan.spill(VRegId(3));
  rematerialise_unread(plan, f);
  EXPECT_TRUE(plan.is_spilled(VRegId(0)));
}

// A piece of a vreg that was split holds what its first piece is computed by.
TEST(Plan, AChainGoesThroughPieces) {
  ir::Function f = testing::program(R"(
    vreg %0..%2 R u32
    block b0
      #0 %0 = const 7 !remat
      #1 %1 = copy %0
      #2 %2 = add %1, 16 !remat
      #3 st %2 !write
      #4 exit
)");
  EXPECT_EQ(steps_of(f, 2), 0);
  const VRegId first_of[] = {VRegId(0), VRegId(0), VRegId(2)};
  EXPECT_EQ(steps_of(f, 2, first_of), 0) << "the program itself defines a second piece";
  f.insts[1].flags |= ir::kInserted;
  EXPECT_EQ(steps_of(f, 2, first_of), 2) << "a move between pieces defines nothing";
}

// A vreg of the plan's own is none of the program's and no temporary, and lives across blocks like those of the program.
TEST(Plan, AddedVregsStandBetweenThoseOfTheProgramAndTemporaries) {
  const ir::Function f = constants();
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  Plan plan = plan_without_spills(f, {0, 0, 0, 0}, {kLocal, kLocal, kLocal, kLocal, kLocal, kLocal, kLocal});
  plan.added.push_back(f.vregs[2]);
  plan.spill(VRegId(2));
  const Budget budget = Budget::of(f, ir::default_target(), testing::limits(8));
  SpillCode code = insert_spill_code(f, cfg, live, plan, budget);
  ASSERT_EQ(plan.num_long_lived(), 5u);
  ASSERT_GT(code.f.vregs.size(), 5u);
  for (std::size_t v = 0; v < code.f.vregs.size(); ++v) EXPECT_EQ(code.temp_of[v] == kNoInst, v < 5);
  // As if the plan had put it in place of %1, which lives from b0 to b2.
  for (ir::Operand& op : code.f.operands)
    if (op.is_vreg() && op.vreg().value == 1) op.set_vreg(VRegId(4));
  const Liveness after(code.f, cfg, plan.num_long_lived());
  EXPECT_FALSE(after.range(4).empty());
  EXPECT_TRUE(after.range(1).empty());
  const Liveness as_temporary(code.f, cfg, 4);
  EXPECT_FALSE(std::ranges::equal(after.range(4), as_temporary.range(4)));
}

}  // namespace
}  // namespace regduel::allocator
