// The figures are those of ptxas 13.0.88 on a kernel that needs more registers than any bound leaves it.
#include "ir/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/target.h"

namespace regduel::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

int limit_on(std::string_view target, LaunchBounds bounds) { return launch_limit(bounds, *find_target(target)).registers; }

TEST(Launch, LimitsOfPtxas) {
  struct Row {
    LaunchBounds bounds;
    int registers;
  };
  for (const Row& row : {Row{{}, 0},
                         Row{{.registers = 24}, 24},
                         Row{{.registers = 16}, 24},
                         Row{{.registers = 33}, 33},
                         Row{{.registers = 300}, 0},
                         Row{{.threads = 1024}, 64},
                         Row{{.threads = 1000}, 64},
                         Row{{.threads = 768}, 80},
                         Row{{.threads = 384}, 168},
                         Row{{.threads = 2048}, 32},
                         Row{{.threads = 32}, 255},
                         Row{{.blocks = 2}, 0},
                         Row{{.threads = 384, .blocks = 2}, 80},
                         Row{{.threads = 384, .blocks = 5}, 32},
                         Row{{.threads = 1024, .blocks = 2}, 32},
                         Row{{.threads = 1024, .blocks = 3}, 64},
                         Row{{.threads = 33, .blocks = 16}, 64},
                         Row{{.threads = 1024, .registers = 100}, 100},
                         Row{{.threads = 256, .blocks = 8, .registers = 100}, 32},
                         Row{{.threads = 256, .blocks = 4, .registers = 32}, 32},
                         Row{{.threads = 256, .blocks = 100}, 255}})
    EXPECT_EQ(limit_on("sm_90", row.bounds), row.registers)
        << row.bounds.threads << " threads, " << row.bounds.blocks << " blocks, " << row.bounds.registers << " registers";
  EXPECT_EQ(limit_on("sm_75", {.threads = 1024, .blocks = 2}), 64);
  EXPECT_EQ(limit_on("sm_86", {.threads = 512, .blocks = 3}), 40);
}

TEST(Launch, SaysWhichBoundHoldsAndWhichIsIgnored) {
  const Target& sm_90 = *find_target("sm_90");
  EXPECT_EQ(launch_limit(LaunchBounds{.threads = 384, .blocks = 2}, sm_90).reason, ".maxntid 384 .minnctapersm 2");
  EXPECT_EQ(launch_limit(LaunchBounds{.threads = 384, .blocks = 2, .registers = 40}, sm_90).reason, ".maxnreg 40");
  EXPECT_THAT(launch_limit(LaunchBounds{.threads = 1024, .blocks = 3}, sm_90).notes,
              ElementsAre(".minnctapersm 3 is ignored: an SM holds at most 32 blocks and 2048 threads"));
  EXPECT_THAT(launch_limit(LaunchBounds{.registers = 300}, sm_90).notes, ElementsAre(HasSubstr("at most 255")));
  EXPECT_THAT(launch_limit(LaunchBounds{.registers = 16}, sm_90).notes, ElementsAre(HasSubstr("24 at least")));
  EXPECT_THAT(launch_limit(LaunchBounds{.threads = 64}, sm_90).notes, IsEmpty());
}

TEST(Launch, ABlockHasToFitAnSm) {
  const Target& sm_90 = *find_target("sm_90");
  EXPECT_EQ(why_not_launched(LaunchBounds{.threads = 1024}, sm_90, 102),
            "1024 threads at 102 registers cannot be launched: an SM has 65536, so that a thread may have at most 64");
  EXPECT_EQ(why_not_launched(LaunchBounds{.threads = 1024}, sm_90, 64), "");
  EXPECT_EQ(why_not_launched(LaunchBounds{}, sm_90, 255), "");
}

}  // namespace
}  // namespace regduel::ir
