// Pairs of a pass that dropped a constraint, each with the category that it must give.

#include "oracles/pair/constraints.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ::testing::ElementsAre;

const std::string kBefore = R"(
func @f device target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32 align 2
  vreg %2 R b32
  vreg %3 R b64
  vreg %4 R b64 align 1
  block b0
    #0 %0, %1, %2, %3, %4 = a
    #1 %0{early} = b %2
    #2 %2{tied 1} = c %0
    #3 %2{=R7} = d %1
    #4 use %0, %0, %0 !write
    #5 %1 = copy %0 clobbers R24
    #6 use %1, %2, %3, %4 !write
    #7 ret
)";

std::vector<std::string> found(const std::string& from, const std::string& to) {
  const ir::Function before = testing::parse_function(kBefore),
                     after = testing::parse_function(from.empty() ? kBefore : testing::edit(kBefore, from, to));
  return testing::categories(judge_constraints(before, after, *ir::find_target("sm_90")));
}

TEST(Constraints, ThoseOfOperandsStay) {
  EXPECT_THAT(found("", ""), ElementsAre());
  EXPECT_THAT(found("{early}", ""), ElementsAre("operand-constraint"));
  EXPECT_THAT(found("{tied 1}", ""), ElementsAre("operand-constraint"));
  EXPECT_THAT(found("{=R7}", ""), ElementsAre("operand-constraint"));
  EXPECT_THAT(found("{=R7}", "{=R8}"), ElementsAre("operand-constraint"));
}

TEST(Constraints, DeclarationsStay) {
  EXPECT_THAT(found("%1 R b32 align 2", "%1 R b32"), ElementsAre("operand-constraint", "vreg-declaration"));
  EXPECT_THAT(found("vreg %3 R b64", "vreg %3 R b64 uniform"), ElementsAre("vreg-declaration"));
  EXPECT_THAT(found("vreg %3 R b64", "vreg %3 R b64 name \"x\" hint %0"), ElementsAre());
  EXPECT_THAT(found("  block b0", "  vreg %5 R b32\n  block b0"), ElementsAre());
}

TEST(Constraints, NoDeclarationGoes) {
  const std::string text = "func @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 exit\n";
  const ir::Function before = testing::parse_function(text),
                     after = testing::parse_function(testing::edit(text, "  vreg %0 R b32\n", ""));
  EXPECT_THAT(testing::categories(judge_constraints(before, after, *ir::find_target("sm_90"))), ElementsAre("vreg-declaration"));
}

// Another vreg may take the place of one, but not a less aligned one.
TEST(Constraints, AnotherVregIsAsMuchAligned) {
  EXPECT_THAT(found("= d %1", "= d %0"), ElementsAre("operand-constraint"));
  EXPECT_THAT(found("= b %2", "= b %1"), ElementsAre());
  EXPECT_THAT(found("%2, %3, %4 !write", "%2, %4, %4 !write"), ElementsAre("operand-constraint"));
  EXPECT_THAT(found("%2, %3, %4 !write", "%2, %3, %3 !write"), ElementsAre());
}

// Both take one unit.
TEST(Constraints, AnotherVregHasTheSameWidth) {
  const std::string text =
      "func @f kernel target sm_90 threads 32\n  vreg %0 R b16\n  vreg %1 R b32\n  vreg %2 R f32\n  block b0\n"
      "    #0 %0, %1, %2 = a\n    #1 use %1 !write\n    #2 exit\n";
  const ir::Function before = testing::parse_function(text);
  const auto with = [&](const std::string& vreg) {
    const ir::Function after = testing::parse_function(testing::edit(text, "use %1", "use " + vreg));
    return testing::categories(judge_constraints(before, after, *ir::find_target("sm_90")));
  };
  EXPECT_THAT(with("%0"), ElementsAre("operand-constraint"));
  EXPECT_THAT(with("%2"), ElementsAre());
}

TEST(Constraints, AnotherVregHasTheSameClass) {
  const std::string text =
      "func @f kernel target sm_90 threads 32\n  vreg %0 UR b32\n  vreg %1 R b32\n  block b0\n"
      "    #0 %0, %1 = a\n    #1 use %1 !write\n    #2 exit\n";
  const auto found_in = [&](const std::string& now) {
    return testing::categories(judge_constraints(
        testing::parse_function(text), testing::parse_function(testing::edit(text, "use %1", now)), *ir::find_target("sm_90")));
  };
  EXPECT_THAT(found_in("use %0"), ::testing::Contains("operand-constraint"));
}

TEST(Constraints, NoInstructionDemandsMore) {
  EXPECT_THAT(found("use %0, %0, %0", "use %0, %2, %0"), ElementsAre("operand-demand"));
}

TEST(Constraints, RegistersStayGivenUp) {
  EXPECT_THAT(found("    #5 %1 = copy %0 clobbers R24\n", ""), ElementsAre("given-up-register"));
}

}  // namespace
}  // namespace regduel::oracles
