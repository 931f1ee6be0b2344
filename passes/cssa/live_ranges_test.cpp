// Ranges of small programs, point by point. A place k reads at 2k and writes at 2k + 1; a block has four places more than
// instructions that are no phis.

#include "passes/cssa/live_ranges.h"

#include <vector>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes {

namespace live {
void PrintTo(const Segment& s, std::ostream* out) { *out << "[" << s.begin << ", " << s.end << ") " << s.value; }
}  // namespace live

namespace conventional {
namespace {

using live::Segment;
using Range = std::vector<Segment>;

struct Case {
  explicit Case(const std::string& text, bool by_values = false)
      : f(parsed(text)), cfg(f), weights(f.blocks.size(), 1), phis(f, cfg, weights, nullptr), ranges(f, cfg, phis, by_values) {}
  static ir::Function parsed(const std::string& text) {
    const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n" + text);
    EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
    return module->functions.front();
  }
  [[nodiscard]] Range range(std::size_t node) const { return {ranges[node].begin(), ranges[node].end()}; }

  ir::Function f;
  ir::Cfg cfg;
  std::vector<std::int64_t> weights;
  PhiCopies phis;
  LiveRanges ranges;
};

constexpr const char* kLoop =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %3 = setp 0
#2 bra -> b1
)"   // places 0-6: points 0-13
    R"(block b1
#3 %1 = phi b0: %0, b3: %2
#4 %2 = add %1, 1
#5 cbra %3 -> b3, b2
)"   // places 7-12: points 14-25
    R"(block b2
#6 exit
block b3
#7 bra -> b1
)";  // places 13-17 and 18-22

TEST(LiveRanges, OfALoop) {
  const Case c(kLoop);
  EXPECT_EQ(c.ranges.begin_of(ir::BlockId(1)), 14u);
  EXPECT_EQ(c.ranges.begin_of(ir::BlockId(2)), 26u);
  // From the load (place 2) to the copy to the hub (place 4); from the head's copy to the addition; from there through b1 and b3 to
  // the hub.
  EXPECT_EQ(c.range(0), (Range{{5, 9, 0}}));
  EXPECT_EQ(c.range(1), (Range{{17, 19, 1}}));
  EXPECT_EQ(c.range(2), (Range{{19, 26, 2}, {36, 41, 2}}));
  // The hub holds %0 to the end of b0, %2 to that of b3, and at the head of b1 a value of its own.
  const Range hub = c.range(4);
  ASSERT_EQ(hub.size(), 3u);
  EXPECT_EQ(hub[0], (Segment{9, 14, 0}));
  EXPECT_EQ(hub[1].begin, 14u);
  EXPECT_EQ(hub[1].end, 17u);
  EXPECT_GT(hub[1].value, 3u);
  EXPECT_EQ(hub[2], (Segment{41, 46, 2}));
  EXPECT_EQ(c.ranges.num_nodes(), 5u);
}

TEST(LiveRanges, WithValuesTheHeadHoldsThatOfTheResult) {
  const Case c(kLoop, true);
  EXPECT_EQ(c.range(4)[1], (Segment{14, 17, 1}));
}

TEST(LiveRanges, WhatNoDefReachesIsNotLive) {
  const Case c(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 R b32
block b0
#0 %2 = setp 0
#1 cbra %2 -> b1, b2
)"    // places 0-5
      R"(block b1
#2 @%2 %0 = ld 0
#3 bra -> b2
)"    // places 6-11
      R"(block b2
#4 %1 = phi b0: %0, b1: %3
#5 st %0, %1 !write
#6 %1{early} = op %3
#7 exit
)");  // places 12-18
  EXPECT_EQ(c.range(0), (Range{{17, 29, 0}})) << "from the guarded load on: in b0 there is nothing";
  EXPECT_EQ(c.range(3), (Range{{30, 31, 3}})) << "nowhere but beside the early-clobber def, which must not write it";
}

TEST(LiveRanges, ADefThatNothingReadsIsAPoint) {
  const Case c(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 bra -> b1
block b1
#2 %1 = phi b0: %0
#3 %0 = ld 1
#4 exit
)");
  EXPECT_EQ(c.range(1).size(), 1u);
  EXPECT_EQ(c.range(1)[0].end, c.range(1)[0].begin + 1);
  EXPECT_EQ(c.range(0).back().end, c.range(0).back().begin + 1);
}

TEST(LiveRanges, DefsOfOneInstructionOverlapThoughNothingReadsThem) {
  const Case c(
      R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 bra -> b1
block b1
#2 %1 = phi b0: %0
#3 st %1 !write
#4 ld 2
#5 %1{early}, %0 = ld 1
#6 exit
)");
  const Segment early = c.range(1).back(), late = c.range(0).back();
  EXPECT_EQ(early.end, early.begin + 2);
  EXPECT_EQ(late, (Segment{early.begin + 1, early.end, late.value}));
}

TEST(LiveRanges, CopiesHaveOneValueWhereEachHasOneDef) {
  const std::string before = R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
)";
  const std::string behind =
      R"(#3 %3 = setp 0
#4 cbra %3 -> b1, b2
block b1
#5 bra -> b2
block b2
#6 %2 = phi b0: %0, b1: %1
#7 st %2, %0, %1 !write
#8 exit
)";
  const auto values = [&](const std::string& copy) {
    const Case c(before + copy + behind, true);
    return std::vector{c.range(0).front().value, c.range(1).front().value, c.range(2).front().value};
  };
  EXPECT_EQ(values("#1 %1 = copy %0\n"), (std::vector{0u, 0u, 0u})) << "the phi of one value too";
  EXPECT_EQ(values("#1 %1 = copy %0\n#2 %1 = ld 2\n"), (std::vector{0u, 1u, 2u})) << "two defs";
  EXPECT_EQ(values("#1 @%3 %1 = copy %0\n"), (std::vector{0u, 1u, 2u})) << "it may not happen";
}

}  // namespace
}  // namespace conventional
}  // namespace regduel::passes
