#include "fuzz/explore/explorer.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "generate/generator.h"
#include "ir/check.h"

namespace regduel::fuzz {
namespace {

std::vector<std::uint32_t> behaviour(const duel::Case& input) {
  return behaviour_of(input, duel::duel(input, {.duelists = duel::all_duelists()}));
}

TEST(Behaviour, IsAFunctionOfTheInputSortedAndInRange) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const duel::Case input = duel::derive_case(seed, 60);
    const std::vector<std::uint32_t> features = behaviour(input);
    EXPECT_EQ(features, behaviour(input));
    EXPECT_TRUE(std::is_sorted(features.begin(), features.end()));
    EXPECT_EQ(std::adjacent_find(features.begin(), features.end()), features.end());
    ASSERT_FALSE(features.empty());
    EXPECT_LT(features.back(), kNumFeatures);
  }
}

TEST(Behaviour, OtherLimitsAreOtherBehaviour) {
  duel::Case input = duel::derive_case(3, 150);
  input.limits = ir::Limits::of(*input.target);
  const std::vector<std::uint32_t> roomy = behaviour(input);
  input.limits.units[ir::index(ir::RegFile::R)] = 24;
  EXPECT_NE(behaviour(input), roomy) << "what is spilled now was not spilled before";
}

TEST(Explorer, InputsOfACampaignDoNotSearchForTheFewestRegisters) {
  Explorer explorer(campaign_exploration(5));
  for (int k = 0; k < 40; ++k) {
    const duel::Case input = explorer.next();
    const auto settings =
        std::count(input.knobs.begin(), input.knobs.end(), std::pair<std::string, std::string>("briggs-fewest-units", "0"));
    EXPECT_EQ(settings, 1) << "input " << k;
    explorer.learn(input, behaviour(input));
  }
}

TEST(Explorer, ChangesKnobsOfAllWhoTakePart) {
  const auto with = [](const std::vector<const ir::Allocator*>& duelists, std::string_view name) {
    Explorer explorer(campaign_exploration(5));
    explorer.change_knobs_of(duelists);
    int changed = 0;
    for (int k = 0; k < 200; ++k) {
      const duel::Case input = explorer.next();
      changed +=
          std::any_of(input.knobs.begin(), input.knobs.end(), [&](const auto& knob) { return knob.first.starts_with(name); });
      explorer.learn(input, behaviour(input));
    }
    return changed;
  };
  const ir::Allocator* const fatpoint = duel::find_allocator("fatpoint");
  EXPECT_EQ(with({fatpoint}, "nvptx-"), 0);
  EXPECT_GT(with({fatpoint, duel::find_allocator("nvptx+briggs")}, "nvptx-"), 20);
  EXPECT_EQ(with({fatpoint}, "RegAllocInstructionWalk"), 0);
  EXPECT_GT(with({fatpoint, duel::find_allocator("classic")}, "RegAllocInstructionWalk"), 0);
}

TEST(FeatureSet, CountsWhatIsNew) {
  FeatureSet set;
  EXPECT_EQ(set.add({1, 5, 9}), 3u);
  EXPECT_EQ(set.add({1, 5, 9}), 0u);
  EXPECT_EQ(set.add({0, 5, kNumFeatures - 1}), 2u);
  EXPECT_EQ(set.size(), 5u);
}

// Everything but the judging: features are those of the program alone.
std::vector<std::uint32_t> shape(const duel::Case& input) {
  duel::Duel d;
  d.bouts.emplace_back().program = input.program;
  return behaviour_of(input, d);
}

TEST(Behaviour, NothingIsLearntOfAProgramThatNobodyAllocates) {
  duel::Duel d;
  d.bouts.resize(2);
  const std::vector<std::uint32_t> features = behaviour_of(duel::derive_case(1, 50), d);
  EXPECT_EQ(features, behaviour_of(duel::derive_case(2, 80), d));
  EXPECT_FALSE(features.empty());
  d.bouts[1].program = duel::derive_case(1, 50).program;
  EXPECT_GT(behaviour_of(duel::derive_case(1, 50), d).size(), features.size());
}

TEST(Explorer, SeldomAsksForWhatIsImpossible) {
  ExplorerOptions options;
  options.percent_new = options.percent_impossible = 0;
  Explorer explorer(options);
  int children = 0;
  for (int k = 0; k < 100; ++k) {
    duel::Case input = explorer.next();
    if (explorer.corpus().size() >= 4) {
      ++children;
      const ir::PerFile<int> bound = generate::demand_bound(input.program, *input.target);
      for (std::size_t file = 0; file < bound.size(); ++file)
        EXPECT_GE(input.limits.units[file], std::min(bound[file], input.target->units[file]));
    }
    explorer.learn(input, shape(input));
  }
  EXPECT_GT(children, 80);
}

TEST(Explorer, RepeatsItselfAndKeepsWhatIsNew) {
  const auto explore = [](std::uint64_t seed) {
    ExplorerOptions options;
    options.seed = seed;
    options.most_instructions = 300;
    Explorer explorer(options);
    std::vector<std::vector<std::uint8_t>> inputs;
    for (int k = 0; k < 120; ++k) {
      const duel::Case input = explorer.next();
      EXPECT_TRUE(ir::check(input.program, *input.target, 1).empty());
      const std::size_t before = explorer.num_features();
      const bool kept = explorer.learn(input, shape(input));
      EXPECT_EQ(kept, explorer.num_features() > before);
      inputs.push_back(duel::encode_case(input));
    }
    EXPECT_GT(explorer.corpus().size(), 10u);
    EXPECT_LT(explorer.corpus().size(), 121u);
    return inputs;
  };
  const auto first = explore(1);
  EXPECT_EQ(first, explore(1));
  EXPECT_NE(first, explore(2));
}

TEST(Explorer, TriesSeedsFirstAsTheyAre) {
  Explorer explorer(ExplorerOptions{});
  const duel::Case a = duel::derive_case(100), b = duel::derive_case(200);
  explorer.add_seed(a);
  explorer.add_seed(b);
  EXPECT_EQ(duel::encode_case(explorer.next()), duel::encode_case(b));
  EXPECT_EQ(duel::encode_case(explorer.next()), duel::encode_case(a));
}

}  // namespace
}  // namespace regduel::fuzz
