// Variants are well-formed, differ from the program where they should, and are the program again once their numbers are taken away.
#include "oracles/variants.h"

#include <set>

#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using testing::parse_function;

const std::string kBefore = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b16 alias %0.h1
  vreg %2 P pred
  vreg %3 R b32 hint %4
  vreg %4 R b32
  block b0
    #0 %0 = ld "base" !read !remat
    #1 %4 = cut %0
    #2 %2 = setp %1
    #3 cbra %2 -> b1, b2
  block b1 depth 1 freq 10 name "loop"
    #4 %3 = phi b0: %4, b1: %3
    #5 @%2 %3 = "add.s32" %3, "base"
    #6 cbra %2 -> b1, b2
  block b2
    #7 %4 = copy %0.lo
    #8 use %4
    #9 exit
)";
const std::string kAfter = R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 16 shared 0
  vreg %0 R b64
  vreg %1 R b16 alias %0.h1
  vreg %2 P pred
  vreg %3 R b32
  vreg %4 R b32
  slot 0 local size 8 align 8 offset 0
  slot 1 local size 4 align 4 offset 8
  block b0
    #0 R0:R1 = ld "base" !read !remat
    +20 spill R0:R1, slot 0
    #1 R2 = cut R0:R1
    +21 spill R2, slot 1
    #2 P0 = setp R0:R1.h1
    #3 cbra P0 -> b3, b2
  block b1 depth 1 freq 10 name "loop"
    #4 phi !deleted
    #5 @P0 R3 = "add.s32" R3, "base"
    #6 cbra P0 -> b1, b4
  block b2
    +24 R0:R1 = remat #0 "base"
    #7 R2 = copy R0:R1.lo
    #8 use R2
    #9 exit
  block b3 edge b0 -> b1
    +30 R3 = refill slot 1
    +31 bra -> b1
  block b4 edge b1 -> b2
    +32 R0:R1 = refill slot 0
    +33 bra -> b2
)";

constexpr Rename kAll[] = {Rename::VRegs, Rename::Blocks, Rename::Slots, Rename::Insts, Rename::Names, Rename::Everything};

Renaming inverse(const Renaming& r) {
  Renaming back = r;
  for (std::size_t k = 0; k < r.vregs.size(); ++k) back.vregs[r.vregs[k].index()] = ir::VRegId(k);
  for (std::size_t k = 0; k < r.blocks.size(); ++k) back.blocks[r.blocks[k].index()] = ir::BlockId(k);
  for (std::size_t k = 0; k < r.slots.size(); ++k) back.slots[r.slots[k].index()] = ir::SlotId(k);
  for (auto& [from, to] : back.insts) std::swap(from, to);
  std::sort(back.insts.begin(), back.insts.end());
  back.names = false;
  return back;
}

TEST(Variants, RenamingIsWellFormedOnBothSidesAndCanBeTakenBack) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  for (const Rename what : kAll) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Renaming r = draw_renaming(what, before, after, seed);
      for (const ir::Function* f : {&before, &after}) {
        const ir::Function other = renamed(*f, r);
        const auto faults = ir::check(other);
        EXPECT_TRUE(faults.empty()) << ir::to_string(other, faults[0]) << ir::print(other);
        if (!r.names) {
          EXPECT_EQ(ir::print(renamed(other, inverse(r))), ir::print(*f));
        }
        if (f == &after) seen.insert(ir::print(other));
      }
    }
    // Names and symbols change in one way only.
    EXPECT_GT(seen.size(), what == Rename::Names ? 0u : 1u) << static_cast<int>(what);
    EXPECT_FALSE(seen.contains(ir::print(after)) && seen.size() == 1) << static_cast<int>(what);
  }
}

TEST(Variants, NamesChangeNothingElse) {
  const ir::Function before = parse_function(kBefore);
  ir::Function other = renamed(before, draw_renaming(Rename::Names, before, before, 1));
  EXPECT_NE(other.insts[0].mnemonic, before.insts[0].mnemonic);
  other.name = before.name;
  for (ir::VReg& v : other.vregs) v.name = {};
  for (std::size_t b = 0; b < other.blocks.size(); ++b) other.blocks[b].name = {};
  ir::Function bare = before;
  for (ir::Block& b : bare.blocks) b.name = {};
  EXPECT_EQ(ir::print(other), ir::print(bare));
}

// Everything of the program itself is still there, in order.
TEST(Variants, AdditionsOnlyAdd) {
  const ir::Function before = parse_function(kBefore);
  const ir::Target& target = *ir::find_target("sm_90");
  std::size_t dead = 0, copies = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ir::Function variants[] = {with_dead_defs(before, target, ir::Limits::of(target, 8), seed), with_unreachable_blocks(before, seed), with_unused_vregs(before)};
    for (const ir::Function& v : variants) {
      const auto faults = ir::check(v);
      ASSERT_TRUE(faults.empty()) << ir::to_string(v, faults[0]) << ir::print(v);
      EXPECT_TRUE(ir::check(v, target).empty());
      std::vector<std::uint32_t> kept;
      for (const ir::Inst& i : v.insts)
        if (v.mnemonic(i) != "dead.def" && v.mnemonic(i) != "dead.use" && i.id.value < 10) kept.push_back(i.id.value);
      EXPECT_EQ(kept, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
    dead += variants[0].insts.size() - before.insts.size();
    for (const ir::Inst& i : variants[0].insts) copies += i.is_copy() && i.id.value > 9 ? 1 : 0;
    blocks += variants[1].blocks.size() - before.blocks.size();
    EXPECT_GT(variants[2].vregs.size(), before.vregs.size());
  }
  EXPECT_GT(dead, 50u);
  EXPECT_GT(copies, 10u);
  EXPECT_GT(blocks, 250u);
}

// Where a file has no unit to give, nothing is defined in it.
TEST(Variants, DeadDefsOnlyWhereThereIsRoom) {
  const ir::Function before = parse_function(kBefore);
  const ir::Target& target = *ir::find_target("sm_90");
  const ir::Limits none;
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(ir::print(with_dead_defs(before, target, none, seed)), ir::print(before));
}

// Instruction numbers up to the largest that there may be leave room below.
TEST(Variants, NewNumbersAreFreeOnes) {
  ir::Function before = parse_function(kBefore);
  before.insts.back().id = ir::InstId(0x7FFFFFFF);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_TRUE(ir::check(with_unreachable_blocks(before, seed)).empty());
}

}  // namespace
}  // namespace regduel::oracles
