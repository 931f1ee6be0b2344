// Claims as text.
#include "cli/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "registers=1 predicates=2" for each function of the file.
std::vector<std::string> lists(const std::string& text) {
  const auto lines = claim_lines(text, "f.rir");
  if (!lines) return {to_string(lines.error())};
  std::vector<std::string> all;
  for (const std::vector<Claim>& claims : *lines) {
    std::string& list = all.emplace_back();
    for (const Claim& c : claims) list += fmt::format("{}{}={}", list.empty() ? "" : " ", c.key, c.value);
  }
  return all;
}

TEST(Claims, AreFiguresByName) {
  oracles::Measures m;
  m.registers[ir::index(ir::RegFile::R)] = 7;
  m.spill_store_bytes = 8;
  m.spill_load_bytes = 12;
  std::vector<Claim> list;
  ASSERT_TRUE(add_claims(list, "uniform_registers=3,spill_store_bytes=96", "--claim").has_value());
  const ir::Claims claims = figures_of(list, m);
  EXPECT_EQ(claims.registers[ir::index(ir::RegFile::R)], 7);
  EXPECT_EQ(claims.registers[ir::index(ir::RegFile::UR)], 3);
  EXPECT_EQ(claims.spill_store_bytes, 96);
  EXPECT_EQ(claims.spill_load_bytes, 12);
  for (const char* wrong : {"", "registers", "registers=", "registers=-1", "registers=1x", "registers=1,", "registers=99999999999"})
    EXPECT_THAT(add_claims(list, wrong, "--claim").error(), HasSubstr("expected KEY=NUMBER")) << wrong;
  EXPECT_THAT(add_claims(list, "spills=1", "--claim").error(), HasSubstr("no figure \"spills\""));
}

TEST(Claims, OfOneFigureAgree) {
  std::vector<Claim> list;
  ASSERT_TRUE(add_claims(list, "registers=3", "f.rir:1:10").has_value());
  EXPECT_TRUE(add_claims(list, "registers=3,predicates=1", "--claim").has_value());
  EXPECT_EQ(add_claims(list, "registers=1", "--claim").error(),
            "registers=1 is claimed where f.rir:1:10 claims registers=3; claim one figure");
  EXPECT_FALSE(add_claims(list, "barriers=1,barriers=2", "--claim").has_value());
  EXPECT_THAT(lists("rir 1\n// claim registers=3\n// claim registers=1\nfunc @f\n"),
              ElementsAre("f.rir:3:10: error: registers=1 is claimed where f.rir:2:10 claims registers=3; claim one figure"));
  EXPECT_THAT(lists("func @f\n  // claim registers=3\n  block b0\nfunc @g\n// claim registers=1\n"),
              ElementsAre("registers=3", "registers=1"));
}

TEST(Claims, StandInFrontOfTheirFunction) {
  EXPECT_THAT(lists("rir 1\n// claim registers=1\n// claim predicates=2\nfunc @a kernel\nfunc @b\n\n  // claim registers=3\nfunc "
                    "@\"c d\" x\n"),
              ElementsAre("registers=1 predicates=2", "", "registers=3"));
  EXPECT_THAT(lists("rir 1\n  // claim registers=1,x=2\nfunc @f\n"), ElementsAre(HasSubstr("f.rir:2:24: error: no figure \"x\"")));
  EXPECT_THAT(lists("rir 1\n// claim registers=1\n"), ElementsAre(HasSubstr("f.rir:2: error: there is no function")));
}

TEST(Claims, StandInTheBodyOfTheirFunction) {
  EXPECT_THAT(lists("func @a\n  // claim registers=1\n  block b0\n  #1 ret\nfunc @b\n  block b0\n  #1 ret\n// claim registers=2"),
              ElementsAre("registers=1", "registers=2"));
  EXPECT_THAT(lists("func @a\n  // claim registers=1x\n  block b0\n"),
              ElementsAre(HasSubstr("f.rir:2:12: error: expected KEY=NUMBER")));
}

TEST(Claims, MayHaveAnyBlanks) {
  for (const char* head : {"//\tclaim ", "//claim ", "\t//  claim\t", "// claim   "})
    EXPECT_THAT(lists(std::string("rir 1\n") + head + "registers=1 \t\r\n\tfunc\t@f\n"), ElementsAre("registers=1")) << head;
  EXPECT_THAT(lists("// claims registers=1\n// claim_s registers=1\nfunc @f\n"), ElementsAre(""));
  EXPECT_THAT(lists("// claim\nfunc @f\n"), ElementsAre(HasSubstr("f.rir:1:9: error: expected KEY=NUMBER")));
}

}  // namespace
}  // namespace regduel::cli
