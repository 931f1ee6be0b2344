#include "passes/nvptx/merged.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

testing::Prepared three() {
  return testing::Prepared(testing::program(testing::words(3) +
                                            R"(  block b0 freq 5
    #0 %2 = ld
    #1 %1 = copy %2
    #2 %0 = copy %1
    #3 st %0, %0 !write
    #4 exit
)"));
}

TEST(Merged, PoursIntervalsTogetherUnderTheLowestNumber) {
  testing::Prepared s = three();
  s.merge(2, 1);
  EXPECT_EQ(s.merged.find(ir::VRegId(2)), s.merged.find(ir::VRegId(1)));
  EXPECT_EQ(s.merged.lowest(ir::VRegId(2)), ir::VRegId(1));
  s.merge(0, 2);
  EXPECT_EQ(s.merged.lowest(ir::VRegId(2)), ir::VRegId(0));
  const LiveInterval& i = s.merged.interval(s.merged.find(ir::VRegId(1)), 0);
  EXPECT_EQ(i.segments.size(), 1u) << "they touch";
  EXPECT_EQ(i.definitions.size(), 3u);
  EXPECT_EQ(s.merged.version(s.merged.find(ir::VRegId(0))), 2u);
}

TEST(Merged, WeightIsInstructionsAndSpillWeightAndUses) {
  testing::Prepared s = three();
  // %0: two instructions, three operands in a block of frequency 5, two uses.
  EXPECT_FALSE(s.merged.is_weighed(ir::VRegId(0)));
  EXPECT_EQ(s.merged.weight(ir::VRegId(0)), 2u + 15u + 2u);
  EXPECT_TRUE(s.merged.is_weighed(ir::VRegId(0)));
}

TEST(Merged, WhatIsWeighedKeepsItsWeight) {
  testing::Prepared s = three();
  const std::int64_t sum = s.merged.weight(ir::VRegId(0)) + s.merged.weight(ir::VRegId(1));
  s.merge(0, 1);
  EXPECT_EQ(s.merged.weight(s.merged.find(ir::VRegId(0))), sum);
}

}  // namespace
}  // namespace regduel::passes::nvptx
