#include "passes/nvptx/copy_families.h"

#include <set>

#include <gtest/gtest.h>

namespace regduel::passes::nvptx {
namespace {

TEST(CopyFamilies, CopiesHaveTwoOpcodes) {
  EXPECT_EQ(copy_opcode(ir::Op::Copy), 14);
  EXPECT_EQ(copy_opcode(ir::Op::Phi), 15);
  for (const ir::Opcode& o : ir::kOpcodes)
    if (o.op != ir::Op::Copy && o.op != ir::Op::Phi) {
      EXPECT_EQ(copy_opcode(o.op), kNoCopy) << o.keyword;
    }
}

TEST(CopyFamilies, WithinAClassFourOfThem) {
  using enum TypeClass;
  EXPECT_EQ(family(I32, I32), 440);
  EXPECT_EQ(family(I64, I64), 441);
  EXPECT_EQ(family(F32, F32), 442);
  for (const TypeClass other : {Pred, I16, F16, F64}) EXPECT_EQ(family(other, other), 443);
  EXPECT_EQ(family(Wide, Wide), kFirstPiece);
}

TEST(CopyFamilies, AcrossClassesEachPairItsOwnFrom444To499) {
  std::set<int> all;
  for (int from = 0; from < kNumTypeClasses; ++from)
    for (int to = 0; to < kNumTypeClasses; ++to) {
      const int f = family(static_cast<TypeClass>(from), static_cast<TypeClass>(to));
      EXPECT_EQ(f >= kFirstCrossClass && f < kFirstPiece, from != to);
      if (from != to) all.insert(f);
    }
  EXPECT_EQ(all.size(), 56u);
  EXPECT_EQ(*all.begin(), 444);
  EXPECT_EQ(*all.rbegin(), 499);
  EXPECT_EQ(kParameterOut, 503);
}

}  // namespace
}  // namespace regduel::passes::nvptx
