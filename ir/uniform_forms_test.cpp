#include "ir/uniform_forms.h"

#include <gtest/gtest.h>

namespace regduel::ir {
namespace {

TEST(UniformForms, ByGeneration) {
  EXPECT_FALSE(has_uniform_form(70, "add.s32"));
  EXPECT_TRUE(has_uniform_form(75, "add.s32"));
  EXPECT_TRUE(has_uniform_form(75, "ld.param.u64"));
  EXPECT_FALSE(has_uniform_form(90, "fma.rn.f32"));
  EXPECT_TRUE(has_uniform_form(100, "fma.rn.f32"));
  EXPECT_FALSE(has_uniform_form(120, "ld.global.u32"));
  EXPECT_FALSE(has_uniform_form(120, "add"));
  EXPECT_FALSE(has_uniform_form(75, "add.s16"));
}

TEST(UniformForms, Votes) {
  EXPECT_FALSE(votes_into_uniform(70, "vote.sync.ballot.b32"));
  EXPECT_TRUE(votes_into_uniform(75, "vote.sync.ballot.b32"));
  EXPECT_FALSE(votes_into_uniform(75, "redux.sync.add.s32"));
  EXPECT_TRUE(votes_into_uniform(80, "redux.sync.add.s32"));
  EXPECT_FALSE(votes_into_uniform(120, "match.any.sync.b32"));
  EXPECT_FALSE(has_uniform_form(120, "vote.sync.ballot.b32"));
}

TEST(UniformForms, Operands) {
  EXPECT_TRUE(takes_uniform_operand(75, "fma.rn.f32"));
  EXPECT_FALSE(takes_uniform_operand(75, "add.cc.u32"));
  EXPECT_FALSE(takes_uniform_operand(75, "atom.global.add.u32"));
  EXPECT_TRUE(takes_constant_bank(89, "setp.lt.s32"));
  EXPECT_FALSE(takes_constant_bank(90, "setp.lt.s32"));
  EXPECT_TRUE(takes_uniform_address(75, "ld.global.v4.f32"));
  EXPECT_FALSE(takes_uniform_address(70, "ld.global.v4.f32"));
}

}  // namespace
}  // namespace regduel::ir
