#include "passes/nvptx/intervals.h"

#include <string>

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

// Segments as "[1,4)", definitions as "1v" (v value, c copy, p phi, t tie). In block b0 the instruction with index n reads at 2n
// + 2.
std::string show(const testing::Prepared& s, int root, int piece = 0) {
  const LiveInterval& i = s.intervals.of(ir::VRegId(root), piece);
  std::string text;
  for (const Segment& segment : i.segments) text += "[" + std::to_string(segment.begin) + "," + std::to_string(segment.end) + ")";
  for (const Definition& d : i.definitions) text += " " + std::to_string(d.at) + "vcpt"[static_cast<std::size_t>(d.makes)];
  return text;
}
std::string show(const std::string& body, int root, int piece = 0) {
  return show(testing::Prepared(testing::program(body)), root, piece);
}

TEST(Intervals, FromTheWriteToTheLastRead) {
  const std::string body = testing::words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 st %1 !write
    #3 exit
)";
  EXPECT_EQ(show(body, 0), "[3,5) 3v");
  EXPECT_EQ(show(body, 1), "[5,7) 5c");
}

TEST(Intervals, WhatNobodyReadsHasAPointOfItsOwn) {
  EXPECT_EQ(show(testing::words(1) + R"(  block b0
    #0 %0 = ld
    #1 exit
)",
                 0),
            "[3,4) 3v");
}

TEST(Intervals, GuardedDefsAndDefsOfPartsKeepWhatWasThere) {
  const std::string vregs = "  vreg %0 R b32\n  vreg %1 P pred\n";
  EXPECT_EQ(show(vregs + R"(  block b0
    #0 %0 = ld
    #1 @%1 %0 = ld
    #2 st %0 !write
    #3 exit
)",
                 0),
            "[3,7) 3v 5v");
  EXPECT_EQ(show(vregs + R"(  block b0
    #0 @%1 %0 = ld
    #1 st %0 !write
    #2 exit
)",
                 0),
            "[3,5) 3v")
      << "the first one begins";
  EXPECT_EQ(show(vregs + R"(  block b0
    #0 %0.h0 = ld
    #1 %0.h1 = ld
    #2 st %0 !write
    #3 exit
)",
                 0),
            "[3,7) 3v 5v");
}

TEST(Intervals, EachPieceOfWhatIsWideHasItsOwn) {
  const std::string body =
      R"(  vreg %0 R b128
  block b0
    #0 %0.d0 = ld
    #1 %0.d1 = ld
    #2 st %0.d0 !write
    #3 st %0.d1 !write
    #4 exit
)";
  EXPECT_EQ(show(body, 0, 0), "[3,7) 3v");
  EXPECT_EQ(show(body, 0, 1), "[5,9) 5v");
}

TEST(Intervals, EarlyClobberDefsWriteAtTheReads) {
  const std::string body = testing::words(2) + R"(  block b0
    #0 %0{early} = op %1
    #1 st %0 !write
    #2 exit
)";
  EXPECT_EQ(show(body, 0), "[2,5) 2v");
  EXPECT_EQ(show(body, 1), "[0,3)") << "it is read there, though nothing defines it";
}

TEST(Intervals, ATiedUseThatDiesIsWrittenByTheDef) {
  EXPECT_EQ(show(testing::words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1{tied 1} = op %0
    #2 st %1 !write
    #3 exit
)",
                 0),
            "[3,6) 3v 5t");
  EXPECT_EQ(show(testing::words(2) + R"(  block b0
    #0 %0 = ld
    #1 %1{tied 1} = op %0
    #2 st %1, %0 !write
    #3 exit
)",
                 0),
            "[3,7) 3v");
}

TEST(Intervals, AcrossBlocks) {
  const std::string body = testing::words(3) +
                           R"(  vreg %3 P pred
  block b0
    #0 %0 = ld
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0, b1: %2
    #3 %2 = add %1
    #4 cbra %3 -> b1, b2
  block b2
    #5 st %1 !write
    #6 exit
)";
  // b0 is [0,8), b1 [8,18), b2 [18,26).
  EXPECT_EQ(show(body, 0), "[3,8) 3v") << "a phi reads at the end of the predecessor";
  EXPECT_EQ(show(body, 1), "[9,21) 9p");
  EXPECT_EQ(show(body, 2), "[13,18) 13v");
  const testing::Prepared s{testing::program(body)};
  EXPECT_TRUE(s.intervals.live_through(ir::BlockId(1)).empty()) << "%1 is written in b1";
}

TEST(Intervals, LiveThrough) {
  const testing::Prepared s{testing::program(testing::words(2) +
                                             R"(  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 bra -> b1
  block b1
    #3 st %1 !write
    #4 bra -> b2
  block b2
    #5 st %0 !write
    #6 exit
)")};
  ASSERT_EQ(s.intervals.live_through(ir::BlockId(1)).size(), 1u);
  EXPECT_EQ(s.intervals.live_through(ir::BlockId(1))[0], ir::VRegId(0));
  EXPECT_TRUE(s.intervals.live_through(ir::BlockId(2)).empty());
}

}  // namespace
}  // namespace regduel::passes::nvptx
