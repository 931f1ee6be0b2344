#include "fuzz/triage/plainer.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/case_file.h"
#include "generate/program_facts.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The forms of a case as text, each of them well-formed and as defined as the case.
std::vector<std::string> forms_of(const std::string& body, const std::string& head = "", const std::string& kind = "kernel") {
  const auto c = duel::parse_case(head + "rir 1\nfunc @f " + kind + " target sm_90 threads 32\n" + body);
  if (!c) {
    ADD_FAILURE() << to_string(c.error());
    return {};
  }
  const bool is_defined = generate::undefined_reads(c->program, 1).empty();
  std::vector<std::string> texts;
  for (const duel::Case& form : plainer_forms(*c)) {
    EXPECT_TRUE(ir::check(form.program, *form.target, 1).empty());
    EXPECT_TRUE(!is_defined || generate::undefined_reads(form.program, 1).empty());
    texts.push_back(duel::print_case(form));
  }
  EXPECT_EQ(plainer_forms(*c).size(), texts.size());
  return texts;
}

const std::string kTwo = "  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n";

TEST(PlainerForms, ADefForAClobber) {
  EXPECT_THAT(forms_of(kTwo + "    #0 %0 = op\n    #1 op clobbers R0:R23\n    #2 op %0\n    #3 exit\n"),
              Contains(HasSubstr("    #0 %0 = op\n    #1 %1 = op\n    #2 op %0\n    #3 exit\n")));
}

TEST(PlainerForms, EitherOfTwoDefsInAnInstructionOfItsOwn) {
  const auto forms = forms_of(kTwo + "    #0 %0, %1 = op\n    #1 op %1\n    #2 exit\n");
  EXPECT_THAT(forms, Contains(HasSubstr("    #0 %0 = op\n    #1 %1 = op\n    #2 op %1\n")));
  EXPECT_THAT(forms, Contains(HasSubstr("    #0 %0 = op\n    #1 %1 = op\n    #2 op %0\n"))) << "numbered anew";
}

TEST(PlainerForms, TheWholeForAPart) {
  const auto forms = forms_of(
      "  vreg %0 R b64\n  vreg %1 R b32 alias %0.lo\n  block b0\n    #0 %0 = op\n    #1 %1 = op\n    #2 op %0.hi\n    #3 exit\n");
  EXPECT_THAT(forms, Contains(HasSubstr("  vreg %0 R b64\n  block b0\n    #0 %0 = op\n    #1 %0 = op\n    #2 op %0\n")));
}

TEST(PlainerForms, ACopyForATie) {
  EXPECT_THAT(forms_of(kTwo + "    #0 %0 = op\n    #1 %1{tied 1} = op %0\n    #2 op %1\n    #3 exit\n"),
              Contains(HasSubstr("    #1 %1 = copy %0\n    #2 op %1\n")));
}

TEST(PlainerForms, AUseAndAnExitForARet) {
  const auto forms = forms_of("  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 ret %0\n", "", "device");
  EXPECT_THAT(forms, Contains(testing::AllOf(HasSubstr("kernel"), HasSubstr("    #1 op %0\n    #2 exit\n"))));
}

TEST(PlainerForms, TwoTurnsForALoop) {
  EXPECT_THAT(forms_of(kTwo + "    #0 %0 = op\n    #1 bra -> b1\n  block b1\n    #2 op %0\n    #3 %1 = op\n    #4 bra -> b1\n"),
              Contains(HasSubstr("    #0 %0 = op\n    #1 op %0\n    #2 %1 = op\n    #3 op %0\n    #4 %1 = op\n    #5 exit\n")));
  // The phi of the second turn reads what the first one has made.
  EXPECT_THAT(forms_of(kTwo + "    #0 %0 = op\n    #1 bra -> b1\n  block b1\n    #2 %1 = phi b0: %0, b1: %1\n    #3 op %1\n"
                              "    #4 bra -> b1\n"),
              Contains(HasSubstr("    #1 %1 = copy %0\n    #2 op %1\n    #3 %1 = copy %1\n    #4 op %1\n    #5 exit\n")));
}

TEST(PlainerForms, ADefMoreForALowerLimit) {
  const std::string body = "  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 op %0\n    #2 exit\n";
  const auto forms = forms_of(body, "// limit: R=1\n");
  EXPECT_THAT(forms, Contains(testing::AllOf(HasSubstr("R=255"), HasSubstr("    #0 %0 = op\n    #1 %1 = op\n    #2 op %0\n"))));
  EXPECT_THAT(forms, Contains(testing::AllOf(HasSubstr("R=255"), HasSubstr("    #1 op %0\n    #2 %1 = op\n    #3 exit\n"))));
  EXPECT_THAT(forms_of(body), Not(Contains(HasSubstr("%1"))));
}

}  // namespace
}  // namespace regduel::fuzz
