#include "reference/program/loops.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

std::vector<int> depths(std::string_view text) {
  const ir::Function f = testing::parse_body(text);
  return loop_depths(f, ir::Cfg(f));
}

TEST(Loops, NestedLoops) {
  EXPECT_EQ(depths("vreg %0 P pred\nblock b0\n#0 bra -> b1\nblock b1\n#1 bra -> b2\nblock b2\n#2 cbra %0 -> b2, b3\n"
                   "block b3\n#3 cbra %0 -> b1, b4\nblock b4\n#4 exit\n"),
            (std::vector<int>{0, 1, 2, 1, 0}));
}
TEST(Loops, IrreducibleAndUnreachable) {
  EXPECT_EQ(depths("vreg %0 P pred\nblock b0\n#0 cbra %0 -> b1, b2\nblock b1\n#1 bra -> b2\nblock b2\n#2 cbra %0 -> b1, b3\n"
                   "block b3\n#3 exit\nblock b4\n#4 bra -> b4\n"),
            (std::vector<int>{0, 1, 1, 0, 0}));
}
TEST(Loops, TheEntryMayBeALoop) { EXPECT_EQ(depths("block b0\n#0 bra -> b0\n"), (std::vector<int>{1})); }
TEST(Loops, GivenDepthsAndFrequenciesWin) {
  const ir::Function f =
      testing::parse_body("block b0 depth 2\n#0 bra -> b1\nblock b1 freq 7\n#1 bra -> b2\nblock b2\n#2 bra -> b2\n");
  EXPECT_EQ(block_frequencies(f, ir::Cfg(f), 10), (std::vector<std::uint64_t>{100, 7, 10}));
  EXPECT_EQ(block_frequencies(f, ir::Cfg(f), 3), (std::vector<std::uint64_t>{9, 7, 3}));
}

}  // namespace
}  // namespace regduel::reference
