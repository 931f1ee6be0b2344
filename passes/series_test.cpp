#include "passes/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/text/text.h"
#include "passes/passes.h"

namespace regduel::passes {
namespace {

using ::testing::HasSubstr;

const Pass& series = *find_pass("series");

ir::Function program() {
  auto parsed = ir::parse(
      R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = add %1
    #3 %1 = copy %2
    #4 st %1 !write
    #5 exit
)",
      "test");
  return parsed->functions.front();
}

std::expected<ir::Function, std::string> run(const ir::Function& f, const Pass& pass,
                                             std::vector<std::pair<std::string, std::string>> knobs = {}) {
  return pass.run(f, ir::default_target(), {.knobs = knobs});
}

TEST(Series, ItsPassesRunInTheOrderOfTheKnob) {
  const ir::Function f = program();
  for (const char* names : {"none", "llvm", "ssa+cssa", "ssa+cssa+llvm+nvptx", "nvptx+copyprop+nvptx"}) {
    ir::Function want = f;
    for (std::string_view rest = names; rest != "none" && !rest.empty();) {
      const std::size_t plus = std::min(rest.find('+'), rest.size());
      want = *run(want, *find_pass(rest.substr(0, plus)));
      rest = rest.substr(std::min(plus + 1, rest.size()));
    }
    const auto have = run(f, series, {{"series-order", names}});
    ASSERT_TRUE(have) << names;
    EXPECT_EQ(ir::print(*have), ir::print(want)) << names;
  }
  EXPECT_EQ(ir::print(*run(f, series)), ir::print(*run(f, series, {{"series-order", "ssa+cssa+llvm+nvptx"}})));
}

TEST(Series, EachPassGetsItsKnobs) {
  const ir::Function f = program();
  EXPECT_NE(ir::print(*run(f, series, {{"series-order", "nvptx"}})), ir::print(f));
  EXPECT_EQ(ir::print(*run(f, series, {{"series-order", "nvptx"}, {"nvptx-copy-limit", "0"}})),
            ir::print(*run(f, *find_pass("nvptx"), {{"nvptx-copy-limit", "0"}})));
}

// copyprop takes #9 away, the last of all; cssa makes copies in other blocks.
TEST(Series, NothingGetsTheIdOfAnInstructionThatAnEarlierPassTookAway) {
  const auto parsed = ir::parse(
      R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 R b32
  block b0
    #0 %0 = ld
    #9 %4 = copy %0
    #1 %3 = setp %0
    #2 cbra %3 -> b1, b2
  block b1
    #3 %1 = add %0
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %1, b2: %0
    #7 st %2 !write
    #8 exit
)",
      "test");
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  const ir::Function f = parsed->functions.front();
  const auto result = run(f, series, {{"series-order", "copyprop+cssa"}, {"cssa-coalesce", "0"}});
  ASSERT_TRUE(result) << result.error();
  int added = 0;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const auto own = f.insts_of(ir::BlockId(b));
    for (const ir::Inst& i : result->insts_of(ir::BlockId(b))) {
      if (i.id.value >= f.next_inst_id().value) ++added;
      else EXPECT_TRUE(std::ranges::any_of(own, [&](const ir::Inst& o) { return o.id == i.id; })) << ir::print(*result);
    }
  }
  EXPECT_GT(added, 0) << ir::print(*result);
}

TEST(Series, NonsenseIsRefusedByOneLine) {
  const ir::Function f = program();
  for (const char* bad : {"", "llvm+", "+llvm", "llvm,cssa", "nosuch", "series", "llvm+series"}) {
    const auto r = run(f, series, {{"series-order", bad}});
    ASSERT_FALSE(r) << bad;
    EXPECT_THAT(r.error(), HasSubstr("series-order"));
  }
  EXPECT_EQ(run(f, series, {{"llvm-nosuch", "1"}}).error(), "series has no knob \"llvm-nosuch\" (regduel knobs --with series)");
}

TEST(Series, EachSampleOfTheOrderIsAnotherOneThatCanBeRun) {
  const std::vector<std::string> samples = series.knobs().front().samples;
  EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), samples.size());
  EXPECT_EQ(samples.size(), 3u + 2 * (3 + 6 + 6));
  for (const std::string& s : samples) EXPECT_TRUE(run(program(), series, {{"series-order", s}})) << s;
}

}  // namespace
}  // namespace regduel::passes
