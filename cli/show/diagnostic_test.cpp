// Findings as text: the mark stands under the operand, whatever else is in the line; the golden text of a whole one.
#include "cli/show/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kBefore = R"(rir 1
// A comment, and a function before.
func @f kernel target sm_90 threads 32
  block b0
    #0 exit
func @g kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = ld "R1, %1" !read       // R1 %1
    #1 %1{=R1}, %2 = op %0
    #2 @%2 %0 = op %1, %0
    #3 exit
)";
const std::string kAfter = R"(rir 1
func @f kernel target sm_90 threads 32 allocated
  block b0
    #0 exit
func @g kernel target sm_90 threads 32 allocated
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 R0 = ld "R1, %1" !read
    #1 R1, P0 = op R0
    #2 @P0 R0 = op R1, R0
    #3 exit
)";

Program program(const std::string& text, const std::string& file, bool with_text = true) {
  const auto parsed = ir::parse(text, file);
  EXPECT_TRUE(parsed.has_value());
  return {file, parsed->functions.at(1), with_text ? std::make_shared<const std::string>(text) : nullptr};
}

std::string under(const Program& p, std::uint32_t inst, int operand) {
  const Listing listing(p);
  const Listing::Mark m = listing.mark(ir::InstId(inst), operand);
  const std::string excerpt = listing.excerpt(m, 0, false);
  const std::size_t newline = excerpt.find('\n'), at = excerpt.find('^', newline);
  return excerpt.substr(at - newline - 1, excerpt.find('\n', at) - at);
}

TEST(Diagnostic, TheMarkStandsUnderTheOperand) {
  const Program after = program(kAfter, "a.rir"), before = program(kBefore, "b.rir");
  EXPECT_EQ(under(after, 2, 0), "R0");
  EXPECT_EQ(Listing(after).mark(ir::InstId(2u), 0).column, 12);
  EXPECT_EQ(Listing(after).mark(ir::InstId(2u), 1).column, 20);
  EXPECT_EQ(Listing(after).mark(ir::InstId(2u), 2).column, 24);  // the second R0
  EXPECT_EQ(Listing(after).mark(ir::InstId(2u), 3).column, 9);   // the guard
  EXPECT_EQ(under(after, 2, 3), "P0");
  EXPECT_EQ(under(after, 0, 1), "#0");  // a string has no register
  EXPECT_EQ(under(before, 1, 0), "%1");
  EXPECT_EQ(under(before, 1, 1), "%2");
  EXPECT_EQ(Listing(before).mark(ir::InstId(1u), 1).column, 17);  // behind {=R1}
  EXPECT_EQ(Listing(before).mark(ir::InstId(2u), 9).column, 5);   // no such operand
  EXPECT_EQ(Listing(before).mark(ir::InstId(77u), 0).line, 6);    // no such instruction: the function
  EXPECT_EQ(Listing(before).mark({}, -1).line, 6);
}

oracles::Finding finding() {
  oracles::Finding f;
  f.judge = "execution";
  f.category = "execution-wrong-value";
  f.inst = ir::InstId(2u);
  f.operand = 2;
  f.other = ir::InstId(0u);
  f.message = "not what it was";
  return f;
}

TEST(Diagnostic, BothSidesAndBothSites) {
  const Program before = program(kBefore, "b.rir"), after = program(kAfter, "a.rir");
  EXPECT_EQ(diagnose(finding(), Listing(before), Listing(after), "g", false),
            R"(a.rir:12:24: error: @g: #2, operand 2: not what it was [execution/execution-wrong-value]
     9 |   block b0
    10 |     #0 R0 = ld "R1, %1" !read
    11 |     #1 R1, P0 = op R0
    12 |     #2 @P0 R0 = op R1, R0
       |                        ^~
b.rir:13:24: note: before allocation
    13 |     #2 @%2 %0 = op %1, %0
       |                        ^~
a.rir:10:5: note: see also
    10 |     #0 R0 = ld "R1, %1" !read
       |     ^~
)");
}

TEST(Diagnostic, WithoutTextThereAreNoLineNumbers) {
  const Program before = program(kBefore, "b.rir", false), after = program(kAfter, "a.rir", false);
  const std::string text = diagnose(finding(), Listing(before), Listing(after), "g", false);
  EXPECT_THAT(text, testing::StartsWith("a.rir: error: @g: #2, operand 2: not what it was"));
  EXPECT_THAT(text, HasSubstr("       |     #2 @P0 R0 = op R1, R0\n       |                        ^~\n"));
}

// What is gone after allocation shows where it was before.
TEST(Diagnostic, AMissingInstructionShowsBefore) {
  std::string cut = kAfter;
  cut.erase(cut.find("    #1 R1"), cut.find("    #2 @P0") - cut.find("    #1 R1"));
  const Program before = program(kBefore, "b.rir"), after = program(cut, "a.rir");
  oracles::Finding f = finding();
  f.inst = ir::InstId(1u);
  f.operand = -1;
  f.other = {};
  EXPECT_EQ(diagnose(f, Listing(before), Listing(after), "g", false),
            R"(a.rir:5:1: error: @g: #1: not what it was [execution/execution-wrong-value]
b.rir:12:5: note: before allocation
    12 |     #1 %1{=R1}, %2 = op %0
       |     ^~
)");
}

TEST(Diagnostic, ColoursOnlyWhereTheyAreWanted) {
  const Program before = program(kBefore, "b.rir"), after = program(kAfter, "a.rir");
  EXPECT_THAT(diagnose(finding(), Listing(before), Listing(after), "g", true), HasSubstr("\033[1;31merror:\033[0m"));
  EXPECT_THAT(diagnose(finding(), Listing(before), Listing(after), "g", false), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace regduel::cli
