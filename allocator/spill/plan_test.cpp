#include "allocator/spill/plan.h"

#include <gtest/gtest.h>

#include "allocator/instruction/packing.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/spill/insert_spill_code.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ir::VRegId;

// %0 and %1 are constants that may be repeated; %1 has another def, %2 is loaded, %3 is a predicate.
ir::Function constants() {
  return out_of_ssa(testing::program(R"(
    vreg %0 R b32
    vreg %1 R b32
    vreg %2 R b32
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
  EXPECT_EQ(kSpillWays[ir::index(ir::RegFile::R)].nearest, ir::MemSpace::Local);
  EXPECT_EQ(kSpillWays[ir::index(ir::RegFile::UR)].nearest, ir::MemSpace::Shared);
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
  rematerialise(plan, f, ir::Cfg(f));
  EXPECT_EQ(plan.if_spilled, (std::vector<Location>{Location::recomputed_by(0), {}, {}, {}}));
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
