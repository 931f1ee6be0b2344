#include "reference/colour/kept_colours.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::allocate;
using testing::Phases;

constexpr std::size_t kR = ir::index(ir::RegFile::R), kP = ir::index(ir::RegFile::P), kUR = ir::index(ir::RegFile::UR);

// Two predicates and two registers, a copy from a uniform register.
constexpr std::string_view kProgram =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 P pred
vreg %4 UR b32
vreg %5 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = setp %0
#3 %3 = setp %1
#4 %4 = uld 2
#5 %5 = copy %4
#6 @%2 st %0, %5 !write
#7 @%3 st %1 !write
#8 exit
)";

// The uses with the values of `spilled` in slots.
FileUses with_spilled(Phases& p, std::initializer_list<TempId> spilled) {
  Plan plan = p.problem.all_in_registers();
  for (const TempId v : spilled) plan.locations[v] = Location::in_slot(plan.add_slot(4));
  return file_uses(p.problem, lower(p.problem, plan));
}

TEST(KeptColours, OtherFilesStayAsTheyWere) {
  Phases p(kProgram);
  const FileUses before = with_spilled(p, {});
  EXPECT_THAT(same_uses(before, with_spilled(p, {})), ::testing::Each(true));
  const FileSet less_p = same_uses(before, with_spilled(p, {2}));
  EXPECT_TRUE(less_p[kR] && less_p[kUR]);
  EXPECT_FALSE(less_p[kP]);
  const FileSet less_r = same_uses(before, with_spilled(p, {0}));
  EXPECT_FALSE(less_r[kR]);
  EXPECT_TRUE(less_r[kP]);
}

// With %4 in a slot the copy to %5 is a refill: the same temps of R, but no copy of two live values.
TEST(KeptColours, WhatInstructionsDoIsCompared) {
  Phases p(kProgram);
  const FileUses before = with_spilled(p, {}), after = with_spilled(p, {4});
  EXPECT_EQ(before.temps[kR], after.temps[kR]);
  EXPECT_FALSE(same_uses(before, after)[kR]);
}

// %5 = copy %4 is dead where nothing reads %5: what is done with %5 says whether %4 is live.
TEST(KeptColours, FilesThatAMoveConnectChangeTogether) {
  Phases p(kProgram);
  const FileUses before = with_spilled(p, {});
  EXPECT_TRUE(before.moves_with[kR][kUR] && before.moves_with[kUR][kR]);
  EXPECT_FALSE(before.moves_with[kR][kP]);
  EXPECT_FALSE(same_uses(before, with_spilled(p, {1}))[kUR]);
}

TEST(KeptColours, ColoursGoToTheTempsInTheirOrder) {
  Phases p(kProgram);
  const FileUses before = with_spilled(p, {}), after = with_spilled(p, {2, 3});
  std::vector<ir::PReg> homes(p.code.temps.size());
  homes[0] = {ir::RegFile::R, 1, 7};
  homes[1] = {ir::RegFile::R, 1, 3};
  homes[5] = {ir::RegFile::R, 1, 9};
  FileSet coloured = {};
  coloured[kR] = true;
  KeptColours kept;
  EXPECT_TRUE(kept.is_empty());
  kept.keep(before, coloured, homes);
  EXPECT_FALSE(kept.is_empty());
  const FileSet valid = kept.valid_for(after);
  EXPECT_TRUE(valid[kR]);
  EXPECT_FALSE(valid[kUR]);  // the same, but not kept
  std::vector<ir::PReg> given(homes.size());
  kept.give(kR, after, given);
  EXPECT_EQ(given, homes);
  kept.keep(before, {}, homes);
  EXPECT_TRUE(kept.is_empty());
}

// The graphs of files that are left out stay empty, those of the others are the same.
TEST(KeptColours, GraphsOfFilesLeftOutAreEmpty) {
  Phases p(kProgram);
  FileSet left_out = {};
  left_out[kP] = true;
  const InterferenceGraphs graphs = build_interference_graphs(p.problem, p.code, p.liveness, left_out);
  EXPECT_EQ(graphs.files[kP].size(), 0u);
  EXPECT_EQ(graphs.node_of[2], kNoNode);
  ASSERT_EQ(graphs.files[kR].size(), p.r().size());
  for (NodeId a = 0; a < p.r().size(); ++a)
    for (NodeId b = 0; b < p.r().size(); ++b)
      if (a != b) {
        EXPECT_EQ(graphs.files[kR].interferes(a, b), p.r().interferes(a, b)) << a << " " << b;
      }
}

}  // namespace
}  // namespace regduel::reference
