// The report of memcheck, its knobs, and what it says of pairs that it cannot compare.

#include <filesystem>
#include <set>
#include <string>

#include "base/testing.h"
#include "ir/check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

TEST(MemcheckTest, PrintsTheReportOfTheSource) {
  Pair p = two_spilled();
  p.after = edit(p.after, "R1 = refill slot 0", "R1 = refill slot 1");
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  EXPECT_EQ(print_memcheck(c), "Please use -knob DUMPIR=AllocateRegisters for debugging\nTOTAL MISMATCH 1   MISMATCH ON OLD 0\n");
  const std::string banner(110, '=');
  EXPECT_EQ(print_memcheck(c, {.dump_ir = true}), banner + "\nINSTRUCTION: [3]\n" + banner + R"(

Operand # 0
Producers for operand 0 of instruction [3] before register allocation:
  [0] def opr # 0 for src opr # 0

Producers for operand # 0 of instruction [3] after register allocation:
  [12] def opr # 0 for src opr # 0

Additions
  [12] def opr # 0 src opr # 0  POTENTIAL PROBLEM

Removals
  [0] def opr # 0 src opr # 0  POTENTIAL PROBLEM

Failed to find matching spill for refilling load that is involved in this operand computation
 spill-regill bug 

TOTAL MISMATCH 1   MISMATCH ON OLD 0
)");
}

// Each file of oracles/memcheck/golden/ holds a program, an allocation of it, and as comments the report: one for each category at
// least, each with a mistake that an allocator makes.
TEST(MemcheckTest, GoldenReports) {
  constexpr std::string_view kMark = "// -knob DUMPIR=AllocateRegisters\n";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/oracles/memcheck/golden"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string path = "oracles/memcheck/golden/" + name + ".rir";
    std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + path).value_or("");
    if (const std::size_t mark = text.find(kMark); mark != std::string::npos) text.resize(mark);
    const auto module = ir::parse(text, path);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    ASSERT_EQ(module->functions.size(), 2u);
    const ir::Function &b = module->functions[0], &a = module->functions[1];
    const ir::Target& target = *ir::find_target("sm_90");
    EXPECT_TRUE(ir::check(b, target, 1).empty());
    EXPECT_TRUE(ir::check(a, target, 1).empty());
    const Case c{b, a, target, testing::limits_of(b, 255)};
    const std::string report = print_memcheck(c, {.dump_ir = true});
    std::string commented(kMark);
    for (std::size_t at = 0; at < report.size();) {
      const std::size_t end = report.find('\n', at);
      commented += end == at ? "//\n" : "// " + report.substr(at, end + 1 - at);
      at = end + 1;
    }
    expect_golden(path, text + commented);
    // The name says which category it is about, and there is no other.
    const std::vector<std::string> found = categories(memcheck_judge().judge(c));
    for (const std::string& category : found) EXPECT_TRUE(name.starts_with(category)) << category;
    EXPECT_EQ(found.size(), name == "memcheck-old" ? 0u : 1u);
    seen.insert(name);
  }
  for (int code = 1; code <= 10; ++code) EXPECT_TRUE(seen.contains(std::string(slug(static_cast<MemcheckCode>(code))))) << code;
  EXPECT_TRUE(seen.contains("memcheck-old"));
}

TEST(MemcheckTest, CountsOldMismatchesBesideNewOnes) {
  // An instruction counts as old only where all its mismatches are.
  const Pair p = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R0 = b
    #2 use %2, %0 !write | use R0, R0 !write
    #3 use %2 !write     | use R0 !write
    #4 use %0 !write     | use R0 !write
    #5 exit
)")};
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  // Two operands differ in #2, but the suggestion stands there once.
  EXPECT_EQ(print_memcheck(c), "Please use -knob DUMPIR=AllocateRegisters for debugging\nTOTAL MISMATCH 3   MISMATCH ON OLD 1\n");
}

TEST(MemcheckTest, KnobsByName) {
  MemcheckOptions o;
  EXPECT_TRUE(set_knob(o, "DUMPIR", "AllocateRegisters").has_value());
  EXPECT_TRUE(o.dump_ir);
  EXPECT_EQ(set_knob(o, "DUMPIR", "Scheduling").error(), "knob DUMPIR: expected AllocateRegisters, found \"Scheduling\"");
  EXPECT_FALSE(set_knob(o, "DUMPIR", std::nullopt).has_value());
  EXPECT_TRUE(set_knob(o, "IgnorePotentialMixedSizeProblems", std::nullopt).has_value());
  EXPECT_TRUE(o.ignore_potential_mixed_size_problems);
  EXPECT_TRUE(set_knob(o, "memcheck", "0").has_value());
  EXPECT_FALSE(o.is_on);
  EXPECT_EQ(set_knob(o, "memcheck", "maybe").error(), "knob memcheck: expected bool, found \"maybe\"");
  EXPECT_EQ(set_knob(o, "dumpir", "AllocateRegisters").error(), "memcheck has no knob \"dumpir\" (regduel knobs --with memcheck)");
  EXPECT_EQ(memcheck_knobs().size(), 3u);
}

TEST(MemcheckTest, IsNotRunWhereItsKnobIsOff) {
  Pair p = two_spilled();
  p.after = edit(p.after, "R1 = refill slot 0", "R1 = refill slot 1");
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  const JudgeResult r = judge_memcheck(c, {.is_on = false});
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_EQ(r.reason, kSwitchedOff);
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true, .is_on = false}), ::testing::Not(HasSubstr("MISMATCH")));
  EXPECT_EQ(judge_memcheck(c, {}).verdict, Verdict::Fail);
}

TEST(MemcheckTest, HintsAtMixedSizes) {
  const Pair p = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 R b16 alias %1.h0
  block b0
    #0 %0 = a            | R0 = a
    #1 %2 = b            | R0.h0 = b
    #2 use %2, %0 !write | use R0.h0, R0 !write
    #3 exit
)")};
  expect_category(p, kExtra);
  const ir::Function b = parse_function(p.before_text()), a = parse_function(p.after_text());
  const Case c{b, a, *ir::find_target("sm_90"), testing::limits_of(b, 255)};
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true}), HasSubstr("-knob IgnorePotentialMixedSizeProblems"));
  EXPECT_THAT(print_memcheck(c, {.dump_ir = true, .ignore_potential_mixed_size_problems = true}),
              ::testing::Not(HasSubstr("IgnorePotential")));
}

TEST(MemcheckTest, SaysSkippedWhereNothingCanBeAligned) {
  const Pair p = {kThreeR, R"(
  block b0
    #0 %0 = a
    #1 exit
)",
                  R"(
  block b0
    #7 R0 = a
    #8 exit
)"};
  const JudgeResult r = judge(p);
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_FALSE(r.reason.empty());
}

TEST(MemcheckTest, SaysWhichOperandHasNoRegister) {
  const JudgeResult r = judge({kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a | R0 = a
    #1 use %0 !write
    #2 exit
)")});
  EXPECT_EQ(r.verdict, Verdict::Skipped);
  EXPECT_EQ(r.reason, "#1: %0 has no register");
}

TEST(MemcheckTest, ToleratesStructureFaults) {
  Pair p = two_spilled();
  p.after = edit(p.after, "    #2 R0 = c\n", "");
  p.after = edit(p.after, "use R1, R2, R0", "use R1, 7");
  EXPECT_NE(judge(p).verdict, Verdict::Skipped);
}

}  // namespace
}  // namespace regduel::oracles
