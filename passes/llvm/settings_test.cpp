#include "passes/llvm/settings.h"

#include <gtest/gtest.h>

namespace regduel::passes::llvm {
namespace {

using Knobs = std::vector<std::pair<std::string, std::string>>;

TEST(LlvmSettings, EachKnobOfTheSourceIsThereWithItsDefault) {
  const std::span<const ir::KnobInfo> infos = knobs().infos();
  std::string text;
  for (const ir::KnobInfo& k : infos) text += k.name + "=" + k.default_value + " ";
  EXPECT_EQ(text,
            "llvm-join-liveintervals=true llvm-join-splitedges=true llvm-join-globalcopies=true llvm-terminal-rule=true "
            "llvm-verify-coalescing=false llvm-late-remat-update-threshold=100 llvm-large-interval-size-threshold=100 "
            "llvm-large-interval-freq-threshold=256 llvm-twoaddr-reschedule=true ");
  for (const ir::KnobInfo& k : infos) {
    EXPECT_TRUE(knobs().parse(Knobs{{k.name, k.default_value}}).has_value());
    for (const std::string& sample : k.samples) EXPECT_TRUE(knobs().parse(Knobs{{k.name, sample}}).has_value());
  }
}

TEST(LlvmSettings, LaterOnesWin) {
  const auto s = knobs().parse(
      Knobs{{"llvm-terminal-rule", "false"}, {"llvm-terminal-rule", "1"}, {"llvm-large-interval-size-threshold", "7"}});
  ASSERT_TRUE(s.has_value());
  EXPECT_TRUE(s->terminal_rule);
  EXPECT_EQ(s->large_interval_size_threshold, 7);
}

TEST(LlvmSettings, WhatIsNoKnobOrNoValueIsSaid) {
  EXPECT_EQ(knobs().parse(Knobs{{"llvm-join", "1"}}).error(), "llvm has no knob \"llvm-join\" (regduel knobs --with llvm)");
  EXPECT_EQ(knobs().parse(Knobs{{"llvm-terminal-rule", "2"}}).error(), "knob llvm-terminal-rule: expected bool, found \"2\"");
  EXPECT_EQ(knobs().parse(Knobs{{"llvm-large-interval-freq-threshold", "-1"}}).error(),
            "knob llvm-large-interval-freq-threshold: expected int 0 to 1000000000, found \"-1\"");
}

}  // namespace
}  // namespace regduel::passes::llvm
