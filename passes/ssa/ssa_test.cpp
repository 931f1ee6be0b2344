// Golden text: each file of passes/ssa/testdata/ is a program, and below the mark what ssa makes of it.

#include "passes/ssa/ssa.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/check.h"
#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "passes/testing.h"

namespace regduel::passes {
namespace {

constexpr std::string_view kMark = "\n// in SSA form\n", kFolder = "passes/ssa/testdata";

std::vector<std::string> files(std::string_view folder) { return testing::files_of(folder); }
std::string head_of(const std::string& file) { return testing::head_of(file, kMark); }
ir::Function program_of(const std::string& file) { return testing::parsed(head_of(file) + "\n", file); }
ir::Function in_ssa(const ir::Function& f, ir::Fuel* fuel = nullptr) { return *ssa().run(f, ir::default_target(), {.fuel = fuel}); }

TEST(Ssa, Golden) {
  ASSERT_FALSE(files(kFolder).empty());
  for (const std::string& file : files(kFolder)) {
    const ir::Function after = in_ssa(program_of(file));
    EXPECT_TRUE(ir::check(after, 1).empty()) << file;
    std::string head = head_of(file);
    while (head.ends_with('\n')) head.pop_back();
    expect_golden(file, head + "\n" + std::string(kMark) + ir::print(after));
  }
}

TEST(Ssa, WithoutFuelTheProgramStaysAsItIs) {
  for (const std::string& file : files(kFolder)) {
    const ir::Function f = program_of(file);
    ir::Fuel none{.limit = 0};
    EXPECT_EQ(ir::print(in_ssa(f, &none)), ir::print(f)) << file;
  }
}

TEST(Ssa, IsDoneOnce) {
  for (const std::string& file : files(kFolder)) {
    const ir::Function after = in_ssa(program_of(file));
    EXPECT_EQ(ir::print(in_ssa(after)), ir::print(after)) << file;
  }
}

TEST(Ssa, HasNoKnob) {
  const std::vector<std::pair<std::string, std::string>> knobs = {{"ssa-nothing", "1"}};
  EXPECT_EQ(ssa().run(program_of("passes/ssa/testdata/loop.rir"), ir::default_target(), {.knobs = knobs}).error(),
            "ssa has no knob \"ssa-nothing\" (regduel knobs --with ssa)");
}

// A def that is neither under a guard nor of a part is the only one of its vreg.
TEST(Ssa, EachVregOfAKernelIsDefinedOnce) {
  std::size_t phis = 0, functions = 0;
  for (const std::string& file : files("corpus/ptx")) {
    if (!file.ends_with(".ptx")) continue;
    const auto module = ir::parse_ptx(read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + file).value(), file);
    ASSERT_TRUE(module.has_value());
    for (const ir::Function& f : module->functions) {
      const ir::Function after = in_ssa(f);
      ASSERT_TRUE(ir::check(after, 1).empty()) << f.name;
      std::map<std::uint32_t, int> defs;
      for (const ir::Inst& i : after.insts) {
        const auto ops = after.operands_of(i);
        phis += i.is_phi() ? 1 : 0;
        for (const ir::Operand& op : ir::defs_of(ops))
          if (op.role == ir::Role::Def && !ir::is_guarded(ops) && op.part.is_whole()) ++defs[op.vreg().value];
      }
      for (const auto& [vreg, count] : defs) EXPECT_EQ(count, 1) << f.name << " %" << vreg;
      ++functions;
    }
  }
  EXPECT_GE(functions, 40u);
  EXPECT_GE(phis, 100u);
}

}  // namespace
}  // namespace regduel::passes
