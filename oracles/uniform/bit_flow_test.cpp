// Moves of bits, and their flow along paths.

#include "oracles/uniform/bit_flow.h"

#include "oracles/testing.h"

namespace regduel::oracles::uniform {
namespace {

constexpr Place word(std::uint32_t cell) { return {cell, 4, 0, 4}; }

TEST(BitFlow, MovesAreParallel) {
  Bits state(4);
  state.add(0, 0x000000FF);
  move_bits(state, std::vector<BitMove>{{.to = word(1), .from = word(0)}, {.to = word(0), .from = word(1)}}, false);
  EXPECT_EQ(state.of(0), 0u);
  EXPECT_EQ(state.of(1), 0xFFu);
}

TEST(BitFlow, AByteGoesToAnother) {
  Bits state(4);
  state.add(0, 0x0000AB00);
  move_bits(state, std::vector<BitMove>{{.to = {2, 1, 3, 4}, .from = {0, 1, 1, 4}}}, false);
  EXPECT_EQ(state.of(2), 0xAB000000u);
  EXPECT_EQ(state.of(0), 0x0000AB00u);
  // Two bytes across the end of a word.
  move_bits(state, std::vector<BitMove>{{.to = {0, 2, 3, 4}, .from = {2, 2, 2, 4}}}, false);
  EXPECT_EQ(state.of(0), 0x0000AB00u);
  EXPECT_EQ(state.of(1), 0xABu);
}

TEST(BitFlow, AGuardedMoveRemovesNothing) {
  Bits state(2);
  state.add(0, 1);
  const std::vector<BitMove> zeros = {{.to = word(0), .from = word(1), .source = BitMove::Source::Zeros}};
  move_bits(state, zeros, true);
  EXPECT_EQ(state.of(0), 1u);
  move_bits(state, zeros, false);
  EXPECT_EQ(state.of(0), 0u);
}

TEST(BitFlow, AClearedStateListsNothing) {
  Bits state(2);
  state.add(0, 1);
  state.clear();
  EXPECT_THAT(state.listed(), testing::IsEmpty());
  state.add(0, 1);
  EXPECT_THAT(state.listed(), testing::ElementsAre(0));
}

// The cost: without a loop, each block once in either direction.
TEST(BitFlow, EachBlockOfAChainIsVisitedOnce) {
  const ir::Function f = testing::parse_function(R"(
func @t kernel target sm_90 threads 32
  block b0
    #0 bra -> b1
  block b1
    #1 bra -> b2
  block b2
    #2 exit
)");
  const ir::Cfg cfg(f);
  for (const Direction direction : {Direction::Forward, Direction::Backward}) {
    int visits = 0;
    BitFlow(cfg, 1, direction).settle({}, [&](ir::BlockId b, Bits& state) {
      state.add(0, 1u << b.index());
      ++visits;
    });
    EXPECT_EQ(visits, 3);
  }
}

TEST(BitFlow, UnionWherePathsMeetBothWays) {
  const ir::Function f = testing::parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 P pred
  block b0
    #0 %0 = a
    #1 cbra %0 -> b1, b2
  block b1
    #2 bra -> b3
  block b2
    #3 bra -> b3
  block b3
    #4 cbra %0 -> b3, b4
  block b4
    #5 exit
)");
  const ir::Cfg cfg(f);
  for (const Direction direction : {Direction::Forward, Direction::Backward}) {
    std::vector<std::uint32_t> at(5, 0);
    BitFlow flow(cfg, 1, direction);
    flow.settle({}, [&](ir::BlockId b, Bits& state) {
      at[b.index()] = state.of(0);
      if (b.index() == 1 || b.index() == 3) state.add(0, 1u << b.index());
      if (b.index() == 2) state.remove(0, ~0u);
    });
    if (direction == Direction::Forward) EXPECT_EQ(at, (std::vector<std::uint32_t>{0, 0, 0, 2 | 8, 2 | 8}));
    else EXPECT_EQ(at, (std::vector<std::uint32_t>{2 | 8, 8, 8, 8, 0}));
  }
}

}  // namespace
}  // namespace regduel::oracles::uniform
