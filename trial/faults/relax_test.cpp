// Relaxed constraints: what is dropped, what is put back, and the ground truth, by hand; then a small run of each kind.
#include "trial/faults/relax.h"
#include "oracles/judges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/testing.h"

namespace regduel::trial {
namespace {

using oracles::testing::edit;
using oracles::testing::parse_function;

const std::string kBefore = R"(
func @f kernel target sm_90 threads 256
  vreg %0 R b32
  vreg %1 R b64
  vreg %2 UR b32
  block b0
    #0 %0 = ld.a !read
    #1 %1 = ld.b !read
    #2 %2 = s2r
    #3 %0{tied 1} = neg %0
    #4 %0{early} = atom %2
    #5 bar 0 clobbers R8:R9
    #6 st %0{=R4}, %1 !write
    #7 exit
)";
// A correct allocation of it.
const std::string kAfter = R"(
func @f kernel target sm_90 threads 256 allocated
  frame local 8 shared 0
  vreg %0 R b32
  vreg %1 R b64
  vreg %2 UR b32
  slot 0 local size 8 align 8 offset 0
  block b0
    #0 R4 = ld.a !read
    #1 R2:R3 = ld.b !read
    +20 spill R2:R3, slot 0
    #2 UR0 = s2r
    #3 R4 = neg R4
    #4 R4 = atom UR0
    #5 bar 0 clobbers R8:R9
    +21 R6:R7 = refill slot 0
    #6 st R4, R6:R7 !write
    #7 exit
)";

Truth truth_of(const std::string& after, Relaxation kind) {
  const ir::Function b = parse_function(kBefore), a = parse_function(after);
  return truth({b, a, *ir::find_target("sm_90"), ir::Limits::of(*ir::find_target("sm_90"))}, kind);
}

TEST(Relax, TheTruth) {
  for (const Relaxation kind : kAllRelaxations) EXPECT_EQ(truth_of(kAfter, kind), Truth::Kept) << name(kind);
  EXPECT_EQ(truth_of(edit(kAfter, "R4 = neg R4", "R5 = neg R4"), Relaxation::Tied), Truth::Broken);
  EXPECT_EQ(truth_of(edit(kAfter, "R4 = atom UR0", "UR0 = atom UR0"), Relaxation::EarlyClobber), Truth::Broken);
  EXPECT_EQ(truth_of(edit(kAfter, "st R4, R6:R7", "st R5, R6:R7"), Relaxation::Fixed), Truth::Broken);
  EXPECT_EQ(truth_of(edit(kAfter, "UR0 = s2r", "R0 = s2r"), Relaxation::Class), Truth::Broken);
  EXPECT_EQ(truth_of(edit(kAfter, "st R4, R6:R7", "st R4, R7:R8"), Relaxation::Alignment), Truth::Broken);
  EXPECT_EQ(truth_of(edit(kAfter, "clobbers R8:R9", "clobbers R3:R4"), Relaxation::Clobbers), Truth::Broken) << "R4 is read later";
  EXPECT_EQ(truth_of(edit(kAfter, "clobbers R8:R9", "clobbers R2:R3"), Relaxation::Clobbers), Truth::Kept)
      << "R2:R3 is in its slot by then";
  EXPECT_EQ(truth_of(edit(kAfter, "slot 0 local size 8", "slot 0 local size 4"), Relaxation::SlotSize), Truth::Broken);
}

// Nothing observes the copy, so no trace changes; whether its guard matters is left open.
TEST(Relax, AClobberedGuardOfACopyIsUndecided) {
  const std::string declared = "  vreg %0 P pred\n  vreg %1 R b32\n  vreg %2 R b32\n  block b0\n";
  const ir::Function before = parse_function("func @f kernel target sm_90 threads 256\n" + declared + R"(    #0 %0 = setp
    #1 %1 = ld.a !read
    #2 bar 0 clobbers P0
    #3 @%0 %2 = copy %1
    #4 exit
)");
  const std::string text = "func @f kernel target sm_90 threads 256 allocated\n" + declared + R"(    #0 P0 = setp
    #1 R0 = ld.a !read
    #2 bar 0 clobbers P0
    #3 @P0 R1 = copy R0
    #4 exit
)";
  const ir::Target& target = *ir::find_target("sm_90");
  const auto truth_in = [&](const std::string& reg) {
    const ir::Function after = parse_function(edit(edit(text, "#0 P0", "#0 " + reg), "@P0", "@" + reg));
    const oracles::Case c{before, after, target, ir::Limits::of(target)};
    EXPECT_EQ(oracles::find_judge("execution")->judge(c).verdict, oracles::Verdict::Pass);
    return truth(c, Relaxation::Clobbers);
  };
  EXPECT_EQ(truth_in("P1"), Truth::Kept);
  EXPECT_EQ(truth_in("P0"), Truth::Undecided);
}

TEST(Relax, WhatIsDropped) {
  const ir::Function f = parse_function(kBefore);
  const ir::Target& target = *ir::find_target("sm_90");
  const auto text = [&](Relaxation kind) { return ir::print(*relax(f, target, kind)); };
  EXPECT_THAT(text(Relaxation::Tied), testing::Not(testing::HasSubstr("tied")));
  EXPECT_THAT(text(Relaxation::EarlyClobber), testing::Not(testing::HasSubstr("early")));
  EXPECT_THAT(text(Relaxation::Fixed), testing::Not(testing::HasSubstr("=R4")));
  EXPECT_THAT(text(Relaxation::Class), testing::HasSubstr("vreg %2 R b32"));
  EXPECT_THAT(text(Relaxation::Alignment), testing::HasSubstr("vreg %1 R b64 align 1"));
  EXPECT_THAT(text(Relaxation::Clobbers), testing::Not(testing::HasSubstr("clobbers")));
  const ir::Function plain = parse_function("func @e kernel target sm_90 threads 256\n  block b0\n    #0 exit\n");
  for (const Relaxation kind : kAllRelaxations)
    EXPECT_EQ(relax(plain, target, kind).has_value(), kind == Relaxation::SlotSize) << name(kind);
}

TEST(Relax, WhatIsPutBack) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  const std::string no_clobber = edit(kAfter, " clobbers R8:R9", "");
  EXPECT_EQ(ir::print(restore(before, parse_function(no_clobber), Relaxation::Clobbers)), ir::print(after));
  EXPECT_THAT(ir::print(restore(before, after, Relaxation::SlotSize)), testing::HasSubstr("slot 0 local size 4 align 4 offset 0"));
  EXPECT_EQ(ir::print(restore(before, parse_function(edit(kAfter, "vreg %2 UR b32", "vreg %2 R b32")), Relaxation::Class)),
            ir::print(after));
}

TEST(Relax, EveryBrokenResultIsRejected) {
  RelaxTable table;
  for (std::uint64_t k = 0; k < 40 * kNumRelaxations; ++k) table.add(run_relaxed_on(1, k));
  for (const FaultMiss& m : table.misses())
    ADD_FAILURE() << m.kind << ' ' << m.operator_name << ", run " << m.index << '\n' << m.detail;
  for (std::size_t k = 0; k < kNumRelaxations; ++k) {
    const RelaxRow& row = table.rows()[k];
    EXPECT_GT(row.broken, 0) << name(kAllRelaxations[k]);
    EXPECT_EQ(row.rejected, row.broken) << name(kAllRelaxations[k]);
    EXPECT_EQ(row.accepted, row.kept) << name(kAllRelaxations[k]);
  }
}

}  // namespace
}  // namespace regduel::trial
