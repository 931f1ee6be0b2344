// Which code a predicate shows that comes out of a pack: hand-made damage, and what memcheck says of it, whose analysis is another
// one.
#include "fuzz/faults/pack_bits.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::fuzz {
namespace {

using oracles::testing::edit;
using oracles::testing::parse_function;

constexpr OperandRead kRead{ir::InstId(5), 0};

const std::string kBefore = R"(
func @f kernel target sm_90 threads 256
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 R b32
  block b0
    #0 %0 = p
    #1 %1 = q
    #2 %2 = a
    #3 bra -> b1
  block b1
    #5 use %0, %1, %2
    #6 cbra %1 -> b1, b2
  block b2
    #7 exit
)";
// %0 goes through bit 17 of a base in R9 and bit 0 of a pack in R8, which goes through slot 0; %1 stays in P1.
const std::string kAfter = R"(
func @f kernel target sm_90 threads 256 allocated
  frame local 12 shared 0
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 R b32
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  slot 2 local size 4 align 4 offset 8
  block b0
    #0 P0 = p
    #1 P1 = q
    #2 R0 = a
    +10 R9{inout} = bit_spill P0, 17
    +11 R7 = copy R9
    #3 bra -> b1
  block b1
    +12 P0 = bit_refill R9, 17
    +13 R8{inout} = p2r P0
    +14 spill R8, slot 0
    +15 R5 = refill slot 0
    +16 P0 = r2p R5
    #5 use P0, P1, R0
    #6 cbra P1 -> b1, b2
  block b2
    #7 exit
)";

// The code that the read shows; 0 = none.
int code_of(const std::string& after, OperandRead read = kRead) {
  const ir::Function before = parse_function(kBefore), now = parse_function(after);
  const BeforeFacts facts(before);
  int shown = 0, count = 0;
  for (const int code : {8, 9, 3, 4})
    if (shows_in_pack(facts, now, std::array{read}, code)) {
      shown = code;
      ++count;
    }
  EXPECT_LE(count, 1);
  return shown;
}

struct Damage {
  std::string what, from, to;
  int code;
};
const std::vector<Damage>& damages() {
  static const std::vector<Damage> list = {
      {"nothing", "#7 exit", "#7 exit", 0},
      {"no write of the bit", "    +10 R9{inout} = bit_spill P0, 17\n", "", 3},  // r2p brings it on: 3 goes before 4
      {"another predicate", "p2r P0", "p2r P1", 3},
      {"another bit, at the end of the chain", "+16 P0 = r2p R5", "+16 P0 = bit_refill R5, 3", 4},
      {"a register that was never a pack", "+16 P0 = r2p R5", "+16 P0 = r2p R4", 3},
      {"a slot that was never a pack, and a register that held none", "+15 R5 = refill slot 0\n    +16 P0 = r2p R5",
       "+15 R4 = refill slot 1\n    +16 P0 = r2p R4", 3},
      {"the same, and the register held the pack on the visit before", "+15 R5 = refill slot 0",
       "+19 R5 = refill slot 0\n    +15 R5 = refill slot 1", 8},
      {"a def over the pack", "+14 spill R8, slot 0", "+19 R8 = copy R0\n    +14 spill R8, slot 0", 8},
      {"a def over the pack under a guard", "+14 spill R8, slot 0", "+19 @P1 R8 = copy R0\n    +14 spill R8, slot 0", 8},
      {"a refill over the base", "+12 P0", "+19 R9 = refill slot 2\n    +12 P0", 9},
      {"the half of the base with the bit", "+12 P0", "+19 R9.hi = copy R0.hi\n    +12 P0", 9},
      {"one half after the other", "+12 P0", "+19 R9.hi = copy R0.hi\n    +20 R9.lo = copy R0.lo\n    +12 P0", 9},
      {"the other half", "+12 P0", "+19 R9.lo = copy R0.lo\n    +12 P0", 0},
      {"an older copy of the base over it", "+12 P0", "+19 R9 = copy R7\n    +12 P0", 0},
      {"a store over the spilled pack: memory is no base", "+15 R5", "+19 spill R0, slot 0\n    +15 R5", 3},
      {"the predicate itself", "#5 use P0, P1", "#5 use P1, P1", 0},
  };
  return list;
}

TEST(PackBits, EachCode) {
  for (const Damage& d : damages()) EXPECT_EQ(code_of(edit(kAfter, d.from, d.to)), d.code) << d.what;
}

TEST(PackBits, AgreesWithMemcheck) {
  const ir::Function before = parse_function(kBefore);
  for (const Damage& d : damages()) {
    const ir::Function after = parse_function(edit(kAfter, d.from, d.to));
    const auto details = oracles::memcheck({before, after, *ir::find_target("sm_90"), ir::Limits::of(*ir::find_target("sm_90"))});
    int found = 0;
    for (const auto& m : details.mismatches)
      if (m.inst == kRead.inst && m.operand == 0) found = static_cast<int>(m.code);
    EXPECT_EQ(found == 6 ? 0 : found, d.code) << d.what;
  }
}

TEST(PackBits, SlotsThatOverlapShareTheirBytes) {
  const std::string overlapping = edit(kAfter, "slot 1 local size 4 align 4 offset 4", "slot 1 local size 4 align 4 offset 0");
  EXPECT_EQ(code_of(overlapping), 0);
  EXPECT_EQ(code_of(edit(overlapping, "+15 R5", "+19 spill R0, slot 1\n    +15 R5")), 3);
  EXPECT_EQ(code_of(edit(overlapping, "+15 R5 = refill slot 0", "+15 R5 = refill slot 1")), 0);
}

TEST(PackBits, OnlyPredicatesThatAreReadShowACode) {
  const std::string wrong = edit(kAfter, "p2r P0", "p2r P1");
  EXPECT_EQ(code_of(wrong, {ir::InstId(5), 0}), 3);
  EXPECT_EQ(code_of(wrong, {ir::InstId(5), 1}), 0) << "it is in its register";
  EXPECT_EQ(code_of(wrong, {ir::InstId(5), 2}), 0) << "no predicate";
  EXPECT_EQ(code_of(wrong, {ir::InstId(5), 9}), 0) << "no such operand";
  EXPECT_EQ(code_of(wrong, {ir::InstId(99), 0}), 0) << "no such instruction";
}

}  // namespace
}  // namespace regduel::fuzz
