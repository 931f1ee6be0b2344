// Golden text: each file of passes/testdata/ is a program, and below the mark what copyprop makes of it.

#include "passes/copyprop.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "passes/passes.h"
#include "passes/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kMark = "\n// copyprop\n", kFolder = "passes/testdata";

std::vector<std::string> files() { return testing::files_of(kFolder); }

// The file above the mark.
std::string head_of(const std::string& file) { return testing::head_of(file, kMark); }
ir::Function program_of(const std::string& file) { return testing::parsed(head_of(file) + "\n", file); }

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
