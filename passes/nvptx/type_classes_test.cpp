#include "passes/nvptx/type_classes.h"

#include <gtest/gtest.h>

namespace regduel::passes::nvptx {
namespace {

ir::VReg vreg(ir::TypeKind type, int width, ir::RegClass cls = ir::RegClass::R) {
  ir::VReg v;
  v.cls = cls;
  v.type = type;
  v.width = static_cast<std::uint16_t>(width);
  v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(width));
  return v;
}
using enum ir::TypeKind;

TEST(TypeClasses, AreEightByTypeAndWidth) {
  EXPECT_EQ(type_class(vreg(Pred, 1, ir::RegClass::P)), TypeClass::Pred);
  for (const ir::TypeKind integer : {B, S, U}) {
    EXPECT_EQ(type_class(vreg(integer, 8)), TypeClass::I16);
    EXPECT_EQ(type_class(vreg(integer, 16)), TypeClass::I16);
    EXPECT_EQ(type_class(vreg(integer, 32)), TypeClass::I32);
    EXPECT_EQ(type_class(vreg(integer, 64)), TypeClass::I64);
  }
  EXPECT_EQ(type_class(vreg(F, 16)), TypeClass::F16);
  EXPECT_EQ(type_class(vreg(F, 32)), TypeClass::F32);
  EXPECT_EQ(type_class(vreg(F, 64)), TypeClass::F64);
  for (const int width : {96, 128, 256}) EXPECT_EQ(type_class(vreg(B, width)), TypeClass::Wide);
}

TEST(TypeClasses, TheTableHasCodeSizeBankAndParticipation) {
  EXPECT_EQ(operand_type(vreg(B, 32)), (OperandType{12, 1, static_cast<std::uint8_t>(ir::RegClass::R), kParticipates}));
  EXPECT_EQ(operand_type(vreg(U, 64)), (OperandType{13, 2, static_cast<std::uint8_t>(ir::RegClass::R), kParticipates}));
  EXPECT_EQ(operand_type(vreg(F, 32, ir::RegClass::UR)),
            (OperandType{15, 1, static_cast<std::uint8_t>(ir::RegClass::UR), kParticipates}));
  EXPECT_EQ(operand_type(vreg(B, 128)), (OperandType{17, 4, static_cast<std::uint8_t>(ir::RegClass::R), 0}));
  ir::VReg rz = vreg(B, 32);
  rz.fixed = {ir::RegFile::R, 1, 255};
  rz.flags = ir::kVRegArchitectural;
  EXPECT_EQ(operand_type(rz).flags, 0);
}

TEST(TypeClasses, WhatIsWideHasPiecesThatTakePart) {
  EXPECT_EQ(num_pieces(vreg(B, 64)), 1);
  EXPECT_EQ(num_pieces(vreg(B, 96)), 2);
  EXPECT_EQ(num_pieces(vreg(B, 128)), 2);
  EXPECT_EQ(num_pieces(vreg(B, 256)), 4);
  EXPECT_EQ(type_class(piece(vreg(B, 96), 0)), TypeClass::I64);
  EXPECT_EQ(type_class(piece(vreg(B, 96), 1)), TypeClass::I32);
  EXPECT_EQ(type_class(piece(vreg(F, 128), 1)), TypeClass::F64);
  EXPECT_EQ(operand_type(piece(vreg(B, 256), 3)).flags, kParticipates);
}

TEST(TypeClasses, OneShapeBecomesOne) {
  const ir::VReg word = vreg(B, 32);
  EXPECT_TRUE(may_become_one(word, vreg(S, 32)));
  EXPECT_FALSE(may_become_one(word, vreg(F, 32))) << "%r and %f are disjoint";
  EXPECT_FALSE(may_become_one(word, vreg(B, 32, ir::RegClass::RAlt)));
  EXPECT_FALSE(may_become_one(vreg(B, 8), vreg(B, 16))) << "one class, two widths";
  EXPECT_FALSE(may_become_one(vreg(B, 128), vreg(F, 128)));
  ir::VReg other = word;
  other.align_log2 = 1;
  EXPECT_FALSE(may_become_one(word, other));
  other = word;
  other.fixed = {ir::RegFile::R, 1, 4};
  EXPECT_FALSE(may_become_one(word, other));
  EXPECT_TRUE(may_become_one(other, other));
  other = word;
  other.flags = ir::kVRegUniform;
  EXPECT_FALSE(may_become_one(word, other));
}

}  // namespace
}  // namespace regduel::passes::nvptx
