// Contents on small programs. properties/contents_test.cpp has random ones.

#include "reference/program/contents.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

// Whether %a and %b are the same behind instruction #id.
bool same_after(const testing::Phases& p, std::uint32_t id, TempId a, TempId b) {
  Contents contents(p.problem, p.code);
  bool same = false;
  for (std::uint32_t block = 0; block < p.code.blocks.size(); ++block)
    if (p.code.blocks[block].is_reachable)
      contents.walk(block, [&](std::uint32_t i) {
        const CodeInst& inst = p.code.insts[i];
        if (inst.source != kNoSource && p.f.insts[inst.source].id.value == id) same = contents.is_same(a, b);
      });
  return same;
}

TEST(Contents, ChainsOfCopies) {
  const testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 %2 = copy %1
#3 %0 = ld
#4 %0 = copy %2
#5 st %0, %1, %2 !write
#6 exit
)");
  EXPECT_TRUE(same_after(p, 1, 0, 1));
  EXPECT_TRUE(same_after(p, 2, 0, 2));
  EXPECT_FALSE(same_after(p, 3, 0, 2));
  EXPECT_TRUE(same_after(p, 3, 1, 2));
  EXPECT_TRUE(same_after(p, 4, 0, 1));
}

TEST(Contents, AParallelCopyReadsBeforeItWrites) {
  const testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 %2 = copy %0
#3 %0, %1 = copy %1, %0
#4 %3 = copy %1
#5 st %0, %1, %2, %3 !write
#6 exit
)");
  EXPECT_FALSE(same_after(p, 3, 0, 2));
  EXPECT_TRUE(same_after(p, 3, 1, 2));
  EXPECT_FALSE(same_after(p, 3, 0, 1));
  EXPECT_TRUE(same_after(p, 4, 2, 3));
}

// On one side of the branch %1 is another value; on a path without a def of it, it may be anything.
TEST(Contents, OnAllPathsOnWhichBothAreDefined) {
  const auto body = [](const char* other) {
    return std::string(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld
#1 %2 = setp
#2 cbra %2 -> b1, b2
block b1
#3 %1 = copy %0
#4 bra -> b3
block b2
#5 )") + other +
           R"(
#6 bra -> b3
block b3
#7 nop
#8 st %0, %1 !write
#9 exit
)";
  };
  EXPECT_FALSE(same_after(testing::Phases(body("%1 = ld")), 7, 0, 1));
  EXPECT_TRUE(same_after(testing::Phases(body("nop")), 7, 0, 1));
  EXPECT_TRUE(same_after(testing::Phases(body("%1 = copy %0")), 7, 0, 1));
}

// What the iteration before left in %1 is an older result of #1.
TEST(Contents, ALoopMakesOldCopiesDiffer) {
  const testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %1 = ld
#6 bra -> b1
block b1
#1 %0 = ld
#2 nop
#3 st %0, %1 !write
#4 %1 = copy %0
#7 %2 = setp
#5 cbra %2 -> b1, b2
block b2
#8 exit
)");
  EXPECT_FALSE(same_after(p, 2, 0, 1));
  EXPECT_TRUE(same_after(p, 4, 0, 1));
}

}  // namespace
}  // namespace regduel::reference
