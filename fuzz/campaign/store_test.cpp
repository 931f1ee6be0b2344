#include "fuzz/campaign/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::fuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StoredInput input(std::uint8_t content, std::vector<std::uint32_t> features, bool pinned = false) {
  StoredInput i{"", results::Blob{content, 0, 0xFF}, std::move(features), pinned, content};
  i.hash = results::content_hash(i.input);
  return i;
}

TEST(StoreTest, InputsComeBackAsTheyWere) {
  Store store("");
  store.add(input(9, {1, 70000}));
  store.add(input(3, {2}, true));
  const auto inputs = store.inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].instructions, 3u) << "the smaller first";
  EXPECT_THAT(inputs[1].input, ElementsAre(9, 0, 0xFF));
  EXPECT_THAT(inputs[1].features, ElementsAre(1, 70000));
  for (const StoredInput& i : inputs) store.remove_input(i.hash);
  ASSERT_EQ(store.inputs().size(), 1u);
  EXPECT_TRUE(store.inputs()[0].is_pinned);
}

TEST(StoreTest, SightingsAreCounted) {
  Store store("");
  const Failure failure{"briggs", "memcheck/3@fma:use"};
  EXPECT_EQ(store.saw(failure, "first", {1}), 1u);
  EXPECT_EQ(store.saw(failure, "second", {2}), 2u);
  EXPECT_THAT(store.totals(), HasSubstr(" 0 findings and 1 not reduced yet, "));
  store.reduced(failure);
  EXPECT_THAT(store.totals(), HasSubstr(" 0 findings, "));
  const auto all = store.sightings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].message, "first");
  EXPECT_EQ(all[0].count, 2u);
  EXPECT_EQ(all[0].reduced, 1u);
  EXPECT_THAT(all[0].first, ElementsAre(1));
  store.forget(failure);
  EXPECT_TRUE(store.sightings().empty());
}

TEST(StoreTest, AFindingKeepsTheSmallestCaseAndHasAState) {
  Store store("");
  const auto understood = [](int size) {
    Understood u;
    u.reduced = duel::derive_case(5, size);
    u.failure = {"briggs", "structure/x@function"};
    u.bucket = "one";
    return u;
  };
  EXPECT_TRUE(store.add(understood(60)));
  const auto large = store.findings()[0].instructions;
  EXPECT_FALSE(store.add(understood(20)));
  EXPECT_FALSE(store.add(understood(90)));
  ASSERT_EQ(store.findings().size(), 1u);
  EXPECT_EQ(store.findings()[0].count, 3u);
  EXPECT_LT(store.findings()[0].instructions, large);
  EXPECT_EQ(store.findings()[0].state, "crashing");
  EXPECT_EQ(store.tried_again("one", true, "unknown"), "crashing");
  EXPECT_EQ(store.tried_again("one", false, "unknown"), "incubating");
  EXPECT_EQ(store.tried_again("one", false, "unknown"), "incubating") << "the same version looked again: that tells nothing";
  for (const char* version : {"a", "b"}) {
    EXPECT_EQ(store.findings()[0].state, "incubating");
    static_cast<void>(store.tried_again("one", false, version));
  }
  EXPECT_EQ(store.findings()[0].state, "regression");
  EXPECT_EQ(store.tried_again("one", true, "unknown"), "crashing");
  EXPECT_EQ(store.tried_again("one", false, "unknown"), "incubating");
}

}  // namespace
}  // namespace regduel::fuzz
