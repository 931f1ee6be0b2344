// The contract of passes on breaches made by hand, and on what each pass makes of random programs.

#include "properties/pass_contract.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/standard_mix.h"
#include "ir/text/text.h"
#include "passes/passes.h"
#include "passes/series.h"

namespace regduel::properties {
namespace {

constexpr std::string_view kProgram =
    "rir 1\nfunc @f device target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 P pred\n"
    "  block b0\n    #0 %0 = ld 1 !remat\n    #1 %1 = copy %0\n    #2 %2 = copy %1 clobbers R24\n    #3 %3 = setp %2, 5\n"
    "    #4 @%3 st %1 !write\n    #5 cbra %3 -> b1, b2\n  block b1\n    #6 bra -> b2\n  block b2\n    #7 st %2 !write\n    #8 "
    "ret\n";

ir::Function parsed(const std::string& text) {
  const auto module = ir::parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

std::vector<std::string> breaches(std::string_view from, std::string_view to) {
  std::string text(kProgram);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return breaches_of_contract(parsed(std::string(kProgram)), parsed(text.replace(at, from.size(), to)), ir::default_target());
}

TEST(PassContract, WhatAPassMayDo) {
  EXPECT_THAT(breaches("", ""), testing::IsEmpty());
  EXPECT_THAT(breaches("    #1 %1 = copy %0\n", ""), testing::IsEmpty()) << "leave out a copy";
  EXPECT_THAT(breaches("#3 %3 = setp %2", "#3 %3 = setp %1"), testing::IsEmpty()) << "read another vreg";
  EXPECT_THAT(breaches("#1 %1 = copy %0\n", "#1 %1 = copy %0\n    #9 %1 = copy %0\n"), testing::IsEmpty()) << "add a copy";
  EXPECT_THAT(breaches("#1 %1 = copy %0\n", "#1 %1 = copy %0\n    #9 %1 = ld 1 !remat\n"), testing::IsEmpty()) << "repeat a def";
}

TEST(PassContract, EachBreach) {
  const auto one = [](const char* text) { return testing::ElementsAre(testing::HasSubstr(text)); };
  EXPECT_THAT(breaches("    #4 @%3 st %1 !write\n", ""), one("#4, which is no copy and no phi, is left out"));
  EXPECT_THAT(breaches("    #2 %2 = copy %1 clobbers R24\n", ""), one("#2, which gives up registers, is left out"));
  EXPECT_THAT(breaches("#7 st %2 !write", "#7 st %2 !read"), one("#7 is another instruction"));
  EXPECT_THAT(breaches("#3 %3 = setp %2, 5", "#3 %3 = setp %2, 6"), one("operand 2 of #3"));
  EXPECT_THAT(breaches("@%3 st", "@!%3 st"), one("operand 1 of #4"));
  EXPECT_THAT(
      breaches("#7 st %2 !write", "#7 st %2, %1 !write"),
      testing::ElementsAre("#7 has another number of operands", "1 registers were enough for each instruction, and are no longer"));
  EXPECT_THAT(breaches("cbra %3 -> b1, b2", "cbra %3 -> b2, b1"), one("#5 goes elsewhere"));
  EXPECT_THAT(breaches("    #0 %0 = ld 1 !remat\n    #1 %1 = copy %0\n", "    #1 %1 = copy %0\n    #0 %0 = ld 1 !remat\n"),
              testing::Contains(testing::HasSubstr("#0 stands behind")));
  EXPECT_THAT(breaches("    #4 @%3 st %1 !write\n    #5 cbra %3 -> b1, b2\n  block b1\n",
                       "    #5 cbra %3 -> b1, b2\n  block b1\n    #4 @%3 st %1 !write\n"),
              testing::Contains("#4 stands in another block"));
  EXPECT_THAT(breaches("#1 %1 = copy %0\n", "#1 %1 = copy %0\n    #9 %1 = ld 2 !remat\n"), one("repeats 0 instructions"));
  EXPECT_THAT(breaches("b32\n  vreg %3 P pred", "b32\n  vreg %3 P pred fixed P1"), one("%3 is another vreg"));
}

TEST(PassContract, EachPassKeepsIt) {
  std::vector<std::string> orders;
  for (const ir::KnobInfo& k : passes::find_pass(passes::kSeries)->knobs())
    if (k.name == passes::kSeriesOrder) orders = k.samples;
  ASSERT_GT(orders.size(), 10u);
  for (const passes::Pass* pass : passes::passes()) {
    if (pass->rewrites()) continue;
    for (std::uint64_t n = 0; n < 300; ++n) {
      const generate::StandardCase c = generate::standard_mix(24, n);
      const ir::Target& target = *ir::find_target(c.target);
      std::vector<std::pair<std::string, std::string>> knobs;
      if (pass->name() == passes::kSeries) knobs.emplace_back(passes::kSeriesOrder, orders[n % orders.size()]);
      const auto after = pass->run(c.program, target, {.knobs = knobs});
      ASSERT_TRUE(after.has_value()) << after.error();
      const std::vector<std::string> found = breaches_of_contract(c.program, *after, target);
      ASSERT_TRUE(found.empty()) << pass->name() << ", case " << n << ": " << found.front();
    }
  }
}

}  // namespace
}  // namespace regduel::properties
