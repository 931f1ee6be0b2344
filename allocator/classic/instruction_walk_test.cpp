// The instruction walk rule by rule, on the smallest programs that show each; and that its homes never overlap in time.

#include "allocator/classic/instruction_walk.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/assign/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Scene : testing::LoweredRound {
  WalkFacts facts;
  AttemptOptions options{.kind = AttemptKind::Evicting};
  std::span<const Location> if_spilled = plan.if_spilled;

  explicit Scene(const ir::Function& before, int limit) : LoweredRound(before, limit) {}
  Scene(int limit, std::string_view body) : LoweredRound(limit, body) {}
  Attempt walk(ir::RegFile file = ir::RegFile::R) {
    return walk_instructions(FileAllocator(round, file), options, if_spilled, &facts);
  }
};

std::vector<std::uint32_t> spilled(const Attempt& a) {
  std::vector<std::uint32_t> list;
  for (const ir::VRegId v : a.to_spill) list.push_back(v.value);
  return list;
}

// %0, %1 and %2 are live together behind #2, where %2 begins; %0 ends before the others.
constexpr std::string_view kThree = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0 !write
      #4 st %1, %2 !write
      #5 exit
)";

TEST(InstructionWalk, EachGetsItsHomeWhereItsRangeBegins) {
  Scene s(8, kThree);
  const Attempt a = s.walk();
  EXPECT_TRUE(a.fits);
  EXPECT_THAT(a.home, ElementsAre(0, 1, 2));
  EXPECT_EQ(a.used, 3);
  EXPECT_TRUE(a.units.has(2));
  EXPECT_EQ(FileAllocator(s.round, ir::RegFile::R).max_live(), 3);
  EXPECT_EQ(s.facts.runs, 1);
}

TEST(InstructionWalk, HolesAreFreeForOthersAndRangesAreSeenToTheirEnd) {
  const auto homes = [](std::string_view last, int limit) {
    return Scene(limit, R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 %1 = ld 1
      #3 st %1 !write
      #4 %0 = ld 2
      #5 )" + std::string(last) +
                            R"( !write
      #6 exit
)")
        .walk()
        .home;
  };
  EXPECT_THAT(homes("st %0", 1), ElementsAre(0, 0));
  EXPECT_THAT(homes("st %0, %1", 2), ElementsAre(0, 1));  // at its beginning %1 could stand in R0
}

TEST(InstructionWalk, PressureFallsToWhatIsLiveInAtABlockBoundary) {
  Scene s(2, R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %3 = ldp 0
      #2 cbra %3 -> b1, b2
    block b1
      #3 %1 = ld 1
      #4 %2 = ld 2
      #5 st %1, %2 !write
      #6 exit
    block b2
      #7 st %0 !write
      #8 exit
)");
  EXPECT_TRUE(s.walk().fits);
  EXPECT_EQ(FileAllocator(s.round, ir::RegFile::R).max_live(), 2);
}

TEST(InstructionWalk, ClobbersAreHardAndTheEpochAdvancesAtCalls) {
  Scene s(8, R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = call "f" clobbers R0:R2
      #2 st %0, %1 !write
      #3 exit
)");
  EXPECT_THAT(s.walk().home, ElementsAre(3, 0));
  EXPECT_EQ(s.facts.epochs, 1);
}

TEST(InstructionWalk, FirstCandidateIsTheCheapestAUnit) {
  Scene s(2, kThree);
  s.cost = {100, 10, 50};
  const Attempt a = s.walk();
  EXPECT_THAT(spilled(a), ElementsAre(1));
  EXPECT_EQ(a.spill_cost, 10);
  EXPECT_EQ(s.facts.first_candidates, 1);
  EXPECT_EQ(s.facts.fallback_candidates + s.facts.newcomers, 0);

  Scene pair(3, R"(
    vreg %0 R b64
    vreg %1..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 exit
)");
  pair.cost = {100, 60, 500};
  EXPECT_THAT(spilled(pair.walk()), ElementsAre(1));  // the fallback candidate costs less in all
  EXPECT_EQ(pair.facts.fallback_candidates, 1);
  pair.cost = {100, 100, 500};
  EXPECT_THAT(spilled(pair.walk()), ElementsAre(0));
  EXPECT_EQ(pair.facts.first_candidates, 1);
}

TEST(InstructionWalk, AmongEqualsTheLongestRemainingRangeThenTheLowerNumber) {
  Scene s(2, kThree);
  s.cost = {10, 10, 50};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(1));  // %0 ends before it
  Scene both(2, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 exit
)");
  both.cost = {10, 10, 50};
  EXPECT_THAT(spilled(both.walk()), ElementsAre(0));
}

TEST(InstructionWalk, TheNewcomerIsACandidateToo) {
  Scene s(2, kThree);
  s.cost = {100, 50, 10};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(2));
  EXPECT_EQ(s.facts.newcomers, 1);
  EXPECT_EQ(s.facts.first_candidates, 0);
}

TEST(InstructionWalk, WhoCanBeRematerialisedGoesFirstAmongEquals) {
  Scene s(2, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = const 5 !remat
      #2 %2 = ld 2
      #3 st %1 !write
      #4 st %0, %2 !write
      #5 exit
)");
  s.cost = {10, 10, 50};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(1));  // although %0 lives longer
  EXPECT_EQ(s.facts.remat_victims, 1);
  s.if_spilled = {};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(0));
  EXPECT_EQ(s.facts.remat_victims, 0);
}

TEST(InstructionWalk, WhatIsLoadedOrOnlyStoredGoesFirstAmongEquals) {
  constexpr std::string_view body = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = mov 0
      #1 %1 = KIND 1
      #2 %2 = mov 2
      #3 END %0, %1, %2
      #4 exit
)";
  const auto victim = [&](std::string_view kind, std::string_view end) {
    std::string text(body);
    text.replace(text.find("KIND 1"), 6, kind);
    text.replace(text.find("END %0, %1, %2"), 14, end);
    Scene s(2, text);
    s.cost = {10, 10, 50};
    return spilled(s.walk());
  };
  EXPECT_THAT(victim("mov 1", "use %0, %1, %2"), ElementsAre(0));
  EXPECT_THAT(victim("ld 1 !read", "use %0, %1, %2"), ElementsAre(1));
  EXPECT_THAT(victim("atom 1 !read !write", "use %0, %1, %2"), ElementsAre(0));
  EXPECT_THAT(victim("mov 1", "st %0, %1, %2 !write"), ElementsAre(0));  // both are stored: the lower number
}

TEST(InstructionWalk, TheEarlierEpochGoesFirstAmongEquals) {
  Scene s(2, R"(
    vreg %0..%2 R b32
    block b0
      #0 %1 = mov 1
      #1 call "f"
      #2 %0 = mov 0
      #3 %2 = mov 2
      #4 use %0, %1, %2
      #5 exit
)");
  s.cost = {10, 10, 50};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(1));
}

// At #2 the cheapest, %0, is an operand.
constexpr std::string_view kOperand = R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = add %0, 1
      #3 st %0, %1, %2 !write
      #4 exit
)";

TEST(InstructionWalk, OperandsOfTheInstructionMustNotBeSpilled) {
  Scene s(2, kOperand);
  s.cost = {1, 10, 100};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(1));
  EXPECT_EQ(s.facts.level, 0);
}

TEST(InstructionWalk, FallbackLevelSparesOnlyWhatTheMomentHolds) {
  Scene s(2, kOperand);
  s.cost = {1, kUnspillable, 0};
  s.make_temporary(2, 2);
  const Attempt a = s.walk();
  EXPECT_THAT(spilled(a), ElementsAre(0));
  EXPECT_THAT(a.to_pin, IsEmpty());
  EXPECT_EQ(s.facts.runs, 2);
  EXPECT_EQ(s.facts.level, 1);
}

TEST(InstructionWalk, ATemporaryThatFindsNothingGetsItsInstructionPinned) {
  Scene s(2, kOperand);
  s.cost = {kUnspillable, kUnspillable, 0};
  s.make_temporary(2, 2);
  const Attempt a = s.walk();
  EXPECT_THAT(a.to_pin, ElementsAre(2));
  EXPECT_FALSE(a.fits);
  EXPECT_EQ(s.facts.runs, 3);   // no level helps
  EXPECT_EQ(s.facts.level, 0);  // and the first of equals counts
}

TEST(InstructionWalk, FallbackCandidateMayLiveLaterOnly) {
  Scene s(1, R"(
    vreg %0 R b32
    vreg %1 R b32 fixed R0
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 exit
)");
  s.cost = {100, 10};
  const Attempt a = s.walk();
  EXPECT_THAT(spilled(a), ElementsAre(1));
  EXPECT_EQ(a.home[0], 0);
  EXPECT_EQ(s.facts.fallback_candidates, 1);
  EXPECT_EQ(s.facts.first_candidates, 0);
  s.cost = {10, 100};
  EXPECT_THAT(spilled(s.walk()), ElementsAre(0));
  EXPECT_EQ(s.facts.newcomers, 1);
}

TEST(InstructionWalk, SeveralMakeRoomForATuple) {
  Scene s(2, R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 exit
)");
  s.cost = {10, 10, 500};
  const Attempt a = s.walk();
  EXPECT_THAT(spilled(a), ElementsAre(0, 1));
  EXPECT_EQ(a.home[2], 0);
}

// The pair finds R1 and R3 free.
constexpr std::string_view kFragmented = R"(
    vreg %0..%2 R b32
    vreg %3 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1 !write
      #4 %3 = ld 3
      #5 st %0, %2, %3 !write
      #6 exit
)";

TEST(InstructionWalk, WhoHasAnotherPlaceMovesAndIsNotSpilled) {
  Scene s(4, kFragmented);
  const Attempt a = s.walk();
  EXPECT_TRUE(a.fits);
  EXPECT_EQ(s.facts.moved, 1);
  EXPECT_THAT(a.home, ElementsAre(3, 1, 2, 0));
}

TEST(InstructionWalk, TemporariesStayUnlessSomethingHasToBePinned) {
  Scene s(4, kFragmented);
  s.make_temporary(0, 0);
  EXPECT_THAT(spilled(s.walk()), ElementsAre(2));
  EXPECT_EQ(s.facts.level, 0);
  s.make_temporary(2, 2);
  s.make_temporary(3, 4);
  EXPECT_THAT(s.walk().home, ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(s.facts.level, 1);
}

TEST(InstructionWalk, HomesOfTheLastRoundAreKeptWhereTheyAreFree) {
  Scene s(8, kThree);
  const std::vector<int> kept = {5, 5, -1};
  s.options.kept = kept;
  EXPECT_THAT(s.walk().home, ElementsAre(5, 0, 1));
  const ir::VRegId absent[] = {ir::VRegId(0)};
  s.options.absent = absent;
  EXPECT_THAT(s.walk().home, ElementsAre(-1, 5, 0));
}

// %6 would stand in R4, in the bank of R0, with R5 free and in use before.
constexpr std::string_view kBanks = R"(
    vreg %0..%6 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 %4 = ld 4
      #5 %5 = ld 5
      #6 st %4, %5 !write
      #7 %6 = ld 6
      #8 st %1, %2 !write
      #9 mad %0, %6, %3
      #10 exit
)";

TEST(InstructionWalk, BanksOfCoOperandsAreAvoided) {
  Scene s(8, kBanks);
  EXPECT_EQ(s.walk().home[6], 4);
  s.options.bank_aware = true;
  const Attempt a = s.walk();
  EXPECT_EQ(a.home[6], 5);
  EXPECT_EQ(s.facts.banks_moved, 0);
  EXPECT_EQ(s.facts.bank_conflicts, 0);
}

// All registers are taken: %0 and %4 can only change places with others.
TEST(InstructionWalk, BankConflictsThatAreLeftMove) {
  Scene s(5, testing::kFiveAtOnce);
  s.options.bank_aware = true;
  const Attempt a = s.walk();
  EXPECT_EQ(s.facts.banks_moved, 2);
  EXPECT_EQ(s.facts.bank_conflicts, 0);
  EXPECT_NE(a.home[0] % 4, a.home[4] % 4);
  EXPECT_EQ(a.used, 5);
}

TEST(InstructionWalk, CheaperFitsThenPinsLessThenSpillsLess) {
  Attempt fits, pins, one, other;
  fits.fits = true;
  pins.to_pin = {1};
  one.spill_cost = 9;
  other.spill_cost = 12;
  EXPECT_TRUE(is_cheaper(fits, one));
  EXPECT_TRUE(is_cheaper(one, other));
  EXPECT_FALSE(is_cheaper(other, one));
  EXPECT_TRUE(is_cheaper(other, pins));
  EXPECT_FALSE(is_cheaper(one, one));
}

// --- random programs ---------------------------------------------------------------------------------------------------

std::string random_program(Random& random) {
  std::string text;
  const int vregs = random.between(4, 24);
  for (int v = 0; v < vregs; ++v) {
    static constexpr std::string_view kTypes[] = {"b32", "b32", "b32", "b16", "b64", "b96", "b128"};
    if (v < 2 && random.chance(30)) text += fmt::format("    vreg %{} R b32 fixed R{}\n", v, 4 * v);
    else text += fmt::format("    vreg %{} R {}\n", v, kTypes[random.between(0, 6)]);
  }
  text += fmt::format("    vreg %{} P pred\n", vregs);
  int id = 0;
  const auto any = [&] { return random.between(0, vregs - 1); };
  const auto body = [&](int n) {
    for (; n > 0; --n) {
      if (random.chance(6))
        text += fmt::format("      #{} call \"f\" clobbers R{}:R{}\n", id++, random.between(0, 3), random.between(4, 7));
      else if (random.chance(30)) text += fmt::format("      #{} st %{}, %{} !write\n", id++, any(), any());
      else if (random.chance(10)) text += fmt::format("      #{} @%{} %{} = sel %{}\n", id++, vregs, any(), any());
      else if (const int d = any(); random.chance(8))
        text += fmt::format("      #{} %{}{{early}} = op %{}, %{}\n", id++, d, (d + 1) % vregs, (d + 2) % vregs);
      else text += fmt::format("      #{} %{} = op %{}, %{}\n", id++, any(), any(), any());
    }
  };
  text += fmt::format("    block b0\n      #{} %{} = ldp 0\n", id++, vregs);
  for (int v = 0; v < vregs; ++v)
    if (random.chance(60)) text += fmt::format("      #{} %{} = ld {}\n", id++, v, v);
  text += fmt::format("      #{} bra -> b1\n    block b1\n", id++);
  body(random.between(2, 15));
  text += fmt::format("      #{} cbra %{} -> b1, b2\n    block b2\n", id++, vregs);
  body(random.between(0, 10));
  text += fmt::format("      #{} exit\n", id++);
  return text;
}

bool overlaps(std::span<const Interval> a, std::span<const Interval> b) {
  for (const Interval& i : a)
    for (const Interval& j : b)
      if (i.begin < j.end && j.begin < i.end) return true;
  return false;
}

TEST(InstructionWalk, HomesNeverOverlapInTime) {
  Random random(20);
  int spilling = 0, deeper = 0, moving = 0;
  for (int n = 0; n < 600; ++n) {
    const std::string text = random_program(random);
    const int limit = random.between(6, 20);
    Scene s(limit, text);
    std::vector<int> kept;
    for (std::size_t v = 0; v < s.f.vregs.size(); ++v) {
      const ir::VReg& vreg = s.f.vregs[v];
      const int slot = random.between(0, limit / vreg.alignment()) * vreg.alignment();
      kept.push_back(random.chance(25) && slot + vreg.units() <= limit ? slot : -1);
    }
    if (random.chance(30)) s.options.kept = kept;
    s.options.bank_aware = random.chance(50);
    // Some that cannot be spilled, so that pins come about.
    for (std::size_t v = 0; v < s.f.vregs.size(); ++v)
      if (random.chance(15)) s.make_temporary(v, 1);
    const Attempt a = s.walk();
    spilling += a.to_spill.empty() ? 0 : 1;
    deeper += s.facts.level > 0 ? 1 : 0;
    moving += s.facts.moved + s.facts.banks_moved > 0 ? 1 : 0;
    const ir::Function& f = s.lowered.f;
    for (std::size_t v = 0; v < f.vregs.size(); ++v) {
      if (f.vregs[v].file() != ir::RegFile::R) continue;
      const int home = a.home[v], end = home + f.vregs[v].units();
      const auto range = s.lowered_live.range(v);
      const auto is_in = [&](const auto& list) { return std::find(list.begin(), list.end(), ir::VRegId(v)) != list.end(); };
      if (home < 0) {
        const bool is_known = range.empty() || is_in(a.to_spill) || s.cost[v] >= kUnspillable;
        ASSERT_TRUE(is_known) << "%" << v << " was forgotten\n" << text;
        continue;
      }
      ASSERT_FALSE(is_in(a.to_spill)) << text;
      ASSERT_LE(end, limit) << text;
      ASSERT_EQ(home % f.vregs[v].alignment(), 0) << text;
      for (std::size_t w = 0; w < v; ++w) {
        if (f.vregs[w].file() != ir::RegFile::R || a.home[w] < 0 || a.home[w] >= end || a.home[w] + f.vregs[w].units() <= home)
          continue;
        ASSERT_FALSE(overlaps(range, s.lowered_live.range(w))) << "%" << v << " and %" << w << "\n" << text;
      }
      for (const std::uint32_t k : s.index.bound) {
        const Interval moment[] = {{clobber_point(k), clobber_point(k).next()}};
        if (!overlaps(range, moment)) continue;
        for (const ir::Operand& op : f.operands_of(f.insts[s.lowered_live.inst_at(k)])) {
          const bool is_clobbered = op.role == ir::Role::Clobber && op.preg().begin() < end && home < op.preg().end();
          ASSERT_FALSE(is_clobbered) << "%" << v << "\n" << text;
        }
      }
    }
    EXPECT_EQ(a.fits, a.to_spill.empty() && a.to_pin.empty()) << text;
  }
  EXPECT_GT(spilling, 200);
  EXPECT_GT(deeper, 5);
  EXPECT_GT(moving, 50);
}

}  // namespace
}  // namespace regduel::allocator
