#include "reference/program/lower.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::Phases;

std::vector<CodeKind> kinds(const Code& code, std::size_t block) {
  std::vector<CodeKind> list;
  for (const CodeInst& i : code.insts_of(code.blocks[block])) list.push_back(i.kind);
  return list;
}
constexpr CodeKind kO = CodeKind::Original, kD = CodeKind::Deleted, kM = CodeKind::Move, kR = CodeKind::Refill,
                   kS = CodeKind::Store;
using List = std::vector<CodeKind>;

constexpr std::string_view kLoop =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld
#1 %2 = setp %0
#2 cbra %2 -> b1, b2
block b1
#3 %1 = phi b0: %0, b1: %1
#4 st %1 !write
#5 cbra %2 -> b1, b2
block b2
#6 exit
)";

TEST(Lower, PhisBecomeCopiesOnEdges) {
  const Phases p(kLoop);
  // Both edges into b1 are critical.
  ASSERT_EQ(p.code.blocks.size(), 5u);
  EXPECT_EQ(kinds(p.code, 3), (List{kM}));
  EXPECT_EQ(kinds(p.code, 4), (List{kM}));
  EXPECT_EQ(kinds(p.code, 1), (List{kD, kM, kO, kO}));
}

TEST(Lower, PhisThatAreNeverReadNeedNoCopies) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 bra -> b1
block b1
#2 %1 = phi b0: %0, b1: %1
#3 bra -> b1
)");
  EXPECT_EQ(kinds(p.code, 0), (List{kO, kO}));
  EXPECT_EQ(kinds(p.code, 1), (List{kD, kO}));
}

TEST(Lower, TiesAndFixedOperandsBecomeLocalTemps) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1{tied 1} = mad %0, 3
#2 st %0{=R7}, %1 !write
#3 exit
)");
  EXPECT_EQ(kinds(p.code, 0), (List{kO, kM, kO, kM, kM, kO, kO}));
  EXPECT_EQ(p.code.temps.back().fixed, (ir::PReg{ir::RegFile::R, 1, 7}));
}

TEST(Lower, ASpilledValueIsRefilledBeforeUsesAndStoredAfterDefs) {
  Phases p(
      R"(vreg %0 R b64
vreg %1 P pred
block b0
#0 %0.lo = ld
#1 %1 = setp %0.lo
#2 @%1 %0 = ld
#3 %0{inout} = acc
#4 exit
)");
  p.plan.locations[0] = Location::in_slot(p.plan.add_slot(8));
  const Code code = lower(p.problem, p.plan);
  // The part alone is stored; the use; the may-def around its old value; the def-use.
  EXPECT_EQ(kinds(code, 0), (List{kO, kS, kR, kO, kR, kO, kS, kR, kO, kS, kO}));
  EXPECT_EQ(code.insts[1].bytes, 4);
}

TEST(Lower, CopiesOfSpilledValues) {
  Phases p(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 st %0, %1 !write
#3 exit
)");
  p.plan.slots = {{4}, {4}};
  p.plan.locations[0] = Location::in_slot(0);
  EXPECT_EQ(kinds(lower(p.problem, p.plan), 0), (List{kO, kS, kR, kR, kO, kO}));
  p.plan.locations[1] = Location::in_slot(1);  // from slot to slot, through a register
  EXPECT_EQ(kinds(lower(p.problem, p.plan), 0), (List{kO, kS, kD, kR, kS, kR, kR, kO, kO}));
  p.plan.locations[1] = Location::in_slot(0);  // one slot
  EXPECT_EQ(kinds(lower(p.problem, p.plan), 0), (List{kO, kS, kD, kR, kR, kO, kO}));
  p.plan.locations[0] = {};
  EXPECT_EQ(kinds(lower(p.problem, p.plan), 0), (List{kO, kS, kR, kO, kO}));
}

TEST(Lower, OnlyWhatReadsNoRegisterIsRematerialised) {
  const Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = const 1 !remat
#1 %1 = add %0, 1 !remat
#2 %2 = ld 4 !read !remat
#3 exit
)");
  EXPECT_TRUE(p.problem.can_remat(0));
  EXPECT_FALSE(p.problem.can_remat(1));
  EXPECT_FALSE(p.problem.can_remat(2));
}

TEST(Lower, ImpossibleInstructionsAreFound) {
  constexpr std::string_view kThree = R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 st %0, %1, %2
#1 exit
)";
  EXPECT_TRUE(Phases(kThree, 3).problem.impossible() == std::nullopt);
  const ir::Function f = testing::parse_body(kThree);
  const ir::Cfg cfg(f);
  const ir::Target& t = ir::default_target();
  const Problem impossible(f, cfg, t, ir::Limits::of(t, 2), 10);
  EXPECT_EQ(impossible.impossible(), ir::RegFile::R);
  EXPECT_EQ(impossible.impossible_inst(), ir::InstId(0));
}

}  // namespace
}  // namespace regduel::reference
