#include "reference/exact/cheapest_set.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"

namespace regduel::reference {
namespace {

using Element = CheapestSet::Element;
using Portion = CheapestSet::Portion;
constexpr std::int64_t kConflicts = 100'000;
constexpr int kQuestions = 10'000;

struct Demand {
  std::vector<Portion> portions;
  int units;
};
struct Extra {
  Element taken, unless;
  std::int64_t cost;
};
struct Case {
  std::vector<std::int64_t> costs;
  std::vector<Demand> demands;
  std::vector<Extra> extras;
  std::vector<Extra> implied;  // without a cost: the one is not taken without the other
};

std::int64_t cost_of(const Case& c, std::uint32_t set) {
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < c.costs.size(); ++e) sum += (set >> e & 1) != 0 ? c.costs[e] : 0;
  for (const Extra& x : c.extras) sum += (set >> x.taken & 1) != 0 && (set >> x.unless & 1) == 0 ? x.cost : 0;
  return sum;
}
bool meets(const Case& c, std::uint32_t set) {
  for (const Extra& x : c.implied)
    if ((set >> x.taken & 1) != 0 && (set >> x.unless & 1) == 0) return false;
  for (const Demand& d : c.demands) {
    int units = 0;
    for (const Portion& p : d.portions) units += (set >> p.element & 1) != 0 ? p.units : 0;
    if (units < d.units) return false;
  }
  return true;
}
// -1 where no set meets the demands.
std::int64_t least_of_all(const Case& c) {
  std::int64_t least = -1;
  for (std::uint32_t set = 0; set < 1u << c.costs.size(); ++set) {
    if (!meets(c, set)) continue;
    const std::int64_t cost = cost_of(c, set);
    if (least < 0 || cost < least) least = cost;
  }
  return least;
}
std::uint32_t as_bits(const std::vector<bool>& is_taken) {
  std::uint32_t set = 0;
  for (std::size_t e = 0; e < is_taken.size(); ++e) set |= is_taken[e] ? 1u << e : 0u;
  return set;
}

Case random_case(Random& rng) {
  Case c;
  const std::size_t elements = 1 + rng.below(10);
  const bool has_large = rng.below(3) == 0;
  for (std::size_t e = 0; e < elements; ++e)
    c.costs.push_back(static_cast<std::int64_t>(rng.below(has_large ? 1'000'000'000u : 12u)));
  const std::size_t demands = rng.below(5);
  for (std::size_t k = 0; k < demands; ++k) {
    Demand d{{}, 0};
    int all = 0;
    for (std::size_t e = 0; e < elements; ++e)
      if (rng.below(2) == 0) {
        d.portions.push_back({static_cast<Element>(e), 1 + static_cast<int>(rng.below(4))});
        all += d.portions.back().units;
      }
    d.units = static_cast<int>(rng.below(static_cast<std::uint32_t>(all) + 1)) + (rng.below(40) == 0 ? 1 : 0);
    c.demands.push_back(std::move(d));
  }
  for (std::size_t k = rng.below(4); elements > 1 && k > 0; --k) {
    const auto a = static_cast<Element>(rng.below(static_cast<std::uint32_t>(elements))),
               b = static_cast<Element>(rng.below(static_cast<std::uint32_t>(elements)));
    if (a != b && rng.below(3) == 0) c.implied.push_back({a, b, 0});
    else if (a != b) c.extras.push_back({a, b, static_cast<std::int64_t>(rng.below(9))});
  }
  return c;
}

// One demand after the other, each time against all sets.
TEST(CheapestSet, IsTheCheapestOfAll) {
  Random rng(17);
  int impossible = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    const Case all = random_case(rng);
    CheapestSet set(all.costs);
    for (const Extra& x : all.extras) set.add_extra_cost(x.taken, x.unless, x.cost);
    for (const Extra& x : all.implied) set.imply(x.taken, x.unless);
    Case so_far = all;
    so_far.demands.clear();
    for (std::size_t k = 0; k <= all.demands.size(); ++k) {
      const auto answer = set.solve(kConflicts, kQuestions);
      const std::int64_t least = least_of_all(so_far);
      ASSERT_EQ(answer.is_impossible, least < 0);
      if (least < 0) {
        ++impossible;
        break;
      }
      ASSERT_TRUE(answer.is_proved());
      EXPECT_EQ(answer.at_most, least);
      EXPECT_TRUE(meets(so_far, as_bits(answer.is_taken)));
      EXPECT_EQ(cost_of(so_far, as_bits(answer.is_taken)), least);
      if (k == all.demands.size()) break;
      set.demand(all.demands[k].portions, all.demands[k].units);
      so_far.demands.push_back(all.demands[k]);
    }
  }
  EXPECT_GT(impossible, 5);
}

// More elements than the relaxation has rows for, and nothing that is demanded; then one demand.
TEST(CheapestSet, ManyElements) {
  CheapestSet set(std::vector<std::int64_t>(2000, 3));
  EXPECT_EQ(set.solve(kConflicts, kQuestions).at_most, 0);
  const Portion two[] = {{7, 1}, {1900, 1}};
  set.demand(two, 1);
  const auto answer = set.solve(kConflicts, kQuestions);
  EXPECT_TRUE(answer.is_proved());
  EXPECT_EQ(answer.at_most, 3);
}

// At least 8 units of each 30 elements in a row, of 120: sliding, as points of a program are.
TEST(CheapestSet, SlidingDemands) {
  Random rng(3);
  std::vector<std::int64_t> costs;
  for (int e = 0; e < 120; ++e) costs.push_back(4 + static_cast<std::int64_t>(rng.below(100)) * 4);
  CheapestSet set(costs);
  for (Element first = 0; first + 30 <= 120; ++first) {
    std::vector<Portion> portions;
    for (Element e = first; e < first + 30; ++e) portions.push_back({e, 1});
    set.demand(portions, 8);
  }
  const auto answer = set.solve(kConflicts, kQuestions);
  EXPECT_TRUE(answer.is_proved());
}

TEST(CheapestSet, WithoutEffortTheAnswerIsARange) {
  Random rng(4);
  std::vector<std::int64_t> costs;
  for (int e = 0; e < 60; ++e) costs.push_back(1 + static_cast<std::int64_t>(rng.below(1000)));
  CheapestSet set(costs);
  for (Element first = 0; first + 20 <= 60; ++first) {
    std::vector<Portion> portions;
    for (Element e = first; e < first + 20; ++e) portions.push_back({e, 1 + static_cast<int>(e % 3)});
    set.demand(portions, 17);
  }
  const auto some = set.solve(1000, 3);
  const auto all = set.solve(kConflicts, kQuestions);
  ASSERT_TRUE(all.is_proved());
  EXPECT_FALSE(some.is_proved());
  EXPECT_LE(some.at_least, all.at_least);
  if (!some.is_taken.empty()) {
    EXPECT_GE(some.at_most, all.at_most);
  }
}

TEST(CheapestSet, ProofsAreWrittenAndNothingElseIsProved) {
  const auto folder = std::filesystem::temp_directory_path() / "regduel_cheapest_set_test";
  std::filesystem::create_directories(folder);
  CheapestSet set({3, 5, 7});
  set.demand(std::vector<Portion>{{0, 1}, {1, 1}, {2, 1}}, 2);
  ASSERT_EQ(set.solve(kConflicts, kQuestions).at_most, 8);
  const std::string path = (folder / "proof").string();
  EXPECT_TRUE(set.prove_at_least(8, path, kConflicts));
  EXPECT_GT(std::filesystem::file_size(path + ".cnf"), 0u);
  EXPECT_GT(std::filesystem::file_size(path + ".drat"), 0u);
  EXPECT_FALSE(set.prove_at_least(9, path, kConflicts)) << "8 is less than 9";
  std::filesystem::remove_all(folder);
}

// What is written says exactly that the demands are met at less than the cost.
TEST(CheapestSet, ProvesExactlyTheLeastCost) {
  const auto folder = std::filesystem::temp_directory_path() / "regduel_cheapest_set_bounds_test";
  std::filesystem::create_directories(folder);
  Random rng(23);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const Case c = random_case(rng);
    const std::int64_t least = least_of_all(c);
    if (least < 0) continue;
    CheapestSet set(c.costs);
    for (const Extra& x : c.extras) set.add_extra_cost(x.taken, x.unless, x.cost);
    for (const Extra& x : c.implied) set.imply(x.taken, x.unless);
    for (const Demand& d : c.demands) set.demand(d.portions, d.units);
    const std::string path = (folder / "proof").string();
    if (least > 0) {
      EXPECT_TRUE(set.prove_at_least(least, path, kConflicts));
    }
    EXPECT_FALSE(set.prove_at_least(least + 1, path, kConflicts));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace regduel::reference
