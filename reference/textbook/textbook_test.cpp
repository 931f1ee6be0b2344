// Each textbook allocator on the smallest program that shows what it is known for. Whether what they make is right on many programs is
// in properties/textbook_test.cpp.
#include "reference/textbook/textbook.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::unique_ptr<ir::Allocator>> all() {
  std::vector<std::unique_ptr<ir::Allocator>> list;
  list.push_back(make_chaitin_briggs());
  list.push_back(make_irc());
  list.push_back(make_pbqp());
  list.push_back(make_linear_scan());
  list.push_back(make_chordal());
  return list;
}

ir::Allocation by(const ir::Allocator& allocator, std::string_view body, int registers) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  auto a = allocator.allocate(testing::parse_body(body), ir::default_target(), options);
  if (!a) {
    ADD_FAILURE() << allocator.name() << ": " << a.error().message;
    return {};
  }
  for (const ir::Diagnostic& d : ir::check(a->program, ir::default_target()))
    ADD_FAILURE() << allocator.name() << ": " << ir::to_string(a->program, d);
  EXPECT_LE(a->claims.registers[ir::index(ir::RegFile::R)], registers) << allocator.name();
  return std::move(*a);
}
std::string text(const ir::Allocation& a) {
  const std::string all = ir::print(a.program);
  return all.substr(all.find("  block"));
}
int registers(const ir::Allocation& a) { return a.claims.registers[ir::index(ir::RegFile::R)]; }

constexpr std::string_view kFourLive =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = ld 3
#4 st %3, %2 !write
#5 st %1 !write
#6 st %0 !write
#7 exit
)";

TEST(Textbook, EachSpillsOnlyWhereTheLimitAsksForIt) {
  for (const auto& allocator : all()) {
    const ir::Allocation four = by(*allocator, kFourLive, 4), three = by(*allocator, kFourLive, 3);
    EXPECT_EQ(four.claims.spill_store_bytes, 0) << allocator->name();
    EXPECT_EQ(registers(four), 4) << allocator->name();
    EXPECT_EQ(three.claims.spill_store_bytes, 4) << allocator->name();
    EXPECT_EQ(three.claims.spill_load_bytes, 4) << allocator->name();
  }
}

TEST(Textbook, EachRefusesWhatNoAllocationHolds) {
  for (const auto& allocator : all()) {
    ir::AllocOptions options;
    options.limits = ir::Limits::of(ir::default_target(), 1);
    const auto a = allocator->allocate(testing::parse_body(kFourLive), ir::default_target(), options);
    ASSERT_FALSE(a.has_value()) << allocator->name();
    EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Impossible);
    EXPECT_EQ(a.error().message, ir::failure_message(1));
    options.knobs = {{"fast", "1"}};
    const auto bad = allocator->allocate(testing::parse_body(kFourLive), ir::default_target(), options);
    ASSERT_FALSE(bad.has_value()) << allocator->name();
    EXPECT_EQ(bad.error().kind, ir::AllocFailure::Kind::BadKnob);
  }
}

TEST(Textbook, EachLeavesNoCopyWhereOneRegisterWillDo) {
  for (const auto& allocator : all()) {
    const ir::Allocation a = by(*allocator, R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld
#1 %1 = copy %0
#2 st %1 !write
#3 exit
)",
                                255);
    EXPECT_THAT(text(a), HasSubstr("#1 copy !deleted")) << allocator->name();
  }
}

// Both copies can be identities only if %1 and %2 share a register with %0, one after the other. Before anything is taken off, with two
// registers, neither merge is safe by Briggs' test; once the others are gone, both are.
TEST(Irc, CoalescesAfterSimplification) {
  constexpr std::string_view kBody =
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b32
block b0
#0 %0 = ld 0
#1 %3 = ld 1
#2 st %3, %0 !write
#3 %4 = ld 2
#4 st %4, %0 !write
#5 %1 = copy %0
#6 %2 = ld 3
#7 st %2, %1 !write
#8 st %1 !write
#9 exit
)";
  EXPECT_THAT(text(by(*make_irc(), kBody, 2)), HasSubstr("#5 copy !deleted"));
}

// The cheaper of two conflicting copies stays: the costs of pairs of options decide.
TEST(Pbqp, WeighsCopiesByFrequency) {
  const ir::Allocation a = by(*make_pbqp(), R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 %1 = copy %0
#2 st %0, %1 !write
#3 %2 = copy %1
#4 st %2 !write
#5 exit
)",
                              255);
  EXPECT_THAT(text(a), HasSubstr("#3 copy !deleted"));
}

constexpr std::string_view kUsedTwiceAtTheEnd =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 st %0 !write
#2 %1 = ld 1
#3 %2 = ld 2
#4 st %1, %2 !write
#5 st %0 !write
#6 st %0 !write
#7 exit
)";

// A value that was spilled comes back into a register and stays there: graph colourers without splitting refill it at each use.
TEST(LinearScan, GivesASecondChance) {
  for (const auto& allocator : {make_linear_scan(), make_chordal()}) {
    const ir::Allocation a = by(*allocator, kUsedTwiceAtTheEnd, 2);
    EXPECT_EQ(a.claims.spill_store_bytes, 4) << allocator->name();
    EXPECT_EQ(a.claims.spill_load_bytes, 4) << allocator->name();
  }
  EXPECT_GT(by(*make_chaitin_briggs(), kUsedTwiceAtTheEnd, 2).claims.spill_load_bytes, 4);
}

// The two ways leave the value in different places, so that one edge has a refill.
TEST(LinearScan, JoinsWhatDiffersOnTwoWays) {
  for (const auto& allocator : {make_linear_scan(), make_chordal()}) {
    const ir::Allocation a = by(*allocator, R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %3 = setp %0
#2 cbra %3 -> b1, b2
block b1
#3 %1 = ld 1
#4 %2 = ld 2
#5 st %1, %2 !write
#6 bra -> b3
block b2
#7 st %0 !write
#8 bra -> b3
block b3
#9 st %0 !write
#10 exit
)",
                                2);
    EXPECT_GE(a.claims.spill_load_bytes, 4) << allocator->name();
    EXPECT_LE(a.claims.spill_load_bytes, 8) << allocator->name();
  }
}

// The five-cycle of live ranges in a loop body needs three registers without splitting; along the tree two are live, and two suffice.
TEST(Chordal, TakesNoMoreThanAreLive) {
  std::string body = "vreg %0 R b32\nvreg %1 R b32\nvreg %2 R b32\nvreg %3 P pred\n";
  body += R"(block b0
#0 %0 = ld 0
#1 bra -> b1
block b1
#2 %1 = add %0, 1
#3 st %0 !write
#4 %2 = add %1, 1
#5 st %1 !write
#6 %0 = add %2, 1
#7 st %2 !write
#8 %3 = setp %0
#9 cbra %3 -> b1, b2
block b2
#10 exit
)";
  EXPECT_GT(registers(by(*make_chaitin_briggs(), body, 255)), 2);
  const ir::Allocation a = by(*make_chordal(), body, 255);
  EXPECT_EQ(registers(a), 2);
  EXPECT_EQ(a.claims.spill_store_bytes, 0);
}

// Of three values in two registers the one goes whose next use is furthest away.
TEST(Chordal, SpillsByBelady) {
  const ir::Allocation a = by(*make_chordal(), R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 st %1 !write
#4 st %2 !write
#5 st %1 !write
#6 st %0 !write
#7 exit
)",
                              2);
  EXPECT_THAT(text(a), HasSubstr("spill R0"));
  EXPECT_EQ(a.claims.spill_load_bytes, 4);
}

// The copy into the phi is dead, so that %0 is only seemingly live at the head of b1, where it is written anew.
TEST(LinearScan, WhatOnlyADeadCopyReadsGivesItsRegisterUp) {
  for (const auto& allocator : {make_linear_scan(), make_chordal()}) {
    const ir::Allocation a = by(*allocator, R"(vreg %0 R b32
vreg %1 R b64
block b0
#0 %0 = ld 0
#1 st %0 !write
#2 bra -> b1
block b1
#3 %0 = phi b0: %0
#4 %0 = ld 1
#5 %1 = ld 2
#6 st %1 !write
#7 exit
)",
                                2);
    EXPECT_EQ(a.claims.spill_store_bytes, 0) << allocator->name();
  }
}

// Operands of a call stand in fixed registers, and what lives across it must leave those that it clobbers.
TEST(LinearScan, MovesOutOfTheWayOfAClobber) {
  for (const auto& allocator : {make_linear_scan(), make_chordal()}) {
    const ir::Allocation a = by(*allocator, R"(vreg %0 R b32
block b0
#0 %0 = ld 0
#1 op clobbers R0:R1
#2 st %0 !write
#3 exit
)",
                                255);
    EXPECT_EQ(a.claims.spill_store_bytes, 0) << allocator->name();
  }
}

}  // namespace
}  // namespace regduel::reference
