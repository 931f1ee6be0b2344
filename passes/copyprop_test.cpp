// Golden text: each file of passes/testdata/ is a program, and below the mark what copyprop makes of it.

#include "passes/copyprop.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "base/golden.h"
#include "base/io.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kMark = "\n// copyprop\n", kFolder = "passes/testdata";

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/" + std::string(kFolder)))
    names.push_back(std::string(kFolder) + "/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The file above the mark.
std::string head_of(const std::string& file) {
  const std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + file).value();
  return text.substr(0, text.find(kMark));
}
ir::Function program_of(const std::string& file) {
  const auto module = ir::parse(head_of(file) + "\n", file);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

TEST(CopyProp, Golden) {
  ASSERT_FALSE(files().empty());
  for (const std::string& file : files()) {
    const ir::Function after = *copyprop().run(program_of(file), ir::default_target(), {});
    EXPECT_TRUE(ir::check(after, 1).empty()) << file;
    std::string head = head_of(file);
    while (head.ends_with('\n')) head.pop_back();
    expect_golden(file, head + "\n" + std::string(kMark) + ir::print(after));
  }
}

TEST(CopyProp, WithoutFuelTheProgramStaysAsItIs) {
  for (const std::string& file : files()) {
    const ir::Function f = program_of(file);
    ir::Fuel none{.limit = 0};
    EXPECT_EQ(ir::print(*copyprop().run(f, ir::default_target(), {.fuel = &none})), ir::print(f)) << file;
  }
}

TEST(CopyProp, EachDecisionIsOneUnitOfFuel) {
  const ir::Function f = program_of("passes/testdata/chains.rir");
  const std::string all = ir::print(*copyprop().run(f, ir::default_target(), {}));
  ir::Fuel enough;
  EXPECT_EQ(ir::print(*copyprop().run(f, ir::default_target(), {.fuel = &enough})), all);
  ir::Fuel less{.limit = enough.spent - 1};
  EXPECT_NE(ir::print(*copyprop().run(f, ir::default_target(), {.fuel = &less})), all);
  EXPECT_EQ(less.refused, "leave-out-dead-copy");
}

TEST(Passes, AreFoundByName) {
  EXPECT_EQ(find_pass("copyprop"), &copyprop());
  EXPECT_EQ(find_pass("copypro"), nullptr);
  for (const Pass* p : passes()) EXPECT_EQ(p->name().find('+'), std::string_view::npos);
}

}  // namespace
}  // namespace regduel::passes
