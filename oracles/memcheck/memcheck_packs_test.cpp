// memcheck on hand-made allocations with predicate packs and remats.

#include <string>

#include <fmt/format.h>

#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

const std::string kPacked = R"(
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 R b32
)";

Pair by_p2r() {
  return {kPacked, side_by_side(R"(
  block b0
    #0 %0 = p                | P0 = p
    #1 %1 = q                | P1 = q
    +20                      | R9{inout} = p2r P0, P1
    #2 call "g" clobbers P0:P6
    #3 %2 = a                | R0 = a
    +21                      | P1, P0 = r2p R9
    #4 use %0, %1, %2 !write | use P0, P1, R0 !write
    #5 exit
)")};
}

Pair by_bits() {
  return {kPacked, side_by_side(R"(
  block b0
    #0 %0 = p                | P0 = p
    +20                      | R9{inout} = bit_spill P0, 31
    #1 %1 = q                | P0 = q
    +21                      | R9{inout} = bit_spill P0, 7
    #2 call "g" clobbers P0:P6
    #3 %2 = a                | R0 = a
    +22                      | P2 = bit_refill R9, 31
    +23                      | P5 = bit_refill R9, 7
    #4 use %0, %1, %2 !write | use P2, P5, R0 !write
    #5 exit
)")};
}

TEST(MemcheckTest, LooksThroughPredicatePacks) {
  expect_pass(by_p2r());
  expect_pass(by_bits());
}

TEST(MemcheckTest, LooksThroughSpilledAndCopiedPacks) {
  for (Pair p : {by_p2r(), by_bits()}) {
    p.after = edit(p.after, "    #3 R0 = a\n", R"(
    +30 spill R9, slot 3
    #3 R9 = a
    +31 R0 = copy R9
    +32 R8 = refill slot 3
    +33 R9 = copy R8
)");
    expect_pass(p);
  }
}

TEST(MemcheckTest, PacksMayChangeOnTheWay) {
  // One arm packs another predicate beside: the bit is found behind the phi.
  expect_pass({side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = p            | P0 = p
    +20                  | R0{inout} = bit_spill P0, 3
    #1 %1 = q            | P0 = q
    #2 cbra %1 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %2 = r            | P0 = r
    +21                  | R0{inout} = bit_spill P0, 4
    #4 bra -> b3
  block b2
    #5 %2 = s            | P0 = s
    +22                  | R0{inout} = bit_spill P0, 4
    #6 bra -> b3
  block b3
    +23                  | P1 = bit_refill R0, 3
    +24                  | P0 = bit_refill R0, 4
    #7 use %0, %2 !write | use P1, P0 !write
    #8 exit
)")});
}

TEST(MemcheckTest, FindsAMissingMatchInAPack) {
  Pair p = by_p2r();
  p.after = edit(p.after, "    +20 R9{inout} = p2r P0, P1\n", "    +20 R9{inout} = p2r P1\n");
  expect_category(p, kP2rPattern);
  Pair q = by_bits();
  q.after = edit(q.after, "P5 = bit_refill R9, 7", "P5 = bit_refill R9, 31");
  expect_category(q, kBitPattern);
  Pair s = by_bits();
  s.after = edit(s.after, "    +21 R9{inout} = bit_spill P0, 7\n", "");
  expect_category(s, kBitPattern);
  // Of the whole p2r nothing is left; another predicate than the one meant; a spilled pack that came from the wrong slot.
  Pair t = by_p2r();
  t.after = edit(t.after, "    +20 R9{inout} = p2r P0, P1\n", "");
  expect_category(t, kP2rPattern);
  Pair u = by_p2r();
  u.after = edit(u.after, "P1, P0 = r2p R9", "P0 = r2p R9\n    +22 P1 = copy P0");
  expect_category(u, kP2rPattern);
  Pair v = by_p2r();
  v.after = edit(v.after, "    #3 R0 = a\n", R"(
    +30 spill R9, slot 3
    #3 R9 = a
    +31 R0 = copy R9
    +32 R9 = refill slot 1
)");
  expect_category(v, kP2rPattern);
  Pair w = by_bits();
  w.after = edit(w.after, "bit_spill P0, 7", "bit_spill P0, 31");
  expect_category(w, kBitPattern);
}

TEST(MemcheckTest, FindsADestroyedBase) {
  for (const bool call : {false, true}) {
    Pair p = by_p2r();
    Pair q = by_bits();
    for (Pair* pair : {&p, &q}) {
      if (call) pair->after = edit(pair->after, "clobbers P0:P6", "clobbers P0:P6, R9");
      else pair->after = edit(edit(pair->after, "R0 = a", "R9 = a"), ", R0 !write", ", R9 !write");
    }
    expect_category(p, kP2rBase);
    expect_category(q, kBitBase);
  }
  // By a copy that the allocator inserted, in whole or only in the half with the bit.
  for (const std::string_view part : {"", ".h0"}) {
    Pair p = by_p2r();
    p.after = edit(p.after, "    +21 P1", fmt::format("    +30 R9{} = copy R0{}\n    +21 P1", part, part));
    expect_category(p, kP2rBase);
    Pair q = by_bits();
    q.after = edit(q.after, "    +22 P2", fmt::format("    +30 R9{} = copy R0{}\n    +22 P2", part, part));
    expect_category(q, kBitBase);
  }
}

Pair remat() {
  return {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = ld.const %0, 4 !read !readonly !remat | ld.const !deleted !read !readonly !remat
    #2 %2 = b            | R1 = b
    #3 use %0, %2 !write | use R0, R1 !write
    +20                  | R1 = remat #1 R0, 4
    #4 use %1 !write     | use R1 !write
    #5 exit
)")};
}

TEST(MemcheckTest, AcceptsRemat) {
  expect_pass(remat());
  Pair p = remat();
  p.before = edit(p.before, "%1 = ld.const %0, 4 !read !readonly !remat", "%1 = const 7 !remat");
  p.after = edit(p.after, "#1 ld.const !deleted !read !readonly !remat", "#1 R9 = const 7 !remat");
  p.after = edit(p.after, "remat #1 R0, 4", "remat #1 7");
  expect_pass(p);
}

TEST(MemcheckTest, FindsABadRemat) {
  Pair p = remat();
  p.after = edit(p.after, "remat #1 R0, 4", "remat #1 R1, 4");
  const JudgeResult r = judge(p);
  ASSERT_THAT(categories(r), ElementsAre(kRemat)) << describe(r);
  EXPECT_THAT(r.findings[0].message, HasSubstr("Old instruction: [1] New instruction: [20]"));
  Pair q = remat();
  q.after = edit(q.after, "remat #1 R0, 4", "remat #1 R0, 8");
  expect_category(q, kRemat);
  // Its source's register was overwritten; another instruction is repeated, with the operands of the right one.
  Pair overwritten = remat();
  overwritten.after =
      edit(overwritten.after, "    +20 R1 = remat #1 R0, 4\n", "    +19 R0 = copy R1\n    +20 R1 = remat #1 R0, 4\n");
  expect_category(overwritten, kRemat);
  Pair other = remat();
  other.after = edit(other.after, "remat #1 R0, 4", "remat #0 R0, 4");
  expect_category(other, kRemat);
  // Another instruction is repeated, and rightly so in itself: that is a def which was not used this way before.
  Pair right_in_itself = remat();
  right_in_itself.before = edit(right_in_itself.before, "#2 %2 = b", "#2 %2 = b !remat");
  right_in_itself.after = edit(edit(right_in_itself.after, "#2 R1 = b", "#2 R1 = b !remat"), "remat #1 R0, 4", "remat #2");
  expect_category(right_in_itself, kExtra);
  Pair memory = remat();
  memory.before = edit(memory.before, "!read !readonly", "!read");
  expect_category(memory, kRemat);
}

TEST(MemcheckTest, ARematFedByABadRematIsBadToo) {
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = const 1 !remat | R0 = const 1 !remat
    #1 %1 = inc %0 !remat  | R1 = inc R0 !remat
    +20                    | R2 = remat #0 2
    +21                    | R1 = remat #1 R2
    #2 use %1 !write       | use R1 !write
    #3 exit
)")};
  expect_category(p, kRemat);
  expect_pass(with(p, "remat #0 2", "remat #0 1"));
}

}  // namespace
}  // namespace regduel::oracles
