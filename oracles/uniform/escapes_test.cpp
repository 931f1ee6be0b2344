// The quick test: where it says no, nothing that a warp shares reaches what may vary.

#include "oracles/uniform/escapes.h"

#include "oracles/testing.h"

namespace regduel::oracles::uniform {
namespace {

bool escapes(const std::string& body, const std::string& kind = "kernel") {
  const std::string vregs = R"(
  vreg %0..%2 R b32
  vreg %3 UR b32
  vreg %4 R b32 uniform
  vreg %5 R b32 alias %4
  block b0
)";
  testing::Pair p = {testing::side_by_side(vregs + body)};
  p.kind = kind;
  const ir::Function before = testing::parse_function(p.before_text()), after = testing::parse_function(p.after_text());
  const Case c(before, after, *ir::find_target(before.target), testing::limits_of(before, 255));
  return may_escape(c, declared_vregs(before));
}

TEST(Escapes, FromAUniformRegisterByMovesIntoAnOperandThatVaries) {
  const std::string body = R"(
    #0 %0 = a            | R0 = a
    #1 %3 = b            | UR0 = b
    +10                  | spill UR0, slot 0
    +11                  | R1 = refill slot 0
    +12                  | R2 = copy R1
    #2 use %0 !write     | use R0 !write
    #3 exit
)";
  EXPECT_FALSE(escapes(body));
  EXPECT_TRUE(escapes(testing::edit(body, "use R0", "use R2")));
  // The vreg is marked, or an alias of it is.
  EXPECT_FALSE(escapes(testing::edit(body, "use %0 !write     | use R0", "use %5 !write     | use R2")));
}

TEST(Escapes, ByACopyOfTheProgramOnlyIfItVaries) {
  EXPECT_FALSE(escapes(R"(
    #0 %3 = b            | UR0 = b
    #1 %4 = copy %3      | R1 = copy UR0
    #2 use %4 !write     | use R1 !write
    #3 exit
)"));
  // Into %0, which varies: only where UR0 may hold something that the program did not put there.
  const std::string body = R"(
    #0 %3 = b            | UR0 = b
    #1 %0 = copy %3      | R1 = copy UR0
    #2 use %0 !write     | use R1 !write
    #3 exit
)";
  EXPECT_FALSE(escapes(body));
  EXPECT_TRUE(escapes(testing::edit(body, "    #1 ", "    +9                   | UR0 = copy R7\n    #1 ")));
  EXPECT_TRUE(escapes(testing::edit(body, "    #1 ", "    +9                   | UR1 = copy UR0\n    #1 ")));
  // An inserted copy may come where the program has chosen between several such values.
  EXPECT_TRUE(escapes(R"(
    #0 %3 = b            | UR0 = b
    #1 %0 = copy %3      | copy !deleted
    +9                   | R1 = copy UR0
    #2 use %0 !write     | use R1 !write
    #3 exit
)"));
}

TEST(Escapes, IntoWhatTheCallerKeeps) {
  const std::string body = R"(
    +10 | UR4 = copy R24
    #0 %0 = a | R24 = a
    #1 use %0 !write | use R24 !write
    +11 | R25 = copy UR4
    #2 ret
)";
  EXPECT_TRUE(escapes(body, "device"));
  EXPECT_FALSE(escapes(testing::edit(body, "R25 = copy UR4", "R2 = copy UR4"), "device"));
}

}  // namespace
}  // namespace regduel::oracles::uniform
