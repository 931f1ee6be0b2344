// Programs with one oddity each, and without.
#include "oracles/lint/lint.h"

#include <fmt/format.h>

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LintTest : public ::testing::Test {
 protected:
  // "category@instruction" of each finding.
  std::vector<std::string> found(const std::string& body, int registers = 255) {
    const ir::Function f = testing::parse_function("func @f kernel target sm_90 threads 32\n" + body);
    if (f.blocks.empty()) return {"no program"};
    std::vector<std::string> list;
    findings = lint(Before(f, *ir::find_target("sm_90")), testing::limits_of(f, registers));
    for (const Finding& finding : findings) list.push_back(fmt::format("{}@{}", finding.category, finding.inst.value));
    return list;
  }
  std::vector<Finding> findings;
};

TEST_F(LintTest, AProgramThatWritesWhatItReads) {
  EXPECT_THAT(found(R"(
  vreg %0 R b64
  vreg %1 P pred
  block b0
    #0 %0.lo = a
    #1 %0.hi = b
    #2 %1 = setp
    #3 @%1 %0.lo = c
    #4 st %0 !write
    #5 exit
)"),
              IsEmpty());
}

TEST_F(LintTest, APartThatIsWrittenOnNoPath) {
  const std::string body = R"(
  vreg %0 R b64
  vreg %1 R b64
  block b0
    #0 %0.lo = a
    #1 st %0.lo !write
    #2 st %0 !write
    #3 st %0.hi !write
    #4 %1 = copy %0
    #5 st %1 !write
    #6 exit
)";
  ASSERT_THAT(found(body), ElementsAre("undefined-read@2", "undefined-read@3", "undefined-read@5"));
  EXPECT_THAT(findings[0].message, HasSubstr("no path to here gives bytes 4 to 7 of %0 a value"));
  EXPECT_EQ(findings[0].operand, 0);
  EXPECT_THAT(findings[1].message, HasSubstr("no path to here gives %0.hi a value"));
  EXPECT_THAT(findings[2].message, HasSubstr("bytes 4 to 7 of %1"));
  EXPECT_THAT(found(testing::edit(body, "#1 st %0.lo !write", "#1 %0.hi = b")), IsEmpty());
  ASSERT_THAT(found(testing::edit(testing::edit(body, "#0 %0.lo = a", "#0 %0.hi = a"), "    #1 st %0.lo !write\n", "")),
              ElementsAre("undefined-read@2", "undefined-read@5"));
  EXPECT_THAT(findings[0].message, HasSubstr("bytes 0 to 3 of %0"));
}

// How an instruction reads a register is no part of its name.
TEST_F(LintTest, ARegisterIsNamedWithoutItsAttributes) {
  ASSERT_THAT(found(R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 @!%1 a
    #1 st %0{=R4}, !%1 !write
    #2 exit
)"),
              ElementsAre("undefined-guard@0", "undefined-read@1", "undefined-read@1"));
  EXPECT_THAT(findings[0].message, HasSubstr("the guard %1 a value"));
  EXPECT_THAT(findings[1].message, HasSubstr("gives %0 a value"));
  EXPECT_THAT(findings[2].message, HasSubstr("gives %1 a value"));
}

// What one path writes is no oddity, and so is what comes around a loop.
TEST_F(LintTest, SomePathIsEnough) {
  const std::string body = R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = setp
    #1 cbra %1 -> b1, b2
  block b1
    #2 %0 = a
    #3 bra -> b2
  block b2
    #4 st %0 !write
    #5 cbra %1 -> b2, b3
  block b3
    #6 exit
)";
  EXPECT_THAT(found(body), IsEmpty());
  EXPECT_THAT(found(testing::edit(body, "%0 = a", "a")), ElementsAre("undefined-read@4"));
}

TEST_F(LintTest, APhiOfNothingIsReportedWhereItIsRead) {
  EXPECT_THAT(found(R"(
  vreg %0 R b32
  block b0
    #0 bra -> b1
  block b1
    #1 %0 = phi b0: %0
    #2 st %0 !write
    #3 exit
)"),
              ElementsAre("undefined-read@2"));
}

TEST_F(LintTest, AGuardThatIsNeverDefined) {
  const std::string body = R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %0 = a
    #1 @%1 %0 = b
    #2 st %0 !write
    #3 exit
)";
  ASSERT_THAT(found(body), ElementsAre("undefined-guard@1"));
  EXPECT_THAT(findings[0].message, HasSubstr("the guard %1"));
  EXPECT_EQ(findings[0].operand, 1);
  EXPECT_THAT(found(testing::edit(body, "#0 %0 = a", "#0 %0, %1 = a")), IsEmpty());
}

TEST_F(LintTest, CodeThatNoPathLeadsTo) {
  const std::string body = R"(
  vreg %0 R b32
  vreg %1 R b256
  block b0
    #0 bra -> b2
  block b1
    #1 st %0, %1 !write
    #2 bra -> b1
  block b2
    #3 exit
)";
  ASSERT_THAT(found(body, 4), ElementsAre("unreachable-code@1")) << "and what is wrong there does not matter";
  EXPECT_THAT(findings[0].message, HasSubstr("b1"));
}

// Both defs need a register of their own for the value of %0, and six more predicates are read.
TEST_F(LintTest, TiesThatCannotHold) {
  std::string body;
  for (int k = 0; k < 9; ++k) body += fmt::format("  vreg %{} P pred\n", k);
  body += "  block b0\n";
  for (int k = 0; k < 7; ++k) body += fmt::format("    #{} %{} = setp\n", k, k);
  body += "    #7 %7{tied 2}, %8{tied 3} = op %0, %0, %1, %2, %3, %4, %5, %6\n    #8 exit\n";
  ASSERT_THAT(found(body), ElementsAre("impossible-tie@7"));
  EXPECT_THAT(findings[0].message, HasSubstr("no register can be that of both %7 and %0"));
  EXPECT_EQ(findings[0].operand, 0);
  EXPECT_THAT(found(testing::edit(body, "%5, %6\n", "%5\n")), IsEmpty());
}

TEST_F(LintTest, DemandAboveTheLimitOfAPoint) {
  const std::string body = R"(
  vreg %0 R b256
  vreg %1 R b256
  block b0
    #0 %0, %1 = a
    #1 setmaxnreg.dec.sync.aligned.u32 8 clobbers R8:R254
    #2 %0, %1 = a
    #3 exit
)";
  ASSERT_THAT(found(body, 16), ElementsAre("demand-above-limit@2"));
  EXPECT_THAT(findings[0].message, testing::HasSubstr("needs 16 units of file R at once"));
  EXPECT_THAT(findings[0].message, testing::HasSubstr("the limit is 8"));
}

TEST_F(LintTest, DemandAboveTheLimitSaysWhichLimitWouldDo) {
  const std::string body = R"(
  vreg %0 R b128
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %2 = setp
    #3 st %0, %1, %2 !write
    #4 exit
)";
  ASSERT_THAT(found(body, 4), ElementsAre("demand-above-limit@3"));
  EXPECT_THAT(findings[0].message, HasSubstr("needs 5 units of file R at once, and the limit is 4: --regs 5 would do"));
  EXPECT_THAT(found(body, 5), IsEmpty());
  const ir::Function f = testing::parse_function("func @f kernel target sm_90 threads 32\n" + body);
  ir::Limits limits = testing::limits_of(f, 255);
  limits.units[ir::index(ir::RegFile::P)] = 0;
  const auto list = lint(Before(f, *ir::find_target("sm_90")), limits);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_THAT(list[0].message, HasSubstr("needs 1 unit of file P at once, and the limit is 0: --limit P=1 would do"));
}

TEST_F(LintTest, WhatTheTargetCannotHold) {
  std::string body, uses;
  for (int k = 0; k < 8; ++k) body += fmt::format("  vreg %{} P pred\n", k);
  body += "  block b0\n";
  for (int k = 0; k < 8; ++k)
    body += fmt::format("    #{} %{} = setp\n", k, k), uses += fmt::format("{}%{}", k == 0 ? "" : ", ", k);
  ASSERT_THAT(found(body + "    #8 st " + uses + " !write\n    #9 exit\n"), ElementsAre("demand-above-file@8"));
  EXPECT_THAT(findings[0].message, HasSubstr("the 7 units of file P"));
}

}  // namespace
}  // namespace regduel::oracles
