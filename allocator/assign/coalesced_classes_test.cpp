#include "allocator/assign/coalesced_classes.h"

#include "allocator/program/out_of_ssa.h"
#include "allocator/spill_code/insert_spill_code.h"
#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

// Members of the classes of file R.
std::vector<std::vector<std::uint32_t>> classes(std::string_view body) {
  const ir::Function program = testing::program(body);
  SpillCode lowered;
  lowered.f = out_of_ssa(program);
  const ir::Cfg cfg(lowered.f);
  const Liveness live(lowered.f, cfg);
  const ConstraintLists constraints(program, lowered, block_frequencies(lowered.f, cfg, 10), live);
  std::vector<ir::VRegId> vregs;
  for (std::size_t v = 0; v < lowered.f.vregs.size(); ++v)
    if (!live.range(v).empty() && lowered.f.vregs[v].file() == ir::RegFile::R) vregs.push_back(ir::VRegId(v));
  std::vector<std::vector<std::uint32_t>> result;
  const CoalescedClasses found(lowered.f, live, constraints, vregs);
  for (const CoalescedClass& c : found.all()) {
    result.emplace_back();
    for (const ir::VRegId v : c.members) result.back().push_back(v.value);
  }
  return result;
}
using List = std::vector<std::vector<std::uint32_t>>;

TEST(CoalescedClasses, SourceOfACopyDoesNotInterfereWithItsDestination) {
  EXPECT_EQ(classes(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %0, %1 !write
      #3 exit
)"),
            (List{{0, 1}}));
}

TEST(CoalescedClasses, UnlessOneOfThemChangesWhileTheOtherLives) {
  EXPECT_EQ(classes(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 %0 = add %0, 1
      #3 st %0, %1 !write
      #4 exit
)"),
            List{});
  EXPECT_EQ(classes(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %2 = isetp 0
      #2 %1 = ld 1
      #3 @%2 %1 = copy %0
      #4 st %0, %1 !write
      #5 exit
)"),
            List{});
}

TEST(CoalescedClasses, PhisJoin) {
  EXPECT_EQ(classes(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = phi b0: %0, b1: %2
      #3 %2 = add %1, 1
      #4 %3 = isetp 0
      #5 cbra %3 -> b1, b2
    block b2
      #6 exit
)"),
            (List{{0, 1, 2}}));
}

TEST(CoalescedClasses, AllCopiesVanishWhereTheyCan) {
  const auto a = testing::allocate(testing::program(R"(
    vreg %0..%1 R b32
    vreg %2 R b32 hint %0
    block b0
      #0 %0 = ld 0
      #1 %1 = copy %0
      #2 st %0, %1 !write
      #3 %2 = copy %1
      #4 st %2 !write
      #5 exit
)"),
                                   testing::limits(255));
  EXPECT_EQ(testing::count(a.program, ir::Op::Copy), 0);
  EXPECT_EQ(a.claims.registers[0], 1);
}

}  // namespace
}  // namespace regduel::allocator
