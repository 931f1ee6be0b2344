#include "llvm/random/mir_program.h"

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::llvm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string mir(const std::string& rir, const char* machine) {
  const auto module = ir::parse(rir, "test");
  EXPECT_TRUE(module) << to_string(module.error());
  const Machine& m = *find_machine(machine);
  const MirFunction f = mir_function(module->functions[0], m);
  return mir_file({&f, 1}, m);
}

const std::string kHead = "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b64\n  vreg %1 R b32\n  vreg %2 P pred\n";

TEST(MirProgram, AnOperationIsInlineAssembly) {
  const std::string text = mir(
      kHead + "  block b0\n    #0 %0 = \"a\"\n    #1 %1 = \"b\" %0.lo\n    #2 \"c\" %1 !write\n    #3 exit\n", "amdgcn-gfx1100");
  EXPECT_THAT(text, HasSubstr("{ id: 0, class: vreg_64 }"));
  EXPECT_THAT(text, HasSubstr("INLINEASM &\"nop\", 1, 10, def %0\n"));
  EXPECT_THAT(text, HasSubstr("INLINEASM &\"nop\", 1, 10, def %1, 9, %0.sub0\n"));
  EXPECT_THAT(text, HasSubstr("S_ENDPGM 0\n"));
}

TEST(MirProgram, WhatKeepsItsOldValueIsTied) {
  const std::string text =
      mir(kHead + "  block b0\n    #0 %1 = \"a\"\n    #1 %2 = \"p\"\n    #2 @%2 %1 = \"b\"\n    #3 \"c\" %1 !write\n    #4 exit\n",
          "x86_64");
  // 0x80000009, tied to the first operand group, which is operand 3
  EXPECT_THAT(text, HasSubstr("10, def %0, 2147483657, %0(tied-def 3), 9, %1\n"));
}

TEST(MirProgram, WhatIsLiveIntoTheEntryIsDefinedThere) {
  const std::string text = mir(kHead + "  block b0\n    #0 \"c\" %1 !write\n    #1 exit\n", "x86_64");
  EXPECT_THAT(text, HasSubstr("INLINEASM &\"nop\", 1, 10, def %0\n    INLINEASM &\"nop\", 1, 9, %0\n"));
}

// %1 is written twice, and the two values have nothing to do with each other.
TEST(MirProgram, EachWebIsAVRegOfItsOwn) {
  const std::string text =
      mir(kHead + "  block b0\n    #0 %1 = \"a\"\n    #1 \"b\" %1 !write\n    #2 %1 = \"c\"\n    #3 \"d\" %1 !write\n    #4 exit\n",
          "x86_64");
  EXPECT_THAT(text, HasSubstr("10, def %0\n    INLINEASM &\"nop\", 1, 9, %0\n    INLINEASM &\"nop\", 1, 10, def %1\n"));
}

TEST(MirProgram, BlocksThatCannotBeReachedAreLeftOut) {
  const std::string text =
      mir(kHead + "  block b0\n    #0 bra -> b2\n  block b1\n    #1 bra -> b2\n  block b2\n    #2 exit\n", "x86_64");
  EXPECT_THAT(text, HasSubstr("bb.2:"));
  EXPECT_THAT(text, Not(HasSubstr("bb.1:")));
  EXPECT_THAT(text, HasSubstr("JMP_1 %bb.2"));
}

TEST(MirProgram, AnInstructionHasNoMoreOperandsThanFit) {
  std::string rir = "rir 1\nfunc @f kernel target sm_90 threads 32\n", uses;
  for (int k = 0; k < 40; ++k) rir += "  vreg %" + std::to_string(k) + " R b32\n", uses += (k ? ", %" : " %") + std::to_string(k);
  const auto module = ir::parse(rir + "  block b0\n    #0 \"c\"" + uses + " !write\n    #1 exit\n", "test");
  ASSERT_TRUE(module) << to_string(module.error());
  for (const Machine& m : machines()) {
    const MirFunction f = mir_function(module->functions[0], m);
    EXPECT_EQ(f.blocks[0].operations.back().items.size(), static_cast<std::size_t>(m.budget[0])) << m.name;
  }
}

TEST(MirProgram, FixedOperandsAreCopiedFromAndToTheirRegister) {
  const std::string text = mir(
      kHead + "  block b0\n    #0 %1{=R3} = \"a\"\n    #1 \"c\" %1{=R5} clobbers R6:R7 !write\n    #2 exit\n", "amdgcn-gfx1100");
  EXPECT_THAT(text, HasSubstr("10, def $vgpr3\n    %0 = COPY $vgpr3\n    $vgpr5 = COPY %0\n"));
  EXPECT_THAT(text,
              HasSubstr("9, $vgpr5, 12, implicit-def dead early-clobber $vgpr6, 12, implicit-def dead early-clobber $vgpr7\n"));
}

}  // namespace
}  // namespace regduel::llvm
