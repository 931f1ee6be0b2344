#include "cli/show/parse_errors.h"

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::cli {
namespace {

std::string errors_of(const std::string& text) {
  const auto parse = [](const std::string& t) -> std::optional<SourceError> {
    auto module = ir::parse(t, "a.rir");
    return module ? std::nullopt : std::optional(module.error());
  };
  const auto first = parse(text);
  return first ? all_parse_errors(*first, text, parse) : "";
}

TEST(ParseErrors, ShowTheLineAndTheColumn) {
  EXPECT_EQ(with_line({"a.rir", 2, 3, "no"}, "one\n\ttwo\nthree\n"), "a.rir:2:3: error: no\n    2 | \ttwo\n      | \t ^");
  EXPECT_EQ(with_line({"a.rir", 9, 1, "no"}, "one\n"), "a.rir:9:1: error: no\n    9 | \n      | ^");
  EXPECT_EQ(with_line({"a.rir", 0, 0, "no"}, "one\n"), "a.rir: error: no");
}

TEST(ParseErrors, AreSaidTogether) {
  const std::string said = errors_of(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = op %
    #1 %1 = op %
    #2 exit
)");
  EXPECT_THAT(said, testing::HasSubstr("a.rir:6:"));
  EXPECT_THAT(said, testing::HasSubstr("a.rir:7:"));
}

// What follows from an error is not said: %0 is gone with its line.
TEST(ParseErrors, AreNoConsequences) {
  const std::string said = errors_of(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 Q b32
  block b0
    #0 %0 = op
    #1 exit
)");
  EXPECT_THAT(said, testing::StartsWith("a.rir:3:11: error: "));
  EXPECT_EQ(said.find(": error: "), said.rfind(": error: ")) << said;
}

TEST(ParseErrors, AreAtMostTen) {
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n";
  for (int k = 0; k < 30; ++k) text += "    nonsense\n";
  const std::string said = errors_of(text + "    #0 exit\n");
  std::size_t errors = 0;
  for (std::size_t at = 0; (at = said.find(": error: ", at)) != std::string::npos; ++at) ++errors;
  EXPECT_EQ(errors, std::size_t{kMostParseErrors});
  EXPECT_THAT(said, testing::EndsWith("(there are more errors)"));
}

}  // namespace
}  // namespace regduel::cli
