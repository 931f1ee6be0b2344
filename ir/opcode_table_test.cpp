// The opcode table: complete, and asked by opcode, keyword and code alike, whatever the order of its rows.

#include "ir/opcode_table.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/program.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

std::vector<std::string_view> keywords_where(bool (*is_it)(Op)) {
  std::vector<std::string_view> list;
  for (const Opcode& o : kOpcodes)
    if (is_it(o.op)) list.push_back(o.keyword);
  return list;
}

TEST(OpcodeTable, EachOpcodeHasOneRowWithACodeAndAKeywordOfItsOwn) {
  std::set<Op> ops;
  std::set<int> codes;
  std::set<std::string_view> keywords;
  for (const Opcode& o : kOpcodes) {
    EXPECT_TRUE(ops.insert(o.op).second) << o.keyword;
    EXPECT_TRUE(codes.insert(o.code).second) << o.keyword;
    EXPECT_TRUE(keywords.insert(o.keyword).second) << o.keyword;
    EXPECT_LT(o.code, 64) << "rows by code";
    EXPECT_NE(o.code, 31) << "five bits in the binary form, 31 for a code that does not fit";
    // Whatever stands where in enum and table, a row is found by its opcode.
    EXPECT_EQ(&opcode(o.op), &o) << o.keyword;
    EXPECT_EQ(name(o.op), o.keyword);
    EXPECT_EQ(op_of_code(o.code), o.op);
    EXPECT_EQ(op_of_keyword(o.keyword), o.op == Op::Named ? std::nullopt : std::optional(o.op));
  }
  EXPECT_EQ(ops.size(), 32u);
}

TEST(OpcodeTable, WhatIsNoOpcodeIsNotFound) {
  EXPECT_EQ(op_of_code(20), std::nullopt);
  EXPECT_EQ(op_of_code(1000), std::nullopt);
  EXPECT_EQ(op_of_keyword("copies"), std::nullopt);
  EXPECT_FALSE(is_known(static_cast<Op>(32)));
  EXPECT_FALSE(is_known(static_cast<Op>(255)));
}

// Codes on disk never change, whatever becomes of the enum: old corpora stay readable.
TEST(OpcodeTable, TheCodesOfTheBinaryFormAreWhatTheyAlwaysWere) {
  const std::string_view by_code[] = {"",       "copy", "phi", "pack",      "unpack",     "const", "call",
                                      "ret",    "exit", "bra", "cbra",      "mbra",       "bar",   "spill",
                                      "refill", "p2r",  "r2p", "bit_spill", "bit_refill", "remat"};
  for (std::size_t code = 0; code < std::size(by_code); ++code) {
    ASSERT_TRUE(op_of_code(code).has_value());
    EXPECT_EQ(name(*op_of_code(code)), by_code[code]);
  }
  const std::string_view from_32[] = {"getlmembase", "setlmembase", "spill_mov", "spill_iadd", "spill_imad", "spill_shl",
                                      "spill_lop3",  "spill_bra",   "spill_stl", "spill_ldl",  "spill_sts",  "spill_lds"};
  for (std::size_t k = 0; k < std::size(from_32); ++k) EXPECT_EQ(op_of_code(32 + k), op_of_keyword(from_32[k]));
}

TEST(OpcodeTable, Traits) {
  using testing::ElementsAre;
  EXPECT_THAT(keywords_where(moves_value), ElementsAre("copy", "phi", "spill", "refill"));
  EXPECT_THAT(keywords_where(is_slot_move), ElementsAre("spill", "refill"));
  EXPECT_THAT(keywords_where(is_terminator), ElementsAre("ret", "exit", "bra", "cbra", "mbra"));
  EXPECT_THAT(keywords_where(packs_bits), ElementsAre("p2r", "r2p", "bit_spill", "bit_refill"));
  EXPECT_THAT(keywords_where(writes_pack), ElementsAre("p2r", "bit_spill"));
  EXPECT_THAT(keywords_where(packs_by_number), ElementsAre("p2r", "r2p"));
  std::vector<std::string_view> only = keywords_where(is_allocator_only);
  std::erase_if(only, [](std::string_view keyword) { return is_lowered(op_of_keyword(keyword).value_or(Op::Named)); });
  EXPECT_THAT(only, ElementsAre("spill", "refill", "p2r", "r2p", "bit_spill", "bit_refill", "remat"));
  EXPECT_THAT(keywords_where(is_lowered),
              ElementsAre("getlmembase", "setlmembase", "spill_mov", "spill_iadd", "spill_imad", "spill_shl", "spill_lop3",
                          "spill_bra", "spill_stl", "spill_ldl", "spill_sts", "spill_lds"));
  EXPECT_THAT(keywords_where(is_lowered_store), ElementsAre("spill_stl", "spill_sts"));
  EXPECT_THAT(keywords_where(is_lowered_load), ElementsAre("spill_ldl", "spill_lds"));
  for (const Opcode& o : kOpcodes)
    if (is_lowered(o.op)) {
      EXPECT_TRUE(is_allocator_only(o.op)) << o.keyword;
    }
  EXPECT_THAT(keywords_where(computes),
              ElementsAre("", "pack", "unpack", "const", "call", "ret", "exit", "bra", "cbra", "mbra", "bar", "remat"));
}

TEST(Operands, DefsUsesAndGuardOfAnInstruction) {
  const auto parsed = parse(
      "rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  block b0\n"
      "    #0 @!%2 %0, %1{inout} = op %0, 7, %2 clobbers R4, R5\n    #1 op %0 clobbers R4\n    #2 @%2 op\n    #3 exit\n");
  ASSERT_TRUE(parsed.has_value());
  const Function& f = parsed->functions[0];
  const auto ops = f.operands_of(f.insts[0]);
  EXPECT_EQ(defs_of(ops).data(), ops.data());
  EXPECT_EQ(defs_of(ops).size(), 2u);
  EXPECT_EQ(uses_of(ops).data(), ops.data() + 2);
  EXPECT_EQ(uses_of(ops).size(), 3u);
  EXPECT_EQ(guard_of(ops), &ops[5]);
  EXPECT_FALSE(is_guarded(f.operands_of(f.insts[1])));
  EXPECT_EQ(uses_of(f.operands_of(f.insts[1])).size(), 1u);
  EXPECT_EQ(guard_of(f.operands_of(f.insts[2])), &f.operands_of(f.insts[2])[0]);
  EXPECT_TRUE(uses_of(f.operands_of(f.insts[2])).empty());
  EXPECT_EQ(guard_of(f.operands_of(f.insts[3])), nullptr);
}

TEST(Operands, PairsOfACopyWhateverStandsBehindThem) {
  const auto parsed = parse(
      "rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  block b0\n"
      "    #0 @%2 %0, %1 = copy %1, %0 clobbers R4, R5, R6\n    #1 exit\n");
  ASSERT_TRUE(parsed.has_value());
  const Function& f = parsed->functions[0];
  const CopyPairs pairs = copy_pairs(f.operands_of(f.insts[0]));
  ASSERT_EQ(pairs.size(), 2u);
  std::vector<std::pair<VRegId, VRegId>> seen;
  for (const auto [def, use] : pairs) seen.emplace_back(def.vreg(), use.vreg());
  EXPECT_THAT(seen, testing::ElementsAre(std::pair(VRegId(0), VRegId(1)), std::pair(VRegId(1), VRegId(0))));
  EXPECT_EQ(pairs[1].def.vreg(), VRegId(1));
  EXPECT_EQ(pairs[1].use.vreg(), VRegId(0));
}

TEST(Operands, AnOperandIsChangedWithoutLosingTheRestOfIt) {
  Operand op = Operand::of_vreg(Role::Def, VRegId(3), Part::of(1, 1));
  op.set_fixed({RegFile::R, 1, 4});
  op.set_vreg(VRegId(5));
  EXPECT_EQ(op.vreg(), VRegId(5));
  EXPECT_EQ(op.fixed(), (PReg{RegFile::R, 1, 4}));
  EXPECT_TRUE(op.names_same(Operand::of_vreg(Role::Use, VRegId(5), Part::of(1, 1))));
  EXPECT_FALSE(op.names_same(Operand::of_vreg(Role::Use, VRegId(5))));
  EXPECT_FALSE(Operand::of_vreg(Role::Use, VRegId(0)).names_same(Operand::of_slot(SlotId(0))));
  EXPECT_EQ(op.slot_offset(), 0u) << "a fixed register is no offset";
  op.set_fixed({});
  EXPECT_FALSE(op.fixed().is_valid());
  Operand slot = Operand::of_slot(SlotId(1), 8);
  slot.set_slot(SlotId(2));
  EXPECT_EQ(slot, Operand::of_slot(SlotId(2), 8));
  EXPECT_FALSE(slot.fixed().is_valid()) << "an offset is no register";
  EXPECT_EQ(slot.slot_offset(), 8u);
  Operand raw = Operand::of_slot(SlotId(0));
  raw.set_raw(slot.raw());
  EXPECT_EQ(raw, slot);
}

TEST(Instruction, WhatMayBeExecutedAgain) {
  Inst i;
  EXPECT_FALSE(i.is_repeatable());
  i.flags = kRematerialisable;
  EXPECT_TRUE(i.is_repeatable());
  i.flags = kRematerialisable | kMemRead;
  EXPECT_FALSE(i.is_repeatable());
  i.flags = kRematerialisable | kMemRead | kReadOnly;
  EXPECT_TRUE(i.is_repeatable());
  for (const InstFlags f : {kMemWrite, kBarrier}) {
    i.flags = static_cast<std::uint16_t>(kRematerialisable | f);
    EXPECT_FALSE(i.is_repeatable());
  }
}

}  // namespace
}  // namespace regduel::ir
