// Attempts by their kinds, file by file, of which the best stays; and the second chance.

#include "allocator/phases/attempts.h"

#include <gmock/gmock.h>

#include "allocator/phases/nospill_phase.h"
#include "allocator/phases/spill_phase.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

// Three values at once; %0 is used most.
const ir::Function kThree = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1 !write
      #4 st %0, %2 !write
      #5 exit
)");

struct Scene {
  explicit Scene(int registers, const ir::Function& program = kThree)
      : limits(testing::limits(registers)), facts(program, ir::default_target(), knobs), run(facts, limits), progress(run) {
    progress.insert_spill_code();
  }
  FileAttempts attempts(std::int64_t round, std::int64_t most) {
    return FileAttempts(run, progress.program(), RegFile::R, {.round = round, .most = most});
  }

  ir::Limits limits;
  Knobs knobs;
  ProgramFacts facts;
  Run run;
  Progress progress;
};

TEST(AttemptId, KindsAreNotOneAnother) {
  EXPECT_EQ(AttemptId::of_table(2).number(), 2);
  EXPECT_NE(AttemptId::of_table(AttemptId::packing().number()), AttemptId::packing());
  EXPECT_NE(AttemptId::packing().number(), AttemptId::evicting().number());
  EXPECT_EQ(AttemptId::evicting().kind(), AttemptId::Kind::Evicting);
}

TEST(FileAttempts, TryUntilOneFits) {
  Scene roomy(8), tight(2);
  FileAttempts fits = roomy.attempts(0, 2), does_not = tight.attempts(0, 2), none = roomy.attempts(0, 0);
  fits.try_until_one_fits();
  does_not.try_until_one_fits();
  none.try_until_one_fits();
  EXPECT_TRUE(fits.fits());
  EXPECT_FALSE(does_not.fits());
  EXPECT_FALSE(none.fits());
  EXPECT_EQ(fits.best().used, 3);
}

TEST(FileAttempts, EvictionNamesWhatHasToGoAndKeepsTheHomesOfTheRest) {
  Scene s(2);
  FileAttempts attempts = s.attempts(1, 0);
  std::vector<int> kept;
  const Attempt a = attempts.evict({kept, {}, s.progress.plan.num_long_lived()});
  EXPECT_FALSE(attempts.fits());
  EXPECT_EQ(a.to_spill.size(), 1u);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), -1), 1);
}

TEST(FileAttempts, EvictionFitsOnlyWhereNothingIsAbsent) {
  Scene s(2);
  const VRegId absent[] = {VRegId(2)};
  std::vector<int> kept;
  FileAttempts attempts = s.attempts(1, 0);
  const Attempt a = attempts.evict({kept, absent, s.progress.plan.num_long_lived()});
  EXPECT_TRUE(a.to_spill.empty());
  EXPECT_FALSE(a.fits);  // %2 has still to be spilled
}

TEST(FileAttempts, HomesForAWalkSayWhichRegistersTheyTake) {
  Scene tight(2), roomy(8);
  FileAttempts some = tight.attempts(1, 0), all = roomy.attempts(1, 0);
  const HomesForWalk two = some.homes_for_walk(), three = all.homes_for_walk();
  EXPECT_FALSE(some.fits());
  EXPECT_EQ(std::count(two.preferred.begin(), two.preferred.end(), -1), 1);
  EXPECT_EQ(two.used, 2);
  EXPECT_TRUE(all.fits());
  EXPECT_THAT(three.preferred, ::testing::UnorderedElementsAre(0, 1, 2));
}

TEST(FileAttempts, HomesForAWalkJoinWhatACopyJoins) {
  const ir::Function copies = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = copy %1
      #3 st %0 !write
      #4 st %2 !write
      #5 exit
)");
  Scene s(8, copies);
  const HomesForWalk homes = s.attempts(1, 0).homes_for_walk();
  EXPECT_EQ(homes.preferred[1], homes.preferred[2]);
}

// %2 is refilled right before #6. The first homes that fit have it in R12:R15, as %0 is in R8; with %0 in R14 it finds R8:R11.
constexpr std::string_view kQuads = R"(
    vreg %0 R b32
    vreg %1..%5 R b128
    vreg %6 UR b32 uniform
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 %4 = ld 4
      #5 %6 = ld 5 clobbers R9:R13
      #6 %5 = mad %2, %3, %4
      #7 st %1, %0 !write
      #8 exit
)";

TEST(FileAttempts, PacksIntoFewerRegistersForTheSameSpillCode) {
  const auto claims = [](const char* packs) {
    return testing::allocate(testing::program(kQuads), testing::limits(16), {{"FatPointPackingAttempt", packs}}).claims;
  };
  EXPECT_EQ(claims("1").registers[ir::index(RegFile::R)], 15);
  EXPECT_EQ(claims("0").registers[ir::index(RegFile::R)], 16);
  EXPECT_EQ(claims("1").spill_store_bytes, 32);
  EXPECT_EQ(claims("0").spill_store_bytes, 32);
}

TEST(Phases, NoSpillGivesHomesOrSaysWhichFileIsUnderPressure) {
  Scene roomy(8), tight(2);
  const auto homes = run_nospill_phase(roomy.progress);
  ASSERT_TRUE(homes.has_value());
  EXPECT_THAT(homes->homes, ::testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_FALSE(run_nospill_phase(tight.progress).has_value());
  EXPECT_EQ(tight.progress.first_misfit, RegFile::R);
  EXPECT_TRUE(tight.progress.high_pressure[ir::index(RegFile::R)]);
}

TEST(Phases, SpillRoundsChangeThePlanUntilItFits) {
  Scene s(2);
  SpillPhase phase(s.progress);
  const auto homes = phase.run_rounds();
  ASSERT_TRUE(homes.has_value());
  EXPECT_EQ(homes->homes.size(), s.progress.program().code().f.vregs.size());
  int spilled = 0;
  for (std::uint32_t v = 0; v < 3; ++v) {
    spilled += s.progress.plan.is_spilled(VRegId(v)) ? 1 : 0;
    EXPECT_EQ(homes->homes[v] < 0, s.progress.plan.is_spilled(VRegId(v)));
  }
  EXPECT_GT(spilled, 0);
}

TEST(Phases, FallbackKeepsEverythingInMemory) {
  Scene s(8);
  EXPECT_TRUE(SpillPhase(s.progress).run_fallback().has_value());
  for (std::uint32_t v = 0; v < 3; ++v) EXPECT_TRUE(s.progress.plan.is_spilled(VRegId(v)));
}

}  // namespace
}  // namespace regduel::allocator
