#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/cfg.h"
#include "reference/by_point/least.h"
#include "reference/exact/exact.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using testing::parse_body;

std::expected<ir::Allocation, ir::AllocFailure> by_point(const std::string& body, int registers,
                                                         std::vector<std::pair<std::string, std::string>> knobs = {}) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  options.knobs = std::move(knobs);
  return make_exact_split()->allocate(parse_body(body), ir::default_target(), options);
}
std::string note(const std::string& body, int registers) {
  const auto a = by_point(body, registers);
  if (!a) return a.error().message;
  return a->notes.size() == 1 ? a->notes[0] : "not one note";
}

// %0 is read often, then rests while %1 and %2 are there: one store and one refill. In memory throughout it would be refilled each time.
TEST(ByPoint, AValueIsInARegisterHereAndInMemoryThere) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 st %0 !write
#2 st %0 !write
#3 st %0 !write
#4 %1 = ld 1
#5 %2 = ld 2
#6 st %1, %2 !write
#7 st %1, %2 !write
#8 st %0 !write
#9 exit
)",
                 2),
            "weighted spill bytes: 8, the least by point");
}

// All of them are one content, so that one slot and one refill serve them.
TEST(ByPoint, ACopyOfOneValueTwiceMakesNoContent) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b32
block b0
#0 %0 = ld 0 !read
#1 %1, %2 = copy %0, %0
#2 %3 = ld 1 !read
#3 %4 = ld 2 !read
#4 st %3, %4 !write
#5 st %3, %4 !write
#6 st %1, %2 !write
#7 st %0 !write
#8 exit
)",
                 2),
            "weighted spill bytes: 8, the least by point");
}

// %1 is in R0 behind the clobbers, and holds what %0 does. Nothing is proved.
TEST(ByPoint, ACopyMayCarryAValuePastItsClobbers) {
  EXPECT_THAT(note(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = op
#1 %1 = copy %0 clobbers R0:R23
#2 op %0
#3 exit
)",
                   1),
              ::testing::HasSubstr("the least by point are between 0 and 8"));
}

// A copy of a value to itself does nothing, under a guard either.
TEST(ByPoint, AGuardedCopyToItselfNeedsNoRegister) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = setp %1
#4 @%3 %0 = copy %0
#5 st %1, %2 !write
#6 st %0 !write
#7 exit
)",
                 2),
            "weighted spill bytes: 8, the least by point");
}

// Stored before the loop and refilled behind it, however often the loop runs.
TEST(ByPoint, RefillsBehindALoop) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 bra -> b1
block b1 depth 1
#3 %2 = ld 2
#4 st %1, %2 !write
#5 %3 = setp
#6 cbra %3 -> b1, b2
block b2
#7 st %0, %1 !write
#8 exit
)",
                 2),
            "weighted spill bytes: 8, the least by point");
}

// The store stands behind the loop that computes the value, not in it.
TEST(ByPoint, StoresBehindALoop) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 bra -> b1
block b1 depth 1
#2 %0 = add %0
#3 %3 = setp
#4 cbra %3 -> b1, b2
block b2
#5 %1 = ld 1
#6 %2 = ld 2
#7 st %1, %2 !write
#8 st %0 !write
#9 exit
)",
                 2),
            "weighted spill bytes: 8, the least by point");
}

TEST(ByPoint, EqualValuesShareARegister) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 %1 = copy %0
#2 %2 = copy %1
#3 st %1 !write
#4 st %2 !write
#5 st %0 !write
#6 exit
)",
                 1),
            "weighted spill bytes: 0, the least by point");
}

TEST(ByPoint, WhatCanBeComputedAgainCostsNothing) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = const 7 !remat
#1 %1 = ld 1
#2 %2 = ld 2
#3 st %1, %2 !write
#4 st %0 !write
#5 exit
)",
                 2),
            "weighted spill bytes: 0, the least by point");
}

// Of a pair in memory an instruction that reads one half refills that half.
TEST(ByPoint, RefillsThePartThatIsRead) {
  EXPECT_EQ(note(R"(vreg %0 R b64
vreg %1 R b64
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 st %1 !write
#3 st %0.lo !write
#4 exit
)",
                 3),
            "weighted spill bytes: 12, the least by point");
}

// Two values change places in a loop without a free register: a parallel copy does it.
TEST(ByPoint, PhisThatSwapSpillNothing) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 P pred
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 bra -> b1
block b1 depth 1
#3 %2 = phi b0: %0, b1: %3
#4 %3 = phi b0: %1, b1: %2
#5 %4 = setp
#6 cbra %4 -> b1, b2
block b2
#7 st %2, %3 !write
#8 exit
)",
                 2),
            "weighted spill bytes: 0, the least by point");
}

// Two singles stand in the way of a pair wherever they are but in one pair of units; moves put them there.
TEST(ByPoint, MovesMakeRoomForTuples) {
  EXPECT_EQ(note(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b64
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = ld 3
#4 st %0, %2 !write
#5 %4 = ld 4
#6 st %1, %3, %4 !write
#7 exit
)",
                 4),
            "weighted spill bytes: 0, the least by point");
}

TEST(ByPoint, LargeProgramsHaveARelaxationAsTheirBound) {
  std::string body;
  for (int v = 0; v < 30; ++v) body += "vreg %" + std::to_string(v) + " R b32\n";
  body += "block b0\n";
  for (int v = 0; v < 30; ++v) body += "#" + std::to_string(v) + " %" + std::to_string(v) + " = ld\n";
  for (int v = 0; v < 30; ++v) body += "#" + std::to_string(30 + v) + " st %" + std::to_string(v) + " !write\n";
  body += "#60 exit\n";
  const ir::Function f = parse_body(body);
  const ir::Cfg cfg(f);
  const Problem problem(f, cfg, ir::default_target(), ir::Limits::of(ir::default_target(), 10), 10);
  const LeastByPoint least = least_by_point(problem, {.most_values = 20}, nullptr);
  EXPECT_TRUE(least.is_relaxed);
  // Of thirty values, twenty are stored and refilled.
  EXPECT_EQ(least.at_least, 160);
  EXPECT_EQ(least.values, 30u);
}

TEST(ByPoint, UnknownKnobsAreErrors) {
  const auto a = by_point("block b0\n#0 exit\n", 4, {{"exact-nothing", "1"}});
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::BadKnob);
}

}  // namespace
}  // namespace regduel::reference
