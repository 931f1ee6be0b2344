#include "passes/llvm/two_address.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::passes::llvm {
namespace {

const std::string kVRegs =
    R"(func @f kernel target sm_90 threads 1
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b64
  vreg %4 R b64
  vreg %5 P pred
  block b0
)";

// The instructions of a block, after.
std::string after(const std::string& insts, bool reschedule = true) {
  const auto module = ir::parse("rir 1\n" + kVRegs + insts);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  if (!module) return "";
  const ir::Function f = make_two_address(module->functions[0], reschedule, nullptr, nullptr);
  EXPECT_TRUE(ir::check(f, 1).empty());
  return ir::print(f).substr(kVRegs.size());
}

TEST(TwoAddress, WhatDiesAtItsTieStaysAsItIs) {
  const std::string insts = R"(    #0 %0 = ld
    #1 %1{tied 1} = mad %0, 2
    #2 st %1 !write
    #3 exit
)";
  EXPECT_EQ(after(insts), insts);
}

TEST(TwoAddress, WhatLivesOnIsCopied) {
  EXPECT_EQ(after(R"(    #0 %0 = ld
    #1 %1{tied 1} = mad %0, 2
    #2 st %0, %1 !write
    #3 exit
)"),
            R"(    #0 %0 = ld
    #4 %1 = copy %0
    #1 %1{tied 1} = mad %1, 2
    #2 st %0, %1 !write
    #3 exit
)");
}

TEST(TwoAddress, OtherReadsFollowUnlessTheyAreFixed) {
  EXPECT_EQ(after(R"(    #0 %3 = ld
    #1 %4{tied 1} = mad %3, %3.hi, %3{=R4:R5}
    #2 st %3, %4 !write
    #3 exit
)"),
            R"(    #0 %3 = ld
    #4 %4 = copy %3
    #1 %4{tied 1} = mad %4, %4.hi, %3{=R4:R5}
    #2 st %3, %4 !write
    #3 exit
)");
}

TEST(TwoAddress, TwoTiesOfOneValueGetACopyEach) {
  EXPECT_EQ(after(R"(    #0 %0 = ld
    #1 %1{tied 2}, %2{tied 3} = mad %0, %0
    #2 st %0, %1, %2 !write
    #3 exit
)"),
            R"(    #0 %0 = ld
    #4 %1 = copy %0
    #5 %2 = copy %0
    #1 %1{tied 2}, %2{tied 3} = mad %1, %2
    #2 st %0, %1, %2 !write
    #3 exit
)");
}

TEST(TwoAddress, ATieWhoseDefIsReadOrThatIsFixedStays) {
  for (const std::string insts : {R"(    #0 %0, %1 = ld
    #1 %1{tied 1} = mad %0, %1
    #2 st %0, %1 !write
    #3 exit
)",
                                  R"(    #0 %0 = ld
    #1 %1{=R4, tied 1} = mad %0, 2
    #2 st %0, %1 !write
    #3 exit
)"})
    EXPECT_EQ(after(insts), insts);
}

TEST(TwoAddress, CopiesThatAreAllThatReadsItMoveBeforeTheTie) {
  const std::string insts =
      R"(    #0 %0 = ld
    #1 %1{tied 1} = mad %0, 2
    #2 %2 = copy %0
    #3 st %1, %2 !write
    #4 exit
)";
  EXPECT_EQ(after(insts),
            R"(    #0 %0 = ld
    #5 %2 = copy %0
    #1 %1{tied 1} = mad %0, 2
    #3 st %1, %2 !write
    #4 exit
)");
  EXPECT_EQ(after(insts, false),
            R"(    #0 %0 = ld
    #5 %1 = copy %0
    #1 %1{tied 1} = mad %1, 2
    #2 %2 = copy %0
    #3 st %1, %2 !write
    #4 exit
)");
}

TEST(TwoAddress, NoCopyMovesOverWhatMentionsItsDefOrIfSomethingElseReadsTheValue) {
  for (const std::string rest :
       {"    #2 st %2 !write\n    #3 %2 = copy %0\n", "    #2 %2 = copy %0\n    #3 st %0 !write\n", "    #2 @%5 %2 = copy %0\n",
        "    #2 %2{=R4} = copy %0\n", "    #2 %2 = copy %0 clobbers R4\n", "    #2 %1 = copy %0\n"}) {
    const std::string text =
        after("    #0 %0, %2, %5 = ld\n    #1 %1{tied 1} = mad %0, 2\n" + rest + "    #8 st %1, %2 !write\n    #9 exit\n");
    EXPECT_NE(text.find("#10 %1 = copy %0\n    #1 "), std::string::npos) << text;
    EXPECT_NE(text.find(rest), std::string::npos) << text;
  }
}

TEST(TwoAddress, WhatIsWrittenAnewBehindTheCopiesMayLiveOn) {
  EXPECT_EQ(after(R"(    #0 %0 = ld
    #1 %1{tied 1} = mad %0, 2
    #2 %2 = copy %0
    #3 %0 = ld
    #4 st %0, %1, %2 !write
    #5 exit
)"),
            R"(    #0 %0 = ld
    #6 %2 = copy %0
    #1 %1{tied 1} = mad %0, 2
    #3 %0 = ld
    #4 st %0, %1, %2 !write
    #5 exit
)");
}

}  // namespace
}  // namespace regduel::passes::llvm
