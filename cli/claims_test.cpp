// Claims as text.
#include "cli/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Claims, AreFiguresByName) {
  oracles::Measures m;
  m.registers[ir::index(ir::RegFile::R)] = 7;
  m.spill_store_bytes = 8;
  m.spill_load_bytes = 12;
  const auto claims = read_claims("uniform_registers=3,spill_store_bytes=96", m);
  ASSERT_TRUE(claims.has_value());
  EXPECT_EQ(claims->registers[ir::index(ir::RegFile::R)], 7);
  EXPECT_EQ(claims->registers[ir::index(ir::RegFile::UR)], 3);
  EXPECT_EQ(claims->spill_store_bytes, 96);
  EXPECT_EQ(claims->spill_load_bytes, 12);
  for (const char* wrong : {"", "registers", "registers=", "registers=-1", "registers=1x", "registers=1,", "registers=99999999999"})
    EXPECT_THAT(read_claims(wrong, m).error(), HasSubstr("expected KEY=NUMBER")) << wrong;
  EXPECT_THAT(read_claims("spills=1", m).error(), HasSubstr("no figure \"spills\""));
}

TEST(Claims, StandInFrontOfTheirFunction) {
  const auto lines = claim_lines(
      "rir 1\n// claim registers=1\n// claim predicates=2\nfunc @a kernel\nfunc @b\n  // claim registers=3\nfunc @\"c d\" x\n",
      "f");
  ASSERT_TRUE(lines.has_value());
  EXPECT_THAT(*lines, ElementsAre(Pair("a", "registers=1,predicates=2"), Pair("c d", "registers=3")));
  const auto wrong = claim_lines("rir 1\n  // claim registers=1,x=2\n", "f.rir");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(to_string(wrong.error()), HasSubstr("f.rir:2:24: error: no figure \"x\""));
}

}  // namespace
}  // namespace regduel::cli
