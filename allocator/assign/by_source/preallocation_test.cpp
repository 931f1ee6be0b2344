// The pre-allocation pass: which operands qualify, and the homes that they get. knob_effects_test.cpp shows that each knob changes an
// allocation.

#include "allocator/assign/by_source/preallocation.h"

#include <gmock/gmock.h>

#include "allocator/assign/testing.h"
#include "allocator/classic/classic.h"

namespace regduel::allocator {
namespace {

using testing::allocate_with;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::limits;
using testing::program;

constexpr PreallocationOptions kOn{.is_enabled = true};
constexpr PreallocationOptions kClasses{.is_enabled = true, .follows_classes = true};

// --- gates

TEST(Preallocation, RunsInThreeModesOfFourAndNeverForBarriers) {
  EXPECT_FALSE(is_preallocated(RegFile::R, AllocationMode::Plain, kOn));
  for (const AllocationMode mode : {AllocationMode::Cssa, AllocationMode::Fixed, AllocationMode::CssaPaired}) {
    EXPECT_TRUE(is_preallocated(RegFile::R, mode, kOn));
    EXPECT_FALSE(is_preallocated(RegFile::R, mode, {}));
    EXPECT_FALSE(is_preallocated(RegFile::B, mode, kOn));
  }
}

TEST(Preallocation, DoesUniformFilesOnlyWhereAskedTo) {
  for (const RegFile file : {RegFile::UR, RegFile::UP}) {
    EXPECT_FALSE(is_preallocated(file, AllocationMode::Fixed, kOn));
    EXPECT_TRUE(is_preallocated(file, AllocationMode::Fixed, {.is_enabled = true, .does_uniform_files = true}));
  }
}

// --- the table of operations

// The operands of instruction #id that qualify.
std::vector<int> qualifying(const ir::Function& f, std::uint32_t id, int priority = 3) {
  std::vector<std::uint16_t> found;
  for (const ir::Inst& inst : f.insts)
    if (inst.id.value == id) find_qualifying(f, inst, priority, found);
  return {found.begin(), found.end()};
}

const std::string kVregs = R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 P pred
    vreg %3..%4 R b32
)";

TEST(Qualifying, TakesOperandsFromTheLastToTheFirst) {
  const auto f = program(kVregs + "block b0\n#0 @%2 %1, %0 = ld.v3 %3, %4, 8 !read\n#1 %0, %3 = copy %3, %4\n#2 exit\n");
  EXPECT_THAT(qualifying(f, 0), ElementsAre(3, 2, 1, 0)) << "not the guard, not the number";
  EXPECT_THAT(qualifying(f, 1), ElementsAre(3, 2, 1, 0));
}

TEST(Qualifying, PriorityLeavesWhatIsReadOrWhatIsWritten) {
  const auto f = program(kVregs + "block b0\n#0 %0, %3{inout} = ld %4 !read\n#1 exit\n");
  EXPECT_THAT(qualifying(f, 0, 1), ElementsAre(2, 1));
  EXPECT_THAT(qualifying(f, 0, 2), ElementsAre(1, 0));
  EXPECT_THAT(qualifying(f, 0, 3), ElementsAre(2, 1, 0));
}

TEST(Qualifying, OfOtherNamedOperationsTakesTuplesAndWhatIsTied) {
  const auto f = program(kVregs + R"(
    block b0
      #0 %0 = add %3, %4
      #1 %1 = mul.wide %3, %4
      #2 %0 = add %3, %0
      #3 %0{inout} = mad %3, %4
      #4 %0 = dot %1, %4
      #5 exit
)");
  EXPECT_THAT(qualifying(f, 0), IsEmpty());
  EXPECT_THAT(qualifying(f, 1), ElementsAre(0));
  EXPECT_THAT(qualifying(f, 2), ElementsAre(2, 0));
  EXPECT_THAT(qualifying(f, 3), ElementsAre(0));
  EXPECT_THAT(qualifying(f, 4), ElementsAre(1));
}

TEST(Qualifying, TakesTuplesBeforeTheirPiecesAndThoseInOrder) {
  const auto f = program(kVregs + "block b0\n#0 %1 = pack %3, %4\n#1 %3, %4 = unpack %1\n#2 exit\n");
  EXPECT_THAT(qualifying(f, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(qualifying(f, 1), ElementsAre(2, 0, 1));
  EXPECT_THAT(qualifying(f, 0, 1), ElementsAre(1, 2));
}

TEST(Qualifying, TakesConditionsArgumentsAndNothingOfTheRest) {
  const auto f = program(kVregs + R"(
    block b0
      #0 %0 = const 1
      #1 %3 = call "f", %0, %4 clobbers R8
      #2 bar %0
      #3 cbra %2 -> b1, b2
    block b1
      #4 mbra %0 -> b1, b2
    block b2
      #5 bra -> b3
    block b3
      #6 exit
)");
  EXPECT_THAT(qualifying(f, 0), IsEmpty());
  EXPECT_THAT(qualifying(f, 1), ElementsAre(3, 2, 0));
  EXPECT_THAT(qualifying(f, 2), IsEmpty());
  EXPECT_THAT(qualifying(f, 3), ElementsAre(0));
  EXPECT_THAT(qualifying(f, 4), ElementsAre(0));
  EXPECT_THAT(qualifying(f, 5), IsEmpty());
}

// --- the pass

// The state of a round before its attempts, for file R of a program without spilling.
struct Prepared : testing::LoweredRound {
  explicit Prepared(const ir::Function& before, int registers = 255, RegFile file = RegFile::R)
      : LoweredRound(before, registers), allocator(round, file) {}
  FileAllocator allocator;
};

// The homes of the vregs below n; -1 = none.
std::vector<int> homes(const Candidates& c, std::uint32_t n) {
  std::vector<int> list;
  for (std::uint32_t v = 0; v < n; ++v) list.push_back(c.home_of(VRegId(v)).value_or(-1));
  return list;
}

TEST(Preallocation, IsEmptyInPlainMode) {
  const Prepared p(program("vreg %0 R b32\nblock b0\n#0 %0 = ld 0 !read\n#1 st %0 !write\n#2 exit\n"));
  EXPECT_EQ(preallocate(p.allocator, AllocationMode::Plain, kOn).candidates().size(), 0u);
  EXPECT_EQ(preallocate(p.allocator, AllocationMode::Fixed, kOn).candidates().size(), 1u);
}

TEST(Preallocation, GivesTheLowestFreeHomesInTheOrderOfTheScan) {
  const Prepared p(program(R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    block b0
      #0 %0 = const 1
      #1 %1 = const 2
      #2 %2 = ld.v2 %0, %1 !read
      #3 st %2, %1 !write
      #4 exit
)"));
  EXPECT_THAT(homes(preallocate(p.allocator, AllocationMode::Fixed, kOn), 3), ElementsAre(1, 0, 2))
      << "the last operand first; the tuple aligned";
}

TEST(Preallocation, ProposesAVregOnce) {
  const Prepared p(program(R"(
    vreg %0 R b32
    block b0
      #0 %0 = ld 0 !read
      #1 st %0, %0 !write
      #2 exit
)"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kOn);
  ASSERT_EQ(c.candidates().size(), 1u);
  EXPECT_EQ(c.candidates().entries()[0].value.priority, 2) << "where it is written";
  EXPECT_EQ(c.results().size(), 1u);
}

TEST(Preallocation, PiecesGoWhereTheirTupleIs) {
  const Prepared p(program(R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    block b0
      #0 %0 = const 1
      #1 %1 = const 2
      #2 %2 = pack %0, %1
      #3 st %2 !write
      #4 exit
)"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kOn);
  EXPECT_THAT(homes(c, 3), ElementsAre(0, 1, 0));
  EXPECT_EQ(c.candidates().find(2)->depth, 0);
  EXPECT_EQ(c.candidates().find(0)->depth, 1) << "found from the tuple";
}

TEST(Preallocation, FindsTheTupleAndItsSiblingsFromOnePiece) {
  // With priority 2 only what is written qualifies, so that the tuple is found from its first piece.
  const Prepared p(program(R"(
    vreg %0 R b64
    vreg %1..%2 R b32
    block b0
      #0 %0 = zip 1
      #1 %1, %2 = unpack %0
      #2 st %1, %2 !write
      #3 exit
)"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, {.is_enabled = true, .priority = 2});
  EXPECT_THAT(homes(c, 3), ElementsAre(0, 0, 1));
}

TEST(Preallocation, FollowsTheCopiesThatDefineACandidate) {
  const Prepared p(program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = const 1
      #1 %1 = copy %0
      #2 %2 = copy %1
      #3 st %2 !write
      #4 exit
)"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, {.is_enabled = true, .priority = 1});
  EXPECT_THAT(homes(c, 3), ElementsAre(0, 0, 0));
}

TEST(Preallocation, FollowsNoFurtherThanItsDepth) {
  // Only %0 qualifies; each of the others has a hint to the one before, and all live together.
  std::string text = "vreg %0 R b32\n", body = "block b0\n#0 %0 = ld 0 !read\n", all = "%0";
  for (int v = 1; v <= 6; ++v) {
    const std::string name = "%" + std::to_string(v);
    text += "vreg " + name + " R b32 hint %" + std::to_string(v - 1) + "\n";
    body += "#" + std::to_string(v) + " " + name + " = const 1\n";
    all += ", " + name;
  }
  const Prepared p(program(text + body + "#7 use " + all + "\n#8 exit\n"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kClasses);
  ASSERT_EQ(c.candidates().size(), 1u + kMaxDepth);
  for (std::uint32_t v = 0; v <= kMaxDepth; ++v) EXPECT_EQ(c.candidates().find(v)->depth, v);
}

TEST(Preallocation, StaysOffPrecolouredVregsClobbersAndReservedUnits) {
  const Prepared p(program(R"(
    vreg %0 R b32
    vreg %1 R b32 fixed R1
    block b0
      #0 %0 = ld 0 !read
      #1 %1 = ld 1 !read
      #2 call "f" clobbers R0
      #3 st %0, %1 !write
      #4 exit
)"));
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kOn);
  EXPECT_THAT(homes(c, 2), ElementsAre(2, -1)) << "R0 is clobbered, R1 belongs to a precoloured vreg, which is no candidate";
}

TEST(Preallocation, KeepsArchitecturalVregsOut) {
  const Prepared p(program(R"(
    vreg %0 R b32 fixed R255 architectural
    vreg %1 R b32
    block b0
      #0 %1 = ld 0 !read
      #1 st %0, %1 !write
      #2 exit
)"));
  EXPECT_THAT(homes(preallocate(p.allocator, AllocationMode::Fixed, kOn), 2), ElementsAre(-1, 0));
}

TEST(Preallocation, WhatFindsNoHomeOverflows) {
  const Prepared p(program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0 !read
      #1 %1 = ld 1 !read
      #2 %2 = ld 2 !read
      #3 st %0, %1, %2 !write
      #4 exit
)"),
                   2);
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kOn);
  EXPECT_THAT(homes(c, 3), ElementsAre(0, 1, -1));
  ASSERT_EQ(c.overflow().size(), 1u);
  EXPECT_EQ(*c.overflow().find(2), 2u) << "the instruction at which it was proposed";
}

TEST(Preallocation, CoalescingAwareItPlacesAClassWhereAllOfItFits) {
  const Prepared p(program(testing::kClass));
  const Candidates alone = preallocate(p.allocator, AllocationMode::Fixed, kOn);
  EXPECT_EQ(alone.home_of(VRegId(1)), 0);
  EXPECT_EQ(alone.home_of(VRegId(0)), 1);
  EXPECT_NE(alone.home_of(VRegId(2)), 1);
  const Candidates chained = preallocate(p.allocator, AllocationMode::Fixed, kClasses);
  EXPECT_EQ(chained.home_of(VRegId(1)), 0);
  EXPECT_EQ(chained.home_of(VRegId(0)), 2);
  EXPECT_EQ(chained.home_of(VRegId(2)), 2);
}

TEST(Preallocation, CoalescingAwareItFollowsCopiesBothWays) {
  // No operand of %1 qualifies, and no def of %0 leads to it.
  const Prepared p(program(R"(
    vreg %0 R b32
    vreg %1 R b32 hint %0
    block b0
      #0 %0 = ld 0 !read
      #1 st %0 !write
      #2 %1 = const 1
      #3 use %1
      #4 exit
)"));
  EXPECT_EQ(preallocate(p.allocator, AllocationMode::Fixed, kOn).home_of(VRegId(1)), std::nullopt);
  EXPECT_EQ(preallocate(p.allocator, AllocationMode::Fixed, kClasses).home_of(VRegId(1)), 0) << "by its hint";
}

TEST(Preallocation, DecidesAsMuchAsThereIsFuelFor) {
  Prepared p(program("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0, %1 = ld 0 !read\n#1 st %0, %1 !write\n#2 exit\n"));
  ir::Fuel fuel{.limit = 1};
  p.round.fuel = &fuel;
  const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, kClasses);
  EXPECT_EQ(c.candidates().size(), 2u);
  EXPECT_EQ(c.results().size(), 1u);
  EXPECT_EQ(c.overflow().size(), 0u) << "there would be room";
  EXPECT_EQ(fuel.refused, "preallocate");
}

// Homes of different vregs that live at the same time never overlap, except in a class, and none overlaps a clobber.
TEST(Preallocation, HomesAreFreeOfHardConflict) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::string text;
    const int vregs = random.between(2, 14);
    for (int v = 0; v < vregs; ++v) text += "vreg %" + std::to_string(v) + (random.chance(30) ? " R b64\n" : " R b32\n");
    text += "block b0\n";
    const ir::Function shapes = program(text + "#0 exit\n");
    const auto same = [&](int v) {
      int w = 0;
      do w = random.between(0, vregs - 1);
      while (shapes.vregs[static_cast<std::size_t>(w)].width != shapes.vregs[static_cast<std::size_t>(v)].width);
      return w;
    };
    int id = 0;
    for (int k = random.between(3, 30); k > 0; --k) {
      const int v = random.between(0, vregs - 1);
      text += "#" + std::to_string(id++) + " ";
      switch (random.below(4)) {
        case 0: text += "%" + std::to_string(v) + " = ld 0 !read\n"; break;
        case 1: text += "st %" + std::to_string(v) + ", %" + std::to_string(random.between(0, vregs - 1)) + " !write\n"; break;
        case 2: text += "%" + std::to_string(v) + " = copy %" + std::to_string(same(v)) + "\n"; break;
        default: text += "call \"f\" clobbers R0:R" + std::to_string(random.between(0, 6)) + "\n"; break;
      }
    }
    const Prepared p(program(text + "#" + std::to_string(id) + " exit\n"), random.between(4, 20));
    const bool classes = random.chance(50);
    const Candidates c = preallocate(p.allocator, AllocationMode::Fixed, classes ? kClasses : kOn);
    const auto& results = c.results().entries();
    for (std::size_t a = 0; a < results.size(); ++a) {
      const VRegId v(results[a].key);
      const int home = results[a].value, end = home + p.lowered.f.vreg(v).units();
      const auto range = p.lowered_live.range(v.index());
      ASSERT_TRUE(may_take(home, geometry_of(p.lowered.f.vreg(v)), p.allocator.base().conflicts(range),
                           p.allocator.not_allocatable(), p.allocator.limit()));
      for (std::size_t b = a + 1; b < results.size(); ++b) {
        const VRegId w(results[b].key);
        const std::uint32_t its_class = p.allocator.classes().of(v);
        if (classes && its_class != CoalescedClasses::kNone && its_class == p.allocator.classes().of(w)) continue;
        const bool apart = results[b].value >= end || results[b].value + p.lowered.f.vreg(w).units() <= home;
        ASSERT_TRUE(apart || !overlap(range, p.lowered_live.range(w.index()))) << "%" << v.value << " and %" << w.value << "\n"
                                                                               << text;
      }
    }
  }
}

TEST(PreallocationKnobs, AreNoWayAroundHardConflicts) {
  const ir::Function f = program(testing::kClass);
  for (const char* priority : {"1", "2", "3"})
    for (int registers = 3; registers <= 6; ++registers) allocate_with(*make_classic(), f, limits(registers), {{"646", priority}});
}

}  // namespace
}  // namespace regduel::allocator
