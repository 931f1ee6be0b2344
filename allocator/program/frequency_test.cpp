#include "allocator/program/frequency.h"

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

TEST(Frequency, NestedLoops) {
  const auto f = testing::program(R"(
    vreg %0 P pred
    block b0
      #0 %0 = p
      #1 bra -> b1
    block b1
      #2 bra -> b2
    block b2
      #3 cbra %0 -> b2, b3
    block b3
      #4 cbra %0 -> b1, b4
    block b4
      #5 exit
    block b5
      #6 bra -> b5
)");
  EXPECT_EQ(loop_depths(f, ir::Cfg(f)), (std::vector<int>{0, 1, 2, 1, 0, 0}));
  EXPECT_EQ(block_frequencies(f, ir::Cfg(f), 10), (std::vector<std::int64_t>{1, 10, 100, 10, 1, 1}));
}

TEST(Frequency, IrreducibleLoopsHaveDepthToo) {
  const auto f = testing::program(R"(
    vreg %0 P pred
    block b0
      #0 %0 = p
      #1 cbra %0 -> b1, b2
    block b1
      #2 bra -> b2
    block b2
      #3 cbra %0 -> b1, b3
    block b3
      #4 exit
)");
  EXPECT_EQ(loop_depths(f, ir::Cfg(f)), (std::vector<int>{0, 1, 1, 0}));
}

TEST(Frequency, GivenFiguresWin) {
  const auto f = testing::program(R"(
    block b0 freq 7
      #0 bra -> b1
    block b1 depth 2
      #1 bra -> b2
    block b2 depth 30
      #2 exit
)");
  EXPECT_EQ(block_frequencies(f, ir::Cfg(f), 8), (std::vector<std::int64_t>{7, 64, kMaxFrequency}));
}

}  // namespace
}  // namespace regduel::allocator
