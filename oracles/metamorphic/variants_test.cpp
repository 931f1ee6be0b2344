// Variants are well-formed, differ from the program where they should, and are the program again once their numbers are taken away.
#include "oracles/metamorphic/variants.h"

#include <set>

#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

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
    #8 use %4 !line "a.cu" 3:4
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

// Every number of a kind is another for some seed, wherever it stands; a judge that orders by it would notice.
TEST(Variants, EachKindOfNumberChangesEverywhere) {
  const ir::Function before = parse_function(kBefore), after = parse_function(kAfter);
  std::set<std::uint32_t> hints, refs, distances, slots_used, edge_blocks, slot_offsets;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const ir::Function b = renamed(before, draw_renaming(Rename::VRegs, before, after, seed));
    for (const ir::VReg& v : b.vregs)
      if (v.hint.is_valid()) hints.insert(v.hint.value);
    const ir::Function s = renamed(after, draw_renaming(Rename::Slots, before, after, seed));
    slots_used.insert(s.operands_of(s.insts[1])[1].slot().value);
    slot_offsets.insert(s.slots[0].offset);
    const ir::Function blocks = renamed(after, draw_renaming(Rename::Blocks, before, after, seed));
    for (const ir::BlockId edge : {ir::BlockId(3), ir::BlockId(4)}) {
      EXPECT_EQ(blocks.block(edge).edge_to, blocks.successors(edge)[0]);
      EXPECT_THAT(blocks.successors(blocks.block(edge).edge_from), ::testing::Contains(edge));
    }
    edge_blocks.insert(blocks.insts_of(ir::BlockId(3))[0].id.value);
    const ir::Function insts = renamed(after, draw_renaming(Rename::Insts, before, after, seed));
    for (const ir::Inst& i : insts.insts)
      if (i.op == ir::Op::Remat) {
        EXPECT_EQ(i.ref, insts.insts[0].id);
        refs.insert(i.ref.value);
      }
    distances.insert(insts.insts[1].id.value - insts.insts[0].id.value);
    std::set<std::uint32_t> ids;
    for (const ir::Inst& i : insts.insts) ids.insert(i.id.value);
    EXPECT_EQ(ids.size(), insts.insts.size());
    EXPECT_EQ(*ids.rbegin() - *ids.begin(),
              insts.insts.size() - 1);  // no number twice, and no gap: the smallest renumbering that there is
  }
  EXPECT_GT(hints.size(), 1u);
  EXPECT_GT(refs.size(), 10u);
  EXPECT_GT(distances.size(), 10u);
  EXPECT_EQ(slots_used.size(), 2u);
  EXPECT_EQ(slot_offsets.size(), 2u);
  EXPECT_EQ(edge_blocks.size(), 2u);
}

// Symbols keep their strings under other numbers, names of vregs and blocks are drawn anew where they are to change, and kept
// elsewhere.
TEST(Variants, NamesAreKeptOrDrawnAnew) {
  std::string text = kBefore;
  text.replace(text.find("vreg %4 R b32"), 13, "vreg %4 R b32 name \"four\"");
  const ir::Function before = parse_function(text);
  const ir::Function kept = renamed(before, draw_renaming(Rename::Blocks, before, before, 1));
  EXPECT_EQ(kept.symbols[kept.vregs[4].name], "four");
  const ir::Function drawn = renamed(before, draw_renaming(Rename::Names, before, before, 1));
  EXPECT_EQ(drawn.symbols[drawn.vregs[4].name], "v4");
  EXPECT_FALSE(drawn.vregs[1].name.is_valid());
  EXPECT_EQ(drawn.symbols[drawn.blocks[1].name], "block 1");
  EXPECT_FALSE(drawn.blocks[2].name.is_valid());
}

// A copy is of the source's class and width, with nothing else of it.
TEST(Variants, DeadCopiesAreFreeVRegsOfTheirOwn) {
  const ir::Function before = parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b16 alias %0.h1 name "part"
  vreg %2 R b32 fixed R4 name "fixed"
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %2 = c
    #3 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  std::set<std::uint32_t> copied;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ir::Function f = with_dead_defs(before, target, ir::Limits::of(target), seed);
    for (const ir::Inst& i : f.insts) {
      if (!i.is_copy()) continue;
      const ir::VReg &to = f.vreg(f.operands_of(i)[0].vreg()), &of = f.vreg(f.operands_of(i)[1].vreg());
      copied.insert(f.operands_of(i)[1].vreg().value);
      EXPECT_EQ(to.width, of.width);
      EXPECT_EQ(to.cls, of.cls);
      EXPECT_FALSE(to.alias.is_valid());
      EXPECT_EQ(to.alias_part, ir::Part());
      EXPECT_FALSE(to.fixed.is_valid());
      EXPECT_FALSE(to.name.is_valid());
    }
  }
  EXPECT_EQ(copied.size(), 3u);
}

// A file with its lowest unit reserved has room above it.
TEST(Variants, DeadDefsStandAboveReservedUnits) {
  const ir::Function before = parse_function(kBefore);
  const auto target = ir::parse_target(R"({"name": "t", "units": {"R": 8, "P": 4}, "reserved": ["R0", "P0:P3"]})");
  ASSERT_TRUE(target.has_value());
  std::set<ir::RegClass> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ir::Function f = with_dead_defs(before, *target, ir::Limits::of(*target), seed);
    for (const ir::Inst& i : f.insts)
      if (f.mnemonic(i) == "dead.def") seen.insert(f.vreg(f.operands_of(i)[0].vreg()).cls);
  }
  EXPECT_EQ(seen, std::set<ir::RegClass>{ir::RegClass::R});
}

TEST(Variants, UnreachableBlocksReadAndGoOn) {
  const ir::Function before = parse_function(kBefore);
  std::set<std::uint32_t> read, entered;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ir::Function f = with_unreachable_blocks(before, seed);
    for (std::size_t b = before.blocks.size(); b < f.blocks.size(); ++b) {
      for (const ir::Inst& i : f.insts_of(ir::BlockId(b)))
        if (f.mnemonic(i) == "dead.use") read.insert(f.operands_of(i)[0].vreg().value);
      for (const ir::BlockId to : f.successors(ir::BlockId(b)))
        if (to.index() < before.blocks.size()) entered.insert(to.value);
    }
  }
  EXPECT_EQ(read, (std::set<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(entered, (std::set<std::uint32_t>{2}));  // b0 is the entry, b1 has a phi
}

TEST(Variants, UnusedVRegsAreOfSeveralWidths) {
  const ir::Function before = parse_function(kBefore), f = with_unused_vregs(before);
  ASSERT_EQ(f.vregs.size(), before.vregs.size() + 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const ir::VReg& v = f.vregs[before.vregs.size() + k];
    EXPECT_EQ(v.width, 32 << k);
    EXPECT_EQ(v.alignment(), 1 << k);
    EXPECT_EQ(v.hint, ir::VRegId(0));
  }
  const ir::Function other = with_unused_vregs(parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 P pred
  block b0
    #0 exit
)"));
  EXPECT_FALSE(other.vregs[1].hint.is_valid());
}

// Everything of the program itself is still there, in order.
TEST(Variants, AdditionsOnlyAdd) {
  const ir::Function before = parse_function(kBefore);
  const ir::Target& target = *ir::find_target("sm_90");
  std::size_t dead = 0, copies = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ir::Function variants[] = {with_dead_defs(before, target, ir::Limits::of(target, 8), seed),
                                     with_unreachable_blocks(before, seed), with_unused_vregs(before)};
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
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(ir::print(with_dead_defs(before, target, none, seed)), ir::print(before));
}

// Instruction numbers up to the largest that there may be leave room below.
TEST(Variants, NewNumbersAreFreeOnes) {
  ir::Function before = parse_function(kBefore);
  before.insts.back().id = ir::InstId(0x3FFFFFFF);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_TRUE(ir::check(with_unreachable_blocks(before, seed)).empty());
}

}  // namespace
}  // namespace regduel::oracles
