// What a register that a warp shares may take.

#include "oracles/structure/uniform_sources.h"

#include <algorithm>

#include "oracles/structure/structure.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::categories;
using ::testing::ElementsAre;
using testing::judge_text;

// What a uniform register holds is the same in all threads where nothing has written it.
TEST(Structure, ContentsOfUniformRegistersMayMove) {
  const std::string head = "func @t kernel target sm_90 threads 32", declared = "  vreg %0 R b32\n";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a
    #1 use %0 !write
    #2 exit
)",
                                    head + " allocated\n  frame local 4 shared 0\n" + declared + R"(
  slot 0 local size 4 align 4 offset 0
  block b0
    #0 R0 = a
    +3 UR2 = copy UR1
    +4 spill UR2, slot 0
    +5 UR2 = refill slot 0
    +6 UR1 = copy UR2
    #1 use R0 !write
    #2 exit
)")),
              ElementsAre());
}

// How many instructions put into a uniform register what is not the same in all threads.
std::ptrdiff_t made_uniform(const std::string& before, const std::string& after) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 UR b32 uniform
)",
                    head = "func @t kernel target sm_90 threads 32";
  const JudgeResult r = judge_text(structure_judge(), head + "\n" + declared + "  block b0\n" + before,
                                   head + " allocated\n" + declared + "  block b0\n" + after);
  return std::count_if(r.findings.begin(), r.findings.end(), [](const Finding& f) { return f.category == "uniform-register"; });
}

// Unless it is written first. From a clobber on it is undefined again. Into UR5 goes what differs from thread to thread; whether R9
// holds that as well depends on when it was read.
TEST(Structure, UndefinedContentsOfUniformRegistersMayMove) {
  const std::string use = "    #1 use %0 !write\n    #2 exit\n", used = "    #1 use R0 !write\n    #2 exit\n";
  const std::string next = "    #3 bra -> b1\n  block b1\n", spoil = "    +10 UR5 = copy R0\n",
                    move = "    +11 R9 = copy UR5\n    +12 UR6 = copy R9\n";
  const std::string whole = "    #0 %0 = a\n" + use, two = "    #0 %0 = a\n" + next + use;
  EXPECT_EQ(made_uniform(whole, "    #0 R0 = a\n" + spoil + move + used), 2);
  EXPECT_EQ(made_uniform(two, "    #0 R0 = a\n" + next + move + spoil + used), 1);
  EXPECT_EQ(made_uniform("    #0 %0 = a\n    #4 op clobbers UR5\n" + next + use,
                         "    #0 R0 = a\n" + spoil + "    #4 op clobbers UR5\n" + next + move + used),
            1);
}

// R0 stands for the uniform %1 later on. What it holds at the first move is not the same in all threads.
TEST(Structure, ARegisterMayHoldAUniformValueAtOnePlaceAndNoneAtAnother) {
  const std::string uses = R"(
    #1 use R0 !write
    #3 UR5 = b
    +12 R0 = copy UR5
    +13 UR6 = copy R0
)",
                    end = "    #4 use UR6 !write\n    #2 exit\n", move = "    +10 UR5 = copy R0\n    +11 R0 = copy UR5\n";
  const std::string before = R"(
    #0 %0 = a
    #1 use %0 !write
    #3 %1 = b
    #4 use %1 !write
    #2 exit
)";
  EXPECT_EQ(made_uniform(before, "    #0 R0 = a\n" + uses + end), 0);
  EXPECT_EQ(made_uniform(before, "    #0 R0 = a\n" + move + uses + end), 1);
}

// What nothing has written may move into a uniform register: R9, which nothing ever writes, or which holds something uniform later
// on.
TEST(Structure, UndefinedContentsOfARegisterMayMove) {
  const std::string before = R"(
    #0 %0 = a
    #1 use %0 !write
    #3 %1 = b
    #4 use %1 !write
    #2 exit
)",
                    head = R"(
    #0 R0 = a
    +10 UR6 = copy R9
    #1 use R0 !write
    #3 UR5 = b
)",
                    tail = "    #4 use UR5 !write\n    #2 exit\n";
  EXPECT_EQ(made_uniform(before, head + tail), 0);
  EXPECT_EQ(made_uniform(before, head + "    +11 R9 = copy UR5\n" + tail), 0);
  EXPECT_EQ(made_uniform(before, head + "    +11 R9 = copy R0\n" + tail), 1);
}

// A uniform vreg that may be read before it is defined may hold anything, and so may what it is moved to.
TEST(Structure, NothingIsSaidWhereAUniformVregMayBeUndefined) {
  const std::string next = "    #3 bra -> b1\n  block b1\n", use = "    #1 use %0, %1 !write\n    #2 exit\n",
                    used = "    #1 use R0, UR5 !write\n    #2 exit\n", copy = "    +10 UR5 = copy R0\n";
  for (const std::string& between : {std::string(), next}) {
    EXPECT_EQ(made_uniform("    #0 %0 = a\n" + between + use, "    #0 R0 = a\n" + copy + between + used), 0);
    EXPECT_EQ(made_uniform("    #0 %0, %1 = a\n" + between + use, "    #0 R0, UR5 = a\n" + copy + between + used), 1);
  }
}

TEST(Structure, AUniformRegisterTakesNoRematOfWhatIsNot) {
  const std::string before = R"(
    #0 %0 = a !remat
    #1 use %0 !write
    #2 exit
)";
  EXPECT_EQ(made_uniform(before, R"(
    #0 R0 = a !remat
    +10 UR5 = remat #0
    #1 use R0 !write
    #2 exit
)"),
            1);
}

// Nothing writes R9, but an architectural register holds something of each thread from the entry on; one marked uniform, the same
// in all.
TEST(Structure, AnArchitecturalRegisterThatNothingWritesIsOfEachThread) {
  const auto judged = [](const std::string& uniform) {
    const std::string declared = "  vreg %0 R b32\n  vreg %1 R b32 fixed R9" + uniform + " architectural\n",
                      head = "func @t kernel target sm_90 threads 32";
    return categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a %1
    #1 use %0, %1 !write
    #2 exit
)",
                                 head + " allocated\n" + declared + R"(
  block b0
    #0 R0 = a R9
    +4 UR0 = copy R9
    +5 R1 = copy UR0
    #1 use R0, R9 !write
    #2 exit
)"));
  };
  EXPECT_THAT(judged(""), ElementsAre("uniform-register"));
  EXPECT_THAT(judged(" uniform"), ElementsAre());
}

TEST(Structure, ACopyIntoAUniformRegisterMayBeMadeElsewhere) {
  const std::string declared = R"(
  vreg %0 R b32
  vreg %1 UR b32 uniform
)",
                    head = "func @t kernel target sm_90 threads 32";
  EXPECT_THAT(categories(judge_text(structure_judge(), head + "\n" + declared + R"(
  block b0
    #0 %0 = a
    #1 %1 = copy %0
    #2 use %0, %1 !write
    #3 exit
)",
                                    head + " allocated\n" + declared + R"(
  block b0
    #0 R0 = a
    #1 copy !deleted
    +4 R7 = copy R0
    +5 UR0 = copy R7
    #2 use R0, UR0 !write
    #3 exit
)")),
              ElementsAre());
}

}  // namespace
}  // namespace regduel::oracles
