#include "reference/knobs.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

TEST(Knobs, EachKnobTakesItsDefaultAndRefusesNonsense) {
  for (const ir::KnobInfo& info : briggs_knobs().infos()) {
    EXPECT_TRUE(briggs_knobs().parse(Settings{{info.name, info.default_value}})) << info.name;
    for (const char* bad : {"", "x", "-1", "1/0", "1000001", "99999999999999999999"})
      EXPECT_FALSE(briggs_knobs().parse(Settings{{info.name, bad}})) << info.name << " = " << bad;
  }
}

TEST(Knobs, EachOfCiccToo) {
  for (const ir::KnobInfo& info : cicc_knobs().infos()) {
    EXPECT_TRUE(cicc_knobs().parse(Settings{{info.name, info.default_value}})) << info.name;
    for (const char* bad : {"", "x", "-1", "1/0", "1000001"})
      EXPECT_FALSE(cicc_knobs().parse(Settings{{info.name, bad}})) << info.name << " = " << bad;
  }
  EXPECT_FALSE(cicc_knobs().parse(Settings{{"briggs-coalesce", "0"}}));
}

TEST(Knobs, LaterSettingsWin) {
  const auto k =
      briggs_knobs().parse(Settings{{"briggs-loop-base", "3"}, {"briggs-loop-base", "5"}, {"briggs-coalescing-factor", "4/5"}});
  ASSERT_TRUE(k);
  EXPECT_EQ(k->loop_base, 5);
  EXPECT_EQ(k->coalescing_factor.numerator, 4);
  EXPECT_EQ(k->coalescing_factor.denominator, 5);
}

TEST(Knobs, AnUnknownKnobIsABadKnob) {
  const ir::Function f = testing::parse_body("block b0\n#0 exit\n");
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target());
  options.knobs = {{"no-such-knob", "1"}};
  const auto result = make_briggs()->allocate(f, ir::default_target(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ir::AllocFailure::Kind::BadKnob);
  EXPECT_EQ(result.error().message, "briggs has no knob \"no-such-knob\" (regduel knobs --with briggs)");
}

}  // namespace
}  // namespace regduel::reference
