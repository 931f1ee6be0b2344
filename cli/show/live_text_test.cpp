#include "cli/show/live_text.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::cli {
namespace {

TEST(LiveText, ShowsWhatIsLive) {
  const auto m = ir::parse(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b64
  vreg %2 R b32
  block b0
    #0 %0 = op
    #1 %1 = op
    #2 st %1 !write
    #3 bra -> b1
  block b1
    #4 %2 = op
    #5 st %0, %2 !write
    #6 exit
)");
  ASSERT_TRUE(m.has_value());
  const ir::Target& target = *ir::find_target("sm_90");
  ir::Limits limits = ir::Limits::of(target);
  limits.units[0] = 2;
  EXPECT_EQ(live_text(m->functions[0], limits, ir::VRegId(0), 80), R"(pressure on R: 3 units at the most, the limit is 2
        3 |  ##
     -> 2 |  ## ##
        1 | ######
            ^b0 ^b1
live ranges: %0 and 2 of the 2 vregs that are live with it
       %0 | ######
       %1 |  ##
       %2 |     ##
)");
  // Two instructions a column.
  EXPECT_EQ(live_text(m->functions[0], limits, ir::VRegId(2), 4),
            R"(pressure on R: 3 units at the most, the limit is 2; a column is 2 instructions
        3 | ##
     -> 2 | ###
        1 | ###
            ^b0
live ranges: %2 and 1 of the 1 vregs that are live with it
       %2 |   #
       %0 | ###
)");
}

}  // namespace
}  // namespace regduel::cli
