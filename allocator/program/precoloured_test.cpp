#include "allocator/program/precoloured.h"

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

std::vector<char> keeps(std::string_view body, int limit = 255) {
  const ir::Function program = testing::program(body);
  const ir::Function f = out_of_ssa(program);
  return find_precoloured(f, Liveness(f, ir::Cfg(f)), Budget::of(program, ir::default_target(), testing::limits(limit)));
}

constexpr std::string_view kVregs = "vreg %0 R b32 fixed R4\nvreg %1 R b32\nvreg %2 R b32 fixed R4\nblock b0\n";

TEST(Precoloured, StaysWhereNothingElseNeedsItsRegister) {
  EXPECT_EQ(keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 %1 = ld 1\n#2 st %0, %1 !write\n#3 exit\n")[0], 1);
  EXPECT_EQ(keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 st %0 !write\n#2 exit\n", 4)[0], 0);  // not allocatable
}

TEST(Precoloured, GivesWayToClobbersFixedOperandsAndEachOther) {
  EXPECT_EQ(keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 op clobbers R4\n#2 st %0 !write\n#3 exit\n")[0], 0);
  EXPECT_EQ(keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 %1{=R4} = ld 1\n#2 st %0, %1 !write\n#3 exit\n")[0], 0);
  // Each lives in R4 in turn, or only the first.
  const auto turns = keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 st %0 !write\n#2 %2 = ld 1\n#3 st %2 !write\n#4 exit\n");
  EXPECT_EQ(turns[0], 1);
  EXPECT_EQ(turns[2], 1);
  const auto both = keeps(std::string(kVregs) + "#0 %0 = ld 0\n#1 %2 = ld 1\n#2 st %0 !write\n#3 st %2 !write\n#4 exit\n");
  EXPECT_EQ(both[0], 0);
}

}  // namespace
}  // namespace regduel::allocator
