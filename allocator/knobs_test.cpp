#include "allocator/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

TEST(Knobs, TableIsInOrderOfTheEnumerationAndNamesAreUnique) {
  const auto table = knob_table();
  ASSERT_EQ(table.size(), static_cast<std::size_t>(kNumKnobs));
  for (std::size_t k = 0; k < table.size(); ++k) {
    EXPECT_EQ(static_cast<std::size_t>(table[k].knob), k);
    EXPECT_LE(table[k].low, table[k].default_value);
    EXPECT_GE(table[k].high, table[k].default_value);
    EXPECT_EQ(Knobs()[table[k].knob], table[k].default_value);
    for (std::size_t j = 0; j < k; ++j) {
      EXPECT_NE(table[j].name, table[k].name);
      EXPECT_TRUE(table[k].id < 0 || table[j].id != table[k].id) << table[k].name;
    }
  }
  EXPECT_EQ(knob_infos().size(), table.size());
}

// Ids, types and defaults as the source has them.
TEST(Knobs, TheSourcesOwn) {
  struct Row {
    const char* id;
    KnobType type;
    std::int64_t default_value;
  };
  for (const Row& row :
       {Row{"618", KnobType::Bool, 0}, Row{"622", KnobType::Bool, 0}, Row{"623", KnobType::Int, 10}, Row{"628", KnobType::Bool, 0},
        Row{"629", KnobType::Bool, 0}, Row{"638", KnobType::Bool, 0}, Row{"639", KnobType::Int, 1}, Row{"641", KnobType::Bool, 0},
        Row{"642", KnobType::Int, 2}, Row{"643", KnobType::Int, 4}, Row{"646", KnobType::Int, 3}, Row{"660", KnobType::Int, 160},
        Row{"661", KnobType::Dbl, 1'000'000}, Row{"663", KnobType::Int, 119}, Row{"664", KnobType::Dbl, 200'000},
        Row{"665", KnobType::Dbl, 300'000}, Row{"684", KnobType::Int, 50}}) {
    const auto table = knob_table();
    const auto at = std::find_if(table.begin(), table.end(), [&](const KnobRow& k) { return std::to_string(k.id) == row.id; });
    ASSERT_NE(at, table.end()) << row.id;
    EXPECT_EQ(at->type, row.type) << row.id;
    EXPECT_EQ(at->default_value, row.default_value) << row.id;
  }
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

TEST(Knobs, TheStateSaysHowAValueCameAbout) {
  Knobs k;
  EXPECT_EQ(static_cast<int>(k.state(Knob::SpillBitLowRegScale)), 0);
  ASSERT_TRUE(k.set("664", "2").has_value());
  EXPECT_EQ(static_cast<int>(k.state(Knob::SpillBitLowRegScale)), 1);
  EXPECT_EQ(k[Knob::SpillBitLowRegScale], 2'000'000);
  for (const auto& [text, millionths] : std::vector<std::pair<const char*, std::int64_t>>{
           {"0.35", 350'000}, {"0.000001", 1}, {"12.5", 12'500'000}, {"000.0", 0}, {"1000.000000", 1'000'000'000}}) {
    ASSERT_TRUE(k.set("664", text).has_value()) << text;
    EXPECT_EQ(static_cast<int>(k.state(Knob::SpillBitLowRegScale)), 3);
    EXPECT_EQ(k[Knob::SpillBitLowRegScale], millionths) << text;
    Knobs again;
    ASSERT_TRUE(again.set("664", knob_text(KnobType::Dbl, millionths)).has_value());
    EXPECT_EQ(again[Knob::SpillBitLowRegScale], millionths);
  }
  EXPECT_EQ(knob_text(KnobType::Dbl, 350'000), "0.35");
  EXPECT_EQ(knob_text(KnobType::Dbl, 1'000'000), "1.0");
  EXPECT_EQ(knob_text(KnobType::Int, 1'000'000), "1000000");
}

TEST(Knobs, BadNamesAndValues) {
  Knobs k;
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"nope", "1"},
                                                                                    {"", "1"},
                                                                                    {"-1", "1"},
                                                                                    {"0684", "1"},
                                                                                    {"684", ""},
                                                                                    {"684", "x"},
                                                                                    {"684", "1x"},
                                                                                    {"684", "-1"},
                                                                                    {"684", "1.5"},
                                                                                    {"638", "2"},
                                                                                    {"638", "yes"},
                                                                                    {"639", "9"},
                                                                                    {"646", "0"},
                                                                                    {"646", "4"},
                                                                                    {"663", "0"},
                                                                                    {"RegisterUsageLevel", "11"},
                                                                                    {"FastCompile", "4"},
                                                                                    {"664", "-0.1"},
                                                                                    {"664", ".5"},
                                                                                    {"664", "1."},
                                                                                    {"664", "1e3"},
                                                                                    {"664", "0.1234567"},
                                                                                    {"664", "1000.000001"},
                                                                                    {"664", "1001"},
                                                                                    {"664", "9999999999"},
                                                                                    {"664", "1.2.3"},
                                                                                    {"664", "99999999999999999999"},
                                                                                    {"664", "true"}}) {
    const auto set = k.set(name, value);
    ASSERT_FALSE(set.has_value()) << name << "=" << value;
    EXPECT_FALSE(set.error().empty());
    EXPECT_FALSE(k.is_set(Knob::SpillBitLowRegScale));
  }
  EXPECT_THAT(k.set("661", "2000").error(), HasSubstr("\"2000\" is no dbl from 0.0 to 1000.0"));
  EXPECT_EQ((*Knobs::parse(Settings{{"684", "1"}, {"684", "2"}}))[Knob::InterferenceThreshold], 2);
}

TEST(Knobs, FastCompileSetsWhatIsNotSetByItself) {
  const auto fast = [](Settings settings) {
    const Knobs k = *Knobs::parse(settings);
    return std::tuple(k[Knob::FastAllocation], k.is_set(Knob::NoSpillAttempts), k[Knob::NoSpillAttempts]);
  };
  EXPECT_EQ(fast({{"FastCompile", "0"}}), std::tuple(0, false, 1));
  EXPECT_EQ(fast({{"FastCompile", "1"}}), std::tuple(1, true, 2));
  EXPECT_EQ(fast({{"FastCompile", "2"}}), std::tuple(1, false, 1));
  EXPECT_EQ(fast({{"FastCompile", "3"}}), std::tuple(1, false, 1));
  EXPECT_EQ(fast({{"FastCompile", "1"}, {"639", "5"}}), std::tuple(1, true, 5));
  EXPECT_EQ(fast({{"638", "0"}, {"FastCompile", "1"}}), std::tuple(0, true, 2));
}

}  // namespace
}  // namespace regduel::allocator
