#include "allocator/knobs.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

TEST(Knobs, TableIsInOrderOfTheEnumerationAndNamesAreUnique) {
  const auto table = knob_table();
  ASSERT_EQ(table.size(), static_cast<std::size_t>(kNumKnobs));
  for (std::size_t k = 0; k < table.size(); ++k) {
    EXPECT_EQ(static_cast<std::size_t>(table[k].knob), k);
    EXPECT_LE(table[k].low, table[k].default_value);
    EXPECT_GE(table[k].high, table[k].default_value);
    EXPECT_EQ(Knobs()[table[k].knob], table[k].default_value);
    for (std::size_t j = 0; j < k; ++j) EXPECT_NE(table[j].name, table[k].name);
  }
  EXPECT_EQ(knob_infos().size(), table.size());
}

TEST(Knobs, ByNameAndByNumber) {
  Knobs k;
  EXPECT_FALSE(k.is_set(Knob::InterferenceThreshold));
  EXPECT_TRUE(k.set("684", "7").has_value());
  EXPECT_EQ(k[Knob::InterferenceThreshold], 7);
  EXPECT_TRUE(k.is_set(Knob::InterferenceThreshold));
  EXPECT_TRUE(k.set("RegAllocFastAllocation", "true").has_value());
  EXPECT_EQ(k[Knob::FastAllocation], 1);
}

TEST(Knobs, BadNamesAndValues) {
  Knobs k;
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"nope", "1"}, {"-1", "1"}, {"684", ""}, {"684", "x"}, {"684", "1x"}, {"684", "-1"}, {"638", "2"}, {"639", "9"}}) {
    const auto set = k.set(name, value);
    ASSERT_FALSE(set.has_value()) << name << "=" << value;
    EXPECT_FALSE(set.error().empty());
  }
  const std::vector<std::pair<std::string, std::string>> twice = {{"684", "1"}, {"684", "2"}};
  EXPECT_EQ((*Knobs::parse(twice))[Knob::InterferenceThreshold], 2);
}

}  // namespace
}  // namespace regduel::allocator
