// Which pairs a search comes by.

#include "oracles/symbolic/pairs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::oracles::symbolic {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Pair = std::pair<Value, Value>;

struct PairListTest : ::testing::Test {
  std::vector<Pair> found(Value want_a, Value want_b, bool in_part = false) const {
    std::vector<Pair> result;
    list.each(values, want_a, want_b, in_part, [&](Value a, Value b) { result.emplace_back(a, b); });
    std::ranges::sort(result);
    return result;
  }

  Values values;
  Value x = values.add_leaves(ValueKind::Def, 0, 4), y = x + 1, z = x + 2, token = x + 3;
  Value gate = values.gate(token, x, y), loose = values.one_of({x, y});
  PairList list;
};

TEST_F(PairListTest, APlainNameFindsWhatIsTheSameOnItsSide) {
  list.add(values, x, y);
  list.add(values, y, x);
  list.add(values, x, z);
  EXPECT_THAT(found(x, kAny), ElementsAre(Pair(x, y), Pair(x, z)));
  EXPECT_THAT(found(kAny, x), ElementsAre(Pair(y, x)));
  EXPECT_THAT(found(z, kAny), ElementsAre());
}

TEST_F(PairListTest, ANameThatIsOneOfManyFindsEachOfThem) {
  list.add(values, x, y);
  list.add(values, y, x);
  list.add(values, z, x);
  EXPECT_THAT(found(loose, kAny), ElementsAre(Pair(x, y), Pair(y, x)));
}

TEST_F(PairListTest, GatesAndWordsAreFoundByAllNames) {
  const Value word = values.word({values.byte(x, 1), values.byte(x, 0), values.byte(x, 2), values.byte(x, 3)});
  list.add(values, gate, y);
  list.add(values, y, word);
  EXPECT_THAT(found(z, kAny), ElementsAre(Pair(gate, y)));
  EXPECT_THAT(found(loose, kAny), UnorderedElementsAre(Pair(y, word), Pair(gate, y)));
  EXPECT_THAT(found(kAny, z), ElementsAre(Pair(y, word)));
}

TEST_F(PairListTest, AnEntangledNameIsShownAll) {
  list.add(values, x, y);
  list.add(values, kJunk, z);
  list.add(values, gate, z);
  const Value among = values.one_of({gate, z});
  for (const Value want : {gate, among, kAny})
    EXPECT_THAT(found(want, kAny), UnorderedElementsAre(Pair(x, y), Pair(kJunk, z), Pair(gate, z)));
}

TEST_F(PairListTest, AWordPutTogetherIsEntangledAndAsksForItself) {
  const Value word = values.word({values.byte(x, 1), values.byte(x, 0), values.byte(x, 2), values.byte(x, 3)});
  const Value among = values.one_of({word, z});
  list.add(values, x, y);
  list.add(values, word, z);
  list.add(values, z, x);
  list.add(values, kJunk, x);
  EXPECT_THAT(found(word, kAny), ElementsAre(Pair(word, z)));
  EXPECT_THAT(found(among, kAny), UnorderedElementsAre(Pair(word, z), Pair(z, x)));
  // The upper half of x would do, where only that counts.
  EXPECT_THAT(found(word, kAny, true), UnorderedElementsAre(Pair(x, y), Pair(word, z), Pair(z, x), Pair(kJunk, x)));
  EXPECT_THAT(found(x, kAny, true), UnorderedElementsAre(Pair(x, y), Pair(word, z)));
}

TEST_F(PairListTest, KeepsAllOfManyPairs) {
  constexpr std::uint32_t kPairs = 300;
  const Value first = values.add_leaves(ValueKind::Def, 1, 2 * kPairs);
  for (std::uint32_t k = 0; k < kPairs; ++k) list.add(values, first + k, first + kPairs + k);
  for (std::uint32_t k = 0; k < kPairs; ++k) {
    EXPECT_THAT(found(first + k, kAny), ElementsAre(Pair(first + k, first + kPairs + k)));
    EXPECT_THAT(found(kAny, first + kPairs + k), ElementsAre(Pair(first + k, first + kPairs + k)));
  }
}

TEST_F(PairListTest, IsEmptyWhenCleared) {
  list.add(values, x, y);
  list.add(values, gate, z);
  list.clear();
  EXPECT_THAT(found(x, kAny), ElementsAre());
  list.add(values, z, z);
  EXPECT_THAT(found(x, kAny), ElementsAre());
  EXPECT_THAT(found(kAny, kAny), ElementsAre(Pair(z, z)));
  EXPECT_THAT(found(kAny, z), ElementsAre(Pair(z, z)));
}

}  // namespace
}  // namespace regduel::oracles::symbolic
