// Which pairs a search comes by.

#include "oracles/symbolic/pairs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::oracles::symbolic {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Pair = std::pair<Value, Value>;

struct PairListTest : ::testing::Test {
  std::vector<Pair> found(Value want_a, Value want_b, bool in_part = false) const {
    std::vector<Pair> result;
    list.each(values, want_a, want_b, in_part, false, [&](Value a, Value b) { result.emplace_back(a, b); });
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  Values values;
  Value x = values.add_leaves(ValueKind::Def, 0, 4), y = x + 1, z = x + 2, token = x + 3;
  Value gate = values.gate(token, x, y), maybe_undefined = values.one_of({x, y});
  PairList list;
};

TEST_F(PairListTest, APlainNameFindsWhatIsTheSameOnItsSide) {
  list.add(values, x, y);
  list.add(values, y, x);
  list.add(values, x, z);
  EXPECT_THAT(found(x, kTop), ElementsAre(Pair(x, y), Pair(x, z)));
  EXPECT_THAT(found(kTop, x), ElementsAre(Pair(y, x)));
  EXPECT_THAT(found(z, kTop), ElementsAre());
}

TEST_F(PairListTest, ANameThatIsOneOfManyFindsEachOfThem) {
  list.add(values, x, y);
  list.add(values, y, x);
  list.add(values, z, x);
  EXPECT_THAT(found(maybe_undefined, kTop), ElementsAre(Pair(x, y), Pair(y, x)));
}

// What the index finds is what the leaves of all pairs say, or less by pairs that satisfy nothing; and all that satisfies.
TEST_F(PairListTest, ManySearchesOfManyPairsFindWhatSatisfies) {
  const Value many = values.add_leaves(ValueKind::Def, 1, 60), bottom = kBottom;
  for (Value v = many; v < many + 60; ++v) list.add(values, v, many + 59 - (v - many));
  list.add(values, gate, gate);
  list.add(values, bottom, many);
  list.add(values, many + 3, bottom);
  const Value set = values.one_of({many + 3, many + 7, x}), gates = values.one_of({gate, many + 7});
  for (int round = 0; round < 20; ++round) {
    EXPECT_THAT(found(set, kTop),
                ::testing::IsSupersetOf({Pair(many + 3, many + 56), Pair(many + 3, bottom), Pair(many + 7, many + 52)}));
    EXPECT_LE(found(set, kTop).size(), 5u) << "and what shares a leaf with them";
    EXPECT_THAT(found(kTop, set), ::testing::IsSupersetOf({Pair(many + 56, many + 3), Pair(many + 52, many + 7)}));
    EXPECT_THAT(found(set, many + 52), ElementsAre(Pair(many + 7, many + 52)));
    EXPECT_THAT(found(many + 7, many + 53), ElementsAre());
    EXPECT_THAT(found(gates, kTop), Contains(Pair(gate, gate)));
    EXPECT_THAT(found(kTop, kTop), ::testing::SizeIs(63));
  }
  list.clear();
  list.add(values, y, x);
  for (int round = 0; round < 20; ++round) EXPECT_THAT(found(values.one_of({many + 3, y}), kTop), ElementsAre(Pair(y, x)));
}

TEST_F(PairListTest, GatesAndWordsAreFoundByTheirLeaves) {
  const Value word = values.word({values.byte(x, 1), values.byte(x, 0), values.byte(x, 2), values.byte(x, 3)});
  list.add(values, gate, y);
  list.add(values, y, word);
  EXPECT_THAT(found(x, kTop), ElementsAre()) << "the gate is also y";
  EXPECT_THAT(found(values.gate(token, x, kTop), kTop), ElementsAre(Pair(gate, y)));
  EXPECT_THAT(found(z, kTop), ElementsAre());
  EXPECT_THAT(found(maybe_undefined, kTop), UnorderedElementsAre(Pair(y, word), Pair(gate, y)));
  EXPECT_THAT(found(kTop, x), ElementsAre(Pair(y, word)));
}

TEST_F(PairListTest, ANameWithGatesFindsWhatHasALeafOfIt) {
  list.add(values, x, y);
  list.add(values, kBottom, z);
  list.add(values, gate, z);
  list.add(values, z, z);
  EXPECT_THAT(found(gate, kTop), ElementsAre(Pair(gate, z))) << "only gates have both";
  EXPECT_THAT(found(values.gate(token, x, kTop), kTop), UnorderedElementsAre(Pair(x, y), Pair(gate, z)));
  EXPECT_THAT(found(values.one_of({gate, z}), kTop), UnorderedElementsAre(Pair(x, y), Pair(gate, z), Pair(z, z)));
  EXPECT_THAT(found(kTop, kTop), UnorderedElementsAre(Pair(x, y), Pair(kBottom, z), Pair(gate, z), Pair(z, z)));
}

TEST_F(PairListTest, WhatIsCutIsFoundByAllNamesAndFindsAll) {
  const Value cut = values.unknown_member();
  list.add(values, x, y);
  list.add(values, cut, z);
  EXPECT_THAT(found(z, kTop), ElementsAre(Pair(cut, z)));
  EXPECT_THAT(found(gate, kTop), ElementsAre(Pair(cut, z))) << "the other has no leaf y";
  EXPECT_THAT(found(cut, kTop), UnorderedElementsAre(Pair(x, y), Pair(cut, z)));
}

TEST_F(PairListTest, AWordPutTogetherIsEntangledAndAsksForItself) {
  const Value word = values.word({values.byte(x, 1), values.byte(y, 0), values.byte(x, 2), values.byte(x, 3)});
  const Value among = values.one_of({word, z});
  list.add(values, x, y);
  list.add(values, word, z);
  list.add(values, z, x);
  list.add(values, kBottom, x);
  EXPECT_THAT(found(word, kTop), ElementsAre(Pair(word, z)));
  EXPECT_THAT(found(among, kTop), UnorderedElementsAre(Pair(x, y), Pair(word, z), Pair(z, x)));
  // The upper half of x would do, where only that counts.
  EXPECT_THAT(found(word, kTop, true), UnorderedElementsAre(Pair(x, y), Pair(word, z)));
  EXPECT_THAT(found(x, kTop, true), UnorderedElementsAre(Pair(x, y), Pair(word, z)));
}

TEST_F(PairListTest, FindsWhatThereIsAndFewOthersAmongManyPairs) {
  constexpr std::uint32_t kPairs = 300;
  const Value first = values.add_leaves(ValueKind::Def, 1, 2 * kPairs);
  for (std::uint32_t k = 0; k < kPairs; ++k) list.add(values, first + k, first + kPairs + k);
  std::size_t all = 0;
  for (std::uint32_t k = 0; k < kPairs; ++k) {
    const Pair pair(first + k, first + kPairs + k);
    EXPECT_THAT(found(pair.first, kTop), Contains(pair));
    EXPECT_THAT(found(kTop, pair.second), Contains(pair));
    EXPECT_THAT(found(pair.first, pair.second), Contains(pair));
    all += found(pair.first, kTop).size();
  }
  EXPECT_LT(all, kPairs * 10) << "bits of leaves are shared by few";
}

TEST_F(PairListTest, HasAnyLooksAtParts) {
  list.add(values, values.word({values.byte(x, 1), values.byte(y, 0), values.byte(x, 2), values.byte(x, 3)}), z);
  EXPECT_TRUE(list.has_any(values, x, kTop));
  EXPECT_TRUE(list.has_any(values, y, z));
  EXPECT_FALSE(list.has_any(values, z, kTop));
  EXPECT_FALSE(list.has_any(values, x, y));
}

TEST_F(PairListTest, IsEmptyWhenCleared) {
  list.add(values, x, y);
  list.add(values, gate, z);
  list.clear();
  EXPECT_THAT(found(x, kTop), ElementsAre());
  list.add(values, z, z);
  EXPECT_THAT(found(x, kTop), ElementsAre());
  EXPECT_THAT(found(kTop, kTop), ElementsAre(Pair(z, z)));
  EXPECT_THAT(found(kTop, z), ElementsAre(Pair(z, z)));
}

}  // namespace
}  // namespace regduel::oracles::symbolic
