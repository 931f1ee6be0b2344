// Each knob of the LLVM-style coalescer changes what it makes of a share of the random mix. The limits of large intervals are set
// low enough to bite in programs of a few hundred instructions. late-remat-update-threshold only puts off what a repeated def
// changes: here defs are repeated, and passes/llvm/llvm_test.cpp has a program in which the knob stops a join.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fuzz/generate/standard_mix.h"
#include "ir/target.h"
#include "ir/text/text.h"
#include "passes/llvm/llvm.h"

namespace regduel::fuzz {
namespace {

struct Lines final : ir::Trace {
  std::string text;
  void line(std::string s) override { text += s + "\n"; }
};

TEST(LlvmKnobs, EachChangesAShareOfTheMix) {
  constexpr int kPrograms = 400;
  const std::vector<std::vector<std::pair<std::string, std::string>>> settings = {
      {{"llvm-join-liveintervals", "false"}},
      {{"llvm-join-splitedges", "false"}},
      {{"llvm-join-globalcopies", "false"}},
      {{"llvm-terminal-rule", "false"}},
      {{"llvm-twoaddr-reschedule", "false"}},
      {{"llvm-large-interval-size-threshold", "4"}, {"llvm-large-interval-freq-threshold", "4"}},
      {{"llvm-large-interval-freq-threshold", "0"}, {"llvm-large-interval-size-threshold", "4"}},
  };
  std::vector<int> changed(settings.size(), 0);
  int in_trace = 0, repeats = 0, held_back = 0;
  for (int n = 0; n < kPrograms; ++n) {
    const StandardCase c = standard_mix(18, static_cast<std::uint64_t>(n));
    const ir::Target& target = *ir::find_target(c.target);
    const auto run = [&](const auto& knobs, ir::Trace* trace = nullptr) {
      return ir::print(*passes::llvm_coalescer().run(c.program, target, {.knobs = knobs, .trace = trace}));
    };
    const std::vector<std::pair<std::string, std::string>> none, verified = {{"llvm-verify-coalescing", "true"}};
    Lines plain, checked;
    const std::string usual = run(none, &plain);
    for (std::size_t k = 0; k < settings.size(); ++k) changed[k] += run(settings[k]) != usual ? 1 : 0;
    EXPECT_EQ(run(verified, &checked), usual);
    repeats += plain.text.find("repeat #") != std::string::npos ? 1 : 0;
    held_back += plain.text.find("terminal rule") != std::string::npos ? 1 : 0;
    in_trace += checked.text != plain.text ? 1 : 0;
  }
  for (std::size_t k = 0; k < settings.size(); ++k) {
    fmt::print("{}={}: {} of {} programs\n", settings[k][0].first, settings[k][0].second, changed[k], kPrograms);
    EXPECT_GE(changed[k], 1) << settings[k][0].first;
  }
  EXPECT_EQ(in_trace, kPrograms);
  fmt::print("defs repeated: {} of {} programs, copies held back: {}\n", repeats, kPrograms, held_back);
  EXPECT_GE(repeats, 1);
}

}  // namespace
}  // namespace regduel::fuzz
