#include "allocator/knobs.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

void check_table(Owner owner) {
  const std::span<const ir::KnobInfo> table = knob_infos(owner);
  ASSERT_FALSE(table.empty());
  for (std::size_t k = 0; k < table.size(); ++k) {
    const auto standard = Knobs::parse(Settings{{table[k].name, table[k].default_value}}, owner);
    ASSERT_TRUE(standard.has_value()) << standard.error();
    int num_set = 0;
    for (int n = 0; n < kNumKnobs; ++n) {
      EXPECT_EQ((*standard)[static_cast<Knob>(n)], Knobs(owner)[static_cast<Knob>(n)]) << table[k].name;
      num_set += standard->is_set(static_cast<Knob>(n)) ? 1 : 0;
    }
    EXPECT_EQ(num_set, 1) << table[k].name;
    for (const std::string& sample : table[k].samples)
      EXPECT_TRUE(Knobs::parse(Settings{{table[k].name, sample}}, owner)) << table[k].name;
    for (std::size_t j = 0; j < k; ++j) {
      EXPECT_NE(table[j].name, table[k].name);
      EXPECT_TRUE(table[k].id < 0 || table[j].id != table[k].id) << table[k].name;
    }
  }
}
// With the defaults of a Knobs.
TEST(Knobs, TheTables) {
  for (const Owner owner : {Owner::FatPoint, Owner::Classic}) check_table(owner);
}

// Each lower limit is one more allocation, and cases with random knobs draw from the samples.
TEST(Knobs, SamplesTryOneLowerLimitAtMost) {
  const auto infos = knob_infos(Owner::FatPoint);
  const auto lower = std::ranges::find(infos, "FatPointLowerLimits", &ir::KnobInfo::name);
  ASSERT_NE(lower, infos.end());
  EXPECT_THAT(lower->samples, ::testing::ElementsAre("0", "1"));
}

// A knob of the other allocator is unknown, and stands at what this one does.
TEST(Knobs, EachOwnerHasItsOwn) {
  EXPECT_FALSE(Knobs::parse(Settings{{"684", "7"}}).has_value());
  EXPECT_FALSE(Knobs::parse(Settings{{"FatPointEviction", "1"}}, Owner::Classic).has_value());
  EXPECT_EQ(Knobs(Owner::Classic)[Knob::Eviction], 0);
  EXPECT_EQ(Knobs(Owner::Classic)[Knob::PreAllocation], 1);
  EXPECT_EQ(Knobs()[Knob::PreAllocation], 0);
  EXPECT_EQ(Knobs::parse(Settings{}, Owner::Classic).value()[Knob::PreAllocation], 1);
}

// Ids, types and defaults as the source has them.
TEST(Knobs, TheSourcesOwn) {
  std::string text;
  for (const ir::KnobInfo& k : knob_infos(Owner::Classic))
    if (k.id >= 0) text += std::to_string(k.id) + " " + k.type + " " + k.default_value + "\n";
  EXPECT_EQ(text, R"(618 bool 1
622 bool 1
623 int 10
628 bool 1
629 bool 1
638 bool 0
639 int 1
641 bool 0
642 int 2
643 int 4
646 int 3
660 int 160
661 dbl 1.0
663 int 119
664 dbl 0.2
665 dbl 0.3
684 int 50
)");
}

TEST(Knobs, ByNameAndByNumber) {
  EXPECT_FALSE(Knobs(Owner::Classic).is_set(Knob::InterferenceThreshold));
  const Knobs k = Knobs::parse(Settings{{"684", "1"}, {"684", "7"}, {"RegAllocFastAllocation", "true"}}, Owner::Classic).value();
  EXPECT_EQ(k[Knob::InterferenceThreshold], 7);
  EXPECT_TRUE(k.is_set(Knob::InterferenceThreshold));
  EXPECT_EQ(k[Knob::FastAllocation], 1);
}

TEST(Knobs, TheStateSaysHowAValueCameAbout) {
  EXPECT_EQ(static_cast<int>(Knobs().state(Knob::SpillBitLowRegScale)), 0);
  const Knobs whole = Knobs::parse(Settings{{"664", "2"}}).value();
  EXPECT_EQ(static_cast<int>(whole.state(Knob::SpillBitLowRegScale)), 1);
  EXPECT_EQ(whole[Knob::SpillBitLowRegScale], 2'000'000);
  for (const auto& [text, millionths] : std::vector<std::pair<const char*, std::int64_t>>{
           {"0.35", 350'000}, {"0.000001", 1}, {"12.5", 12'500'000}, {"000.0", 0}, {"1000.000000", 1'000'000'000}}) {
    const auto k = Knobs::parse(Settings{{"664", text}});
    ASSERT_TRUE(k.has_value()) << text;
    EXPECT_EQ(static_cast<int>(k->state(Knob::SpillBitLowRegScale)), 3);
    EXPECT_EQ((*k)[Knob::SpillBitLowRegScale], millionths) << text;
  }
}

TEST(Knobs, BadNamesAndValues) {
  const auto error = [](const char* name, const char* value) {
    const auto k = Knobs::parse(Settings{{name, value}}, Owner::Classic);
    return k ? "" : k.error();
  };
  for (const char* name : {"nope", "", "-1", "0684"}) EXPECT_THAT(error(name, "1"), HasSubstr("has no knob"));
  for (const auto& [name, values] :
       std::map<const char*, std::vector<const char*>>{{"684", {"", "x", "1x", "-1", "1.5"}},
                                                       {"638", {"2", "yes"}},
                                                       {"639", {"9"}},
                                                       {"646", {"0", "4"}},
                                                       {"663", {"0"}},
                                                       {"RegisterUsageLevel", {"11"}},
                                                       {"FastCompile", {"4"}},
                                                       {"664",
                                                        {"-0.1", ".5", "1.", "1e3", "0.1234567", "1000.000001", "1001",
                                                         "9999999999", "1.2.3", "99999999999999999999", "true"}}})
    for (const char* value : values) EXPECT_THAT(error(name, value), HasSubstr("expected")) << name << "=" << value;
  EXPECT_EQ(error("661", "2000"), "knob RegAllocSpillBitHighRegScale: expected dbl 0.0 to 1000.0, found \"2000\"");
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
