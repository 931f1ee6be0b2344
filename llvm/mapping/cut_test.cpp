#include "llvm/mapping/cut.h"

#include <gmock/gmock.h>

#include "llvm/mapping/cells.h"

namespace regduel::llvm {
namespace {

using ::testing::ElementsAre;

Inst inst(int num, const char* op, const char* flags, std::vector<int> targets = {}) {
  Inst i;
  i.num = num, i.op = op, i.flags = flags;
  for (const int t : targets) {
    Operand o;
    o.kind = OperandKind::Block, o.value = t;
    i.ops.push_back(o);
  }
  return i;
}

Dump function(std::vector<Block> blocks) {
  Dump d;
  d.blocks = std::move(blocks);
  return d;
}

TEST(CutBlocks, AnUnconditionalBranchAtTheEndIsNoCut) {
  const Dump d = cut_blocks(
      function({{0, false, {1}, {}, {inst(1, "ADD", ""), inst(2, "JMP", "t", {1})}}, {1, false, {}, {}, {inst(3, "RET", "te")}}}));
  EXPECT_EQ(d.blocks.size(), 2u);
  EXPECT_THAT(d.blocks[0].successors, ElementsAre(1));
}

TEST(CutBlocks, EachConditionalBranchEndsABlock) {
  const Dump d = cut_blocks(function({{0, false, {1, 2}, {}, {inst(1, "JCC", "t", {1}), inst(2, "JMP", "t", {2})}},
                                      {1, false, {}, {}, {}},
                                      {2, false, {}, {}, {}}}));
  ASSERT_EQ(d.blocks.size(), 4u);
  EXPECT_THAT(d.blocks[0].successors, ElementsAre(1, d.blocks[1].number));
  EXPECT_THAT(d.blocks[1].successors, ElementsAre(2));
  EXPECT_EQ(d.blocks[1].insts[0].num, 2);
}

// Code that an allocator puts behind a branch is then on the way that falls through alone.
TEST(CutBlocks, BeforeAndAfterAreCutAlike) {
  const Dump before =
      cut_blocks(function({{0, false, {1, 2}, {}, {inst(1, "JCC", "t", {2})}}, {1, false, {}, {}, {}}, {2, false, {}, {}, {}}}));
  Inst store = inst(9, "STORE", "s");
  store.is_new = true;
  const Dump after = cut_blocks(
      function({{0, false, {1, 2}, {}, {inst(1, "JCC", "t", {2}), store}}, {1, false, {}, {}, {}}, {2, false, {}, {}, {}}}));
  ASSERT_EQ(before.blocks.size(), after.blocks.size());
  for (std::size_t k = 0; k < before.blocks.size(); ++k) {
    EXPECT_EQ(before.blocks[k].number, after.blocks[k].number);
    EXPECT_EQ(before.blocks[k].successors, after.blocks[k].successors);
  }
  EXPECT_EQ(after.blocks[1].insts.size(), 1u);
}

TEST(CutBlocks, AnAsmGotoMayLeaveAnywhere) {
  const Dump d = cut_blocks(
      function({{0, false, {1, 2}, {}, {inst(1, "INLINEASM_BR", "a", {2}), inst(2, "COPY", "y"), inst(3, "JMP", "t", {1})}},
                {1, false, {}, {}, {}},
                {2, false, {}, {}, {}}}));
  ASSERT_EQ(d.blocks.size(), 4u);
  EXPECT_THAT(d.blocks[0].successors, ElementsAre(2, d.blocks[1].number));
  EXPECT_EQ(d.blocks[1].insts.size(), 2u);
}

TEST(CutBlocks, AnExceptionLeavesAtTheCall) {
  const Block pad{2, true, {}, {}, {inst(0, "EH_LABEL", "z")}};
  const Dump d = cut_blocks(function(
      {{0, false, {1, 2}, {}, {inst(0, "EH_LABEL", "z"), inst(1, "CALL", "c"), inst(2, "COPY", "y"), inst(0, "EH_LABEL", "z")}},
       {1, false, {}, {}, {}},
       pad}));
  ASSERT_EQ(d.blocks.size(), 4u);
  EXPECT_THAT(d.blocks[0].successors, ElementsAre(2, d.blocks[1].number));
  EXPECT_THAT(d.blocks[1].successors, ElementsAre(1));
  EXPECT_THROW((void)cut_blocks(function({{0, false, {2}, {}, {inst(1, "CALL", "c")}}, pad})), Refusal);
}

}  // namespace
}  // namespace regduel::llvm
