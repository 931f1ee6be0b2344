#include "allocator/phases/impossible.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

std::optional<Impossible> impossible(const ir::Function& before, int registers, int predicates = 7) {
  const ir::Function f = out_of_ssa(before);
  return find_impossible(f, ir::BlockId(0), Budget::of(before, ir::default_target(), testing::limits(registers, predicates)));
}

ir::Function three_uses(std::string_view more) {
  return testing::program(fmt::format(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b128
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = isetp 0
      {}
      #5 exit
)",
                                      more));
}

TEST(Impossible, CountsWhatOneInstructionNeedsAndNamesIt) {
  const ir::Function f = three_uses("#4 st %0, %1 !write");
  EXPECT_EQ(impossible(f, 3), (Impossible{RegFile::R, ir::InstId(2)}));  // it alone needs four
  EXPECT_EQ(impossible(f, 4), std::nullopt);
  EXPECT_EQ(impossible(f, 4, 0), (Impossible{RegFile::P, ir::InstId(3)}));
}

TEST(Impossible, AlignedTuplesHaveToFitBesideEachOther) {
  const ir::Function f = three_uses("#4 st %0, %1, %2 !write");
  EXPECT_EQ(impossible(f, 6), (Impossible{RegFile::R, ir::InstId(4)}));
  EXPECT_EQ(impossible(f, 7), std::nullopt);  // 4 + 2 + 1, where each at its worst alignment would be 7 + 3 + 1
  const ir::Function fixed = three_uses("#4 st %0{=R4}, %2 !write");
  EXPECT_EQ(impossible(fixed, 4), (Impossible{RegFile::R, ir::InstId(4)}));
  EXPECT_EQ(impossible(fixed, 5), std::nullopt);
}

}  // namespace
}  // namespace regduel::allocator
