#include "duel/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/case.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

constexpr const char* kProgram =
    "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 %0 = const 1\n    #1 exit\n";

int limit(const Case& c, ir::RegFile file) { return c.limits.of(file); }

TEST(CaseFile, ReadsItsHeader) {
  const auto c = parse_case(std::string("// a cause\n// target: sm_80\n// limit: R=16 P=3\n// knob: a=b\n") + kProgram);
  ASSERT_TRUE(c.has_value()) << to_string(c.error());
  EXPECT_EQ(c->target->name, "sm_80");
  EXPECT_EQ(limit(*c, ir::RegFile::R), 16);
  EXPECT_EQ(limit(*c, ir::RegFile::P), 3);
  EXPECT_EQ(limit(*c, ir::RegFile::UR), 63);
  EXPECT_EQ(c->knobs, (Knobs{{"a", "b"}}));
}

TEST(CaseFile, ReadsTheHeadOfAReproducer) {
  const auto c =
      parse_case(std::string("// regduel duel x.rir --with briggs --sm 75 --limit R=16 --limit UP=2 --knob a=1\n") + kProgram);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->target->name, "sm_75");
  EXPECT_EQ(limit(*c, ir::RegFile::R), 16);
  EXPECT_EQ(limit(*c, ir::RegFile::UP), 2);
  EXPECT_EQ(c->knobs.size(), 1u);
}

TEST(CaseFile, TheProgramSaysItsTarget) {
  const auto of = [](const std::string& target) {
    return parse_case("rir 1\nfunc @f kernel target " + target + " threads 32\n  block b0\n    #0 exit\n");
  };
  EXPECT_EQ(of("sm_103")->target->name, "sm_103");
  EXPECT_EQ(of("mine")->target->name, "sm_90");
}

TEST(CaseFile, SaysWhatIsWrong) {
  for (const auto& [head, message] : {std::pair{"// target: sm_1\n", "no target sm_1"},
                                      {"\n// limit: Q=3\n", "limit Q=3"},
                                      {"// limit: R=0\n", "limit R=0"},
                                      {"// limit: R\n", "limit R"},
                                      {"// knob: x\n", "NAME=VALUE"}}) {
    const auto c = parse_case(std::string(head) + kProgram, "x.rir");
    ASSERT_FALSE(c.has_value());
    EXPECT_THAT(to_string(c.error()), testing::AllOf(testing::HasSubstr("x.rir:"), testing::HasSubstr(message)));
  }
  EXPECT_FALSE(parse_case("").has_value());
}

TEST(CaseFile, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Case c = derive_case(seed);
    c.knobs = {{"a", "1"}};
    const std::string text = print_case(c, "two\nlines");
    const auto again = parse_case(text);
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(print_case(*again, "two\nlines"), text);
  }
}

}  // namespace
}  // namespace regduel::duel
