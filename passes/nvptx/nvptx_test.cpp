// Golden text: each file of passes/nvptx/testdata/ is a program, perhaps with a line of knobs, and below the mark what the pass
// says and makes of it.

#include "passes/nvptx/nvptx.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kMark = "\n// nvptx\n", kKnobs = "// knobs:", kFolder = "passes/nvptx/testdata";

using Knobs = std::vector<std::pair<std::string, std::string>>;

struct Comments final : ir::Trace {
  void line(std::string text) override { all += "// " + text + "\n"; }
  std::string all;
};

std::vector<std::string> files() { return testing::files_of(kFolder); }
std::string head_of(const std::string& file) { return testing::head_of(file, kMark); }
Knobs knobs_of(const std::string& head) {
  Knobs knobs;
  const std::size_t at = head.find(kKnobs);
  if (at == std::string::npos) return knobs;
  std::istringstream line(head.substr(at + kKnobs.size(), head.find('\n', at) - at - kKnobs.size()));
  for (std::string word; line >> word;) knobs.emplace_back(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
  return knobs;
}
ir::Function program_of(const std::string& file) { return testing::parsed(head_of(file) + "\n", file); }

TEST(Nvptx, Golden) {
  ASSERT_FALSE(files().empty());
  for (const std::string& file : files()) {
    std::string head = head_of(file);
    const Knobs knobs = knobs_of(head);
    Comments trace;
    const auto after = nvptx_coalescer().run(program_of(file), ir::default_target(), {.knobs = knobs, .trace = &trace});
    ASSERT_TRUE(after.has_value()) << file << ": " << after.error();
    EXPECT_TRUE(ir::check(*after, 1).empty()) << file;
    while (head.ends_with('\n')) head.pop_back();
    expect_golden(file, head + "\n" + std::string(kMark) + trace.all + ir::print(*after));
  }
}

TEST(Nvptx, WithoutFuelTheProgramStaysAsItIs) {
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    ir::Fuel none{.limit = 0};
    EXPECT_EQ(ir::print(*nvptx_coalescer().run(f, ir::default_target(), {.fuel = &none})), ir::print(f)) << file;
  }
}

TEST(Nvptx, EachMergeIsOneUnitOfFuel) {
  const ir::Function f = program_of("passes/nvptx/testdata/copies.rir");
  const std::string all = ir::print(*nvptx_coalescer().run(f, ir::default_target(), {}));
  ir::Fuel enough;
  EXPECT_EQ(ir::print(*nvptx_coalescer().run(f, ir::default_target(), {.fuel = &enough})), all);
  ir::Fuel less{.limit = enough.spent - 1};
  EXPECT_NE(ir::print(*nvptx_coalescer().run(f, ir::default_target(), {.fuel = &less})), all);
}

TEST(Nvptx, RefusesKnobsThatThereAreNot) {
  const ir::Function f = program_of("passes/nvptx/testdata/copies.rir");
  const auto run = [&](const char* name, const char* value) {
    const Knobs knobs = {{name, value}};
    return nvptx_coalescer().run(f, ir::default_target(), {.knobs = knobs});
  };
  EXPECT_EQ(run("nvptx-nothing", "1").error(), "nvptx has no knob \"nvptx-nothing\" (regduel knobs --with nvptx)");
  EXPECT_EQ(run("nvptx-wide", "2").error(), "knob nvptx-wide: expected bool, found \"2\"");
  EXPECT_EQ(run("nvptx-copy-limit", "-2").error(), "knob nvptx-copy-limit: expected int -1 to 1000000000, found \"-2\"");
  for (const ir::KnobInfo& knob : nvptx_coalescer().knobs())
    for (const std::string& sample : knob.samples) EXPECT_TRUE(run(knob.name.c_str(), sample.c_str()).has_value()) << knob.name;
}

}  // namespace
}  // namespace regduel::passes
