// Hash-consed sets against std::set, and the cost of a growing chain.

#include "oracles/memcheck/def_sets.h"

#include <algorithm>
#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::oracles {
namespace {

using ::testing::ElementsAreArray;

TEST(DefSetsTest, EqualSetsHaveOneNumber) {
  DefSets sets;
  const SetId a = sets.single(7), b = sets.single(1000), c = sets.single(70000);
  EXPECT_EQ(sets.unite(sets.unite(a, b), c), sets.unite(a, sets.unite(c, b)));
  EXPECT_EQ(sets.unite(a, kEmptySet), a);
  EXPECT_NE(sets.unite(a, b), a);
}

TEST(DefSetsTest, AgreesWithStdSet) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    DefSets sets;
    std::vector<std::pair<SetId, std::set<std::uint32_t>>> pool = {{kEmptySet, {}}};
    std::vector<signed char> odd;
    const std::uint32_t range = round % 2 == 0 ? 100 : 2'000'000'000u;
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t e = random.below(range);
      auto [id, model] = pool[random.below(static_cast<std::uint32_t>(pool.size()))];
      const auto& [other, other_model] = pool[random.below(static_cast<std::uint32_t>(pool.size()))];
      id = sets.unite(sets.unite(id, sets.single(e)), other);
      model.insert(e);
      model.insert(other_model.begin(), other_model.end());
      EXPECT_THAT(sets.elements(id), ElementsAreArray(model));
      EXPECT_TRUE(sets.contains(id, e));
      EXPECT_EQ(sets.contains(id, e + 1), model.contains(e + 1));
      const auto is_odd = [](std::uint32_t element) { return element % 2 == 1; };
      EXPECT_EQ(sets.any_of(id, odd, is_odd), std::any_of(model.begin(), model.end(), is_odd));
      const auto has_all = [&](const std::set<std::uint32_t>& set, const std::set<std::uint32_t>& part) {
        return std::all_of(part.begin(), part.end(),
                           [&](std::uint32_t element) { return !is_odd(element) || set.contains(element); });
      };
      EXPECT_TRUE(sets.has_all(id, sets.single(e), odd, is_odd));
      EXPECT_EQ(sets.has_all(id, sets.single(e + 1), odd, is_odd), has_all(model, {e + 1}));
      const SetId third = pool[random.below(static_cast<std::uint32_t>(pool.size()))].first;
      const auto in_third = sets.elements(third);
      const bool meets =
          std::any_of(in_third.begin(), in_third.end(), [&](std::uint32_t element) { return model.contains(element); });
      EXPECT_EQ(sets.meet(id, third), meets);
      EXPECT_EQ(sets.meet(third, id), meets);
      for (const auto& [known, known_model] : pool) {
        EXPECT_EQ(known == id, known_model == model);
        EXPECT_EQ(sets.has_all(id, known, odd, is_odd), has_all(model, known_model));
        EXPECT_EQ(sets.has_all(known, id, odd, is_odd), has_all(known_model, model));
      }
      pool.emplace_back(id, model);
    }
  }
}

TEST(DefSetsTest, EqualSetsHaveOneNumberAmongThousands) {
  DefSets sets;
  std::vector<SetId> up = {kEmptySet};
  for (std::uint32_t k = 0; k < 3000; ++k) up.push_back(sets.unite(up.back(), sets.single(k * 64)));
  const std::size_t nodes = sets.num_nodes();
  SetId again = kEmptySet;
  for (std::uint32_t k = 0; k < 3000; ++k) {
    again = sets.unite(sets.single(k * 64), again);
    ASSERT_EQ(again, up[k + 1]);
  }
  EXPECT_EQ(sets.num_nodes(), nodes);
}

TEST(DefSetsTest, AWordIsItsFourBytes) {
  DefSets sets;
  const SetId a = sets.single(4), b = sets.single(5), both = sets.unite(a, b);
  const std::vector<std::array<SetId, 4>> words = {{a, b, a, b},         {b, a, a, b},        {a, b, b, a},
                                                   {a, a, b, b},         {both, b, a, b},     {a, b, a, kEmptySet},
                                                   {a, b, kEmptySet, a}, {kEmptySet, b, a, b}};
  std::set<SetId> numbers = {a, b, both, kEmptySet};
  for (const auto& bytes : words) EXPECT_TRUE(numbers.insert(sets.word(bytes)).second);
  for (const auto& bytes : words) EXPECT_FALSE(numbers.insert(sets.word(bytes)).second);
  // As a set it is one of one element, which no definition has.
  const SetId word = sets.word(words[0]);
  EXPECT_EQ(sets.elements(word).size(), 1u);
  std::vector<signed char> memo;
  const auto is_any = [](std::uint32_t) { return true; };
  EXPECT_FALSE(sets.has_all(sets.unite(word, both), sets.word(words[1]), memo, is_any));
  EXPECT_TRUE(sets.has_all(sets.unite(word, both), word, memo, is_any));
  EXPECT_GT(sets.elements(word)[0], 2'000'000'000u);
  EXPECT_TRUE(DefSets::is_word(sets.elements(word)[0]));
  EXPECT_FALSE(DefSets::is_word(sets.elements(both)[0]));
}

TEST(DefSetsTest, AUnionOfManyMakesFewSets) {
  constexpr std::uint32_t kParts = 1024;
  DefSets sets;
  std::vector<SetId> parts;
  SetId all = kEmptySet;
  Random random(3);
  for (std::uint32_t k = 0; k < kParts; ++k) parts.push_back(sets.single(k * 64));
  shuffle(random, parts);
  EXPECT_EQ(sets.elements(sets.unite_all(parts)).size(), kParts);
  EXPECT_LE(sets.num_nodes(), kParts + 8);  // neighbours first: a branch for each pair
  for (std::uint32_t k = 0; k < kParts; ++k) all = sets.unite(all, sets.single(k * 64));
  std::vector<SetId> one = {all};
  EXPECT_EQ(sets.unite_all(one), all);
  std::vector<SetId> three = {sets.single(5), sets.single(70), sets.single(1)};
  EXPECT_EQ(sets.elements(sets.unite_all(three)), (std::vector<std::uint32_t>{1, 5, 70}));
}

}  // namespace
}  // namespace regduel::oracles
