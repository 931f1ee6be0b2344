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

// Whether %a is undefined on some path behind instruction #id.
bool missing_after(const testing::Phases& p, std::uint32_t id, TempId a) {
  Contents contents(p.problem, p.code);
  bool missing = false;
  for (std::uint32_t block = 0; block < p.code.blocks.size(); ++block)
    if (p.code.blocks[block].is_reachable)
      contents.walk(block, [&](std::uint32_t i) {
        const CodeInst& inst = p.code.insts[i];
        if (inst.source != kNoSource && p.f.insts[inst.source].id.value == id) missing = contents.is_missing(a);
      });
  return missing;
}

// %0 and %3 are one value wherever both are defined, and %3 is undefined on the way through b2.
TEST(Contents, WhatIsUndefinedOnSomePathIsMissing) {
  const testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 R b32
block b0
#0 %2 = setp
#1 %0 = ld
#2 cbra %2 -> b1, b2
block b1
#3 %3 = copy %0
#4 bra -> b3
block b2
#5 bra -> b3
block b3
#6 %1 = copy %3
#7 st %0, %1 !write
#8 %3 = copy %0
#9 %1 = copy %3
#10 st %1 !write
#11 exit
)");
  EXPECT_TRUE(same_after(p, 6, 0, 1));
  EXPECT_FALSE(missing_after(p, 3, 3));
  EXPECT_TRUE(missing_after(p, 6, 1));
  EXPECT_FALSE(missing_after(p, 6, 0));
  EXPECT_FALSE(missing_after(p, 9, 1));
}

// A guarded def and a def of a part leave something undefined; the other half fills it in.
TEST(Contents, PartsAndGuardedDefsLeaveBytesMissing) {
  const testing::Phases p(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %2 = setp
#1 @%2 %0 = ld
#2 %1 = copy %0
#3 %0.lo = ld
#4 %1 = copy %0
#5 %0.hi = ld
#6 %1 = copy %0
#7 st %1 !write
#8 exit
)");
  EXPECT_TRUE(missing_after(p, 2, 1));
  EXPECT_TRUE(missing_after(p, 4, 1));
  EXPECT_FALSE(missing_after(p, 6, 1));
}

}  // namespace
}  // namespace regduel::reference
