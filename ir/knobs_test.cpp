#include "ir/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::ir {
namespace {

struct Inner {
  std::int64_t deep = -1;
};
struct Settings {
  bool flag = true;
  int number = 10;
  Inner inner = {};
  std::string word = {};
};

const KnobTable<Settings>& table() {
  static const KnobTable<Settings> t(
      "owner",
      {{{.name = "flag", .id = 7, .help = "a flag", .group = KnobGroup::Coalescing}, &Settings::flag},
       {{.name = "number", .default_value = "ten"}, &Settings::number, {1, 1000}},
       {{.name = "deep", .type = "int, -1 = none"}, [](Settings& s) -> auto& { return s.inner.deep; }, {-1, 5}},
       {{.name = "word", .type = "word", .default_value = ""},
        "a word",
        [](Settings& s, std::string_view text) {
          s.word = text;
          return !text.empty();
        }},
       {{.name = "internal", .group = KnobGroup::Internal}, &Settings::number}},
      {.flag = false});
  return t;
}
std::expected<Settings, std::string> parse(std::vector<std::pair<std::string, std::string>> list) { return table().parse(list); }

TEST(Knobs, TypesAndDefaultsFollowFromTheMembers) {
  std::string text;
  for (const KnobInfo& k : table().infos()) text += k.name + ": " + k.type + " [" + k.default_value + "]\n";
  EXPECT_EQ(text, "flag: bool [0]\nnumber: int 1 to 1000 [ten]\ndeep: int, -1 = none [-1]\nword: word []\n");
}

TEST(Knobs, LaterOnesWinAndIdsAreNames) {
  const auto s = parse({{"flag", "on"}, {"number", "3"}, {"7", "off"}, {"number", "1000"}, {"deep", "-1"}, {"word", "x"}});
  ASSERT_TRUE(s.has_value());
  EXPECT_FALSE(s->flag);
  EXPECT_EQ(s->number, 1000);
  EXPECT_EQ(s->inner.deep, -1);
  EXPECT_EQ(s->word, "x");
}

TEST(Knobs, OneWordingOfEachError) {
  EXPECT_EQ(parse({{"none", "1"}}).error(), "owner has no knob \"none\" (regduel knobs --with owner)");
  EXPECT_EQ(parse({{"-1", "1"}}).error(), "owner has no knob \"-1\" (regduel knobs --with owner)");
  EXPECT_EQ(parse({{"7", "2"}}).error(), "knob flag: expected bool, found \"2\"");
  EXPECT_EQ(parse({{"deep", "6"}}).error(), "knob deep: expected int -1 to 5, found \"6\"");
  EXPECT_EQ(parse({{"word", ""}}).error(), "knob word: expected a word, found \"\"");
  for (const char* bad : {"", "x", "0", "1001", "1x", " 1", "99999999999999999999"})
    EXPECT_EQ(parse({{"number", bad}}).error(), "knob number: expected int 1 to 1000, found \"" + std::string(bad) + "\"");
}

}  // namespace
}  // namespace regduel::ir
