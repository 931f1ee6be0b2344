// Golden text: each file of passes/cssa/testdata/ is a program, and below the marks what cssa makes of it, by liveness and by
// values.

#include "passes/cssa/cssa.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kLiveness = "\n// by liveness\n", kValues = "\n// by values\n", kFolder = "passes/cssa/testdata";
using Knobs = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> files() { return testing::files_of(kFolder); }

// The file above the first mark.
std::string head_of(const std::string& file) { return testing::head_of(file, kLiveness); }
ir::Function program_of(const std::string& file) { return testing::parsed(head_of(file) + "\n", file); }
ir::Function named(const std::string& name) { return program_of(std::string(kFolder) + "/" + name + ".rir"); }
std::string after(const ir::Function& f, const Knobs& knobs = {}, ir::Fuel* fuel = nullptr, ir::Trace* trace = nullptr) {
  const auto result = cssa().run(f, ir::default_target(), {.fuel = fuel, .knobs = knobs, .trace = trace});
  EXPECT_TRUE(result && ir::check(*result, 1).empty()) << f.name;
  return result ? ir::print(*result) : "";
}
class Lines final : public ir::Trace {
 public:
  void line(std::string text) override { lines.push_back(std::move(text)); }
  std::vector<std::string> lines;
};

TEST(Cssa, Golden) {
  ASSERT_FALSE(files().empty());
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    std::string head = head_of(file);
    while (head.ends_with('\n')) head.pop_back();
    expect_golden(file,
                  head + "\n" + std::string(kLiveness) + after(f) + std::string(kValues) + after(f, {{"cssa-usedessa", "1"}}));
  }
}

TEST(Cssa, WithoutFuelTheProgramStaysAsItIs) {
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    ir::Fuel none{.limit = 0};
    EXPECT_EQ(after(f, {}, &none), ir::print(f)) << file;
  }
}

TEST(Cssa, EachDecisionIsOneUnitOfFuel) {
  const ir::Function f = named("values");
  std::vector<std::string_view> kinds;
  ir::Fuel enough;
  const std::string all = after(f, {{"cssa-usedessa", "1"}}, &enough);
  EXPECT_EQ(all, after(f, {{"cssa-usedessa", "1"}}));
  for (std::int64_t limit = 0; limit < enough.spent; ++limit) {
    ir::Fuel less{.limit = limit};
    EXPECT_NE(after(f, {{"cssa-usedessa", "1"}}, &less), all);
    if (kinds.empty() || kinds.back() != less.refused) kinds.push_back(less.refused);
  }
  EXPECT_EQ(kinds, (std::vector<std::string_view>{"isolate-phi", "merge-phi-web", "leave-out-copy"}));
}

// On the critical edge, from b1 to itself, the copy is an operand of a phi.
TEST(Cssa, WithoutCoalescingEachOperandAndEachResultHasACopy) {
  const ir::Function f = named("swap");
  const auto result = cssa().run(f, ir::default_target(), {.knobs = Knobs{{"cssa-coalesce", "0"}}});
  EXPECT_EQ(std::count_if(result->insts.begin(), result->insts.end(), [](const ir::Inst& i) { return i.is_copy(); }), 4);
  EXPECT_EQ(std::count_if(result->insts.begin(), result->insts.end(), [](const ir::Inst& i) { return i.is_phi(); }), 2);
  EXPECT_EQ(result->vregs.size(), f.vregs.size() + 2);
}

TEST(Cssa, TheTraceSaysAsMuchAsItIsAskedTo) {
  const ir::Function f = named("critical_edge");
  std::vector<std::vector<std::string>> by_level;
  for (const char* level : {"0", "1", "2", "3"}) {
    Lines trace;
    after(f, {{"cssa-verbosity", level}}, nullptr, &trace);
    by_level.push_back(trace.lines);
  }
  const std::string summary =
      "cssa @critical_edge: 1 phis taken apart, 2 of 3 copies merged, 1 inserted, 0 on edges, 0 of the program left out";
  EXPECT_TRUE(by_level[0].empty());
  EXPECT_EQ(by_level[1], (std::vector<std::string>{summary}));
  EXPECT_EQ(by_level[3], (std::vector<std::string>{"  merge b2: %2 = hub of #5", "  merge b0: hub of #5 = %0",
                                                   "  keep b1: hub of #5 = %1: interference", "  %2 is %0", "  hub of #5 is %0",
                                                   "  b1: #8 %0 = copy %1", summary}));
  std::erase_if(by_level[3], [](const std::string& line) { return line.starts_with("  merge") || line.starts_with("  keep"); });
  EXPECT_EQ(by_level[2], by_level[3]);
}

TEST(Cssa, TheProgramIsDumpedBeforeWhereItIsAskedFor) {
  const ir::Function f = named("swap");
  Lines trace;
  after(f, {{"cssa-dump-before", "1"}}, nullptr, &trace);
  std::string text;
  for (const std::string& line : trace.lines) text += line + "\n";
  EXPECT_EQ(text, ir::print(f));
}

TEST(Cssa, KnobsThatThereAreNotAndValuesThatTheyCannotHave) {
  const ir::Function f = named("swap");
  const auto error = [&](const char* name, const char* value) {
    const auto result = cssa().run(f, ir::default_target(), {.knobs = Knobs{{name, value}}});
    return result ? "" : result.error();
  };
  EXPECT_EQ(error("cssa-nothing", "1"), "cssa has no knob \"cssa-nothing\" (regduel knobs --with cssa)");
  EXPECT_EQ(error("cssa-coalesce", "2"), "knob cssa-coalesce: expected bool, found \"2\"");
  EXPECT_EQ(error("cssa-verbosity", "4"), "knob cssa-verbosity: expected int 0 to 3, found \"4\"");
  EXPECT_EQ(error("cssa-usedessa", ""), "knob cssa-usedessa: expected bool, found \"\"");
  for (const ir::KnobInfo& k : cssa().knobs()) EXPECT_EQ(error(k.name.c_str(), k.default_value.c_str()), "") << k.name;
}

}  // namespace
}  // namespace regduel::passes
