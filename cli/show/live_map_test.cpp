// Live ranges and pressure, against the quality judge's MaxLive and on programs small enough to see.
#include "cli/show/live_map.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "duel/allocators.h"
#include "duel/case.h"
#include "ir/cfg.h"
#include "ir/text/text.h"
#include "oracles/quality/max_live.h"

namespace regduel::cli {
namespace {

using ir::RegFile;

int peak(const LiveMap& map, RegFile file) {
  int most = 0;
  for (const int units : map.pressure(file)) most = std::max(most, units);
  return most;
}

// Of a kernel of these vregs and one block.
LiveMap map_of(const std::string& vregs, const std::string& insts) {
  const auto parsed = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n" + vregs + "  block b0\n" + insts);
  return LiveMap(parsed.value().functions[0]);
}

TEST(LiveMap, PeaksAtMaxLive) {
  for (std::uint64_t k = 0; k < 150; ++k) {
    const duel::Case input = duel::standard_case(11, k, duel::all_duelists());
    if (input.program.insts.size() > 1500) continue;
    const LiveMap map(input.program);
    const auto expected = oracles::max_live(input.program, ir::Cfg(input.program));
    for (const RegFile file : ir::kAllFiles) EXPECT_EQ(peak(map, file), expected[ir::index(file)]) << k << ' ' << ir::name(file);
  }
}

// No more units are live at once than the registers that the allocation uses.
TEST(LiveMap, AnAllocationStaysWithinItsRegisters) {
  for (std::uint64_t k = 0; k < 60; ++k) {
    const duel::Case input = duel::standard_case(12, k, duel::all_duelists());
    if (input.program.insts.size() > 1500) continue;
    ir::AllocOptions options;
    options.limits = input.limits;
    for (const ir::Allocator* a : duel::all_duelists()) {
      const auto made = a->allocate(input.program, *input.target, options);
      if (!made) continue;
      const LiveMap map(made->program);
      for (const RegFile file : ir::kAllFiles) EXPECT_LE(peak(map, file), made->claims.registers[ir::index(file)]) << k;
    }
  }
}

TEST(LiveMap, ARangeEndsWhereAnotherValueBegins) {
  const LiveMap map =
      map_of("  vreg %0 R b32\n  vreg %1 R b32\n",
             "    #0 %0 = const 1\n    #1 %1 = const 2\n    #2 %0 = add %0, %1\n    #3 st %0 !write\n    #4 exit\n");
  ASSERT_EQ(map.holders().size(), 2U);
  const auto of_0 = map.ranges(0), of_1 = map.ranges(1);
  ASSERT_EQ(of_0.size(), 2U);
  EXPECT_EQ(of_0[0].begin, 1U);  // written by #0
  EXPECT_EQ(of_0[0].end, 5U);    // read by #2
  EXPECT_EQ(of_0[1].begin, 5U);  // written by #2
  EXPECT_EQ(of_0[1].end, 7U);    // read by #3
  ASSERT_EQ(of_1.size(), 1U);
  EXPECT_EQ(map.common_moments(0, 1), 2U);  // #1 writes, #2 reads
  EXPECT_THAT(map.pressure(RegFile::R), testing::ElementsAre(1, 2, 2, 1, 0));
}

// %2 shares six moments with each of the others of its file, these two share four with each other.
TEST(LiveMap, NeighboursComeByTheMomentsInCommon) {
  const LiveMap map = map_of("  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 P pred\n",
                             "    #0 %2 = const 1\n    #1 %0 = const 2\n    #2 %1 = const 3\n    #3 %3 = setp %2\n"
                             "    #4 %1 = add %1, %0\n    #5 %1 = add %1, %2\n    #6 st %1 !write\n    #7 exit\n");
  EXPECT_THAT(map.neighbours(0), testing::ElementsAre(2, 1));
  EXPECT_THAT(map.neighbours(1), testing::ElementsAre(2, 0));
  EXPECT_THAT(map.neighbours(2), testing::ElementsAre(0, 1));
  EXPECT_THAT(map.neighbours(3), testing::IsEmpty());
}

TEST(LiveMap, AGuardedDefLeavesTheOldValue) {
  const LiveMap map =
      map_of("  vreg %0 R b32\n  vreg %1 P pred\n",
             "    #0 %0 = const 1\n    #1 %1 = setp %0\n    #2 @%1 %0 = const 2\n    #3 st %0 !write\n    #4 exit\n");
  EXPECT_EQ(map.ranges(0).size(), 1U);
  EXPECT_THAT(map.pressure(RegFile::P), testing::ElementsAre(0, 1, 1, 0, 0));
}

}  // namespace
}  // namespace regduel::cli
