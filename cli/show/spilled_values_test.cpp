#include "cli/show/spilled_values.h"

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::cli {
namespace {

using testing::HasSubstr;

ir::Function function(const std::string& text) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.has_value()) << to_string(module.error());
  return module.value().functions.at(0);
}

// %0 waits in memory while the loop runs, and %1 is computed again.
TEST(SpilledValues, AreNamedByWhatStandsBeside) {
  const ir::Function before = function(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  block b0
    #0 %0 = op
    #1 %1 = const 7 !remat
    #2 bra -> b1
  block b1 depth 1
    #3 %2 = op %0, %1
    #4 %3 = setp %2
    #5 cbra %3 -> b1, b2
  block b2
    #6 sink %1
    #7 exit
)");
  const ir::Function after = function(R"(rir 1
func @f kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  slot 0 local size 4 align 4 offset 0
  block b0
    #0 R0 = op
    +8 spill R0, slot 0
    #1 R0 = const 7 !remat
    #2 bra -> b1
  block b1 depth 1
    +9 R1 = refill slot 0
    #3 R1 = op R1, R0
    #4 P0 = setp R1
    #5 cbra P0 -> b1, b2
  block b2
    +10 R0 = remat #1 7
    #6 sink R0
    #7 exit
)");
  const std::vector<SpilledValue> values = spilled_values(before, after);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].vreg, ir::VRegId(0));
  EXPECT_EQ(values[0].stores, 1);
  EXPECT_EQ(values[0].refills, 1);
  EXPECT_EQ(values[0].weighted_bytes, 4 + 40);
  EXPECT_EQ(values[0].depth, 1);
  EXPECT_EQ(values[0].registers, 3) << "%0, %1 and %2 are live at once";
  EXPECT_EQ(values[1].vreg, ir::VRegId(1));
  EXPECT_EQ(values[1].remats, 1);
  EXPECT_EQ(values[1].weighted_bytes, 0);
  EXPECT_THAT(text_of(values, 0), HasSubstr("%0"));
  EXPECT_TRUE(spilled_values(before, before).empty());
  EXPECT_EQ(text_of({}, 80), "");
}

}  // namespace
}  // namespace regduel::cli
